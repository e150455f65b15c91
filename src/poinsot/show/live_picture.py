"""The picture for a live page: a document once, and then frames, each a row of numbers for what moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.show.cameras import FOV, camera_of, usual_cameras
from poinsot.show.compact import Packer
from poinsot.show.document import Sheet, body_entry
from poinsot.show.picture import LAYERS, Picture
from poinsot.show.records import Measures, Records
from poinsot.show.scenery import tracked_points, trail_frame, trail_points, trail_style
from poinsot.show.surroundings import Surroundings, surroundings_of
from poinsot.show.vehicles import Vehicle, vehicles_of

NOT_LIVE = ("ghosts", "exposures")  # layers that need a whole run, or a batch
HEADER = ("edition", "t", "count", "seen", "paused", "speed", "late")  # the first numbers of a frame


@dataclass(eq=False)
class LivePacker(Packer):
    """Arrays over two equal records move: they get no values yet, but a place in each frame."""

    moving: list[int] = field(default_factory=list)
    mask: list[bool] = field(default_factory=list)  # of all calls of `steps`

    def steps(self, array: Array, step: float) -> int:
        moves = len(array) > 1
        self.mask.append(moves)
        return self.place(np.shape(array)[1:]) if moves else super().steps(array, step)

    def place(self, shape: Sequence[int]) -> int:
        """A place for numbers of this shape."""
        self.moving.append(len(self.arrays))
        self.arrays.append({"kind": "moving", "shape": [1, *shape], "at": 0})
        return self.moving[-1]


@dataclass(eq=False)
class FramePacker(Packer):
    """Takes the values of what moves, in the order of a `LivePacker`."""

    mask: Sequence[bool] = ()
    values: list[Array] = field(default_factory=list)
    count: int = 0

    def exact(self, array: Array, kind: str) -> int:
        return 0

    def steps(self, array: Array, step: float) -> int:
        if self.count < len(self.mask) and self.mask[self.count]:
            self.values.append(np.ravel(array))
        self.count += 1
        return 0


@dataclass(frozen=True, eq=False)
class LiveLayer:
    """A layer in a frame: which of its arrays move, how many numbers they are, and its edition."""

    mask: tuple[bool, ...]
    size: int
    edition: int


class LivePicture:
    """A picture that is renewed with each state; `base` gives sizes and scales, `cameras` other numbers of cameras."""

    def __init__(
        self,
        base: Picture,
        layers: Sequence[str],
        camera: Any,
        around: Surroundings | None = None,
        cameras: Mapping[str, dict[str, Any]] | None = None,
    ) -> None:
        self.base, self.on = base, tuple(layers)
        self.layers: dict[str, LiveLayer] = {}
        self.camera = camera_of(base, self.vehicles, camera)
        self.around = around or surroundings_of(base, self.vehicles[self.camera["body"]])
        self.edition, self.cameras = 0, dict(cameras or {})
        self.measures: Measures = base.records.measures

    @cached_property
    def vehicles(self) -> list[Vehicle]:
        return vehicles_of(self.base)

    def at(self, t: float, y: Array, p: Array, copies: int = 1) -> Picture:
        """The picture of one state, as one record or several equal ones."""
        many = (copies, 1)
        records = Records(self.measures, np.full(copies, t), np.tile(y, (*many, 1)), np.tile(p, (*many, 1)))
        return Picture(records, self.base.chosen_looks, self.base.trails, self.base)

    # The document.

    def document(self, t: float, y: Array, p: Array, more: dict[str, Any], numbers: dict[str, int]) -> str:
        """The document of the page, as JSON; `numbers`: names and counts of further numbers in a frame."""
        picture, packer = self.at(t, y, p, 2), LivePacker()
        names, b = picture.records.names, len(picture.records.names)
        content = {
            "bodies": [body_entry(name, v) for name, v in zip(names, self.vehicles, strict=True)],
            "times": packer.place((1,)),
            "positions": packer.place((b, 3)),
            "rotations": packer.place((b, 4)),
            "numbers": {name: packer.place((count,)) for name, count in numbers.items()},
        }
        content["moving"] = packer.moving.copy()
        usual = usual_cameras(self.base)
        content["layers"] = [self.layer(name, picture, packer) for name in self.on]
        page = {
            "offered": {name: layer.meaning for name, layer in LAYERS.items() if name not in NOT_LIVE},
            "world": self.around.content(),
            "cameras": {kind: {**spec, **self.cameras.get(kind, {})} for kind, spec in usual.items()},
            "camera": self.camera,
            "size": self.base.size,
            "hud": self.around.kind in ("field", "orbit"),
            "fov": float(np.degrees(FOV)),
            "header": HEADER,
            "events": [],
            "ledger": None,
            "batch": None,
            "served": True,
            "live": True,
            **more,
        }
        return packer.document({**page, **content})

    def layer_document(self, name: str, t: float, y: Array, p: Array) -> str:
        """One more layer for a page."""
        packer = LivePacker()
        if name not in self.on:
            self.on = tuple(other for other in LAYERS if other in (*self.on, name))
        return packer.document({"layer": self.layer(name, self.at(t, y, p, 2), packer)})

    def layer(self, name: str, picture: Picture, packer: LivePacker) -> dict[str, Any]:
        """A layer for the page, and its place in the frames to come."""
        before, asked = len(packer.moving), len(packer.mask)
        sheet = Sheet(picture, np.arange(2), packer)
        if name == "trails":
            content = {"name": name, "meaning": LAYERS[name].meaning, "on": True, "marks": self._trails(sheet, packer)}
        else:
            content = sheet.layer(name, True, self.around.kind != "orbit")
        moving = packer.moving[before:]
        size = sum(int(np.prod(packer.arrays[k]["shape"])) for k in moving)
        known = self.layers.get(name)
        mask = tuple(packer.mask[asked:])
        if known is None or (known.mask, known.size) != (mask, size):
            self.edition += 1
            self.layers[name] = LiveLayer(mask, size, self.edition)
        return {**content, "moving": moving, "edition": self.layers[name].edition}

    def _trails(self, sheet: Sheet, packer: LivePacker) -> list[dict[str, Any]]:
        frame, marks = sheet.track(trail_frame(sheet.picture)), []
        for name in tracked_points(self.base):
            colour, width = trail_style(self.base, name)
            look = {"kind": "Path", "name": name, "colour": colour, "width": width}
            marks.append({**look, **frame, "points": packer.place((3,))})
        return marks

    # Frames.

    def frame(self, header: Sequence[float], t: float, y: Array, p: Array, numbers: Sequence[Array]) -> bytes:
        """The numbers of one frame: header, time, poses, further numbers, and what moves in each layer."""
        picture = self.at(t, y, p)
        records = picture.records
        rows = [np.asarray(header, dtype=float), np.array([t]), records.positions.ravel(), records.wxyz.ravel()]
        rows += [np.ravel(n) for n in numbers]
        for name in self.on:
            rows += self._moving(name, picture)
        return np.concatenate(rows).astype("<f8").tobytes()

    def _moving(self, name: str, picture: Picture) -> list[Array]:
        """The numbers of a layer; if it has other marks than the page knows, zeros, and a new edition."""
        if name == "trails":
            frame = trail_frame(picture) if any(self.layers[name].mask) else None
            turning = [] if frame is None else [frame.position.ravel(), frame.wxyz.ravel()]
            return turning + [trail_points(picture, b, at)[0] for b, at in tracked_points(self.base).items()]
        known = self.layers[name]
        if known.size < 0:
            return []
        packer = FramePacker(mask=known.mask)
        Sheet(picture, np.arange(1), packer).layer(name, True, self.around.kind != "orbit")
        if packer.count != len(known.mask) or sum(v.size for v in packer.values) != known.size:
            self.edition += 1
            self.layers[name] = LiveLayer((), -1, self.edition)
            return []
        return packer.values

    def layout(self) -> dict[str, Any]:
        """The contents of a frame, for the page: the layers in their order, with their sizes and editions."""
        layers = [[n, max(0, x.size), x.edition] for n in self.on if (x := self.layers[n])]
        return {"edition": self.edition, "layers": layers}
