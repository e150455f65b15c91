"""Rolling, curves, cams, differentials: rows against differences, motion against closed forms."""

import numpy as np
import pytest
from trees import random_placement, random_tree

import poinsot as pt
from poinsot.mechanism.assembling import assembled
from poinsot.mechanism.closures import closing_rows
from poinsot.mechanism.constrained import constrained_dynamics, mobility, projected
from poinsot.mechanism.coordinate_relations import Driven

PLAIN = ("revolute", "prismatic", "helical", "cylindrical", "universal", "translation")


def hinge(axis=(0, 0, 1), **data):
    return pt.revolute(axis, **data)


def helix(s):
    return np.stack([0.5 * np.cos(s), 0.5 * np.sin(s), 0.2 * s])


RELATIONS = {
    "ball": pt.rolling(0.3, (0.2, 0.1, 1.0)),
    "disc": pt.rolling(0.3, (0, 0, 1), axis=(0.3, 1.0, 0.2)),
    "sliding disc": pt.rolling(0.3, (0, 0, 1), axis=(0.3, 1.0, 0.2), slips=True),
    "curve": pt.on_curve(helix, (-4.0, 4.0), 32),
}


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=RELATIONS)
@pytest.mark.parametrize("seed", range(2))
def test_rows_are_rates_and_the_bias_is_the_rate_of_the_rows(relation, seed):
    """On the closure and along motions that it allows. Central differences."""
    rng = np.random.default_rng(seed)
    mech = random_tree(rng, 6, PLAIN, base="translation", heavy=True)
    ends = (mech.links[0].name, mech.links[-1].name)
    closures = [pt.Closure("c", *ends, relation, random_placement(rng), random_placement(rng))]
    q = assembled(mech, closures, 0.3 * rng.standard_normal(mech.nv))
    v = projected(mech, closures, q, rng.standard_normal(mech.nv))[1]
    here, h = closing_rows(mech, closures, q, v), 1e-5
    before, after = (closing_rows(mech, closures, q + s * v, v) for s in (-h, h))
    scale = 1 + np.abs(here.J).max() * np.abs(v).max() ** 2
    assert np.abs(here.gap).max() < 1e-11
    assert np.abs(here.J @ v).max() < 1e-11
    np.testing.assert_allclose(here.bias, (after.J @ v - before.J @ v) / (2 * h), rtol=0, atol=1e-6 * scale)
    w = rng.standard_normal(mech.nv)
    gaps = [closing_rows(mech, closures, q + s * w, w, places=True) for s in (-h, h)]
    np.testing.assert_allclose(
        closing_rows(mech, closures, q, w, places=True).J @ w, (gaps[1].gap - gaps[0].gap) / (2 * h), atol=1e-7 * scale
    )


