"""Blocks against their exact responses: transfer functions by SciPy, closed forms, and the Riccati equation."""

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import poinsot as pt


def alone(*blocks):
    """A world in which nothing moves, for blocks that are driven by functions of time."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 1.0)
    for block in blocks:
        world.add(block)
    return world


W, Z = 5.0, 0.4
FILTERS = {
    "lead": (pt.Lead, {"lead": 0.5, "lag": 0.2}, ([0.5, 1], [0.2, 1])),
    "lag": (pt.Lag, {"lag": 0.3}, ([1], [0.3, 1])),
    "washout": (pt.Washout, {"time": 0.7}, ([0.7, 0], [0.7, 1])),
    "notch": (
        pt.Notch,
        {"frequency": W, "width": Z, "depth": 0.1},
        ([1, 2 * 0.1 * Z * W, W**2], [1, 2 * Z * W, W**2]),
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_step_response_of_filters(name):
    kind, numbers, transfer = FILTERS[name]
    run = alone(kind("block", 1.0, **numbers)).simulate(2.0, 1e-3, every=0.1)
    _, exact = signal.step(transfer, T=run.time)
    np.testing.assert_allclose(run.data["block.out"], exact, atol=1e-11)


@pytest.mark.parametrize("name", FILTERS)
def test_sampled_filters_follow_tustins_rule(name):
    kind, numbers, transfer = FILTERS[name]
    run = alone(kind("block", lambda t: np.sin(3 * t), sample=0.05, **numbers)).simulate(2.0, 0.01, every=0.05)
    num, den, _ = signal.cont2discrete(transfer, 0.05, "bilinear")
    exact = signal.lfilter(np.ravel(num), den, np.sin(3 * run.time))
    np.testing.assert_allclose(run.data["block.out"], exact, atol=1e-13)


def test_notch_has_its_depth_at_its_frequency():
    block = pt.Notch("block", lambda t: np.sin(W * t), frequency=W, width=Z, depth=0.1)
    run = alone(block).simulate(20.0, 1e-3, every=0.01)
    assert abs(np.abs(run.data["block.out"][run.time > 18]).max() - 0.1) < 1e-4


def test_pid_is_its_transfer_function():
    kp, ki, kd, tau = 2.0, 0.5, 0.3, 0.05
    run = alone(pt.PID("pid", 0.0, 1.0, kp, ki, kd, smoothing=tau)).simulate(2.0, 1e-3, every=0.1)
    t = run.time
    np.testing.assert_allclose(run.data["pid.out"], kp + ki * t + kd / tau * np.exp(-t / tau), atol=1e-9)
    h = 0.02
    target = pt.Tabulated([0.0, 2.0], [0.0, 1.0])
    run = alone(pt.PID("pid", 0.0, target, kp, ki, kd, smoothing=tau, sample=h)).simulate(2.0, 0.01, every=h)
    e, z = run.time / 2, ([1, -1], [1 + tau / h, -tau / h])
    exact = kp * e + signal.lfilter([0, ki * h], [1, -1], e) + kd / h * signal.lfilter(*z, e)
    np.testing.assert_allclose(run.data["pid.out"], exact, atol=1e-13)


def test_pid_does_not_wind_up():
    """At its limit of 1 the integral stands still; when the error changes its sign, the output leaves it at once."""
    error = pt.Tabulated([0.0, 4.999999, 5.0, 6.0], [1.0, 1.0, -1.0, -1.0])
    run = alone(pt.PID("pid", 0.0, error, 0.2, 0.4, limit=1.0)).simulate(6.0, 1e-3, every=0.5)
    t, out = run.time, run.data["pid.out"]
    np.testing.assert_allclose(out[t < 5], np.minimum(0.2 + 0.4 * t[t < 5], 1.0), atol=1e-3)
    np.testing.assert_allclose(out[t > 5], 0.8 - 0.2 - 0.4 * (t[t > 5] - 5), atol=2e-3)


def test_schedule():
    block = pt.GainSchedule("gain", 2.0, lambda t: 3 * t, at=(1.0, 2.0, 4.0), gains=(1.0, 3.0, 2.0))
    run = alone(block).simulate(2.0, 0.1, every=0.1)
    np.testing.assert_allclose(run.data["gain.out"], 2 * np.interp(3 * run.time, [1, 2, 4], [1, 3, 2]), atol=1e-13)
    with pytest.raises(ValueError, match="must increase"):
        pt.GainSchedule("gain", at=(1.0, 1.0))


def test_quaternion_feedback_turns_about_one_axis():
    """With gains proportional to J: angle'' + c angle' + k sin(angle/2) = 0 about the axis of the first attitude."""
    J, k, c, axis = np.diag([2.0, 3.0, 4.0]), 1.5, 1.1, np.array([1.0, 2.0, -2.0]) / 3
    world = pt.World(gravity=(0, 0, 0))
    start = np.append(np.cos(1.0), np.sin(1.0) * axis)
    world.add_body("craft", pt.Inertia(10.0, np.zeros(3), J), orientation=start)
    signals = {"attitude": "craft.orientation", "rate": "craft.angular_velocity"}
    world.add(pt.QuaternionFeedback("law", **signals, kp=k * J, kd=c * J, inertia=J))
    world.add_torque("wheels", "craft", pt.Signal("law.torque"), axes="body")
    run = world.simulate(4.0, 2e-3, every=0.5)
    exact = solve_ivp(
        lambda t, y: [y[1], -c * y[1] - k * np.sin(y[0] / 2)],
        (0, 4),
        [2.0, 0.0],
        "DOP853",
        run.time,
        rtol=1e-12,
        atol=1e-13,
    ).y
    np.testing.assert_allclose(run.data.angular_velocity[:, 0], exact[1][:, None] * axis, atol=1e-9)
    np.testing.assert_allclose(run.data.orientation[:, 0, 1:], np.sin(exact[0] / 2)[:, None] * axis, atol=1e-9)


