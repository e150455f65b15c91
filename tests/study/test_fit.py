"""Fits: inertial parameters and aerodynamic derivatives from noisy motion, with a covariance that is right."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.study import FitError

TRUE = pt.Inertia(3.0, (0.02, -0.03, 0.05), [[0.08, 0.004, -0.003], [0.004, 0.1, 0.005], [-0.003, 0.005, 0.06]])
TEN = ["box.mass", "box.com", "box.moment"]
SIGMA = {"box.position": 1e-3, "box.angular_velocity": 2e-3}
STEP, EVERY, DURATION = 0.01, 0.05, 2.0


def tumbling(inertia):
    """A body pushed at a point and turned by known forces that change with time."""
    world = pt.World((0, 0, 0))
    box = world.add_body("box", inertia, velocity=(0.1, 0.2, 0.0), angular_velocity=(1.0, -0.7, 0.5))

    def push(t, scene):
        return np.stack([2.0 * np.cos(3 * t), 3.0 * np.sin(2 * t), 1.5 + 0 * t])

    world.add_force("push", box, push, point=(0.2, 0.1, -0.1), axes="body")
    world.add_torque(
        "turn", box, lambda t, scene: 0.1 * np.stack([np.sin(5 * t), np.cos(4 * t), np.sin(3 * t + 1)]), axes="body"
    )
    return world


@pytest.fixture(scope="module")
def clean():
    """The positions and rates of the true body, without noise."""
    run = tumbling(TRUE).simulate(DURATION, STEP, method="rk4", every=EVERY, record=["position", "angular_velocity"])
    return {"time": run.time, **{f"box.{k}": run.data[k].values[:, 0] for k in ("position", "angular_velocity")}}


@pytest.fixture(scope="module")
def guess():
    return tumbling(pt.Inertia(2.5, (0, 0, 0), np.diag([0.07, 0.09, 0.07])))


def noisy(clean, seed):
    rng = np.random.default_rng(seed)
    return {"time": clean["time"], **{k: clean[k] + s * rng.normal(size=clean[k].shape) for k, s in SIGMA.items()}}


def true_values(names):
    world = tumbling(TRUE)
    return np.array([float(world[name]) for name in names])


def repeated(world, clean, seeds):
    """How far the fits of noise are from the truth: in sigmas (s, 10), and in the norm of the covariance (s,)."""
    off, norms, spreads = [], [], []
    for seed in seeds:
        found = world.fit(noisy(clean, seed), TEN, sigma=SIGMA, step=STEP, method="rk4")
        d = found.values - true_values(found.parameters)
        off.append(d / found.sigma)
        norms.append(d @ np.linalg.solve(found.covariance, d))
        spreads.append(found.spread)
    return np.array(off), np.array(norms), np.array(spreads)


def test_ten_inertial_parameters_from_a_noisy_tumble(clean, guess):
    found = guess.fit(noisy(clean, 0), TEN, sigma=SIGMA, step=STEP, method="rk4")
    assert len(found.parameters) == 10
    assert np.abs((found.values - true_values(found.parameters)) / found.sigma).max() < 3
    assert found.spread == pytest.approx(1.0, abs=0.15)
    assert found["box.mass"] == pytest.approx(3.0, abs=3 * found.sigma[0])
    assert found.fitted_world["box.mass"] == found["box.mass"]
    assert "well determined" in str(found)
    assert found.data.sizes["parameter"] == 10


def test_without_noise_the_numbers_come_back_to_rounding(clean, guess):
    found = guess.fit(clean, TEN, step=STEP, method="rk4")
    np.testing.assert_allclose(found.values, true_values(found.parameters), rtol=1e-8, atol=1e-9)


def test_the_covariance_is_that_of_repeats(clean, guess):
    """Of 40 repeats; the norm d^T C^-1 d has the mean 10 and the variance 20 of chi-squared."""
    off, norms, spreads = repeated(guess, clean, range(100, 140))
    assert abs(norms.mean() - 10) < 4 * np.sqrt(20 / 40)
    assert np.abs(off.mean(axis=0)).max() < 4 / np.sqrt(40)
    assert spreads.mean() == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
def test_the_covariance_is_right_over_a_thousand_repeats(clean, guess):
    off, norms, spreads = repeated(guess, clean, range(1000, 2000))
    assert abs(norms.mean() - 10) < 4 * np.sqrt(20 / 1000)
    assert np.abs(off.mean(axis=0)).max() < 4 / np.sqrt(1000)
    np.testing.assert_allclose(off.std(axis=0), 1.0, atol=4 / np.sqrt(2000))
    np.testing.assert_allclose(np.mean(np.abs(off) < 3), 0.9973, atol=0.002)
    assert spreads.mean() == pytest.approx(1.0, abs=0.004)


def test_aerodynamic_derivatives_from_a_flight():
    """A pulse of the elevator; lift slope, static stability, damping and the elevator's power."""
    names = [f"plane.aero.coefficients.{k}" for k in ("CL_alpha", "Cm_alpha", "Cmq", "Cm_elevator")]
    true = np.array([4.6, -0.9, -12.0, -1.2])

    def plane(values):
        world = pt.World(air=pt.US76())
        world.add_input("elevator", 0.0)
        start = pt.Start(altitude=1000.0, airspeed=60.0, alpha=0.03, flight_path=0.0)
        body = world.add_body("plane", pt.Inertia(1100.0, (0, 0, 0), np.diag([1285.0, 1825.0, 2667.0])), start=start)
        derivatives = {k.rpartition(".")[2]: x for k, x in zip(names, values, strict=True)}
        coefficients = {"CL": 0.3, "CD": 0.04, "Cm": 0.03, **derivatives}
        inputs = {"elevator": pt.Input("elevator")}
        body.add(
            pt.Aero("aero", coefficients=coefficients, axes="wind", area=16.2, span=10.9, chord=1.5, inputs=inputs)
        )
        return world

    def pulse(t):
        return 0.03 * np.sin(2.5 * t)

    run = plane(true).simulate(3.0, 0.01, every=0.02, inputs={"elevator": pulse}, record=["alpha", "angular_velocity"])
    rng, sigma = np.random.default_rng(5), {"alpha": 1e-3, "angular_velocity": 2e-3}
    data = run.data.map(lambda x: x + sigma[x.name] * rng.normal(size=x.shape))
    world = plane(true * [0.8, 0.7, 1.4, 0.8])
    found = world.fit(data, names, sigma=sigma, inputs={"elevator": pulse}, step=0.01, method=run.settings["method"])
    assert np.abs((found.values - true) / found.sigma).max() < 3
    assert found.sigma[0] / 4.6 < 0.05


