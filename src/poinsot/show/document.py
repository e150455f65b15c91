"""A run as the document of a page: marks, motions, cameras, curves, ledger and events, packed for its player."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.ledger import signed
from poinsot.run.result import Run
from poinsot.show.cameras import FOV, camera_of, usual_cameras
from poinsot.show.compact import Packer
from poinsot.show.happenings import Happenings
from poinsot.show.history import history, quantities
from poinsot.show.marks import Arrows, Axes, Copies, Label, Lines, Mark, Path, Plane, Skin, Surface, Track
from poinsot.show.picture import LAYERS, Picture
from poinsot.show.surroundings import surroundings_of
from poinsot.show.vehicles import Vehicle, main_vehicle, vehicles_of

FINE = 1e-6  # the step of positions, relative to the size of the bodies
TURN = 2.0**-20  # the step of quaternions
EXACT = 8  # bodies whose positions and velocities are kept with all digits, for the display
SHAPES_ONLY = ("phase", "polhode", "margins")  # pictures of `plot` that are no curves over time
MANY = ("ghosts", "dispersion")  # layers of batches alone
HEADS = ("conserved", "initial", "final", "inflow", "residual")


@dataclass(eq=False)
class Sheet:
    """Packs the marks of a picture at some of its records, by their indices `chosen` (k,)."""

    picture: Picture
    chosen: Array
    packer: Packer

    def over_time(self, array: Array, step: float) -> int:
        a = np.asarray(array, dtype=float)
        return self.packer.steps(a[self.chosen] if len(a) > 1 else a, step)

    def lengths(self, array: Array) -> int:
        return self.over_time(array, FINE * self.picture.unit)

    def turns(self, wxyz: Array) -> int:
        """Orientations (r, ..., 4), continuous in sign over the records."""
        q = np.asarray(wxyz, dtype=float)
        q = q[self.chosen] if len(q) > 1 else q
        signs = np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0, -1.0, 1.0)
        q = np.concatenate([q[:1], q[1:] * np.cumprod(signs, axis=0)[..., None]])
        return self.packer.steps(q, TURN)

    def track(self, track: Track) -> dict[str, int]:
        return {"positions": self.lengths(track.position), "rotations": self.turns(track.wxyz)}

    def shape(self, triangles: Any) -> dict[str, int]:
        faces = self.packer.exact(triangles.faces, "uint32")
        return {"vertices": self.packer.exact(triangles.vertices, "float32"), "faces": faces}

    def hue(self, hue: Array | None) -> dict[str, int]:
        return {} if hue is None else {"hue": self.over_time(hue, 1.0)}

    def mark(self, mark: Mark) -> dict[str, Any]:
        """A mark for the page."""
        return {"kind": type(mark).__name__, "name": mark.name, **MARKS[type(mark)](self, mark)}

    def layer(self, name: str, on: bool, ground: bool) -> dict[str, Any]:
        """A layer for the page; the level ground belongs to the surroundings, if these have one."""
        marks = [m for m in self.picture.layer(name) if not (ground and isinstance(m, Plane) and self._level(m))]
        return {"name": name, "meaning": LAYERS[name].meaning, "on": on, "marks": [self.mark(m) for m in marks]}

    def _level(self, plane: Plane) -> bool:
        from poinsot.spatial import quaternion

        normal = quaternion.rotate(plane.track.wxyz[0], np.array([0.0, 0.0, 1.0]))
        return bool(np.allclose(normal, self.picture.up, atol=1e-9)) or not plane.solid


def _surface(s: Sheet, m: Surface) -> dict[str, Any]:
    style = {"colour": m.colour, "opacity": m.opacity, "shadow": m.shadow, "glows": m.glows, "haze": m.haze}
    more: dict[str, Any] = {} if m.shades is None else {"shades": s.packer.exact(m.shades, "uint8")}
    more |= {} if m.body is None else {"body": m.body}
    return {**s.shape(m.triangles), **s.track(m.track), **style, **s.hue(m.hue), **more}


def _copies(s: Sheet, m: Copies) -> dict[str, Any]:
    moves = {"positions": s.lengths(m.positions), "rotations": s.turns(m.wxyz), "scales": s.over_time(m.scales, 1e-5)}
    style = {"opacity": m.opacity, "shadow": m.shadow, "glows": m.glows, "over": m.over}
    style |= {"colours": s.packer.exact(m.colours, "uint8")}
    return {**s.shape(m.triangles), **moves, **style, "colour": m.colours[0].tolist()}


def _lines(s: Sheet, m: Lines) -> dict[str, Any]:
    return {"points": s.lengths(m.points), "colours": s.over_time(m.colours, 1.0), "width": m.width, **s.track(m.track)}


def _path(s: Sheet, m: Path) -> dict[str, Any]:
    return {"points": s.lengths(m.points), "colour": m.colour, "width": m.width, **s.track(m.track)}


def _arrows(s: Sheet, m: Arrows) -> dict[str, Any]:
    style = {"colour": m.colour, "width": m.width, "over": m.over}
    return {"starts": s.lengths(m.starts), "vectors": s.lengths(m.vectors), **style}


def _skin(s: Sheet, m: Skin) -> dict[str, Any]:
    rest = {"vertices": s.packer.exact(m.rest, "float32"), "faces": s.packer.exact(m.faces, "uint32")}
    bones = {"first": s.packer.exact(m.first, "uint32"), "weights": s.packer.exact(m.weights, "float32")}
    moves = {"positions": s.lengths(m.positions), "rotations": s.turns(m.wxyz)}
    return {**rest, **bones, **moves, "colour": m.colour, "opacity": m.opacity, "shadow": True, **s.hue(m.hue)}


# How each kind of mark is packed; `THINGS` in web/things.js draws it.
MARKS: dict[type[Mark], Callable[[Sheet, Any], dict[str, Any]]] = {
    Surface: _surface,
    Copies: _copies,
    Lines: _lines,
    Path: _path,
    Arrows: _arrows,
    Skin: _skin,
    Axes: lambda s, m: {"positions": s.lengths(m.positions), "rotations": s.turns(m.wxyz), "length": m.length},
    Plane: lambda s, m: {"size": m.size, **s.track(m.track)},
    Label: lambda s, m: {"text": m.text, "height": m.height, **s.track(m.track)},
}


def document(
    run: Run,
    picture: Picture,
    chosen: Array,
    rate: float,
    layers: Sequence[str],
    *,
    camera: Any = None,
    follow: str | None = None,
    attached: bool = False,
    plots: Iterable[Any] | None = None,
    surroundings: str | None = None,
    served: bool = False,
    bare: bool = False,
) -> str:
    """The document of a page, as JSON: the records `chosen` of a picture, the `layers` visible.

    rate: seconds of the run per second. served: the page has a server, which makes further layers. bare: no controls.
    """
    packer = Packer()
    sheet, records, vehicles = Sheet(picture, chosen, packer), picture.records, vehicles_of(picture)
    aimed = camera_of(picture, vehicles, camera, follow, attached)
    around = surroundings_of(picture, vehicles[aimed["body"]], surroundings)
    offered = LAYERS if served else {name: LAYERS[name] for name in layers}
    content = {
        **_described(run, picture, vehicles, sheet, aimed["body"], plots),
        "bodies": [_body(sheet, name, v) for name, v in zip(records.names, vehicles, strict=True)],
        "times": packer.exact(records.time[chosen], "float64"),
        "positions": sheet.lengths(records.positions[:, 0]),
        "rotations": sheet.turns(records.wxyz[:, 0]),
        "layers": [sheet.layer(name, True, around.kind != "orbit") for name in layers],
        "offered": {name: layer.meaning for name, layer in offered.items() if name not in MANY or run.batch},
        "world": around.content(),
        "cameras": usual_cameras(picture),
        "camera": aimed,
        "size": picture.size,
        "hud": around.kind in ("field", "orbit"),
    }
    page = {"fov": float(np.degrees(FOV)), "rate": rate, "served": served, "bare": bare}
    return packer.document({**content, **page})


def _described(
    run: Run, picture: Picture, vehicles: Sequence[Vehicle], sheet: Sheet, body: int, plots: Iterable[Any] | None
) -> dict[str, Any]:
    """The text about a run beside its picture."""
    instance, names = picture.records.numbers[0], picture.records.names
    return {
        "exact": _exact(run, picture, vehicles, sheet, body),
        "curves": curves(run, plots, instance, sheet, main_vehicle(list(vehicles)), names),
        "ledger": ledger_rows(run, instance),
        "events": events(run, instance),
        "legend": None if picture.ensemble is None else picture.ensemble.legend(),
        "batch": None if run.batch is None else {"count": run.batch, "instance": instance},
    }


def layer_document(picture: Picture, chosen: Array, name: str) -> str:
    """One more layer for a page that is served."""
    packer = Packer()
    return packer.document({"layer": Sheet(picture, chosen, packer).layer(name, True, False)})


def body_entry(name: str, v: Vehicle) -> dict[str, Any]:
    """A body for the page."""
    return {
        "name": name,
        "radius": v.radius,
        "distance": v.distance,
        "middle": v.middle.tolist(),
        "eye": v.eye.tolist(),
        "top": v.top,
        "root": v.root,
    }


def _body(sheet: Sheet, name: str, v: Vehicle) -> dict[str, Any]:
    """A body for the page of a run, with how it grows as its parachutes open."""
    return body_entry(name, v) | ({} if v.grown is None else {"grown": sheet.over_time(v.grown[:, None], 1e-3)})


def _exact(run: Run, picture: Picture, vehicles: Sequence[Vehicle], sheet: Sheet, body: int) -> dict[str, Any]:
    """Positions and velocities (k, n, 3) with all their digits, of the bodies that the display may be asked for."""
    roots = sorted((v for v in vehicles if v.root), key=lambda v: -v.mass)[:EXACT]
    bodies = sorted({body, *(v.body for v in roots)})
    arrays: dict[str, Any] = {"bodies": bodies}
    data = run.columns_of("position", "velocity")
    for name in ("position", "velocity"):
        array = data[name] if run.batch is None else data[name].isel(batch=picture.records.numbers[0])
        values = array.sel(body=[picture.records.names[k] for k in bodies]).values[sheet.chosen]
        arrays[name] = sheet.packer.exact(np.nan_to_num(values), "float64")
    return arrays


def curves(
    run: Run, plots: Iterable[Any] | None, instance: int, sheet: Sheet, main: Vehicle, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Curves for the page: quantities, or (quantity, body); by default the energy and the motion of the main body."""
    if plots is None:
        known = quantities(run)
        plots = [name for name in ("energy",) if name in known]
        plots += [(name, names[main.body]) for name in ("position", "angular_velocity") if name in known]
    made = []
    for plot in plots:
        if plot in SHAPES_ONLY:
            continue
        name, body = (plot, None) if isinstance(plot, str) else plot
        h = history(run, name, body, instance)
        series = [
            {"label": label, "values": sheet.packer.exact(np.asarray(x, dtype=float)[sheet.chosen], "float64")}
            for label, x in h.components.items()
        ]
        made.append({"title": h.label, "series": series})
    return made


