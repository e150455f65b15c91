"""Descriptions and states that cannot be, and what the errors say about them."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import derivatives, dynamics, kinematics

BOX = pt.Inertia.box(1.0, (0.1, 0.2, 0.3))
HINGE = pt.revolute((0, 0, 1))
ROD = pt.Inertia.rod(1.0, 0.5)  # along z: no moment about its axis
POINT = pt.Inertia(1.0, (0, 0, 0.3), np.zeros((3, 3)))

TREES = {
    "no links": ((), "a mechanism needs at least one link"),
    "doubled name": ((pt.Link("a", BOX), pt.Link("a", BOX)), "two links are called 'a'"),
    "unknown parent": (
        (pt.Link("shoulder", BOX), pt.Link("arm", BOX, "sholder", HINGE)),
        r"parent 'sholder' of link 'arm' does not exist; did you mean 'shoulder'\?",
    ),
    "unknown parent, nothing near": (
        (pt.Link("shoulder", BOX), pt.Link("arm", BOX, "x", HINGE)),
        r"parent 'x' of link 'arm' does not exist\.",
    ),
    "its own parent": ((pt.Link("a", BOX, "a", HINGE),), "the links a -> a hang on each other in a circle"),
    "a circle": (
        (pt.Link("x", BOX, "c"), pt.Link("a", BOX, "b"), pt.Link("b", BOX, "c"), pt.Link("c", BOX, "a")),
        "the links c -> a -> b -> c hang on each other in a circle; one of them needs the parent None",
    ),
    "a tip without mass": (
        (pt.Link("arm", BOX, None, HINGE), pt.Link("tip", None, "arm", HINGE)),
        r"link 'tip' moves on a revolute joint, but neither it nor any link that hangs on it has mass",
    ),
    "a branch without mass": (
        (pt.Link("arm", BOX, None, HINGE), pt.Link("a", None, "arm", HINGE), pt.Link("b", None, "a")),
        "link 'a' moves on a revolute joint",
    ),
    "a rod that spins": ((pt.Link("rod", ROD, None, HINGE),), "the joint of link 'rod' has to move is singular"),
    "a point on a ball joint": (
        (pt.Link("bob", POINT, None, pt.spherical()),),
        "of link 'bob' has to move is singular",
    ),
    "a free point": ((pt.Link("bob", POINT, None, pt.free()),), "of link 'bob' has to move is singular"),
    "seven freedoms for one body": (
        (pt.Link("carrier", None, None, pt.free()), pt.Link("body", BOX, "carrier", HINGE)),
        "has to move is singular",
    ),
    "two slides along one line": (
        (pt.Link("rail", None, None, pt.prismatic((1, 0, 0))), pt.Link("cart", BOX, "rail", pt.prismatic((1, 0, 0)))),
        "has to move is singular",
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_impossible_trees(name):
    links, message = TREES[name]
    with pytest.raises(ValueError, match=message):
        pt.Mechanism(links)


def test_a_tip_without_mass_beside_numbers_left_free():
    def tip(mass):
        arm = pt.Link("arm", pt.Inertia(mass, (0, 0, 0), np.eye(3)), None, HINGE)
        mech = pt.Mechanism((arm, pt.Link("tip", None, "arm", HINGE)))
        return pt.forward_dynamics(mech, np.zeros(2), np.zeros(2), np.ones(2))

    with pytest.raises(
        ValueError, match="link 'tip' moves on a revolute joint, but neither it nor any link that hangs"
    ):
        pt.kernel("()->(2)")(tip)(1.0)


@pytest.mark.parametrize("gravity", [9.81, (0, 0), (0, 0, np.nan), (0, 0, np.inf), np.zeros((1, 3)), "down", None])
def test_bad_gravity(gravity):
    with pytest.raises(ValueError, match="gravity must be three finite numbers"):
        pt.Mechanism((pt.Link("a", BOX, None, HINGE),), gravity=gravity)


def test_gravity_is_kept():
    """Changes of the caller's array do not reach the mechanism, and its own array cannot be changed."""
    gravity = np.array([0.0, 0.0, -9.81])
    mech = pt.Mechanism((pt.Link("a", BOX, None, pt.prismatic((0, 0, 1))),), gravity)
    gravity[2] = 0.0
    np.testing.assert_array_equal(dynamics.gravity_forces(mech, [0.0]), [9.81])
    with pytest.raises(ValueError, match="read-only"):
        mech.gravity[2] = 0.0


