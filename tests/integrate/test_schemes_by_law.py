"""Schemes on problems whose answer is known in closed form: order conditions, quadrature, series. No kernels."""

import mpmath as mp
import numpy as np
import pytest
from bodies import random_body, random_load, random_motion
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from poinsot.body import body_frame, lab
from poinsot.integrate import schemes
from poinsot.integrate.dop853 import BodyProblem, dense, solve
from poinsot.integrate.free_motion import _lame, _weierstrass
from poinsot.integrate.kick_drift import drifted, kicked
from poinsot.integrate.single import METHODS, simulate
from poinsot.integrate.splitting import free_rotation
from poinsot.spatial import Inertia, quaternion, rotation

TABLEAUS = {"EULER": 1, "MIDPOINT": 2, "HEUN3": 3, "RK4": 4}


@pytest.mark.parametrize("name", TABLEAUS)
def test_order_conditions(name):
    """Butcher's conditions, one for each rooted tree with as many nodes as the order claims, or fewer."""
    tableau, order = getattr(schemes, name), TABLEAUS[name]
    s = len(tableau.b)
    a, b, c = np.zeros((s, s)), np.array(tableau.b), np.array(tableau.c)
    for i, row in enumerate(tableau.a):
        a[i, :i] = row
    conditions = [(1, b.sum(), 1), (2, b @ c, 1 / 2), (3, b @ c**2, 1 / 3), (3, b @ a @ c, 1 / 6)]
    conditions += [(4, b @ c**3, 1 / 4), (4, (b * c) @ a @ c, 1 / 8), (4, b @ a @ c**2, 1 / 12)]
    conditions += [(4, b @ a @ a @ c, 1 / 24)]
    assert tableau.order == order
    np.testing.assert_allclose(c, a.sum(axis=1), atol=1e-16)
    for nodes, left, right in conditions:
        if nodes <= order:
            assert left == pytest.approx(right, abs=1e-15)


def power(order):
    """y' = (n + 1) t^n, whose solutions differ from t^(n + 1) by a constant."""
    return lambda t, y: order * t ** (order - 1) + 0.0 * y


@pytest.mark.parametrize("name", TABLEAUS)
@pytest.mark.parametrize("t", [0.0, 1.5, -0.7])
def test_runge_kutta_methods_integrate_powers_of_time(name, t):
    """Without a state in it, an equation is a quadrature, exact up to the order, from any time on."""
    tableau, h = getattr(schemes, name), 0.3
    for order in range(1, tableau.order + 1):
        exact = 2.0 + (t + h) ** order - t**order
        y = schemes.runge_kutta(tableau, power(order), t, np.array([2.0]), h)
        on_a_line = schemes.lie_runge_kutta(
            tableau, power(order), lambda y, u: y + u, lambda u, k: 0.0 * u, t, np.array([2.0]), h
        )
        np.testing.assert_allclose([y, on_a_line], exact, rtol=1e-14)


@pytest.mark.parametrize("t", [0.0, 1.5, -0.7])
def test_the_midpoint_is_in_the_middle(t):
    """Exact for y' = 2 t; and for y' = a y the step is (1 + a h/2)/(1 - a h/2)."""
    h = 0.3

    def move(y, u):
        return y + u

    y = schemes.implicit_midpoint(lambda t, y: 2 * t + 0.0 * y, move, t, np.array([2.0]), h)
    np.testing.assert_allclose(y, 2.0 + (t + h) ** 2 - t**2, rtol=1e-14)
    grown = schemes.implicit_midpoint(lambda t, y: 0.5 * y, move, t, np.array([2.0]), h, iterations=30)
    np.testing.assert_allclose(grown, 2.0 * (1 + 0.075) / (1 - 0.075), rtol=1e-14)


def rotating(t):
    return np.array([np.cos(t), 0.5 * t, -np.sin(2 * t)])


def turn_by(scheme, start, end, n):
    R, h = np.eye(3), (end - start) / n
    for k in range(n):
        R = scheme(start + k * h, R, h)
    return R


