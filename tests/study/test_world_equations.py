"""Equations of motion of worlds in symbols: residuals of the compiled accelerations vanish."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import fori_loop
from poinsot.mechanism import kinematics
from poinsot.world.system import State

sympy = pytest.importorskip("sympy", reason="SymPy is not installed")


def pendulum() -> pt.World:
    world = pt.World()
    bob = pt.Inertia(1.5, (0, 0, -1.0), np.diag([0.1] * 3))
    world.add_body("bob", bob, joint=pt.revolute((0, 1, 0), damping=0.1))
    world.add_spring("spring", "bob", "world", stiffness=4.0, rest_length=0.3, point_a=(0, 0, -1), point_b=(2, 0, 0))
    world.add_torque("push", "bob", lambda t, scene: np.array([0.0, 0.2 * np.sin(3 * t), 0.0]))
    return world


def tumbling() -> pt.World:
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(0, 0, 1))
    world.add_force("drag", "box", lambda t, scene: -0.5 * scene["box"].velocity)
    return world


@pytest.mark.parametrize("make", [pendulum, tumbling])
def test_the_accelerations_of_the_world_solve_them(make):
    rng = np.random.default_rng(1)
    world = make()
    symbols, system = world.equations(), world.system()
    t = sympy.Symbol("t", real=True)
    residual = sympy.lambdify([t, symbols.q, symbols.v, symbols.vdot], symbols.forces)
    mech = system.mechanism
    for time in (0.0, 0.7):
        q = kinematics.integrate(mech, mech.neutral(), rng.normal(size=mech.nv))
        v = rng.normal(size=mech.nv)
        a = system.derivative(time, State(q, v, np.zeros(0))).v
        np.testing.assert_allclose(residual(time, q, v, a), 0, atol=1e-12)
        assert np.abs(residual(time, q, v, a + 1)).max() > 1e-3


def test_numbers_left_free_are_symbols():
    symbols = pendulum().equations(free=["bob.mass", "spring.stiffness"])
    m, k = symbols.free["bob.mass"].item(), symbols.free["spring.stiffness"].item()
    assert (str(m), str(k)) == ("m_bob", "k_spring")
    values = {
        **dict(zip(symbols.q + symbols.v + symbols.vdot, (0.3, -0.2, 1.1), strict=True)),
        sympy.Symbol("t", real=True): 0.4,
    }
    heavy = pendulum()
    heavy["bob.mass"] = 7.0
    there = heavy.equations().forces[0].subs(values)
    assert float(symbols.forces[0].subs({**values, m: 7, k: 4})) == pytest.approx(float(there), rel=1e-12)


def test_a_spring_at_a_point_is_linear():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0, position=(0, 0, 1))
    world.add_spring("s", "ball", "world", stiffness=5.0, rest_length=0.0)
    assert str(world.equations(free=["s.stiffness"])).splitlines()[0] == "a_ball_0 + k_s*q_ball_0 = 0"


def test_what_has_no_symbols_is_refused():
    world = pendulum()
    world.add_body("other", pt.Inertia.sphere(1.0, 0.1))
    with pytest.raises(ValueError, match="at most 6 degrees of freedom"):
        world.equations()
    world = pendulum()
    world.add_torque("looped", "bob", lambda t, scene: fori_loop(100, lambda i, c: np.cos(c + t), np.zeros(3)))
    with pytest.raises(pt.TraceError, match="small systems without loops"):
        world.equations()
    world = pendulum()
    rocket = world.add_body("rocket", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((0, 0, 1)))
    rocket.add(pt.Tank("tank", contents=1.0, capacity=2.0))
    with pytest.raises(ValueError, match="states of parts"):
        world.equations()
