"""Worlds that are nets: square meshes of point masses with springs along rows, columns and both diagonals."""

import functools
import itertools
from functools import partial

import numpy as np

import poinsot as pt
from case import Case, Contender, Measured, Work, cold_cache, seconds
from poinsot.particles import Particles, Springs, Stepper, spring_forces
from poinsot.run.driver import compiled_system

STEP, G = 1e-3, (0.0, 0.0, -9.81)


@functools.cache
def mesh(size: int) -> tuple[Particles, Springs]:
    """size^2 masses of 10 g, 0.1 m apart, a little out of place, and damped springs of 100 N/m."""
    k = np.arange(size * size).reshape(size, size)
    ends = ((k[:-1], k[1:]), (k[:, :-1], k[:, 1:]), (k[:-1, :-1], k[1:, 1:]), (k[1:, :-1], k[:-1, 1:]))
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    x = np.stack([*np.unravel_index(k.ravel(), k.shape), np.zeros(size * size)], axis=1) * 0.1
    x = x + np.random.default_rng(0).normal(size=x.shape) * 1e-3
    return Particles(np.full(len(x), 0.01), x), Springs(pairs, 100.0, 0.1, 0.01)


def world(size: int, gravity: float = G[2]) -> pt.World:
    made = pt.World(gravity=(0, 0, gravity))
    made.add_particles("net", *mesh(size))
    return made


def expected(size: int, steps: int) -> np.ndarray:
    """Positions after steps of semi-implicit Euler, by the forces of `particles`."""
    particles, springs = mesh(size)
    x, v, m = particles.positions, particles.velocities, particles.masses
    for _ in range(steps):
        v = v + STEP * (spring_forces(Particles(m, x, v), springs) / m[:, None] + G)
        x = x + STEP * v
    return x


def ours(size: int, steps: int) -> Work:
    """Without a ledger, which the others do not keep."""
    compiled = compiled_system(world(size).system(), "semi-implicit euler", (), False, None, "cpu")
    p = compiled.parameters({}, {})
    y = compiled.start(p)
    return lambda: compiled.scan_records(y, p, 0.0, 0, STEP, steps, 1)[0, : 3 * size**2].reshape(-1, 3)


def side_by_side(size: int, steps: int, worlds: int) -> Work:
    """Many worlds in one batch; the figure is for one of them."""
    compiled = compiled_system(world(size).system(), "semi-implicit euler", (), False, None, "cpu")
    p = np.tile(compiled.parameters({}, {}), (worlds, 1))
    y = np.asarray(compiled.start(p))

    def work() -> np.ndarray:
        return np.asarray(compiled.advance(y, p, 0.0, 0, STEP, steps))[-1, : 3 * size**2].reshape(-1, 3)

    return Measured(work, lambda: seconds(work) / worlds)


def stepper(size: int, steps: int) -> Work:
    """Velocity Verlet by `particles`; to make the stepper is not in the figure."""

    def work() -> np.ndarray:
        one = Stepper(*mesh(size), step=STEP, gravity=G)
        one.advance(steps)
        return one.particles.positions

    again = Stepper(*mesh(size), step=STEP, gravity=G)
    return Measured(work, lambda: seconds(lambda: again.advance(steps)))


def mujoco(size: int, steps: int) -> Work:
    import mujoco as mj

    particles, springs = mesh(size)
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(
        f'<body pos="{x} {y} {z}">{slides}<inertial pos="0 0 0" mass="0.01" diaginertia="1e-6 1e-6 1e-6"/>'
        f'<site name="s{k}"/></body>'
        for k, (x, y, z) in enumerate(particles.positions.tolist())
    )
    tendons = "".join(
        f'<spatial stiffness="100" damping="0.01" springlength="0.1"><site site="s{i}"/><site site="s{j}"/></spatial>'
        for i, j in springs.pairs.tolist()
    )
    option = f'<option timestep="{STEP}" integrator="Euler" jacobian="sparse"><flag contact="disable"/></option>'
    model = mj.MjModel.from_xml_string(
        f"<mujoco>{option}<worldbody>{bodies}</worldbody><tendon>{tendons}</tendon></mujoco>"
    )
    data = mj.MjData(model)

    def work() -> np.ndarray:
        mj.mj_resetData(model, data)
        mj.mj_step(model, data, steps)
        return particles.positions + data.qpos.reshape(-1, 3)

    return work


def first_result(size: int) -> Work:
    """Add masses and springs, make the code, step once, read the records; nothing in the cache. Gravity differs each
    time, so that nothing is remembered."""
    number = itertools.count()

    def work() -> np.ndarray:
        with cold_cache():
            made = world(size, G[2] * (1 + 1e-12 * next(number)))
            run = made.simulate(STEP, STEP, method="semi-implicit euler", progress=False, ledger_tolerance=np.inf)
            return np.asarray(run.data["position"].values[-1])

    return Measured(work, partial(seconds, work))


def small_motions(size: int) -> Work:
    number = itertools.count()

    def work() -> np.ndarray:
        with cold_cache():
            A = world(size, G[2] * (1 + 1e-12 * next(number))).linearise().A
        n = len(A) // 2
        return np.stack([A[n:, :n].sum(axis=0), A[n:, n:].sum(axis=0)])

    return Measured(work, partial(seconds, work))


def steps(size: int, count: int) -> Case:
    springs = len(mesh(size)[1])
    return Case(
        name=f"net-{size * size}-step",
        what=f"A world of {size * size} masses and {springs} damped springs, semi-implicit Euler; per spring and step",
        items=count * springs,
        contenders=(
            Contender("poinsot", partial(ours, size, count)),
            Contender("poinsot, 16 worlds in a batch", partial(side_by_side, size, count, 16)),
            Contender("poinsot.particles.Stepper", partial(stepper, size, count), tolerance=1e-2),
            Contender("mujoco.mj_step, tendons", partial(mujoco, size, count), ">= 5 x", "mujoco"),
        ),
        expected=partial(expected, size, count),
        tolerance=1e-9,
    )


CASES = (
    steps(30, 100),
    Case(
        name="net-4900-first",
        what=f"First result of a world of 4900 masses and {len(mesh(70)[1])} springs, ledger and records included",
        contenders=(Contender("poinsot", partial(first_result, 70), "<= 5 s"),),
        expected=partial(expected, 70, 1),
        tolerance=1e-12,
    ),
    *(
        Case(
            name=f"net-{size * size}-linearise",
            what=f"The first linear model of a world of {size * size} masses and {len(mesh(size)[1])} springs",
            contenders=(Contender("poinsot", partial(small_motions, size), target),),
            expected=lambda size=size: np.zeros((2, 3 * size * size)),  # springs change no momentum
            tolerance=1e-6,
            error=lambda result, zero: float(np.abs(result - zero).max()) / 1e4,  # of k/m
        )
        for size, target in ((10, "<= 3 s"), (20, "<= 10 s"))
    ),
)
