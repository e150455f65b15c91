"""Random worlds: the ledger balances, halved steps converge, and a batch computes the same bits as single runs."""

from itertools import pairwise

import numpy as np

import poinsot as pt
from trial import require

Rng = np.random.Generator


def random_inertia(rng: Rng) -> pt.Inertia:
    return pt.Inertia.points(rng.uniform(0.2, 1.0, 6), rng.uniform(-0.4, 0.4, (6, 3)))


def unit(rng: Rng, n: int = 3) -> np.ndarray:
    x = rng.standard_normal(n)
    return x / np.linalg.norm(x)


def random_joint(rng: Rng) -> pt.Joint:
    kinds = (
        lambda: pt.revolute(unit(rng), stiffness=rng.uniform(0, 3), damping=rng.uniform(0, 0.2)),
        lambda: pt.prismatic(unit(rng), stiffness=rng.uniform(1, 5), damping=rng.uniform(0, 0.2)),
        lambda: pt.helical(unit(rng), rng.uniform(-0.2, 0.2), stiffness=1.0),
        lambda: pt.cylindrical(unit(rng), stiffness=2.0, damping=0.1),
        lambda: pt.universal(*np.linalg.qr(rng.standard_normal((3, 3)))[0][:2], stiffness=3.0),
        lambda: pt.planar(unit(rng), stiffness=2.0),
        lambda: pt.spherical(stiffness=1.0, damping=0.1),
        lambda: pt.translation(stiffness=4.0),
        lambda: pt.free(),
    )
    return kinds[rng.integers(len(kinds))]()


def random_world(rng: Rng) -> pt.World:
    """Some bodies, free or on joints, with parts on them, springs and forces between them."""
    gravity = pt.CentralGravity(mu=20.0, centre=(0, 0, -9.0)) if rng.random() < 0.3 else 5 * rng.standard_normal(3)
    world = pt.World(gravity=gravity)
    names: list[str] = []
    for k in range(int(rng.integers(1, 5))):
        name = f"body{k}"
        parent = names[rng.integers(len(names))] if names and rng.random() < 0.6 else None
        place = pt.Pose.exp(rng.uniform(-0.5, 0.5, 6))
        if parent is None and rng.random() < 0.6:
            world.add_body(
                name, random_inertia(rng), position=rng.standard_normal(3), orientation=unit(rng, 4),
                velocity=rng.standard_normal(3), angular_velocity=rng.standard_normal(3),
            )  # fmt: skip
        else:
            world.add_body(name, random_inertia(rng), parent=parent, joint=random_joint(rng), placement=place)
        names.append(name)
    for k, name in enumerate(names):
        if rng.random() < 0.3:
            world.add(pt.Rotor(f"rotor{k}", axis=unit(rng), inertia=0.02, speed=rng.uniform(-50, 50), body=name))
    ends = [*names, "world"]
    for k in range(int(rng.integers(0, 4))):
        if len(ends) > 1:
            a, b = rng.choice(len(ends), 2, replace=False)
            points = {"point_a": 0.3 * rng.standard_normal(3), "point_b": 0.3 * rng.standard_normal(3)}
            world.add_spring(f"spring{k}", ends[a], ends[b], *rng.uniform((1, 0, 0), (20, 1, 0.5)), **points)
    if rng.random() < 0.5:
        axes = str(rng.choice(["world", "body"]))
        world.add_force("force", names[0], rng.standard_normal(3), point=rng.standard_normal(3), axes=axes)
    if rng.random() < 0.3:
        world.add_force("drag", names[-1], lambda t, scene, n=names[-1]: -0.1 * scene[n].velocity)
    return world


def trial(rng: Rng) -> None:
    world = random_world(rng)
    h, duration = 4e-3, 0.08
    ends = []
    for step in (h, h / 2, h / 4):
        run = world.simulate(duration, step, method="rk4", every=duration)
        require(run.stop.reason == "duration", f"a run ended early: {run.stop}")
        ends.append(np.concatenate([np.ravel(run.data[name].values[-1]) for name in ("position", "velocity")]))
    coarse, fine = (np.max(np.abs(a - b)) / max(1.0, np.max(np.abs(b))) for a, b in pairwise(ends))
    require(fine < 1e-9 or fine < coarse / 8, f"halving the step: errors {coarse:.1e}, then {fine:.1e}")
    worst = float(np.max(run.ledger.relative_residual))
    require(worst < max(1e-9, 30 * fine), f"the ledger does not balance: {worst:.1e}, error of the step {fine:.1e}")
    batch = world.simulate(duration, h, method="rk4", batch=3)
    single = world.simulate(duration, h, method="rk4", every=duration)
    for name in ("position", "velocity"):
        a, b = batch.data[name].isel(time=-1).values, single.data[name].isel(time=-1).values
        require(all(np.array_equal(x, b) for x in a), f"a batch changes bits of {name}")
