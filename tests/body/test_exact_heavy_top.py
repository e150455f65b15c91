"""The heavy top: against the equations of motion, against a published benchmark, and by the laws that it obeys."""

from typing import Any

import numpy as np
import pytest
from exact_oracle import top
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from poinsot.body.exact import HeavyTop, SymmetricTop, steady_precession
from poinsot.spatial import quaternion, rotation

ROUNDING = 2e-14  # some dozens of roundings
UP, DOWN, LEVEL = np.eye(4)[0], np.eye(4)[1], np.array([1, 1, 0, 0]) / np.sqrt(2)

numbers = st.one_of(st.floats(-2, 2, allow_subnormal=False), st.sampled_from([0.0, 1.0, -1.0, 1e-9, -1e-14]))
vectors = st.tuples(numbers, numbers, st.one_of(numbers, st.floats(-20, 20))).map(np.array)
orientations = st.tuples(numbers, numbers, numbers, numbers).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1)
orientations = orientations.map(quaternion.normalize)
tops = st.builds(
    HeavyTop,
    transverse=st.sampled_from([1.0, 2.0, 0.7]),
    axial=st.sampled_from([0.5, 1.0, 1.3]),
    mgl=st.sampled_from([1.0, 2.0, 0.0, -1.0, 3.3]),
    q0=orientations,
    omega0=vectors,
)


def law(examples: int = 60, **strategies: Any) -> Any:
    """A test that must hold for all examples of the strategies."""
    return lambda test: settings(max_examples=examples, deadline=None)(given(**strategies)(test))


def moments(body: HeavyTop) -> np.ndarray:
    return np.array([body.transverse, body.transverse, body.axial])


# Against the equations of motion.


