"""Derivatives of programs generated at random: forward, reverse and differences agree."""

import numpy as np
from fuse_laws import every_backend
from fuse_models import SMOOTH
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.fuse import fori_loop, gradient, hessian, jacobian, jvp, kernel, once

steps = st.tuples(st.sampled_from(sorted(SMOOTH)), st.integers(0, 3), st.integers(0, 3))
programs = st.lists(steps, min_size=1, max_size=6)
POINTS = np.random.default_rng(3).uniform(-1, 1, (5, 2))


def evaluate(program, v):
    values = [v[0], v[1]]
    for name, *places in program:
        values.append(SMOOTH[name](*(values[-1 - place % len(values)] for place in places)))
    return values[-1]


WAYS = {
    "straight": evaluate,
    "in a loop": lambda p, v: fori_loop(2, lambda i, c: np.stack([evaluate(p, c), c[0] * 0.5 + v[1]]), v)[0],
    "in a call": lambda p, v: (lambda f: f(np.stack([f(v), v[0]])))(once(lambda c: evaluate(p, c) * 0.5)),
}


@settings(max_examples=25)
@given(programs, st.sampled_from(sorted(WAYS)))
def test_forward_reverse_and_differences_agree(program, way):
    k = kernel("(2)->()")(lambda v: WAYS[way](program, v))
    reverse = gradient(k)(POINTS)
    for j, e in enumerate(np.eye(2)):
        for backend, (_, forward) in every_backend(jvp(k), POINTS, np.broadcast_to(e, POINTS.shape)):
            np.testing.assert_allclose(forward, reverse[:, j], rtol=1e-10, atol=1e-11, err_msg=backend)
        h = 1e-5
        slope = (k(POINTS + h * e) - k(POINTS - h * e)) / (2 * h)
        np.testing.assert_allclose(reverse[:, j], slope, rtol=1e-5, atol=1e-6 * max(1, np.abs(slope).max()))
    for backend, (rows,) in every_backend(jacobian(k), POINTS):
        np.testing.assert_allclose(rows, reverse, rtol=1e-10, atol=1e-11, err_msg=backend)


@settings(max_examples=10)
@given(programs, st.sampled_from(sorted(WAYS)))
def test_second_derivatives_are_symmetric(program, way):
    k = kernel("(2)->()")(lambda v: WAYS[way](program[:3], v))
    for backend, (H,) in every_backend(hessian(k), POINTS):
        scale = 1e-9 * max(1, np.abs(H).max())
        np.testing.assert_allclose(H, np.swapaxes(H, 1, 2), rtol=1e-9, atol=scale, err_msg=backend)
