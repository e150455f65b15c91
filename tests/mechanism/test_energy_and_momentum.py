"""Conservation of energy and momentum, their changes under forces, and the wrenches between links."""

from dataclasses import replace

import numpy as np
import pytest
from trees import KINDS, along, law, pool, random_joint, random_motion, rate, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import dynamics, kinematics
from poinsot.spatial import motion


def mass_of(mech: pt.Mechanism) -> float:
    return sum(link.inertia.mass for link in mech.links if link.inertia is not None)


@law(30)
def test_power_is_the_rate_of_energy(mech, rng):
    """d(T + U)/dt = v tau + sum V F: of the motors and of what acts from outside."""
    q, v, tau = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    moving = along(mech, q, v, pt.forward_dynamics(mech, q, v, tau, F))

    def energy(t: float) -> Array:
        return kinematics.kinetic_energy(mech, *moving(t)) + kinematics.potential_energy(mech, moving(t)[0])

    power = v @ tau + np.sum(np.stack(kinematics.twists(mech, q, v)) * F)
    scale = max(1.0, float(kinematics.kinetic_energy(mech, q, v)))
    same(rate(energy) / scale, power / scale)


@law(30, base="free")
def test_momentum_of_a_floating_tree_changes_by_forces_from_outside(mech, rng):
    """Motors in the joints, with their rotors, change no momentum: only weight and external wrenches do."""
    q, v, tau = random_motion(rng, mech)
    tau[:6] = 0.0
    F = rng.standard_normal((len(mech), 6)) * (rng.random() < 0.5)
    moving = along(mech, q, v, pt.forward_dynamics(mech, q, v, tau, F))
    weight = mass_of(mech) * mech.gravity
    total = np.concatenate([np.cross(kinematics.centre_of_mass(mech, q), weight), weight])
    for X_WB, F_B in zip(kinematics.world_poses(mech, q), F, strict=True):
        total = total + motion.wrench_in_frame(X_WB, F_B)
    same(rate(lambda t: kinematics.momentum(mech, *moving(t))), total)
    if not F.any():
        spin = rate(lambda t: kinematics.centroidal_momentum(mech, *moving(t)))[:3]
        same(spin, np.zeros(3))  # gravity does not turn it


def test_momentum_and_energy_of_a_free_tree_over_time():
    """Two seconds of a floating tree without gravity, in steps of 1 ms: RK4 leaves 1e-10."""
    mech = replace(pool(4, 3, base="free"), gravity=np.zeros(3))
    nq, n = mech.nq, mech.nv

    def derivative(q: Array, v: Array) -> tuple[Array, Array]:
        return kinematics.position_rate(mech, q, v), pt.forward_dynamics(mech, q, v, np.zeros(n))

    def step(i: int, state: tuple[Array, Array], h: float = 1e-3) -> tuple[Array, Array]:
        f = pt.once(derivative)
        k1 = f(*state)
        k2 = f(*(x + h / 2 * k for x, k in zip(state, k1, strict=True)))
        k3 = f(*(x + h / 2 * k for x, k in zip(state, k2, strict=True)))
        k4 = f(*(x + h * k for x, k in zip(state, k3, strict=True)))
        return tuple(x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(state, k1, k2, k3, k4, strict=True))

    run = pt.kernel(f"({nq}),({n})->({nq}),({n})")(lambda q, v: pt.fori_loop(2000, step, (q, v)))
    rng = np.random.default_rng(1)
    q, v, _ = random_motion(rng, mech)
    after = run(q, v)
    same(kinematics.momentum(mech, *after), kinematics.momentum(mech, q, v))
    same(kinematics.kinetic_energy(mech, *after), kinematics.kinetic_energy(mech, q, v))


@law()
def test_external_wrenches_do_virtual_work(mech, rng):
    """They enter as joint forces J^T F, by name or as rows."""
    q, v, vdot = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    names = [link.name for link in mech.links]
    J = [kinematics.jacobian(mech, q, name) for name in names]
    work = sum(J_i.T @ F_i for J_i, F_i in zip(J, F, strict=True))
    alone = pt.inverse_dynamics(mech, q, v, vdot)
    same(pt.inverse_dynamics(mech, q, v, vdot, F), alone - work)
    same(pt.inverse_dynamics(mech, q, v, vdot, dict(zip(names, F, strict=True))), alone - work)
    i = int(rng.integers(len(mech)))
    same(pt.inverse_dynamics(mech, q, v, vdot, {names[i]: F[i]}), alone - J[i].T @ F[i])
    forward = pt.forward_dynamics(mech, q, v, vdot + work)
    same(pt.forward_dynamics(mech, q, v, vdot, F), forward, 1e-14 * np.linalg.cond(pt.mass_matrix(mech, q)))


