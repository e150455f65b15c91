"""Worlds on flat ground that hold all parts of flight, each with a state that moves."""

import numpy as np

import poinsot as pt
from poinsot.environment.wind import wind_from

INERTIA = pt.Inertia(1100.0, (0, 0, 0), np.diag([1285.0, 1825.0, 2667.0]))
POLAR = pt.Table((np.radians([-20.0, -10, 0, 10, 20]),), np.array([-0.9, -0.8, 0.2, 1.2, 1.1]), method="monotone")


def aeroplane() -> pt.World:
    """Coefficients, strips, a propeller, a jet, gear, a tank that sloshes, turbulence, over ground that is not even."""
    wind = [pt.SteadyWind(wind_from(1.0, 5.0)), pt.Gust((0, 0, -3.0), rise=0.5), pt.Dryden(wind_at_6m=6.0, span=11.0)]
    world = pt.World(air=pt.US76(10.0), wind=wind, ground=lambda x, y: 2 * np.sin(x / 100))
    start = pt.Start(altitude=3.0, heading=0.4, airspeed=45.0, alpha=0.05, flight_path=-0.05)
    plane = world.add_body("plane", INERTIA, start=start)
    coefficients = {
        "CL": (POLAR, "alpha"), "CD": lambda alpha: 0.03 + 0.8 * alpha**2, "CY_beta": -0.4, "Cm_alpha": -0.9,
        "Cmq": -12.0, "Cmadot": -5.0, "Clp": -0.4, "Cnr": -0.1,
    }  # fmt: skip
    plane.add(pt.Aero("aero", coefficients=coefficients, area=16.2, span=10.9, chord=1.5, axes="wind"))
    plane.add(pt.Wing("tail", half_span=1.5, chord=0.8, section=pt.Section(stall=0.25), position=(-4.0, 0, 0)))
    plane.add(pt.Strip("fin", point=(-4.0, 0, -0.5), up=(0, 1, 0), section=pt.Section(drag=0.01)))
    J = np.linspace(0.0, 1.2, 7)
    CT, CP = pt.Table((J,), 0.11 - 0.05 * J - 0.06 * J**2), pt.Table((J,), 0.05 + 0.02 * J - 0.06 * J**2)
    plane.add(pt.Tank("fuel", contents=60.0, capacity=100.0))
    plane.add(pt.Propeller("prop", diameter=1.9, CT=CT, CP=CP, inertia=1.2, speed=240.0, engine="piston"))
    plane.add(pt.PistonEngine("piston", rotor="prop", power=120e3, speed=280.0, throttle=0.8, tank="fuel", bsfc=8e-8))
    plane.add(pt.Propeller("fan", diameter=0.4, CT=CT, CP=CP, inertia=0.01, speed=500.0, engine="motor"))
    plane.add(pt.ElectricMotor("motor", rotor="fan", kv=60.0, resistance=0.1, voltage=20.0))
    deck = pt.Table(([0.0, 1.0], [0.0, 1e4]), np.array([[1000.0, 800.0], [500.0, 400.0]]))
    plane.add(pt.Jet("jet", thrust=deck, throttle=0.6, power=0.2, tank="fuel", tsfc=3e-5, rotor_inertia=0.5))
    tank = pt.Tank("water", capacity=30.0, contents=20.0, radius=0.2, height=0.4, position=(-1.0, 0, 0))
    world.add_slosh(plane, tank, damping=0.02, bottom="z")
    leg = {"radius": 0.2, "stroke": 0.3, "preload": 1500.0, "air_length": 0.4, "damping": 4000.0}
    for name, x, y in (("nose", 1.2, 0.0), ("left", -0.4, -1.2), ("right", -0.4, 1.2)):
        plane.add(pt.Gear(name, point=(x, y, 1.2), brake=0.3, brake_torque=500.0, **leg))
    return world


def rocket() -> pt.World:
    """Barrowman's formulas, a solid motor, a parachute that opens."""
    world = pt.World(air=pt.US76(), wind=pt.WindProfile([0, 500], [[0, 2, 0], [0, 8, 0]]))
    start = pt.Start(altitude=100.0, pitch=1.3, velocity_ned=(10.0, 0, -40.0))
    body = world.add_body("rocket", pt.Inertia(12.0, (0, 0, 0), np.diag([0.05, 1.3, 1.3])), start=start)
    fins = pt.Fins(at=1.15, root=0.12, tip=0.06, span=0.09, sweep=0.06, count=3, cant=0.01)
    nose, tail = pt.Nose(0.3, "ogive"), pt.Transition(at=1.3, length=0.06, fore=0.08, aft=0.06)
    body.add(pt.Barrowman("hull", diameter=0.08, nose=nose, drag=0.45, tip=(0.7, 0, 0), fins=fins, transitions=tail))
    curve = pt.Tabulated([0, 0.02, 0.3, 0.5], [0, 900, 700, 0])
    grain = {"mass": 0.3, "radius": 0.03, "bore": 0.01, "length": 0.1, "position": (-0.5, 0, 0)}
    body.add(pt.SolidMotor("motor", thrust=curve, **grain))
    body.add(pt.Parachute("chute", CdS=0.5, point=(0.6, 0, 0), inflation=0.3, trigger=lambda t, scene: t - 0.05))
    return world


def glider(unsteady: str | None = "wagner") -> pt.World:
    """A wing that bends, in a tunnel, with the lag of its wake."""
    beam = pt.Beam("wing", 6.0, EI=3e4, EI_side=3e5, GJ=2e4, mass_per_length=4.0, polar=0.3, n=2)
    world = pt.World(air=pt.US76(), wind=(-40.0, 0, 0))
    world.add_beam(beam, placement=pt.Pose(R=[[0, -1, 0], [-1, 0, 0], [0, 0, -1]]))
    section = pt.Section(zero_lift=-0.03, stall=0.25)
    world.add(pt.Wing("strips", beam=beam, chord=0.8, axis=0.35, section=section, unsteady=unsteady))
    return world
