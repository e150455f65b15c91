"""Derivatives where a branch was not taken: infinities and NaN in that branch must not show."""

import numpy as np
import pytest

from poinsot.fuse import Table, fori_loop, gradient, jacobian, jvp, kernel, once


def root_in_memory(x):
    def body(i, A):
        A[i] = np.sqrt(A[i - 1])
        return A

    return fori_loop(2, body, np.stack([x, x]))[0]


# At x = 0 each of these takes its harmless branch; the slope of the other one is infinite or NaN.
HARMLESS = {
    "sqrt": (lambda x: np.where(x > 0, np.sqrt(x), 2 * x), 2),
    "log": (lambda x: np.where(x > 0, np.log(x), 3 * x), 3),
    "sinc": (lambda x: np.where(x != 0, np.sin(x) / x, 1.0), 0),
    "power": (lambda x: np.where(x > 0, x**0.3, x), 1),
    "arctan2": (lambda x: np.where(x != 0, np.arctan2(x, 2 * x), x), 1),
    "hypot": (lambda x: np.where(x != 0, np.hypot(x, 2 * x), x), 1),
    "cbrt": (lambda x: np.where(x != 0, np.cbrt(x), x), 1),
    "arccos": (lambda x: np.where(x > 0, np.arccos(1 + x), x), 1),
    "exp": (lambda x: np.where(x > 0, np.exp(1e3 * (1 + x)), x), 1),
    "logaddexp": (lambda x: np.where(x > 0, np.logaddexp(np.log(x), np.log(x)), x), 1),
    "tan": (lambda x: np.where(x > 0, 1 / np.tan(x), x), 1),
    "chain": (lambda x: np.where(x > 0, np.exp(np.log(x) / np.sqrt(x)), x), 1),
    "products": (lambda x: np.where(x > 0, x * (1 / x) * np.log(x), x), 1),
    "nested": (lambda x: np.where(x > 0, np.where(x > 1, np.sqrt(x - 1), np.log(x)), x), 1),
    "through a call": (lambda x: np.where(x > 0, once(np.sqrt)(x), x), 1),
    "through a loop": (lambda x: np.where(x > 0, fori_loop(3, lambda i, c: np.sqrt(c), x), x), 1),
    "through memory": (lambda x: np.where(x > 0, np.stack([np.sqrt(x), x])[(x * 0.1).astype(int)], x), 1),
    "through a loop with memory": (lambda x: np.where(x > 0, root_in_memory(x), x), 1),
    "in a loop": (lambda x: fori_loop(2, lambda i, c: np.where(c > 0, np.sqrt(c), c), x), 1),
    "in a call": (lambda x: once(lambda a: np.where(a > 0, np.log(a), a))(x), 1),
    "norm": (lambda x: np.where(x != 0, np.linalg.norm(np.stack([x, x])), x), 1),
    "solve": (lambda x: np.where(x != 0, np.linalg.solve(np.diag(np.stack([x, x])), np.ones(2))[0], x), 1),
    "table": (lambda x: np.where(x > 0, Table([0.0, 1.0], [1.0, 2.0], outside="nan")(x - 1), x), 1),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_no_nan_from_the_branch_not_taken(name):
    function, slope = HARMLESS[name]
    k = kernel("()->()")(function)
    x = np.zeros(5)
    with np.errstate(all="raise"):
        for derived in (gradient(k)(x), jacobian(k)(x), jvp(k)(x, np.ones(5))[1]):
            np.testing.assert_array_equal(derived, slope)
