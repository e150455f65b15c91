"""Strategies for the laws of the spatial algebra: rotations at every angle, poses, twists, and the edge cases."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.spatial.pose import Pose

ROUNDING = 1e-14  # some dozens of roundings of numbers of size one
EDGE_ANGLES = [
    0.0,
    1e-300,
    1e-154,
    1e-9,
    1e-8,
    1e-4,
    0.1,
    0.2,
    1.0,
    3.0,
    np.pi - 1e-4,
    np.pi - 1e-8,
    np.pi - 1e-9,
    np.pi,
]


def law(**strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test that must hold for all examples of the strategies."""
    return lambda test: settings(max_examples=60, deadline=None)(given(**strategies)(test))


def same(a: Any, b: Any, tolerance: float = ROUNDING) -> None:
    """a equals b up to a tolerance, relative to the larger of one and the largest entry of b."""
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * max(1.0, np.max(np.abs(b), initial=0.0)))


def same_mass(a: Any, b: Any, rtol: float) -> None:
    """Mass properties a equal b: moments up to rtol of the largest, the centre up to rtol of the size."""
    size = np.sqrt(b.moment.max() / b.mass)
    np.testing.assert_allclose(a.mass, b.mass, rtol=rtol)
    np.testing.assert_allclose(a.com, b.com, rtol=0, atol=rtol * size)
    np.testing.assert_allclose(a.moment, b.moment, rtol=0, atol=rtol * b.moment.max())


def vectors(n: int = 3, size: float = 3.0) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.floats(-size, size, allow_subnormal=False), min_size=n, max_size=n).map(np.array)


angles = st.one_of(st.floats(0.0, np.pi), st.sampled_from(EDGE_ANGLES))
axes = st.one_of(
    vectors(3, 1.0).filter(lambda a: np.linalg.norm(a) > 0.1).map(lambda a: a / np.linalg.norm(a)),
    st.sampled_from([sign * e for e in np.eye(3) for sign in (1.0, -1.0)]),
)
rotation_vectors = st.tuples(angles, axes).map(lambda pair: pair[0] * pair[1])
twists = st.tuples(rotation_vectors, vectors()).map(np.concatenate)  # as xi of Pose.exp: |omega| <= pi
wrenches = vectors(6)
poses = twists.map(Pose.exp)
