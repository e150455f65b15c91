"""A mechanism: links in a tree, each on a joint. Frozen, and checked when it is built."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import FieldError, UnknownNameError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.fuse.graph.nodes import tracing
from poinsot.mechanism.equipment import Equipment
from poinsot.mechanism.joints import Joint, fixed
from poinsot.mechanism.link_checks import check_link
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure
    from poinsot.mechanism.motion_equations import MotionEquations


@dataclass(frozen=True, eq=False)
class Link:
    """One body of a tree.

    `inertia`: in the link's own frame; None for a frame without mass.
    `parent`: the name of the link that carries it; None for the world.
    `joint`: how it moves relative to its parent; by default not at all.
    `placement`: X_PJ, the pose of the joint's frame in the parent's; at the neutral q, it is that of the link's frame.
    """

    name: str
    inertia: Inertia | None = None
    parent: str | None = None
    joint: Joint = field(default_factory=fixed)
    placement: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        check_link(self)


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A tree of links, parents before children.

    q (nq,) and v (nv,) hold the coordinates and velocities of the joints one after the other, in the order of `links`.
    `gravity` (3,) [m/s^2] in the world. `closures`: what closes its loops, `Closure`s between its links. `source`: the
    file that it was read from, for its looks. `equipment`: what else that file says, for a world.
    """

    links: tuple[Link, ...]
    gravity: Array = (0.0, 0.0, -9.81)  # type: ignore[assignment]
    closures: "tuple[Closure, ...]" = ()
    source: str = field(default="", repr=False)
    equipment: Equipment = field(default_factory=Equipment, repr=False)

    def __post_init__(self) -> None:
        links, closures = _sorted(tuple(self.links)), _checked(self.closures)
        try:
            gravity = as_array(self.gravity) if is_traced(self.gravity) else np.array(self.gravity, dtype=float)
        except (TypeError, ValueError):
            gravity = np.zeros(0)
        if gravity.shape != (3,) or not (is_traced(gravity) or np.all(np.isfinite(gravity))):
            raise ValueError(f"gravity must be three finite numbers [m/s^2], not {self.gravity}.")
        if not is_traced(gravity):
            gravity.setflags(write=False)
        index = {link.name: k for k, link in enumerate(links)}
        starts_q = np.cumsum([0, *(link.joint.nq for link in links)])
        starts_v = np.cumsum([0, *(link.joint.nv for link in links)])
        for name, value in {
            "links": links,
            "gravity": gravity,
            "closures": closures,
            "parents": tuple(-1 if link.parent is None else index[link.parent] for link in links),
            "nq": int(starts_q[-1]),
            "nv": int(starts_v[-1]),
            "q_slices": tuple(slice(int(a), int(b)) for a, b in pairwise(starts_q)),
            "v_slices": tuple(slice(int(a), int(b)) for a, b in pairwise(starts_v)),
            "_index": index,
        }.items():
            object.__setattr__(self, name, value)
        _check_masses(self)
        for closure in self.closures:
            for end in (closure.a, closure.b):
                if end is not None:
                    self.index(end)
        object.__setattr__(self, "independent", _are_independent(self))

    # Filled in by __post_init__.
    parents: tuple[int, ...] = field(init=False)
    nq: int = field(init=False)
    nv: int = field(init=False)
    q_slices: tuple[slice, ...] = field(init=False)
    v_slices: tuple[slice, ...] = field(init=False)
    _index: Mapping[str, int] = field(init=False, repr=False)
    independent: bool = field(init=False)  # no row of the closures is known to follow from the others

    def __len__(self) -> int:
        return len(self.links)

    def index(self, name: str) -> int:
        """The number of the link with this name."""
        if name not in self._index:
            raise UnknownNameError(f"there is no link {name!r}{hint(name, self._index)}.", name)
        return self._index[name]

    def link(self, name: str) -> Link:
        """The link with this name."""
        return self.links[self.index(name)]

    def is_traced(self, gravity: bool = True) -> bool:
        """Whether any number of the description (and gravity) is being traced: left free until run time."""
        for link in self.links:
            inertia, joint = link.inertia, link.joint
            if inertia is not None and is_traced(inertia.mass, inertia.com, inertia.moment):
                return True
            if is_traced(link.placement.R, link.placement.p, joint.axes, *joint.parameters.values(), joint.armature):
                return True
        return gravity and is_traced(self.gravity)

    def neutral(self) -> Array:
        """The q (nq,) at which every link's frame coincides with its joint's."""
        parts = [link.joint.type.neutral(link.joint) for link in self.links]
        return np.concatenate([np.zeros(0), *parts])

    def equations(self) -> "MotionEquations":
        """The equations of motion in symbols, for small trees; see `poinsot.mechanism.motion_equations`."""
        from poinsot.mechanism.motion_equations import equations

        return equations(self)

    def __repr__(self) -> str:
        return f"<Mechanism of {len(self)} links, {self.nv} degrees of freedom>"


