"""The free tops: against the equations of motion, against published figures, and by the laws that they obey."""

from typing import Any

import numpy as np
import pytest
from exact_oracle import free_top_after, top
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from poinsot.body.exact import FreeTop, SymmetricTop
from poinsot.spatial import Inertia, quaternion, rotation

ROUNDING = 2e-14  # some dozens of roundings
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])

numbers = st.one_of(st.floats(-2, 2, allow_subnormal=False), st.sampled_from([0.0, 1.0, -1.0, 1e-9, -1e-14, 1e-200]))
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
orientations = st.tuples(numbers, numbers, numbers, numbers).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1)
orientations = orientations.map(quaternion.normalize)
moments = st.one_of(
    st.tuples(*[st.floats(0.5, 1.0)] * 3),
    st.tuples(*[st.sampled_from([0.5, 0.5 + 1e-15, 0.5 + 1e-9, 0.50001, 0.7, 0.99, 1.0 - 1e-12, 1.0])] * 3),
).map(np.array)


def law(examples: int = 60, **strategies: Any) -> Any:
    """A test that must hold for all examples of the strategies."""
    return lambda test: settings(max_examples=examples, deadline=None)(given(**strategies)(test))


def integrated(I: np.ndarray, q0: np.ndarray, omega0: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """q and omega at the time t, from Euler's equations and the kinematics of the quaternion."""

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        omega = y[4:]
        return np.concatenate([quaternion.derivative(y[:4], omega), np.linalg.solve(I, np.cross(I @ omega, omega))])

    end = solve_ivp(rate, (0, t), np.concatenate([q0, omega0]), method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return end[:4], end[4:]


# Against the equations of motion.


@law(examples=30, I=moments, q0=orientations, omega0=vectors, turned=orientations)
def test_against_integration(I, q0, omega0, turned):
    R = quaternion.to_matrix(turned)
    tensor = R @ np.diag(I) @ R.T
    tensor = 0.5 * (tensor + tensor.T)
    exact = FreeTop(tensor, q0, omega0)
    q, omega = integrated(tensor, q0, omega0, 4.0)
    np.testing.assert_allclose(exact.angular_velocity(4.0), omega, atol=1e-9)
    np.testing.assert_allclose(exact.orientation(4.0), q, atol=1e-9)


CASES = {
    "around the greatest": ((3, 5, 7), (1, 0.4, 1)),
    "around the least": ((7, 3, 5), (0.1, 1, 0.4)),
    "a long flip": ((3, 5, 7), (1e-9, 1, 1e-9)),
    "on the separatrix": ((1, 2, 2.25), (1.5, 0.3, 2)),
    "next to the separatrix": ((1, 2, 2.25), (1.5, 0.3, np.nextafter(2, 3))),
    "oblate": ((2, 2, 3), (1, 0.4, 0.5)),
    "prolate": ((3, 2, 3), (1, 0.4, 0.5)),
    "nearly oblate, across its axis": ((2, 2 + 1e-15, 3), (1, 0.4, 1e-15)),
    "nearly a ball": ((2, 2 + 1e-12, 2 + 3e-12), (1, 0.4, 0.1)),
    "a needle": ((1e-2, 1, 1.005), (1, 0.1, 0.2)),
    "a tumbling needle": ((1e-2, 1, 1.005), (1e-3, 0.1, 0.2)),
    "near the separatrix": ((3, 5, 7), (0.5, 1, 0.355)),
    "nearly about the greatest": ((2, 3, 4), (1e-9, 0, 1)),
    "nearly about the least": ((2, 3, 4), (1, 1e-200, 1e-150)),
}


@pytest.mark.parametrize("case", CASES)
def test_accuracy(case):
    """Against Taylor series in 30 digits: errors are of the order of rounding, whatever the regime."""
    I, omega0 = (np.array(x, dtype=float) for x in CASES[case])
    q, omega = top(I, UNTURNED, omega0, 5.0)
    exact = FreeTop(I, UNTURNED, omega0)
    error = max(np.abs(exact.orientation(5.0) - q).max(), np.abs(exact.angular_velocity(5.0) - omega).max())
    print(f"free top, {case}: {error:.1e} after 5 s")
    assert error < 4e-15


@pytest.mark.parametrize("case", ["around the greatest", "around the least", "near the separatrix"])
def test_accuracy_after_a_million_periods(case):
    """Only the rounding of the phase is left, about 1e-16 of the angle of rotation."""
    I, omega0 = (np.array(x, dtype=float) for x in CASES[case])
    exact = FreeTop(I, UNTURNED, omega0)
    t = 1e6 * exact.period
    q, omega = free_top_after(I, UNTURNED, omega0, t)
    same = exact.orientation(t) * np.sign(exact.orientation(t) @ q)
    error = max(np.abs(same - q).max(), np.abs(exact.angular_velocity(t) - omega).max())
    turned = np.linalg.norm(omega0) * t
    print(f"free top, {case}: {error:.1e} after a million periods, {error / turned:.1e} per radian")
    assert error < 3e-16 * turned


# t, omega_B, q_WB of a body with I = (3, 5, 9), L = (0, 2, 0.01) at t = 0, about to flip. omega from elliptic functions
# in 30 digits, q by DOP853, good to 4e-11. The set-up is that of a test of Principia's Euler solver.
DZHANIBEKOV = """
10, -0.01184969858355837, 0.3998420015195139, 0.004963580091167273
    -0.4161071830590032, -0.004474011168121772, 0.909161532556509, 0.01612771373346664
30, -0.4194174993493512, -0.04098859738492237, 0.1712300821350571
    0.6442750174770285, -0.4194107642261634, -0.1856260122239777, -0.6120026930431138
59, -3.285621912525495e-05, -0.3999999987855275, 0.001111192072996579
    0.0006220157870120719, -0.1195056909246334, 2.764020074379789e-06, -0.9928333208174205
100, 0.06969808760992528, 0.3944970962189294, 0.02847581085731136
    0.9729650346545038, -0.0717137290801049, -0.2164463177190828, 0.03670386828435777
"""


def test_the_dzhanibekov_effect():
    table = np.array(DZHANIBEKOV.replace(",", " ").split(), dtype=float).reshape(4, 8)
    t, omega, q = table[:, 0], table[:, 1:4], table[:, 4:]
    exact = FreeTop([3, 5, 9], UNTURNED, np.array([0, 2, 0.01]) / [3, 5, 9])
    np.testing.assert_allclose(exact.angular_velocity(t), omega, atol=2e-15)
    np.testing.assert_allclose(exact.orientation(t), q, atol=2e-10)


# The laws that the motion obeys.


@law(I=moments, q0=orientations, omega0=vectors, t=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_energy_and_momentum_are_conserved(I, q0, omega0, t):
    body = FreeTop(I, q0, omega0)
    omega, q = body.angular_velocity(t), body.orientation(t)
    np.testing.assert_allclose(0.5 * np.sum(I * omega**2, axis=-1), body.energy, rtol=ROUNDING)
    L = np.broadcast_to(body.angular_momentum, omega.shape)
    np.testing.assert_allclose(quaternion.rotate(q, I * omega), L, atol=ROUNDING * np.abs(L).max())
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, rtol=ROUNDING)


def test_accuracy_of_conserved_quantities():
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(100):
        I, omega0, q0 = rng.uniform(0.5, 1, 3), rng.normal(size=3), quaternion.normalize(rng.normal(size=4))
        body, t = FreeTop(I, q0, omega0), rng.uniform(-1e6, 1e6, 50)
        omega = body.angular_velocity(t)
        L = quaternion.rotate(body.orientation(t), I * omega)
        worst = max(worst, np.abs(0.5 * np.sum(I * omega**2, axis=-1) / body.energy - 1).max())
        worst = max(worst, np.abs(L - body.angular_momentum).max() / np.linalg.norm(body.angular_momentum))
    print(f"free top, 100 of them up to 1e6 s: E and L kept to {worst:.1e}")
    assert worst < 1e-14


@law(I=moments, q0=orientations, omega0=vectors)
def test_it_starts_at_the_initial_state(I, q0, omega0):
    body = FreeTop(I, q0, omega0)
    np.testing.assert_allclose(body.orientation(0.0), q0, atol=ROUNDING)
    np.testing.assert_allclose(body.angular_velocity(0.0), omega0, atol=ROUNDING)


@law(I=moments, q0=orientations, omega0=vectors, t1=st.floats(-20, 20), t2=st.floats(-20, 20))
def test_composition(I, q0, omega0, t1, t2):
    """The state at t1, t2 later, is the state at t1 + t2; the rounding of the state grows near the separatrix."""
    body = FreeTop(I, q0, omega0)
    assume(abs(body.side) > 1e-4 or np.ptp(I) == 0.0)
    later = FreeTop(I, body.orientation(t1), body.angular_velocity(t1))
    tolerance = 1e-12 / min(1.0, abs(body.side) or 1.0)
    np.testing.assert_allclose(later.angular_velocity(t2), body.angular_velocity(t1 + t2), atol=tolerance)
    np.testing.assert_allclose(later.orientation(t2), body.orientation(t1 + t2), atol=tolerance)


@law(I=moments, q0=orientations, omega0=vectors, t=st.floats(-100, 100), axes=st.integers(0, 23))
@example(I=np.array([0.5, 0.7, 1.0]), q0=UNTURNED, omega0=np.array([1.0, 1e-9, 0.3]), t=3.0, axes=7)
def test_axes_may_be_renamed(I, q0, omega0, t, axes):
    """Each of the 24 permutations of the axes gives the same motion."""
    R_BA = np.eye(3)[:, np.roll([[0, 1, 2], [2, 1, 0]][axes % 2], axes // 8)]
    R_BA = R_BA * [(-1) ** (axes // 2), (-1) ** (axes // 4), 1]
    R_BA[:, 2] *= np.linalg.det(R_BA)
    body = FreeTop(I, q0, omega0)
    renamed = FreeTop(R_BA.T @ np.diag(I) @ R_BA, quaternion.product(q0, quaternion.from_matrix(R_BA)), R_BA.T @ omega0)
    np.testing.assert_allclose(renamed.angular_velocity(t), body.angular_velocity(t) @ R_BA, atol=ROUNDING)
    R_WA, R_WB = quaternion.to_matrix(renamed.orientation(t)), quaternion.to_matrix(body.orientation(t))
    np.testing.assert_allclose(R_WA, R_WB @ R_BA, atol=5e-14)


def test_it_is_continuous_across_the_separatrix():
    """Neighbours diverge by the factor exp(rate t), and not faster."""
    t = np.linspace(-6, 6, 25)
    on = FreeTop([1, 2, 2.25], UNTURNED, [1.5, 0.3, 2])
    assert on.side == 0.0
    assert on.period == np.inf
    rate = 2.0 * np.sqrt(1.25 * 0.25 / 2) * 2  # of the exponentials, from above
    for nudge in (2.0**-52, -(2.0**-52), 1e-12, -1e-12, 1e-7, -1e-7):
        near = FreeTop([1, 2, 2.25], UNTURNED, [1.5, 0.3, 2 * (1 + nudge)])
        assert near.side * nudge > 0.0
        apart = np.abs(near.angular_velocity(t) - on.angular_velocity(t)).max(axis=-1)
        turned = np.abs(near.orientation(t) - on.orientation(t)).max(axis=-1)
        assert np.all(apart < 20 * abs(nudge) * np.exp(rate * np.abs(t)) + 1e-14)
        assert np.all(turned < 20 * abs(nudge) * np.exp(rate * np.abs(t)) + 1e-14)


def test_the_separatrix_leads_to_the_intermediate_axis():
    body = FreeTop([1, 2, 2.25], UNTURNED, [1.5, 0.3, 2])
    end = body.angular_velocity([-100.0, 100.0])
    speed = np.sqrt(2 * body.energy / 2)
    np.testing.assert_allclose(end, [[0, -speed, 0], [0, speed, 0]], atol=ROUNDING)


def test_the_quaternion_does_not_jump():
    for I, omega0 in CASES.values():
        body = FreeTop(np.array(I, dtype=float), UNTURNED, np.array(omega0, dtype=float))
        t = np.linspace(-60, 60, 6001)
        assert np.abs(np.diff(body.orientation(t), axis=0)).max() < 0.05


@pytest.mark.parametrize("I", [(2, 3, 4), (2, 2, 3), (2, 3, 3), (2, 2, 2)])
@pytest.mark.parametrize("omega0", [(1, 0, 0), (0, -2, 0), (0, 0, 0.5), (0, 0, 0)])
def test_steady_rotation(I, omega0):
    body = FreeTop(I, UNTURNED, omega0)
    t = np.linspace(-50, 50, 11)
    np.testing.assert_array_equal(body.angular_velocity(t), np.broadcast_to(omega0, (11, 3)))
    R = rotation.exact(np.array(omega0, dtype=float), t)
    np.testing.assert_allclose(quaternion.to_matrix(body.orientation(t)), R, atol=ROUNDING)
    assert body.period == np.inf


def test_period():
    body = FreeTop([3, 5, 7], UNTURNED, [1, 0.4, 0.1])
    np.testing.assert_allclose(body.angular_velocity(np.arange(5) * body.period), np.tile([1, 0.4, 0.1], (5, 1)))
    half = body.angular_velocity(body.period / 2)
    np.testing.assert_allclose(half, [1, -0.4, -0.1])  # the polhode circles x: half a revolution


# The symmetric top, and bodies given otherwise.


@law(A=st.floats(0.5, 1), C=st.floats(0.5, 1), q0=orientations, omega0=vectors, t=st.floats(-50, 50))
def test_symmetric_top_is_a_free_top(A, C, q0, omega0, t):
    simple, general = SymmetricTop(A, C, q0, omega0), FreeTop([A, A, C], q0, omega0)
    np.testing.assert_allclose(simple.angular_velocity(t), general.angular_velocity(t), atol=1e-13)
    np.testing.assert_allclose(simple.orientation(t), general.orientation(t), atol=1e-13)
    np.testing.assert_allclose(simple.angular_momentum, general.angular_momentum, atol=ROUNDING)
    assert simple.energy == pytest.approx(general.energy, rel=ROUNDING)


def test_symmetric_top_is_a_limit():
    t = np.linspace(0, 30, 7)
    limit = SymmetricTop(2, 3, UNTURNED, [1, 0.2, 0.7])
    for small in (1e-5, 1e-9):
        near = FreeTop([2 + small, 2, 3], UNTURNED, [1, 0.2, 0.7])
        np.testing.assert_allclose(near.orientation(t), limit.orientation(t), atol=40 * small)


def test_symmetric_top_rates():
    body = SymmetricTop(2, 3, UNTURNED, [1, 0.2, 0.7])
    turn = 2 * np.pi / body.body_rate
    np.testing.assert_allclose(body.angular_velocity(turn), [1, 0.2, 0.7])
    axes = quaternion.rotate(body.orientation(2 * np.pi / body.precession_rate * np.arange(3)), [0, 0, 1])
    np.testing.assert_allclose(axes, np.tile(axes[0], (3, 1)), atol=ROUNDING)


def test_inertia_in_any_axes():
    R = rotation.exp([0.3, -1.0, 0.5])
    inertia = Inertia(2.0, (1, 2, 3), R @ np.diag([2.0, 3.0, 4.0]) @ R.T)
    q0, omega = quaternion.exp([0.1, 0.2, -0.7]), np.array([1.0, 0.2, 0.3])
    q0_P = quaternion.product(q0, quaternion.from_matrix(R))
    turned, straight = FreeTop(inertia, q0, omega), FreeTop([2, 3, 4], q0_P, R.T @ omega)
    np.testing.assert_allclose(turned.angular_velocity(7.0), R @ straight.angular_velocity(7.0), atol=1e-14)
    np.testing.assert_allclose(turned.angular_momentum, straight.angular_momentum, atol=1e-14)
    R_WB, R_WP = quaternion.to_matrix(turned.orientation(7.0)), quaternion.to_matrix(straight.orientation(7.0))
    np.testing.assert_allclose(R_WB, R_WP @ R.T, atol=1e-14)


def test_times_of_any_shape():
    for body in (FreeTop([2, 3, 4], UNTURNED, [1, 2, 3]), FreeTop([2, 3, 4], UNTURNED, [1, 0, 0])):
        for shape in ((), (0,), (2,), (2, 3)):
            assert body.orientation(np.ones(shape)).shape == (*shape, 4)
            assert body.angular_velocity(np.ones(shape)).shape == (*shape, 3)
    assert SymmetricTop(1, 2, UNTURNED, [1, 2, 3]).orientation(np.ones((2, 3))).shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("I", "q0", "omega0", "t", "message"),
    [
        ([1, 2, 0], UNTURNED, [1, 0, 0], 0, "principal moment 0 kg m.2; all must be positive"),
        ([1, 2], UNTURNED, [1, 0, 0], 0, r"inertia has shape \(2,\); give an Inertia"),
        ([[1, 2, 0], [0, 1, 0], [0, 0, 1]], UNTURNED, [1, 0, 0], 0, "inertia is not symmetric"),
        ([1, 2, 2], [1, 1, 0, 0], [1, 0, 0], 0, "q0 is not a unit quaternion: its length is 1.41421"),
        ([1, 2, 2], [1, 0, 0], [1, 0, 0], 0, r"q0 = \[1, 0, 0\] has shape \(3,\); it needs the shape \(4,\)"),
        ([1, 2, 2], UNTURNED, [1, np.nan, 0], 0, "omega0 holds nan; every number must be finite"),
        ([1, 2, 2], UNTURNED, "fast", 0, "omega0 = 'fast' must be numbers"),
        ([1, 2, 2], UNTURNED, [1, 0, 0], [0, np.inf], "t holds inf; every number must be finite"),
    ],
)
def test_errors_say_what_is_wrong(I, q0, omega0, t, message):
    with pytest.raises(ValueError, match=message):
        FreeTop(I, q0, omega0).orientation(t)


def test_a_symmetric_top_needs_moments():
    with pytest.raises(ValueError, match=r"axial = -1 kg m\^2 must be positive"):
        SymmetricTop(1, -1, UNTURNED, [1, 0, 0])
