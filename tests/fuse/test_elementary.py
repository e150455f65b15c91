"""Elementary functions against mpmath: every one, in both precisions, over the whole range of the format.

The error is measured in units in the last place of the exact value. The limit is 2 ulp for all, 1 ulp for those that
dynamics uses most. Special values (zeros with their signs, infinities, NaN, the ends of the format) must be NumPy's.
"""

import functools

import mpmath as mp
import numpy as np
import pytest

import poinsot as pt

EXACT = {
    "arccos": mp.acos,
    "arccosh": mp.acosh,
    "arcsin": mp.asin,
    "arcsinh": mp.asinh,
    "arctan": mp.atan,
    "arctan2": mp.atan2,
    "arctanh": mp.atanh,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "cos": mp.cos,
    "cosh": mp.cosh,
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1,
    "hypot": mp.hypot,
    "log": mp.log,
    "log10": mp.log10,
    "log1p": mp.log1p,
    "log2": lambda x: mp.log(x, 2),
    "logaddexp": lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y))),
    "power": mp.power,
    "sin": mp.sin,
    "sinh": mp.sinh,
    "tan": mp.tan,
    "tanh": mp.tanh,
}
TWO_ARGUMENTS = {"arctan2", "hypot", "logaddexp", "power"}
# Functions that end with a sum whose terms may cancel: the error is measured in the last place of the larger term.
TERMS = {"logaddexp": lambda exact, x, y: (max(x, y), exact - max(x, y))}
TIGHT = {"sin", "cos", "exp", "log"}  # below 1 ulp in float64
DTYPES = [np.float64, np.float32]
POINTS = 250  # of each kind of sample

# Arguments at which the largest errors were found among some million of each function.
WORST = {
    "arccos": ["0x1.368dccbeebfaap-1"],
    "arccosh": ["0x1.07c0bacc02ca8p+0"],
    "arcsin": ["0x1.0eec0b8a69e0ep-1", "0x1.1106b6p-1"],
    "arcsinh": ["0x1.017cee278cab0p-2"],
    "arctan": ["0x1.0000d7ff4f834p+0", "-0x1.044b48p+0"],
    "arctanh": ["-0x1.580dab4e85bb0p-3"],
    "cbrt": ["-0x1.7a06dcc703b7ep+544", "0x1.6ea2d4p-122"],
    "cos": ["-0x1.d1cb4737797a7p+18", "-0x1.0dafaep+53"],
    "cosh": ["0x1.262d174087734p+4", "0x1.fe84e4p+2"],
    "exp": ["-0x1.0368762bc46d4p+9", "-0x1.76ba8cp+2"],
    "exp2": ["-0x1.f1d53cb40e41cp-2", "0x1.054862p-1"],
    "expm1": ["0x1.28bec68e2feccp+5", "0x1.94a868p-2"],
    "log": ["0x1.69f667d26ff3cp+0", "0x1.692b02p+0"],
    "log10": ["0x1.5394b4082512bp+0", "0x1.69e396p-1"],
    "log1p": ["-0x1.2cd0886f3e1dcp-2", "0x1.ab6396p-2"],
    "log2": ["0x1.5ad834922093cp+0", "0x1.65e4a4p-1"],
    "sin": ["0x1.55a220aad2d73p+25", "0x1.3b6078p+122"],
    "sinh": ["0x1.265439032508cp+4", "0x1.feaf8ep+2"],
    "tan": ["-0x1.906f085690bf0p-1", "-0x1.b19f4cp+19"],
    "tanh": ["0x1.f2781f6aa2158p-4", "0x1.63b222p-3"],
}
WORST_PAIRS = {
    "arctan2": [("-0x1.eccbd97a96ca0p-2", "0x1.ecc40d1f68438p+0"), ("0x1.88aa58p-3", "0x1.86be1ep+0")],
    "hypot": [("0x1.e90f30cbf5f00p-5", "0x1.6d134e359624fp+7"), ("0x1.680136p-1", "-0x1.6c8dd0p+7")],
    "logaddexp": [("0x1.26fbc07a1c6a0p-6", "-0x1.1d887038f3c33p+2"), ("0x1.3e7426p-5", "-0x1.307ea4p+1")],
    "power": [("0x1.69cdae2f72833p+0", "0x1.ee56825572098p+10"), ("0x1.70a0ecp-1", "0x1.eb54f2p+7")],
}


@functools.cache
def _kernel(name):
    return pt.kernel("(),()->()" if name in TWO_ARGUMENTS else "()->()")(getattr(np, name))


def evaluate(name, dtype, *arrays):
    """The compiled function on arrays of the given precision."""
    with np.errstate(all="ignore"):
        result = _kernel(name)(*(np.asarray(a, dtype) for a in arrays))
    assert result.dtype == dtype
    return result


