"""Many instances of one world in a picture: their colours by what became of them, their places, and where they end."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.run.result import Run
from poinsot.show import triangles as draw
from poinsot.show.marks import BLUE, GREY, INK, ORANGE, PALE, RED, Copies, Lines, Mark, Track, aimed
from poinsot.show.records import records_of
from poinsot.show.triangles import Triangles
from poinsot.spatial import rotation

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

USUAL = 24  # other instances that a picture of a batch has, if nobody says how many
FEW_FACES = 160_000  # of all instances together; beyond that each is drawn with fewer
PLACES = 60  # of a path of another instance
SHARES = (0.5, 0.9, 0.99)  # of the instances that end within an ellipse
OUTCOMES = {"went well": BLUE, "passed a limit": RED, "diverged": ORANGE}
# From dark blue to yellow; lightness grows evenly (Smith and van der Walt's viridis, at six places).
SCALE = np.array([(68, 1, 84), (65, 68, 135), (42, 120, 142), (34, 168, 132), (122, 209, 81), (253, 231, 37)])


@dataclass(frozen=True, eq=False)
class Ensemble:
    """All instances of a batch: the run, and what colours them, "outcome" or the name of an output; None for neither.
    gap: the distance [m] between instances that are drawn side by side; 0 where they are."""

    run: Run
    by: str | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        known = ["outcome", *(str(name) for name in self._outputs)]
        if self.by is not None and self.by not in known:
            words = f"instances can be coloured by {', '.join(known)}, not by {self.by!r}"
            raise ValueError(f"{words}{hint(self.by, known)}.")
        if not np.isfinite(self.gap) or self.gap < 0:
            raise ValueError(f"side_by_side must be a distance [m], zero or more, not {self.gap!r}.")

    @property
    def _outputs(self) -> Any:
        return self.run.outputs.data_vars if self.run.compiled.outputs else {}

    @cached_property
    def outcomes(self) -> Array:
        """The outcome of each instance (n,): the index of one of `OUTCOMES`."""
        sound: Array = np.asarray(np.isfinite(self.run.y).all(axis=(0, -1)))
        passed: Array = np.zeros(sound.shape, dtype=bool)
        for latch in self.run.limits.latches.values():
            passed = passed | (np.atleast_1d(latch["latched"]) > 0)
        return np.where(~sound, 2, np.where(passed, 1, 0))

    @cached_property
    def colours(self) -> Array | None:
        """A colour for each instance (n, 3); None if they have those of their bodies."""
        if self.by is None:
            return None
        if self.by == "outcome":
            return np.array(list(OUTCOMES.values()))[self.outcomes]
        low, high, values = self._range
        share = np.nan_to_num((values - low) / (high - low if high > low else 1.0))
        return np.stack([np.interp(share, np.linspace(0, 1, len(SCALE)), SCALE[:, c]) for c in range(3)], axis=-1)

    @cached_property
    def _range(self) -> tuple[float, float, Array]:
        values = np.asarray(self.run.outputs[self.by].values, dtype=float)
        some = values[np.isfinite(values)]
        return (float(some.min()), float(some.max()), values) if some.size else (0.0, 1.0, values)

    def legend(self) -> dict[str, Any] | None:
        """The meaning of the colours, for the page."""
        if self.by is None:
            return None
        if self.by == "outcome":
            counts = [int(np.sum(self.outcomes == k)) for k in range(len(OUTCOMES))]
            rows = [(f"{n} {word}", colour) for n, (word, colour) in zip(counts, OUTCOMES.items(), strict=True) if n]
        else:
            low, high, _ = self._range
            marks = np.linspace(low, high, len(SCALE))
            rows = [(f"{x:.4g}", (int(r), int(g), int(b))) for x, (r, g, b) in zip(marks, SCALE, strict=True)]
        return {"title": self.by, "rows": [{"text": text, "colour": list(colour)} for text, colour in rows]}

    def ends(self, body: int) -> Array:
        """Where the centre of mass of a body ends, (m, 3) [m], of the instances that did not diverge."""
        sound = np.flatnonzero(self.outcomes != 2)
        records = records_of(self.run, tuple(int(i) for i in sound), every=max(len(self.run.time) - 1, 1))
        return records.centres[-1, :, body]

    def places(self, count: int, up: Array) -> Array:
        """Offsets (count, 3) [m] of instances side by side, on a grid normal to `up`, the first in its middle."""
        side = int(np.ceil(np.sqrt(count)))
        i, j = (np.arange(side) - (side - 1) // 2 for _ in range(2))
        grid = np.array([(a, b) for a in i for b in j], dtype=float)
        nearest = grid[np.argsort(np.hypot(*grid.T), kind="stable")][:count]
        x = rotation.perpendicular(up)
        return self.gap * (nearest[:, :1] * x + nearest[:, 1:] * np.cross(up, x))


def paths(picture: "Picture") -> Iterator[Mark]:
    """The paths of the other instances of what moves far, pale, in the colours of the ensemble."""
    from poinsot.show.vehicles import main_vehicle, vehicles_of

    main, records, ensemble = main_vehicle(vehicles_of(picture)), picture.records, picture.ensemble
    n = len(records.numbers) - 1
    if n < 1 or not main.is_small or (ensemble is not None and ensemble.gap > 0):
        return
    some = np.unique(np.linspace(0, len(records.time) - 1, PLACES).astype(int))
    way = records.centres[some, 1:, main.body]  # (m, n, 3)
    points = np.stack([way[:-1], way[1:]], axis=2).swapaxes(0, 1).reshape(-1, 2, 3)
    own = np.tile(GREY, (n, 1)) if picture.tints is None else picture.tints[1:]
    colours = np.repeat(0.55 * own + 0.45 * np.array(PALE), len(some) - 1, axis=0)
    middle = way.mean(axis=(0, 1))
    width = min(0.002 * picture.size, 0.02 * picture.unit)
    yield Lines("paths", (points - middle)[None], colours[None], width, Track.at(middle))


def dispersion(picture: "Picture") -> Iterator[Mark]:
    """Where all instances of a batch end: a dot each, and the ellipses of a normal distribution with their mean and
    covariance that hold 50, 90 and 99 % of it: (x - m)^T C^-1 (x - m) = -2 ln(1 - share)."""
    from poinsot.show.vehicles import main_vehicle, vehicles_of

    ensemble = picture.ensemble
    if ensemble is None or ensemble.gap > 0:
        return
    ends, up = ensemble.ends(main_vehicle(vehicles_of(picture)).body), picture.up
    if len(ends) < 3:
        return
    x = rotation.perpendicular(up)
    axes = np.stack([x, np.cross(up, x)])  # (2, 3)
    flat = ends @ axes.T
    mean, C = flat.mean(axis=0), np.cov(flat.T)
    if not np.trace(C) > (1e-4 * picture.unit) ** 2:
        return
    level = float((ends @ up).mean()) * up
    values, vectors = np.linalg.eigh(C)
    angle = np.linspace(0, 2 * np.pi, 97)
    circle = np.stack([np.cos(angle), np.sin(angle)]) * np.sqrt(np.maximum(values, 0))[:, None]
    curves = [level + (mean + np.sqrt(-2 * np.log(1 - s)) * (vectors @ circle).T) @ axes for s in SHARES]
    lines = np.concatenate([np.stack([c[:-1], c[1:]], axis=1) for c in curves])
    wide = max(0.015 * float(np.sqrt(values[-1])), 1e-9)
    yield Lines("ellipses", (lines - level)[None], np.array(INK)[None, None], wide, Track.at(level))
    colours = ensemble.colours[ensemble.outcomes != 2] if ensemble.colours is not None else np.tile(RED, (len(ends), 1))
    dot, size = draw.ball(around=12), np.full((1, len(ends), 3), 1.2 * wide)
    spots = level + flat @ axes
    yield Copies("ends", dot, spots[None], aimed(up)[None, None], size, colours, shadow=False)


def coarser(triangles: Triangles, most: int) -> Triangles:
    """A surface with about `most` faces or fewer: its vertices are gathered in cells of a grid, which are made larger
    until that is so. Rossignac and Borrel, Multi-resolution 3D approximations (1993)."""
    v, found = triangles.vertices, triangles
    cells = int(np.sqrt(max(most, 8) / 3)) + 2
    while len(found.faces) > most and cells >= 2:
        low, size = v.min(axis=0), max(float(np.ptp(v, axis=0).max()), 1e-12) / cells
        keys, inverse = np.unique(np.floor((v - low) / size).astype(int), axis=0, return_inverse=True)
        inverse = np.asarray(inverse).reshape(-1)
        sums = np.stack([np.bincount(inverse, v[:, c], len(keys)) for c in range(3)], axis=-1)
        faces = inverse[triangles.faces]
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        _, first = np.unique(np.sort(faces[whole], axis=1), axis=0, return_index=True)
        found = Triangles(sums / np.bincount(inverse, minlength=len(keys))[:, None], faces[whole][np.sort(first)])
        cells -= 1
    return found
