"""Wings, rockets, parachutes, legs and terrain, drawn as they are."""

import numpy as np
import pytest
from runs_to_show import EXAMPLES

import poinsot as pt
from poinsot.show.airframes import airframe
from poinsot.show.foils import fixed_parts, flaps, outline
from poinsot.show.marks import Copies, Lines, Skin, Surface
from poinsot.show.picture import Picture
from poinsot.show.records import records_of
from poinsot.show.replay import picture_of
from poinsot.show.vehicles import vehicles_of
from poinsot.spatial import quaternion

PLANE = pt.Inertia(900.0, (0, 0, 0), np.diag([1050.0, 1500.0, 2350.0]))


def aircraft(**world):
    """A body in aircraft axes, 100 m up, at 50 m/s."""
    made = pt.World(air=pt.US76(), **world)
    body = made.add_body("plane", PLANE, position=(0, 0, 100), velocity=(50, 0, 0), orientation=(0, 1, 0, 0))
    return made, body


def mark(picture: Picture, layer: str, name: str):
    return next(m for m in picture.layer(layer) if m.name == name)


def test_an_aerofoil_has_its_thickness_and_both_edges():
    ring = outline(0.0, 1.0)
    assert np.ptp(ring[:, 0]) == pytest.approx(1.0)
    assert np.ptp(ring[:, 1]) == pytest.approx(0.12, rel=0.01)


def test_a_wing_has_the_span_chord_and_dihedral_of_its_strips():
    wing = pt.Wing("w", "plane", half_span=6.0, chord=(2.0, 1.0), dihedral=0.1, flap=0.0)
    v = np.concatenate([t.vertices for t in fixed_parts(wing)])
    tips = v[np.abs(v[:, 1]).argmax()]
    assert np.ptp(v[:, 1]) == pytest.approx(12 * np.cos(0.1), rel=2e-3)  # sections have a thickness
    assert tips[2] == pytest.approx(-6 * np.sin(0.1), abs=0.12)  # up is -z; the section has a thickness
    assert v[:, 0].max() == pytest.approx(0.5, abs=1e-6)
    assert v[:, 0].min() == pytest.approx(-1.5, abs=1e-6)


def test_a_flap_turns_about_its_hinge_with_its_deflection_down_on_the_right_and_up_on_the_left():
    world, plane = aircraft()
    plane.add(pt.Wing("wing", half_span=5.0, chord=1.5, flap=0.3, aileron=(0.5, 1.0), deflection=lambda t: 0.2 * t))
    run = world.simulate(1.0, 1e-2, every=0.1)
    picture = picture_of(run)
    right, left = (mark(picture, "parts", f"plane.wing flap {k}") for k in (0, 1))
    own = np.array([quaternion.rotate(q, np.eye(3)) for q in picture.records.wxyz[:, 0, 0]])
    for flap, sign in ((right, 1.0), (left, -1.0)):
        turned = np.array([quaternion.rotate(q, np.eye(3)) for q in flap.track.wxyz])
        cosines = np.einsum("rij,rij->r", own, turned)  # 1 + 2 cos(angle)
        assert np.allclose(np.arccos(np.clip((cosines - 1) / 2, -1, 1)), 0.2 * run.time, atol=1e-7)
        edge = flap.triangles.vertices[flap.triangles.vertices[:, 0].argmin()]  # the trailing edge, about the hinge
        moved = quaternion.rotate(flap.track.wxyz[-1], edge) - quaternion.rotate(picture.records.wxyz[-1, 0, 0], edge)
        up_then = quaternion.rotate(picture.records.wxyz[-1, 0, 0], np.array([0.0, 0.0, -1.0]))
        assert np.sign(moved @ up_then) == -sign


def test_the_fixed_part_of_a_wing_ends_at_the_hinge():
    strip = pt.Strip("s", "plane", chord=2.0, width=3.0, flap=0.25)
    (fixed,), (flap,) = list(fixed_parts(strip)), list(flaps(strip))
    assert fixed.vertices[:, 0].min() == pytest.approx(0.5 - 0.75 * 2)
    assert flap.hinge[0] == pytest.approx(0.5 - 0.75 * 2)
    assert (flap.triangles.vertices + flap.hinge)[:, 0].min() == pytest.approx(0.5 - 2)


def test_an_aeroplane_known_by_coefficients_has_their_span_and_the_fuselage_of_its_inertia():
    scenario = pt.load_scenario(EXAMPLES / "fighter.toml")
    v = np.concatenate([t.vertices for t, _ in airframe(scenario.world.description, "f16")])
    assert np.ptp(v[:, 1]) == pytest.approx(30 * 0.3048, rel=0.06)  # swept tips are slanted
    assert np.ptp(v[:, 0]) == pytest.approx(49.3 * 0.3048, rel=0.05)  # an F-16 is 49.3 ft long


def test_a_rocket_has_its_nose_tube_and_fins():
    description = pt.load_scenario(EXAMPLES / "model-rocket.toml").world.description
    parts = [t for t, _ in airframe(description, "rocket")]
    v = np.concatenate([t.vertices for t in parts])
    assert v[:, 0].max() == pytest.approx(0.55)
    assert v[:, 0].min() == pytest.approx(0.55 - 0.95 - 0.11)
    assert np.hypot(v[:, 1], v[:, 2]).max() == pytest.approx(0.027 + 0.065, rel=0.01)
    assert len(parts) == 2 + 4


