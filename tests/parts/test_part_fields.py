"""What parts are by default, as part of their interface; and no number of theirs may be wrong without an error."""

from dataclasses import MISSING, fields, replace

import numpy as np
import pytest
from instants import flying

import poinsot as pt
from poinsot._errors import FieldError
from poinsot.parts.beam import Flexure
from poinsot.parts.strip import Panel

ORIGIN, X, Z = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
UP, INF = (0.0, 0.0, -1.0), np.inf
FLAPPED = {
    "chord": 1.0, "twist": 0.0, "flap": 0.0, "deflection": 0.0, "effectiveness": 1.0, "unsteady": "none",
    "alpha_start": 0.0, "mass_lag": 0.001, "up": UP,
}  # fmt: skip
DEFAULTS = {
    pt.Aero: {"position": ORIGIN, "axes": "body", "moment_axes": "body", "air_at": "position", "alpha_lag": 0.02},
    pt.Nose: {"length": 0.3, "shape": "ogive"},
    pt.Transition: {"at": 1.0, "length": 0.1, "fore": 0.1, "aft": 0.08},
    pt.Fins: {"at": 1.0, "root": 0.1, "tip": 0.05, "span": 0.08, "sweep": 0.05, "count": 4, "cant": 0.0},
    pt.Barrowman: {"diameter": 0.1, "fins": (), "transitions": (), "drag": 0.0, "tip": ORIGIN, "axis": X},
    Flexure: {"stiffness": 0.0, "damping": 0.0},
    pt.Beam: {"n": 5, "polar": 0.0, "damping": 0.0, "offset": (0.0, 0.0)},
    pt.PistonEngine: {
        "power": 0.0, "speed": 0.0, "throttle": 1.0, "idle": 60.0, "drag": 0.0, "turbo": False, "bsfc": 0.0, "lag": 0.1,
    },
    pt.ElectricMotor: {
        "kv": 0.0, "resistance": 0.0, "voltage": 0.0, "throttle": 1.0, "no_load_current": 0.0, "max_current": INF,
    },
    pt.Flow: {"rate": 0.0, "proportion": 0.0, "velocity": ORIGIN, "lag": 0.02},
    pt.Gear: {
        "point": ORIGIN, "up": UP, "forward": X, "radius": 0.2, "stroke": 0.0, "stiffness": 0.0, "preload": 0.0,
        "air_length": INF, "exponent": 1.3, "damping": 0.0, "orifice": 0.0, "tyre_stiffness": 2e5,
        "tread_stiffness": 40.0, "relaxation": 0.15, "friction": 0.8, "rolling": 0.02, "brake_torque": 0.0,
        "brake": 0.0, "steering": 0.0, "down": 1.0,
    },
    pt.Jet: {
        "thrust": 0.0, "throttle": 1.0, "spool": 1.0, "spool_rate": INF, "tsfc": 0.0, "direction": X, "point": ORIGIN,
        "lag": 0.1, "rotor_inertia": 0.0, "rotor_speed": (0.0, 0.0),
    },
    pt.Input: {"factor": 1.0},
    pt.Signal: {"factor": 1.0},
    pt.Force: {"value": ORIGIN, "point": ORIGIN, "axes": "world"},
    pt.Torque: {"value": ORIGIN, "axes": "world"},
    pt.Motor: {"value": 0.0, "limit": INF},
    pt.PD: {"kp": 0.0, "kd": 0.0, "target_rate": 0.0, "limit": INF},
    pt.Parachute: {
        "CdS": 1.0, "point": ORIGIN, "trigger": 1.0, "inflation": 0.0, "growth": 2.0, "added_mass": 0.0,
    },
    pt.Propeller: {
        "diameter": 0.0, "pitch": 0.0, "point": ORIGIN, "axis": X, "hand": "right", "inertia": 0.0, "speed": 0.0,
        "friction": 0.0, "lag": 0.05, "stopped_drag": 0.1, "stopped_torque": 0.01,
    },
    pt.Rotor: {
        "axis": Z, "inertia": 0.0, "speed": 0.0, "load": 0.0, "lag": 0.05, "friction": 0.0, "dry_friction": 0.0,
        "max_torque": INF, "max_speed": INF,
    },
    pt.SolidMotor: {
        "thrust": 0.0, "mass": 0.0, "radius": 0.0, "length": 0.0, "bore": 0.0, "grains": 1, "gap": 0.0,
        "position": ORIGIN, "point": ORIGIN, "direction": X, "ignition": 0.0, "factor": 1.0, "exit_area": 0.0,
        "case_radius": INF, "case_length": INF,
    },
    pt.Spring: {
        "a": "world", "b": "world", "stiffness": 0.0, "rest_length": 0.0, "damping": 0.0, "point_a": ORIGIN,
        "point_b": ORIGIN,
    },
    pt.JointStop: {"stiffness": 1e4, "damping": 0.5},
    pt.Tendon: {
        "over": (), "coefficients": (), "stiffness": 0.0, "damping": 0.0, "rest_length": 0.0, "friction": 0.0,
    },
    pt.TendonStop: {
        "over": (), "coefficients": (), "stiffness": 1e4, "damping": 0.5, "lower": -INF, "upper": INF,
    },
    pt.TendonMotor: {
        "over": (), "coefficients": (), "value": 0.0, "kp": 0.0, "kd": 0.0, "target": 0.0, "target_rate": 0.0,
        "limit": INF,
    },
    pt.Section: {
        "lift_slope": 2 * np.pi, "zero_lift": 0.0, "drag": 0.0, "induced": 0.0, "moment": 0.0, "stall_width": 0.02,
        "compressible": False,
    },
    Panel: {"flap": 0.0, "deflection": 0.0},
    pt.Strip: FLAPPED | {"point": ORIGIN, "width": 1.0, "forward": X},
    pt.Wing: FLAPPED | {
        "strips": 1, "side": "both", "position": ORIGIN, "axis": 0.25, "sweep": 0.0, "dihedral": 0.0,
        "aileron": (0.0, 1.0), "together": False,
    },
    pt.Cut: {"at": ORIGIN, "axis": X, "carries": ()},
    pt.Limit: {"axial": INF, "shear": INF, "bending": INF, "torsion": INF, "combined": False, "then": "warn"},
    pt.Tank: {"capacity": INF, "contents": 0.0, "position": ORIGIN, "settles": False},
    pt.Thruster: {"thrust": 0.0, "exhaust_speed": 3000.0, "direction": Z, "point": ORIGIN, "lag": 0.02},
}  # fmt: skip


