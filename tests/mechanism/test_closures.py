"""Closed loops: rows against differences, motion against published benchmarks, closed forms and other formulations."""

import re
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from trees import KINDS, random_joint, random_placement, random_tree

import poinsot as pt
from poinsot.mechanism import dynamics, kinematics
from poinsot.mechanism.assembling import assembled
from poinsot.mechanism.closures import closing_rows
from poinsot.mechanism.constrained import constrained_dynamics, mobility, projected
from poinsot.mechanism.joints import TYPES
from poinsot.mechanism.response import Response
from poinsot.spatial import quaternion, rotation


def hinge(**data):
    return pt.revolute((0, 0, 1), **data)


def point(x, y=0.0, z=0.0):
    return pt.Pose(p=(x, y, z))


PIN = pt.on_line((0, 0, 1))  # of a planar linkage: two rows, so that none is redundant


def stepped(mech, forces, n, project=True):
    """n steps by RK4, each followed by a projection."""

    def rate(q, v):
        return pt.forward_dynamics(mech, q, v, forces(q, v))

    @pt.kernel(f"({mech.nq}),({mech.nv}),()->({mech.nq}),({mech.nv})")
    def advance(q, v, h):
        f = pt.once(rate)

        def step(_, state):
            q, v = state
            a1 = f(q, v)
            a2 = f(q + h / 2 * v, v + h / 2 * a1)
            a3 = f(q + h / 2 * (v + h / 2 * a1), v + h / 2 * a2)
            a4 = f(q + h * (v + h / 2 * a2), v + h * a3)
            dq, dv = h * v + h * h / 6 * (a1 + a2 + a3), h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            if project:
                return projected(mech, mech.closures, q + dq, v + dv, independent=mech.independent)[:2]
            return q + dq, v + dv

        return pt.fori_loop(n, step, (q, v))

    return advance


# Random trees.


def random_closures(rng, mech, kinds):
    """A closure of each of these kinds between two links, or a link and the world, or a coupling, or a distance."""
    singles = [link.name for link in mech.links if link.joint.nv == 1]
    for k, kind in enumerate(kinds):
        a, b = rng.choice(len(mech), 2, replace=False)
        ends = (None if rng.random() < 0.3 else mech.links[a].name, mech.links[b].name)
        if kind == "coupling":
            if len(singles) > 1:
                ends = rng.choice(singles, 2, replace=False)
                yield pt.Closure(f"c{k}", *ends, pt.coupling(*rng.standard_normal(2)))
            continue
        relation = pt.distance(1.0 + rng.random()) if kind == "distance" else random_joint(rng, kind)
        yield pt.Closure(f"c{k}", *ends, relation, random_placement(rng), random_placement(rng))