@pytest.mark.parametrize(("name", "order"), TABLEAUS.items())
def test_order_on_the_rotation_group(name, order):
    """R' = [omega(t, R)] R with the commutator of rotations, against SciPy; every step stays a rotation."""

    def f(t, R):
        return rotating(t) + R @ [0.3, -0.2, 0.5]

    def move(R, u):
        return rotation.exp(u) @ R

    def step(t, R, h):
        return schemes.lie_runge_kutta(getattr(schemes, name), f, move, np.cross, t, R, h)

    def rhs(t, y):
        R = y.reshape(3, 3)
        return (rotation.skew(f(t, R)) @ R).ravel()

    exact = solve_ivp(rhs, (1.0, 2.0), np.eye(3).ravel(), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    n = {1: 400, 2: 40, 3: 20, 4: 16}[order]
    coarse, fine = (turn_by(step, 1.0, 2.0, k) for k in (n, 2 * n))
    errors = [np.abs(R - exact.reshape(3, 3)).max() for R in (coarse, fine)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    np.testing.assert_allclose(fine @ fine.T, np.eye(3), atol=1e-13)


@pytest.mark.parametrize("order", [2, 4])
def test_kicks_and_drifts_cover_the_step(order):
    """Kicks at the times that the drifts have reached, their lengths half of the drifts on either side."""
    calls = []

    def kick(t, y, h):
        calls.append(("kick", t, h))
        return y

    def drift(t, y, h):
        calls.append(("drift", t, h))
        return y

    schemes.strang(kick, drift, 2.0, 0.0, 0.1, order)
    w = np.array(schemes.COMPOSITIONS[order])
    np.testing.assert_allclose(w.sum(), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(w, w[::-1])
    if order == 4:
        np.testing.assert_allclose(np.sum(w**3), 0.0, atol=1e-15)  # the error of a second-order step is of third order
    reached = 2.0 + 0.1 * np.concatenate([[0.0], np.cumsum(w)])
    assert [name for name, _, _ in calls] == ["kick", *["drift", "kick"] * len(w)]
    np.testing.assert_allclose([t for _, t, _ in calls[::2]], reached, rtol=1e-14)
    np.testing.assert_allclose([t for _, t, _ in calls[1::2]], reached[:-1], rtol=1e-14)
    np.testing.assert_allclose([h for _, _, h in calls[1::2]], 0.1 * w, rtol=1e-14)
    halves = (np.concatenate([[0.0], w]) + np.concatenate([w, [0.0]])) / 2
    np.testing.assert_allclose([h for _, _, h in calls[::2]], 0.1 * halves, rtol=1e-13)


def test_the_oscillator():
    """x'' = -x: a kick first and then a drift, or half a kick on both sides; areas are kept, energies bounded."""
    h = 0.1

    def kick(t, y, h):
        return (y[0], y[1] - h * y[0])

    def drift(t, y, h):
        return (y[0] + h * y[1], y[1])

    assert schemes.semi_implicit_euler(kick, drift, 0.0, (1.0, 2.0), h) == pytest.approx((1.0 + h * (2.0 - h), 2.0 - h))
    half = 2.0 - h / 2
    x = 1.0 + h * half
    assert schemes.strang(kick, drift, 0.0, (1.0, 2.0), h) == pytest.approx((x, half - h / 2 * x))


def test_a_first_order_step_kicks_with_the_forces_at_its_start():
    seen = []
    schemes.semi_implicit_euler(lambda *a: seen.append(a), lambda *a: seen.append(a), 2.0, "y", 0.1)
    assert seen == [(2.0, "y", 0.1), (2.0, None, 0.1)]


@pytest.mark.parametrize("moving_reference", [False, True])
def test_methods_of_the_texts_are_their_steps(moving_reference):
    rng = np.random.default_rng(3)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)
    method = METHODS["five-step, moving reference" if moving_reference else "five-step"]
    state = body_frame.from_motion(body, X_WB, V_WB_B)
    ours = method.step(body, load)(0.4, state, 0.1)
    texts = body_frame.step(0.4, state, 0.1, body, load, moving_reference=moving_reference)
    for name in state.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(ours, name), getattr(texts, name))
    lab_state = lab.from_motion(body, X_WB, V_WB_B)
    ours, texts = (
        METHODS["peskin"].step(body, load)(0.4, lab_state, 0.1),
        lab.step_under_load(0.4, lab_state, 0.1, body, load),
    )
    for name in lab_state.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(ours, name), getattr(texts, name))


ORDERS = {1: "peskin; five-step; five-step, moving reference; euler; lie euler; semi-implicit euler"}
ORDERS |= {2: "lie midpoint; implicit midpoint; splitting; poinsot"}
ORDERS |= {4: "rk4; rk4, body frame; rk4, twist; rkmk4; rkmk4, twist; splitting4; poinsot4"}
ORDER_OF = {name: order for order, names in ORDERS.items() for name in names.split("; ")}


