"""Controllers in the loop: zero-order hold, delay and multirate sampling against exact sampled systems."""

import numpy as np
import pytest
from scipy.linalg import expm

import poinsot as pt

A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 1.0])  # x'' = u


def cart(*elements, x=1.0, v=0.0):
    """A mass of 1 kg on a rail, pushed by the signal "law.out": RK4 integrates it exactly between samples."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("cart", pt.Inertia.sphere(mass=1.0, radius=0.1), joint=pt.prismatic((1, 0, 0)), q=x, v=v)
    for element in elements:
        world.add(element)
    world.add_motor("push", "cart", pt.Signal("law.out"))
    return world


def held(sample):
    """The exact motion over a time with u held: x := F x + G u."""
    M = expm(np.block([[A, B[:, None]], [np.zeros((1, 3))]]) * sample)
    return M[:2, :2], M[:2, 2]


def phases(run):
    return np.stack([run.data.q[:, 0], run.data.v[:, 0]], axis=1)


def near(run, exact):
    np.testing.assert_allclose(phases(run), exact, rtol=0, atol=1e-14 * np.abs(exact).max())


def pd(t, x, v):
    return -3.0 * x - 2.0 * v


STATE = {"x": "cart.q[0]", "v": "cart.v[0]"}


def test_zero_order_hold():
    run = cart(pt.Controller("law", pd, STATE, sample=0.1)).simulate(4.0, 0.02, every=0.1)
    (F, G), x, exact = held(0.1), np.array([1.0, 0.0]), [np.array([1.0, 0.0])]
    for _ in range(40):
        x = F @ x + G * pd(0, *x)
        exact.append(x)
    near(run, np.array(exact))


@pytest.mark.parametrize("delay", [0.04, 0.1, 0.16, 0.2, 0.34])
def test_delay_of_samples_and_of_parts_of_them(delay):
    run = cart(pt.Controller("law", pd, STATE, sample=0.1, delay=delay)).simulate(3.0, 0.02, every=0.02)
    (F, G), x, exact, taken = held(0.02), np.array([1.0, 0.0]), [np.array([1.0, 0.0])], []
    late = round(delay / 0.02)
    for k in range(150):
        if k % 5 == 0:
            taken.append((k + late, pd(0, *x)))
        u = [value for at, value in taken if at <= k]
        x = F @ x + G * (u[-1] if u else 0.0)
        exact.append(x)
    near(run, np.array(exact))


def multirate():
    """A filter of the position at 50 Hz, and a law at 10 Hz with an integral that takes it, but was added before it."""

    def law(t, seen, v, integral):
        return -3.0 * seen - 2.0 * v - 0.5 * integral, {"integral": integral + 0.1 * seen}

    def smooth(t, x, old):
        return {"seen": 0.7 * old + 0.3 * x}, {"old": 0.7 * old + 0.3 * x}

    slow = pt.Controller("law", law, {"seen": "filter.seen", "v": "cart.v[0]"}, sample=0.1, states={"integral": 0.0})
    fast = pt.Controller("filter", smooth, {"x": "cart.q[0]"}, "seen", sample=0.02, states={"old": 0.0})
    return cart(slow, fast)


def test_multirate_sampling():
    run = multirate().simulate(4.0, 0.01, every=0.01)
    (F, G), x, old, integral, exact = held(0.01), np.array([1.0, 0.0]), 0.0, 0.0, [np.array([1.0, 0.0])]
    for k in range(400):
        if k % 2 == 0:
            old = 0.7 * old + 0.3 * x[0]
        if k % 10 == 0:
            u, integral = -3.0 * old - 2.0 * x[1] - 0.5 * integral, integral + 0.1 * old
        x = F @ x + G * u
        exact.append(x)
    near(run, np.array(exact))


def test_sample_times_do_not_drift_in_long_runs():
    """10^5 samples of 1 ms: none is lost, and none taken twice."""
    run = cart(pt.Controller("law", pd, STATE, sample=1e-3)).simulate(100.0, 1e-3, every=10.0)
    np.testing.assert_array_equal(run.data["law.taken"], np.arange(11) * 10_000 + 1)


def test_batches_have_the_bits_of_single_runs():
    world = multirate()
    batch = world.simulate(2.0, 0.01, vary={"cart.q[0]": [0.5, 1.0, 2.0]}, every=0.5)
    single = world.simulate(2.0, 0.01, vary={"cart.q[0]": [1.0]}, every=0.5)
    assert np.array_equal(batch.data.q[:, 1], single.data.q[:, 0])


def test_continuous_law_with_a_state():
    """A PI law: x' and the integral by the matrix exponential."""

    def law(t, x, v, integral):
        return -3.0 * x - 2.0 * v - integral, {"integral": x}

    run = cart(pt.Controller("law", law, STATE, states={"integral": 0.2})).simulate(4.0, 1e-3, every=0.1)
    M = np.array([[0, 1, 0], [-3, -2, -1], [1, 0, 0.0]])
    exact = np.array([expm(M * t) @ [1, 0, 0.2] for t in run.time])
    np.testing.assert_allclose(phases(run), exact[:, :2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.data["law.integral"], exact[:, 2], rtol=0, atol=1e-12)


def test_a_law_is_evaluated_only_when_it_is_due():
    """The code of a sampled law is in a loop that is entered only then: it is not in the step itself."""
    calls = []

    def law(t, x, v):
        calls.append(t)
        return pd(t, x, v)

    world = cart(pt.Controller("law", law, STATE, sample=0.1))
    system = world.system()
    state = system.settle(0.0, system.start())
    calls.clear()
    for k in range(1, 11):
        state = system.settle(0.02 * k, state)
    np.testing.assert_allclose(calls, [0.1, 0.2])


def test_sampled_law_sees_accelerations():
    """An output that follows from accelerations can be sampled, though no force may depend on it at once."""
    world = pt.World(gravity=(0, 0, -2.0))
    world.add_particle("ball", 3.0)
    tip = pt.Inertia.sphere(mass=1.0, radius=0.1)
    world.add_body("rod", pt.Pose(p=(0, 0, -1)) @ tip, joint=pt.revolute((0, 1, 0)), q=0.3)
    world.add(pt.Cut("cut", "rod"))
    world.add(pt.Controller("load", lambda t, axial: axial, {"axial": "cut.axial"}, sample=0.1))
    run = world.simulate(1.0, 0.01, every=0.1)
    np.testing.assert_allclose(run.data["load.out"], run.data["cut.axial"], rtol=1e-12)
    world.add_force("no", "ball", lambda t, scene: np.array([1.0, 0, 0]) * scene.signal("cut.axial"))
    with pytest.raises(ValueError, match=r"follows from accelerations.*Sample it"):
        world.simulate(1.0, 0.01)


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match=r"sample of Controller 'law' is 0\.01 s.*the nearest is 0\.009 s"):
        cart(pt.Controller("law", pd, STATE, sample=0.01)).simulate(3.0, 0.003)
    with pytest.raises(ValueError, match=r"delay of Controller 'law' is 0.015 s"):
        cart(pt.Controller("law", pd, STATE, sample=0.1, delay=0.015)).simulate(3.0, 0.01)
    with pytest.raises(ValueError, match=r"has a delay of 0.1 s, but no sample time"):
        pt.Controller("law", pd, STATE, delay=0.1)
    with pytest.raises(ValueError, match="must be a time above zero"):
        pt.Controller("law", pd, STATE, sample=0)
    with pytest.raises(ValueError, match="must be a function, not 3"):
        pt.Controller("law", 3)
    with pytest.raises(ValueError, match="both an input and a state called 'x'"):
        pt.Controller("law", pd, STATE, states={"x": 0.0})
    with pytest.raises(ValueError, match="gives the output 'out' with shape"):
        cart(pt.Controller("law", lambda t, x, v: np.zeros(2), STATE, sample=0.1)).system()
    with pytest.raises(ValueError, match="gives the output 'ou', which it has not; did you mean 'out'"):
        cart(pt.Controller("law", lambda t, x, v: {"ou": x}, STATE, sample=0.1)).system()
    with pytest.raises(ValueError, match="does not give the state 'i'"):
        cart(pt.Controller("law", lambda t, i: (i, {}), sample=0.1, states={"i": 0.0})).system()
    with pytest.raises(ValueError, match="takes no samples"):
        cart(pt.Controller("law", pd, STATE, sample=0.1)).simulate(1.0, method="adaptive")


