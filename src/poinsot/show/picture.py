"""A picture of a run: layers of marks, each made on first use, independent of how they are displayed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._memo import memo
from poinsot._types import Array, ArrayLike
from poinsot.show import construction, elements, ensembles, relief, scenery, touches, vectors
from poinsot.show.beams import chains
from poinsot.show.below import Below, below
from poinsot.show.ensembles import Ensemble
from poinsot.show.looks import Look, looks_of
from poinsot.show.marks import Arrows, Mark
from poinsot.show.records import Records
from poinsot.spatial import quaternion

FAR = 60.0  # a picture so many times larger than its bodies is looked at from near one of them


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture of some records.

    chosen_looks: the looks of bodies, where they are not the shapes they were made of. trails: points [m] of bodies, in
    their own frames, whose paths are drawn; by default the centres of mass of free bodies and of the ends of trees.
    base: a picture whose sizes and scales this one takes over. robots: the files that bodies were loaded from, with the
    prefixes of their names. ensemble: the batch that the instances belong to.
    """

    records: Records
    chosen_looks: Mapping[str, Any] = field(default_factory=dict)
    trails: Mapping[str, ArrayLike] | None = None
    base: "Picture | None" = None
    robots: Sequence[tuple[str, str]] = ()
    ensemble: Ensemble | None = None
    angles: dict[str, tuple[float, float]] = field(default_factory=dict)  # of what turns in a live picture, with times

    @cached_property
    def looks(self) -> dict[str, list[Look]]:
        """The looks of every body."""
        if self.base is not None and self.base.chosen_looks is self.chosen_looks:
            return self.base.looks
        return looks_of(self.records.description, self.records.mechanism, self.chosen_looks)

    @cached_property
    def beams(self) -> list[list[str]]:
        """The segments of each beam that has no look of its own, root first."""
        own = self.records.description.bodies
        plain = {name for name in own if name not in self.chosen_looks and not getattr(own[name].inertia, "solids", ())}
        return [chain for chain in chains(self.records.description) if plain.issuperset(chain)]

    # Sizes.

    @cached_property
    def reaches(self) -> Array:
        """The largest distance of a body's surface from its centre of mass [m], (b,)."""
        reaches = []
        for link in self.records.mechanism.links:
            com = np.zeros(3) if link.inertia is None else link.inertia.com
            points = [look.triangles.vertices for look in self.looks[link.name]]
            reaches.append(max((float(np.linalg.norm(p - com, axis=1).max()) for p in points), default=0.0))
        return np.array(reaches)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The corners (3,), (3,) [m] of a box around all bodies at all records, or at some hundreds of them."""
        if self.base is not None:
            return self.base.bounds
        records = self.records
        some = np.unique(np.linspace(0, len(records.time) - 1, 300).astype(int))
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for k, name in enumerate(records.names):
            points = np.concatenate([np.zeros((1, 3)), *(look.triangles.vertices for look in self.looks[name])])
            box = np.array(list(product(*zip(points.min(axis=0), points.max(axis=0), strict=True))))  # (8, 3)
            x = (records.positions[some, :, k] + self.offsets)[:, :, None] + quaternion.rotate(
                records.wxyz[some, :, k, None], box
            )
            low, high = np.minimum(low, x.min(axis=(0, 1, 2))), np.maximum(high, x.max(axis=(0, 1, 2)))
        for p in elements.anchors(records.description):
            low, high = np.minimum(low, p), np.maximum(high, p)
        return low, high

    @cached_property
    def offsets(self) -> Array:
        """How far (n, 3) [m] instances are drawn from where they are: side by side, or not at all."""
        count = len(self.records.numbers)
        return np.zeros((count, 3)) if self.ensemble is None else self.ensemble.places(count, self.up)

    @property
    def tints(self) -> Array | None:
        """The colours (n, 3) of the instances; None if they have those of their bodies."""
        colours = None if self.ensemble is None else self.ensemble.colours
        return None if colours is None else colours[list(self.records.numbers)]

    @property
    def centre(self) -> Array:
        """The centre of the bounds [m], (3,)."""
        return (self.bounds[0] + self.bounds[1]) / 2

    @cached_property
    def size(self) -> float:
        """Half the diagonal of the bounds [m]."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0])) / 2 or 1.0

    def around(self, body: str) -> tuple[Array, float]:
        """The initial centre of mass of a body (3,), and the radius [m] around it that contains all bodies then."""
        centres = self.records.centres[0, 0]
        middle = centres[self.records.index(body)]
        return middle, float((np.linalg.norm(centres - middle, axis=1) + self.reaches).max()) or self.size

    @cached_property
    def unit(self) -> float:
        """A length [m] for arrows and frames: about the size of the bodies."""
        seen = self.reaches[self.reaches > 0]
        if not seen.size:
            return 0.12 * self.size
        usual = float(np.median(seen))
        return usual if self.size > FAR * usual else max(usual, 0.04 * self.size)

    def full_scale(self, layer: str, magnitudes: Array) -> float:
        """The magnitude drawn at full length, for the arrows (r, n) of a layer: all but a few are shorter."""
        for mark in [] if self.base is None else self.base.layer(layer):
            if isinstance(mark, Arrows):
                return mark.full_scale
        return float(np.quantile(magnitudes[magnitudes > 1e-9 * magnitudes.max()], 0.98))

    @cached_property
    def up(self) -> Array:
        """The direction against gravity, z where there is none, (3,)."""
        g = self.records.mechanism.gravity
        return -g / np.linalg.norm(g) if np.any(g) else np.array([0.0, 0.0, 1.0])

    @cached_property
    def below(self) -> Below | None:
        """The place on the Earth below a flight; None on flat ground, and in orbit."""
        return below(self) if self.base is None else self.base.below

    @cached_property
    def hills(self) -> relief.Hills | None:
        """The terrain around it."""
        return relief.hills_of(self) if self.base is None else self.base.hills

    # Layers.

    @memo
    def layer(self, name: str) -> list[Mark]:
        """The marks of one layer."""
        if name not in LAYERS:
            raise ValueError(f"there is no layer {name!r}{hint(name, LAYERS)}; there are {', '.join(LAYERS)}.")
        return list(LAYERS[name].marks(self))


