"""NASA's check cases of flight (TM-2015-218675) as worlds, and the columns of its files."""

import csv
from pathlib import Path

import numpy as np

import poinsot as pt
from poinsot.spatial import euler, quaternion

PLACES = [parent / "shared/refdata/flight/nesc" for parent in Path(__file__).parents]
REFERENCE = next((place for place in PLACES if place.is_dir()), None)
FOOT, SLUG = 0.3048, 14.593902937206364
ROUND = {"model": "sphere", "gravity": "central"}
SPHERE = pt.Inertia(SLUG, np.zeros(3), 3.6 * SLUG * FOOT**2 * np.eye(3))
BRICK = pt.Inertia(0.155404754 * SLUG, np.zeros(3), np.diag([0.001894220, 0.006211019, 0.007194665]) * SLUG * FOOT**2)
DRAG = {"coefficients": {"CD": 0.1}, "axes": "wind", "area": 0.1963495 * FOOT**2}
DAMPING = {
    "coefficients": {"Clp": -1.0, "Cmq": -1.0, "Cnr": -1.0},
    "area": 0.22222 * FOOT**2, "span": 0.33333 * FOOT, "chord": 0.66667 * FOOT,
}  # fmt: skip
INERTIAL = {name: f"body.angular_velocity[{k}]" for k, name in enumerate("pqr")}  # as SIM 04 takes rates in case 3
TUMBLING = {"altitude": 30e3 * FOOT, "rates": np.radians([10.0, 20.0, 30.0]), "rates_to": "inertial"}
SHOT = {"altitude": 0.0, "rates_to": "earth"}

# The Earth, the body, what acts on it, how it starts.
CASES = {
    "01": ({}, SPHERE, None, {"altitude": 30e3 * FOOT, "rates_to": "inertial"}),
    "02": ({}, BRICK, None, TUMBLING),
    "03": ({}, BRICK, {**DAMPING, "inputs": INERTIAL}, TUMBLING),
    "04": ({**ROUND, "rotating": False}, SPHERE, DRAG, TUMBLING),
    "05": (ROUND, SPHERE, DRAG, TUMBLING),
    "09": ({}, SPHERE, DRAG, {**SHOT, "velocity_ned": FOOT * np.array([0, 1e3, -1e3]), "heading": np.pi / 2}),
    "10": ({}, SPHERE, DRAG, {**SHOT, "velocity_ned": FOOT * np.array([1e3, 0, -1e3])}),
}


def world_of(case, **changes):
    """The world of a case, with changes of the aerodynamics."""
    earth, inertia, aero, start = CASES[case]
    world = pt.World(earth=pt.Earth(**earth, gradient=False), air=pt.US76())
    body = world.add_body("body", inertia, start=pt.Start(latitude=0.0, longitude=0.0, **start))
    if aero is not None:
        body.add(pt.Aero("aero", **{**aero, **changes}))
    return world


def reference(case, sim):
    """The columns of a file by name."""
    with (REFERENCE / f"Atmos_{case}_sim_{sim}.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def columns(run, earth, body="body"):
    """The same of a run: ft, deg, s."""
    t, (p, v, q, w) = run.time, (
        np.asarray(run[body][name]) for name in ("position", "velocity", "orientation", "angular_velocity")
    )  # fmt: skip
    p_E, v_E = earth.to_earth(p, v, t)
    place, R_IN = earth.geodetic(p_E), earth.ned(p)
    moved = np.einsum("nji,nj->ni", earth.ned(p_E), v_E)
    roll, pitch, yaw = np.moveaxis(euler.from_matrix(np.swapaxes(R_IN, 1, 2) @ quaternion.to_matrix(q)), -1, 0)
    table = {"time": t, "altitudeMsl_ft": place.height / FOOT}
    table |= {"longitude_deg": np.degrees(place.longitude), "latitude_deg": np.degrees(place.latitude)}
    for k, axis in enumerate("XYZ"):
        table |= {f"eiPosition_ft_{axis}": p[:, k] / FOOT, f"eiVelocity_ft_s_{axis}": v[:, k] / FOOT}
        table[f"feVelocity_ft_s_{axis}"] = moved[:, k] / FOOT
    for name, angle, rate in zip(("Roll", "Pitch", "Yaw"), (roll, pitch, yaw), w.T, strict=True):
        table |= {f"eulerAngle_deg_{name}": np.degrees(angle)}
        table |= {f"bodyAngularRateWrtEi_deg_s_{name}": np.degrees(rate)}
    return table


def worst(ours, theirs, start):
    """The largest difference in the columns whose names start with this; of angles, the shorter way round."""
    names = [name for name in ours if name.startswith(start)]
    off = np.array([ours[name] - theirs[name] for name in names])
    return np.abs((off + 180) % 360 - 180 if "deg" in start else off).max()
