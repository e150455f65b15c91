"""Rotation matrices and rotation vectors."""

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.linalg import expm, polar
from scipy.spatial.transform import Rotation
from spatial_strategies import EDGE_ANGLES, ROUNDING, axes, law, rotation_vectors, same, vectors

from poinsot.spatial import rotation
from poinsot.spatial.rotation import exact, exp, left_jacobian, left_jacobian_inverse, log, orthonormalise, skew, unskew

EDGES = np.array([angle * axis for angle in EDGE_ANGLES for axis in (*np.eye(3), np.array([2.0, -3.0, 6.0]) / 7.0)])


@law(a=vectors(), b=vectors())
def test_skew_is_the_cross_product(a, b):
    same(skew(a) @ b, np.cross(a, b))
    same(skew(a).T, -skew(a), 0.0)
    same(unskew(skew(a)), a, 0.0)
    same(unskew(np.outer(b, b)), 0.0, 0.0)  # the symmetric part does not contribute


@law(phi=rotation_vectors)
def test_exp_is_a_rotation_and_the_matrix_exponential(phi):
    R = exp(phi)
    same(R.T @ R, np.eye(3))
    same(np.linalg.det(R), 1.0)
    same(R @ phi, phi)
    same(R, Rotation.from_rotvec(phi).as_matrix())
    same(R, expm(skew(phi)))


def test_exp_is_the_exact_rotation_of_peskin():
    Omega, dt = np.array([0.3, -1.2, 2.0]), 0.7
    n, E = Omega / np.linalg.norm(Omega), np.eye(3)
    P, theta = np.outer(n, n), np.linalg.norm(Omega) * dt
    same(exact(Omega, dt), P + np.cos(theta) * (E - P) + np.sin(theta) * skew(n))  # (52)


@law(Omega=vectors(), t=st.floats(-2.0, 2.0))
def test_exact_rotation_solves_its_differential_equation(Omega, t):
    h = 1e-30
    Rdot = exact(Omega, np.array(t + 1j * h)).imag / h
    same(Rdot, skew(Omega) @ exact(Omega, t))  # Peskin (54): dR/dt = omega* R


@law(phi=rotation_vectors, a=st.floats(-2.0, 2.0), b=st.floats(-2.0, 2.0))
def test_rotations_about_one_axis_are_a_group(phi, a, b):
    same(exp(a * phi) @ exp(b * phi), exp((a + b) * phi))
    same(exp(-phi), exp(phi).T, 0.0)
    same(exp(0.0 * phi), np.eye(3), 0.0)


@law(phi=rotation_vectors)
def test_log_undoes_exp(phi):
    back = log(exp(phi))
    assert np.linalg.norm(back) <= np.pi + ROUNDING
    same(exp(back), exp(phi))
    if np.linalg.norm(phi) < np.pi - 1e-12:  # at pi, -phi is equivalent
        same(back, phi)


@pytest.mark.parametrize("phi", EDGES)
def test_log_undoes_exp_at_the_edges(phi):
    back = log(exp(phi))
    if np.linalg.norm(phi) >= np.pi:
        back = back * np.sign(np.dot(back, phi))
    np.testing.assert_allclose(back, phi, rtol=1e-15, atol=8e-16 * np.linalg.norm(phi))  # relative, down to 1e-300


@law(phi=rotation_vectors)
def test_log_agrees_with_scipy(phi):
    R = exp(phi)
    theirs = Rotation.from_matrix(R).as_rotvec()
    same(log(R) if np.dot(log(R), theirs) >= 0.0 else -log(R), theirs)


def test_log_of_rotations_by_pi_finds_the_axis():
    for R in (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, 1.0, -1.0]), np.diag([-1.0, -1.0, 1.0])):
        same(np.abs(log(R)), np.pi * (np.diag(R) > 0), 1e-15)


