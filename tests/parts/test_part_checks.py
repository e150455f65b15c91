"""Parts own their numbers, take values in many forms, and refuse what is not a value; in plain NumPy."""

from dataclasses import dataclass

import numpy as np
import pytest

import poinsot as pt
from poinsot._errors import FieldError
from poinsot.parts.beam import Beam, Flexure
from poinsot.parts.element import Element, require_finite, require_limit, require_not_negative, value_of
from poinsot.world import System


class At:
    """A scene that is only a time."""

    t = 2.0


# Whose numbers they are.


def test_a_part_keeps_its_numbers():
    """Arrays are copied and cannot be written to, also views of arrays that others may write to; lists are tuples."""
    point, table = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(2, 3)
    view = table[1]
    view.setflags(write=False)
    force, other = pt.Force("f", "a", (0, 0, 1), point), pt.Force("g", "a", [0.0, 0.0, 1.0], view)
    point[0] = table[1, 0] = 9.0
    np.testing.assert_array_equal(force.point, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(other.point, [3.0, 4.0, 5.0])
    assert not force.point.flags.writeable
    assert other.value == (0.0, 0.0, 1.0)
    own = np.array([1.0, 2.0, 3.0])
    own.setflags(write=False)
    assert pt.Force("h", "a", (0, 0, 1), own).point is own  # nobody can change it
    assert callable(pt.Force("i", "a", lambda t: (0, 0, t)).value)


def test_a_part_of_ones_own_keeps_its_numbers_too():
    @dataclass(frozen=True, eq=False)
    class Own(Element):
        numbers: object = None

    mine = np.ones(3)
    part = Own("own", mine)
    mine[0] = 5.0
    np.testing.assert_array_equal(part.numbers, np.ones(3))


# Values.


def test_values_are_numbers_or_functions_of_time_and_scene():
    u = 5.0
    for value, expected in (
        (3.0, 3.0),
        (lambda t: 3 * t, 6.0),
        (lambda t, scene: scene.t + t, 4.0),
        (lambda t, other: other.t + t, 4.0),  # whatever it is called
        (lambda t, u=u: u * t, 10.0),
        (lambda t, scene=None: scene.t, 2.0),
        (lambda t, u=u, scene=None: u, 5.0),  # the second argument is the user's own
        (lambda *both: len(both), 2.0),
        (lambda t, /, *, gain=2.0: gain * t, 4.0),
    ):
        np.testing.assert_array_equal(value_of(value, At, (), "rate", "flow 'f'"), expected)
    np.testing.assert_array_equal(value_of(3.0, At, (2,), "value", "motor 'm'"), [3.0, 3.0])
    np.testing.assert_array_equal(value_of(lambda t: [t, 1.0], At, (2,), "value", "motor 'm'"), [2.0, 1.0])


@pytest.mark.parametrize("wrong", [lambda: 1.0, lambda a, b, c: 1.0, lambda t, *, gain: 1.0])
def test_functions_of_something_else_are_refused(wrong):
    with pytest.raises(ValueError, match=r"value of motor 'm' is a function .*; it must be one of \(t, scene\)"):
        value_of(wrong, At, (), "value", "motor 'm'")


def test_values_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"value of motor 'm' has shape \(3,\); it must have shape \(2,\)"):
        value_of([1.0, 2.0, 3.0], At, (2,), "value", "motor 'm'")
    with pytest.raises(ValueError, match=r"has shape \(\); it must have shape \(3,\)"):
        value_of(1.0, At, (3,), "value", "force 'f'", spread=False)


@pytest.mark.parametrize("limit", [-1e-9, np.nan, [1.0, -1.0]])
def test_limits_may_be_zero_or_infinite_but_not_less(limit):
    for good in (0.0, 0.5, np.inf):
        require_limit("motor 'm'", good)
    with pytest.raises(ValueError, match="limit of motor 'm' must be zero or more"):
        require_limit("motor 'm'", limit)