@pytest.mark.parametrize("name", METHODS)
def test_one_step_of_every_method_has_its_order(name):
    """One step of h and two of h/2 differ by C h^(order + 1), and from RK4 by as much, under a random load."""
    rng = np.random.default_rng(6)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)

    def after(name, h, n):
        method = METHODS[name]
        state, step = method.formulation.from_motion(body, X_WB, V_WB_B), method.step(body, load)
        for k in range(n):
            state = step(0.4 + k * h, state, h)
        X, V = method.formulation.to_motion(state, body)
        return np.concatenate([X.matrix().ravel(), V])

    order = METHODS[name].order
    assert order == ORDER_OF.get(name, order)
    h = {1: 1e-4, 2: 2e-3, 4: 2e-2}[order]
    gaps = [np.abs(after(name, k, 1) - after(name, k / 2, 2)).max() for k in (h, h / 2)]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(order + 1, abs=0.3)
    assert np.abs(after(name, h, 1) - after("rk4", h / 4, 4)).max() < 4 * gaps[0] + 1e-12


def test_records_do_not_change_the_motion():
    """Under a load that depends on time: the same steps, whether they are recorded or not."""
    rng = np.random.default_rng(4)
    body = Inertia.box(2.0, (1, 2, 3))
    f = rng.standard_normal(6)

    def load(t, X, V):
        return f * np.cos(3 * t)

    one, many = (simulate(body, load=load, method="euler", duration=2.0, step=0.1, records=n) for n in (1, 10))
    np.testing.assert_allclose(many.position[-1], one.position[-1], atol=1e-13)
    np.testing.assert_allclose(many.orientation[-1], one.orientation[-1], atol=1e-13)
    np.testing.assert_allclose(many.time, np.linspace(0, 2, 11))
    impulse = f[3:] * 0.1 * np.sum(np.cos(3 * 0.1 * np.arange(20)))
    still = simulate(
        body,
        load=lambda t, X, V: np.concatenate([np.zeros(3), X.R.T @ f[3:]]) * np.cos(3 * t),
        method="euler",
        duration=2.0,
        step=0.1,
        records=5,
    )
    np.testing.assert_allclose(body.mass * still.velocity[-1], impulse, atol=1e-13)


def test_parts_of_a_kick_and_a_drift():
    body = Inertia.sphere(2.0, 0.3)
    np.testing.assert_allclose(drifted(body, np.ones(3), np.array([1.0, 2.0, 3.0]), 0.5), [1.25, 1.5, 1.75])
    P, L = kicked(lambda p: (-p[0], 2.0 * p[1]), 0.0, (np.ones(3), np.ones(3)), 0.01)
    np.testing.assert_allclose(P, np.exp(-0.01), rtol=1e-11)  # RK4: h^5/120 is left out
    np.testing.assert_allclose(L, np.exp(0.02), rtol=1e-10)


# The series of free motion.


def e_of(g):
    """Three numbers whose sum is zero, ascending from the last."""
    return np.array([1.0, g, -1.0 - g])


@pytest.mark.parametrize("g", [-0.5, -0.2, 0.0, 0.6, 0.95])
@pytest.mark.parametrize("h", [0.1, 0.5, 0.9])
def test_weierstrass_by_jacobi(g, h):
    """wp(h) = e_3 + (e_1 - e_3) / sn^2(h sqrt(e_1 - e_3)), DLMF 23.6.21."""
    e = e_of(g)
    k2 = (e[1] - e[2]) / (e[0] - e[2])
    sn = ellipj(h * np.sqrt(e[0] - e[2]), k2)[0]
    ours = 1 + sum(_weierstrass(h * h * e, 24))
    np.testing.assert_allclose(ours, h * h * (e[2] + (e[0] - e[2]) / sn**2), rtol=1e-13)


@pytest.mark.parametrize("terms", [4, 7, 10])
def test_the_series_has_as_many_terms_as_asked_for(terms):
    """What is left out is of the order 2 (terms + 1)."""
    e = e_of(0.3)
    full, short = (_weierstrass(e, n) for n in (24, terms))
    assert len(short) == terms - 1
    np.testing.assert_allclose(short, full[: terms - 1], rtol=1e-14)


