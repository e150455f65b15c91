"""Internal forces: definition 3.2 and its consequences; matrices that break its rules are rejected, with the reason."""

import numpy as np
import pytest
from random_objects import law, make_object, same, seeds, sizes

import poinsot as pt
from poinsot.particles import Particles, central_forces, internal_forces, torque


def force_matrix(o, seed):
    """I_ij = lambda_ij (x_j - x_i), lambda symmetric."""
    n = len(o)
    scale = np.random.default_rng(seed).normal(size=(n, n))
    return (scale + scale.T)[:, :, None] * (o.positions[None, :] - o.positions[:, None])


@law(seed=seeds, n=sizes)
def test_internal_forces_cancel_as_forces_and_as_torques(seed, n):
    o = make_object(seed, n)
    I = force_matrix(o, seed)
    F = internal_forces(o, I)
    same(F, I.sum(axis=1))
    same(F.sum(axis=0), np.zeros(3), scale=n * np.abs(I).max())
    same(torque(o, F, (4.0, 5.0, 6.0)), np.zeros(3), scale=10 * n * np.abs(I).max())


@law(seed=seeds, n=sizes)
def test_central_forces_are_an_internal_force_matrix(seed, n):
    o = make_object(seed, n)
    i, j = np.triu_indices(n, 1)
    T = np.random.default_rng(seed).normal(size=len(i))
    d = o.positions[j] - o.positions[i]
    I = np.zeros((n, n, 3))
    I[i, j] = (T / np.linalg.norm(d, axis=1))[:, None] * d
    I[j, i] = -I[i, j]
    same(central_forces(o, np.stack([i, j], axis=1), T), internal_forces(o, I), scale=10.0)
    same(central_forces(o, np.stack([j, i], axis=1), T), internal_forces(o, I), scale=10.0)  # T_jk = T_kj, Peskin (3)


def test_positive_magnitudes_pull():
    o = Particles([1, 1], [(0, 0, 0), (2, 0, 0)])
    assert np.array_equal(central_forces(o, [(0, 1)], 3.0), [[3, 0, 0], [-3, 0, 0]])


def test_no_force_between_masses_at_one_position():
    o = Particles([1, 1], [(1, 1, 1), (1, 1, 1)])
    assert not central_forces(o, [(0, 1)], [5.0]).any()


def test_instants_and_kernels():
    o, pairs = make_object(1, 5, batch=(7,)), [(0, 1), (1, 4), (4, 0), (0, 1)]
    T = np.random.default_rng(1).normal(size=(7, 4))
    many = central_forces(o, pairs, T)
    kernel = pt.kernel("(n,3),(e)->(n,3)")(lambda x, T: central_forces(Particles(o.masses, x), pairs, T))
    same(kernel(o.positions, T), many, scale=10.0)
    for k in range(7):
        same(central_forces(Particles(o.masses, o.positions[k]), pairs, T[k]), many[k])


def test_rounding_far_from_the_origin_passes():
    o = make_object(4, 6)
    far = Particles(o.masses, o.positions + 1e5)
    I = force_matrix(far, 4)
    i, j = np.triu_indices(6, 1)
    I[j, i] *= 1 + 1e-12
    internal_forces(far, I)


def broken(change):
    o = Particles([1, 1, 1], [(0, 0, 0), (1, 0, 0), (0, 2, 0)])
    I = np.zeros((3, 3, 3))
    I[0, 1], I[1, 0] = (4, 0, 0), (-4, 0, 0)
    change(I)
    return o, I


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda I: I.__setitem__((2, 2), (0, 0, -7)),
            r"I\[2, 2\] = \(0, 0, -7\) N: mass 2 would exert a force on itself. Rule 1 of definition 3.2",
        ),
        (
            lambda I: I.__setitem__((1, 0), (0, 0, 0)),
            r"I\[0, 1\] = \(4, 0, 0\) N, but I\[1, 0\] = \(0, 0, 0\) N: the forces between masses 0 and 1 are not "
            r"opposite. Rule 3 of definition 3.2: .* A force on one of them only is external",
        ),
        (
            lambda I: (I.__setitem__((0, 2), (0, 3, 1)), I.__setitem__((2, 0), (0, -3, -1))),
            r"I\[0, 2\] = \(0, 3, 1\) N is not along x_2 - x_0 = \(0, 2, 0\) m: 1 N are perpendicular to "
            r"it. Rule 2 of definition 3.2",
        ),
        (lambda I: I.__setitem__((0, 2), (np.nan, 0, 0)), r"I\[0, 2\] = \(nan, 0, 0\) N is not a finite force"),
    ],
)
def test_what_is_not_an_internal_force_matrix_is_rejected(change, message):
    with pytest.raises(ValueError, match=message):
        internal_forces(*broken(change))


def test_rounding_of_a_large_force_does_not_hide_a_small_violation():
    o, I = broken(lambda I: (I.__setitem__((0, 1), (4e9 + 1, 0, 0)), I.__setitem__((1, 0), (-4e9, 0, 0))))
    internal_forces(o, I)
    I[0, 2] = (0, 0.1, 0)
    with pytest.raises(ValueError, match=r"I\[0, 2\] = \(0, 0.1, 0\) N, but I\[2, 0\] = \(0, 0, 0\) N"):
        internal_forces(o, I)


def test_a_force_between_masses_at_one_position_is_rejected():
    o = Particles([1, 1], [(1, 2, 3), (1, 2, 3)])
    I = np.zeros((2, 2, 3))
    I[0, 1], I[1, 0] = (1, 0, 0), (-1, 0, 0)
    with pytest.raises(ValueError, match=r"I\[0, 1\] = \(1, 0, 0\) N is not along x_1 - x_0 = \(0, 0, 0\) m"):
        internal_forces(o, I)


def test_shapes_are_checked():
    o = make_object(1, 3)
    with pytest.raises(ValueError, match=r"of 3 masses, .* must have shape \(3, 3, 3\) \[N\]; got \(2, 2, 3\)"):
        internal_forces(o, np.zeros((2, 2, 3)))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (2, 2)], r"pair 1, \(2, 2\), joins mass 2 to itself, .*rule 1"),
        ([(0, 3)], r"pair 0, \(0, 3\), names a mass that does not exist; there are 0 to 2"),
        ([(0, -1)], r"pair 0, \(0, -1\), names a mass that does not exist"),
        ([(0.0, 1.0)], r"pairs must be integers of shape \(e, 2\), .*; got an array of float64 of shape \(1, 2\)"),
        ([0, 1], r"pairs must be integers of shape \(e, 2\)"),
    ],
)
def test_what_is_not_a_pair_is_rejected(pairs, message):
    with pytest.raises(ValueError, match=message):
        central_forces(make_object(1, 3), pairs, 1.0)
