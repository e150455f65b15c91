"""The physics of examples with contact, as their scenario files have it."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from poinsot.files import load_scenario

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the ledger: blows in one step
        return load_scenario(EXAMPLES / f"{name}.toml").run().data


def test_the_cradle_passes_its_momentum_on():
    data = run("newtons-cradle")
    q = data.q.values
    out = np.argmin(q[:, -1])
    assert q[out, -1] < -0.35  # of the 30 degrees at the start; the gaps and the step take a part
    assert np.abs(q[out, :-1]).max() < 0.1 * np.pi / 6 * 2


def test_a_marble_run_loses_energy_only():
    data = run("marble-run")
    energy = data.energy.values
    assert energy[-1] < energy[0]
    assert np.diff(energy).max() < 0.02 * energy[0]
    x, y = data.position.values[..., 0], data.position.values[..., 1]
    assert np.abs(y - 0.15 * np.sin(4 * x)).max() < 0.6  # they stay in the valley
    clearance = data.position.values[..., 2] - (0.06 * (x - 1.5) ** 2 + 0.8 * (y - 0.15 * np.sin(4 * x)) ** 2)
    assert clearance.min() > 0.008


def test_the_contact_of_a_coin_runs_round_ever_faster():
    """Euler's disc: the lower it leans, the faster its axis goes round."""
    data = run("spinning-coin")
    q = data.orientation.sel(body="coin").values
    w, x, y, z = q.T
    lean = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x)], axis=1)  # its axis, as seen from above
    turn = np.unwrap(np.arctan2(lean[:, 1], lean[:, 0]))
    low = np.flatnonzero(np.linalg.norm(lean, axis=1) < 0.2)
    last = low[0] if len(low) else len(turn) - 1
    rate = np.abs(np.diff(turn)) / np.diff(data.time.values)
    quarter = last // 4
    assert np.mean(rate[3 * quarter : last]) > 1.3 * np.mean(rate[:quarter])
    height = data.position.sel(body="coin", axis="z").values
    assert height[-1] < 0.5 * height[0]


@pytest.mark.slow
def test_a_cup_is_lifted_and_does_not_slip():
    data = run("gripper")
    height = data.position.sel(axis="z")
    apart = height.sel(body="cup").values - height.sel(body="hand").values
    held = data.time.values > 0.9
    assert height.sel(body="cup").values[-1] > 0.24
    assert np.ptp(apart[held]) < 3e-4  # the stretch of the fingers' friction, as the hand speeds up


@pytest.mark.slow
def test_dominoes_fall_one_after_the_other():
    data = run("dominoes")
    turning = data.angular_velocity.sel(axis="y").values > 0.5
    starts = data.time.values[np.argmax(turning, axis=0)]
    assert np.all(np.diff(starts) > 0)
    speed = 0.025 / np.diff(starts)[-2:].mean()
    assert 0.3 < speed < 1.5  # m/s: about sqrt(g h), 0.69 m/s


@pytest.mark.slow
def test_a_stack_a_quadruped_and_a_humanoid_come_to_rest():
    for name, slow in (("stack", 1e-3), ("quadruped", 1e-3), ("humanoid", 1e-3)):
        assert np.abs(run(name).velocity.values[-1]).max() < slow
