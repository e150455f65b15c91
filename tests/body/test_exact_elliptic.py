"""Jacobi's functions and Carlson's integrals, against mpmath in many digits and against SciPy."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from poinsot.body.exact.elliptic import (
    _rf_series,
    _rj_series,
    carlson_rf,
    carlson_rj,
    first_kind,
    jacobi,
    quarter_period,
    third_kind,
)

MODULI = [1.0, 1 - 1e-15, 1 - 1e-8, 0.99, 0.7, 0.5, 0.3, 1e-2, 1e-5, 1e-10, 1e-16, 1e-30, 1e-60]
ULP = np.finfo(float).eps
FEW_ULP = 4 * ULP  # the argument's own rounding, and a handful of operations


def arguments(mc: float) -> np.ndarray:
    K = quarter_period(mc)
    return np.concatenate([K * np.array([0, 1e-9, 0.3, 0.999999, 1, 1 + 1e-9, 2, -2.7, 15.2]), [1e-12, -1, 5.0, 100]])


@pytest.mark.parametrize("mc", MODULI)
def test_sn_cn_dn_at_all_moduli(mc):
    u = arguments(mc)
    j = jacobi(u, mc)
    with mp.workdps(150):
        for name, ours in (("sn", j.sn), ("cn", j.cn), ("dn", j.dn)):
            exact = np.array([float(mp.ellipfun(name, mp.mpf(x), m=1 - mp.mpf(mc))) for x in u])
            assert np.all(np.abs(ours - exact) <= FEW_ULP * np.maximum(1.0, np.abs(u))), name


def test_hyperbolic_functions_at_modulus_one():
    u = np.array([0.0, 1e-10, -1.0, 30.0, -800.0])
    j = jacobi(u, 0.0)
    np.testing.assert_allclose(j.sn, np.tanh(u), rtol=FEW_ULP)
    np.testing.assert_allclose(j.cn, [1.0, 1.0, 1 / np.cosh(1), 1 / np.cosh(30), 0.0], rtol=FEW_ULP, atol=1e-300)
    np.testing.assert_array_equal(j.cn, j.dn)
    assert quarter_period(0.0) == np.inf


@pytest.mark.parametrize("mc", MODULI)
def test_quarter_period_and_amplitude(mc):
    with mp.workdps(150):
        K = float(mp.ellipk(1 - mp.mpf(mc)))
    np.testing.assert_allclose(quarter_period(mc), K, rtol=FEW_ULP)
    np.testing.assert_allclose(jacobi(K * np.arange(-4, 5), mc).am, np.pi / 2 * np.arange(-4, 5), atol=1e-14)
    am = jacobi(np.linspace(-5 * K, 5 * K, 999), mc).am
    assert np.all(np.diff(am) >= -1e-15)
    assert np.max(np.diff(am)) < 1.0 + 0.02 * K  # continuous


@pytest.mark.parametrize("mc", MODULI)
def test_first_kind_inverts_jacobi(mc):
    u = quarter_period(mc) * np.array([-0.9, -0.1, 0.0, 1e-8, 0.5, 0.9])
    j = jacobi(u, mc)
    np.testing.assert_allclose(first_kind(j.sn, j.cn, mc), u, rtol=8 * ULP, atol=8 * ULP)


@pytest.mark.parametrize("mc", [1.0, 1 - 1e-12, 0.8, 0.3, 1e-6, 1e-20])
@pytest.mark.parametrize("factor", ["1", "1.001", "40", "1e12", "mc", "0.3 mc", "1e-9 mc"])
def test_third_kind(mc, factor):
    """The integral of sn^2 / (cn^2 + h sn^2), in both ranges of h, over many periods."""
    h = float(factor.split()[0].replace("mc", "1")) * (mc if "mc" in factor else 1.0)
    u = quarter_period(mc) * np.array([-7.3, -0.5, 1e-4, 0.2, 0.8, 1.0, 2.0, 3.1, 1000.5])
    j = jacobi(u, mc)
    with mp.workdps(80):
        m, n, exact = 1 - mp.mpf(mc), 1 - mp.mpf(h), []
        K, complete = mp.ellipk(m), _third_kind(n, mp.pi / 2, m)
        for x in u:
            turns = mp.nint(mp.mpf(x) / (2 * K))
            sn = mp.ellipfun("sn", mp.mpf(x) - 2 * K * turns, m=m)
            exact.append(float(2 * turns * complete + _third_kind(n, mp.asin(sn), m)))
    # Near sn = 1 the integrand is up to 1/h, and the rounding of u counts that much.
    slope = np.maximum(j.sn**2 / (j.cn**2 + h * j.sn**2), float(complete / K))
    ours = third_kind(j, h, mc)
    assert np.all(np.abs(ours - exact) <= 8 * ULP * (np.abs(exact) + np.abs(u) * slope))


def _third_kind(n: mp.mpf, phi: mp.mpf, m: mp.mpf) -> mp.mpf:
    s, c = mp.sin(phi), mp.cos(phi)
    return s**3 / 3 * mp.elliprj(c * c, 1 - m * s * s, 1, 1 - n * s * s)


def test_third_kind_on_the_separatrix_is_the_limit():
    u = np.array([-3.0, 0.1, 2.0, 5.0])
    near, on = (third_kind(jacobi(u, mc), 1.7, mc) for mc in (1e-25, 0.0))
    np.testing.assert_allclose(on, near, rtol=1e-14, atol=1e-16)


def test_carlson_integrals():
    rng = np.random.default_rng(1)
    x, y, z, p = 10.0 ** rng.uniform(-12, 6, (4, 300))
    np.testing.assert_allclose(carlson_rf(x, y, z), special.elliprf(x, y, z), rtol=FEW_ULP)
    np.testing.assert_allclose(carlson_rf(0.0, y, z), special.elliprf(0.0, y, z), rtol=FEW_ULP)
    p = p + np.maximum(np.maximum(x, y), z)
    with mp.workdps(30):  # SciPy's elliprj has errors of 1e-14 here
        exact = [float(mp.elliprj(*(mp.mpf(a) for a in row))) for row in zip(x, y, z, p, strict=True)]
    np.testing.assert_allclose(carlson_rj(x, y, z, p), exact, rtol=8 * ULP)
    assert carlson_rf(np.zeros(0), 1.0, 1.0).shape == (0,)


def test_rj_of_close_arguments_to_rounding():
    """Where the last terms of its series count: arguments that are close from the start."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        x, y, z = np.exp(0.3 * rng.normal(size=3))
        p = max(x, y, z) * (1 + 0.2 * rng.random())
        assert abs(float(mp.mpf(float(carlson_rj(x, y, z, p))) / mp.elliprj(x, y, z, p) - 1)) < 6 * ULP


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_what_the_series_leave_out(seed):
    """Seventh for R_F and sixth for R_J, in deviations from the mean that sum to zero: every coefficient counts."""
    rng = np.random.default_rng(seed)
    d, e = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 4)
    e[3] = -0.4 - 0.5 * rng.random()  # p is greater than the others
    d, e[:3] = d - d.mean(), e[:3] - e[:3].mean() - 2 * e[3] / 3
    for ours, exact, D, order in ((_rf_series, mp.elliprf, d, 7), (_rj_series, mp.elliprj, e, 6)):
        errors = []
        with mp.workdps(40):
            for size in (mp.mpf("2e-3"), mp.mpf("1e-3")):
                X = [size * mp.mpf(x) for x in D]
                X[-1] = -sum(X[:-1]) / (1 if order == 7 else 2)
                errors.append(abs(ours(*X) - exact(*(1 - x for x in X))))
            assert float(mp.log(errors[0] / errors[1], 2)) == pytest.approx(order, abs=0.05)