@dataclass(frozen=True)
class Layer:
    """How a layer is made, what it shows, and whether it is visible by default."""

    marks: Callable[[Any], Iterable[Mark]]
    meaning: str
    shown: bool = False


# A new layer is one row.
LAYERS: dict[str, Layer] = {
    "bodies": Layer(scenery.bodies, "bodies", True),
    "joints": Layer(scenery.joints, "joint axes", True),
    "ghosts": Layer(scenery.ghosts, "other instances of a batch", True),
    "dispersion": Layer(ensembles.dispersion, "where the instances of a batch end, and ellipses around them", True),
    "parts": Layer(elements.parts, "springs and other parts", True),
    "ground": Layer(relief.ground, "the ground of contacts, terrain, or a grid below all bodies", True),
    "trails": Layer(scenery.trails, "paths of bodies", True),
    "exposures": Layer(scenery.exposures, "bodies at earlier and later times"),
    "frames": Layer(scenery.frames, "body frames: x red, y green, z blue"),
    "centres": Layer(scenery.centres, "centres of mass"),
    "names": Layer(scenery.names, "names of the bodies"),
    "forces": Layer(vectors.forces, "forces on bodies"),
    "torques": Layer(vectors.torques, "torques on bodies"),
    "contacts": Layer(touches.contacts, "points that touch, their forces, and cones of friction"),
    "collisions": Layer(scenery.collisions, "the shapes that may touch"),
    "weights": Layer(vectors.weights, "weights"),
    "reactions": Layer(vectors.reactions, "reaction forces in joints"),
    "angular_momentum": Layer(vectors.spins, "angular momenta about the centres of mass"),
    "angular_velocity": Layer(vectors.rotations, "angular velocities"),
    "poinsot": Layer(construction.poinsot, "the inertia ellipsoid, rolling on the invariable plane"),
}
DEFAULT = tuple(name for name, layer in LAYERS.items() if layer.shown)