@pytest.mark.parametrize("kind", [*KINDS, "fixed", "coupling", "distance"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_the_rates_of_the_gap_and_the_bias_is_the_rate_of_the_rows(kind, seed):
    """On the closure: there the rows are exactly the rate of the gap. Central differences, so 1e-6 of it."""
    rng = np.random.default_rng(seed)
    mech = random_tree(rng, 5, heavy=True)
    closures = list(random_closures(rng, mech, [kind]))
    q = kinematics.integrate(mech, mech.neutral(), 0.3 * rng.standard_normal(mech.nv))
    v, h = rng.standard_normal(mech.nv), 1e-5

    def rows(s):
        there = kinematics.integrate(mech, q, s * v)
        return closing_rows(mech, closures, there, v)

    here, before, after = rows(0.0), rows(-h), rows(h)
    scale = 1 + np.abs(here.J).max(initial=0.0) * np.abs(v).max() ** 2
    if not any(c.relation.kind in ("helical",) for c in closures if isinstance(c.relation, pt.Joint)):
        np.testing.assert_allclose(here.J @ v, (after.gap - before.gap) / (2 * h), rtol=0, atol=1e-8 * scale)
    along = [kinematics.integrate(mech, q, s * v) for s in (-h, h)]
    if not any(link.joint.type.is_group for link in mech.links):  # else v is not constant along the way
        J = [closing_rows(mech, closures, there, v).J @ v for there in along]
        np.testing.assert_allclose(here.bias, (J[1] - J[0]) / (2 * h), rtol=0, atol=1e-7 * scale)


@pytest.mark.parametrize("seed", range(6))
def test_response_is_the_inverse_mass_matrix(seed):
    rng = np.random.default_rng(seed)
    mech = random_tree(rng, 6, heavy=True)
    closures = list(random_closures(rng, mech, ["revolute", "distance", "coupling"]))
    q = kinematics.integrate(mech, mech.neutral(), 0.3 * rng.standard_normal(mech.nv))
    rows = closing_rows(mech, closures, q, np.zeros(mech.nv))
    response = Response(mech, q, rows.J.T, [range(mech.nv)] * len(rows.gap))
    inverse, f = np.linalg.inv(dynamics.mass_matrix(mech, q)), rng.standard_normal(len(rows.gap))
    np.testing.assert_allclose(response.moved_by(f), inverse @ rows.J.T @ f, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(response.product(), rows.J @ inverse @ rows.J.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_dynamics_solve_the_equations_with_multipliers(seed):
    """The whole system M, J^T; J, 0 by NumPy. The rows are independent, since the tree hangs on a free joint."""
    rng = np.random.default_rng(seed)
    mech = random_tree(rng, 6, base="free", heavy=True)
    last = mech.links[-1].name
    closures = [
        pt.Closure("hook", None, last, random_joint(rng, "universal"), random_placement(rng), random_placement(rng)),
        pt.Closure("rod", None, last, pt.distance(2.0), random_placement(rng), random_placement(rng)),
    ]
    q = kinematics.integrate(mech, mech.neutral(), 0.3 * rng.standard_normal(mech.nv))
    v, tau = rng.standard_normal((2, mech.nv))
    vdot, f, _ = constrained_dynamics(mech, closures, q, v, tau)
    rows, M = closing_rows(mech, closures, q, v), dynamics.mass_matrix(mech, q)
    whole = np.block([[M, -rows.J.T], [rows.J, np.zeros((len(f), len(f)))]])
    right = np.concatenate([tau - dynamics.bias_forces(mech, q, v), -rows.bias])
    expected = np.linalg.lstsq(whole, right, rcond=None)[0]
    np.testing.assert_allclose(vdot, expected[: mech.nv], rtol=0, atol=1e-7 * np.abs(expected).max())


# Linkages.


@cache
def andrews():
    """Andrews' squeezing mechanism: seven bodies, three loops, no gravity. Hairer and Wanner, Solving Ordinary
    Differential Equations II, section VII.7, and its mass, inertia and geometry; a pin closes by two rows."""
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    moments = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)

    def body(k, x, y):
        return pt.Inertia(masses[k - 1], (x, y, 0), np.diag([0.5, 0.5, 1.0]) * moments[k - 1])

    a, b = point(-0.06934, -0.00227), point(-0.03635, 0.03273)
    links = [
        pt.Link("K1", body(1, 92e-5, 0), None, hinge()),
        pt.Link("K2", body(2, -115e-4, 0), "K1", hinge(), point(7e-3)),
        pt.Link("K3", body(3, 1043e-5, -1874e-5), None, hinge(), b),
        pt.Link("K5", body(5, 2308e-5, -916e-5), None, hinge(), a),
        pt.Link("K4", body(4, 0, -(2e-2 - 1421e-5)), "K5", hinge(), point(4e-2)),
        pt.Link("K7", body(7, 449e-5, -1228e-5), None, hinge(), a),
        pt.Link("K6", body(6, 2e-2 - 1421e-5, 0), "K7", hinge(), point(0, -4e-2)),
    ]
    ends = {"K3": point(0, -35e-3), "K4": point(0, -2e-2), "K6": point(2e-2)}
    pins = [pt.Closure(f"pin {k}", "K2", k, PIN, point(-28e-3), end) for k, end in ends.items()]
    return pt.Mechanism(links, gravity=(0, 0, 0), closures=pins)


ANDREWS_START = np.array([-0.0617138900142764, 0.0, 0.4552798191630704, 0.4873649795438426, 0.2226683901658859,
                          1.2305474445498212, -0.2226683901658859])  # fmt: skip
ANDREWS_END = np.array([15.8107, -15.7564, 0.0408222, 0.524410, -0.5347301, 1.04808, 0.5347301])  # at 0.03 s
#              beta      Theta     gamma      delta    Phi         epsilon   Omega


def andrews_forces(q, v):
    """A constant torque on K1, and a spring from K3 to the ground."""
    c, s = np.cos(q[2]), np.sin(q[2])
    D = np.stack([2e-2 * c + 18e-3 * s - 0.03635 - 0.014, 2e-2 * s - 18e-3 * c + 0.03273 - 0.072])
    length = np.sqrt(D @ D)
    F = -4530.0 * (length - 7785e-5) / length * D
    spring = F[0] * (18e-3 * c - 2e-2 * s) + F[1] * (2e-2 * c + 18e-3 * s)
    return np.stack([0.033 + 0 * s, 0 * s, spring, 0 * s, 0 * s, 0 * s, 0 * s])


def test_andrews_squeezing_mechanism():
    """Hairer and Wanner's figures to their last digits; at 1e-4 s the error is 2.8e-6."""
    mech = andrews()
    assert mobility(mech, mech.closures, ANDREWS_START).degrees_of_freedom == 1
    fine = stepped(mech, andrews_forces, 4800)(ANDREWS_START, np.zeros(7), 0.03 / 4800)[0]
    digits = np.array([1e-4, 5e-5, 5e-8, 5e-7, 5e-8, 5e-6, 5e-8])
    assert np.all(np.abs(fine - ANDREWS_END) < digits)
    coarse, v = stepped(mech, andrews_forces, 300)(ANDREWS_START, np.zeros(7), 1e-4)
    assert np.abs(coarse - fine).max() < 2.83e-6
    rows = closing_rows(mech, mech.closures, coarse, v)
    assert np.abs(rows.gap).max() < 1e-15
    assert np.abs(rows.J @ v).max() < 1e-12


def test_double_four_bar_through_singular_positions():
    """IFToMM benchmark A02: five bars of 1 m and 1 kg under gravity, which pass singular positions; the tip of the
    first bar after 10 s, as published in the library of multibody benchmarks."""
    bar = pt.Inertia(1.0, (0.5, 0, 0), np.diag([1e-9, 1 / 12, 1 / 12]))
    links = [
        pt.Link("b1", bar, None, hinge()),
        pt.Link("b2", bar, "b1", hinge(), point(1)),
        pt.Link("b3", bar, None, hinge(), point(1)),
        pt.Link("b4", bar, "b3", hinge(), point(1)),
        pt.Link("b5", bar, None, hinge(), point(2)),
    ]
    pins = [pt.Closure(f"pin {a}", a, b, PIN, point(1), point(1)) for a, b in (("b2", "b3"), ("b4", "b5"))]
    mech = pt.Mechanism(links, gravity=(0, -9.81, 0), closures=pins)
    q0, v0 = np.pi / 2 * np.array([1, -1, 1, -1, 1.0]), np.array([-1, 1, -1, 1, -1.0])
    n = 10000
    q, v = stepped(mech, lambda q, v: np.zeros(5), n)(q0, v0, 10 / n)
    tip = kinematics.world_poses(mech, q)[0] @ np.array([1.0, 0, 0])
    np.testing.assert_allclose(tip[:2], (0.3284581, 0.9445185), rtol=0, atol=5e-6)
    energy = [kinematics.kinetic_energy(mech, *s) + kinematics.potential_energy(mech, s[0]) for s in ((q0, v0), (q, v))]
    assert abs(energy[1] - energy[0]) < 1e-6
    assert np.abs(closing_rows(mech, pins, q, v).gap).max() < 1e-13


def crank(closure):
    """Crank of 0.1 m, rod of 0.3 m, slider: the rod's end is closed to the slider."""
    rod, wheel = pt.Inertia(0.5, (0.15, 0, 0), np.diag([1e-4, 4e-3, 4e-3])), pt.Inertia.cylinder(2.0, 0.12, 0.05)
    links = [
        pt.Link("crank", wheel, None, hinge()),
        pt.Link("rod", rod, "crank", hinge(), point(0.1)),
        pt.Link("slider", pt.Inertia.box(0.3, (0.05, 0.05, 0.05)), None, pt.prismatic((1, 0, 0))),
    ]
    return pt.Mechanism(links, gravity=(0, -9.81, 0), closures=[closure])


@pytest.mark.parametrize("relation", [PIN, hinge(), pt.spherical(), pt.cylindrical((0, 0, 1))])
def test_slider_crank_against_its_closed_form(relation):
    """x = r cos a + sqrt(l^2 - r^2 sin^2 a), whatever closes it: with the hinge, three of five rows are redundant."""
    mech = crank(pt.Closure("pin", "slider", "rod", relation, placement_b=point(0.3)))
    q = assembled(mech, mech.closures, np.array([0.7, -1.0, 0.3]))
    v = projected(mech, mech.closures, q, np.array([5.0, 0, 0]))[1]
    assert mobility(mech, mech.closures, q).degrees_of_freedom == 1
    energy = kinematics.kinetic_energy(mech, q, v) + kinematics.potential_energy(mech, q)
    q, v = stepped(mech, lambda q, v: np.zeros(3), 1000)(q, v, 1e-3)
    a, w = q[0], v[0]
    inside = np.sqrt(0.09 - 0.01 * np.sin(a) ** 2)
    assert q[2] == pytest.approx(0.1 * np.cos(a) + inside, abs=1e-13)
    assert v[2] == pytest.approx(-0.1 * np.sin(a) * w * (1 + 0.1 * np.cos(a) / inside), abs=1e-11)
    after = kinematics.kinetic_energy(mech, q, v) + kinematics.potential_energy(mech, q)
    assert after == pytest.approx(energy, rel=1e-10)


def test_gears_share_their_inertia():
    """J1 a1 + J2 ratio a2 = torque, a2 = ratio a1; and an offset that the start is put onto."""
    wheels = [pt.Inertia.cylinder(m, r, 0.02) for m, r in ((1.0, 0.1), (3.0, 0.3))]
    gear = pt.Closure("gear", "one", "two", pt.coupling(-1 / 3, 0.2))
    links = [pt.Link(name, wheel, None, hinge()) for name, wheel in zip(("one", "two"), wheels, strict=True)]
    mech = pt.Mechanism(links, gravity=(0, 0, 0), closures=[gear])
    J1, J2 = (wheel.moment[2, 2] for wheel in wheels)
    vdot = pt.forward_dynamics(mech, np.array([0.3, 0.1]), np.zeros(2), np.array([2.0, 0.0]))
    np.testing.assert_allclose(vdot, 2.0 / (J1 + J2 / 9) * np.array([1, -1 / 3]), rtol=1e-12)
    q = assembled(mech, mech.closures, np.array([0.3, 0.0]))
    assert q[1] == pytest.approx(0.2 - q[0] / 3, abs=1e-13)


def test_rack_and_pinion():
    links = [
        pt.Link("pinion", pt.Inertia.cylinder(1.0, 0.05, 0.02), None, hinge()),
        pt.Link("rack", pt.Inertia.box(2.0, (1, 0.05, 0.05)), None, pt.prismatic((0, 1, 0))),
    ]
    mech = pt.Mechanism(
        links, closures=[pt.Closure("teeth", "pinion", "rack", pt.coupling(0.05))], gravity=(0, -9.81, 0)
    )
    vdot = pt.forward_dynamics(mech, np.zeros(2), np.zeros(2), np.zeros(2))
    J = 0.5 * 1.0 * 0.05**2
    assert vdot[1] == pytest.approx(-9.81 * 2.0 / (2.0 + J / 0.05**2), rel=1e-12)


def test_a_rod_is_a_pendulum():
    """A particle on a rod without mass: the plane pendulum, by SciPy."""
    bob = pt.Link("bob", pt.Inertia(1.5, np.zeros(3), np.zeros((3, 3))), None, pt.translation())
    mech = pt.Mechanism([bob], closures=[pt.Closure("rod", None, "bob", pt.distance(0.8))])
    q0 = 0.8 * np.array([np.sin(1.0), 0, -np.cos(1.0)])
    q, _ = stepped(mech, lambda q, v: np.zeros(3), 4000)(q0, np.zeros(3), 2.0 / 4000)
    exact = solve_ivp(lambda t, y: [y[1], -9.81 / 0.8 * np.sin(y[0])], (0, 2), [1.0, 0], rtol=1e-12, atol=1e-12)
    assert np.arctan2(q[0], -q[2]) == pytest.approx(exact.y[0, -1], abs=1e-9)
    assert np.linalg.norm(q) == pytest.approx(0.8, abs=1e-15)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "free"])
def test_a_loop_through_the_world_is_a_tree_on_that_joint(kind):
    """A free body whose frame is closed to the world by a joint moves as a body on that joint does."""
    rng = np.random.default_rng(7)
    joint, inertia, placement = random_joint(rng, kind), pt.Inertia.box(2.0, (0.3, 0.4, 0.5)), random_placement(rng)
    tree = pt.Mechanism([pt.Link("b", inertia, None, joint, placement)])
    q, v = kinematics.integrate(tree, tree.neutral(), 0.4 * rng.standard_normal(tree.nv)), rng.standard_normal(tree.nv)
    vdot = pt.forward_dynamics(tree, q, v, np.zeros(tree.nv))
    X, V, A = (f(tree, q, *rest)[0] for f, rest in (
        (kinematics.world_poses, ()), (kinematics.twists, (v,)), (kinematics.accelerations, (v, vdot))))  # fmt: skip
    free = pt.Mechanism(
        [pt.Link("b", inertia, None, pt.free())], closures=[pt.Closure("c", None, "b", joint, placement)]
    )
    at = np.concatenate([X.quaternion(), X.p])
    rows = closing_rows(free, free.closures, at, V)
    assert np.abs(rows.gap).max() < 1e-14
    assert np.abs(rows.J @ V).max() < 1e-13
    np.testing.assert_allclose(pt.forward_dynamics(free, at, V, np.zeros(6)), A, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("relation", "along"), [(pt.distance(1.7), -1.0), (pt.on_plane((0.6, 0.0, 0.8)), 0.7)])
def test_a_row_that_only_rounding_fills_holds_nothing(relation, along):
    """A link on a hinge, held at a point of the hinge's axis: skew axes leave derivatives of 1e-17 in the only row."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        axis = rng.standard_normal(3)
        axis /= np.linalg.norm(axis)
        link = pt.Link("arm", pt.Inertia(1.0, (0.5, 0.2, 0), np.eye(3)), None, pt.revolute(axis), random_placement(rng))
        a = link.placement @ pt.Pose(p=along * axis)
        closure = pt.Closure("hold", None, "arm", relation, a, pt.Pose(p=0.7 * axis))
        mech, free = pt.Mechanism([link], closures=[closure]), pt.Mechanism([link])
        q, v, tau = rng.standard_normal((3, 1))
        np.testing.assert_array_equal(pt.forward_dynamics(mech, q, v, tau), pt.forward_dynamics(free, q, v, tau))
        np.testing.assert_array_equal(projected(mech, mech.closures, q, v)[1], v)
        assert mobility(mech, mech.closures, q).degrees_of_freedom == 1


def test_projection_adds_no_momentum_and_knows_what_it_takes():
    rng = np.random.default_rng(2)
    links = [pt.Link(name, pt.Inertia.box(1.0 + k, (0.1, 0.2, 0.3)), None, pt.free()) for k, name in enumerate("abc")]
    pins = [pt.Closure("1", "a", "b", pt.spherical(), point(0.1), point(-0.1)),
            pt.Closure("2", "b", "c", hinge(), point(0.1), point(-0.1))]  # fmt: skip
    mech = pt.Mechanism(links, closures=pins)
    q = kinematics.integrate(mech, mech.neutral(), 0.02 * rng.standard_normal(mech.nv))
    q, v = assembled(mech, pins, q), rng.standard_normal(mech.nv)
    q1, v1, lost, _ = projected(mech, pins, q, v)
    np.testing.assert_allclose(q1, q, atol=1e-12)
    np.testing.assert_allclose(kinematics.momentum(mech, q1, v1), kinematics.momentum(mech, q, v), atol=1e-12)
    before, after = (kinematics.kinetic_energy(mech, q, w) for w in (v, v1))
    assert before - after == pytest.approx(lost.sum(), rel=1e-9)
    assert lost.sum() > 0


def test_inverse_dynamics_is_the_least_of_the_forces_that_do_it():
    mech = crank(pt.Closure("pin", "slider", "rod", PIN, placement_b=point(0.3)))
    q = assembled(mech, mech.closures, np.array([0.7, -1.0, 0.3]))
    v = projected(mech, mech.closures, q, np.array([5.0, 0, 0]))[1]
    tau = np.array([0.4, -0.1, 2.0])
    vdot = pt.forward_dynamics(mech, q, v, tau)
    least = pt.inverse_dynamics(mech, q, v, vdot)
    np.testing.assert_allclose(pt.forward_dynamics(mech, q, v, least), vdot, rtol=0, atol=1e-9)
    assert np.linalg.norm(least) < np.linalg.norm(tau)
    assert np.abs(closing_rows(mech, mech.closures, q, v).J @ least).max() < 1e-12


def test_derivatives_of_a_closed_mechanism():
    mech = crank(pt.Closure("pin", "slider", "rod", PIN, placement_b=point(0.3)))
    q = assembled(mech, mech.closures, np.array([0.7, -1.0, 0.3]))
    f = pt.kernel("(3),(3),(3)->(3)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    slope = pt.jacobian(f)(q, np.ones(3), np.zeros(3))
    h = 1e-6
    for k, step in enumerate(h * np.eye(3)):
        expected = (f(q + step, np.ones(3), np.zeros(3)) - f(q - step, np.ones(3), np.zeros(3))) / (2 * h)
        np.testing.assert_allclose(slope[:, k], expected, rtol=1e-6, atol=1e-5)


# What is refused.


def test_a_loop_that_cannot_be_closed_says_how_far_it_is_open():
    mech = crank(pt.Closure("pin", None, "rod", PIN, placement_a=point(2.0), placement_b=point(0.3)))
    with pytest.raises(ValueError, match=r"cannot be closed.*'pin' is open by 1\.6"):
        assembled(mech, mech.closures, np.array([0.7, -1.0, 0.3]))


def slide(closure):
    """A box on a rail along x, and a wheel beside it."""
    links = [
        pt.Link("box", pt.Inertia.box(1.0, (1, 1, 1)), None, pt.prismatic((1, 0, 0))),
        pt.Link("wheel", pt.Inertia.sphere(1.0, 0.1), None, hinge()),
    ]
    return pt.Mechanism(links, closures=[closure])


TURNED = pt.Pose(rotation.about_z(0.3), (2.0, -0.2, 0.0))


@pytest.mark.parametrize(
    ("closure", "told"),
    [
        (pt.Closure("weld", None, "box", pt.fixed(), TURNED), "0 m along x of the world, 0.2 m along y of the world, "
         "0 m along z of the world, 0 rad about x of frame A, 0 rad about y of frame A, "
         "0.3 rad about -z of frame A"),
        (pt.Closure("plane", None, "box", pt.on_plane((0, 3, 4)), point(0, 1)),
         "0.6 m along (0, -0.6, -0.8) of frame A"),
        (pt.Closure("rod", None, "box", pt.distance(2.0), point(0, 3)), "1 m too far apart"),
        (pt.Closure("nut", None, "box", pt.helical((0, 0, 1), 2.0), point(0, 0, 0.5)), "0 m along x of the world, "
         "0 m along y of the world, 0 rad about x of frame A, 0 rad about y of frame A, "
         "0.5 m along -z of frame A"),
        (pt.Closure("ball", None, "box", pt.rolling(0.5), point(0, 0, -0.1)), "0.4 m along -z of frame A, "
         "0 m/s of slip along x of frame A, 0 m/s of slip along y of frame A"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)  # fmt: skip
def test_each_row_of_a_loop_that_cannot_be_closed_is_told(closure, told):
    """With its direction and unit: a box on a rail can move along x alone."""
    mech = slide(closure)
    with pytest.raises(ValueError, match=re.escape(f"at best {closure.name!r} is open by {told}. Start nearer")):
        assembled(mech, mech.closures, np.array([0.3, 0.0]))


@pytest.mark.parametrize("turn", [(np.pi, 0, 0), (0, 3.0, 0), (2.5, 0, 0), (0, 0, 2.9), (1.3, 0.8, 1.8)])
@pytest.mark.parametrize("kind", ["fixed", "revolute", "prismatic", "helical", "cylindrical", "planar", "translation"])
def test_loops_are_closed_the_right_way_round(kind, turn):
    """A guess upside down: where B ends is where a joint of this kind would have it, not turned by half a turn."""
    joint = random_joint(np.random.default_rng(0), kind)
    box = pt.Link("box", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), None, pt.free())
    mech = pt.Mechanism([box], closures=[pt.Closure("joint", None, "box", joint)])
    guess = np.concatenate([quaternion.from_matrix(rotation.exp(np.array(turn))), (0.3, 0.1, 0.2)])
    turned = rotation.log(pt.forward_kinematics(mech, assembled(mech, mech.closures, guess))["box"].R)
    axis = joint.axes[0] if TYPES[kind].units[:1] == ("rad",) else np.zeros(3)
    np.testing.assert_allclose(turned - axis * (axis @ turned), 0, rtol=0, atol=1e-11)


def test_of_many_rows_the_largest_are_told():
    """Three welds of one box at three places, 18 rows: those by which they are open, and how many more there are."""
    welds = [pt.Closure(f"weld{k}", None, "box", pt.fixed(), point(0, -0.1 * (k + 1))) for k in range(3)]
    mech = slide(welds[0])
    with pytest.raises(
        ValueError, match=r"'weld0' is open by .*0\.1 m along y .*0\.3 m along y.*; and 6 more rows by less"
    ):
        assembled(mech, welds, np.zeros(2))


def test_couplings_are_between_single_coordinates():
    links = [pt.Link("ball", pt.Inertia.sphere(1.0, 0.1), None, pt.spherical()),
             pt.Link("arm", pt.Inertia.sphere(1.0, 0.1), None, hinge(), point(0.3))]  # fmt: skip
    with pytest.raises(ValueError, match=r"'gear' couples or drives joints of one degree.*'ball' on a spherical"):
        pt.Mechanism(links, closures=[pt.Closure("gear", "arm", "ball", pt.coupling(2.0))])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.distance(0.0), "length of a distance must be positive, not 0.0"),
        (lambda: pt.distance(np.nan), "length must be a finite number, not nan"),
        (lambda: pt.coupling("2"), "ratio must be a finite number"),
        (lambda: pt.on_line((0, 0, 0)), "must not be the zero vector"),
        (lambda: crank(pt.Closure("pin", "slyder", "rod", PIN)), "there is no link 'slyder'.*slider"),
        (lambda: pt.Closure("pin", "slider", "rod", "revolute"), "'pin' closes a loop by 'revolute'"),
        (lambda: pt.Closure("pin", "slider", "rod", PIN, (1, 0, 0)), "placement_a of 'pin' must be a pt.Pose"),
        (lambda: pt.Closure("pin", "rod", "rod", PIN), "'pin' holds 'rod' to itself"),
        (lambda: pt.Closure("pin", "rod", None, PIN), "b of 'pin' is the world"),
        (lambda: pt.Closure(3, "slider", "rod", PIN), "name of a closure must be text, not 3"),
        (lambda: pt.Closure("", "slider", "rod", PIN), "name of a closure must be text, not ''"),
        (lambda: pt.Closure("gear", None, "rod", pt.coupling({"rod": 0.5, "slider": 1.0})), "couples 'rod' to itself"),
        (lambda: pt.coupling({"world": 1.0}), "by the names of links, which have joints, not 'world'"),
        (lambda: pt.coupling({3: 1.0}), "by the names of links, which have joints, not 3"),
        (lambda: crank(pt.Closure("cam", "crank", "rod", pt.coupling(lambda q: "x"))), "'cam' must give numbers, not"),
    ],
)
def test_bad_closures(make, message):
    with pytest.raises((ValueError, KeyError), match=message):
        make()
