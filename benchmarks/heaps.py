"""Heaps of balls or boxes that fall into a square box, against MuJoCo on the same heap: `python benchmarks/heaps.py`.

Processor time of one thread. The first call is what tracing and compiling take beside a short run. The last rows are
balls with an arm of two links among them, which hangs over the middle and is joined to one of them by a spring.
"""

import argparse
import time

import mujoco
import numpy as np

import poinsot as pt

RADIUS, SIZE, STEP = 0.1, (0.2, 0.24, 0.16), 2e-3
SOFT = pt.Material(2e4, 1.0, 0.5)


def places(n: int, half: float) -> np.ndarray:
    """Where bodies start: in layers over the floor of a box."""
    side = int((2 * half - 0.05) // 0.3)
    k, rng = np.arange(n), np.random.default_rng(0)
    across = 0.3 * (np.stack([k % side, k // side % side], 1) - 0.5 * (side - 1)) + 0.01 * rng.normal(size=(n, 2))
    return np.column_stack([across, 0.15 + 0.27 * (k // side**2)])


def heap(kind: str, n: int, half: float) -> pt.World:
    world = pt.World()
    body = pt.Inertia.sphere(1.0, RADIUS) if kind == "ball" else pt.Inertia.box(1.0, SIZE)
    world.add_ground(
        surface=SOFT,
        capacity=4 * n,
        distance=lambda p: np.minimum(p[2], np.minimum(half - np.abs(p[0]), half - np.abs(p[1]))),
    )
    for k, place in enumerate(places(n, half)):
        world.add_body(f"b{k}", body, position=place)
    world.collide(capacity=4 * n, surface=SOFT)
    return world


def among(n: int, half: float) -> pt.World:
    """Balls that fall on an arm."""
    world, bar = heap("ball", n, half), pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.capsule(1.0, 0.04, 0.4)
    upper, lower = (pt.revolute((0, 1, 0), stiffness=k, damping=5.0) for k in (600.0, 300.0))
    world.add_body("upper", pt.Pose(p=(0.25, 0, 0)) @ bar, joint=upper, placement=(0.02, 0.02, 0.0))
    world.add_body("lower", pt.Pose(p=(0.25, 0, 0)) @ bar, "upper", lower, (0.5, 0, 0))
    world.ignore("upper", "ground")
    world.add_spring("string", "b0", "lower", 200.0, 0.2, 2.0, point_b=(0.3, 0, 0))
    world.collide(["upper", "lower"], [f"b{k}" for k in range(n)], surface=SOFT, capacity=2 * n)
    return world


def model(kind: str, n: int, half: float) -> mujoco.MjModel:
    shape = f'type="sphere" size="{RADIUS}"'
    if kind == "box":
        shape = f'type="box" size="{" ".join(str(x / 2) for x in SIZE)}"'
    axes = ((0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))
    planes = "".join(
        f'<geom type="plane" size="5 5 1" zaxis="{x} {y} {z}" pos="{-half * x} {-half * y} 0" friction="0.5"/>'
        for x, y, z in axes
    )
    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom {shape} mass="1" friction="0.5"/></body>'
        for x, y, z in places(n, half)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}"/><size memory="500M"/><worldbody>{planes}{bodies}</worldbody></mujoco>'
    )


def ours(world: pt.World, duration: float, batch: int) -> tuple[float, float, float, float]:
    """The first call [s], the time of a step [s] of one heap and of one in a batch, and the median speed at the end
    [m/s]."""
    start = time.process_time()
    world.simulate(STEP, STEP, ledger=False)
    first, start = time.process_time() - start, time.process_time()
    run = world.simulate(duration, STEP, every=duration, ledger=False)
    one, system = time.process_time() - start, run.compiled.system
    speed = float(np.median(np.abs(run.y[-1][system.nq : system.nq + system.nv])))
    world.simulate(STEP, STEP, ledger=False, batch=batch)
    start, some = time.process_time(), 0.5 * duration
    world.simulate(some, STEP, every=some, ledger=False, batch=batch)
    many = 2 * (time.process_time() - start) / batch
    return first, one / (duration / STEP), many / (duration / STEP), speed


def mujocos(kind: str, n: int, half: float, duration: float) -> tuple[float, float]:
    """The time of a step [s], and the median speed at the end."""
    m = model(kind, n, half)
    data, start = mujoco.MjData(m), time.process_time()
    for _ in range(round(duration / STEP)):
        mujoco.mj_step(m, data)
    return (time.process_time() - start) / (duration / STEP), float(np.median(np.abs(data.qvel)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=2.0)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("counts", nargs="*", type=int, default=[50, 100, 200])
    options = parser.parse_args()
    print("kind    n  first call [s]  one, in a batch, MuJoCo [us per body and step]  speeds at the end [m/s]")
    for kind in ("ball", "box"):
        for n in options.counts:
            half = 0.12 * np.sqrt(n)
            first, step, many, speed = ours(heap(kind, n, half), options.duration, options.batch)
            theirs, other = mujocos(kind, n, half, options.duration)
            us = (f"{x / n * 1e6:12.2f}" for x in (step, many, theirs))
            print(f"{kind:5}{n:4}{first:12.1f}   {''.join(us)}        {speed:.1e} {other:.1e}", flush=True)

    for n in options.counts:
        first, step, many, speed = ours(among(n, 0.12 * np.sqrt(n)), options.duration, options.batch)
        us = (f"{x / n * 1e6:12.2f}" for x in (step, many))
        print(f"arm  {n:4}{first:12.1f}   {''.join(us)}                    {speed:.1e}", flush=True)


if __name__ == "__main__":
    main()
