"""Turbulence in a world: the statistics of the standard, reproducible noise, and what bodies meet of it."""

import itertools

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import welch

import poinsot as pt
from poinsot.control.gusts import _followed, _twice
from poinsot.environment.dryden import gust_filters, roll_filter, turbulence
from poinsot.spatial import Pose

V, SPAN, SAMPLE = 60.0, 11.0, 0.02
MODERATE = {"wind_at_6m": 12.0, "severity": "moderate", "span": SPAN}
FREE = {"orientation": (0, 1, 0, 0), "velocity": (V, 0, 0)}


def flying(height=200.0, sample=SAMPLE, **fields):
    """A body that flies straight on through turbulence that exerts no force on it."""
    world = pt.World((0, 0, 0), air=pt.US76(), wind=pt.Dryden(**{**MODERATE, "sample": sample, **fields}))
    world.add_body("plane", pt.Inertia.sphere(1.0, 1.0), position=(0, 0, height), **FREE)
    return world


@pytest.fixture(scope="module")
def runs():
    record = ["turbulence.gust", "turbulence.rates"]
    return flying().simulate(20.0, SAMPLE, every=SAMPLE, batch=3, seed=5, record=record)


def gusts_of(run):
    both = [run.data[f"turbulence.{key}"].transpose("batch", "time", ...).values for key in ("gust", "rates")]
    return np.concatenate(both, axis=-1)


def test_each_instance_has_its_own_noise_and_the_same_bits_alone(runs):
    """The third of a batch of three is the run alone with instance 2; other seeds and instances are others."""
    drawn = gusts_of(runs)
    assert np.all(np.isfinite(drawn))
    assert len(np.unique(drawn[:, 40, 0])) == 3
    alone = flying(instance=2.0).simulate(
        20.0, SAMPLE, every=SAMPLE, seed=5, record=["turbulence.gust", "turbulence.rates"]
    )
    np.testing.assert_array_equal(alone.data["turbulence.gust"].values, drawn[2, :, :3])
    np.testing.assert_array_equal(alone.data["turbulence.rates"].values, drawn[2, :, 3:])