@law()
def test_wrenches_between_links_balance(mech, rng):
    """The wrench through a joint, with weight and external wrenches, is the rate of momentum of all that it carries."""
    q, v, vdot = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    through, A = dynamics.link_wrenches(mech, q, v, vdot, F)
    moving = along(mech, q, v, vdot)
    X = kinematics.world_poses(mech, q)

    def momenta(t: float) -> Array:
        q, v = moving(t)
        return np.stack(
            [
                _momentum(*of)
                for of in zip(mech.links, kinematics.world_poses(mech, q), kinematics.twists(mech, q, v), strict=True)
            ]
        )

    change = rate(momenta)
    for i in range(len(mech)):
        carried = [k for k in range(len(mech)) if i in kinematics.ancestors(mech, k)]
        outside = sum(_weight(mech, k, X[k]) + motion.wrench_in_frame(X[k], F[k]) for k in carried)
        same(motion.wrench_in_frame(X[i], through[i]) + outside, sum(change[k] for k in carried))
    same(
        A,
        [
            a - np.append(np.zeros(3), x.R.T @ mech.gravity)
            for a, x in zip(kinematics.accelerations(mech, q, v, vdot), X, strict=True)
        ],
    )
    tau = pt.inverse_dynamics(mech, q, v, vdot, F)
    for i, (link, S) in enumerate(zip(mech.links, kinematics.subspaces(mech, q), strict=True)):
        sv = mech.v_slices[i]
        same(S.T @ through[i] + link.joint.armature * vdot[sv], tau[sv])


def _momentum(link: pt.Link, X_WB: pt.Pose, V: Array) -> Array:
    return np.zeros(6) if link.inertia is None else motion.momentum_in_frame(X_WB, link.inertia.momentum(V))


def _weight(mech: pt.Mechanism, i: int, X_WB: pt.Pose) -> Array:
    """About the world's origin."""
    inertia = mech.links[i].inertia
    if inertia is None:
        return np.zeros(6)
    return np.concatenate([np.cross(X_WB @ inertia.com, inertia.mass * mech.gravity), inertia.mass * mech.gravity])


@pytest.mark.parametrize("kind", KINDS)
def test_springs_dampers_and_friction_resist(kind):
    """Springs pull towards rest along the joint's own way there; dampers and friction oppose v.

    In a plane they pull straight: the screw that leads to rest is not defined after a whole turn.
    """
    rng = np.random.default_rng(2)
    joint = random_joint(rng, kind, stiffness=3.0, rest=0.2, damping=0.7, friction=0.1)
    mech = pt.Mechanism((pt.Link("body", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), joint=joint),))
    q, v, _ = random_motion(rng, mech)
    rest = 0.2 * np.ones(mech.nv)
    at_rest = joint.type.integrate(joint, mech.neutral(), rest) if kind != "planar" else np.full(3, 0.2)
    still, moving = (dynamics.joint_forces(mech, q, x) for x in (0 * v, v))
    if kind != "planar":
        same(still, 3.0 * kinematics.difference(mech, q, at_rest))
    same(dynamics.joint_forces(mech, at_rest, 0 * v), 0 * v)
    same(moving - still, -0.7 * v - 0.1 * np.tanh(v / 1e-3))
    assert v @ (moving - still) < 0


@pytest.mark.parametrize("angle", [0.3, 3.0, 3.3, 6.28, 2 * np.pi, 6.3, 40.0])
def test_the_spring_of_a_planar_joint_is_the_slope_of_its_energy(angle):
    """U = k (theta - theta_0)^2/2 + c |x - x_0|^2/2, however often the link has turned."""
    k, c, rest = 2.0, 3.0, np.array([0.4, -0.1, 0.2])
    joint = pt.planar((1, 2, 3), stiffness=np.array([k, c, c]), rest=rest)
    mech = pt.Mechanism((pt.Link("body", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), joint=joint),))
    q = np.array([angle, 0.7, -0.5])

    def energy(q: Array) -> Array:
        return np.sum(np.array([k, c, c]) * (q - rest) ** 2) / 2

    force = dynamics.joint_forces(mech, q, np.zeros(3))
    for v in np.eye(3):
        same(-force @ v, rate(lambda t, v=v: energy(kinematics.integrate(mech, q, t * v))))
