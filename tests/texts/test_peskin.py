"""Peskin, Rigid-Body Motion (2018), equation by equation: what the text derives is what the library returns."""

import numpy as np
import pytest
from hypothesis import given
from text_objects import SEEDS, moved, random_object, random_springs, rate, same

from poinsot.body import body_frame, lab
from poinsot.particles import (
    Particles,
    Springs,
    angular_momentum,
    angular_momentum_rate,
    central_forces,
    centre_of_mass,
    centre_velocity,
    derivative,
    momentum,
    rigid_speed_function,
    spring_forces,
    tensions,
    torque,
    total_mass,
)
from poinsot.spatial import Inertia, motion
from poinsot.spatial.arrays import cross
from poinsot.spatial.rotation import exact, skew

E = np.eye(3)


def system(seed, n=6):
    """A collection of mass points connected by springs, under forces F_k."""
    rng = np.random.default_rng(seed)
    return random_object(rng, n), random_springs(rng, n), rng.normal(size=(n, 3))


# (1) to (20): any collection of mass points.


@given(SEEDS)
def test_1_2_equations_of_motion(seed):
    o, springs, F = system(seed)
    T = dict(zip(map(tuple, springs.pairs.tolist()), tensions(o, springs), strict=True))
    xdot, udot = derivative(o, springs, F)
    same(xdot, o.velocities)  # (2)
    X = o.positions
    for k in range(len(o)):
        pull = sum(
            T[max(j, k), min(j, k)] * (X[j] - X[k]) / np.linalg.norm(X[j] - X[k]) for j in range(len(o)) if j != k
        )
        same(o.masses[k] * udot[k], F[k] + pull, scale=100.0)  # (1)


@given(SEEDS)
def test_3_tension_does_not_depend_on_the_order(seed):
    o, springs, _ = system(seed)
    swapped = Springs(springs.pairs[:, ::-1], springs.stiffness, springs.rest_length, springs.damping)
    same(tensions(o, swapped), tensions(o, springs))
    same(spring_forces(o, swapped), spring_forces(o, springs), scale=100.0)
    same(central_forces(o, swapped.pairs, tensions(o, springs)), spring_forces(o, springs), scale=100.0)


@given(SEEDS)
def test_4_to_7_mass_and_centre_of_mass(seed):
    o, _, _ = system(seed)
    M = sum(o.masses)
    same(total_mass(o), M)  # (4)
    same(M * centre_of_mass(o), sum(m * x for m, x in zip(o.masses, o.positions, strict=True)), scale=10.0)  # (5)
    same(M * centre_velocity(o), sum(m * u for m, u in zip(o.masses, o.velocities, strict=True)), scale=10.0)  # (6)
    same(rate(lambda t: centre_of_mass(moved(o, 0 * o.positions, t))), centre_velocity(o), 1e-11)  # (7)


@given(SEEDS)
def test_8_9_spring_forces_do_not_move_the_centre(seed):
    o, springs, F = system(seed)
    same(spring_forces(o, springs).sum(axis=0), np.zeros(3), scale=100.0)  # (8)
    _, udot = derivative(o, springs, F)
    same(rate(lambda t: momentum(moved(o, udot, t))), F.sum(axis=0), 1e-11, scale=100.0)  # (9), (17)


@given(SEEDS)
def test_10_to_13_angular_momentum(seed):
    o, _, _ = system(seed)
    M, X, U = o.masses, o.positions - centre_of_mass(o), o.velocities
    same(angular_momentum(o), M @ cross(X, U), scale=10.0)  # (10)
    same(M @ cross(X, np.broadcast_to(centre_velocity(o), X.shape)), np.zeros(3), scale=10.0)  # (11)
    relative = U - centre_velocity(o)
    same(angular_momentum(o), M @ cross(X, relative), scale=10.0)  # (12), (20)
    assert not cross(relative, relative).any()  # (13)