@pytest.mark.parametrize("theta", [1e-4, 1e-2, 0.3, 2.0, 30.0])
def test_transitions_are_exact(theta):
    """Phi = exp(A theta), Q = integral of exp(A s) B B^T exp(A^T s) by van Loan; the covariance P stays as it is."""
    t, zero, one = np.array([theta]), np.zeros(1), np.ones(1)
    Phi = np.stack([np.concatenate(_twice(t, *x, zero, zero, False)) for x in ((one, zero), (zero, one))], axis=1)
    L = np.stack([np.concatenate(_twice(t, zero, zero, *x, False)) for x in ((one, zero), (zero, one))], axis=1)
    A, B, P = np.array([[-1.0, 0.0], [1.0, -1.0]]), np.diag([2.0, 0.0]), np.array([[1.0, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(Phi, expm(A * theta), atol=1e-14)
    np.testing.assert_allclose(Phi @ P @ Phi.T + L @ L.T, P, atol=1e-14)
    if theta < 10:
        whole = expm(np.block([[-A, B], [np.zeros((2, 2)), A.T]]) * theta)
        np.testing.assert_allclose(L @ L.T, Phi @ whole[:2, 2:], rtol=1e-5, atol=1e-14)


@pytest.mark.parametrize("theta", [1e-6, 0.1, 3.0, 50.0])
def test_rates_of_gusts_that_grow_evenly_are_exact(theta):
    """y' = x - y with x = 2 + 3 t has y = x - 3 + (y(0) + 1) exp(-t)."""
    got = _followed(theta, 5.0, 2.0, 2.0 + 3 * theta)
    np.testing.assert_allclose(got, 3 * theta - 1 + 6 * np.exp(-theta), rtol=1e-9)


def test_points_meet_the_gradient(runs):
    """A wing tip meets the gust of the fuselage plus rotation x arm, on any body; rates are relative to the air."""
    world = flying()
    world.add_body("tip", pt.Inertia.sphere(1.0, 0.1), "plane", placement=Pose(p=(0, 5.0, 0)))
    still = pt.World((0, 0, 0), air=pt.US76())
    still.add_body("plane", pt.Inertia.sphere(1.0, 1.0), position=(0, 0, 200.0), **FREE)
    system = world.system()
    start = system.settle(0.0, system.start())
    scene = system.scene(0.0, start)[0]
    gust, rates = scene.states["turbulence.gust"], scene.states["turbulence.rates"]
    assert np.all(gust != 0)
    calm = still.scene().air("plane").velocity
    np.testing.assert_allclose(scene.air("plane").velocity, calm - gust, atol=1e-12)
    np.testing.assert_allclose(scene.air("plane").rates, -rates, atol=1e-15)
    np.testing.assert_allclose(scene.air("tip").velocity, calm - gust - np.cross(rates, (0, 5.0, 0)), atol=1e-12)
    np.testing.assert_allclose(scene.air("plane", (0, 5.0, 0)).velocity, scene.air("tip").velocity, atol=1e-12)


def test_wrong_turbulence():
    for fields, message in (
        ({"severity": "much"}, "severity='much' of turbulence is unknown"),
        ({"severity": 0.5}, "severity=0.5 of turbulence is unknown"),
        ({"span": 0.0}, "span of turbulence 'turbulence' must be above zero"),
        ({"wind_at_6m": -1.0}, "wind_at_6m of turbulence 'turbulence' must be zero or more"),
        ({"sample": None}, "drawn at samples"),
        ({"body": "plan"}, "acts on 'plan', which is not a body"),
    ):
        with pytest.raises(ValueError, match=message):
            flying(**fields).system()
    with pytest.raises(ValueError, match="blows in no air"):
        pt.World(wind=pt.Dryden())
    with pytest.raises(ValueError, match="not a whole number of steps"):
        flying(sample=0.03).simulate(1.0, 0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("height", "sample"), [(100.0, 0.05), (5000.0, 0.05)])
def test_a_million_seconds_have_the_variance_and_the_spectra_of_the_standard(height, sample):
    """Within 2 %: variances of u, v, w, p, and spectra of all six in bands, up to 1/40 of the sampling rate."""
    batch, duration = 500, 2000.0
    world = flying(height, sample)
    run = world.simulate(
        duration,
        sample,
        every=sample,
        batch=batch,
        seed=3,
        ledger=False,
        record=["turbulence.gust", "turbulence.rates"],
    )
    drawn = gusts_of(run)[:, 1:]
    assert drawn.shape[0] * drawn.shape[1] * sample >= 1e6 - 1
    strength = turbulence(height, 12.0, "moderate")
    filters, roll = gust_filters(strength, V), roll_filter(strength, V, SPAN)
    wanted = [*strength[3:], roll.K / np.sqrt(2 * roll.T1)]
    np.testing.assert_allclose(np.std(drawn[..., :4], axis=(0, 1)) ** 2, np.square(wanted), rtol=0.02)
    f, power = welch(drawn, fs=1 / sample, nperseg=8192, axis=1, detrend=False)
    power, omega = power.mean(axis=0) / (2 * np.pi), 2 * np.pi * f
    T_q, T_r = 4 * SPAN / (np.pi * V), 3 * SPAN / (np.pi * V)
    spectra = [filters["u"], filters["v"], filters["w"], roll]
    expected = [x.spectrum(omega) for x in spectra]
    expected.append((omega / V) ** 2 / (1 + (omega * T_q) ** 2) * expected[2])
    expected.append((omega / V) ** 2 / (1 + (omega * T_r) ** 2) * expected[1])
    bands = np.geomspace(0.3, 0.025 * 2 * np.pi / sample, 5)  # higher ones have 2 % of those beyond the sampling rate
    for k, spectrum in enumerate(expected):
        for low, high in itertools.pairwise(bands):
            inside = (omega >= low) & (omega < high)
            np.testing.assert_allclose(power[inside, k].sum(), spectrum[inside].sum(), rtol=0.02)
