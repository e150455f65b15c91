"""Small motions: eigenvalues that the books know, and finite differences of the equations of motion."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.mechanism.derivatives import forward_dynamics_derivatives
from poinsot.study.linear import _model
from poinsot.world import State

G = 9.81


def test_pendulum_has_the_frequency_of_the_books():
    length = 0.7
    world = pt.World(gravity=(0, 0, -G))
    bob = pt.Inertia(2.0, (0, 0, -length), 1e-3 * np.eye(3))
    world.add_body("bob", bob, joint=pt.revolute((0, 1, 0)))
    about = 2.0 * length**2 + 1e-3
    frequencies = world.linearise().eigenvalues()
    np.testing.assert_allclose(frequencies, [1j * s * np.sqrt(2.0 * G * length / about) for s in (-1, 1)], atol=1e-13)


def test_coupled_masses_have_normal_modes():
    m, k, c = 0.5, 30.0, 8.0
    world = pt.World(gravity=(0, 0, 0))
    for name, x in (("a", 1.0), ("b", 2.0)):
        body = pt.Inertia(m, np.zeros(3), np.zeros((3, 3)))
        world.add_body(name, body, joint=pt.prismatic((1, 0, 0)), q=[x])
    world.add_spring("left", "world", "a", k, 1.0)
    world.add_spring("middle", "a", "b", c, 1.0)
    world.add_spring("right", "b", "world", k, 1.0, point_b=(3, 0, 0))
    expected = np.sqrt([k / m, k / m, (k + 2 * c) / m, (k + 2 * c) / m])
    np.testing.assert_allclose(np.abs(world.linearise().eigenvalues().imag), expected, rtol=1e-13)


def world_of_all_joints() -> pt.World:
    rng = np.random.default_rng(4)
    world = pt.World(gravity=(0.3, -0.2, -G))

    def body() -> pt.Inertia:
        return pt.Inertia.box(rng.uniform(1, 2), tuple(rng.uniform(0.2, 0.4, 3)))

    world.add_body("free", body(), position=(1, 2, 3), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3))
    world.add_body("ball", body(), "free", pt.spherical(), (0.1, 0.2, 0.3), v=rng.normal(size=3))
    world.add_body("plane", body(), "free", pt.planar((0, 0, 1)), (0.3, -0.2, 0), v=rng.normal(size=3))
    world.add_body("cardan", body(), "ball", pt.universal((1, 0, 0), (0, 1, 0)), (0, 0, 0.5), q=[0.3, 0.4], v=[1, -1])
    world.add_body("slide", body(), "plane", pt.prismatic((0, 1, 1)), q=[0.2], v=[0.5])
    world.add_spring("spring", "cardan", "slide", 20.0, 0.1, 0.5, point_a=(0.1, 0, 0))
    world.add_input("pull", (0.0, 0.0, 1.0))
    world.add_force("rope", "slide", pt.Input("pull"), point=(0, 0, 0.1))
    return world


def rate(world: pt.World, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The rate of x about the start, the departure of the joints found by a difference quotient of its own."""
    mech, s = world.mechanism, world.start()
    nv = mech.nv
    q, v = kinematics.integrate(mech, s.q, x[:nv]), s.v + x[nv:]
    slope = world.derivative(0.0, State(q, v, s.parts), None, {"pull": np.array([0.0, 0.0, 1.0]) + u})
    h = 1e-5
    ahead, behind = (kinematics.difference(mech, s.q, kinematics.integrate(mech, q, d * v)) for d in (h, -h))
    return np.concatenate([(ahead - behind) / (2 * h), slope.v])


def test_matrices_are_the_derivatives_of_the_equations_of_motion():
    world = world_of_all_joints()
    linear = world.linearise()
    n, h = 2 * world.mechanism.nv, 1e-5
    A = np.stack([(rate(world, h * e, np.zeros(3)) - rate(world, -h * e, np.zeros(3))) / (2 * h) for e in np.eye(n)], 1)
    B = np.stack([(rate(world, np.zeros(n), h * e) - rate(world, np.zeros(n), -h * e)) / (2 * h) for e in np.eye(3)], 1)
    scale = np.abs(A).max()
    np.testing.assert_allclose(linear.A, A, atol=1e-7 * scale)  # of two difference quotients, one in the other
    np.testing.assert_allclose(linear.B, B, atol=1e-8 * np.abs(B).max())
    np.testing.assert_allclose(linear.drift, rate(world, np.zeros(n), np.zeros(3)), atol=1e-7 * scale)
    assert linear.states[0] == "free.q[0]"
    assert linear.inputs == ("pull[0]", "pull[1]", "pull[2]")


def test_about_another_state():
    world = pt.World(gravity=(0, 0, -G))
    world.add_body("bob", pt.Inertia(1.0, (0, 0, -1.0), 1e-9 * np.eye(3)), joint=pt.revolute((0, 1, 0)))
    upside_down = State(np.array([np.pi]), np.zeros(1), np.zeros(0))
    np.testing.assert_allclose(world.linearise(upside_down).eigenvalues().real, [-np.sqrt(G), np.sqrt(G)], rtol=1e-8)


def test_unknown_quantity_is_named():
    world = world_of_all_joints()
    with pytest.raises(ValueError, match="did you mean 'energy'"):
        world.sensitivity(["enrgy"], ["free.mass"], 0.1)


def chain(n: int) -> pt.World:
    """Hinges about random axes, moving."""
    rng, world = np.random.default_rng(n), pt.World(gravity=(0, 0, -G))
    body = pt.Pose(p=(0, 0, -0.1)) @ pt.Inertia.box(1.0, (0.1, 0.1, 0.2))
    for k in range(n):
        parent, place = (f"b{k - 1}", (0, 0, -0.2)) if k else (None, (0, 0, 0))
        world.add_body(f"b{k}", body, parent, pt.revolute(rng.normal(size=3)), place, q=0.1, v=0.2 * rng.normal())
    return world


def test_long_chains_are_linearised_in_loops():
    """As the recursions of mechanisms say, which are written out; and code that hardly grows with the chain."""
    world = chain(60)
    start, n = world.start(), 60
    by_q, by_v, _ = forward_dynamics_derivatives(world.mechanism, start.q, start.v, np.zeros(n))
    linear = world.linearise()
    expected = np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_v]])
    np.testing.assert_allclose(linear.A, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    count = lambda n: sum(_model(chain(n).system(), "joints", None, ())._slope.count().values())  # noqa: E731
    assert count(120) < 1.2 * count(60) < 20_000
