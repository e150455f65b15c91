"""Flights of a model rocket to its apogee, against RocketPy's: the rocket of docs/coming-from.md, straight up."""

from functools import cache, partial
from typing import Any

import numpy as np

import poinsot as pt
from case import Case, Contender, Measured, Work, seconds

MANY = 1024
THRUST = [[0, 75], [0.3, 90], [1.2, 70], [1.7, 50], [1.9, 0]]  # s, N
APOGEE = 608.657  # m, by RocketPy 1.13 with tolerances of 1e-10


@cache
def world() -> pt.World:
    made = pt.World(gravity=(0, 0, -9.81), air=pt.US76())
    pad = pt.Start(altitude=0.0, pitch=np.pi / 2, velocity_ned=(0, 0, 0))
    body = made.add_body("rocket", pt.Inertia(0.9, (0, 0, 0), np.diag([7e-4, 0.09, 0.09])), start=pad)
    fins = pt.Fins(at=0.95, root=0.11, tip=0.06, span=0.065, sweep=0.05, count=4)
    nose = pt.Nose(0.18, "ogive")
    body.add(pt.Barrowman("hull", diameter=0.054, nose=nose, fins=fins, drag=0.45, tip=(0.55, 0, 0)))
    grains = {"mass": 0.062, "radius": 0.014, "bore": 0.004, "length": 0.06, "grains": 2, "gap": 0.002}
    thrust = pt.Tabulated(*np.transpose(THRUST))
    body.add(pt.SolidMotor("motor", thrust=thrust, position=(-0.4, 0, 0), point=(-0.5, 0, 0), **grains))
    return made


def falls(t: Any, scene: Any) -> Any:
    return (t > 3) & (scene["rocket"].velocity[2] < 0)


def flown(many: int) -> Work:
    """The apogee [m] of the flight with the motor as it is; the others have up to 3 % more or less thrust."""
    factors = 1 + 0.03 * np.linspace(-1, 1, many + 1)[:many] if many > 1 else np.ones(1)
    options = {"method": "adaptive5", "tolerance": 1e-6, "every": 20.0, "ledger": False, "progress": False}

    def work() -> np.ndarray:
        vary = {"rocket.motor.factor": factors}
        run = world().simulate(20.0, 0.5, vary=vary, until=falls, outputs={"apogee": "max(altitude)"}, **options)
        return np.atleast_1d(run.outputs.apogee.values)[[many // 2]]

    return work


def rocketpy_flight() -> Work:
    """RocketPy with its own tolerances."""
    import rocketpy

    motor = rocketpy.SolidMotor(
        thrust_source=THRUST, burn_time=1.9, nozzle_radius=0.01, nozzle_position=-0.1,
        dry_mass=0, dry_inertia=(0, 0, 0), center_of_dry_mass_position=0,
        grain_number=2, grain_density=0.031 / (np.pi * (0.014**2 - 0.004**2) * 0.06), grain_separation=0.002,
        grain_outer_radius=0.014, grain_initial_inner_radius=0.004, grain_initial_height=0.06,
        grains_center_of_mass_position=0,
    )  # fmt: skip
    rocket = rocketpy.Rocket(
        radius=0.027, mass=0.9, inertia=(0.09, 0.09, 7e-4), center_of_mass_without_motor=0,
        power_off_drag=0.45, power_on_drag=0.45,
    )  # fmt: skip
    rocket.add_motor(motor, position=-0.4)
    rocket.add_nose(length=0.18, kind="ogive", position=0.55)
    rocket.add_trapezoidal_fins(4, root_chord=0.11, tip_chord=0.06, span=0.065, sweep_length=0.05, position=-0.4)
    air = rocketpy.Environment(gravity=9.81)
    how = {"inclination": 90, "heading": 0, "rail_length": 1.5, "terminate_on_apogee": True}
    return lambda: np.array([rocketpy.Flight(rocket=rocket, environment=air, **how).apogee])


def one_by_one() -> Work:
    """The same, as if it flew through a batch."""
    work = rocketpy_flight()
    return Measured(work, lambda: seconds(work) * MANY)


CASES = (
    Case(
        name="rocket-flights",
        what=f"{MANY} flights of a model rocket to its apogee, adaptive steps, tolerance 1e-6; per flight",
        contenders=(
            Contender("poinsot", partial(flown, MANY)),
            Contender("RocketPy, Flight in a loop", one_by_one, peer="rocketpy"),
        ),
        expected=lambda: np.array([APOGEE]),
        tolerance=5e-4,
        items=MANY,
    ),
    Case(
        name="rocket-flight",
        what="One flight of that rocket",
        contenders=(
            Contender("poinsot", partial(flown, 1)),
            Contender("RocketPy, Flight", rocketpy_flight, peer="rocketpy"),
        ),
        expected=lambda: np.array([APOGEE]),
        tolerance=5e-4,
    ),
)
