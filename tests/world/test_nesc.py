"""NASA's check cases: spheres and bricks that fall, tumble and are shot (1-5, 9, 10), a trimmed F-16 (11).

And worlds like those of cases 13, 15 and 16, for whose figures there is no reference: an F-16 with NASA's autopilot."""

import numpy as np
import pytest
from nesc_cases import CASES, FOOT, REFERENCE, columns, reference, world_of, worst
from nesc_f16 import EARTH, KNOT, MEASURED, PLACE, VELOCITY, f16, models, piloted, start_of, trim

import poinsot as pt

# What is reached: altitude [ft], velocity relative to the Earth [ft/s], angles [deg], rates [deg/s].
WITHIN = {
    "01": (1e-5, 1e-6, 1e-8, 1e-10),
    "02": (1e-5, 1e-6, 1e-8, 1e-9),
    "03": (1e-5, 1e-6, 0.01, 1e-3),
    "04": (1e-4, 5e-5, 1e-6, 1e-8),
    "05": (1e-4, 5e-5, 1e-6, 1e-8),
    "09": (0.01, 5e-4, 1e-6, 1e-8),
    "10": (0.01, 5e-4, 1e-6, 1e-8),
}
COLUMNS = ("altitudeMsl_ft", "feVelocity_ft_s", "eulerAngle_deg", "bodyAngularRateWrtEi_deg_s")
# SIM 04 after 30 s: altitude [ft]; north, east, down [ft/s]; yaw, pitch, roll [deg].
AFTER = {
    "01": (15598.9043522, 0.0, 2.10101108617, 960.293064507, 0.0, 0.0, -0.125399679189),
    "02": (15598.9043522, 0.0, 2.10101108617, 960.293064507, -4.28935504226, -3.81965492189, -56.1513075938),
    "03": (15598.9043522, 0.0, 2.10101108617, 960.293064507, -111.383858577, -38.7889055337, -5.09406213522),
    "04": (16231.3059243, 0.0, 0.0, 867.104924472, 37.4532207898, 17.7466327886, 17.9253021678),
    "05": (16276.3845488, 0.0, 1.84389833728, 864.480181529, 37.4212826651, 17.8228598765, 17.8207385214),
    "09": (10160.9897645, 0.0, 610.746581927, 181.748229037, 90.0, 0.061647974681, 0.0),
    "10": (10114.8055114, 611.535615912, -1.06377240137, 184.446484675, 0.0, 0.0621356266972, 7.84759050474e-05),
}
FIGURES = (
    "altitudeMsl_ft", "feVelocity_ft_s_X", "feVelocity_ft_s_Y", "feVelocity_ft_s_Z",
    "eulerAngle_deg_Yaw", "eulerAngle_deg_Pitch", "eulerAngle_deg_Roll",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_check_cases(case):
    world = world_of(case)
    run = world.simulate(30.0, 0.01, every=0.5)
    ours = columns(run, world.description.earth)
    feet, feet_per_second, degrees, _ = WITHIN[case]
    tolerances = [feet, *[feet_per_second] * 3, *[degrees] * 3]
    for name, want, tolerance in zip(FIGURES, AFTER[case], tolerances, strict=True):
        assert abs(ours[name][-1] - want) < tolerance
    if REFERENCE is not None:
        theirs = reference(case, "04")
        for start, tolerance in zip(COLUMNS, WITHIN[case], strict=True):
            assert worst(ours, theirs, start) < tolerance
    assert run.ledger.relative_residual[[0, 1, 3]].max() < 1e-12
    if case not in ("01", "02", "03"):  # what the air takes
        assert run.ledger.inflow[run.ledger.sources.index("body.aero"), 7] < -1e4


@pytest.mark.skipif(REFERENCE is None, reason="NASA's check cases are not here")
def test_damping_by_the_rates_relative_to_the_air_is_that_of_another_tool():
    """SIM 05 takes the brick's rates relative to the air, as `pt.Aero` does by itself."""
    world = world_of("03", inputs={})
    ours = columns(world.simulate(30.0, 0.01, every=0.5), world.description.earth)
    assert worst(ours, reference("03", "05"), "eulerAngle_deg") < 3e-4


needs_models = pytest.mark.skipif(REFERENCE is None, reason="NASA's models of the F-16 are not here")


@pytest.fixture(scope="module")
def trimmed():
    """NASA's models; pitch [rad], throttle and stick of level flight; and what is left to balance."""
    parts = models()
    return parts, *trim(parts)


@needs_models
def test_an_f16_is_trimmed_over_the_rotating_earth(trimmed):
    """Case 11 by `world.trim` alone: the pitch of SIM 05 to 5e-5 deg, and that of equations written out."""
    parts, wanted, _ = trimmed
    world = f16(parts, start_of(0.03), throttle=0.3)
    found = world.trim("level", free=("pitch", "f16.engine.throttle", "stick"), zero=("u", "w", "q"))
    np.testing.assert_allclose([found[name] for name in found.values][:3], wanted, rtol=1e-8)
    theirs = reference("11", "05")
    assert abs(np.degrees(found["pitch"]) - theirs["eulerAngle_deg_Pitch"][0]) < 5e-5
    ours = columns(world.simulate(30.0, 0.01, every=1.0, start=found), EARTH, "f16")
    assert np.ptp(ours["eulerAngle_deg_Pitch"]) < 2e-3  # its altitude and heading leave the trim slowly


@needs_models
def test_an_f16_flies_for_three_minutes_from_its_own_trim(trimmed):
    """Case 11: models of NASA's files, controls fixed, against two tools; SIM 04 holds the pitch alone at the start."""
    parts, (pitch, throttle, stick), left = trimmed
    np.testing.assert_allclose(left, 0.0, atol=1e-12)
    np.testing.assert_allclose([np.degrees(pitch), throttle, stick], [2.638936, 0.138738, 0.129310], atol=1e-6)
    world = f16(parts, start_of(pitch), throttle, stick)
    run = world.simulate(180.0, 0.01, every=1.0)
    ours = columns(run, EARTH, "f16")
    for sim, feet, degrees in (("05", 0.01, 2e-5), ("04", 0.2, 5e-3)):
        theirs = reference("11", sim)
        assert worst(ours, theirs, "altitudeMsl_ft") < feet
        assert worst(ours, theirs, "eulerAngle_deg") < degrees
    assert worst(ours, reference("11", "05"), "eiPosition_ft") < 0.01
    assert run.ledger.relative_residual.max() < 1e-12


def commanded(trimmed):
    """The commands of the trim: throttle and stick, equivalent airspeed and altitude."""
    _, (_, throttle, stick), _ = trimmed
    trim_of = {"trimmedPilotControl_throttle": throttle, "trimmedPilotControl_long": stick}
    return {**trim_of, "equivalentAirspeedCommand": 287.98 * KNOT, "altitudeMslCommand": PLACE["altitude"]}


@needs_models
@pytest.mark.parametrize(
    ("command", "step", "record", "after"),
    [
        ("altitudeMslCommand", 100 * FOOT, "altitude", 2 * FOOT),
        ("equivalentAirspeedCommand", -10 * KNOT, "equivalent_airspeed", 0.2 * KNOT),
        ("trueBaseCourseCommand", np.radians(15.0), "heading", np.radians(0.3)),
    ],
)
def test_an_autopilot_changes_altitude_speed_and_course(trimmed, command, step, record, after):
    """As in case 13: a command changes at 5 s, and what it commands follows it by as much, from one steady flight to
    the next."""
    parts, (pitch, _, _), _ = trimmed
    commands = {**commanded(trimmed), "trueBaseCourseCommand": np.pi / 4}
    first = commands[command]
    commands[command] = lambda t: first + np.where(t < 5.0, 0.0, step)
    world = piloted(parts, start_of(pitch), "control", commands)
    run = world.simulate(60.0, 0.01, every=1.0, record=[record])
    found = run.data[record].values[:, 0]
    assert found[-1] - found[4] == pytest.approx(step, abs=after)
    assert run.ledger.relative_residual.max() < 1e-8


@needs_models
@pytest.mark.parametrize("pole", [True, False], ids=["the pole", "the date line at the equator"])
def test_an_f16_circles_the_pole_and_the_date_line(trimmed, pole):
    """As in cases 15 and 16: once around at 3 nautical miles. It comes back to where it was on the circle, whose radius
    stays; nothing is special about the pole, where the longitude runs around, or the date line, where it jumps."""
    parts, (pitch, _, _), _ = trimmed
    parts = {**parts, "gnc": pt.load_daveml(REFERENCE / "models/F16_gnc.dml", units={"nim_h": "nmi_h"})}
    latitude, longitude, heading = np.radians([89.95, -45.0, 90.0] if pole else [0.0, -179.95, 0.0])
    along = np.linalg.norm(VELOCITY) * np.array([np.cos(heading), np.sin(heading), 0.0])
    place = {"latitude": latitude, "longitude": longitude, "altitude": PLACE["altitude"]}
    start = pt.Start(**place, heading=heading, pitch=pitch, velocity_ned=along)
    measured = {**MEASURED, "geLatitude": "f16.latitude", "geLongitude": "f16.longitude"}
    commands = {**commanded(trimmed), "selectCircumnavigator_disc": 1.0 if pole else 0.0}
    world = piloted(parts, start, "gnc", commands, measured)
    run = world.simulate(210.0, 0.01, every=1.0, record=["altitude", "latitude", "longitude"])
    longitudes = np.degrees(run.data["longitude"].values[:, 0])
    north, east = np.degrees(run.data["latitude"].values[:, 0]), longitudes % 360 - 180
    radius = 60 * (90 - north if pole else np.hypot(north, east))  # as its laws measure it [nautical miles]
    assert np.all(np.abs(radius[60:] - 3.06) < 0.03)
    assert np.ptp(radius[100:]) < (1e-5 if pole else 0.01)  # degrees of latitude and longitude differ in length
    np.testing.assert_allclose(run.data["altitude"].values[60:, 0] / FOOT, 10008.6, atol=0.6)
    jumps = np.flatnonzero(np.abs(np.diff(longitudes)) > 180)
    assert len(jumps) == (1 if pole else 2)
    assert run.ledger.relative_residual.max() < 1e-8