def pendulum_on_a_cart():
    world = pt.World()
    world.add_input("force")
    world.add_body("cart", pt.Inertia.sphere(mass=1.0, radius=0.1), joint=pt.prismatic((1, 0, 0)))
    bob = pt.Pose(p=(0, 0, 0.5)) @ pt.Inertia.sphere(mass=0.2, radius=0.05)
    world.add_body("pole", bob, "cart", pt.revolute((0, 1, 0)), q=0.1)
    return world


@pytest.mark.parametrize(
    ("linear", "error", "told"),
    [
        (np.eye(2), TypeError, r"not ndarray; write the pair in brackets: pt.lqr\(\(A, B\), Q, R\)"),
        ((np.eye(2),), TypeError, "a pair"),
        ((np.eye(2), np.ones(2)), ValueError, r"of shapes \(2, 2\) and \(2,\)"),
    ],
)
def test_lqr_says_what_it_takes(linear, error, told):
    with pytest.raises(error, match=told):
        pt.lqr(linear, np.eye(2), [[1.0]])


@pytest.mark.parametrize("sample", [None, 0.05])
def test_lqr_balances_a_pole_at_the_cost_that_it_promises(sample):
    """From `linearise`: no other gain nearby has a smaller cost, and the pole on the cart stands up."""
    world = pendulum_on_a_cart()
    world.add_motor("push", "cart", pt.Input("force"))
    linear = world.linearise(pt.State(np.zeros(2), np.zeros(2), np.zeros(0)))
    Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), np.eye(1)
    K = pt.lqr(linear, Q, R, sample)

    def cost(K):
        """The integral along the exact motion, in short steps of the trapezoidal rule."""
        h, total, x = 0.05, 0.0, np.array([0.0, 0.1, 0.0, 0.0])
        held = np.block([[linear.A, linear.B], [np.zeros((1, 5))]])
        free = np.block([[linear.A - linear.B @ K, 0 * linear.B], [-K @ (linear.A - linear.B @ K), np.zeros((1, 1))]])
        E = expm((held if sample else free) * h / 10)
        for _ in range(300):
            y = np.append(x, -K @ x)
            for _ in range(10):
                new = E @ y
                total += h / 20 * sum(z[:4] @ Q @ z[:4] + z[4] ** 2 for z in (y, new))
                y = new
            x = y[:4]
        return total

    best = cost(K)
    for k in range(4):
        step = np.zeros((1, 4))
        step[0, k] = 0.02 * K[0, k]
        assert min(cost(K + step), cost(K - step)) > best * (1 - 1e-7)
    world = pendulum_on_a_cart()
    inputs = {"x": "cart.q[0]", "th": "pole.q[0]", "v": "cart.v[0]", "w": "pole.v[0]"}
    law = pt.Controller("law", lambda t, x, th, v, w: -K @ np.stack([x, th, v, w]), inputs, {"out": [0.0]}, sample)
    world.add(law)
    world.add_motor("push", "cart", pt.Signal("law.out"))
    assert np.abs(world.simulate(15.0, 0.01).data.q[-1]).max() < 1e-3


def test_gains_can_be_varied():
    run = alone(pt.PID("pid", 0.0, 1.0, 1.0)).simulate(0.1, 0.01, vary={"pid.kp": [1.0, 2.0, 5.0]})
    np.testing.assert_array_equal(run.data["pid.out"][-1], [1.0, 2.0, 5.0])
    with pytest.raises(ValueError, match="lag of Lag 'f' must be above zero, not 0"):
        pt.Lag("f", lag=0.0)
    with pytest.raises(ValueError, match=r"input of Lag 'f' must be one number, not an array of shape \(3,\)"):
        alone(pt.Lag("f", "ball.position")).system()