@pytest.fixture(scope="module")
def falling() -> pt.Run:
    world = pt.World(air=pt.US76())
    body = world.add_body("box", pt.Inertia.box(10.0, (0.5, 0.5, 0.5)), position=(0, 0, 500), velocity=(5, 0, 0))
    body.add(pt.Parachute("chute", CdS=6.0, point=(0, 0, 0.25), trigger=lambda t: t - 1.0, inflation=0.5))
    return world.simulate(4.0, 1e-2, every=0.1)


def test_a_parachute_opens_downwind_and_the_camera_makes_room(falling):
    picture = picture_of(falling)
    canopy, lines = mark(picture, "parts", "box.chute"), mark(picture, "parts", "box.chute lines")
    assert isinstance(canopy, Copies)
    assert isinstance(lines, Lines)
    radius = canopy.scales[:, 0, 0]
    assert radius[5] < 1e-6
    assert radius[-1] == pytest.approx(np.sqrt(6.0 / (1.5 * np.pi)))
    tied = falling.data.position.sel(body="box").values[-1]
    away = canopy.positions[-1, 0] - tied
    assert away @ -falling.data.velocity.sel(body="box").values[-1] > 0.95 * np.linalg.norm(away) * np.linalg.norm(
        falling.data.velocity.sel(body="box").values[-1]
    )
    vehicle = vehicles_of(picture)[0]
    assert vehicle.grown[0] < 0.3 * vehicle.grown[-1]  # it draws back as it opens
    assert vehicle.grown[-1] * vehicle.radius > np.linalg.norm(away)


def test_wheels_hang_on_struts_that_give_and_vanish_while_they_are_up():
    world, plane = aircraft(ground=99.0)
    plane.add(pt.Gear("leg", point=(0, 0, 1.2), radius=0.3, stroke=0.3, stiffness=4e4, damping=4e3))
    plane.add(pt.Gear("up", point=(1, 0, 1.2), radius=0.3, down=0.0))
    run = world.simulate(0.4, 1e-3, every=0.05)
    picture = picture_of(run)
    wheel, strut = mark(picture, "parts", "plane.leg wheel"), mark(picture, "parts", "plane.leg strut")
    s = run.observed(["plane.leg.strut"])["plane.leg.strut"].values
    assert s.max() > 0.02
    axle = picture.records.point("plane", (0, 0, 1.2))
    assert np.allclose(np.linalg.norm(wheel.positions[:, 0] - axle, axis=1), s, atol=1e-9)
    assert np.all(strut.scales[:, 0, 2] > 0.1)
    assert mark(picture, "parts", "plane.up wheel").scales.max() < 1e-6


def test_a_propeller_is_as_large_as_it_is_and_turns_no_faster_than_the_eye_follows():
    run = pt.load_scenario(EXAMPLES / "propeller-plane.toml").world.simulate(0.4, 5e-3, every=0.01, ledger=False)
    blades = mark(picture_of(run), "parts", "plane.prop")
    assert np.linalg.norm(blades.triangles.vertices, axis=1).max() == pytest.approx(0.95, rel=0.01)
    turn = np.abs(np.sum(blades.track.wxyz[1:] * blades.track.wxyz[:-1], axis=1))
    assert np.all(2 * np.arccos(np.clip(turn, -1, 1)) < 0.16)


def test_terrain_is_drawn_with_the_heights_of_its_function_and_nothing_lies_below_the_ground():
    def hills(x, y):
        return 30 * np.sin(x / 80) * np.cos(y / 70)

    world, _ = aircraft(ground=hills)
    picture = picture_of(world.simulate(2.0, 1e-2, every=0.1))
    relief = mark(picture, "ground", "terrain")
    assert isinstance(relief, Surface)
    assert relief.haze
    assert relief.shades is not None
    x, y, z = (relief.triangles.vertices + relief.track.position[0]).T
    assert np.allclose(z, hills(x, y), atol=1e-9)
    assert len(relief.shades) == len(z)


def test_terrain_from_a_table_stays_within_it():
    table = pt.Table([[-200.0, 0.0, 300.0], [-100.0, 200.0]], [[0.0, 5.0], [20.0, 1.0], [3.0, 4.0]], outside="error")
    world, _ = aircraft(ground=table)
    relief = mark(picture_of(world.simulate(0.5, 1e-2, every=0.1)), "ground", "terrain")
    x, y, z = (relief.triangles.vertices + relief.track.position[0]).T
    assert (x.min(), x.max(), y.min(), y.max()) == (-200, 300, -100, 200)
    assert np.allclose(z, table(x, y))


def test_the_wing_on_a_beam_has_its_chord_and_bends_with_it():
    scenario = pt.load_scenario(EXAMPLES / "flexible-aircraft.toml")
    run = scenario.world.simulate(0.02, 2e-3, every=0.01, ledger=False)
    skin = next(m for m in Picture(records_of(run)).layer("bodies") if isinstance(m, Skin))
    assert np.ptp(skin.rest[:, 1]) == pytest.approx(0.8, rel=0.02)  # the chord at the root, slightly twisted


def test_stops_of_a_hinge_turn_red_while_they_are_touched():
    world = pt.World()
    rod = pt.Pose(p=(0.5, 0.0, 0.0)) @ pt.Inertia.capsule(1.0, 0.04, 0.9)
    world.add_body("arm", rod, joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2))
    world.add(pt.JointStop("stop", "arm", stiffness=200.0, damping=0.5, lower=-0.3, upper=0.4))
    picture = picture_of(world.simulate(1.0, 1e-3, every=0.02))
    lines = mark(picture, "parts", "stop range")
    red = lines.colours[:, 0, 0] > lines.colours[:, 0, 1] + 50
    q = picture.records.y[:, 0, 0]
    assert np.any(red)
    assert not red[0]
    assert np.array_equal(red, q > 0.4)
