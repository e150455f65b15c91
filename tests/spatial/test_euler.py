"""Roll, pitch and yaw."""

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from spatial_strategies import law, rotation_vectors, same, vectors

from poinsot.spatial import euler, quaternion, rotation

turn = st.floats(-np.pi, np.pi)
all_angles = st.tuples(turn, st.floats(-np.pi / 2, np.pi / 2), turn).map(np.array)
away_from_lock = st.tuples(turn, st.floats(-1.5, 1.5), turn).map(np.array)


@law(angles=all_angles)
def test_the_sequence_is_yaw_then_pitch_then_roll_about_moving_axes(angles):
    roll, pitch, yaw = angles
    R = euler.to_matrix(angles)
    same(R, Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix())
    same(quaternion.to_matrix(euler.to_quaternion(angles)), R)


def test_the_signs_with_x_forward_and_z_up():
    # A positive yaw turns the nose to the left, a positive pitch lowers it, a positive roll lifts the left side.
    same(euler.to_matrix([0.0, 0.0, np.pi / 2]) @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    same(euler.to_matrix([0.0, np.pi / 2, 0.0]) @ [1.0, 0.0, 0.0], [0.0, 0.0, -1.0])
    same(euler.to_matrix([np.pi / 2, 0.0, 0.0]) @ [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])


@law(angles=away_from_lock)
def test_from_matrix_undoes_to_matrix(angles):
    back = euler.from_matrix(euler.to_matrix(angles))
    difference = (back - angles + np.pi) % (2 * np.pi) - np.pi  # -pi and pi are one angle
    same(difference, 0.0, 1e-13)  # rounding over cos(1.5) = 0.07


@law(phi=rotation_vectors)
def test_from_matrix_gives_every_rotation_back(phi):
    R = rotation.exp(phi)
    angles = euler.from_matrix(R)
    assert abs(angles[1]) <= np.pi / 2
    same(euler.to_matrix(angles), R)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1e-15 - np.pi / 2, np.pi / 2 - 1e-6])
def test_from_matrix_gives_the_rotation_back_at_gimbal_lock(pitch):
    for roll, yaw in np.random.default_rng(3).uniform(-np.pi, np.pi, size=(50, 2)):
        R = euler.to_matrix([roll, pitch, yaw])
        same(euler.to_matrix(euler.from_matrix(R)), R)
    R = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # exact, so that the yaw is arctan2(0, 0)
    same(euler.to_matrix(euler.from_matrix(R)), R)


@law(angles=away_from_lock, omega_B=vectors())
def test_rates_and_omega_are_inverse(angles, omega_B):
    same(euler.omega(angles, euler.rates(angles, omega_B)), omega_B, 1e-13)


@law(angles=all_angles, rates=vectors())
def test_omega_is_the_angular_velocity(angles, rates):
    h = 1e-30
    R, Rdot = euler.to_matrix(angles), euler.to_matrix(angles + 1j * h * rates).imag / h
    same(R.T @ Rdot, rotation.skew(euler.omega(angles, rates)))


def test_rates_are_infinite_only_at_lock():
    assert np.abs(euler.rates([0.3, np.pi / 2, 0.0], [0.1, 0.2, 0.3])).max() > 1e15


def test_batches_are_loops():
    angles, omega = np.random.default_rng(4).uniform(-1.5, 1.5, size=(2, 6, 3))
    same(euler.to_matrix(angles), [euler.to_matrix(a) for a in angles], 1e-15)
    same(euler.to_quaternion(angles), [euler.to_quaternion(a) for a in angles], 1e-15)
    R = euler.to_matrix(angles)
    same(euler.from_matrix(R), [euler.from_matrix(a) for a in R], 1e-15)
    for f in (euler.rates, euler.omega):
        same(f(angles, omega), [f(a, b) for a, b in zip(angles, omega, strict=True)], 1e-15)
        assert f(angles, omega[0]).shape == f(angles[0], omega).shape == (6, 3)
