"""The limits of what is refused: just inside one, a thing is made; just outside, it is an error that says why."""

import numpy as np
import pytest
from instants import flying

import poinsot as pt
from poinsot._errors import FieldError, UnknownNameError
from poinsot.parts.slosh import slosh_model, slosh_parts
from poinsot.parts.strip import Flowing
from poinsot.parts.structure import beyond
from poinsot.parts.whereabouts import attitude
from poinsot.spatial import Inertia, Pose, quaternion, rotation
from poinsot.spatial.physical import DIGITS, SYMMETRY

CLOSE = 1e-3  # how near to a limit, as a fraction of it


def stretched(e):
    return np.diag([np.sqrt(1 + e), 1.0, 1.0])


def lopsided(e):
    """A moment with two products of inertia that differ by a fraction e of the largest moment."""
    moment = np.diag([3.0, 4.0, 5.0])
    moment[0, 1] = 5.0 * e
    return moment


def sloshing(contents, **shape):
    return slosh_model(pt.Tank("t", "a", capacity=1.0, contents=contents, **shape))


LIMITS = {
    "axes of a universal joint": (1e-6, lambda e: pt.universal((1, 0, 0), (np.sqrt(1 - e * e), e, 0)), "parallel"),
    "chord and upper side of a strip": (1e-6, lambda e: pt.Strip("p", "a", up=(1.0, 0.0, e)), "parallel"),
    "chord and upper side of a wing": (1e-6, lambda e: pt.Wing("p", "a", half_span=1.0, up=(1.0, 0.0, e)), "parallel"),
    "a wheel across its strut": (
        0.1,
        lambda e: pt.Gear("p", "a", forward=(np.sqrt(1 - e * e), e, 0), up=(-1, 0, 0)),
        "strut",
    ),
    "contents that slosh": (1e-6, lambda e: sloshing(e, radius=1.0), "slosh"),
    "room above them": (1e-6, lambda e: sloshing(1 - e, radius=1.0), "slosh"),
}
TOLERANCES = {
    "a rotation": (1e-5, lambda e: rotation.check(stretched(e), "R"), "rotation"),
    "a quaternion": (1e-5, lambda e: quaternion.check(np.array([1 + e, 0, 0, 0]), "q"), "length|norm|unit"),
    "a short quaternion": (1e-5, lambda e: quaternion.check(np.array([1 - e, 0, 0, 0]), "q"), "length|norm|unit"),
    "moments": (1e-5, lambda e: Inertia(1.0, (0, 0, 0), np.diag([1.0, 1.0, 2.0 / (1 - e)])), "."),
    "products of inertia": (1e-9, lambda e: Inertia(1.0, (0, 0, 0), lopsided(e)), "symmetric"),
}


def test_the_tolerances_are_those_that_are_named():
    assert (DIGITS, SYMMETRY, rotation.TOLERANCE, quaternion.TOLERANCE) == (1e-5, 1e-9, 1e-5, 1e-5)


@pytest.mark.parametrize("what", LIMITS)
def test_what_must_be_at_least_so_large(what):
    limit, make, message = LIMITS[what]
    make(limit * (1 + CLOSE))
    with pytest.raises(ValueError, match=message):
        make(limit * (1 - CLOSE))


@pytest.mark.parametrize("what", TOLERANCES)
def test_what_may_be_at_most_so_wrong(what):
    limit, make, message = TOLERANCES[what]
    make(limit * (1 - CLOSE))
    with pytest.raises(ValueError, match=message):
        make(limit * (1 + CLOSE))


# At rest, and on the edge.


@pytest.mark.parametrize("speed", [1e-8, 1e-3, 1.0, 300.0])
@pytest.mark.parametrize("angle", np.linspace(-3, 3, 9))
def test_the_angle_of_attack_does_not_depend_on_the_speed(speed, angle):
    """Down to where a speed counts as zero; the flow may come from behind."""
    flow = Flowing(None, *(np.array(speed * x) for x in (np.cos(angle), np.sin(angle), 0.0)))
    assert flow.alpha(1.3) == pytest.approx(angle, rel=1e-12)
    assert flow.speed == pytest.approx(speed, rel=1e-12)


@pytest.mark.parametrize("u", [0.0, 1e-10, -1e-10])
@pytest.mark.parametrize("w", [0.0, 1e-11, -1e-11])
def test_at_rest_there_is_no_angle_of_attack(u, w):
    """However the last digits of a velocity of zero point."""
    assert abs(Flowing(None, np.array(u), np.array(w), np.array(0.0)).alpha(1.3)) < 1e-10


def test_rotation_about_the_quarter_chord_is_felt_at_three_quarters():
    flow = Flowing(None, np.array(2.0), np.array(-0.3), np.array(0.5))
    assert flow.alpha(1.2) == pytest.approx(np.arctan2(-0.3 + 0.6 * 0.5, 2.0), abs=1e-16)
    assert flow.alpha(4.0) == pytest.approx(np.arctan2(-0.3 + 2.0 * 0.5, 2.0))


def test_the_axes_of_a_tank_that_sloshes_can_be_exchanged():
    """The longer side of a box counts, whichever it is."""
    along, across, wide = (sloshing(0.4, size=(*sides, 0.5)) for sides in ((0.7, 0.4), (0.4, 0.7), (0.7, 0.7)))
    for other in (across, wide):
        for name in along.__dataclass_fields__:
            np.testing.assert_allclose(getattr(other, name), getattr(along, name), rtol=1e-15)