def test_a_sample_time_can_be_set_again():
    world = cart(pt.Controller("law", pd, STATE, sample=0.1))
    world.simulate(1.0, 0.01)
    world["law.sample"] = 0.05
    assert world.simulate(1.0, 0.01).data["law.taken"][-1] == 21
    assert "law.sample" not in world.paths()


def test_samples_in_a_world_that_is_stepped_from_outside_and_in_a_run_that_goes_on():
    world = multirate()
    whole = world.simulate(2.0, 0.01, every=0.02)
    sim = world.stepper(step=0.01, control_period=0.02, observe=["q", "law.taken"])
    seen = [sim.reset()] + [sim.step() for _ in range(100)]
    np.testing.assert_allclose(np.array(seen)[:, 0], whole.data.q[:, 0], rtol=0, atol=1e-14)
    first = world.simulate(0.73, 0.01)
    assert np.array_equal(first.continue_(1.27).data.q[-1], whole.data.q[-1])
    with pytest.raises(ValueError, match="the nearest is"):
        world.stepper(step=0.03)


def test_names_and_shapes_that_cannot_be():
    with pytest.raises(ValueError, match="'t' is the time; rename the input or state of controller 'c'"):
        pt.Controller("c", lambda t: 0.0, states={"t": 0.0})
    with pytest.raises(ValueError, match="controller 'c' has no output"):
        pt.Controller("c", lambda t: 0.0, outputs=())
    with pytest.raises(ValueError, match=r"kp of QuaternionFeedback 'q' must have shape .* not \(2,\)"):
        pt.QuaternionFeedback("q", kp=[1.0, 2.0])
    with pytest.raises(ValueError, match="kd of QuaternionFeedback 'q' must be finite"):
        pt.QuaternionFeedback("q", kd=np.nan)
    with pytest.raises(ValueError, match="kp of PID 'p' must be finite"):
        pt.PID("p", kp=np.nan)