@given(SEEDS)
def test_14_to_19_torque(seed):
    """(14): the sum over forces and springs; (15): the springs' part vanishes; (16), (19): dL/dt = tau, as moved."""
    o, springs, F = system(seed)
    X = o.positions - centre_of_mass(o)
    _, udot = derivative(o, springs, F)
    Udot = o.masses @ udot / total_mass(o)
    by_accelerations = np.sum(cross(X, o.masses[:, None] * (udot - Udot)), axis=0)  # (14), first line
    pulls = spring_forces(o, springs)
    same(by_accelerations, np.sum(cross(X, F), axis=0) + np.sum(cross(X, pulls), axis=0), scale=100.0)  # second
    same(torque(o, pulls), np.zeros(3), scale=100.0)  # (15)
    same(torque(o, F), np.sum(cross(X, F), axis=0), scale=10.0)  # (16)
    same(angular_momentum_rate(o, F), by_accelerations, scale=100.0)  # (16), (19)
    same(rate(lambda t: angular_momentum(moved(o, udot, t))), angular_momentum_rate(o, F), 1e-10, scale=100.0)


# (21) to (29): a rigid body.


def rigid(seed):
    """Points of a rigid body in motion: masses, positions, U_cm, Omega."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 3.0, 6), rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=3)


@given(SEEDS)
def test_21_point_velocities(seed):
    """The force function of the scheme is given the velocities of the points, and so is any rigid speed function."""
    M, X, U_cm, Omega = rigid(seed)
    state = lab.from_points(M, X, U_cm, Omega)
    seen = []

    def forces(t, x, u):
        seen.append((t, x, u))
        return 0.0 * x

    new = lab.step(2.0, state, 0.1, M.sum(), forces)
    ((t, x, u),) = seen
    assert t == 2.1
    same(x, new.X_cm + new.X)
    same(u, new.U_cm + np.cross(lab.angular_velocity(new), new.X))
    V = np.concatenate([Omega, U_cm])
    U = np.array([motion.point_velocity(V, arm) for arm in state.X])
    same(U, U_cm + np.cross(Omega, state.X))
    fit = rigid_speed_function(Particles(M, X, U))
    same(fit.omega, Omega, 1e-9)
    same(fit(X), U, 1e-9)


@given(SEEDS)
def test_22_to_28_moment_of_inertia(seed):
    M, X, U_cm, Omega = rigid(seed)
    state, body = lab.from_points(M, X, U_cm, Omega), Inertia.points(M, X)
    r = X - centre_of_mass(Particles(M, X))
    same(state.X, r)  # (27)
    L = M @ np.cross(r, np.cross(Omega, r))
    same(state.L, L, scale=10.0)  # (22)
    same(np.cross(r, np.cross(Omega, r)), Omega * np.sum(r * r, axis=1)[:, None] - r * (r @ Omega)[:, None])  # (23)
    same(state.L, M @ np.sum(r * r, axis=1) * Omega - M @ (r * (r @ Omega)[:, None]), scale=10.0)  # (24)
    same(state.L, body.moment @ Omega, scale=10.0)  # (25)
    I = sum(m * (x @ x * E - np.outer(x, x)) for m, x in zip(M, r, strict=True))
    same(state.I, I, scale=10.0)  # (26)
    same(body.moment, I, scale=10.0)
    x, y, z = r.T
    rows = [[y * y + z * z, -x * y, -x * z], [-y * x, x * x + z * z, -y * z], [-z * x, -z * y, x * x + y * y]]
    same(body.moment, [[M @ entry for entry in row] for row in rows], scale=10.0)  # (28)
    same(angular_momentum(Particles(M, X, U_cm + np.cross(Omega, r))), state.L, scale=10.0)  # (21) in (20)


@given(SEEDS)
def test_29_the_moment_is_positive_definite(seed):
    M, X, _, _ = rigid(seed)
    body, V = Inertia.points(M, X), np.random.default_rng(seed).normal(size=3)
    r = X - body.com
    terms = M * (np.sum(r * r, axis=1) * (V @ V) - (r @ V) ** 2)
    assert np.all(terms >= 0)
    same(V @ body.moment @ V, terms.sum(), scale=10.0)
    assert body.rank == 3
    flat = Inertia.points(M[:3], X[:3])  # three points span a plane, and that is enough
    assert flat.rank == 3
    assert np.linalg.eigvalsh(flat.moment)[0] > 0


def test_29_two_points_are_not_enough():
    for n in (2, 5):
        on_a_line = Inertia.points(np.ones(n), np.outer(np.arange(n), [1.0, 2.0, 2.0]))
        assert on_a_line.rank == 2
        with pytest.raises(ValueError, match="singular"):
            on_a_line.angular_velocity((1.0, 0.0, 0.0))


# (30) to (41): the scheme.


@given(SEEDS)
def test_30_to_41_one_step(seed):
    """Forces at t + dt, at the new points, with the new velocities: every line of the scheme, from the old state."""
    M, X, U_cm, Omega = rigid(seed)
    t, dt = 0.7, 0.05
    a, b, c = np.random.default_rng(seed + 1).normal(size=(3, 6, 3))

    def forces(t, x, u):
        return a * np.sin(3 * t) + b * x - c * u

    old = lab.from_points(M, X, U_cm, Omega)  # (30)
    new = lab.step(t, old, dt, M.sum(), forces)
    same(lab.angular_velocity(old), np.linalg.solve(old.I, old.L), 1e-10)  # (37)
    same(Inertia.points(M, X).angular_velocity(old.L), lab.angular_velocity(old), 1e-10)
    R = exact(lab.angular_velocity(old), dt)
    points = old.X @ R.T
    same(new.X, points)  # (38)
    same(new.X_cm, old.X_cm + dt * old.U_cm)  # (39)
    Omega_new = np.linalg.solve(R @ old.I @ R.T, old.L)
    F = forces(t + dt, new.X_cm + points, old.U_cm + np.cross(Omega_new, points))
    same(M.sum() * (new.U_cm - old.U_cm) / dt, F.sum(axis=0), 1e-10, scale=100.0)  # (40)
    same((new.L - old.L) / dt, np.cross(points, F).sum(axis=0), 1e-10, scale=100.0)  # (41)


@given(SEEDS)
def test_40_41_the_load_is_that_at_the_new_time(seed):
    M, X, U_cm, Omega = rigid(seed)
    body = Inertia.points(M, X)
    old = lab.from_points(M, X, U_cm, Omega)

    def load(t, X_WB, V_WB_B):
        return np.concatenate([t * X_WB.p, t * t * np.ones(3)]) + V_WB_B

    new = lab.step_under_load(0.7, old, 0.05, body, load)
    drifted = lab.drift(old, 0.05)
    X_WB, V_WB_B = lab.to_motion(drifted, body)
    wrench = motion.wrench_at(load(0.75, X_WB, V_WB_B), body.com)
    same(body.mass * (new.U_cm - old.U_cm) / 0.05, X_WB.R @ wrench[3:], 1e-10, scale=100.0)
    same((new.L - old.L) / 0.05, X_WB.R @ wrench[:3], 1e-10, scale=100.0)


# (42) to (58): the exact rotation.


@given(SEEDS)
def test_42_to_52_the_exact_rotation(seed):
    Omega, X = np.random.default_rng(seed).normal(size=(2, 3))
    dt, size = 0.3, np.linalg.norm(Omega)
    n = Omega / size
    P = np.outer(n, n)
    same(P @ P, P)  # (42): a projection, along Omega ...
    same(P @ Omega, Omega)
    same(skew(Omega) @ X, np.cross(Omega, X))  # (43)
    (o1, o2, o3), (x1, x2, x3) = Omega, X
    same(skew(Omega) @ X, [o2 * x3 - o3 * x2, o3 * x1 - o1 * x3, o1 * x2 - o2 * x1])  # (44)-(46)
    same(skew(Omega), [[0, -o3, o2], [o3, 0, -o1], [-o2, o1, 0]])  # (47)
    same(skew(Omega).T, -skew(Omega))
    along, normal = P @ X, (E - P) @ X
    same(along + normal, X)  # (48)
    beside = np.cross(n, normal)
    same([beside @ Omega, beside @ normal, np.linalg.norm(beside)], [0, 0, np.linalg.norm(normal)])  # (49)
    same(np.cross(n, X), beside)  # (50)
    R = exact(Omega, dt)
    same(R @ along, along)  # what is along Omega stays ...
    same(R @ normal, np.cos(size * dt) * normal + np.sin(size * dt) * beside)  # ... and the rest rotates
    same(R @ X, P @ X + np.cos(size * dt) * normal + np.sin(size * dt) * np.cross(n, X))  # (51)
    same(R, P + np.cos(size * dt) * (E - P) + np.sin(size * dt) * skew(n))  # (52)


@given(SEEDS)
def test_53_to_58_the_check(seed):
    Omega, X0 = np.random.default_rng(seed).normal(size=(2, 3))
    t, size = 0.8, np.linalg.norm(Omega)
    P, s, c = np.outer(Omega, Omega) / size**2, np.sin(size * 0.8), np.cos(size * 0.8)
    X = exact(Omega, t) @ X0  # (53)
    same(X, P @ X0 + c * (E - P) @ X0 + s / size * np.cross(Omega, X0))  # (55)
    turned = np.cross(Omega, X)
    same(turned, c * np.cross(Omega, X0) + s / size * np.cross(Omega, np.cross(Omega, X0)))  # (56)
    same(turned, c * np.cross(Omega, X0) - size * s * (E - P) @ X0)  # (57)
    Xdot = rate(lambda t: exact(Omega, t) @ X0, t)
    same(Xdot, -size * s * (E - P) @ X0 + c * np.cross(Omega, X0), 1e-10)  # (58)
    same(Xdot, turned, 1e-10)  # (54)
    assert np.array_equal(exact(Omega, 0.0), E)


# (59) to (62), and what follows.


@given(SEEDS)
def test_59_to_62_the_new_moment(seed):
    M, X, U_cm, Omega = rigid(seed)
    old, dt = lab.from_points(M, X, U_cm, Omega), 0.2
    rotated, summed = lab.drift(old, dt), lab.drift(old, dt, M)
    R = exact(lab.angular_velocity(old), dt)
    same(summed.I, Inertia.points(M, summed.X).moment, scale=10.0)  # (59)
    same(np.linalg.norm(rotated.X, axis=1), np.linalg.norm(old.X, axis=1))  # (60)
    same(R @ R.T, E)  # (61)
    same(rotated.I, R @ old.I @ R.T, scale=10.0)  # (62)
    same(rotated.I, summed.I, scale=10.0)


def test_62_only_points_with_forces_are_tracked():
    """M and I are all that matters of the mass: with no points tracked a body moves as with all of them."""
    M, X, U_cm, Omega = rigid(3)
    body = Inertia.points(M, X)
    every = lab.from_points(M, X, U_cm, Omega)
    none = lab.LabState(every.X_cm, every.U_cm, np.zeros((0, 3)), every.L, every.I, every.marks)
    for k in range(50):
        every = lab.step(0.01 * k, every, 0.01, body.mass, lambda t, x, u: M[:, None] * [0, 0, -9.81])
        none = lab.kick(lab.drift(none, 0.01), 0.01, body.mass, body.mass * np.array([0, 0, -9.81]), np.zeros(3))
    same(none.X_cm, every.X_cm)
    same(none.L, every.L, scale=10.0)
    same(none.I, every.I, scale=10.0)


@given(SEEDS)
def test_62_coordinates_attached_to_the_body(seed):
    """There I does not depend on t, and principal axes make it diagonal: the same motion, by de Nivelle's state."""
    M, X, U_cm, Omega = rigid(seed)
    body, state = Inertia.points(M, X), lab.from_points(M, X, U_cm, Omega)
    moments, axes = body.principal()
    for _ in range(5):
        state = lab.drift(state, 0.1)
        R = state.marks.T
        same(R.T @ state.I @ R, body.moment, 1e-11, scale=10.0)
        same((R @ axes).T @ state.I @ (R @ axes), np.diag(moments), 1e-11, scale=10.0)
    attached = body_frame.from_motion(body, *lab.to_motion(state, body))
    same(attached.omega, np.linalg.solve(body.moment, R.T @ state.L), 1e-9)