@law(phi=rotation_vectors, d=vectors(3, 1.0))
def test_left_jacobian_is_the_derivative_of_exp(phi, d):
    h = 1e-30
    dR = exp(phi + 1j * h * d).imag / h
    same(dR @ exp(phi).T, skew(left_jacobian(phi) @ d), 5e-14)
    same(left_jacobian(phi) @ left_jacobian_inverse(phi), np.eye(3))


def test_left_jacobian_is_the_mean_rotation():
    phi = np.array([0.4, -2.0, 1.1])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    mean = np.einsum("k,kij->ij", weights / 2, exp((nodes[:, None] + 1) / 2 * phi))
    same(left_jacobian(phi), mean)


@law(phi=rotation_vectors, noise=vectors(9, 0.2))
def test_orthonormalise_finds_the_nearest_rotation(phi, noise):
    A = exp(phi) + noise.reshape(3, 3)
    R = orthonormalise(A)
    same(R, polar(A)[0])
    same(orthonormalise(R), R, 1e-15)
    same(R.T @ R, np.eye(3), 1e-15)


def test_orthonormalise_handles_far_matrices_and_removes_drift_in_two_iterations():
    R = exp([1.0, 2.0, -0.5])
    stretch = np.diag([50.0, 1.0, 0.02])
    same(orthonormalise(R @ stretch), R)
    same(
        orthonormalise(R + 1e-6 * np.arange(9.0).reshape(3, 3), iterations=2),
        orthonormalise(R + 1e-6 * np.arange(9.0).reshape(3, 3)),
        1e-15,
    )


@law(axis=axes, angle=st.floats(-10.0, 10.0))
def test_rotations_about_the_axes(axis, angle):
    for about, e in zip((rotation.about_x, rotation.about_y, rotation.about_z), np.eye(3), strict=True):
        same(about(angle), exp(angle * e))


@law(n=axes)
def test_perpendicular_and_the_shortest_rotation_from_z(n):
    e = rotation.perpendicular(n)
    same([e @ n, e @ e], [0.0, 1.0])
    phi = rotation.from_z_to(3.0 * n)
    same(exp(phi)[:, 2], n)
    assert phi[2] == 0.0  # no rotation about z


def test_special_directions():
    same(rotation.perpendicular([0.0, 0.0, 1.0]), [1.0, 0.0, 0.0], 0.0)
    phi = rotation.from_z_to([[0.0, 0.0, 2.0], [0.0, 0.0, -2.0], [0.0, 0.0, 0.0]])
    same(phi, [[0.0, 0.0, 0.0], [np.pi, 0.0, 0.0], [0.0, 0.0, 0.0]], 0.0)


def test_batches_are_loops():
    phi = np.concatenate([EDGES, np.random.default_rng(1).normal(size=(40, 3))])[None]
    for f in (skew, exp, left_jacobian, left_jacobian_inverse):
        same(f(phi), [[f(x) for x in phi[0]]], 1e-15)
    R = exp(phi)
    for f in (log, unskew, orthonormalise):
        same(f(R), [[f(x) for x in R[0]]], 1e-15)
    dt = np.linspace(0.0, 1.0, 5)
    same(exact(EDGES[5], dt), [exact(EDGES[5], t) for t in dt], 0.0)
    same(exact(EDGES, 0.5), exp(0.5 * EDGES), 0.0)
    same(rotation.about_x(dt), [rotation.about_x(t) for t in dt], 0.0)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"R of base is not a rotation: R\^T R differs from the identity by 3\.0e-02"):
        rotation.check(np.eye(3) * np.sqrt(1.03), "R of base")
    with pytest.raises(ValueError, match=r"its determinant is -1, not \+1"):
        rotation.check(np.diag([1.0, 1.0, -1.0]), "R of base")
    with pytest.raises(ValueError, match="its determinant is 0"):
        orthonormalise(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="differs from the identity by nan"):
        rotation.check(np.full((3, 3), np.nan), "R of base")


def test_the_unit_matrix_cannot_be_written_to():
    """All modules share it."""
    with pytest.raises(ValueError, match="read-only"):
        rotation.E[0, 0] = 2.0