def test_numbers_that_must_not_be_negative():
    require_not_negative("x", a=0.0, b=[0.0, 0.5], c=lambda t: -1.0)
    for wrong, message in (
        (-1e-9, "a of x must be zero or more"),
        ([1.0, -1.0], "a of x must be zero or more"),
        (np.nan, "a of x must be finite"),
        ([1.0, np.inf], "a of x must be finite"),
        ("one", "a of x must be numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            require_not_negative("x", a=wrong)
    require_finite("x", a=-1.0)


# What cannot be a part.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.Force("f", "a", (0, 0, 1), (1.0, 2.0)), "point of force 'f' must be three numbers"),
        (lambda: pt.Force("f", "a", (0, 0, np.nan)), "value of force 'f' must be finite"),
        (lambda: pt.Spring("s", "a", "b", stiffness=-1.0), "stiffness of spring 's' must be zero or more"),
        (lambda: pt.Spring("s", "a", "a"), "spring 's' joins 'a' to itself"),
        (lambda: pt.JointStop("s", "a", stiffness=-1.0), "stiffness of joint stop 's' must be zero or more"),
        (lambda: pt.JointStop("s", "a", lower=np.nan), "limits of joint stop 's' must be numbers"),
        (lambda: pt.JointStop("s", "a", upper=[1.0, np.nan]), "limits of joint stop 's' must be numbers"),
        (lambda: pt.PD("p", "a", kp=np.inf), "kp of PD 'p' must be finite"),
        (lambda: pt.PD("p", "a", target=np.inf), "target of PD 'p' must be finite"),
        (lambda: pt.PD("p", "a", limit=-1.0), "limit of PD 'p' must be zero or more"),
        (lambda: pt.Motor("m", "a", np.nan), "value of motor 'm' must be finite"),
        (lambda: pt.Motor("m", "a", limit=-1.0), "limit of motor 'm' must be zero or more"),
        (lambda: pt.Rotor("r", "a", inertia=-1.0), "inertia of rotor 'r' must be zero or more"),
        (lambda: pt.Rotor("r", "a", inertia=0.0, torque=1.0), "inertia of rotor 'r' must be above zero"),
        (lambda: pt.Rotor("r", "a", axis=(0, 0, 0)), "axis of rotor 'r' must be three numbers, not all zero"),
        (lambda: pt.Rotor("r", "a", axis=(0, 1)), "axis of rotor 'r' must be three numbers, not all zero"),
        (lambda: pt.Rotor("r", "a", speed=np.inf), "speed of rotor 'r' must be finite"),
        (lambda: pt.Rotor("r", "a", inertia=1.0, torque=np.nan), "torque of rotor 'r' must be finite"),
        (lambda: pt.Rotor("r", "a", inertia=1.0, torque=1.0, speed=lambda t: t), "its speed must be a number"),
        (lambda: pt.Rotor("r", "a", speed=lambda t: t, lag=0.0), "give it a lag"),
        (lambda: pt.Thruster("t", "a", thrust=-1.0), "thrust of thruster 't' must be zero or more"),
        (lambda: pt.Thruster("t", "a", exhaust_speed=0.0), "exhaust_speed of thruster 't' must be above zero"),
        (lambda: pt.Thruster("t", "a", exhaust_speed=np.inf), "exhaust_speed of thruster 't' must be above zero"),
        (lambda: pt.Thruster("t", "a", direction=(0, 0, np.nan)), "direction of thruster 't' must be finite"),
        (lambda: pt.Thruster("t", "a", point=(0, 0)), "point of thruster 't' must be three numbers"),
        (lambda: pt.Tank("t", "a", contents=-1.0), "contents of tank 't' must be zero or more"),
        (lambda: pt.Tank("t", "a", capacity=1.0, contents=2.0), "holds 2.0 kg, but its capacity is 1.0 kg"),
        (lambda: pt.Tank("t", "a", size=(1, 1, 1), radius=1.0), "give one of them"),
        (lambda: pt.Tank("t", "a", height=1.0), "give one of them"),
        (lambda: pt.Tank("t", "a", size=(1, 1, 1), settles=True), "tank 't' settles"),
        (lambda: pt.Tank("t", "a", capacity=1.0, radius=1.0, settles=True), "tank 't' settles"),
        (lambda: pt.Flow("f", source="t", to="t"), "give it a source, a goal or both"),
        (lambda: pt.Flow("f", source="t", lag=0.0), "lag of flow 'f' must be above zero"),
        (lambda: pt.Flow("f", source="t", rate=-1.0), "rate of flow 'f' must be zero or more"),
        (lambda: pt.Flow("f", source="t", flowing=-1.0), "flowing of flow 'f' must be zero or more"),
        (lambda: pt.Flow("f", source="t", point=(1, 2)), "point of flow 'f' must be three numbers"),
        (lambda: pt.Flow("f", source="t", velocity=(1, 2, np.inf)), "velocity of flow 'f' must be finite"),
        (lambda: Flexure("f", "a", stiffness=-1.0), "stiffness of flexure 'f' must be zero or more"),
        (lambda: Beam("b", 0.0, 1.0, 1.0), "beam 'b' needs a length above zero"),
        (lambda: Beam("b", 1.0, 1.0, 1.0, n=0), "one segment or more"),
        (lambda: Beam("b", 1.0, 0.0, 1.0), "EI of beam 'b' must be above zero"),
        (lambda: Beam("b", 1.0, lambda x: 0.5 - x, 1.0), "EI of beam 'b' must be above zero all along it"),
        (lambda: Beam("b", 1.0, 1.0, 1.0, GJ=1.0), "polar of beam 'b' must be above zero"),
    ],
)
def test_what_is_not_a_part_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_field_of_a_beam_that_is_wrong_is_named():
    for beam, field in (
        ({"length": -1.0, "n": 1}, "length"),
        ({"length": 0.0, "n": 1}, "length"),
        ({"length": 1.0, "n": 0}, "n"),
    ):
        with pytest.raises(FieldError) as caught:
            Beam("b", EI=1.0, mass_per_length=1.0, **beam)
        assert caught.value.field == field