J = np.linspace(0.0, 1.2, 7)
TABLE = pt.Table((J,), 0.11 - 0.05 * J)
CURVE = pt.Tabulated([0, 1, 2], [0, 900.0, 0])
GRAIN = {"thrust": CURVE, "mass": 0.3, "radius": 0.03, "bore": 0.01, "length": 0.1}

NAMED = {"name": "p"}
REQUIRED = {
    pt.Aero: lambda: {"coefficients": {"CX": 1.0}, "area": 1.0, **NAMED},
    pt.Nose: dict,
    pt.Transition: dict,
    pt.Fins: dict,
    pt.Barrowman: lambda: {"nose": pt.Nose(), **NAMED},
    pt.Beam: lambda: {"length": 1.0, "EI": 1.0, "mass_per_length": 1.0, **NAMED},
    pt.PistonEngine: lambda: {"speed": 1.0, **NAMED},
    pt.ElectricMotor: lambda: {"kv": 1.0, "resistance": 1.0, **NAMED},
    pt.Flow: lambda: {"source": "t", **NAMED},
    pt.Propeller: lambda: {"diameter": 1.0, "CT": TABLE, "CP": TABLE, **NAMED},
    pt.SolidMotor: lambda: {"thrust": CURVE, "mass": 0.3, "radius": 0.03, "length": 0.1, **NAMED},
    pt.Spring: lambda: {"a": "a", **NAMED},
    pt.Tendon: lambda: {"over": ("a",), "coefficients": (1.0,), **NAMED},
    pt.TendonStop: lambda: {"over": ("a",), "coefficients": (1.0,), **NAMED},
    pt.TendonMotor: lambda: {"over": ("a",), "coefficients": (1.0,), **NAMED},
    pt.Section: dict,
    Panel: lambda: dict.fromkeys("body p forward right down chord width".split(), 1.0) | {"section": pt.Section()},
    pt.Wing: lambda: {"half_span": 1.0, **NAMED},
    pt.Limit: lambda: {"axial": 1.0, **NAMED},
}