def ulp_errors(name, dtype, got, *arrays):
    """|got - exact| in units in the last place of the exact value; inf where the kind of the result is wrong."""
    info = np.finfo(dtype)
    precision, lowest = info.nmant + 1, int(info.minexp) - info.nmant
    top = mp.mpf(2) ** int(info.maxexp)
    errors = []
    with mp.workprec(3 * precision + 60):
        for y, *x in zip(got.tolist(), *(a.tolist() for a in arrays), strict=True):
            exact = EXACT[name](*map(mp.mpf, x))
            if exact == 0:
                errors.append(0.0 if y == 0 else np.inf)
                continue
            terms = TERMS[name](exact, *map(mp.mpf, x)) if name in TERMS else ()
            place = mp.ldexp(1, max(max(map(mp.mag, (exact, *terms))) - precision, lowest))
            if abs(exact) >= top - place / 2:  # rounds to infinity
                errors.append(0.0 if y == np.inf * mp.sign(exact) else np.inf)
            elif np.isfinite(y):
                errors.append(float(abs(y - exact) / place))
            else:
                errors.append(np.inf)
    return np.array(errors)


def samples(name, dtype, rng):
    """Arguments in the domain of the function: everyday ones, all magnitudes, and the neighbourhoods that are hard."""
    info, n = np.finfo(dtype), POINTS
    low, high = np.log2(float(info.smallest_subnormal)), np.log2(float(info.max))

    def signed(x):
        return x * rng.choice([-1.0, 1.0], x.shape)

    def magnitudes(low, high):
        return np.exp2(rng.uniform(low, high, n))

    def uniform(low, high):
        return rng.uniform(low, high, n)

    everything = signed(magnitudes(low, high))
    near_one = 1 + signed(magnitudes(-info.nmant - 1, -1))
    overflow = float(np.log(info.max))
    angles = [uniform(-1, 1), uniform(-10, 10), uniform(-1e6, 1e6), everything, nearly_quarter_turns(dtype, rng)]
    exponents = [uniform(-1, 1), uniform(-1.2 * overflow, 1.02 * overflow), signed(magnitudes(low, 9))]
    positive = [uniform(0.5, 2), uniform(0, 100), abs(everything), abs(near_one)]
    unit = [uniform(-1, 1), np.clip(signed(near_one), -1, 1), signed(magnitudes(low, 0)), signed(uniform(0.49, 0.51))]
    hyperbolic = [uniform(-1, 1), uniform(-30, 30), uniform(-1.01 * overflow, 1.01 * overflow), exponents[-1]]
    one_argument = {
        "arccosh": [uniform(1, 2), uniform(1, 100), magnitudes(0, high), 2 - np.clip(near_one, 0, 1)],
        "arcsinh": [uniform(-1, 1), uniform(-20, 20), everything],
        "arctan": [uniform(-1, 1), uniform(-20, 20), everything, near_one],
        "arctanh": [x[abs(x) < 1] for x in unit],
        "cbrt": [uniform(-8, 8), everything],
        "exp2": [
            uniform(-1, 1),
            uniform(1.02 * low, 1.01 * high),
            np.rint(uniform(low, high)),
            signed(magnitudes(low, 9)),
        ],
        "log1p": [uniform(-0.5, 0.5), uniform(-0.99, 10), signed(magnitudes(low, -1)), abs(everything), -abs(unit[1])],
        "tanh": [uniform(-1, 1), uniform(-20, 20), exponents[-1]],
        **dict.fromkeys(("arccos", "arcsin"), unit),
        **dict.fromkeys(("cos", "sin", "tan"), angles),
        **dict.fromkeys(("exp", "expm1"), exponents),
        **dict.fromkeys(("cosh", "sinh"), hyperbolic),
        **dict.fromkeys(("log", "log2", "log10"), positive),
    }
    with np.errstate(all="ignore"):
        if name == "power":
            base = np.concatenate([uniform(0, 3), magnitudes(low, high), near_one, signed(uniform(0, 9))]).astype(dtype)
            exponent = rng.uniform(1.01 * low, 1.01 * high, base.size) / np.log2(abs(base.astype(float)))
            exponent = np.where(base < 0, rng.integers(-30, 30, base.size), exponent).astype(dtype)
            exponent[::5] *= rng.uniform(0, 1, exponent[::5].size).astype(dtype)
            exponent = np.where(base < 0, np.rint(exponent), exponent)
            arrays = [base, exponent]
        elif name in TWO_ARGUMENTS:
            a = np.concatenate([uniform(-3, 3), everything, everything])
            b = np.concatenate([uniform(-3, 3), everything * uniform(-2, 2), rng.permutation(everything)])
            arrays = [a, b]
        else:
            arrays = [np.concatenate(one_argument[name])]
        worst = WORST_PAIRS[name] if name in TWO_ARGUMENTS else [(x,) for x in WORST[name]]
        extra = np.array([[float.fromhex(x) for x in row] for row in worst]).T
        arrays = [np.concatenate([a, e]).astype(dtype) for a, e in zip(arrays, extra, strict=True)]
    fine = np.logical_and.reduce([np.isfinite(a) for a in arrays])
    if name in ("log", "log2", "log10"):
        fine &= arrays[0] > 0
    if name in ("log1p", "arctanh"):
        fine &= abs(arrays[0]) < 1 if name == "arctanh" else arrays[0] > -1
    return [a[fine] for a in arrays]


