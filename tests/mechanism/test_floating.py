"""Free roots in axes at rest: the same accelerations, and the rates of the resting form."""

import numpy as np
from trees import along, law, pool, random_motion, random_state, rate, same

import poinsot as pt
from poinsot.mechanism import floating, kinematics
from poinsot.spatial import quaternion


@law()
def test_accelerations_are_those_of_forward_dynamics(mech, rng):
    """Also with motors in free joints, whose armature resists the rate of v and not the acceleration. The acceleration
    of a root's centre of mass is the second derivative of its path, in the axes of the joint."""
    q, v, tau = random_motion(rng, mech)
    external = rng.standard_normal((len(mech), 6))
    vdot, wdot = floating.accelerations(mech, q, 10 * v, tau, external)
    same(vdot, pt.forward_dynamics(mech, q, 10 * v, tau, external), 1e-9)
    for i, (sq, sv) in enumerate(zip(mech.q_slices, mech.v_slices, strict=True)):
        expected = vdot[sv]
        if i in floating.free_roots(mech):
            (omega, linear), (alpha, a), c = np.split(10 * v[sv], 2), np.split(vdot[sv], 2), mech.links[i].inertia.com
            of_centre = a + np.cross(omega, linear + np.cross(omega, c)) + np.cross(alpha, c)
            expected = np.concatenate([alpha, quaternion.rotate(q[sq][:4], of_centre)])
        same(wdot[sv], expected, 1e-9)


@law()
def test_a_common_velocity_does_not_matter(mech, rng):
    """Galileo: accelerations of free trees are the same to the bit, however fast they fly."""
    q, v, tau = random_motion(rng, mech)
    _, slow = floating.accelerations(mech, q, v, tau)
    faster = v.copy()
    for i in floating.free_roots(mech):
        if not np.any(mech.links[i].joint.armature):
            faster[mech.v_slices[i]][3:] += 1e3 * rng.standard_normal(3)
    np.testing.assert_array_equal(floating.accelerations(mech, q, faster, tau)[1], slow)


@law(base="free")
def test_resting_form_and_back(mech, rng):
    q, v = random_state(rng, mech)
    points = floating.centres(mech, random_state(rng, mech)[0])
    x, w = floating.at_rest(mech, points, q, v)
    for there, here in zip(floating.moving(mech, points, x, w), (q, v), strict=True):
        same(there, here)
    other = {i: rng.standard_normal(3) for i in points}
    for there, here in zip(
        floating.shifted(mech, points, other, x, w), floating.at_rest(mech, other, q, v), strict=True
    ):
        same(there, here)


@law(base="free")
def test_rates_are_those_of_the_resting_form(mech, rng):
    """Differentiated along a motion; and the position moves with the velocity."""
    q, v, tau = random_motion(rng, mech)
    points = floating.centres(mech, q)
    vdot, wdot = floating.accelerations(mech, q, v, tau)
    _, w = floating.at_rest(mech, points, q, v)
    xdot, wdot = floating.rates(mech, points, q, w, kinematics.position_rate(mech, q, v), wdot)
    motion = along(mech, q, v, vdot)
    same(rate(lambda t: floating.at_rest(mech, points, *motion(t))[0]), xdot, 1e-8)
    same(rate(lambda t: floating.at_rest(mech, points, *motion(t))[1]), wdot, 1e-8)


@law(base="free")
def test_centres_are_those_of_the_trees(mech, rng):
    """Of the first tree alone: its point in the world is its centre of mass."""
    q, _ = random_state(rng, mech)
    names, links = set(), []
    for link in mech.links:
        if link is mech.links[0] or link.parent in names:
            names.add(link.name)
            links.append(link)
    tree = pt.Mechanism(tuple(links))
    coordinates = np.concatenate([q[mech.q_slices[mech.index(link.name)]] for link in links])
    X = kinematics.world_poses(tree, coordinates)[0]
    same(X @ floating.centres(mech, q)[0], kinematics.centre_of_mass(tree, coordinates))


def test_a_body_alone_is_about_its_own_centre():
    """To the bit, and so is the origin."""
    for com in ((0.1, 0.2, 0.3), (0.0, 0.0, 0.0)):
        mech = pt.Mechanism((pt.Link("a", pt.Inertia(0.7, com, np.eye(3)), joint=pt.free()),))
        np.testing.assert_array_equal(floating.centres(mech, mech.neutral())[0], com)


def test_moved_is_straight_and_exact():
    mech = pool(4, 0, base="free")
    rng = np.random.default_rng(0)
    x, w = random_state(rng, mech)
    there = floating.moved(mech, x, w, 0.3)
    np.testing.assert_array_equal(there[4:7], x[4:7] + 0.3 * w[3:6])
    same(there[:4], kinematics.integrate(mech, x, 0.3 * w)[:4])
    same(there[7:], kinematics.integrate(mech, x, 0.3 * w)[7:])