@pytest.mark.parametrize(("V", "C"), [(0.4, 0.3), (-0.7, 0.2)])
def test_lame_solves_its_equation(V, C):
    """N'' = (2 wp + V) N to rounding in 30 digits, where N = 1/h - V h/2 - i C h^2/3 + ..., term by term."""
    e = np.array([mp.mpf(1), mp.mpf("0.3"), mp.mpf("-1.3")])

    def series(h):
        return _weierstrass(h * h * e, 30)

    def N(h):
        even, odd = _lame(series(h), V * h * h, C * h**3)
        return (even + 1j * odd) / h

    with mp.workdps(30):
        h = mp.mpf("0.4")
        wp = (1 + sum(series(h))) / h**2
        assert abs(mp.diff(N, h, 2) - (2 * wp + V) * N(h)) < 1e-9
        small = mp.mpf("1e-6")
        assert abs(N(small) - (1 / small - V * small / 2 - 1j * C * small**2 / 3)) < 1e-17


@pytest.mark.parametrize("terms", [4, 6])
def test_lame_has_as_many_terms_as_weierstrass(terms):
    """What is left out of h N(h) is of the order 2 (terms + 1), and one more for the odd powers."""
    e = np.array([mp.mpf(1), mp.mpf("0.3"), mp.mpf("-1.3")])

    def parts(h, terms):
        return _lame(_weierstrass(h * h * e, terms), mp.mpf("0.4") * h * h, mp.mpf("0.3") * h**3)

    with mp.workdps(60):
        errors = [
            [abs(a - b) for a, b in zip(parts(h, terms), parts(h, 40), strict=True)]
            for h in (mp.mpf("1e-2"), mp.mpf("5e-3"))
        ]
        orders = [float(mp.log(coarse / fine, 2)) for coarse, fine in zip(*errors, strict=True)]
    np.testing.assert_allclose(orders, [2 * (terms + 1), 2 * (terms + 1) + 1], atol=0.05)


@pytest.mark.parametrize("order", [2, 4])
def test_free_rotation_about_one_axis_is_exact(order):
    """Alone about a principal axis, a body turns by h L/I, whatever the composition."""
    for axis in range(3):
        L, moments = 0.7 * np.eye(3)[axis], np.array([1.0, 2.0, 2.5])
        q = free_rotation([1.0, 0, 0, 0], L, moments, 0.8, order)
        np.testing.assert_allclose(q, quaternion.exp(0.8 * L / moments), atol=1e-15)


def test_the_adaptive_problem_does_not_depend_on_the_length_of_its_quaternion():
    """The rate of the momenta, and the velocity, at a quaternion of any length; only q' grows with it or not at all."""
    rng = np.random.default_rng(2)
    body = random_body(rng)
    problem = BodyProblem(body, None, rng.standard_normal(6), lambda t, X, V: np.concatenate([X.R[0], X.R[1]]))
    y = problem.start.copy()
    scaled = y.copy()
    scaled[3:7] *= 1.7
    here, there = problem.derivative(0.0, y), problem.derivative(0.0, scaled)
    np.testing.assert_allclose(there, here, rtol=1e-13, atol=1e-14)


def test_adaptive_steps_from_any_time_on():
    """A free body does not know the time, however late and close together the records are; at rest it stays."""
    rng = np.random.default_rng(5)
    body, V = random_body(rng), rng.standard_normal(6)
    early, late = (solve(body, V_WB_B=V, times=t0 + np.array([0.0, 1e-3, 2e-3, 1.0])) for t0 in (0.0, 50.0))
    np.testing.assert_allclose(late.position, early.position, atol=1e-11)
    np.testing.assert_allclose(late.orientation, early.orientation, atol=1e-11)
    np.testing.assert_allclose(dense(body, V_WB_B=V)([0.0, 1.0]).position, early.position[[0, -1]], atol=1e-9)
    still = solve(body)
    np.testing.assert_array_equal(still.time, [0.0, 1.0])
    for motion in (still, dense(body)([0.0, 1.0])):
        np.testing.assert_array_equal(motion.position, np.zeros((2, 3)))
        np.testing.assert_allclose(motion.orientation, [[1, 0, 0, 0]] * 2, atol=1e-15)
        np.testing.assert_allclose(motion.velocity, np.zeros((2, 3)), atol=1e-15)


def test_what_a_simulation_does_by_default():
    """A body at rest at the origin, for one second in a hundred records."""
    run = simulate(Inertia.box(1.0, (1, 2, 3)))
    np.testing.assert_allclose(run.time, np.linspace(0, 1, 101), atol=1e-15)
    np.testing.assert_array_equal(run.position, np.zeros((101, 3)))
    np.testing.assert_array_equal(run.angular_velocity, np.zeros((101, 3)))