def nearly_quarter_turns(dtype, rng):
    """Floats that come as close to multiples of pi/2 as any float of their exponent.

    X 2^e is near a multiple of pi/2 where X is the denominator of a convergent of the continued fraction of the
    fractional part of 2^e 2/pi: Muller, Elementary Functions, 3rd ed., section 11.3.
    """
    info, places = np.finfo(dtype), 1400
    precision = info.nmant + 1
    with mp.workprec(3000):
        ratio = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (places + 100)))
    result = []
    for e in rng.integers(-precision - 5, int(info.maxexp) - precision, 60):
        shifted = ratio << int(e) if e >= 0 else ratio >> int(-e)
        a, b = 1 << (places + 100), shifted & ((1 << (places + 100)) - 1)
        q0, q1 = 0, 1
        while b:
            digit, (a, b) = a // b, (b, a % b)
            q0, q1 = q1, digit * q1 + q0
            if q1 >> precision:
                break
        result.append(q0 * 2.0 ** int(e))
    return np.array(result)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(EXACT))
def test_within_two_ulp_of_the_exact_value(name, dtype):
    arrays = samples(name, dtype, np.random.default_rng(len(name)))
    errors = ulp_errors(name, dtype, evaluate(name, dtype, *arrays), *arrays)
    worst = errors.argmax()
    limit = 1.0 if name in TIGHT and dtype is np.float64 else 2.0
    assert errors[worst] <= limit, f"{errors[worst]:.3f} ulp at {[a[worst].item().hex() for a in arrays]}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(EXACT))
def test_special_values_are_those_of_numpy(name, dtype):
    info = np.finfo(dtype)
    ends = [info.max, info.tiny, info.smallest_subnormal, 1 - info.epsneg, 1 + info.eps, 2.0 ** (info.nmant + 1) - 1]
    usual = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 1e5, 1e30]
    values = np.array([*usual, *ends, np.inf, np.nan], dtype)
    values = np.concatenate([values, -values])
    arrays = [a.ravel() for a in np.meshgrid(values, values)] if name in TWO_ARGUMENTS else [values]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*arrays)
    got = evaluate(name, dtype, *arrays)
    exact = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(got[exact], expected[exact])
    atol = 2 * info.eps if name in TERMS else 2 * info.smallest_subnormal
    np.testing.assert_allclose(got, expected, rtol=4 * info.eps, atol=atol)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(EXACT))
def test_a_lane_does_not_depend_on_its_neighbours(name, dtype):
    """Alone, in any order, or beside arguments that need the slow path: the same bits."""
    rng = np.random.default_rng(3)
    arrays = [a[:200] for a in samples(name, dtype, rng)]
    usual = evaluate(name, dtype, *arrays)
    order = rng.permutation(usual.size)
    np.testing.assert_array_equal(evaluate(name, dtype, *(a[order] for a in arrays)), usual[order])
    disturbed = [np.stack([a, np.full_like(a, np.inf), np.zeros_like(a), -a], axis=-1) for a in arrays]
    np.testing.assert_array_equal(evaluate(name, dtype, *disturbed)[:, 0], usual)
    alone = [evaluate(name, dtype, *(a[i : i + 1] for a in arrays))[0] for i in range(0, 200, 40)]
    np.testing.assert_array_equal(alone, usual[::40])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "cbrt"])
def test_odd_functions_are_odd(name, dtype):
    (x,) = samples(name, dtype, np.random.default_rng(5))
    np.testing.assert_array_equal(evaluate(name, dtype, -x), -evaluate(name, dtype, x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_the_base_are_exact(dtype):
    info = np.finfo(dtype)
    whole = np.arange(int(info.minexp) - info.nmant, int(info.maxexp), dtype=dtype)
    two = np.ldexp(np.ones_like(whole), whole.astype(np.int32))
    np.testing.assert_array_equal(evaluate("exp2", dtype, whole), two)
    np.testing.assert_array_equal(evaluate("log2", dtype, two), whole)
    np.testing.assert_array_equal(evaluate("power", dtype, np.full_like(whole, 2), whole), two)
    ten = np.arange(23 if dtype is np.float64 else 11)  # the powers of ten that are floats
    np.testing.assert_array_equal(evaluate("log10", dtype, 10.0**ten), ten)


def test_sine_and_cosine_of_one_angle_are_those_of_each_alone():
    both = pt.kernel("()->(2)")(lambda x: np.stack([np.sin(x), np.cos(x)]))
    x = samples("sin", np.float64, np.random.default_rng(8))[0]
    np.testing.assert_array_equal(both(x)[:, 0], evaluate("sin", np.float64, x))
    np.testing.assert_array_equal(both(x)[:, 1], evaluate("cos", np.float64, x))
