"""De Nivelle, Mechanics of Complex Objects (2016): definitions, theorems, equations (1) to (8), and the five steps."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from text_objects import SEEDS, moved, random_object, random_springs, rate, same

from poinsot.body import body_frame
from poinsot.body.forces import AppliedForce, AppliedTorque, at_centre, total, weight
from poinsot.particles import (
    Particles,
    Springs,
    angular_momentum,
    angular_momentum_rate,
    centre_of_mass,
    centre_velocity,
    derivative,
    gravitation,
    internal_forces,
    momentum,
    natural_frequencies,
    rigid_speed_function,
    spring_forces,
    torque,
    total_forces,
    total_mass,
    weights,
)
from poinsot.spatial import Inertia, Pose, quaternion
from poinsot.spatial.motion import point_acceleration, point_acceleration_moving, point_velocity
from poinsot.spatial.rotation import exp

C = np.array([0.7, -1.2, 2.0])  # a reference position


def object_with_forces(seed, n=6):
    rng = np.random.default_rng(seed)
    return random_object(rng, n), random_springs(rng, n), rng.normal(size=(n, 3))


# Section 2


def cube(side):
    """side^3 points of a cube, and the pairs of neighbours."""
    grid = np.array(list(product(range(side), repeat=3)))
    pairs = [(i, j) for i in range(len(grid)) for j in range(i) if np.abs(grid[i] - grid[j]).max() == 1]
    return Particles(np.full(len(grid), 1.0 / len(grid)), grid / (side - 1)), pairs


def test_section_2_the_cost_of_a_body_of_springs():
    """Connections grow with the square of the points; if only neighbours are joined, the longest step shrinks.

    docs/make/springs_cost.py measures the time of a step.
    """
    ratios = []
    for side in (2, 3, 4):
        o, pairs = cube(side)
        n = len(o)
        everyone = Springs.unstretched(o, [(i, j) for i in range(n) for j in range(i)], 1.0)
        assert len(everyone) == n * (n - 1) // 2
        omega = natural_frequencies(o, Springs.unstretched(o, pairs, 1.0))
        ratios.append(omega[6] / omega[-1])  # the longest step, in periods of the slowest vibration
    assert ratios[0] > 1.3 * ratios[1] > 1.3**2 * ratios[2]


# Section 3


@given(SEEDS)
def test_definition_3_1_and_equation_1(seed):
    """An object (m, x, v), and x' = v, v' = (E_i + sum_j I_ij)/m_i."""
    o, springs, E = object_with_forces(seed)
    xdot, vdot = derivative(o, springs, E)
    assert np.array_equal(xdot, o.velocities)
    same(vdot, (E + spring_forces(o, springs)) / o.masses[:, None], scale=100.0)
    same(total_forces(o, springs, E), o.masses[:, None] * vdot, scale=100.0)


@given(SEEDS)
def test_definition_3_2_internal_forces(seed):
    """lambda_ij (x_j - x_i) with lambda symmetric is accepted; each of the three rules, broken, is refused."""
    o, _, _ = object_with_forces(seed, 4)
    scale = np.random.default_rng(seed).normal(size=(4, 4))
    I = (scale + scale.T)[:, :, None] * (o.positions[None] - o.positions[:, None])
    same(internal_forces(o, I), I.sum(axis=1), scale=10.0)
    for rule, change in ((1, (2, 2)), (3, (0, 1))):
        broken = I.copy()
        broken[change] += (0.0, 0.0, 5.0)
        with pytest.raises(ValueError, match=f"Rule {rule} of definition 3.2"):
            internal_forces(o, broken)
    off = np.cross(o.positions[1] - o.positions[0], [1.0, 2.0, 3.0])
    broken = I.copy()
    broken[0, 1] += off
    broken[1, 0] -= off
    with pytest.raises(ValueError, match=r"Rule 2 of definition 3\.2"):
        internal_forces(o, broken)


@given(SEEDS)
def test_definition_3_3_sums(seed):
    """Total mass, centre of mass, average speed; and the total force F(E), of forces at the points of one body."""
    o, _, E = object_with_forces(seed)
    same(total_mass(o), sum(o.masses))
    same(centre_of_mass(o), sum(m * x for m, x in zip(o.masses, o.positions, strict=True)) / sum(o.masses))
    same(centre_velocity(o), sum(m * v for m, v in zip(o.masses, o.velocities, strict=True)) / sum(o.masses))
    body, load = (
        Inertia.points(o.masses, o.positions),
        total([AppliedForce(*pair) for pair in zip(E, o.positions, strict=True)]),
    )
    same(at_centre(load(0.0, Pose(), np.zeros(6)), body, Pose())[0], sum(E), scale=10.0)


@given(SEEDS)
def test_theorem_3_4_and_equation_2(seed):
    """Internal forces cancel, (2), whatever they are; F(E) = m V'."""
    o, springs, E = object_with_forces(seed)
    for internal in (springs, gravitation(o, constant=1.0, softening=0.1)):
        same(spring_forces(o, internal).sum(axis=0), np.zeros(3), scale=100.0)  # (2)
        _, a = derivative(o, internal, E)
        same(rate(lambda t, a=a: momentum(moved(o, a, t))), E.sum(axis=0), 1e-10, scale=100.0)


