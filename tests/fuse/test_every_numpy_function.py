"""Every public function of NumPy inside a kernel: it agrees with NumPy, or it is a TraceError."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.trace.functions import FUNCTIONS, STRUCTURAL

# Not functions of arrays of numbers: types, settings, files, printing, strings, dates, indices made of integers;
# what is undefined (empty_like), and what no protocol lets us see (isscalar).
NOT_OF_NUMBERS = set(
    "empty_like isscalar "
    "LinAlgError add_docstring add_newdoc array2string array_repr array_str asarray_chkfinite asmatrix astype "
    "base_repr binary_repr bmat busday_count busday_offset byte_bounds can_cast common_type copyto "
    "datetime_as_string datetime_data deprecate diag_indices diag_indices_from disp dtype errstate "
    "fill_diagonal finfo format_float_positional format_float_scientific from_dlpack frombuffer fromfile "
    "fromfunction fromiter frompyfunc fromregex fromstring genfromtxt get_include get_printoptions getbufsize "
    "geterr geterrcall iinfo indices info is_busday isdtype isfortran issubdtype issubsctype iterable ix_ load "
    "loadtxt lookfor mask_indices matrix may_share_memory min_scalar_type mintypecode nditer nested_iters "
    "packbits place printoptions promote_types put put_along_axis putmask ravel_multi_index require "
    "result_type safe_eval save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall "
    "shares_memory show_config show_runtime source test tril_indices tril_indices_from triu_indices "
    "triu_indices_from typename unpackbits unravel_index vectorize who".split()
)


def functions() -> dict[str, Callable]:
    chosen = {}
    for prefix, module in (("", np), ("linalg.", np.linalg)):
        for name in sorted(dir(module)):
            f = getattr(module, name)
            if not name.startswith("_") and callable(f) and not isinstance(f, type) and name not in NOT_OF_NUMBERS:
                chosen[prefix + name] = f
    return chosen


def whole(x):
    """Integers; there is none for NaN."""
    return np.where(x == x, x, 0.0).astype(int)


def words(x):
    """Unsigned integers so large that sums and products wrap around."""
    return np.where(x == x, np.minimum(np.abs(x), 1.9) * 2.0**31, 0.0).astype(np.uint32)


# Ways to call a function of a, b (3,), A, B (3, 3) and s, c ().
WAYS = [
    lambda f, a, b, A, B, s, c: f(a),
    lambda f, a, b, A, B, s, c: f(a, b),
    lambda f, a, b, A, B, s, c: f(A),
    lambda f, a, b, A, B, s, c: f(A, a),
    lambda f, a, b, A, B, s, c: f(A, B),
    lambda f, a, b, A, B, s, c: f(s),
    lambda f, a, b, A, B, s, c: f(s, c),
    lambda f, a, b, A, B, s, c: f(a, b, b),
    lambda f, a, b, A, B, s, c: f(a, s, c),
    lambda f, a, b, A, B, s, c: f([a, b]),
    lambda f, a, b, A, B, s, c: f([A, B]),
    lambda f, a, b, A, B, s, c: f((a, s)),
    lambda f, a, b, A, B, s, c: f(a, 1),
    lambda f, a, b, A, B, s, c: f(A, 1),
    lambda f, a, b, A, B, s, c: f(A, 0, 1),
    lambda f, a, b, A, B, s, c: f(a, (2, 3)),
    lambda f, a, b, A, B, s, c: f(A, axis=0),
    lambda f, a, b, A, B, s, c: f(a, axis=0),
    lambda f, a, b, A, B, s, c: f(a, 0.5),
    lambda f, a, b, A, B, s, c: f(a < b),
    lambda f, a, b, A, B, s, c: f(a < b, b < a),
    lambda f, a, b, A, B, s, c: f(a < b, a, b),
    lambda f, a, b, A, B, s, c: f([a < b], [a], 0.0),
    lambda f, a, b, A, B, s, c: f(a, [a < b], [0.5, 1.0]),
    lambda f, a, b, A, B, s, c: f(a, np.array([1, 2])),  # no 0: kernels take x * 0 to be 0, also for NaN
    lambda f, a, b, A, B, s, c: f(A, np.array([[0, 1, 2]]), 0),
    lambda f, a, b, A, B, s, c: f("i,ij->j", a, A),
    lambda f, a, b, A, B, s, c: f(np.sum, 0, A),
    lambda f, a, b, A, B, s, c: f(np.sum, A, [0]),
    lambda f, a, b, A, B, s, c: f(3, s),
    lambda f, a, b, A, B, s, c: f((3,), s),
    lambda f, a, b, A, B, s, c: f(whole(a), whole(b) + 3),
    lambda f, a, b, A, B, s, c: f(whole(a)),
]
WITH_THREE = WAYS[7]
OF_WORDS = [
    lambda f, a, b, A, B, s, c: f(words(a)),
    lambda f, a, b, A, B, s, c: f(words(a), words(b)),
    lambda f, a, b, A, B, s, c: f(words(A), words(a)),
    lambda f, a, b, A, B, s, c: f(words(A)),
    lambda f, a, b, A, B, s, c: f(words(a), 3),
    lambda f, a, b, A, B, s, c: f(words(a), b),
    lambda f, a, b, A, B, s, c: f(words(a), np.array([2, 3, 5])),
    lambda f, a, b, A, B, s, c: f(words(a), np.array([2, 3, 5], np.uint32)),
    lambda f, a, b, A, B, s, c: f([words(a), words(b)]),
    lambda f, a, b, A, B, s, c: f([words(a), b]),
    lambda f, a, b, A, B, s, c: f(a < b, words(a), words(b)),
    lambda f, a, b, A, B, s, c: f(a < b, words(a), 7),
    lambda f, a, b, A, B, s, c: f([a < b], [words(a)], 7),
    lambda f, a, b, A, B, s, c: f(words(a), words(s), words(c)),
]
COUNTS = set("repeat resize tile pad vander tensordot".split())  # for which a word would be a size
SIZE = 26
POINTS = np.random.default_rng(0).normal(size=(4, SIZE)) * 1.7
POINTS[1, :6] = [0.5, -0.5, 0.5, 0.5, -0.5, 2.0]  # equal entries
POINTS[2, 2] = np.nan
POINTS[3, :3] = [2.0, 0.0, -1.0]


def parts(x):
    return x[:3], x[3:6], x[6:15].reshape(3, 3), x[15:24].reshape(3, 3), x[24], x[25]


def flat(result) -> list:
    """All numbers of a result, one after the other."""
    if isinstance(result, (tuple, list)) or type(result).__module__.startswith("numpy.linalg"):
        return [number for item in result for number in flat(item)]
    return [np.asarray(result).astype(float).ravel() if not hasattr(result, "__traced__") else np.ravel(result)]


def expected(f, way, x) -> np.ndarray | None:
    """What NumPy gives, as one vector; None if this is not a way to call the function with numbers."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = way(f, *parts(x.copy()))
            if result is None or np.iscomplexobj(result) or isinstance(result, (str, np.dtype, type)):
                return None
            if getattr(result, "dtype", None) == np.float16:  # of conditions; kernels know no such short numbers
                return None
            return np.concatenate([np.zeros(0), *flat(result)])
    except Exception:
        return None


@pytest.mark.parametrize("name", functions())
def test_right_or_refused(name):
    f, tried = functions()[name], 0
    takes_words = (isinstance(f, np.ufunc) or f in FUNCTIONS or f in STRUCTURAL) and name not in COUNTS
    for number, way in enumerate([*WAYS, *OF_WORDS] if takes_words else WAYS):
        if way is WITH_THREE and isinstance(f, np.ufunc) and f.nin != 3:  # the third would be `out`
            continue
        wanted = [expected(f, way, x) for x in POINTS]
        if wanted[0] is None or len({None if w is None else w.shape for w in wanted}) > 1:
            continue
        kernel = pt.kernel(f"({SIZE})->({wanted[0].size})")(
            lambda x, way=way: np.concatenate([np.zeros(0), *flat(way(f, *parts(x)))])
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = kernel.to("numpy" if way in OF_WORDS or tried > 1 else "llvm")(POINTS)  # quicker; same bits
        except pt.TraceError as error:
            if "test_every_numpy_function.py:" in str(error):
                continue
            raise
        tried += 1
        for x, result, want in zip(POINTS, results, wanted, strict=True):
            np.testing.assert_allclose(result, want, rtol=1e-9, atol=1e-12, err_msg=f"way {number} at {x[:6]}")
