"""Unit quaternions, scalar first."""

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from spatial_strategies import EDGE_ANGLES, law, rotation_vectors, same, vectors

from poinsot.spatial import quaternion, rotation
from poinsot.spatial.quaternion import (
    conjugate,
    exp,
    from_matrix,
    identity,
    integrate,
    log,
    normalize,
    product,
    rotate,
    to_matrix,
)

quaternions = rotation_vectors.map(exp)
lengths = st.floats(0.1, 10.0)


@law(p=quaternions, q=quaternions, r=quaternions)
def test_unit_quaternions_are_a_group(p, q, r):
    same(product(product(p, q), r), product(p, product(q, r)))
    same(product(q, identity()), q, 0.0)
    same(product(identity(), q), q, 0.0)
    same(product(q, conjugate(q)), identity())
    same(np.linalg.norm(product(p, q)), 1.0)
    same(conjugate(product(p, q)), product(conjugate(q), conjugate(p)), 1e-15)


def test_hamilton():
    one, i, j, k = np.eye(4)
    for square in (product(i, i), product(j, j), product(k, k), product(product(i, j), k)):
        same(square, -one, 0.0)


@law(p=quaternions, q=quaternions, x=vectors())
def test_the_same_rotation_in_every_form(p, q, x):
    same(rotate(q, x), to_matrix(q) @ x)
    same(rotate(q, x), product(product(q, [0.0, *x]), conjugate(q))[1:])
    same(to_matrix(product(p, q)), to_matrix(p) @ to_matrix(q))
    same(to_matrix(q), Rotation.from_quat(q, scalar_first=True).as_matrix())
    same(to_matrix(-q), to_matrix(q), 0.0)


@law(phi=rotation_vectors)
def test_exp_and_log(phi):
    q = exp(phi)
    same(np.linalg.norm(q), 1.0)
    same(to_matrix(q), rotation.exp(phi))
    same(rotation.exp(log(q)), rotation.exp(phi))
    same(log(-q), -log(q) if q[0] == 0.0 else log(q), 1e-15)  # at pi, either axis
    same(log(7.0 * q), log(q), 1e-15)  # the length does not matter


@pytest.mark.parametrize("angle", EDGE_ANGLES)
def test_log_undoes_exp_at_the_edges(angle):
    phi = angle * np.array([2.0, -3.0, 6.0]) / 7.0
    np.testing.assert_allclose(log(exp(phi)), phi, rtol=1e-15)
    q = from_matrix(to_matrix(exp(phi)))
    np.testing.assert_allclose(q * np.sign(q @ exp(phi)), exp(phi), rtol=1e-15, atol=4e-16)


@law(phi=rotation_vectors)
def test_from_matrix_is_unit_with_a_positive_scalar(phi):
    q = from_matrix(rotation.exp(phi))
    assert q[0] >= 0.0
    same(np.linalg.norm(q), 1.0, 1e-15)
    same(to_matrix(q), rotation.exp(phi))
    same(np.abs(q @ Rotation.from_matrix(rotation.exp(phi)).as_quat(scalar_first=True)), 1.0)


@law(q=quaternions, length=lengths)
def test_normalize(q, length):
    same(normalize(length * q), q, 1e-15)


@law(q=quaternions, omega=vectors())
def test_derivatives(q, omega):
    omega_W = rotate(q, omega)
    same(quaternion.derivative(q, omega), quaternion.derivative_world(q, omega_W))
    same(quaternion.derivative(q, omega) @ q, 0.0)  # the length is constant
    h, dt = 1e-30, np.array(1e-30j)
    same(integrate(q, omega, dt).imag / h, quaternion.derivative(q, omega))
    same(quaternion.integrate_world(q, omega_W, dt).imag / h, quaternion.derivative_world(q, omega_W))


@law(q=quaternions, omega=vectors(), dt=st.floats(0.0, 3.0))
def test_integrate_is_exact_for_constant_angular_velocity(q, omega, dt):
    half = integrate(q, omega, dt / 2)
    same(integrate(half, omega, dt / 2), integrate(q, omega, dt))
    same(to_matrix(integrate(q, omega, dt)), to_matrix(q) @ rotation.exact(omega, dt))
    same(to_matrix(quaternion.integrate_world(q, omega, dt)), rotation.exact(omega, dt) @ to_matrix(q))


def test_the_increment_of_de_nivelle():
    # Section 4.3 rotates q by (|w| cos |w|h/2; w sin |w|h/2) from the left. That is |w| times a unit quaternion, and on
    # the left w has to be in world axes, while the same scheme integrates it in body axes.
    q, w, h = exp([0.3, -0.8, 0.5]), np.array([0.7, 2.0, -1.0]), 0.2
    angle = np.linalg.norm(w)
    increment = np.array([angle * np.cos(angle * h / 2), *(w * np.sin(angle * h / 2))])
    same(np.linalg.norm(increment), angle)
    same(product(increment / angle, q), quaternion.integrate_world(q, w, h))
    same(product(increment / angle, q), integrate(q, rotate(conjugate(q), w), h))
    assert np.abs(product(increment / angle, q) - integrate(q, w, h)).max() > 0.1


def test_integrate_stays_unit_over_many_steps():
    q, omega = identity(), np.array([1.0, 2.0, -3.0])
    for _ in range(2000):
        q = integrate(q, omega, 0.1)
    assert abs(np.linalg.norm(q) - 1.0) < 5e-16
    same(q, exp(200.0 * omega) * np.sign(q @ exp(200.0 * omega)), 2e-12)  # 2000 roundings, all in one direction


def test_batches_are_loops():
    phi = np.random.default_rng(2).normal(size=(4, 5, 3))
    q, x = exp(phi), phi[::-1]
    same(q, [[exp(a) for a in row] for row in phi], 1e-15)
    for f in (log, to_matrix, conjugate, normalize):
        same(f(q), [[f(a) for a in row] for row in q], 1e-15)
    for f in (rotate, quaternion.derivative, quaternion.derivative_world):
        same(f(q, x), [[f(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(q, x, strict=True)], 1e-15)
        assert f(q, x[0, 0]).shape == f(q, x).shape
        assert f(q[0, 0], x).shape == f(q, x).shape
    same(from_matrix(to_matrix(q)), [[from_matrix(to_matrix(a)) for a in row] for row in q], 1e-15)
    same(integrate(q, x, np.arange(5.0))[2, 3], integrate(q[2, 3], x[2, 3], 3.0), 1e-15)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"q of plane is not a unit quaternion: its length is 2\. Use .*normalize"):
        quaternion.check(np.array([[1, 0, 0, 0], [0, 2, 0, 0]]), "q of plane")
    with pytest.raises(ValueError, match="its length is nan"):
        quaternion.check(np.array([np.nan, 0, 0, 0]), "q of plane")


@pytest.mark.parametrize("largest", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_of_the_two_quaternions_of_a_matrix_the_one_with_positive_w(largest, sign):
    """Whichever of its entries is the largest, and whatever the signs of the others."""
    rng = np.random.default_rng(largest)
    q = rng.uniform(-0.4, 0.4, (50, 4))
    q[:, largest] = sign
    q = quaternion.normalize(q)
    expected = q * np.sign(q[:, :1])
    np.testing.assert_allclose(quaternion.from_matrix(quaternion.to_matrix(q)), expected, atol=1e-15)