@law(examples=20, body=tops)
def test_against_integration(body):
    I = moments(body)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, omega = y[:4], y[4:]
        up = quaternion.rotate(quaternion.conjugate(q / np.linalg.norm(q)), [0, 0, 1])
        torque = np.cross([0, 0, body.mgl], -up)
        return np.concatenate([quaternion.derivative(q, omega), (torque - np.cross(omega, I * omega)) / I])

    start = np.concatenate([body.q0, body.omega0])
    end = solve_ivp(rate, (0, 2.5), start, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    np.testing.assert_allclose(body.orientation(2.5), end[:4], atol=1e-9)
    np.testing.assert_allclose(body.angular_velocity(2.5), end[4:], atol=2e-8)


CASES = {
    "cusps": (2, 1, 3, LEVEL, (0, 0, 10)),
    "loops": (2, 1, 3, LEVEL, (0.3, -1, 8)),
    "no gravity": (2, 1, 0, LEVEL, (0.3, -1, 8)),
    "centre of mass below": (2, 1, -3, LEVEL, (0.3, -1, 8)),
    "sleeping, fast enough": (2, 1, 3, UP, (0, 0, 6)),
    "sleeping, too slow": (2, 1, 3, UP, (0, 0, 1)),
    "waking up": (2, 1, 3, UP, (1e-9, 0, 1)),
    "through the vertical": (2, 1, 3, UP, (1, 0.3, 2)),
    "close by the vertical": (2, 1, 3, quaternion.normalize([1, 1e-9, 2e-9, 0.3]), (1, 0.5, 3)),
    "through the lowest point": (2, 1, 3, DOWN, (1, 0.3, 2)),
    "pendulum": (2, 1, 3, LEVEL, (0.5, 0, 0)),
    "pendulum over the top": (2, 1, 3, DOWN, (5, 0.3, 0)),
    "pendulum on the separatrix": (2, 1, 2, DOWN, (2, 0, 0)),
    "spinning on the separatrix": (2, 1, 5, LEVEL, (2, 1, 2)),
    "spherical pendulum close to the plane": (2, 1, 3, LEVEL, (0, 1e-9, 0)),
    "steady precession": (1, 1, 1, LEVEL, (0, 1, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_accuracy(case):
    """Against Taylor series in 30 digits: errors are of the order of rounding, whatever the regime."""
    A, C, mgl, q0, omega0 = CASES[case]
    body = HeavyTop(A, C, mgl, q0, np.array(omega0, dtype=float))
    q, omega = top((A, A, C), body.q0, body.omega0, 2.0, mgl)
    error = max(np.abs(body.orientation(2.0) - q).max(), np.abs(body.angular_velocity(2.0) - omega).max())
    turned = 1.0 + 2.0 * (np.linalg.norm(body.omega0) + np.sqrt(abs(mgl) / A))
    print(f"heavy top, {case}: {error:.1e} after 2 s, {error / turned:.1e} per radian")
    assert error < 1e-15 * turned


# The heavy top of Bruels and Cardona: m = 15 kg, its centre of mass at y = 1 m in the body, its moments there
# (0.234375, 0.46875, 0.234375) kg m^2, g = 9.81 m/s^2, omega = (0, 150, -4.61538) rad/s. Rows: t; x; q_WB; omega_B. The
# first three are integrated with DOP853 at 1e-12, the last two published with Kynema (MIT), from steps of 2e-6 s.
BENCHMARK = [
    (0.2, (0.6055505613753024, 0.5989576817958094, -0.523983027431086),
     (-0.7082791529745516, 0.4387810881263122, 0.5457283961455155, 0.08939975282283905),
     (-2.6915909121213333, 150.0, 4.917260989905835)),
    (1.0, (0.17334396409526354, 0.6400885920666207, -0.7484907911376808),
     (0.732943980682, -0.27828571934272966, 0.5318246113290872, -0.3201761427348845),
     (-0.8220781018106312, 150.0, -5.923291348107274)),
    (2.0, (-0.15041682275347962, -0.7241655916399221, -0.6730222695554358),
     (0.12294713504349077, -0.4910798925663643, 0.3504300303407751, -0.7879868875412643),
     (0.12223321924892666, 150.0, -5.855624589183481)),
]  # fmt: skip
KYNEMA = [
    (1.0, (0.1733440435722807, 0.6400887012666343, -0.7484906793466106),
     (0.7329439942283007, -0.2782856278135421, 0.5318246439927058, -0.3201761370231893)),
    (2.0, (-0.1504168894608856, -0.7241654846852867, -0.6730223697288009),
     (0.1229471344095339, -0.4910798717314375, 0.3504301068655838, -0.7879868665928781)),
]  # fmt: skip


def test_the_heavy_top_of_bruels_and_cardona():
    q_BP = quaternion.exp([-np.pi / 2, 0, 0])  # our z axis is the benchmark's y axis
    omega0 = quaternion.rotate(quaternion.conjugate(q_BP), [0.0, 150.0, -4.61538])
    body = HeavyTop(0.234375 + 15.0, 0.46875, 15.0 * 9.81, q_BP, omega0)

    def state(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q_WP = body.orientation(t)
        q_WB = quaternion.product(q_WP, quaternion.conjugate(q_BP))
        return quaternion.rotate(q_WP, [0, 0, 1]), q_WB, quaternion.rotate(q_BP, body.angular_velocity(t))

    for t, *expected in BENCHMARK:
        for ours, theirs, tolerance in zip(state(t), expected, (1e-9, 1e-9, 1e-8), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=tolerance)
    for t, *expected in KYNEMA:
        for ours, theirs in zip(state(t), expected, strict=False):
            np.testing.assert_allclose(ours, theirs, atol=2e-7)


# The laws that the motion obeys.


@law(body=tops, t=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_energy_and_momenta_are_conserved(body, t):
    q, omega, I = body.orientation(t), body.angular_velocity(t), moments(body)
    kinetic, height = 0.5 * np.sum(I * omega**2, axis=-1), quaternion.rotate(q, [0, 0, 1])[..., 2]
    scale = 0.5 * I @ body.omega0**2 + abs(body.mgl)
    np.testing.assert_allclose(kinetic + body.mgl * height, body.energy, atol=ROUNDING * scale)
    L_z = quaternion.rotate(q, I * omega)[..., 2]
    np.testing.assert_allclose(L_z, body.vertical_momentum, atol=ROUNDING * np.sqrt(2 * scale * I.max()))
    np.testing.assert_array_equal(omega[..., 2], body.omega0[2])
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, rtol=ROUNDING)


def test_accuracy_of_conserved_quantities():
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(100):
        A, C, mgl, q0 = *rng.uniform(0.3, 3, 2), rng.normal(), quaternion.normalize(rng.normal(size=4))
        body = HeavyTop(A, C, mgl, q0, 3 * rng.normal(size=3))
        t = rng.uniform(-1e6, 1e6, 50)
        q, omega, I = body.orientation(t), body.angular_velocity(t), moments(body)
        energy = 0.5 * np.sum(I * omega**2, axis=-1) + mgl * quaternion.rotate(q, [0, 0, 1])[:, 2]
        L_z = quaternion.rotate(q, I * omega)[:, 2]
        worst = max(worst, np.abs(energy - body.energy).max() / (0.5 * I @ body.omega0**2 + abs(mgl)))
        worst = max(worst, np.abs(L_z - body.vertical_momentum).max() / np.linalg.norm(I * body.omega0))
    print(f"heavy top, 100 of them up to 1e6 s: E and L_z kept to {worst:.1e}")
    assert worst < 1e-14


@law(body=tops, t1=st.floats(-5, 5), t2=st.floats(-5, 5))
def test_composition(body, t1, t2):
    """The state at t1, t2 later, is the state at t1 + t2; the rounding of the state grows near the vertical."""
    assume(body._nutation.band.mc > 0.1)
    later = HeavyTop(body.transverse, body.axial, body.mgl, body.orientation(t1), body.angular_velocity(t1))
    np.testing.assert_allclose(later.orientation(t2), body.orientation(t1 + t2), atol=1e-11)
    np.testing.assert_allclose(later.angular_velocity(t2), body.angular_velocity(t1 + t2), atol=1e-10)


@law(body=tops)
def test_it_starts_at_the_initial_state(body):
    np.testing.assert_allclose(body.orientation(0.0), body.q0, atol=ROUNDING)
    np.testing.assert_allclose(body.angular_velocity(0.0), body.omega0, atol=ROUNDING)


@law(body=tops)
def test_euler_angles_are_those_of_the_orientation(body):
    t = np.linspace(-3, 3, 13)
    phi, theta, psi = np.moveaxis(body.euler_angles(t), -1, 0)
    R = rotation.about_z(phi) @ rotation.about_x(theta) @ rotation.about_z(psi)
    np.testing.assert_allclose(R, quaternion.to_matrix(body.orientation(t)), atol=1e-13)
    low, high = body.tilts
    tilt = np.arccos(np.clip(R[:, 2, 2], -1, 1))
    assert np.all(tilt > low - 1e-7)
    assert np.all(tilt < high + 1e-7)


def test_the_tilt_returns_after_a_period():
    body = HeavyTop(2, 1, 3, LEVEL, [0.3, -1, 8])
    theta = body.euler_angles(np.arange(4) * body.period)[:, 1]
    np.testing.assert_allclose(theta, theta[0], rtol=1e-14)
    many = body.euler_angles(np.linspace(0, body.period, 100_001))[:, 1]
    np.testing.assert_allclose([many.min(), many.max()], body.tilts, atol=1e-8)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("tilt", [0.3, 1.0, 2.5])
def test_steady_precession(which, tilt):
    A, C, mgl, spin = 2.0, 1.0, 3.0, 10.0
    rate = steady_precession(A, C, mgl, tilt, spin)[which]
    body = HeavyTop.from_euler(A, C, mgl, (0.1, tilt, 0.2), (rate, 0, spin - rate * np.cos(tilt)))
    t = np.linspace(-5, 5, 11)
    phi, theta, psi = np.moveaxis(body.euler_angles(t), -1, 0)
    np.testing.assert_allclose(theta, tilt, rtol=1e-14)
    np.testing.assert_allclose(phi, 0.1 + rate * t, atol=1e-12)
    np.testing.assert_allclose(psi, 0.2 + (spin - rate * np.cos(tilt)) * t, atol=1e-12)


def test_without_gravity_it_is_free():
    t = np.linspace(-20, 20, 9)
    q0, omega0 = quaternion.normalize([0.3, 0.5, 0.1, 0.7]), [1.0, -0.4, 3.0]
    heavy, free = HeavyTop(2, 1, 0, q0, omega0), SymmetricTop(2, 1, q0, omega0)
    np.testing.assert_allclose(heavy.orientation(t), free.orientation(t), atol=ROUNDING)
    np.testing.assert_allclose(heavy.angular_velocity(t), free.angular_velocity(t), atol=1e-13)


def test_a_pendulum():
    """Released at rest at an angle of 0.8, it has the period 4 K(sin(0.4)) sqrt(A / mgl)."""
    body = HeavyTop.from_euler(2.0, 1.0, 3.0, (0, np.pi - 0.8, 0), (0, 0, 0))
    assert 2 * body.period == pytest.approx(4 * ellipk(np.sin(0.4) ** 2) * np.sqrt(2 / 3), rel=1e-14)
    phi, theta, _ = np.moveaxis(body.euler_angles(np.linspace(0, 2 * body.period, 9)), -1, 0)
    np.testing.assert_allclose(phi, phi[0])  # in one plane, through the lowest point
    np.testing.assert_allclose(theta[::2] - np.pi, [-0.8, 0, 0.8, 0, -0.8], atol=1e-13)


def test_the_separatrix_leads_to_the_vertical():
    for case in ("pendulum on the separatrix", "spinning on the separatrix"):
        body = HeavyTop(*CASES[case])
        assert body.period == np.inf
        np.testing.assert_allclose(np.cos(body.euler_angles([-30.0, 30.0])[:, 1]), 1.0, rtol=1e-15)


def test_the_quaternion_does_not_jump():
    for A, C, mgl, q0, omega0 in CASES.values():
        body = HeavyTop(A, C, mgl, q0, np.array(omega0, dtype=float))
        t = np.linspace(-15, 15, 6001)
        assert np.abs(np.diff(body.orientation(t), axis=0)).max() < 0.06


def test_from_euler_rates():
    body = HeavyTop.from_euler(2, 1, 3, (0.1, 1.2, -0.4), (0.5, -0.6, 7.0))
    h = 1e-5
    after, before = body.euler_angles(h), body.euler_angles(-h)
    np.testing.assert_allclose((after - before) / (2 * h), [0.5, -0.6, 7.0], atol=1e-8)
    np.testing.assert_allclose(body.euler_angles(0), [0.1, 1.2, -0.4], atol=1e-14)


def test_times_of_any_shape():
    for omega0 in ([1, 2, 3], [0, 0, 3]):
        body = HeavyTop(2, 1, 3, UP, omega0)
        for shape in ((), (0,), (2, 3)):
            assert body.orientation(np.ones(shape)).shape == (*shape, 4)
            assert body.angular_velocity(np.ones(shape)).shape == (*shape, 3)
            assert body.euler_angles(np.ones(shape)).shape == (*shape, 3)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"transverse = 0 kg m\^2 must be positive"):
        HeavyTop(0, 1, 3, UP, [0, 0, 1])
    with pytest.raises(ValueError, match="mgl holds nan"):
        HeavyTop(2, 1, np.nan, UP, [0, 0, 1])
    with pytest.raises(ValueError, match="q0 is not a unit quaternion"):
        HeavyTop(2, 1, 3, [1, 1, 0, 0], [0, 0, 1])
    with pytest.raises(
        ValueError, match=r"spin = 2 rad/s does not precess steadily at tilt = 0.5 rad: it needs at least"
    ):
        steady_precession(2, 1, 3, 0.5, 2)


def test_rates_whose_squares_underflow_count_as_zero():
    top = HeavyTop(1.0, 0.5, 0.0, (0.0, 1e-9, 0.0, 1.0), (2.2250738585072014e-308, 0.0, 0.0))
    np.testing.assert_allclose(top.orientation([0.0, 1.0, 1e6]), np.tile(top.q0, (3, 1)), atol=1e-15)
