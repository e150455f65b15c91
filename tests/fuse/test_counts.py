"""Generated code under test: stored numbers of operations, which a change of the compiler must not raise unnoticed.

If a number falls, store the new one. The reference programs are written as the books write them.
"""

import numpy as np
import pytest
from fuse_laws import every_backend
from fuse_models import articulated_body, free_body, inverse_dynamics, random_chain, rk4, rotate, skew

from poinsot.fuse import fori_loop, jacobian, kernel, once

ARM = random_chain(7)
TREE = random_chain(7, seed=3, branching=0.6)


def book_aba(q, qd, tau):
    return articulated_body(ARM, q, qd, tau)


def rk4_inline(y, h):
    return rk4(free_body, y, h)


def rk4_once(y, h):
    return rk4(once(free_body), y, h)


def rk4_in_a_loop(y, h):
    return fori_loop(1000, lambda i, y: rk4(once(free_body), y, h), y)


STORED = {
    "cross product": ("(3),(3)->(3)", np.cross, 9),
    "cross product by a skew matrix": ("(3),(3)->(3)", lambda a, b: skew(a) @ b, 9),
    "quaternion rotation": ("(4),(3)->(3)", rotate, 30),
    "3x3 solve": ("(3,3),(3)->(3)", np.linalg.solve, 89),
    "4x4 solve": ("(4,4),(4)->(4)", np.linalg.solve, 135),
    "norm": ("(3)->()", np.linalg.norm, 6),
    "free body": ("(7)->(7)", free_body, 37),
    "RK4 inline": ("(7),()->(7)", rk4_inline, 241),
    "RK4 with once": ("(7),()->(7)", rk4_once, 134),
    "RK4 in a loop": ("(7),()->(7)", rk4_in_a_loop, 135),
    "articulated body, 7 joints": ("(7),(7),(7)->(7)", book_aba, 3884),
    "articulated body, 7 joints, tree": ("(7),(7),(7)->(7)", lambda *x: articulated_body(TREE, *x), 3187),
    "inverse dynamics, 7 joints": ("(7),(7),(7)->(7)", lambda *x: inverse_dynamics(ARM, *x), 1802),
}


@pytest.mark.parametrize("name", STORED)
def test_stored_counts(name):
    text, function, stored = STORED[name]
    assert sum(kernel(text)(function).count().values()) == stored


def test_the_articulated_body_algorithm_collapses():
    """The 6x6 algebra of the book costs no more than a hand-blocked version."""
    count = kernel("(7),(7),(7)->(7)")(book_aba).count()
    assert sum(count.values()) <= 4300
    assert count["div"] <= 6 * 7
    assert count["sin"] == count["cos"] == 7
    assert set(count) <= {"add", "sub", "mul", "neg", "div", "sin", "cos"}


def test_forward_and_inverse_dynamics_undo_each_other(rng):
    """ID(FD(tau)) = tau: so the counted programs are the right ones."""
    q, qd, tau = rng.uniform(-1, 1, (3, 20, 7))
    for links in (ARM, TREE):
        forward = kernel("(7),(7),(7)->(7)")(lambda *x, links=links: articulated_body(links, *x))
        inverse = kernel("(7),(7),(7)->(7)")(lambda *x, links=links: inverse_dynamics(links, *x))
        for backend, (qdd,) in every_backend(forward, q, qd, tau):
            np.testing.assert_allclose(inverse(q, qd, qdd), tau, rtol=1e-8, atol=1e-8, err_msg=backend)


def test_doubling_the_joints_doubles_the_operations():
    """The algorithm is linear in the number of joints, and so is what comes out of the compiler."""
    counts = []
    for n in (4, 8, 16):
        links = random_chain(n)
        k = kernel(f"({n}),({n}),({n})->({n})")(lambda *x, links=links: articulated_body(links, *x))
        counts.append(sum(k.count().values()))
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.05)


def test_derivatives_cost_a_small_multiple():
    """The gradient of a scalar in many variables costs a few evaluations; a full Jacobian a few per column."""
    q = kernel("(7),(7),(7)->(7)")(book_aba)
    value, by_tau = (sum(k.count().values()) for k in (q, jacobian(q, wrt=2)))
    assert by_tau < 3 * value  # the inverse mass matrix


def test_constants_are_shared():
    """A thousand uses of one sine are one sine."""
    k = kernel("()->()")(lambda x: sum(np.sin(x) * j for j in range(1, 1001)))
    assert k.count()["sin"] == 1