def _sorted(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The links, parents first, otherwise in their order; or an error that says what is wrong with the tree."""
    if not links:
        raise ValueError("a mechanism needs at least one link.")
    for link in links:
        if not isinstance(link, Link):
            raise TypeError(f"a mechanism is made of pt.Link(...), not of {link!r}.")
    names = {link.name: k for k, link in enumerate(links)}
    if len(names) < len(links):
        name = next(link.name for k, link in enumerate(links) if names[link.name] != k)
        raise ValueError(f"two links are called {name!r}; every link needs a name of its own.")
    for link in links:
        if link.parent is not None and link.parent not in names:
            raise ValueError(f"parent {link.parent!r} of link {link.name!r} does not exist{hint(link.parent, names)}.")
    done: dict[str, Link] = {}
    waiting = list(links)
    while waiting:
        ready = [link for link in waiting if link.parent is None or link.parent in done]
        if not ready:
            loop = " -> ".join(_circle({link.name: str(link.parent) for link in waiting}))
            raise ValueError(f"the links {loop} hang on each other in a circle; one of them needs the parent None.")
        done.update((link.name, link) for link in ready)
        waiting = [link for link in waiting if link.name not in done]
    if all(link.parent is None or names[link.parent] < names[link.name] for link in links):
        return links
    return tuple(done.values())


def _circle(parent: Mapping[str, str]) -> list[str]:
    """The names on the circle that the first link leads to, the last name the same as the first."""
    path = [next(iter(parent))]
    while path[-1] not in path[:-1]:
        path.append(parent[path[-1]])
    return path[path.index(path[-1]) :]


def _check_masses(mech: Mechanism) -> None:
    """Every degree of freedom must move some mass: the articulated inertia must not be singular along it."""
    carried = [link.inertia is not None for link in mech.links]
    for i in reversed(range(len(mech))):
        link = mech.links[i]
        if not carried[i] and link.joint.nv and not _has_motor(link.joint):
            raise FieldError(
                f"link {link.name!r} moves on a {link.joint.kind} joint, but neither it nor any link that hangs on it "
                "has mass. Give it an inertia, or make the joint fixed().",
                "inertia",
                link.name,
            )
        if carried[i] and mech.parents[i] >= 0:
            carried[mech.parents[i]] = True
    if all(_is_point(mech, i) for i in range(len(mech))) or mech.is_traced():
        return
    # A generic configuration, so that no alignment by chance hides or fakes a singularity.
    rng = np.random.default_rng(0)
    q = mech.neutral()
    for link, sq in zip(mech.links, mech.q_slices, strict=True):
        if link.joint.nv:
            q[sq] = link.joint.type.integrate(link.joint, q[sq], rng.uniform(-1, 1, link.joint.nv))
    worst = _first_singular(mech, q)
    if worst is not None:
        raise FieldError(
            f"the inertia that the joint of link {worst!r} has to move is singular: the mass lies on the joint's axis, "
            "or in a line or point. Give the link (or one that hangs on it) an inertia with extent, or use a joint "
            "with fewer degrees of freedom.",
            "inertia",
            worst,
        )


def _is_point(mech: Mechanism, i: int) -> bool:
    """Whether a link is shifted alone: any mass resists that."""
    link, kind = mech.links[i], mech.links[i].joint.type
    return mech.parents[i] < 0 and kind.position and not kind.attitude and link.inertia is not None


def _checked(closures: Any) -> tuple["Closure", ...]:
    """The closures of a mechanism, or an error that says what else there is."""
    from poinsot.mechanism.closures import Closure

    if isinstance(closures, Closure) or not isinstance(closures, Iterable):
        raise TypeError(f"closures of a mechanism are a list of pt.Closure(...), not {closures!r}.")
    for closure in (closures := tuple(closures)):
        if not isinstance(closure, Closure):
            raise TypeError(f"the loops of a mechanism are closed by pt.Closure(name, a, b, ...), not {closure!r}.")
    return closures


def _are_independent(mech: Mechanism) -> bool:
    """Whether no row of the closures follows from the others, in a position that closes them near the neutral one."""
    from poinsot.mechanism.assembling import assembled
    from poinsot.mechanism.constrained import mobility

    if not mech.closures or tracing():
        return not mech.closures
    try:
        with np.errstate(all="ignore"):
            here = mobility(mech, mech.closures, assembled(mech, mech.closures, mech.neutral()))
    except FieldError:
        raise
    except ValueError:  # they cannot be closed from there
        return False
    return here.redundant == 0 and here.margin > 1e-3


def _has_motor(joint: Joint) -> bool:
    """Whether the motor has inertia in all directions, or may have it at run time."""
    return is_traced(joint.armature) or bool(np.all(plain(joint.armature) > 0))


def _first_singular(mech: Mechanism, q: Array) -> str | None:
    """The last link whose joint-space inertia is singular, with all joints beyond it free to move; None without one.

    That is the pivot of the mass matrix, S^T IA S with the articulated inertia IA, compared with its diagonal S^T I S,
    with the composite inertia I of all that the joint carries.
    """
    from poinsot.mechanism.form import canonical, screws, visits

    T = canonical.tree_of(mech)
    rigid = [body.G for body in T.bodies]
    loose = list(rigid)
    for i, body in reversed(list(enumerate(T.bodies))):
        here = body.at(q, np.zeros(mech.nv))
        S, p = here.S, body.parent
        pivot, whole = (plain(S.T @ I @ S + np.diag(here.armature)) for I in (loose[i], rigid[i]))
        scale = np.sqrt(np.maximum(np.diag(whole), 0.0))
        if S.shape[1] and (np.any(scale == 0) or np.linalg.eigvalsh(pivot / np.outer(scale, scale))[0] < 1e-12):
            return next(k.name for k, v in zip(mech.links, mech.v_slices, strict=True) if body.v.start in range(v.stop))
        if p >= 0:
            _, _, Ia, _ = visits.inward(here, np.zeros(S.shape[1]), loose[i], np.zeros(6))
            rigid[p] = rigid[p] + screws.inertia(here.moves, rigid[i])
            loose[p] = loose[p] + screws.inertia(here.moves, Ia)
    return None


def plain(x: ArrayLike) -> Array:
    """A plain NumPy array, also while a function is traced, where constants may be in traced arrays."""
    return np.asarray(x).__array__()


def coordinates(mech: Mechanism, letter: str) -> list[tuple[str, str]]:
    """The name of the link of each entry of "q" or "v", and its place "[k]" in the joint, "" if it is the only one."""
    slices = mech.q_slices if letter == "q" else mech.v_slices
    sizes = [(link.name, where.stop - where.start) for link, where in zip(mech.links, slices, strict=True)]
    return [(name, f"[{k}]" if n > 1 else "") for name, n in sizes for k in range(n)]


def sized(mech: Mechanism, unit: bool = True, **vectors: ArrayLike) -> list[Array]:
    """The vectors as arrays: one called q has nq entries, any other nv; or an error that names it.

    `unit`: quaternions in q must have about the length 1; not exactly, for the stages of a step change it a little.
    """
    arrays = []
    for name, x in vectors.items():
        array, n = as_array(x), mech.nq if name[0] == "q" else mech.nv
        if array.shape != (n,):
            kind = "coordinates" if name[0] == "q" else "degrees of freedom"
            raise ValueError(f"{name} has the shape {array.shape}; {mech} with {n} {kind} needs ({n},).")
        if unit and name[0] == "q" and not is_traced(array):
            _check_quaternions(mech, name, array)
        arrays.append(array)
    return arrays


def _check_quaternions(mech: Mechanism, name: str, q: Array) -> None:
    for link, where in zip(mech.links, mech.q_slices, strict=True):
        if link.joint.type.attitude and abs((length := np.linalg.norm(q[where][:4])) - 1) > 0.5:
            raise ValueError(
                f"the quaternion of link {link.name!r} in {name} has the length {length:.6g}, not 1. Start from "
                "mech.neutral(), without rotation, or give it the length 1: kinematics.normalize(mech, q)."
            )


def as_rows(mech: Mechanism, external: Mapping[str, ArrayLike] | ArrayLike | None) -> list[Array | None]:
    """External wrenches F_B (6,) by the name of the link, or as rows (n, 6), one for each link or None."""
    if external is None:
        return [None] * len(mech)
    if isinstance(external, Mapping):
        rows: list[Array | None] = [None] * len(mech)
        for name, F in external.items():
            rows[mech.index(name)] = array = as_array(F)
            if array.shape != (6,):
                raise ValueError(f"the external wrench on {name!r} must have shape (6,), not {array.shape}.")
        return rows
    array = as_array(external)
    if array.shape != (len(mech), 6):
        raise ValueError(
            f"external wrenches must have shape ({len(mech)}, 6), not {array.shape}; or give them by name."
        )
    return [array[i] for i in range(len(mech))]
