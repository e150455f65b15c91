"""Compiled mechanisms: the same as plain NumPy, in float64 and float32; and descriptions with numbers left free."""

from dataclasses import replace

import numpy as np
import pytest
from trees import KINDS, pool, random_inertia, random_joint, random_motion, random_placement, rate, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import derivatives, dynamics, kinematics
from sparing import few


def everything(mech: pt.Mechanism, q: Array, v: Array, x: Array) -> tuple[Array, ...]:
    """All that a mechanism can tell at one state, with x for accelerations or forces."""
    F = np.outer(np.linspace(-1, 1, len(mech)), x[0] * np.arange(6.0))
    name = mech.links[-1].name
    return (
        pt.forward_dynamics(mech, q, v, x, F),
        pt.inverse_dynamics(mech, q, v, x, F),
        pt.mass_matrix(mech, q),
        np.stack(dynamics.link_wrenches(mech, q, v, x, F)[0]),
        dynamics.joint_forces(mech, q, v),
        np.stack([X.matrix() for X in kinematics.world_poses(mech, q)]),
        np.stack(kinematics.twists(mech, q, v)),
        np.stack(kinematics.accelerations(mech, q, v, x)),
        kinematics.jacobian(mech, q, name),
        kinematics.jacobian_rate(mech, q, v, name),
        kinematics.centroidal_momentum(mech, q, v),
        np.stack([kinematics.kinetic_energy(mech, q, v), kinematics.potential_energy(mech, q)]),
        kinematics.position_rate(mech, q, v),
        kinematics.integrate(mech, q, v),
        kinematics.difference(mech, q, kinematics.integrate(mech, q, v)),
    )


def kernel_of(mech: pt.Mechanism, function=everything) -> pt.fuse.Kernel:
    n, nq, links = mech.nv, mech.nq, len(mech)
    shapes = f"({n}),({n}),({n},{n}),({links},6),({n}),({links},4,4),({links},6),({links},6),(6,{n}),(6,{n})"
    text = f"({nq}),({n}),({n})->{shapes},(6),(2),({nq}),({nq}),({n})"
    return pt.kernel(text)(lambda q, v, x: function(mech, q, v, x))


@pytest.mark.parametrize("seed", few(range(3), {0}))
def test_compiled_equals_plain(seed):
    """For a batch of states; float32 keeps five of its seven digits, less what the condition of M takes."""
    mech, rng = pool(4, seed), np.random.default_rng(seed)
    states = [np.stack(x) for x in zip(*(random_motion(rng, mech) for _ in range(3)), strict=True)]
    compiled = kernel_of(mech)
    double, single = compiled(*states), compiled(*(x.astype(np.float32) for x in states))
    for k, state in enumerate(zip(*states, strict=True)):
        condition = np.linalg.cond(pt.mass_matrix(mech, state[0]))
        for j, plain in enumerate(everything(mech, *state)):
            factor = max(1.0, condition / 10) if j == 0 else 1.0
            same(double[j][k], plain, 1e-13 * factor)
            assert single[j].dtype == np.float32
            same(single[j][k], plain, 1e-5 * factor)


# Numbers left free: the mechanism is built inside of the kernel, from traced ones.


