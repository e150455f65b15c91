"""Where links are and how they move, over random trees: velocities and accelerations are rates of positions."""

import numpy as np
import pytest
from trees import along, law, random_motion, rate, same

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.spatial import motion

TIGHT = 1e-11  # what the differences leave


@law()
def test_twists_are_rates_of_poses(mech, rng):
    q, v, _ = random_motion(rng, mech)
    moving = along(mech, q, v)
    X = kinematics.world_poses(mech, q)
    Xdot = rate(lambda t: np.stack([X.matrix() for X in kinematics.world_poses(mech, moving(t)[0])]))
    for X_WB, dX, V in zip(X, Xdot, kinematics.twists(mech, q, v), strict=True):
        same(X_WB.inverse().matrix() @ dX, motion.twist_matrix(V), TIGHT)


@law()
def test_accelerations_are_rates_of_twists(mech, rng):
    q, v, vdot = random_motion(rng, mech)
    moving = along(mech, q, v, vdot)
    Vdot = rate(lambda t: np.stack(kinematics.twists(mech, *moving(t))))
    same(kinematics.accelerations(mech, q, v, vdot), Vdot, TIGHT)


@law()
def test_jacobians_turn_joint_velocities_into_twists(mech, rng):
    """V = J v, V' = J v' + J' v, and J' is the rate of J."""
    q, v, vdot = random_motion(rng, mech)
    i = int(rng.integers(len(mech)))
    name = mech.links[i].name
    J, Jdot = kinematics.jacobian(mech, q, name), kinematics.jacobian_rate(mech, q, v, name)
    same(J @ v, kinematics.twists(mech, q, v)[i])
    same(J @ vdot + Jdot @ v, kinematics.accelerations(mech, q, v, vdot)[i])
    moving = along(mech, q, v)
    same(Jdot, rate(lambda t: kinematics.jacobian(mech, moving(t)[0], name)), TIGHT)


@law()
def test_move_and_difference_undo_each_other(mech, rng):
    q, v, u = random_motion(rng, mech)
    same(kinematics.difference(mech, q, kinematics.integrate(mech, q, u)), u, 1e-12)
    same(kinematics.position_rate(mech, q, v), rate(lambda t: kinematics.integrate(mech, q, t * v)), TIGHT)
    same(kinematics.integrate(mech, q, 0 * u), q, 1e-15)


@law()
def test_the_centre_of_mass_moves_with_the_momentum(mech, rng):
    """c' = P/m, and about the centre the linear momentum is the same."""
    q, v, _ = random_motion(rng, mech)
    moving, mass = along(mech, q, v), sum(link.inertia.mass for link in mech.links if link.inertia)
    P = kinematics.momentum(mech, q, v)
    same(rate(lambda t: kinematics.centre_of_mass(mech, moving(t)[0])), P[3:] / mass, TIGHT)
    central = kinematics.centroidal_momentum(mech, q, v)
    same(central[3:], P[3:])
    same(central[:3] + np.cross(kinematics.centre_of_mass(mech, q), P[3:]), P[:3])


@law()
def test_forward_kinematics_goes_by_name(mech, rng):
    q, _, _ = random_motion(rng, mech)
    poses = pt.forward_kinematics(mech, q)
    assert list(poses) == [link.name for link in mech.links]
    for link in mech.links:
        X_PB = link.placement @ link.joint.type.pose(link.joint, q[mech.q_slices[mech.index(link.name)]])
        expected = X_PB if link.parent is None else poses[link.parent] @ X_PB
        same(poses[link.name].matrix(), expected.matrix(), 1e-14)


def test_mass_on_the_ground_counts():
    """A pedestal, fixed to the world, belongs to the mechanism's centre of mass; it does not move."""
    ball = pt.Inertia.sphere(2.0, 0.1)
    mech = pt.Mechanism(
        (
            pt.Link("pedestal", ball, placement=pt.Pose(p=(0, 0, 1))),
            pt.Link("arm", ball, "pedestal", pt.prismatic((1, 0, 0)), pt.Pose(p=(0, 0, 1))),
        )
    )
    same(kinematics.centre_of_mass(mech, np.array([3.0])), [1.5, 0, 1.5])
    same(kinematics.momentum(mech, np.array([0.0]), np.array([1.0])), [0, 4, 0, 2, 0, 0])
    same(kinematics.potential_energy(mech, np.array([0.0])), 9.81 * (2 * 1 + 2 * 2))
    same(pt.mass_matrix(mech, np.array([0.0])), [[2.0]])


def test_an_unknown_link_is_named():
    mech = pt.Mechanism((pt.Link("upper arm", pt.Inertia.sphere(1.0, 0.1), joint=pt.free()),))
    with pytest.raises(KeyError, match=r"there is no link 'uper arm'; did you mean 'upper arm'\?"):
        kinematics.jacobian(mech, mech.neutral(), "uper arm")