@given(SEEDS)
def test_definitions_3_5_and_3_6(seed):
    o, _, E = object_with_forces(seed)
    m, x, v = o.masses, o.positions, o.velocities
    same(angular_momentum(o, C), sum(m[i] * np.cross(x[i] - C, v[i]) for i in range(len(o))), scale=10.0)
    same(torque(o, E, C), sum(np.cross(x[i] - C, E[i]) for i in range(len(o))), scale=10.0)
    one = Particles(m[:1], x[:1], v[:1])
    same(angular_momentum(one, C), m[0] * np.cross(x[0] - C, v[0]))
    same(torque(one, E[:1], C), np.cross(x[0] - C, E[0]))


@given(SEEDS)
def test_theorems_3_7_and_3_8(seed):
    """Internal torques cancel about any point, so that only external ones count."""
    o, springs, E = object_with_forces(seed)
    I = spring_forces(o, springs)
    same(torque(o, I, C), np.zeros(3), scale=1000.0)
    same(torque(o, E + I, C), torque(o, E, C), scale=1000.0)


@given(SEEDS)
def test_theorem_3_9_and_equation_3(seed):
    """tau_c(E) = L(c)' about a fixed point, along the motion of (1); without external forces L(c) does not change."""
    o, springs, E = object_with_forces(seed)
    _, a = derivative(o, springs, E)
    same(np.sum(np.cross(o.positions - C, o.masses[:, None] * a), axis=0), torque(o, E, C), scale=1000.0)  # (3)
    same(angular_momentum_rate(o, E, C), torque(o, E, C))
    same(rate(lambda t: angular_momentum(moved(o, a, t), C)), torque(o, E, C), 1e-9, scale=100.0)
    _, alone = derivative(o, springs)
    same(rate(lambda t: angular_momentum(moved(o, alone, t), C)), np.zeros(3), 1e-9, scale=100.0)


@given(SEEDS)
def test_theorem_3_10_weight(seed):
    """Uniform gravity has no torque about the centre of mass, nor about any point above or below it."""
    o, _, _ = object_with_forces(seed)
    g = np.array([1.0, 2.0, -9.0])
    E, c = weights(o, g), centre_of_mass(o)
    same(E, o.masses[:, None] * g)
    for height in (0.0, 3.0, -7.0):
        same(torque(o, E, c + height * g), np.zeros(3), 1e-11, scale=1000.0)
    assert np.linalg.norm(torque(o, E, c + np.cross(g, [1.0, 0, 0]))) > 1
    body, X_WB = Inertia.points(o.masses, o.positions), Pose.exp(o.velocities[:2].ravel())
    F, tau = at_centre(weight(body, g).wrench(0.0, X_WB, np.zeros(6)), body, X_WB)
    same(F, E.sum(axis=0), scale=100.0)
    same(tau, np.zeros(3), 1e-11, scale=100.0)


# Section 4


def flight(seed):
    """A rigid speed function v(t) + omega(t) x x in the world, and its rates, at one instant."""
    return np.random.default_rng(seed).normal(size=(4, 3))