@pytest.mark.parametrize("kind", KINDS)
def test_a_mechanism_made_inside_of_a_kernel(kind):
    """Also one with masses and lengths that are all known; and with nothing left free at all."""
    rng = np.random.default_rng(4)
    base, arm = (random_joint(rng, k) for k in (kind, "revolute"))
    inertias, placement = [random_inertia(rng) for _ in range(2)], random_placement(rng)

    def made(k: Array | float) -> pt.Mechanism:
        joint = replace(base, stiffness=k, damping=2 * k, rest=0.1 * k, friction=k, lower=-k, upper=k)
        first = pt.Link("first", inertias[0], None, joint)
        return pt.Mechanism((first, pt.Link("second", inertias[1], "first", arm, placement)), gravity=(1, 2, 3))

    def forces(mech: pt.Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
        return pt.forward_dynamics(mech, q, v, v), dynamics.joint_forces(mech, q, v)

    mech = made(0.3)
    q, v, _ = random_motion(rng, mech)
    text = f"({mech.nq}),({mech.nv}),()->({mech.nv}),({mech.nv})"
    for kernel in (lambda q, v, k: forces(made(k), q, v), lambda q, v, k: forces(made(0.3), q, v)):
        for ours, plain in zip(pt.kernel(text)(kernel)(q, v, 0.3), forces(mech, q, v), strict=True):
            same(ours, plain, 1e-12)


class Description:
    """A tree in which five numbers are free: a mass, a length, a tilt of an axis, an armature, and the gravity."""

    NAMES = ("mass", "length", "tilt", "armature", "gravity")
    VALUES = np.array([1.3, 0.4, 0.2, 0.3, 9.0])

    def __init__(self, kind: str) -> None:
        rng = np.random.default_rng(KINDS.index(kind))
        self.inertias = [random_inertia(rng) for _ in range(4)]
        self.placements = [random_placement(rng) for _ in range(4)]
        self.joint = random_joint(rng, kind)
        self.moment = self.inertias[2].moment

    def build(self, numbers: Array) -> pt.Mechanism:
        mass, length, tilt, armature, gravity = (numbers[k] for k in range(5))
        O = 0.0 * mass
        lengthened = pt.Pose(self.placements[2].R, np.stack([O, length, O + 0.1]))
        axis = np.stack([tilt, O, O + 1.0])  # made a unit vector by the joint
        heavy = pt.Inertia(mass, np.stack([O, O, length / 2]), mass * self.moment)
        return pt.Mechanism(
            (
                pt.Link("base", self.inertias[0], None, pt.revolute(axis, armature=armature), self.placements[0]),
                pt.Link("plate", self.inertias[1], "base", placement=self.placements[1]),
                pt.Link("tool", heavy, "plate", self.joint, lengthened),
                pt.Link("branch", self.inertias[3], "plate", pt.helical(axis, length), self.placements[3]),
            ),
            gravity=np.stack([O, O, -gravity]),
        )


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_left_free(kind):
    """Values as with the numbers built in; derivatives of forward and inverse dynamics by each as by differences."""
    description = Description(kind)
    mech = description.build(Description.VALUES)
    q, v, tau = random_motion(np.random.default_rng(1), mech)
    n, nq = mech.nv, mech.nq

    def free(numbers: Array, q: Array, v: Array, x: Array) -> tuple[Array, ...]:
        mech = description.build(numbers)
        return pt.forward_dynamics(mech, q, v, x), pt.inverse_dynamics(mech, q, v, x), pt.mass_matrix(mech, q) @ x

    kernel = pt.kernel(f"(5),({nq}),({n}),({n})->({n}),({n}),({n})")(free).to("numpy")
    results = pt.jvp(kernel, wrt=0)(Description.VALUES, q, v, tau, np.eye(5))
    values, derivatives = np.stack(results[:3], axis=1), np.stack(results[3:], axis=1)
    same(values[0], np.stack(free(Description.VALUES, q, v, tau)))
    for k, (name, unit) in enumerate(zip(Description.NAMES, np.eye(5), strict=True)):
        slope = rate(lambda h, unit=unit: np.stack(free(Description.VALUES + h * unit, q, v, tau)))
        same(derivatives[k], slope, 1e-9)  # what differences of the largest accelerations leave
        assert np.abs(slope).max() > 1e-3, f"{name} changes nothing"


@pytest.mark.parametrize("kind", KINDS)
def test_recursive_derivatives_with_numbers_left_free(kind):
    description = Description(kind)
    mech = description.build(Description.VALUES)
    n, at = mech.nv, random_motion(np.random.default_rng(2), mech)

    def free(numbers: Array, q: Array, v: Array, x: Array) -> tuple[Array, ...]:
        return derivatives.inverse_dynamics_derivatives(description.build(numbers), q, v, x)

    kernel = pt.kernel(f"(5),({mech.nq}),({n}),({n})->({n},{n}),({n},{n}),({n},{n})")(free).to("numpy")
    built_in = derivatives.inverse_dynamics_derivatives(mech, *at)
    for ours, expected in zip(kernel(Description.VALUES, *at), built_in, strict=True):
        same(ours, expected)


def test_a_mass_swept_in_one_call():
    """A batch over a number of the description: a thousand pendulums of different length."""

    @pt.kernel("(),()->()")
    def swing(length: Array, q: Array) -> Array:
        bob = pt.Inertia(2.0, np.stack([0.0 * length, 0.0 * length, -length]), 1e-9 * np.eye(3))
        mech = pt.Mechanism((pt.Link("bob", bob, joint=pt.revolute((1, 0, 0))),))
        return pt.forward_dynamics(mech, q[None], np.zeros(1), np.zeros(1))[0]

    lengths = np.linspace(0.5, 2.0, 1000)
    same(swing(lengths, 0.3), -9.81 * np.sin(0.3) / lengths, 1e-8)