def test_only_links_make_a_mechanism():
    with pytest.raises(TypeError, match=r"a mechanism is made of pt.Link\(...\), not of 'arm'"):
        pt.Mechanism(("arm",))


@pytest.mark.parametrize("closures", [["pin"], "pin", [None], pt.coupling(2.0), None, 3])
def test_only_closures_close_its_loops(closures):
    with pytest.raises(TypeError, match=r"pt\.Closure\(.*not ('p|None|3|Coupling)"):
        pt.Mechanism([pt.Link("arm", BOX, joint=pt.revolute((0, 0, 1)))], closures=closures)


@pytest.mark.parametrize("axis", ["z", 2, (1, 2), [[0, 0, 1]], (0, 0, np.inf)])
def test_bad_axes(axis):
    with pytest.raises(ValueError, match="the axis of a joint must be three finite numbers, not "):
        pt.revolute(axis)


@pytest.mark.parametrize("length", [1e-310, 1e-200, 1.0, 1e200, 1e308])
def test_axes_of_any_length(length):
    np.testing.assert_allclose(pt.revolute((0, length, -length)).axes, [[0, np.sqrt(0.5), -np.sqrt(0.5)]], rtol=1e-15)


# The parts of links.

LINKS = {
    "a number for a name": (lambda: pt.Link(5), TypeError, "the name of a link must be a text, not 5"),
    "a parent that is a link": (
        lambda: pt.Link("b", BOX, pt.Link("a")),
        TypeError,
        r"the parent of link 'b' must be the name of a link, or None for the world, not Link\(",
    ),
    "a mass for an inertia": (
        lambda: pt.Link("a", 3.0),
        TypeError,
        "inertia of link 'a' must be a pt.Inertia, or None",
    ),
    "a joint not called": (
        lambda: pt.Link("a", BOX, None, pt.spherical),
        TypeError,
        r"the joint of link 'a' must be a joint such as pt.revolute\(\(0, 0, 1\)\), not <function spherical",
    ),
    "a point for a placement": (
        lambda: pt.Link("a", BOX, None, HINGE, (1, 2, 3)),
        TypeError,
        r"the placement of link 'a' must be a pt.Pose, not \(1, 2, 3\)",
    ),
    "two poses": (
        lambda: pt.Link("a", BOX, None, HINGE, pt.Pose(p=np.zeros((2, 3)))),
        ValueError,
        r"the placement of link 'a' must be one pose, not <Pose, batch of shape \(2,\)>",
    ),
    "an unknown kind": (
        lambda: pt.Link("a", BOX, None, pt.Joint("hinge")),
        ValueError,
        "the joint of link 'a' is 'hinge', which is none of fixed, revolute, prismatic",
    ),
    "a pitch that is no number": (
        lambda: pt.Link("a", BOX, None, pt.helical((0, 0, 1), np.nan)),
        ValueError,
        "pitch of the helical joint of link 'a' must be finite, not nan",
    ),
    "too many numbers": (
        lambda: pt.Link("a", BOX, None, pt.revolute((0, 0, 1), damping=[1, 2])),
        ValueError,
        r"damping of the revolute joint of link 'a' must be one number, or 1: one for each .* it is \(1, 2\)",
    ),
    "text for a number": (
        lambda: pt.Link("a", BOX, None, pt.revolute((0, 0, 1), rest="up")),
        ValueError,
        "rest of the revolute joint of link 'a' must be numbers, not 'up'",
    ),
    "limits exchanged": (
        lambda: pt.Link("a", BOX, None, pt.revolute((0, 0, 1), lower=2, upper=1)),
        ValueError,
        "joint of link 'a' moves from 2 to 1: the lower limit is above the upper",
    ),
    "a limit that is no number": (
        lambda: pt.Link("a", BOX, None, pt.revolute((0, 0, 1), lower=np.nan)),
        ValueError,
        "lower of the revolute joint of link 'a' must be finite, not nan",
    ),
    "negative armature": (
        lambda: pt.Link("a", BOX, None, pt.universal((1, 0, 0), (0, 1, 0), armature=(1, -1))),
        ValueError,
        "armature of the universal joint of link 'a' must be zero or more",
    ),
    **{
        f"{what} that is no number": (
            lambda what=what: pt.Link("a", BOX, None, pt.free(**{what: np.nan})),
            ValueError,
            f"{what} of the free joint of link 'a' must be finite, not nan",
        )
        for what in ("stiffness", "rest", "damping", "friction", "armature")
    },
}