@pytest.mark.parametrize("kind", DEFAULTS, ids=lambda kind: kind.__name__)
def test_numbers_that_are_left_out(kind):
    """They are part of the interface: a world that leaves them out must stay the same."""
    found = {f.name: f.default for f in fields(kind) if f.default is not MISSING and f.default not in ("", None)}
    assert found == DEFAULTS[kind]
    given = REQUIRED.get(kind, lambda: NAMED)()
    part = kind(**given)
    assert all(getattr(part, name) == value for name, value in DEFAULTS[kind].items() if name not in given)


PARTS = [
    pt.Nose(),
    pt.Transition(),
    pt.Fins(),
    pt.Barrowman("p", "a", nose=pt.Nose(), drag=0.4),
    Flexure("p", "a", 1.0, 1.0),
    pt.PistonEngine("p", "a", "r", 1e5, 200.0, drag=1.0, bsfc=1e-7),
    pt.ElectricMotor("p", "a", "r", 60.0, 0.1, 20.0, no_load_current=0.1, max_current=30.0),
    pt.Flow("p", "a", "t", rate=1.0, point=ORIGIN, flowing=0.5),
    pt.Gear("p", "a", stroke=0.2, preload=10.0, air_length=0.3, damping=10.0, rebound=20.0),
    pt.Jet("p", "a", 1e4, power=0.5, tsfc=1e-5, rotor_inertia=1.0, spool_rate=0.5),
    pt.Force("p", "a"),
    pt.Torque("p", "a"),
    pt.Motor("p", "a"),
    pt.PD("p", "a", target=0.0),
    pt.Parachute("p", "a", inflation=1.0, added_mass=1.0),
    pt.Propeller("p", "a", 1.9, TABLE, TABLE, inertia=1.0, torque=3.0),
    pt.Rotor("p", "a", inertia=1.0, torque=3.0),
    pt.SolidMotor("p", "a", case_radius=0.1, case_length=1.0, **GRAIN),
    pt.Spring("p", "a"),
    pt.JointStop("p", "a"),
    pt.Section(stall=0.2),
    pt.Strip("p", "a"),
    pt.Wing("p", "a", half_span=3.0),
    pt.Tank("p", "a", capacity=3.0, contents=1.0),
    pt.Thruster("p", "a", "t", flowing=1.0),
    pt.Aero("p", "a", {"CX": 1.0}, area=1.0, span=1.0, chord=1.0),
    pt.Limit("p", "c", axial=1.0, shear=1.0, bending=1.0, torsion=1.0),
    pt.Beam("p", 1.0, 1.0, 1.0, GJ=1.0, polar=1.0, EI_side=1.0),
]


def numbers_of(part):
    """The fields of a part that hold numbers."""
    for f in fields(part):
        value = getattr(part, f.name)
        if (
            not isinstance(value, (bool, int, str))
            and isinstance(value, (float, tuple, np.ndarray))
            and len(np.ravel(value))
        ):
            yield f.name, value


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_no_number_may_be_nan(part):
    """An error names the field; also of a single entry of an array."""
    for name, value in numbers_of(part):
        wrong = np.array(value, dtype=float)
        wrong[(-1,) * wrong.ndim] = np.nan
        with pytest.raises(FieldError, match=r".") as caught:
            replace(part, **{name: wrong if wrong.ndim else np.nan})
        assert caught.value.field == name


MAY_BE_INFINITE = "max_current air_length spool_rate limit max_torque max_speed case_radius case_length".split()
MAY_BE_INFINITE += "capacity axial shear bending torsion".split()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_no_number_may_be_infinite_unless_it_is_a_limit(part):
    for name, value in numbers_of(part):
        for infinity in (INF, -INF):
            wrong = np.array(value, dtype=float)
            wrong[(-1,) * wrong.ndim] = infinity
            given = {name: wrong if wrong.ndim else infinity}
            if infinity > 0 and name in MAY_BE_INFINITE:
                assert getattr(replace(part, **given), name) == INF
                continue
            with pytest.raises(FieldError, match=r".") as caught:
                replace(part, **given)
            assert caught.value.field == name