def test_a_shape_at_the_station_is_not_beyond_it():
    body = sum(
        (Pose(p=(x, 0, 0)) @ Inertia.box(1.0 + x, (0.1, 0.1, 0.1)) for x in (1.0, 2.0)), start=Inertia.sphere(7.0, 0.1)
    )
    assert beyond(body, (2, 0, 0), 0.5).mass == pytest.approx(5.0)
    assert beyond(body, (2, 0, 0), 1.0).mass == pytest.approx(3.0)
    assert beyond(body, (-1, 0, 0), -1.0).mass == pytest.approx(7.0)
    with pytest.raises(ValueError, match=r"none of the 3 shapes of the body lies beyond 2.0 m"):
        beyond(body, (1, 0, 0), 2.0)


@pytest.mark.parametrize("shape", [{"radius": -1.0}, {"radius": 1.0, "height": 0.0}, {"size": (1.0, -1.0, 1.0)}])
def test_a_tank_that_sloshes_has_a_size(shape):
    """An error that names what is not above zero."""
    with pytest.raises(ValueError, match=r"(radius|height|size) of tank 't' must be a number above zero"):
        sloshing(0.4, **shape)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: pt.universal((0, 0, 0), (1, 0, 0)), "axis"),
        (lambda: pt.universal((1, 0, 0), (0, 0, 0)), "axis"),
        (lambda: pt.Wing("p", "a", half_span=1.0, chord=(1.0, -1.0)), "chord"),
        (lambda: pt.Wing("p", "a", half_span=1.0, chord=(0.0, 1.0)), "chord"),
    ],
)
def test_one_of_several_that_is_wrong_is_enough(make, field):
    with pytest.raises(FieldError) as caught:
        make()
    assert caught.value.field == field


def test_engines_without_fuel_add_no_energy_of_their_own():
    """The rotor that they turn has it; what an electric motor takes is shown."""
    table = pt.Table((np.linspace(0.0, 1.2, 7),), np.full(7, 0.05))
    for engine in (
        pt.PistonEngine("e", "craft", "r", power=1e5, speed=200.0),
        pt.ElectricMotor("e", "craft", "r", kv=6.0, resistance=0.1, voltage=30.0),
    ):
        rotor = pt.Propeller("r", "craft", 1.9, table, table, inertia=1.0, engine="e", speed=100.0)
        moved = flying(engine, rotor)
        assert moved.effects["e"].power == 0.0
        assert moved.effects["e"].shown["torque"] != 0.0


def test_a_cut_that_carries_what_does_not_exist_is_an_error():
    world = pt.World((0, 0, 0))
    body = Inertia.box(1.0, (1, 1, 1))
    world.add_body("a", body)
    world.add(pt.Cut("c", "a", piece=body, carries=("nothing",)))
    with pytest.raises(UnknownNameError, match="there is no link 'nothing'"):
        world.system()


def test_a_wing_of_one_strip_is_that_strip():
    """With a wake: forces and the rates of its states."""
    size = {"chord": 1.2, "unsteady": "wagner", "alpha_start": 0.05}
    wing = pt.Wing("w", "craft", half_span=2.0, strips=1, side="right", **size)
    strip = pt.Strip("s", "craft", point=(0.0, 1.0, 0.0), width=2.0, **size)
    moved = flying(wing, strip)
    ours, other = moved.effects["w"], moved.effects["s"]
    np.testing.assert_allclose(ours.wrenches["craft"], other.wrenches["craft"], rtol=1e-12, atol=1e-9)
    for name in ("lag", "acceleration"):
        np.testing.assert_allclose(ours.rates[name][0], other.rates[name], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("earth", [False, True])
def test_attitude_is_measured_from_north_east_and_down(earth):
    """On flat ground, and anywhere on the Earth, where these turn with the place."""
    place = pt.Earth()
    world = pt.World(earth=place) if earth else pt.World()
    position = np.array([-2.1e6, 3.9e6, 4.6e6]) if earth else np.array([3.0, 4.0, 5.0])
    R_WN = place.ned(position) if earth else np.diag([1.0, -1.0, -1.0])
    angles = np.array([0.4, -0.3, 1.9])  # roll, pitch, heading
    R_NB = np.eye(3)
    for axis in (2, 1, 0):
        R_NB = R_NB @ rotation.exp(angles[axis] * np.eye(3)[axis])
    world.add_body("a", Inertia.sphere(1.0, 0.1), position=position, orientation=quaternion.from_matrix(R_WN @ R_NB))
    np.testing.assert_allclose(attitude(world.scene(), "a"), angles, atol=1e-12)


def test_a_box_sloshes_along_its_longer_side_on_the_ground():
    """About y if that is x, about x if it is y, however high the box is."""
    for size, axis in (((0.7, 0.4, 0.9), (0, 1, 0)), ((0.4, 0.7, 0.2), (1, 0, 0)), ((0.4, 0.7, 0.5), (1, 0, 0))):
        parts = slosh_parts(pt.Tank("t", "a", capacity=1.0, contents=0.4, size=size))
        np.testing.assert_array_equal(parts.joint.axes, [axis])


def test_a_part_as_heavy_as_the_body_or_heavier_cannot_be_cut_away():
    body = Inertia.box(1.0, (1, 1, 1))
    for mass in (1.0, 1.5):
        with pytest.raises(ValueError, match=r"a part of .* kg cannot be cut away from a body of 1.0 kg"):
            body - Inertia.box(mass, (0.1, 0.1, 0.1))


def test_a_cut_acts_on_its_body_or_on_a_loop():
    assert pt.Cut("c", "a").bodies() == ("a",)
    assert pt.Cut("c", loop="l").bodies() == ()
