"""Wheels that turn, round bodies in two tones, the spring of a hand, parachutes that a camera makes room for."""

import json

import numpy as np
import pytest
from runs_to_show import EXAMPLES

import poinsot as pt
from poinsot.show.hand import pulling, pushing, within_reach
from poinsot.show.live_picture import LivePicture
from poinsot.show.live_world import live_stepper, rehearsed
from poinsot.show.marks import Copies, Surface
from poinsot.show.replay import html, picture_of
from poinsot.show.turning import FASTEST
from poinsot.show.vehicles import vehicles_of
from poinsot.spatial import quaternion


def mark(picture, layer, name):
    return next(m for m in picture.layer(layer) if m.name == name)


@pytest.fixture(scope="module")
def trolley():
    """A body on three rigid legs with wheels that rolls along x, 2 m/s at the start, and slows down."""
    world = pt.World(ground=0.0)
    leg = {"up": (0, 0, 1), "forward": (1, 0, 0), "radius": 0.2, "tyre_stiffness": 2e4, "rolling": 0.02}
    body = world.add_body("trolley", pt.Inertia.box(60.0, (1.0, 0.6, 0.2)), position=(0, 0, 0.494), velocity=(2, 0, 0))
    for name, point in (("left", (-0.4, 0.4, -0.3)), ("right", (-0.4, -0.4, -0.3)), ("nose", (0.5, 0, -0.3))):
        body.add(pt.Gear(name, point=point, **leg))
    return world


def test_a_wheel_rolls_as_far_as_its_axle_moves(trolley):
    """The angle is the way by the radius, and the lowest point of the tyre goes backwards relative to the axle."""
    run = trolley.simulate(1.0, 2e-3, every=0.02, ledger=False)
    picture = picture_of(run)
    wheel = mark(picture, "parts", "trolley.left wheel")
    turns = quaternion.product(wheel.wxyz[1:, 0], quaternion.conjugate(wheel.wxyz[:-1, 0]))
    angles = quaternion.log(turns)  # in world axes
    way = np.diff(wheel.positions[:, 0, 0])
    assert way.sum() > 1.0
    rolling = run.observed(["trolley.left.load"])["trolley.left.load"].values > 0
    assert rolling.all()
    assert angles[:, 1].sum() == pytest.approx(way.sum() / 0.2, rel=2e-3)  # about y: forwards
    assert np.abs(angles[:, [0, 2]]).max() < 1e-3
    spokes = mark(picture, "parts", "trolley.left spokes")
    assert np.array_equal(spokes.wxyz, wheel.wxyz)
    assert not np.array_equal(spokes.colours, wheel.colours)


def test_a_wheel_in_the_air_stands_still(trolley):
    high = pt.World.of(trolley.description)
    high["trolley.position"] = (0, 0, 5.0)
    wheel = mark(picture_of(high.simulate(0.3, 2e-3, every=0.05, ledger=False)), "parts", "trolley.left wheel")
    assert np.allclose(wheel.wxyz, wheel.wxyz[0], atol=1e-9)


def test_rotors_of_a_live_picture_go_on_from_frame_to_frame():
    """By no more than the eye can follow, and from the angle of the frame before."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("craft", pt.Inertia.box(80.0, (0.6, 0.6, 0.8))).add(
        pt.Rotor("wheel", axis=(0, 0, 1), inertia=0.05, speed=3.0)
    )
    sim = live_stepper(world, 1e-2, None)
    live = LivePicture(rehearsed(sim, world, {}), ["bodies", "parts"], None)
    y, p = np.asarray(sim.compiled.from_stepped(sim.state.x, sim.state.p)), sim.state.p
    seen = [mark(live.at(t, y, p), "parts", "craft.wheel").track.wxyz[0] for t in (0.0, 0.1, 0.1, 0.3)]
    angles = [np.linalg.norm(quaternion.log(quaternion.product(quaternion.conjugate(seen[0]), q))) for q in seen]
    assert angles == pytest.approx([0.0, 0.3, 0.3, 0.9], abs=1e-9)
    assert FASTEST > 3.0


def tones(world):
    """How many colours each body has."""
    marks = [m for m in picture_of(world.simulate(0.02, 1e-2)).layer("bodies") if isinstance(m, Surface)]
    return {name: len({m.colour for m in marks if m.body == name}) for name in world.description.bodies}


def test_what_can_turn_about_its_own_axis_has_two_tones():
    """A ball, a disc on a hinge through its middle; not a box, a pendulum, nor a disc on a slider."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    disc = pt.Inertia.cylinder(1.0, 0.2, 0.02)
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1))
    world.add_body("wheel", disc, joint=pt.revolute((0, 0, 1)))
    world.add_body("box", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    world.add_body("pendulum", pt.Pose(p=(0, 0, -1.0)) @ pt.Inertia.sphere(1.0, 0.1), joint=pt.revolute((0, 1, 0)))
    world.add_body("tipping", disc, joint=pt.revolute((1, 0, 0)))
    world.add_body("slider", disc, joint=pt.prismatic((0, 0, 1)))
    seen = tones(world)
    assert seen == {"ball": 2, "wheel": 2, "box": 1, "pendulum": 1, "tipping": 1, "slider": 1}


def test_both_tones_together_are_the_whole_surface():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("coin", pt.Inertia.cylinder(1.0, 0.2, 0.02))
    parts = [m.triangles for m in picture_of(world.simulate(0.02, 1e-2)).layer("bodies")]

    def area(t):
        a, b, c = np.moveaxis(t.vertices[t.faces], 1, 0)
        return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()

    flat = 48 * np.sin(2 * np.pi / 48) * 0.2**2 + 48 * 2 * 0.2 * np.sin(np.pi / 48) * 0.02  # of 48 corners
    assert sum(area(t) for t in parts) == pytest.approx(flat, rel=1e-9)
    assert area(parts[0]) == pytest.approx(area(parts[1]), rel=1e-9)


def test_a_pendulum_of_a_ball_hangs_on_a_rod():
    world = pt.World()
    ball = pt.Pose(p=(0, 0, -1.0)) @ pt.Inertia.sphere(1.0, 0.1)
    world.add_body("bob", ball, joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2))
    rod = mark(picture_of(world.simulate(0.02, 1e-2)), "joints", "bob arm")
    assert rod.triangles.vertices[:, 2].max() == pytest.approx(0.0, abs=0.02)
    assert rod.triangles.vertices[:, 2].min() == pytest.approx(-1.0, abs=0.02)


