"""Rows of lists that are added to factors which keep the zeros of a tree, against the full matrix."""

from dataclasses import replace

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.plan.budget import GPU, tracing_for
from poinsot.mechanism import added_rows
from poinsot.mechanism.form import sparse
from poinsot.mechanism.stiff_rows import ListedRow, RowList
from poinsot.run.compiled import CompiledSystem
from sparing import few

N, H = 11, 0.01
PATHS = [(0, 1, 2, 3, 4), (0, 1, 2, 5, 6, 7), (0, 1, 8, 9), (0, 1, 8, 10)]
REACHED = [1, 3, 4, 6, 7, 9]


def spread(rng, r):
    """Three resistances K (r, r): of full rank, of rank one, and none."""
    full, one = rng.normal(size=(r, r)), rng.normal(size=r)
    return np.stack([1e4 * full @ full.T, 1e4 * np.outer(one, one), np.zeros((r, r))])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    A = np.eye(N)
    for path in PATHS:
        B = rng.normal(size=(len(path), len(path)))
        A[np.ix_(path, path)] += B @ B.T
    lists = [(spread(rng, r), rng.normal(size=(3, r)), rng.normal(size=(3, r, len(REACHED)))) for r in (3, 6)]
    return A, rng.normal(size=N), lists


def solved(A, b, counts, lists):
    """As `added_rows` does it, with the first `counts` entries of each list, and room for one more."""
    rows = []
    for count, (K, f, J) in zip(counts, lists, strict=True):
        row = lambda k, K=K, f=f, J=J: ListedRow(np.asarray(f)[k], np.asarray(K)[k], np.asarray(J)[k])  # noqa: E731
        rows.append(RowList(count, 4, REACHED, row, f.shape[1]))
    return added_rows.solve(sparse.Factors.of(sparse.filled(N, PATHS), A), b, rows, H)


def dense(A, b, counts, lists):
    full, right = A.copy(), b.copy()
    for count, (K, f, J) in zip(counts, lists, strict=True):
        for k in range(int(count)):
            wide = np.zeros((f.shape[1], N))
            wide[:, REACHED] = J[k]
            full, right = full + H * wide.T @ K[k] @ wide, right + wide.T @ f[k]
    return np.linalg.solve(full, right)


@pytest.mark.parametrize("counts", [(0, 0), (3, 0), (0, 2), (3, 3)])
def test_it_solves_what_the_full_matrix_does(problem, counts):
    A, b, lists = problem
    kernel = pt.kernel("(n,n),(n),(),()->(n)")(lambda A, b, m, n: solved(A, b, (m.astype(int), n.astype(int)), lists))
    wanted = dense(A, b, counts, lists)
    np.testing.assert_allclose(kernel(A, b, *map(float, counts)), wanted, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(solved(A, b, counts, lists), wanted, rtol=1e-9, atol=1e-11)


def test_lists_of_different_lengths_side_by_side(problem):
    A, b, lists = problem
    kernel = pt.kernel("(n,n),(n),(),()->(n)")(lambda A, b, m, n: solved(A, b, (m.astype(int), n.astype(int)), lists))
    counts = np.array([(m, n) for m in range(4) for n in range(4)], dtype=float)
    found = kernel(A, b, *counts.T)
    for x, pair in zip(found, counts, strict=True):
        np.testing.assert_allclose(x, dense(A, b, pair, lists), rtol=1e-9, atol=1e-11)


def test_derivatives_where_nothing_resists(problem):
    """The root of a resistance that is zero has no slope; the accelerations have."""
    A, b, lists = problem
    kernel = pt.kernel("(n,n),(n),(),()->(n)")(lambda A, b, m, n: solved(A, b, (m.astype(int), n.astype(int)), lists))
    slopes = pt.jacobian(kernel, wrt=1)(A, b, 3.0, 3.0)
    step = 1e-3 * np.eye(N)
    wanted = np.stack([dense(A, b + e, (3, 3), lists) - dense(A, b - e, (3, 3), lists) for e in step], axis=1) / 2e-3
    np.testing.assert_allclose(slopes, wanted, rtol=1e-6, atol=1e-9)


def test_the_factors_keep_the_zeros_between_branches():
    lower = sparse.filled(N, PATHS)
    assert lower[7] == (0, 1, 2, 5, 6)
    assert lower[9] == (0, 1, 8)
    assert sparse.filled(N, [*PATHS, (3, 7)])[7] == (0, 1, 2, 3, 5, 6)  # and 3 and 5 fill what they share


def test_a_root_of_what_hardly_resists():
    """A pivot that is rounding alone counts for nothing, in any precision; no number is lost by it."""
    one = np.array([1.0, 3.0, -2.0])
    K = np.outer(one, one)
    for dtype in (np.float32, np.float64):
        R = added_rows.root(K.astype(dtype))
        np.testing.assert_allclose(R.T @ R, K, rtol=0, atol=50 * np.finfo(dtype).eps)
        assert np.all(np.isfinite(R))


def crossed(legs=4):
    """A body with crossed arms of two links each, which press on each other."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_body("trunk", pt.Inertia.box(mass=3.0, size=(0.3, 0.3, 0.1)), position=(0, 0, 0.4), shapes=[])
    link = pt.Pose.from_euler((0, np.pi / 2, 0), p=(0.15, 0, 0)) @ pt.Inertia.capsule(0.4, 0.03, 0.2)
    for k in range(legs):
        place = pt.Pose.from_euler((0, 0, (-1) ** k * 0.6), p=(-0.1, 0.05 * (k - 1.5), -0.08))
        upper, lower = pt.revolute((0, 0, 1), stiffness=2.0, damping=0.1), pt.revolute((0, 1, 0), damping=0.1)
        world.add_body(f"upper{k}", link, "trunk", upper, place)
        world.add_body(f"lower{k}", link, f"upper{k}", lower, (0.3, 0, 0))
    world.add_ground(surface=pt.Material(3e4, 1.0, 0.6))
    world.collide(surface=pt.Material(2e4, 0.5, 0.4), capacity=20)
    return world


@pytest.mark.parametrize("method", few(["implicit, one iteration", "implicit"], {"implicit"}))
def test_a_robot_that_touches_itself_moves_alike(method):
    """The same steps, with the matrix of the tree and with the full one."""
    c = CompiledSystem(crossed().system(), method, {}, True)
    p = c.parameters({}, {}, (3,))
    x = c.to_stepped(c.start(p), p)
    clock = np.zeros(3), np.zeros(3), np.full(3, 2e-3), np.array([1.0, 5.0, 16.0])
    ends, operations = [], []
    for registers in (0, float("inf")):
        kernel = pt.fuse.Kernel(c._advance, f"({c.nx}),({c.np}),(),(),(),()->({c.nx})")
        with tracing_for(replace(GPU[8], registers=registers)):
            program = kernel.specialise((c.nx,), (c.np,), (), (), (), ())
        (end,) = program.interpret(x, p, *clock, dtype=np.float64)
        ends.append(end)
        operations.append(program.operations)
    assert operations[0] != operations[1]
    touching = [k for k, label in enumerate(c.labels()) if ".touching" in label]
    assert np.max(np.sum(ends[0][:, touching] >= 0, axis=1)) >= 3
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-9 * np.abs(ends[1]).max())