def test_numbers_that_cannot_be_told_apart_are_named():
    """Of a free rotation the scale of the moments does not show, nor does the mass."""
    world = pt.World((0, 0, 0))
    moment = np.diag([0.02, 0.017, 0.009])
    world.add_body("box", pt.Inertia(2.0, (0, 0, 0), moment), angular_velocity=(1.0, 0.3, 0.2))
    data = {"time": np.arange(20) * 0.1, "box.angular_velocity": np.zeros((20, 3))}
    diagonal = [f"box.moment[{k},{k}]" for k in range(3)]
    with pytest.raises(FitError, match=r"do not tell box.moment\[0,0\], box.moment\[1,1\], box.moment\[2,2\] apart"):
        world.fit(data, diagonal, step=0.01, method="rk4")
    with pytest.raises(FitError, match=r"do not depend on box.mass"):
        world.fit(data, ["box.mass", "box.moment[0,0]"], step=0.01, method="rk4")


def test_data_that_the_model_does_not_explain_are_told(clean, guess):
    """Millimetres for metres give a mass that looks well determined."""
    wrong = {**clean, "box.position": 1e3 * clean["box.position"]}
    with pytest.warns(UserWarning, match="times what sigma says: the model does not explain the data"):
        guess.fit(wrong, ["box.mass"], sigma=SIGMA, step=STEP, method="rk4")