@given(SEEDS)
def test_definition_4_1_rigid_speed_function(seed):
    v, omega, _, _ = flight(seed)
    o, _, _ = object_with_forces(seed)
    rigid = Particles(o.masses, o.positions, v + np.cross(omega, o.positions))
    fit = rigid_speed_function(rigid)
    same(fit.omega, omega, 1e-10)
    same(fit.v, v, 1e-10)  # of a point at (0, 0, 0), not of the object
    same(fit(o.positions), point_velocity(np.concatenate([omega, v]), o.positions), 1e-10)
    assert fit.residual < 1e-11
    assert rigid_speed_function(o).residual > 1e-2  # a general object has none
    d = o.positions[0] - o.positions[1]
    same(d @ (rigid.velocities[0] - rigid.velocities[1]), 0.0, scale=10.0)  # no distance changes


@given(SEEDS)
def test_equation_4_acceleration(seed):
    """The new speed function at the new position: W(t + h) of the text, and its limit."""
    v, omega, vdot, omegadot = flight(seed)
    x = np.array([0.4, -0.9, 1.3])

    def W(h):
        place = x + h * v + h * np.cross(omega, x)
        return v + h * vdot + np.cross(omega + h * omegadot, place)

    a = point_acceleration(np.concatenate([omega, v]), np.concatenate([omegadot, vdot]), x)
    same(rate(W), a, 1e-10)
    at_x = rate(lambda h: v + h * vdot + np.cross(omega + h * omegadot, x))  # differentiating the function alone
    same(a - at_x, np.cross(omega, v + np.cross(omega, x)), 1e-10)


@given(SEEDS)
def test_equations_5_6_7(seed):
    """Sums of F_i = m_i a_i and x_i x F_i over the points; C is not the origin here."""
    v, omega, vdot, omegadot = flight(seed)
    o, _, _ = object_with_forces(seed)
    V, Vdot = np.concatenate([omega, v]), np.concatenate([omegadot, vdot])
    F_i = o.masses[:, None] * point_acceleration(V, Vdot, o.positions)  # (5)
    F, tau = body_frame.force_and_torque(Inertia.points(o.masses, o.positions), v, omega, vdot, omegadot)
    same(F, F_i.sum(axis=0), scale=1000.0)  # (7)
    same(tau, np.cross(o.positions, F_i).sum(axis=0), scale=1000.0)  # (6)


@given(SEEDS)
def test_the_inertia_matrix(seed):
    """m x (w' x x) is linear in w': I_i = m (|x|^2 E - x x^T); the sum over i; and the identity behind (6)."""
    v, w, x, omegadot = flight(seed)
    I_i = Inertia.points([2.0], [x]).about(np.zeros(3))
    same(I_i @ omegadot, 2.0 * np.cross(x, np.cross(omegadot, x)), scale=10.0)
    o, _, _ = object_with_forces(seed)
    parts = [Inertia.points([m], [y]).about(np.zeros(3)) for m, y in zip(o.masses, o.positions, strict=True)]
    same(Inertia.points(o.masses, o.positions).about(np.zeros(3)), sum(parts), scale=10.0)
    same(np.cross(v, np.cross(w, np.cross(w, v))), -np.cross(w, np.cross(v, np.cross(v, w))), scale=10.0)


@given(SEEDS)
def test_equation_8_accelerations(seed):
    """With the origin in C the equations separate; (8) undoes the line above it."""
    v, omega, F, tau = flight(seed)
    o, _, _ = object_with_forces(seed)
    body = Inertia.points(o.masses, o.positions - centre_of_mass(o))
    vdot, omegadot = body_frame.accelerations(body, v, omega, F, tau)
    same(body.moment @ omegadot + np.cross(omega, body.moment @ omega), tau, 1e-10, scale=10.0)
    same(body.mass * (vdot + np.cross(omega, v)), F, scale=10.0)
    back = body_frame.force_and_torque(body, v, omega, vdot, omegadot)
    same(np.concatenate(back), np.concatenate([F, tau]), 1e-10, scale=10.0)


@given(SEEDS)
def test_problem_1_the_reference_point_moves(seed):
    """With world axes and a reference point that moves along, omega x v drops out: v' is the acceleration itself."""
    v, omega, vdot, omegadot = flight(seed)
    x = np.array([0.4, -0.9, 1.3])
    V, Vdot = np.concatenate([omega, v]), np.concatenate([omegadot, vdot])
    same(point_acceleration_moving(V, Vdot, np.zeros(3)), vdot)
    same(point_acceleration(V, Vdot, x) - point_acceleration_moving(V, Vdot, x), np.cross(omega, v), scale=10.0)