def ledger_rows(run: Run, instance: int) -> dict[str, Any] | None:
    """The ledger as a table of texts; None if none was kept."""
    if not run.compiled.keeps_ledger:
        return None
    ledger = run.ledger
    pick = (lambda a: a) if run.batch is None else (lambda a: a[instance])
    initial, final, inflow = pick(ledger.initial), pick(ledger.final), pick(ledger.inflow).sum(axis=-2)
    amounts = [signed(a) for a in (initial, final, inflow)]
    residual = pick(ledger.relative_residual)
    units = ("kg", "kg m/s", "kg m²/s", "J")
    rows = [
        [f"{name} [{units[k]}]", *(f"{float(a[k]):.4g}" for a in amounts), f"{float(residual[k]):.1e}"]
        for k, name in enumerate(("mass", "momentum", "angular mom.", "energy"))
    ]
    return {"heads": HEADS, "rows": rows}


def events(run: Run, instance: int) -> list[dict[str, Any]]:
    """Happenings of a run with their times: limits of the structure that were passed, events, why it ended early."""
    last = run.y[-1] if run.batch is None else run.y[-1][instance]
    found = Happenings(run.compiled.system)(last)
    if run.stop.is_early:
        found.append({"name": "", "time": float(run.time[-1]), "text": f"the run ended: {run.stop}", "red": True})
    return sorted(found, key=lambda e: float(e["time"]))
