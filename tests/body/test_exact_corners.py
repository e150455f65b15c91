"""The exact solutions at corners of their parameters, and the identities of the formulations' small functions."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from bodies import random_body, random_load, random_motion
from exact_oracle import top
from hypothesis import given
from hypothesis import strategies as st

from poinsot.body import body_frame, lab, momentum, momentum_matrix, twist
from poinsot.body.exact import FreeTop, HeavyTop, SymmetricTop
from poinsot.body.exact.elliptic import carlson_rf, carlson_rj, jacobi, quarter_period
from poinsot.body.exact.nutation import from_above
from poinsot.spatial import quaternion

UP, DOWN, LEVEL = np.eye(4)[0], np.eye(4)[1], np.array([1, 1, 0, 0]) / np.sqrt(2)
SEEDS = st.integers(0, 2**32 - 1)
ULP = 2.0**-52


@pytest.mark.parametrize("seed", range(20))
def test_carlson_series_where_they_are_longest(seed):
    """Single points that just need no further duplication: there the last terms of the series are largest."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(-1, 1, 3)
    x, y, z = 1 + 0.00299 * (d - d.mean()) / np.abs(d - d.mean()).max()
    with mp.workdps(30):
        assert float(carlson_rf(x, y, z)) == pytest.approx(float(mp.elliprf(x, y, z)), rel=2 * ULP, abs=0)
    d = rng.uniform(-1, 1, 4)
    d = d - (d[:3].sum() + 2 * d[3]) / 5
    x, y, z, p = 1 + 0.00149 * d / np.abs(d).max()
    if (p - x) * (p - y) * (p - z) >= 0:
        with mp.workdps(30):
            assert float(carlson_rj(x, y, z, p)) == pytest.approx(float(mp.elliprj(x, y, z, p)), rel=3 * ULP, abs=0)


@pytest.mark.parametrize(
    ("q0", "omega0"),
    [
        (LEVEL, (1, 2, 4)),  # on the separatrix, with a = 2
        (DOWN, (1.0, 0.7, 3.0)),
        (UP, (1.0, 0.7, 5.0)),
        (quaternion.normalize([0, 0.6, 0.8, 0]), (-0.4, 0.9, 2.0)),  # down, with the heading turned
    ],
)
def test_tops_that_pass_through_the_vertical(q0, omega0):
    body = HeavyTop(2, 1, 5, q0, np.array(omega0, dtype=float))
    q, omega = top((2, 2, 1), body.q0, body.omega0, 1.5, 5)
    np.testing.assert_allclose(body.orientation(1.5), q, atol=2e-14)
    np.testing.assert_allclose(body.angular_velocity(1.5), omega, atol=2e-14)


def test_a_top_that_hangs_stays():
    for spin in (0.0, 2.0):
        body = HeavyTop(2, 1, 3, DOWN, [0, 0, spin])
        t = np.linspace(-3, 3, 7)
        np.testing.assert_allclose(body.angular_velocity(t), np.tile([0, 0, spin], (7, 1)), atol=1e-15)
        np.testing.assert_allclose(quaternion.to_matrix(body.orientation(t))[:, 2, 2], -1, atol=1e-15)


def test_rounding_of_a_tensor_is_no_asymmetry():
    """R diag(I) R^T as it comes, without averaging; its smallest entries are far below the rounding of the largest."""
    for angle in (1e-9, 0.3):
        R = quaternion.to_matrix(quaternion.exp([0, 0, angle]))
        tensor = R @ np.diag([1.0, 2.0, 3.0]) @ R.T
        tensor[0, 1] += 2e-16
        FreeTop(tensor, UP, [0.1, 0.2, 0.3])


def test_the_symmetric_top_checks_and_keeps_its_start():
    body = SymmetricTop(2, 1, [0.6, 0.8, 0, 0], [1, 2, 3])
    np.testing.assert_allclose(body.orientation(0.0), [0.6, 0.8, 0, 0], atol=1e-15)
    with pytest.raises(ValueError, match="q0 is not a unit quaternion"):
        SymmetricTop(2, 1, [1, 1, 0, 0], [0, 0, 1])


@pytest.mark.parametrize("formulation", [momentum, body_frame, twist], ids=lambda f: f.__name__)
@given(seed=SEEDS)
def test_no_time_no_change_and_constant_rates_add(formulation, seed):
    """integrate(y, k, 0) = y, and two steps at the same rates are one step of twice the length, but for the velocity
    of a body frame, which is along axes that rotate in between."""
    rng = np.random.default_rng(seed)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    state = formulation.from_motion(body, X_WB, V_WB_B)
    k = formulation.rate(0.3, state, body, random_load(rng, body))
    same, once = formulation.integrate(state, k, 0.0), formulation.integrate(state, k, 0.1)
    unit, by_default = formulation.integrate(state, k, 1.0), formulation.integrate(state, k)
    twice, at_once = formulation.integrate(once, k, 0.1), formulation.integrate(state, k, 0.2)
    for name in state.__dataclass_fields__:
        np.testing.assert_allclose(getattr(same, name), getattr(state, name), atol=1e-15)
        np.testing.assert_array_equal(getattr(by_default, name), getattr(unit, name))
        if (formulation, name) != (body_frame, "X"):
            np.testing.assert_allclose(getattr(twice, name), getattr(at_once, name), atol=1e-12)