# Single numbers by the range that they must be in; of the others not named here the range depends on other fields.
ABOVE_ZERO = {
    pt.Nose: "length", pt.Transition: "length fore aft", pt.Fins: "root span", pt.Barrowman: "diameter",
    pt.PistonEngine: "speed idle lag", pt.ElectricMotor: "kv resistance max_current", pt.Flow: "lag",
    pt.Gear: "radius air_length damping rebound tyre_stiffness tread_stiffness relaxation", pt.Jet: "spool_rate lag",
    pt.Parachute: "growth", pt.Propeller: "diameter inertia", pt.Rotor: "inertia max_torque max_speed",
    pt.SolidMotor: "mass case_radius case_length", pt.Section: "stall stall_width", pt.Strip: "chord width mass_lag",
    pt.Wing: "half_span chord mass_lag", pt.Tank: "capacity", pt.Thruster: "exhaust_speed lag",
    pt.Aero: "area span chord alpha_lag", pt.Limit: "axial shear bending torsion",
    pt.Beam: "length EI mass_per_length GJ EI_side polar",
}  # fmt: skip
ZERO_OR_MORE = {
    pt.Fins: "tip", pt.Barrowman: "drag", Flexure: "stiffness damping", pt.PistonEngine: "power drag bsfc",
    pt.ElectricMotor: "no_load_current", pt.Flow: "rate proportion flowing",
    pt.Gear: "stiffness preload orifice friction rolling brake_torque", pt.Jet: "thrust tsfc rotor_inertia",
    pt.Motor: "limit", pt.PD: "limit", pt.Parachute: "CdS inflation added_mass",
    pt.Propeller: "friction lag stopped_drag stopped_torque", pt.Rotor: "lag friction dry_friction",
    pt.SolidMotor: "gap factor exit_area", pt.Spring: "stiffness rest_length damping",
    pt.JointStop: "stiffness damping", pt.Tendon: "stiffness damping friction", pt.TendonStop: "stiffness damping",
    pt.TendonMotor: "limit", pt.Section: "drag induced", pt.Tank: "contents", pt.Thruster: "thrust flowing",
    pt.Beam: "damping",
}  # fmt: skip
SHARE = {
    pt.PistonEngine: "throttle", pt.ElectricMotor: "throttle", pt.Gear: "brake", pt.Jet: "throttle power",
    pt.Strip: "flap", pt.Wing: "flap",
}  # fmt: skip
ANY = {
    pt.Transition: "at", pt.Fins: "at sweep cant", pt.ElectricMotor: "voltage", pt.Gear: "steering down",
    pt.Motor: "value", pt.PD: "kp kd target target_rate", pt.Parachute: "trigger", pt.Propeller: "pitch speed torque",
    pt.Rotor: "speed torque load", pt.SolidMotor: "ignition", pt.Section: "lift_slope zero_lift moment",
    pt.Strip: "twist deflection effectiveness alpha_start",
    pt.Wing: "axis sweep dihedral twist deflection effectiveness alpha_start",
}  # fmt: skip
DEPENDING = {pt.Gear: "stroke exponent", pt.Jet: "spool", pt.SolidMotor: "radius length bore"}
RANGES = [  # fields, accepted, refused
    (ABOVE_ZERO, (1.0, 1.0000001), (0.0, -1e-9, -1.0)),
    (ZERO_OR_MORE, (0.0, 1.0, 1.0000001), (-1e-9, -1.0)),
    (SHARE, (0.0, 0.5, 1.0), (-1e-9, 1.0000001)),
    (ANY, (-1.0, 0.0, 1.0000001), ()),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_numbers_and_their_ranges(part):
    """At the bound of its range, and just beyond: taken as it is, or refused by its name."""
    known = DEPENDING.get(type(part), "").split()
    for fields_of, good, bad in RANGES:
        names = fields_of.get(type(part), "").split()
        known += names
        for name in names:
            for x in good:
                assert getattr(replace(part, **{name: x}), name) == x
            for x in bad:
                with pytest.raises(FieldError) as caught:
                    replace(part, **{name: x})
                assert caught.value.field == name
    assert sorted(known) == sorted(name for name, value in numbers_of(part) if not np.ndim(value))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: pt.Wing("p", "a", half_span=3.0, up=(2.0, 0, 0)), "up"),  # along its own forward
        (lambda: pt.Strip("p", "a", up=(-3.0, 0, 0)), "up"),
        (lambda: pt.Strip("p", "a", forward=(1.0, 0)), "forward"),
        (lambda: pt.Gear("p", "a", forward=(0, 0, 1.0)), "forward"),
        (lambda: pt.Gear("p", "a", stroke=0.2, damping=1.0, air_length=0.2), "air_length"),
        (lambda: pt.Gear("p", "a", stroke=0.2, damping=1.0, exponent=INF), "exponent"),
        (lambda: pt.Gear("p", "a", stroke=0.2, damping=1.0, rebound=INF), "rebound"),
        (lambda: pt.Rotor("p", "a", max_speed=0.0), "max_speed"),
        (lambda: pt.Rotor("p", "a", max_torque=-1.0), "max_torque"),
        (lambda: pt.Tank("p", "a", capacity=0.0), "capacity"),
        (lambda: pt.Thruster("p", "a", lag=0.0), "lag"),
        (lambda: pt.Thruster("p", "a", flowing=-1.0), "flowing"),
        (lambda: pt.Propeller("p", "a", 1.0, TABLE, TABLE, engine="e", torque=1.0), "torque"),
        (lambda: pt.Propeller("p", "a", 1.0, TABLE, pt.Table((J,), np.ones((7, 2)))), "CP"),
        (lambda: pt.Propeller("p", "a", 1.0, None, TABLE), "CT"),
        (lambda: pt.Propeller("p", "a", 1.0, TABLE, TABLE, hand="up"), "hand"),
        (lambda: pt.Propeller("p", "a", 1.0, TABLE, TABLE, stopped_drag=-0.1), "stopped_drag"),
        (lambda: pt.Propeller("p", "a", 1.0, TABLE, TABLE, axis=(1.0, 0)), "axis"),
        (lambda: pt.Jet("p", "a", rotor_speed=(1.0, 2.0, 3.0)), "rotor_speed"),
        (lambda: pt.Jet("p", "a", lag=0.0), "lag"),
        (lambda: pt.Jet("p", "a", lag=0.0, spool=None), "lag"),
        (lambda: pt.Jet("p", "a", spool=-1.0), "spool"),
        (lambda: pt.Jet("p", "a", spool=None, power=0.2), "power"),
        (lambda: pt.Jet("p", "a", spool=0.0, spool_rate=0.2), "spool_rate"),
        (lambda: pt.Jet("p", "a", spool=0, rotor_inertia=0.2), "rotor_inertia"),
        (lambda: pt.Jet("p", "a", tank="t"), "tsfc"),
        (lambda: pt.Jet("p", "a", pt.Table((J,), J)), "thrust"),
        (lambda: pt.Jet("p", "a", pt.Table((J, J), np.ones((7, 7, 2)))), "thrust"),
        (lambda: pt.Jet("p", "a", direction=(0, 0, 0)), "direction"),
        (lambda: pt.PistonEngine("p", "a", "r", 1.0, 1.0, tank="t"), "bsfc"),
        (lambda: pt.PistonEngine("p", "a", "r", 1.0, 0.0), "speed"),
        (lambda: pt.PistonEngine("p", "a", "r", 1.0, 1.0, throttle=1.1), "throttle"),
        (lambda: pt.ElectricMotor("p", "a", "r", 0.0, 1.0), "kv"),
        (lambda: pt.ElectricMotor("p", "a", "r", 1.0, INF), "resistance"),
        (lambda: pt.Parachute("p", "a", growth=0.0), "growth"),
        (lambda: pt.Parachute("p", "a", growth=INF), "growth"),
        (lambda: pt.Parachute("p", "a", CdS=(1.0, 2.0)), "CdS"),
        (lambda: pt.Parachute("p", "a", added_mass=-1.0), "added_mass"),
        (lambda: pt.Fins(count=2), "count"),
        (lambda: pt.Fins(count=9), "count"),
        (lambda: pt.Fins(count=True), "count"),
        (lambda: pt.Fins(count=4.0), "count"),
        (lambda: pt.Fins(tip=-1e-9), "tip"),
        (lambda: pt.Transition(fore=0.1, aft=0.1), "aft"),
        (lambda: pt.Nose(shape="box"), "shape"),
        (lambda: pt.Barrowman("p", "a", axis=(0, 0, 0), drag=0.1), "axis"),
        (lambda: pt.Barrowman("p", "a"), "nose"),
        (lambda: pt.Barrowman("p", "a", fins=pt.Nose()), "fins"),
        (lambda: pt.Barrowman("p", "a", drag=pt.Table((J, J), np.ones((7, 7)))), "drag"),
        (lambda: pt.Barrowman("p", "a", drag=pt.Table((J,), np.ones((7, 2)))), "drag"),
        (lambda: pt.Barrowman("p", "a", drag=-0.1), "drag"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "bore": 0.03}), "bore"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "grains": 0}), "grains"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "grains": True}), "grains"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "grains": 1.0}), "grains"),
        (lambda: pt.SolidMotor("p", "a", **GRAIN, case_radius=0.0299), "radius"),
        (lambda: pt.SolidMotor("p", "a", **GRAIN, grains=2, gap=0.01, case_length=0.2099), "length"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "thrust": 900.0}), "thrust"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "thrust": pt.Tabulated([-1, 1], [1, 1])}), "thrust"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "thrust": pt.Tabulated([0, 1], [0, 0])}), "thrust"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "thrust": pt.Tabulated([0, 1], [1, -1e-9])}), "thrust"),
        (lambda: pt.SolidMotor("p", "a", **{**GRAIN, "thrust": pt.Tabulated([0, 1], [[1, 1], [1, 1]])}), "thrust"),
        (lambda: pt.SolidMotor("p", "a", **GRAIN, position=(0, 0)), "position"),
        (lambda: pt.SolidMotor("p", "a", **GRAIN, direction=(0, 0, 0)), "direction"),
        (lambda: pt.Wing("p", "a"), "half_span"),
        (lambda: pt.Wing("p", "a", half_span=1.0, strips=0), "strips"),
        (lambda: pt.Wing("p", "a", half_span=1.0, strips=True), "strips"),
        (lambda: pt.Wing("p", "a", half_span=1.0, side="up"), "side"),
        (lambda: pt.Wing("p", "a", half_span=1.0, aileron=(0.5, 0.5)), "aileron"),
        (lambda: pt.Wing("p", "a", half_span=1.0, aileron=(0.5, 1.1)), "aileron"),
        (lambda: pt.Wing("p", "a", half_span=1.0, aileron=(-0.1, 1.0)), "aileron"),
        (lambda: pt.Wing("p", "a", half_span=1.0, aileron=(0.0, 0.5, 1.0)), "aileron"),
        (lambda: pt.Wing("p", "a", half_span=1.0, chord=(1.0, 1.0, 1.0)), "chord"),
        (lambda: pt.Wing("p", "a", half_span=1.0, twist=(0.0, 0.0, 0.0)), "twist"),
        (lambda: pt.Wing("p", "a", beam="b"), "beam"),
        (lambda: pt.Strip("p", "a", flap=1.01), "flap"),
        (lambda: pt.Strip("p", "a", flap=-0.01), "flap"),
        (lambda: pt.Strip("p", "a", unsteady="no"), "unsteady"),
        (lambda: pt.Strip("p", "a", section=3.0), "section"),
        (lambda: pt.Strip("p", "a", width=0.0), "width"),
        (lambda: pt.Section(stall=0.0), "stall"),
        (lambda: pt.Section(stall_width=INF), "stall_width"),
        (lambda: pt.Section(drag=-0.1), "drag"),
        (lambda: pt.Section(polar=3.0), "polar"),
        (lambda: pt.Section(polar=TABLE), "polar"),
        (lambda: pt.Section(polar=pt.Table((J, J, J), np.ones((7, 7, 7, 3)))), "polar"),
    ],
)  # fmt: skip
def test_what_a_part_cannot_be(make, field):
    with pytest.raises(FieldError) as caught:
        make()
    assert caught.value.field == field