def test_a_ball_about_its_joint_hangs_on_nothing(tmp_path):
    world = pt.World()
    world.add_body("hip", pt.Inertia.sphere(1.0, 0.1), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2))
    run = world.simulate(0.02, 1e-2)
    assert [m.name for m in picture_of(run).layer("joints")] == ["hip"]
    assert run.to_html(tmp_path / "hip.html").stat().st_size > 1e5


@pytest.fixture(scope="module")
def held():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("left", pt.Inertia.box(1.0, (0.4, 0.3, 0.2)), position=(-1, 0, 0))
    world.add_body("right", pt.Inertia.box(1.0, (0.4, 0.3, 0.2)), position=(1, 0, 0))
    return within_reach(world)[0]


def in_hand(world, hand):
    return picture_of(world.simulate(0.02, 1e-2, inputs={"hand": hand}, ledger=False))


def test_the_spring_of_a_hand_reaches_from_the_point_to_the_target(held):
    spring = mark(in_hand(held, pulling(2, (0.2, 0, 0), (1.2, 3.0, 0.0), 1.0)), "parts", "hand spring")
    assert isinstance(spring, Copies)
    ends = [
        spring.positions[0, 0] + quaternion.rotate(spring.wxyz[0, 0], spring.scales[0, 0] * np.array([0, 0, z]))
        for z in (0.0, 1.0)
    ]
    assert np.allclose(ends, [(1.2, 0, 0), (1.2, 3, 0)], atol=1e-9)
    assert spring.scales[0, 0, 0] > 0.01


def test_an_empty_hand_and_a_push_show_no_spring(held):
    for hand, length in ((np.zeros(12), 0.0), (pushing(1, (0, 0, 0), (0, 5.0, 0)), 1.0)):
        picture = in_hand(held, hand)
        assert mark(picture, "parts", "hand spring").scales.max() < 1e-6
        arrow = mark(picture, "parts", "hand push").vectors[0, 0]
        assert (np.linalg.norm(arrow) > 0) == (length > 0)
        assert np.allclose(arrow[[0, 2]], 0.0)


def test_a_camera_draws_back_when_a_parachute_opens():
    """Before, the rocket fills the picture; after, the canopy fits into it. A camera with a distance keeps it."""
    run = pt.load_scenario(EXAMPLES / "model-rocket.toml").run(progress=False)
    picture = picture_of(run)
    (vehicle,) = [v for v in vehicles_of(picture) if v.grown is not None]
    opened = picture.records.of("rocket.parachute", "open")[:, 0]
    assert vehicle.grown[0] == 1.0
    last = int(np.argmax(opened > 0.99))
    canopy = np.sqrt(float(run.world["rocket.parachute.CdS"]) / (1.5 * np.pi))
    assert vehicle.grown[last:].max() * vehicle.radius > 3 * canopy
    assert np.abs(np.diff(vehicle.grown)).max() < 0.2 * np.ptp(vehicle.grown)  # it does not jump
    page = html(run, plots=[], show=["bodies"])
    (body,) = json.loads(page.split('type="application/json">')[1].split("</script>")[0])["bodies"]
    assert "grown" in body
