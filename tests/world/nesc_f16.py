"""The F-16 of NASA's check case 11: DAVE-ML models of its aerodynamics, engine, inertia and control, and its trim."""

import numpy as np
from nesc_cases import FOOT, REFERENCE

import poinsot as pt
from poinsot.environment.geodesy import transport_rate
from poinsot.spatial import quaternion
from poinsot.world import State

PLACE = {"latitude": np.radians(36.01916667), "longitude": np.radians(-75.67444444), "altitude": 10013 * FOOT}
VELOCITY = FOOT * np.array([400.0, 400.0, 0.0])  # north, east, down
EARTH = pt.Earth(gradient=False)


def models():
    """Aerodynamics, engine, inertia, control."""
    load = {name: {} for name in ("aero", "prop", "inertia")} | {"control": {"units": {"nim_h": "nmi_h"}}}
    return {name: pt.load_daveml(REFERENCE / f"models/F16_{name}.dml", **options) for name, options in load.items()}


def inertia_of(model):
    """Mass properties about the centre of mass, and where the reference of the moments is from there (3,) [m]."""
    given = model(vrsPositionOfCM=0.25)
    J = np.diag([given[f"bodyMomentOfInertia_{name}"] for name in ("Roll", "Pitch", "Yaw")])
    J[0, 2] = J[2, 0] = -given["bodyProductOfInertia_ZX"]
    com = np.array([given[f"bodyPositionOfCmWrtMrc_{axis}"] for axis in "XYZ"])
    return pt.Inertia(given["totalMass"], np.zeros(3), J), -com


def f16(parts, start, throttle=0.139, stick=0.13):
    """The aircraft with its controls fixed, as a world with the inputs throttle and stick."""
    inertia, reference = inertia_of(parts["inertia"])
    world = pt.World(earth=EARTH, air=pt.US76())
    world.add_input("stick", stick)
    body = world.add_body("f16", inertia, start=start)

    def thrust(mach, altitude, power):
        return parts["prop"](powerLeverAngle=power, altitudeMSL=altitude, mach=mach)["thrustBodyForce_X"]

    surfaces = {"elevatorDeflection": lambda t, scene: commands(parts, 0.0, scene.input("stick"))["elevatorDeflection"]}
    surfaces |= {"aileronDeflection": 0.0, "rudderDeflection": 0.0}
    body.add(pt.Aero("aero", coefficients=parts["aero"], position=reference, inputs=surfaces, air_at="com"))
    body.add(pt.Jet("engine", thrust=thrust, throttle=float(commands(parts, throttle, 0.0)["powerLeverAngle"])))
    return world


def commands(parts, throttle, stick):
    """What the control laws ask for, with stability augmentation and autopilot off."""
    trimmed = {"trimmedPilotControl_throttle": throttle, "trimmedPilotControl_long": stick}
    return parts["control"](**{**dict.fromkeys(parts["control"].inputs, 0.0), **trimmed})


def start_of(pitch):
    """All angles against north-east-down are held, as SIM 05 does."""
    return pt.Start(**PLACE, heading=np.pi / 4, pitch=pitch, velocity_ned=VELOCITY)


def trim(parts):
    """Pitch [rad], throttle, stick, and what is left: acceleration along the track and down [m/s^2], and in pitch."""
    system = f16(parts, start_of(0.046)).system()

    def residual(x):
        pitch, throttle, stick = x
        begun = start_of(pitch).state(EARTH)
        p, v, q = begun["position"], begun["velocity"], begun["orientation"]
        R_IN, R_IB, omega = EARTH.ned(p), quaternion.to_matrix(q), begun["angular_velocity"]
        power = np.stack([commands(parts, throttle, 0.0)["powerLeverAngle"]])
        state = State(np.concatenate([q, p]), np.concatenate([omega, R_IB.T @ v]), power)
        rate = system.derivative(0.0, state, None, {"stick": stick}).v
        turning = np.array([0, 0, EARTH.rate])
        moved = turning + R_IN @ transport_rate(PLACE["latitude"], PLACE["altitude"], VELOCITY)
        steady = np.cross(turning, v) + np.cross(moved, R_IN @ VELOCITY)  # of a constant velocity in north-east-down
        a = R_IN.T @ (R_IB @ (rate[3:] + np.cross(omega, R_IB.T @ v)) - steady)
        return np.stack([a @ VELOCITY / np.sqrt(VELOCITY @ VELOCITY), a[2], rate[1]])

    f = pt.kernel("(3)->(3)")(residual)
    slope, x = pt.jacobian(f), np.array([0.05, 0.14, 0.13])
    for _ in range(6):
        x = x - np.linalg.solve(slope(x), f(x))
    return x, f(x)


# The inputs of NASA's control laws that are measured, and the signals that are them.
MEASURED = {
    "altitudeMsl": "f16.altitude", "equivalentAirspeed": "f16.equivalent_airspeed", "angleOfAttack": "f16.alpha",
    "angleOfSideslip": "f16.beta", "eulerAngle_Roll": "f16.roll", "eulerAngle_Pitch": "f16.pitch",
    "eulerAngle_Yaw": "f16.heading", "bodyAngularRate_Roll": "f16.rates[0]", "bodyAngularRate_Pitch": "f16.rates[1]",
    "bodyAngularRate_Yaw": "f16.rates[2]",
}  # fmt: skip
KNOT = 1852 / 3600


def piloted(parts, start, laws, commands, measured=MEASURED, earth=EARTH):
    """The aircraft with NASA's stability augmentation and autopilot on, laws given as a model, commands by name."""
    inertia, reference = inertia_of(parts["inertia"])
    world = pt.World(earth=earth, air=pt.US76())
    body = world.add_body("f16", inertia, start=start)
    fixed = dict.fromkeys(parts[laws].inputs, 0.0) | {"stabilityAugmentationOn_disc": 1.0, "autopilotOn_disc": 1.0}

    def pilot(t, **signals):
        given = {name: value(t) if callable(value) else value for name, value in commands.items()}
        return parts[laws](**{**fixed, **given, **signals})

    outputs = dict.fromkeys(parts[laws].outputs, 0.0)
    world.add(pt.Controller("pilot", pilot, inputs=dict(measured), outputs=outputs))

    def thrust(mach, altitude, power):
        return parts["prop"](powerLeverAngle=power, altitudeMSL=altitude, mach=mach)["thrustBodyForce_X"]

    surfaces = {f"{name}Deflection": f"pilot.{name}Deflection" for name in ("elevator", "aileron", "rudder")}
    body.add(pt.Aero("aero", coefficients=parts["aero"], position=reference, inputs=surfaces, air_at="com"))
    body.add(pt.Jet("engine", thrust=thrust, throttle=pt.Signal("pilot.powerLeverAngle"), spool=None))
    return world
