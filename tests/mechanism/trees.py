"""Random trees of every kind of joint, with branches, fixed links, frames without mass, motors; and how to compare."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import kinematics
from poinsot.mechanism.joints import TYPES

Rng = np.random.Generator

KINDS = "revolute prismatic helical cylindrical universal planar spherical translation free".split()
ROUNDING = 1e-10  # of what a tree of ten links of about one metre, kilogram and second gives, relative to its size


def random_axis(rng: Rng) -> Array:
    """Any direction, or one along a coordinate axis, for which there is code of its own."""
    return rng.standard_normal(3) if rng.random() < 0.7 else rng.permutation([0.0, 0.0, rng.choice([-1.0, 1.0])])


def random_joint(rng: Rng, kind: str, **data: Any) -> pt.Joint:
    axes = [random_axis(rng), rng.standard_normal(3)]
    arguments = {
        "universal": tuple(axes),
        "helical": (axes[0], rng.uniform(-0.5, 0.5)),
        **dict.fromkeys(("revolute", "prismatic", "cylindrical", "planar"), (axes[0],)),
    }
    return getattr(pt, kind)(*arguments.get(kind, ()), **data)


def random_inertia(rng: Rng) -> pt.Inertia:
    """Eight points of random mass and place: the centre of mass is not the origin, no axis is principal."""
    return pt.Inertia.points(0.05 + 0.2 * rng.random(8), 0.5 * rng.standard_normal((8, 3)))


def random_placement(rng: Rng) -> pt.Pose:
    """Any pose, or one with right angles and lengths of zero."""
    if rng.random() < 0.7:
        return pt.Pose.exp(0.7 * rng.standard_normal(6))
    return pt.Pose.from_euler(rng.choice([0.0, np.pi / 2, np.pi], 3), rng.choice([0.0, 0.3], 3))


def random_tree(
    rng: Rng, n: int, kinds: Sequence[str] = KINDS, base: str | None = None, heavy: bool = False, motors: bool = True
) -> pt.Mechanism:
    """n links that move, fixed ones between them, and some more that move and have no mass.

    `base`: the kind of the first joint, which then has no motor. `heavy`: whatever moves has mass. `motors`: some
    joints have armature.
    """
    links: list[pt.Link] = []
    movers: set[str | None] = set()  # and what is fixed to them
    for i in range(n):
        parent = links[-1 if rng.random() < 0.6 else rng.integers(len(links))].name if links else None
        if not base and rng.random() < 0.1:
            parent = None  # another tree beside the first
        if rng.random() < 0.25 and not (base and i == 0):  # mass on the ground is nobody's: no library counts it alike
            inertia = random_inertia(rng) if parent in movers and rng.random() < 0.5 else None
            links.append(pt.Link(f"fixed{i}", inertia, parent, placement=random_placement(rng)))
            movers |= {f"fixed{i}"} if parent in movers else set()
            parent = f"fixed{i}"
        kind = base if base and i == 0 else str(rng.choice(list(kinds)))
        motor = motors and rng.random() < 0.3 and not (base and i == 0)
        joint = random_joint(rng, kind, armature=rng.uniform(0.1, 1.0, TYPES[kind].nv) if motor else 0.0)
        if not heavy and kind in ("revolute", "helical") and rng.random() < 0.2:
            links.append(pt.Link(f"carrier{i}", None, parent, joint, random_placement(rng)))
            movers.add(f"carrier{i}")
            parent, joint = f"carrier{i}", random_joint(rng, str(rng.choice(["revolute", "universal", "prismatic"])))
        links.append(pt.Link(f"link{i}", random_inertia(rng), parent, joint, random_placement(rng)))
        movers.add(f"link{i}")
    return pt.Mechanism(tuple(links), gravity=5 * rng.standard_normal(3))


def random_state(rng: Rng, mech: pt.Mechanism) -> tuple[Array, Array]:
    """q (nq,) and v (nv,)."""
    return kinematics.integrate(mech, mech.neutral(), rng.uniform(-1.5, 1.5, mech.nv)), rng.standard_normal(mech.nv)


def random_motion(rng: Rng, mech: pt.Mechanism) -> tuple[Array, Array, Array]:
    """q (nq,), v (nv,), and vdot or tau (nv,)."""
    return *random_state(rng, mech), rng.standard_normal(mech.nv)


@cache
def pool(n: int, seed: int, **options: Any) -> pt.Mechanism:
    """One of a few trees: building one costs more than its dynamics, so laws share them."""
    return random_tree(np.random.default_rng([n, seed]), n, **options)


SEEDS = st.integers(0, 2**32 - 1)
TREES = 6  # of every size


def law(examples: int = 20, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test `f(mech, rng)` that has to hold for all random trees of one to ten links that move."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @settings(max_examples=examples)
        @given(n=st.integers(1, 10), tree=st.integers(0, TREES - 1), seed=SEEDS)
        def over_trees(n: int, tree: int, seed: int) -> None:
            test(pool(n, tree, **options), np.random.default_rng(seed))

        over_trees.__name__, over_trees.__doc__ = test.__name__, test.__doc__
        return over_trees

    return decorate


def same(a: Any, b: Any, tolerance: float = ROUNDING) -> None:
    """a equals b up to a tolerance, relative to the larger of one and the largest entry of b."""
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * max(1.0, float(np.max(np.abs(b), initial=0.0))))


def rate(f: Callable[[float], Any], h: float = 2e-3) -> Any:
    """df/dt at t = 0, by differences of eighth order."""
    weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    return sum(w * (f(k * h) - f(-k * h)) for k, w in weights) / h


def along(mech: pt.Mechanism, q: Array, v: Array, vdot: Array | None = None) -> Callable[[float], tuple[Array, Array]]:
    """A motion through (q, v), with the accelerations vdot at t = 0, if given: t -> q, v."""
    a = np.zeros(mech.nv) if vdot is None else vdot
    return lambda t: (kinematics.integrate(mech, q, t * v + t * t / 2 * a), v + t * a)
