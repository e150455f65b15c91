"""Long trees: the recursion stays a loop, and nothing else changes."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.verify import verify
from poinsot.mechanism import rolled


def long_tree(n: int, branches: bool) -> pt.Mechanism:
    rng = np.random.default_rng(n)
    links = []
    for k in range(n):
        parent = None if k == 0 else f"l{k - 1 if not branches or rng.random() < 0.8 else rng.integers(k)}"
        inertia = pt.Inertia.points(0.1 + rng.random(6), 0.5 * rng.standard_normal((6, 3)))
        placement = pt.Pose.exp(0.5 * rng.standard_normal(6))
        links.append(pt.Link(f"l{k}", inertia, parent, pt.revolute(rng.standard_normal(3)), placement))
    return pt.Mechanism(links)


@pytest.mark.parametrize("branches", [False, True])
def test_the_loop_gives_what_the_written_out_recursion_gives(branches: bool) -> None:
    """Plain NumPy never rolls; the kernel does. External wrenches included."""
    n = rolled.WRITTEN_OUT + 5
    mech = long_tree(n, branches)
    forward = pt.kernel("(n),(n),(n),(n,6)->(n)")(lambda q, v, tau, F: pt.forward_dynamics(mech, q, v, tau, F))
    rng = np.random.default_rng(0)
    q, v, tau = rng.standard_normal((3, n))
    F = rng.standard_normal((n, 6))
    expected = pt.forward_dynamics(mech, q, v, tau, F)
    np.testing.assert_allclose(forward(q, v, tau, F), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    assert forward.count()["loop"] == 3
    verify(forward.program().graph)


def test_code_does_not_grow_with_the_tree() -> None:
    """Per body only the reading of its inputs and writing of its outputs is added."""

    def operations(n: int) -> int:
        mech = long_tree(n, branches=False)
        kernel = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
        return sum(kernel.count(n=n).values())

    assert operations(120) - operations(80) < 5 * 40
    assert operations(120) < 1500


def test_short_trees_and_other_joints_are_written_out() -> None:
    short = long_tree(5, branches=False)
    kernel = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(short, q, v, tau))
    assert kernel.count(n=5)["loop"] == 0