def test_what_a_part_just_can_be():
    """At the limits that are part of the range."""
    pt.Gear("p", "a", stroke=0.2, damping=0.0, orifice=1.0, air_length=0.2000001)
    pt.Strip("p", "a", flap=1.0, up=(1.0, 0.0, 2e-6))
    pt.Gear("p", "a", forward=(1.0, 0, 9.0))
    pt.Fins(count=3, tip=0.0)
    pt.Fins(count=8)
    pt.Wing("p", "a", half_span=1.0, aileron=(0.0, 1.0), strips=1)
    pt.Barrowman("p", "a", drag=0.1)
    pt.Barrowman("p", "a", drag=lambda mach: 0.0)
    pt.Barrowman("p", "a", nose=pt.Nose())
    pt.SolidMotor("p", "a", **GRAIN, case_radius=0.03, case_length=0.1)
    pt.SolidMotor("p", "a", **GRAIN, grains=2, gap=0.01, case_length=0.21)
    pt.SolidMotor("p", "a", **{**GRAIN, "bore": 0.0, "grains": np.int64(1)})
    pt.Section(polar=pt.Table((J, J), np.ones((7, 7, 3))))
    pt.Jet("p", "a", pt.Table((J, J, J), np.ones((7, 7, 7))))
    pt.Jet("p", "a", spool=lambda P, u: u - P)
    pt.Thruster("p", "a", flowing=0.0)


