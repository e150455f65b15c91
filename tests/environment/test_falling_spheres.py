"""Check cases of NASA (TM-2015-218675): a sphere that falls or is shot, as a point mass under our Earth and air."""

import csv
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt

PLACES = [parent / "shared/refdata/flight/nesc" for parent in Path(__file__).parents]
REFERENCE = next((place for place in PLACES if place.is_dir()), None)
FOOT, SLUG = 0.3048, 14.593902937206364
AREA, DRAG = 0.1963495 * FOOT**2, 0.1  # m^2, and the coefficient
ROUND = {"model": "sphere", "gravity": "central"}

# The Earth, drag, height [ft] and velocity north, east, down [ft/s] at the start; then what is reached [ft, ft/s].
CASES = {
    "01": ({}, 0.0, 30e3, (0, 0, 0), 1e-5, 1e-6),
    "04": ({**ROUND, "rotating": False}, DRAG, 30e3, (0, 0, 0), 1e-4, 5e-5),
    "05": (ROUND, DRAG, 30e3, (0, 0, 0), 1e-4, 5e-5),
    "09": ({}, DRAG, 0.0, (0, 1000, -1000), 0.01, 5e-4),
    "10": ({}, DRAG, 0.0, (1000, 0, -1000), 0.01, 5e-4),
}


def flight(earth, CD, h=0.01):
    """The kernel that advances p_I, v_I (6,) of a point mass by half a second, RK4."""
    air = pt.US76()

    def rate(y):
        p, v = y[:3], y[3:]
        drag = 0.0
        if CD:
            relative = earth.velocity_in_air(p, v)
            flow = pt.air_data(relative, air.at(earth.height(p)))
            drag = 0.5 * flow.air.density * flow.airspeed * AREA * CD / SLUG * relative
        return np.concatenate([v, earth.gravitation(p) - drag])

    def step(_, y):
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))

    return pt.kernel("(6)->(6)")(lambda y: pt.fori_loop(round(0.5 / h), step, y))


@pytest.mark.skipif(REFERENCE is None, reason="NASA's check cases are not here")
@pytest.mark.parametrize("case", CASES)
def test_check_cases(case):
    options, CD, height, velocity, feet, feet_per_second = CASES[case]
    earth = pt.Earth(**options)
    with (REFERENCE / f"Atmos_{case}_sim_04.csv").open() as file:
        rows = list(csv.DictReader(file))
    want_p, want_v = (
        np.array([[float(row[f"ei{what}_{axis}"]) for axis in "XYZ"] for row in rows])
        for what in ("Position_ft", "Velocity_ft_s")
    )
    p_E = earth.ecef(0.0, 0.0, height * FOOT)
    y = np.concatenate(earth.to_inertial(p_E, earth.ned(p_E) @ (np.array(velocity) * FOOT)))
    advance, states = flight(earth, CD), [y]
    for _ in rows[1:]:
        states.append(advance(states[-1]))
    got = np.array(states) / FOOT
    np.testing.assert_allclose(got[:, :3], want_p, rtol=0, atol=feet + 5e-5)  # printed to 1e-4 ft
    np.testing.assert_allclose(got[:, 3:], want_v, rtol=0, atol=feet_per_second)
    heights = np.array([float(row["altitudeMsl_ft"]) for row in rows])
    np.testing.assert_allclose(earth.height(got[:, :3] * FOOT) / FOOT, heights, rtol=0, atol=feet)