def test_a_ball_rolls_down_a_slope():
    """a = g sin(slope) / (1 + 2/5)."""
    slope, ball = 0.4, pt.Inertia.sphere(2.0, 0.1)
    X = pt.Pose.from_euler((0, slope, 0))
    mech = pt.Mechanism(
        [pt.Link("ball", ball, None, pt.free())], closures=[pt.Closure("slope", None, "ball", pt.rolling(0.1), X)]
    )
    q = np.concatenate([[1, 0, 0, 0], X.R @ [0.3, 0.2, 0.1]])
    vdot = pt.forward_dynamics(mech, q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(X.R.T @ vdot[3:], (9.81 * np.sin(slope) / 1.4, 0, 0), rtol=0, atol=1e-9)


def test_a_ball_on_a_turntable_goes_around_in_circles():
    """v' = 2/7 Omega z x v for any start: Earnshaw (1844). The plane turns, driven."""
    links = [
        pt.Link("table", pt.Inertia.cylinder(1.0, 1.0, 0.01), None, hinge()),
        pt.Link("ball", pt.Inertia.sphere(2.0, 0.1), None, pt.free()),
    ]
    closures = [
        pt.Closure("drive", None, "table", Driven(lambda t: 3.0 * t)),
        pt.Closure("floor", "table", "ball", pt.rolling(0.1)),
    ]
    mech = pt.Mechanism(links)
    q = np.array([0.0, 1, 0, 0, 0, 0.4, -0.2, 0.1])
    v = projected(mech, closures, q, np.array([3.0, 0.3, 2.0, 1.0, 0.5, 0.7, 0.0]))[1]
    vdot = constrained_dynamics(mech, closures, q, v, np.zeros(7))[0]
    acceleration = vdot[4:] + np.cross(v[1:4], v[4:])
    np.testing.assert_allclose(acceleration, 2 / 7 * 3.0 * np.cross([0, 0, 1], v[4:]), rtol=0, atol=1e-9)


def test_a_wheel_adds_its_inertia_to_a_cart():
    """Two of its three rows say nothing: the cart is on rails."""
    wheel = pt.Inertia.cylinder(1.0, 0.2, 0.05)
    turned = pt.Pose.from_euler((np.pi / 2, 0, 0))
    links = [
        pt.Link("cart", pt.Inertia.box(5.0, (1, 0.5, 0.2)), None, pt.prismatic((1, 0, 0))),
        pt.Link("wheel", turned @ wheel, "cart", hinge((0, 1, 0))),
    ]
    floor = pt.Closure("floor", None, "wheel", pt.rolling(0.2, axis=(0, 1, 0)), pt.Pose(p=(0, 0, -0.2)))
    mech = pt.Mechanism(links, closures=[floor])
    assert mobility(mech, mech.closures, np.zeros(2)).degrees_of_freedom == 1
    vdot = pt.forward_dynamics(mech, np.array([0.3, 1.0]), np.array([1.0, 5.0]), np.array([2.0, 0.0]))
    a = 2.0 / (5.0 + 1.0 + wheel.moment[2, 2] / 0.2**2)
    np.testing.assert_allclose(vdot, (a, a / 0.2), rtol=1e-9)


def test_a_differential_shares_the_torque():
    """Both wheels get half of it, whatever they do."""
    J = {"carrier": 0.02, "left": 0.3, "right": 0.5}
    links = [pt.Link(k, pt.Inertia(1.0, np.zeros(3), np.diag([1, 1, 1]) * I), None, hinge()) for k, I in J.items()]
    gear = pt.Closure("gear", None, "carrier", pt.coupling({"left": 0.5, "right": 0.5}))
    mech = pt.Mechanism(links, closures=[gear])
    vdot = pt.forward_dynamics(mech, np.array([0.3, 0.1, 0.5]), np.zeros(3), np.array([4.0, 0, 0]))
    assert vdot[0] == pytest.approx((vdot[1] + vdot[2]) / 2, abs=1e-11)
    half = (4.0 - J["carrier"] * vdot[0]) / 2
    np.testing.assert_allclose(vdot[1:], (half / 0.3, half / 0.5), rtol=1e-10)


def test_a_cam_by_lagrange():
    """(Ja + Jb f'^2) a'' + Jb f' f'' a'^2 = torque for q_b = f(q_a)."""
    links = [
        pt.Link(k, pt.Inertia.sphere(1.0, 0.3), None, hinge(), pt.Pose(p=(x, 0, 0))) for k, x in (("a", 0), ("b", 1))
    ]
    cam = pt.Closure("cam", "a", "b", pt.coupling(lambda a: 0.3 * np.sin(2 * a) + 0.1 * a**2, 0.05))
    mech, J = pt.Mechanism(links, closures=[cam], gravity=(0, 0, 0)), links[0].inertia.moment[2, 2]
    a, w = 0.7, 3.0
    f1, f2 = 0.6 * np.cos(2 * a) + 0.2 * a, -1.2 * np.sin(2 * a) + 0.2
    q = assembled(mech, mech.closures, np.array([a, 0.0]))
    f1, f2 = 0.6 * np.cos(2 * q[0]) + 0.2 * q[0], -1.2 * np.sin(2 * q[0]) + 0.2
    vdot = pt.forward_dynamics(mech, q, np.array([w, f1 * w]), np.array([0.4, 0.0]))
    assert vdot[0] == pytest.approx((0.4 - J * f1 * f2 * w * w) / (J + J * f1 * f1), rel=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.rolling(-0.1), "radius of what rolls must be positive, not -0.1"),
        (lambda: pt.rolling(0.1, (0, 0, 0)), "must not be the zero vector"),
        (lambda: pt.on_curve(3.0, (0, 1)), "a curve is a function"),
        (lambda: pt.on_curve(helix, (1, 0)), r"span of a curve must increase, not \(1, 0\)"),
        (lambda: pt.on_curve(helix, 1.0), "span of a curve must be its first and last"),
        (lambda: pt.on_curve(lambda s: (s, s), (0, 1)), r"a curve must give numbers of shape \(3,\), not \(2,\)"),
        (lambda: pt.on_curve(lambda s: (s, s, np.nan), (0, 1)), "curve is not finite"),
        (lambda: pt.on_curve(lambda s: (0 * s, 0 * s, 0 * s), (0, 1)), "the curve stands still"),
        (lambda: pt.on_curve(pt.Table([0.0, 1.0], np.eye(2, 3)), (0, 1)), "must be cubic, not linear"),
        (lambda: pt.on_curve(helix, (0, 1), 1), "samples of a curve must be two or more"),
        (lambda: pt.coupling({}), "weights must be numbers by the names of links"),
        (lambda: pt.coupling({"a": "x"}), "weight of 'a' must be a finite number"),
    ],
)
def test_bad_relations(make, message):
    with pytest.raises(ValueError, match=message):
        make()