def two(t):
    """Two numbers, where one or three are needed."""
    return np.ones(2)


WRONG = {
    "gear 'p'": [pt.Gear("p", "craft", **{key: two}) for key in ("brake", "steering", "down")],
    "jet 'p'": [pt.Jet("p", "craft", **{key: two}) for key in ("throttle", "direction")],
    "propeller 'p'": [pt.Propeller("p", "craft", 1.0, TABLE, TABLE, two)],
    "rotor 'p'": [pt.Rotor("p", "craft", inertia=1.0, **{key: two}) for key in ("speed", "torque", "load")],
    "strip 'p'": [pt.Strip("p", "craft", deflection=two)],
    "wing 'p'": [pt.Wing("p", "craft", half_span=1.0, deflection=two)],
    "solid motor 'p'": [pt.SolidMotor("p", "craft", ignition=two, **GRAIN)],
    "thruster 'p'": [pt.Thruster("p", "craft", **{key: two}) for key in ("thrust", "direction")],
    "force 'p'": [pt.Force("p", "craft", two)],
    "torque 'p'": [pt.Torque("p", "craft", two)],
    "motor 'p'": [pt.Motor("p", "craft", two)],
    "PD 'p'": [pt.PD("p", "craft", **{key: two}) for key in ("target", "target_rate")],
    "flow 'p'": [pt.Flow("p", "craft", "t", **{"rate": 1.0, "flowing": 0.0, key: two}) for key in ("rate", "velocity")],
    "rocket 'p'": [pt.Barrowman("p", "craft", fins=pt.Fins(cant=two))],
    "piston engine 'p'": [pt.PistonEngine("p", "craft", "r", 1.0, 1.0, throttle=two)],
    "electric motor 'p'": [
        pt.ElectricMotor("p", "craft", "r", 1.0, 1.0, **{key: two}) for key in ("voltage", "throttle")
    ],
}
ASKED = [(owner, part) for owner, parts in WRONG.items() for part in parts]


@pytest.mark.parametrize(("owner", "part"), ASKED, ids=lambda x: x if isinstance(x, str) else "")
def test_a_function_that_gives_another_shape_is_named(owner, part):
    """With the field and the part that it belongs to."""
    field = next((f.name for f in fields(part) if getattr(part, f.name) is two), "cant")
    others = [pt.Tank("t", "craft", contents=9.0), pt.Rotor("r", "craft", inertia=1.0, torque=0.0)]
    with pytest.raises(FieldError, match=f"^{field} of {owner} has shape") as caught:
        flying(part, *others)
    assert caught.value.field == field