def test_what_is_just_a_part():
    """At the edge of what is refused."""
    pt.Tank("t", "a", capacity=2.0, contents=2.0)
    pt.Tank("t", "a", capacity=2.0, contents=0.0, radius=1.0, height=1.0, settles=True)
    pt.Rotor("r", "a", inertia=0.0, speed=3.0)
    pt.Rotor("r", "a", speed=lambda t: t, lag=0.1)
    pt.Thruster("t", "a", thrust=0.0, exhaust_speed=0.5)
    pt.JointStop("s", "a", lower=-np.inf, stiffness=0.0)
    pt.Flow("f", source="t", rate=0.0, flowing=0.0, lag=1e-3)
    Beam("b", 0.1, 0.5, 0.5, n=1)
    Beam("b", 1.0, lambda x: 1.0 - x, 1.0)  # to a point at its tip


def stop_in(joint, **stop):
    world = pt.World((0, 0, 0))
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1), None, joint)
    world.add(pt.JointStop("s", "a", **stop))
    system = System(world.description)
    return system.motion(0.0, system.start()).effects["s"]


def test_stops_need_limits_in_order():
    assert stop_in(pt.revolute((0, 0, 1), lower=-1.0, upper=1.0)).stored == 0
    assert stop_in(pt.revolute((0, 0, 1)), upper=1.0).stored == 0
    assert stop_in(pt.universal((0, 1, 0), (0, 0, 1)), upper=[1.0, np.inf]).stored == 0
    for joint, stop, message in (
        (pt.revolute((0, 0, 1)), {}, "has no limits"),
        (pt.revolute((0, 0, 1)), {"lower": 1.0, "upper": 1.0}, "must be less than the upper"),
        (pt.universal((0, 1, 0), (0, 0, 1)), {"lower": [0.0, 2.0], "upper": 1.0}, "must be less than the upper"),
        (pt.spherical(), {"upper": 1.0}, "there are no stops for the spherical joint"),
    ):
        with pytest.raises(ValueError, match=message):
            stop_in(joint, **stop)


def test_joints_of_a_beam():
    """Bending about y, then z, one segment after the other; with torsion they are ball joints."""
    beam = Beam("w", 3.0, 1.0, 1.0, 3)
    links, x = beam.links("hull", pt.Pose(p=(0, 0, 7))), beam.joints
    assert [link.parent for link in links] == ["hull", "w0", "w1"]
    places = [[x[0], 0, 7], [x[1] - x[0], 0, 0], [x[2] - x[1], 0, 0]]
    np.testing.assert_array_equal([link.placement.p for link in links], places)
    for link in links:
        np.testing.assert_array_equal(link.joint.axes, [[0, 1, 0], [0, 0, 1]])
    assert {link.joint.kind for link in Beam("w", 3.0, 1.0, 1.0, GJ=1.0, polar=0.1).links()} == {"spherical"}
