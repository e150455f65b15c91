"""The ground of a picture: planes that bodies touch, terrain from a height field, or a grid below everything."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.environment import Contact, Ground, Terrain
from poinsot.fuse import Table
from poinsot.show.marks import Lines, Mark, Plane, Surface, Track, aimed
from poinsot.show.triangles import Triangles
from poinsot.world import Description

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

CELLS = 180  # of a terrain, along each side
NEAR, FAR = 1.3, 14.0  # how far a terrain reaches in small cells, and in all, in sizes of the picture
MEADOW, SOIL, ROCK, SNOW = (112, 136, 88), (150, 140, 104), (128, 124, 118), (222, 226, 230)
BENCH = 8.0  # m: of smaller pictures a block of the terrain is shown, as a model on a bench,
RIM = 0.25  # up to this height above what moves, in sizes of the picture
CONTOURS, CONTOUR = 22, (128, 112, 92)  # of a block: about so many lines
CLAY = ((150, 178, 150), (202, 204, 168), (226, 208, 172), (238, 228, 210))  # of a block, by height
BANDS = 14  # of height, over the whole range


def ground(picture: "Picture") -> Iterator[Mark]:
    """The ground planes of contacts, and terrain; without any, if there is gravity, a grid below all bodies."""
    description, cell = picture.records.description, nice(picture.size / 3)
    planes, hills = planes_of(description), picture.hills
    for k, (n, height) in enumerate(planes):
        foot = picture.centre + (height - n @ picture.centre) * n
        yield Plane(f"ground {k}" if k else "ground", Track.at(foot, aimed(n)), 40 * cell, cell)
    if hills is not None:
        yield relief(picture, hills)
        if picture.size < BENCH:
            yield contours(picture, hills)
    elif not planes and np.any(picture.records.mechanism.gravity):
        up, (low, high) = picture.up, picture.bounds
        lowest = float(up @ np.where(up > 0, low, high))
        stands = abs(lowest) < 0.01 * picture.size  # on the plane through the world's origin
        lowest -= 0.0 if stands else 0.04 * picture.size
        foot = picture.centre + (lowest - up @ picture.centre) * up
        yield Plane("grid", Track.at(foot, aimed(up)), 40 * cell, cell, solid=False)


def planes_of(description: Description) -> list[tuple[Array, float]]:
    """The planes that bodies may touch: unit normals (3,) and heights [m] along them."""
    planes: dict[tuple[float, ...], tuple[Array, float]] = {}
    for element in description.elements.values():
        level = isinstance(element, Terrain) and description.earth is None and not callable(element.heights)
        if isinstance(element, Contact) or (isinstance(element, Ground) and element.terrain is None) or level:
            n = np.asarray(getattr(element, "normal", (0.0, 0.0, 1.0)), dtype=float)
            n = n / np.linalg.norm(n)
            height = float(element.heights if isinstance(element, Terrain) else element.height)  # type: ignore[arg-type, attr-defined]
            planes[(*np.round(n, 9), round(height, 9))] = (n, height)
    return list(planes.values())


def terrain_of(description: Description) -> Terrain | None:
    """The height field of a world."""
    for element in description.elements.values():
        terrain = element.terrain if isinstance(element, Ground) else element
        if isinstance(terrain, Terrain) and callable(terrain.heights):
            return terrain
    return None


@dataclass(frozen=True, eq=False)
class Hills:
    """A height field as a surface about its `middle` (3,) [m]: of the world, or of the Earth in axes that turn with it.
    lowest: its least height [m]."""

    triangles: Triangles
    shades: Array
    middle: Array
    lowest: float


def hills_of(picture: "Picture") -> Hills | None:
    """The height field around a picture: a block of it for things of lab size; else small cells where something moves,
    and larger ones towards the horizon."""
    terrain, below = terrain_of(picture.records.description), picture.below
    if terrain is None or (picture.records.description.earth is not None and below is None):
        return None
    if below is not None:
        x, y = _graded(picture, terrain, np.zeros(2))
        along, across = below.radii
        by = np.meshgrid(x / (across * np.cos(below.latitude)), y / along, indexing="ij")
        latitude, longitude = below.latitude + by[1], below.longitude + by[0]
        heights = _heights(terrain, latitude, longitude)
        points = np.asarray(below.earth.ecef(latitude, longitude, np.nan_to_num(heights)), dtype=float)
        return Hills(_cells(points - below.foot), _shades(x, y, heights), below.foot, float(np.nanmin(heights)))
    low, high = picture.bounds
    if picture.size < BENCH:
        x, y = (
            np.linspace(a, b, CELLS + 1)
            for a, b in zip(low[:2] - 0.3 * picture.size, high[:2] + 0.3 * picture.size, strict=True)
        )
    else:
        x, y = _graded(picture, terrain, (low + high)[:2] / 2)
    X, Y = np.meshgrid(x, y, indexing="ij")
    heights = _heights(terrain, X, Y)
    middle = np.array([x[CELLS // 2], y[CELLS // 2], float(np.nanmin(heights))])
    whole = _cells(np.nan_to_num(np.stack([X, Y, heights], axis=-1)) - middle)
    if picture.size < BENCH:
        top = high[2] + RIM * picture.size - middle[2]
        whole = Triangles(whole.vertices, whole.faces[whole.vertices[whole.faces, 2].max(axis=1) < top])
        heights = np.minimum(heights, top + middle[2])
    return Hills(whole, _shades(x, y, heights, picture.size < BENCH), middle, middle[2])


def _graded(picture: "Picture", terrain: Terrain, centre: Array) -> tuple[Array, Array]:
    """Places (n,), (n,) [m] of the corners of cells along both axes, within the table of a terrain on flat ground."""
    s = np.linspace(-1.0, 1.0, CELLS + 1)
    half = max(picture.size if picture.below is None else picture.below.reach, 20 * picture.unit)
    x, y = (c + half * (NEAR * s + (FAR - NEAR) * s**7) for c in centre)
    if isinstance(terrain.heights, Table) and picture.below is None:
        x, y = (np.clip(v, axis[0], axis[-1]) for v, axis in zip((x, y), terrain.heights.axes, strict=True))
    return x, y


def _cells(points: Array) -> Triangles:
    """The surface through a grid of points (n, n, 3)."""
    n = len(points)
    i, j = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = i * n + j
    faces = np.stack([np.stack([a, a + n, a + n + 1], -1), np.stack([a, a + n + 1, a + 1], -1)], -2).reshape(-1, 3)
    return Triangles(points.reshape(-1, 3), faces)


def relief(picture: "Picture", hills: Hills) -> Surface:
    """A height field as a mark; on the Earth it turns along."""
    below = picture.below
    track = Track.at(hills.middle) if below is None else below.carried(picture.records.time, hills.middle)
    small = picture.size < BENCH
    return Surface("terrain", hills.triangles, track, MEADOW, shades=hills.shades, haze=not small, shadow=True)


def contours(picture: "Picture", hills: Hills) -> Lines:
    """Lines of equal height on a block of terrain, every tenth of its range or so: where its triangles are cut."""
    corners = hills.triangles.vertices[hills.triangles.faces]  # (k, 3, 3)
    z = corners[:, :, 2]
    step = nice(max(float(np.ptp(z)), 1e-9) / CONTOURS)
    found = []
    for level in step * np.arange(np.ceil(z.min() / step), np.floor(z.max() / step) + 1):
        above = z > level
        cut = corners[above.any(axis=1) & ~above.all(axis=1)]
        ends = [_where(cut[:, i], cut[:, j], level) for i, j in ((0, 1), (1, 2), (2, 0))]
        points = np.stack(ends, axis=1)  # (k, 3, 3), NaN on the side that is not cut
        order = np.argsort(np.isnan(points[:, :, 0]), axis=1, kind="stable")[:, :2]
        found.append(np.take_along_axis(points, order[:, :, None], axis=1))
    lines = np.concatenate(found) + [0.0, 0.0, 2e-3 * picture.size] if found else np.zeros((0, 2, 3))
    return Lines("contours", lines[None], np.array(CONTOUR)[None, None], 0.0, Track.at(hills.middle))


def _where(a: Array, b: Array, level: float) -> Array:
    """Where the lines from a (k, 3) to b (k, 3) pass a height; NaN if they do not."""
    za, zb = a[:, 2:], b[:, 2:]
    with np.errstate(all="ignore"):
        share = (level - za) / (zb - za)
    return np.where((za > level) != (zb > level), a + share * (b - a), np.nan)


def _heights(terrain: Terrain, X: Array, Y: Array) -> Array:
    """The heights at all places, at once if the function takes arrays."""
    try:
        heights = np.asarray(terrain.height(X, Y), dtype=float)
    except (TypeError, ValueError):
        heights = np.zeros(())
    if heights.shape == X.shape:
        return heights
    return np.array([float(terrain.height(a, b)) for a, b in zip(X.flat, Y.flat, strict=True)]).reshape(X.shape)


def _shades(x: Array, y: Array, heights: Array, model: bool = False) -> Array:
    """Colours of the vertices (n, 3): by height and slope, with bands of equal height; a model has paler ones by height
    alone."""
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    share = (heights - low) / max(high - low, 1e-9)
    if model:
        tones = [np.interp(share, np.linspace(0, 1, len(CLAY)), np.array(CLAY)[:, c]) for c in range(3)]
        return np.asarray(np.stack(tones, axis=-1).reshape(-1, 3).astype(np.uint8))
    with np.errstate(all="ignore"):
        slopes = np.gradient(heights, np.maximum.accumulate(x + 1e-9 * np.arange(len(x))), axis=0) ** 2
        slopes = np.sqrt(
            slopes + np.gradient(heights, np.maximum.accumulate(y + 1e-9 * np.arange(len(y))), axis=1) ** 2
        )
    steep = np.clip(np.nan_to_num(slopes) / 0.9, 0.0, 1.0)[..., None]
    stops = np.array([MEADOW, MEADOW, SOIL, ROCK, SNOW], dtype=float)
    level = np.stack([np.interp(share, [0.0, 0.35, 0.62, 0.85, 1.0], stops[:, c]) for c in range(3)], axis=-1)
    colours = (1 - steep) * level + steep * np.array(ROCK)
    band = np.floor((heights - low) / nice(max(high - low, 1e-9) / BANDS)) % 2
    return np.asarray(np.clip(colours * (1 - 0.07 * band)[..., None], 0, 255).reshape(-1, 3).astype(np.uint8))


def nice(length: float) -> float:
    """A round number near a length: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda d: abs(np.log(d * power / length))))