@pytest.mark.parametrize("formulation", [momentum, body_frame], ids=lambda f: f.__name__)
def test_normalize_makes_a_quaternion_a_unit_one(formulation):
    rng = np.random.default_rng(7)
    state = formulation.from_motion(random_body(rng), *random_motion(rng))
    name = "attitude" if formulation is momentum else "q"
    q = getattr(state, name)
    off = type(state)(**{**state.__dict__, name: 1.01 * q})
    back = formulation.normalize(off)
    np.testing.assert_allclose(getattr(back, name), q, atol=1e-15)
    for other in set(state.__dataclass_fields__) - {name}:
        np.testing.assert_array_equal(getattr(back, other), getattr(state, other))


def test_normalize_of_a_twist_state_projects_its_matrix():
    rng = np.random.default_rng(8)
    state = twist.from_motion(random_body(rng), *random_motion(rng))
    off = twist.TwistState(state.R + 1e-4 * rng.standard_normal((3, 3)), state.p, state.V)
    U, _, Vt = np.linalg.svd(off.R)
    np.testing.assert_allclose(twist.normalize(off).R, U @ Vt, atol=1e-13)


@given(seed=SEEDS)
def test_the_marks_of_a_lab_state_stay_orthonormal(seed):
    """Also from marks that have left the group by rounding errors, made large here to be seen."""
    rng = np.random.default_rng(seed)
    body = random_body(rng)
    state = lab.from_motion(body, *random_motion(rng))
    off = lab.LabState(state.X_cm, state.U_cm, state.X, state.L, state.I, state.marks + 1e-6 * rng.random((3, 3)))
    marks = lab.drift(off, 0.1).marks
    np.testing.assert_allclose(marks @ marks.T, np.eye(3), atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_side_of_the_separatrix(seed):
    """1 - 2 E I_b / L^2, with the middle moment I_b."""
    rng = np.random.default_rng(seed)
    moments, omega = random_body(rng).principal()[0], rng.standard_normal(3)
    body = FreeTop(moments, UP, omega)
    E, L = 0.5 * np.sum(moments * omega**2), np.linalg.norm(moments * omega)
    assert body.side == pytest.approx(1 - 2 * E * np.sort(moments)[1] / L**2, abs=1e-13)


@pytest.mark.parametrize("mc", [0.9, 0.3, 1e-3])
def test_elliptic_functions_from_a_quarter_period_above(mc):
    """Those of u - K, at all places in the period, with the same integrals to come."""
    K = quarter_period(mc)
    u = K * np.array([-3.3, -2.0, -1.2, -0.4, 0.3, 0.9, 1.7, 2.6, 5.1])
    ours, direct = from_above(jacobi(u, mc), mc), jacobi(u - K, mc)
    for name in ("u", "sn", "cn", "dn", "am"):
        np.testing.assert_allclose(getattr(ours, name), getattr(direct, name), rtol=1e-13, atol=1e-14, err_msg=name)


def test_the_rate_of_a_matrix_that_is_not_quite_a_rotation():
    """That of the nearest rotation, which is used within a step."""
    rng = np.random.default_rng(4)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)
    state = momentum_matrix.from_motion(body, X_WB, V_WB_B)
    bent = replace(state, attitude=state.attitude + 1e-3 * rng.standard_normal((3, 3)))
    near = momentum_matrix.normalize(bent)
    np.testing.assert_allclose(near.attitude @ near.attitude.T, np.eye(3), atol=1e-9)
    ours, nearest = (momentum_matrix.derivative(0.3, s, body, load) for s in (bent, near))
    for name in ("x", "attitude", "P", "L"):
        np.testing.assert_allclose(getattr(ours, name), getattr(nearest, name), rtol=1e-7, atol=1e-8)
        assert name in ("x", "attitude") or np.abs(getattr(ours, name)).max() > 0


@pytest.mark.parametrize("formulation", [body_frame, momentum, twist], ids=lambda f: f.__name__.split(".")[-1])
def test_a_move_without_a_time_is_one_of_a_second(formulation):
    """Schemes on groups move a state by an increment, which is a rate times one."""
    rng = np.random.default_rng(5)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    state = formulation.from_motion(body, X_WB, V_WB_B)
    rate = formulation.rate(0.2, state, body, random_load(rng, body))
    moved, told = formulation.integrate(state, rate), formulation.integrate(state, rate, 1.0)
    for name in state.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(moved, name), getattr(told, name))