def test_numbers_that_no_world_can_have_are_told():
    """A torque of which the data know only 0.4 makes one moment larger than the sum of the others."""

    def turning(torque):
        world = pt.World((0, 0, 0))
        box = world.add_body("box", pt.Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)))
        world.add_torque("turn", box, lambda t, scene: np.stack([torque, 0 * t, 0 * t]))
        return world

    run = turning(0.4).simulate(1.0, 0.01, method="rk4", every=0.1, record=["angular_velocity"])
    with pytest.warns(UserWarning, match="no world can have the numbers that fit best"):
        found = turning(1.0).fit(run.data, ["box.moment[0,0]"], step=0.01, method="rk4")
    assert found.values[0] == pytest.approx(0.25)


def test_what_was_not_measured_is_left_out(clean, guess):
    """Gaps, as NaN, do not shift the numbers."""
    holes = {"time": clean["time"], **{name: clean[name].copy() for name in SIGMA}}
    holes["box.position"][3:9], holes["box.angular_velocity"][::2, 1] = np.nan, np.nan
    found = guess.fit(holes, TEN, step=STEP, method="rk4")
    np.testing.assert_allclose(found.values, true_values(found.parameters), rtol=1e-8, atol=1e-9)


MISTAKES = {
    "path": ({"parameters": ["box.mas"]}, ValueError, "did you mean 'box.mass'"),
    "none": ({"parameters": []}, ValueError, "name the numbers to be fitted"),
    "twice": ({"parameters": ["box.mass", "box.mass"]}, ValueError, "named twice"),
    "no time": ({"data": {"box.position": np.zeros((3, 3))}}, ValueError, "dict with 'time'"),
    "times alone": ({"data": {"time": np.arange(3.0)}}, ValueError, "times alone"),
    "shape": ({"data": {"time": np.arange(3.0), "box.position": np.zeros(3)}}, ValueError, r"shape \(3,\); \(3, 3\)"),
    "quantity": ({"data": {"time": np.arange(3.0), "box.positon": np.zeros(3)}}, ValueError, "did you mean 'position'"),
    "off the steps": ({"step": 0.03}, ValueError, "not a whole multiple of the step"),
    "backwards": ({"data": {"time": [1.0, 0.5], "box.position": np.zeros((2, 3))}}, ValueError, "must increase"),
    "sigma": ({"sigma": 0.0}, ValueError, "sigma of 'box.position' must be above zero"),
    "sigma of what": ({"sigma": {"box.positon": 1.0}}, ValueError, "which is not in the data; did you mean"),
    "bounds": ({"bounds": {"box.mas": (0, 1)}}, ValueError, "which is not fitted; did you mean 'box.mass'"),
    "outside": ({"bounds": {"box.mass": (0, 1)}}, ValueError, "must lie within its bounds"),
    "infinite": (
        {"data": {"time": np.arange(3.0), "box.position": np.full((3, 3), np.inf)}},
        ValueError,
        r"infinite at \[0, 0\]",
    ),
    "complex": ({"data": {"time": np.arange(3.0), "box.position": np.zeros((3, 3)) * 1j}}, ValueError, "real numbers"),
    "text": ({"data": {"time": np.arange(2.0), "box.position": ["a", "b"]}}, ValueError, "real numbers"),
    "nothing": (
        {"data": {"time": np.arange(3.0), "box.position": np.full((3, 3), np.nan)}},
        FitError,
        "from 0 measurements",
    ),
    "tolerance": ({"tolerance": 0.0}, ValueError, "tolerance must be a number from 1e-15"),
    "one bound": ({"bounds": {"box.mass": 3.0}}, ValueError, "a pair of numbers per path"),
    "sigma as text": ({"sigma": "small"}, ValueError, "must be above zero, a number or an array"),
    "least sigma": ({"sigma": 1e-300}, ValueError, "must be above zero"),
    "few": ({"data": {"time": [0.0], "box.position": np.zeros((1, 3))}}, FitError, "cannot be told from 3"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake, clean, guess):
    changed, error, words = MISTAKES[mistake]
    asked = {"data": clean, "parameters": TEN, "step": STEP, "method": "rk4"} | changed
    with pytest.raises(error, match=words):
        guess.fit(**asked)
