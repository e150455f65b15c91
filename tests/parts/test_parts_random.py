"""Random vehicles: at any instant, conserved quantities change by the inflow, term by term."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.run import ledger
from poinsot.world import State, System

JOINTS = (
    lambda rng: pt.revolute(rng.normal(size=3), damping=0.1, stiffness=2.0),
    lambda rng: pt.universal((1, 0, 0), (0, 1, 0)),
    lambda rng: pt.prismatic(rng.normal(size=3)),
    lambda rng: pt.spherical(),
    lambda rng: pt.fixed(),
)
SHAPES = ({}, {"radius": 0.2}, {"size": (0.2, 0.3, 0.4)}, {"radius": 0.2, "height": 0.5})


def inertia(rng: np.random.Generator) -> pt.Inertia:
    return pt.Pose(p=0.2 * rng.normal(size=3)) @ pt.Inertia.box(rng.uniform(2, 9), rng.uniform(0.2, 0.8, 3))


def vehicle(seed: int) -> pt.World:
    """Three or four bodies in a tree, each with a rotor and two tanks, and flows of all kinds between them."""
    rng = np.random.default_rng(seed)
    gravity = pt.CentralGravity(mu=50.0, centre=(0, 0, -9)) if seed % 4 == 0 else rng.normal(size=3)
    world = pt.World(gravity)
    names = [f"b{k}" for k in range(rng.integers(3, 5))]
    tanks = []
    for k, name in enumerate(names):
        parent = None if k == 0 else names[rng.integers(k)]
        joint = None if k == 0 else JOINTS[rng.integers(len(JOINTS))](rng)
        X = pt.Pose.from_euler(rng.normal(size=3), p=0.5 * rng.normal(size=3))
        nv = 6 if joint is None else joint.nv
        body = world.add_body(name, inertia(rng), parent, joint, X, v=rng.normal(size=nv))
        motor = ({"torque": 0.3, "friction": 0.01}, {}, {"lag": 0.3})[k % 3]
        speed = (lambda t, scene: 40.0 + t) if k % 3 == 2 else 30.0
        body.add(pt.Rotor("rotor", axis=rng.normal(size=3), inertia=0.004, speed=speed, load=0.1, **motor))
        for i in range(2):
            shape = SHAPES[rng.integers(len(SHAPES))]
            settles = "size" in shape or "height" in shape
            body.add(
                pt.Tank(f"t{i}", capacity=9.0, contents=3.0, position=rng.normal(size=3), settles=settles, **shape)
            )
            tanks.append(f"{name}.t{i}")
    for k in range(4):
        a, b = rng.choice(tanks, 2, replace=False)
        via = rng.normal(size=3) if k % 2 else None
        world.add(pt.Flow(f"pump{k}", source=str(a), to=str(b), rate=1.0 + k, flowing=0.7, point=via))
    for k, kind in enumerate(({"source": tanks[0]}, {"to": tanks[1]}, {"source": tanks[2]}, {"to": tanks[3]})):
        via = rng.normal(size=3) if k < 2 else None
        world.add(pt.Flow(f"out{k}", rate=1.0, flowing=0.5, point=via, velocity=rng.normal(size=3), **kind))
    world.add(pt.Thruster("jet", "b0", "t0", thrust=200.0, exhaust_speed=80.0, direction=rng.normal(size=3)))
    return world


@pytest.mark.parametrize("seed", range(12))
def test_conserved_quantities_change_by_the_inflow(seed):
    """d/dt of mass, momentum, angular momentum and energy, by central differences, which are exact to 1e-7."""
    system = System(vehicle(seed).description)
    start = system.start()
    moved = system.motion(0.0, start)
    rate, flows = system.rate(moved), ledger.inflow_rates(system, moved)

    def held(h: float) -> np.ndarray:
        q = kinematics.integrate(system.mechanism, start.q, h * (start.v + h / 2 * rate.v))
        m = system.motion(h, State(q, start.v + h * rate.v, start.parts + h * rate.parts))
        return ledger.conserved_quantities(m.scene, m.effects)

    h = 1e-5
    change = (held(h) - held(-h)) / (2 * h)
    np.testing.assert_allclose(change, flows.sum(axis=0), rtol=0, atol=1e-7 * np.abs(flows).max())