@given(SEEDS)
def test_problem_2_the_inertia_depends_on_the_orientation(seed):
    """R I R^T in the world; constant in axes that rotate with the object."""
    o, _, _ = object_with_forces(seed)
    body, phi = Inertia.points(o.masses, o.positions), flight(seed)[0]
    turned = Inertia.points(o.masses, o.positions @ exp(phi).T)
    same(turned.moment, exp(phi) @ body.moment @ exp(phi).T, scale=10.0)
    assert not np.allclose(turned.moment, body.moment)


def craft(seed):
    """A body, its state at step 1 (frame at the mass centre), and a load of forces at points."""
    rng = np.random.default_rng(seed)
    body = Inertia.points(rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3)))
    points, f = rng.normal(size=(2, 3, 3))
    load = total(
        [
            weight(body),
            AppliedForce(lambda t, X, V: (1 + t) * f[0], points[0]),
            AppliedForce(f[1], points[1], axes="body"),
            AppliedTorque(lambda t, X, V: f[2] - 0.1 * V[:3], axes="body"),
        ]
    )
    return body, body_frame.from_motion(body, Pose.exp(rng.normal(size=6)), rng.normal(size=6)), load


@given(SEEDS)
def test_steps_1_to_3(seed):
    """Frame at the mass centre; all forces and torques, in internal coordinates, about it; accelerations by (8)."""
    body, s, load = craft(seed)
    X_WB, V_WB_B = body_frame.to_motion(s, body)
    same(s.X, X_WB @ body.com)
    same(s.V, V_WB_B[3:] + np.cross(V_WB_B[:3], body.com))
    F, tau = at_centre(load(0.3, X_WB, V_WB_B), body, X_WB)  # world axes
    k = body_frame.rate(0.3, s, body, load)
    R = X_WB.R
    same(k.Vdot, R.T @ F / body.mass - np.cross(s.omega, s.V), 1e-11, scale=100.0)
    T = R.T @ tau
    same(k.omegadot, np.linalg.solve(body.moment, T - np.cross(s.omega, body.moment @ s.omega)), 1e-9, scale=100.0)


@given(SEEDS)
def test_steps_4_and_5(seed):
    """The step of the text, with its slips mended (docs/errata.md), in body axes and with the correction of step 5."""
    body, s, load = craft(seed)
    h, k = 0.01, body_frame.rate(0.3, s, body, load)
    boxed = body_frame.step(0.3, s, h, body, load)
    angle = np.linalg.norm(s.omega) * h
    increment = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * s.omega / np.linalg.norm(s.omega))])
    same(boxed.omega, s.omega + h * k.omegadot)
    same(boxed.V, s.V + h * k.Vdot)
    same(boxed.q, quaternion.product(s.q, increment))
    same(quaternion.integrate(s.q, s.omega, h), boxed.q)
    same(boxed.X, s.X + h * quaternion.rotate(s.q, s.V))
    corrected = body_frame.step(0.3, s, h, body, load, moving_reference=True)
    V_W = quaternion.rotate(s.q, s.V) + h * quaternion.rotate(s.q, k.Vdot + np.cross(s.omega, s.V))  # no boxed term
    same(quaternion.rotate(corrected.q, corrected.V), V_W)
    for name in ("X", "q", "omega"):
        same(getattr(corrected, name), getattr(boxed, name))
    free = body_frame.step(0.0, s, h, body, lambda t, X, V: np.zeros(6), moving_reference=True)
    same(quaternion.rotate(free.q, free.V), quaternion.rotate(s.q, s.V))  # without force the velocity stays


@given(SEEDS)
def test_a_change_of_mass_changes_the_inertia(seed):
    """Fuel that is burnt or pumped: mass, mass centre and inertia follow from the parts that are left."""
    rng = np.random.default_rng(seed)
    m, x = rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3))
    dry, fuel = Inertia.points(m[:4], x[:4]), Inertia.points(m[4:], x[4:])
    full, left = dry + fuel, (dry + fuel) - fuel
    same(full.moment, Inertia.points(m, x).moment, scale=10.0)
    same(left.com, dry.com, 1e-10)
    same(left.moment, dry.moment, 1e-10, scale=10.0)
    s = body_frame.from_motion(full, Pose(), rng.normal(size=6))
    tau = rng.normal(size=3)
    alphas = [body_frame.accelerations(body, s.V, s.omega, np.zeros(3), tau)[1] for body in (full, dry)]
    assert not np.allclose(*alphas)