@pytest.mark.parametrize("name", LINKS)
def test_impossible_links(name):
    make, error, message = LINKS[name]
    with pytest.raises(error, match=message):
        make()


ALLOWED = {
    "a point on a string": (pt.Link("bob", POINT, None, pt.universal((1, 0, 0), (0, 1, 0))),),
    "a particle": (pt.Link("bob", POINT, None, pt.translation()),),
    "a rod that swings": (pt.Link("rod", ROD, None, pt.revolute((1, 0, 0))),),
    "a tip with a motor": (
        pt.Link("arm", BOX, None, HINGE),
        pt.Link("tip", None, "arm", pt.revolute((0, 0, 1), armature=0.1)),
    ),
    "frames without mass": (
        pt.Link("a", None, None, HINGE),
        pt.Link("b", BOX, "a", pt.revolute((1, 0, 0))),
        pt.Link("tool", None, "b"),
    ),
    "all fixed": (pt.Link("a", BOX), pt.Link("b", None, "a")),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_looks_odd_but_is_right(name):
    mech = pt.Mechanism(ALLOWED[name])
    rng = np.random.default_rng(1)
    q, tau = kinematics.integrate(mech, mech.neutral(), rng.uniform(-1, 1, mech.nv)), rng.standard_normal(mech.nv)
    v = rng.standard_normal(mech.nv)
    vdot = pt.forward_dynamics(mech, q, v, tau)
    np.testing.assert_allclose(pt.inverse_dynamics(mech, q, v, vdot), tau, rtol=1e-12, atol=1e-12)
    kernel = pt.kernel(f"({mech.nq}),({mech.nv}),({mech.nv})->({mech.nv})")
    forward = kernel(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    np.testing.assert_allclose(forward(q, v, tau), vdot, rtol=1e-12, atol=1e-12)


def test_links_may_come_in_any_order():
    """They are sorted, parents first; what is sorted already stays as it is."""
    links = [pt.Link("hand", BOX, "arm", HINGE), pt.Link("arm", BOX, "body", HINGE), pt.Link("body", BOX, None, HINGE)]
    mech = pt.Mechanism(tuple(links))
    assert [link.name for link in mech.links] == ["body", "arm", "hand"]
    assert mech.parents == (-1, 0, 1)
    assert [link.name for link in pt.Mechanism(tuple(reversed(links))).links] == ["body", "arm", "hand"]
    assert repr(mech) == "<Mechanism of 3 links, 3 degrees of freedom>"


# States of the wrong size: a free body and a hinge have 8 coordinates and 7 degrees of freedom.

MECH = pt.Mechanism((pt.Link("body", BOX, None, pt.free()), pt.Link("arm", BOX, "body", HINGE, pt.Pose(p=(1, 0, 0)))))
Q, V = MECH.neutral(), np.zeros(7)
WRONG = {
    "short q": (lambda: pt.forward_dynamics(MECH, V, V, V), r"q has the shape \(7,\); .* 8 coordinates needs \(8,\)"),
    "short v": (lambda: pt.forward_dynamics(MECH, Q, V[1:], V), r"v has the shape \(6,\); .*7 degrees.* needs \(7,\)"),
    "long tau": (lambda: pt.forward_dynamics(MECH, Q, V, Q), r"tau has the shape \(8,\)"),
    "a batch": (lambda: pt.forward_dynamics(MECH, np.stack([Q, Q]), V, V), r"q has the shape \(2, 8\)"),
    "a number": (lambda: pt.inverse_dynamics(MECH, Q, V, 0.0), r"vdot has the shape \(\)"),
    "mass matrix": (lambda: pt.mass_matrix(MECH, V), "q has the shape"),
    "dense": (lambda: dynamics.forward_dynamics_dense(MECH, Q, V, Q), "tau has the shape"),
    "link wrenches": (lambda: dynamics.link_wrenches(MECH, Q, V, Q), "vdot has the shape"),
    "joint forces": (lambda: dynamics.joint_forces(MECH, Q, Q), "v has the shape"),
    "derivatives": (lambda: derivatives.inverse_dynamics_derivatives(MECH, Q, V, Q), "vdot has the shape"),
    "forward kinematics": (lambda: pt.forward_kinematics(MECH, V), "q has the shape"),
    "twists": (lambda: kinematics.twists(MECH, Q, Q), "v has the shape"),
    "accelerations": (lambda: kinematics.accelerations(MECH, Q, V, Q), "vdot has the shape"),
    "jacobian": (lambda: kinematics.jacobian(MECH, V, "arm"), "q has the shape"),
    "jacobian rate": (lambda: kinematics.jacobian_rate(MECH, Q, Q, "arm"), "v has the shape"),
    "energy": (lambda: kinematics.kinetic_energy(MECH, Q, Q), "v has the shape"),
    "position rate": (lambda: kinematics.position_rate(MECH, Q, Q), "v has the shape"),
    "move": (lambda: kinematics.integrate(MECH, Q, Q), "u has the shape"),
    "difference": (lambda: kinematics.difference(MECH, Q, V), "q2 has the shape"),
    "a zero quaternion": (
        lambda: pt.forward_dynamics(MECH, np.zeros(8), V, V),
        r"the quaternion of link 'body' in q has the length 0, not 1. Start from mech.neutral\(\)",
    ),
    "a long quaternion": (
        lambda: kinematics.difference(MECH, Q, np.ones(8)),
        r"link 'body' in q2 has the length 2, not 1. .*: kinematics.normalize\(mech, q\)",
    ),
    "no mass": (
        lambda: kinematics.centre_of_mass(pt.Mechanism((pt.Link("frame"),)), []),
        "<Mechanism of 1 links, 0 degrees of freedom> has no centre of mass",
    ),
    "external rows": (
        lambda: pt.forward_dynamics(MECH, Q, V, V, np.zeros((3, 6))),
        r"must have shape \(2, 6\), not \(3, 6\)",
    ),
    "external of five": (
        lambda: pt.forward_dynamics(MECH, Q, V, V, {"arm": V[:5]}),
        r"on 'arm' must have shape \(6,\), not \(5,\)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sizes(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_sizes_inside_a_kernel():
    with pytest.raises(ValueError, match=r"tau has the shape \(6,\); .* 7 degrees of freedom needs \(7,\)"):
        pt.kernel("(8),(7),(6)->(7)")(lambda q, v, tau: pt.forward_dynamics(MECH, q, v, tau))(Q, V, V[1:])


def test_lists_are_as_good_as_arrays():
    vdot = pt.forward_dynamics(MECH, Q.tolist(), [0] * 7, V.tolist(), {"arm": [0, 0, 0, 0, 0, 1]})
    np.testing.assert_array_equal(vdot, pt.forward_dynamics(MECH, Q, V, V, {"arm": np.eye(6)[5]}))
    for function in (kinematics.kinetic_energy, kinematics.centroidal_momentum, dynamics.joint_forces):
        np.testing.assert_array_equal(function(MECH, Q.tolist(), [1] * 7), function(MECH, Q, np.ones(7)))


def test_quaternions_of_any_length_can_be_made_unit():
    np.testing.assert_array_equal(kinematics.normalize(MECH, 3 * Q), Q)


def test_a_link_is_known_by_its_name_alone():
    with pytest.raises(KeyError, match=r"there is no link 0\."):
        kinematics.jacobian(MECH, Q, 0)


def test_an_unknown_link_in_external_wrenches():
    with pytest.raises(KeyError, match=r"there is no link 'amr'; did you mean 'arm'\?"):
        pt.forward_dynamics(MECH, Q, V, V, {"amr": np.zeros(6)})
