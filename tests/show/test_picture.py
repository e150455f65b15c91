"""Marks agree with the records and with mechanics."""

import numpy as np
import pytest
import runs_to_show

import poinsot as pt
from poinsot.show.cameras import FOV, fixed_view
from poinsot.show.construction import rolling
from poinsot.show.looks import look_of
from poinsot.show.marks import Arrows, Copies, Path, Plane, Surface
from poinsot.show.picture import LAYERS, Picture
from poinsot.show.records import records_of
from poinsot.show.replay import frames, layers_of, pace, picture_of
from poinsot.spatial import quaternion, rotation


def marks(run: pt.Run, layer: str) -> dict[str, object]:
    return {mark.name: mark for mark in picture_of(run).layer(layer)}


@pytest.mark.parametrize("name", ["pendulum", "handle", "box"])
def test_bodies_are_at_their_recorded_poses(name):
    run = getattr(runs_to_show, name)()
    for body, mark in marks(run, "bodies").items():
        if isinstance(mark, Surface):
            assert np.array_equal(mark.track.position, run[body].position.values)
            same = np.abs(np.sum(mark.track.wxyz * run[body].orientation.values, axis=1))  # q and -q are one rotation
            assert np.allclose(same, 1.0, atol=1e-12)


@pytest.mark.parametrize("name", ["pendulum", "handle", "box"])
@pytest.mark.parametrize("layer", list(LAYERS))
def test_every_layer_can_be_drawn(name, layer):
    """All marks are finite, and have one record or as many as the run."""
    run = getattr(runs_to_show, name)()
    for mark in picture_of(run).layer(layer):
        for field in ("positions", "wxyz", "scales", "points", "starts", "vectors"):
            array = getattr(mark, field, None)
            if array is not None:
                assert np.all(np.isfinite(array))
                assert len(array) in (1, len(run.time))


def test_springs_end_at_their_points():
    run = runs_to_show.box()
    (coil,) = marks(run, "parts").values()
    assert isinstance(coil, Copies)
    box, ball = run["box"], run["ball"]
    start = box.position.values + quaternion.rotate(box.orientation.values, np.array([0.2, 0.0, 0.0]))
    along = quaternion.rotate(coil.wxyz[:, 0], np.array([0.0, 0.0, 1.0])) * coil.scales[:, 0, 2:]
    assert np.allclose(coil.positions[:, 0], start, atol=1e-12)
    assert np.allclose(start + along, ball.position.values, atol=1e-12)
    assert np.allclose(coil.scales[:, 0, 2], run.data["spring.length"].values, atol=1e-12)


def test_force_arrows():
    """Arrows are along the force, on its line of action; a pure torque has none."""
    run = runs_to_show.box()
    picture = picture_of(run)
    (arrows,) = picture.layer("forces")
    assert isinstance(arrows, Arrows)
    wrenches = picture.records.measures.wrenches
    k = wrenches.index(("pull", "box"))
    shown = arrows.vectors[:, k]
    assert np.allclose(shown / np.linalg.norm(shown, axis=1, keepdims=True), [0.0, 1.0, 0.0], atol=1e-9)
    point = run["box"].position.values + quaternion.rotate(run["box"].orientation.values, np.array([0.0, 0.0, 0.1]))
    off = arrows.starts[:, k] - point
    assert np.allclose(np.cross(off, [0.0, 1.0, 0.0]), 0.0, atol=1e-9)
    assert not np.any(arrows.vectors[:, wrenches.index(("twist", "box"))])
    (torques,) = picture.layer("torques")
    twist = torques.vectors[:, wrenches.index(("twist", "box"))]
    assert np.all(twist[:, 2] > 0)
    assert np.allclose(twist[:, :2], 0.0, atol=1e-12 * np.abs(twist).max())


def test_reactions_carry_the_weight():
    """The hinge of a pendulum at rest carries the whole weight."""
    world = pt.World()
    rod = pt.Pose(p=(0.0, 0.0, -0.5)) @ pt.Inertia.capsule(1.0, 0.04, 0.92)
    world.add_body("upper", rod, joint=pt.revolute((0.0, 1.0, 0.0)))
    world.add_body("lower", rod, "upper", pt.revolute((0.0, 1.0, 0.0)), placement=(0.0, 0.0, -1.0))
    records = records_of(world.simulate(0.1, 1e-2))
    assert np.allclose(records.reactions[:, 0, :, 3:], [[0.0, 0.0, 2 * 9.81], [0.0, 0.0, 9.81]], atol=1e-9)


def test_ground_is_the_plane_of_the_contact():
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0.3, 0.2, 1.0))
    n = np.array([0.0, 0.6, 0.8])
    world.add_contact("slope", "ball", [(0.0, 0.0, 0.0)], radius=0.1, normal=n, height=0.25)
    (plane,) = marks(world.simulate(0.1, 1e-3), "ground").values()
    assert isinstance(plane, Plane)
    assert np.isclose(plane.track.position[0] @ n, 0.25)
    assert np.allclose(quaternion.rotate(plane.track.wxyz[0], np.array([0.0, 0.0, 1.0])), n)


# Poinsot's construction.


def test_the_ellipsoid_rolls_on_the_plane():
    """The contact is on the ellipsoid and on the plane; the plane touches there; and the contact does not slip."""
    run = runs_to_show.handle()
    r = rolling(picture_of(run), 0)
    assert r is not None
    on_body = quaternion.rotate(quaternion.conjugate(r.wxyz), r.contact) @ r.R_BP
    assert np.allclose(np.sum((on_body / r.semi_axes) ** 2, axis=1), 1.0, atol=1e-9)
    assert np.allclose(r.contact @ r.normal, r.distance, rtol=1e-9)
    normal = quaternion.rotate(r.wxyz, (on_body / r.semi_axes**2) @ r.R_BP.T)  # of the ellipsoid, at the contact
    assert np.allclose(np.cross(normal, r.normal), 0.0, atol=1e-8 * np.linalg.norm(normal, axis=1).max())
    # Without slipping, the point moves as fast over the body as over the plane: both lengths are the same.
    lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in (on_body, r.contact)]
    assert np.isclose(lengths[0], lengths[1], rtol=1e-3)  # chords of 20 ms stand for arcs


def test_only_bodies_that_rotate_freely_roll():
    assert not marks(runs_to_show.pendulum(), "poinsot")
    assert not marks(runs_to_show.box(), "poinsot")
    assert "handle polhode" in marks(runs_to_show.handle(), "poinsot")


# Batches, cameras, times.


def test_instances_and_ghosts():
    run = runs_to_show.batch()
    picture = picture_of(run, instance=3, ghosts=2)
    assert picture.records.numbers == (3, 0, 4)
    (body,) = picture.layer("bodies")
    turned = quaternion.to_matrix(body.track.wxyz[-1])
    assert np.allclose(turned, rotation.about_x(4.0), atol=1e-9)  # at 4 rad/s for 1 s
    (pale,) = picture.layer("ghosts")
    assert pale.positions.shape == (len(run.time), 2, 3)
    assert pale.opacity < 0.5
    with pytest.raises(ValueError, match="instance 5 does not exist: the run has 5"):
        picture_of(run, instance=5)


def test_an_instance_that_diverged_stays_at_its_last_pose():
    run = runs_to_show.batch()
    y = run.y.copy()
    y[10:, 1] = np.nan
    broken = pt.Run(run.world, run.compiled, run.time, y, run.p, run.settings, run.stop)
    records = records_of(broken, (1,))
    assert np.array_equal(records.positions[10:, 0], np.repeat(records.positions[9:10, 0], len(run.time) - 10, axis=0))


def test_trails_follow_a_point():
    run = runs_to_show.pendulum()
    picture = Picture(records_of(run), trails={"lower": (0.0, 0.0, -1.0)})
    (trail,) = picture.layer("trails")
    assert isinstance(trail, Path)
    q = run.data["q"].values
    x = -np.sin(q[:, 0]) - np.sin(q.sum(axis=1))
    z = 2.0 - np.cos(q[:, 0]) - np.cos(q.sum(axis=1))
    assert np.allclose(trail.points, np.stack([x, 0 * x, z], axis=1), atol=1e-9)


def test_the_camera_sees_everything():
    """All corners of the bounds are within its field of view."""
    picture = picture_of(runs_to_show.pendulum())
    view = {name: np.asarray(v) for name, v in fixed_view(picture).items()}
    ahead = view["look_at"] - view["position"]
    low, high = picture.bounds
    for corner in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T:
        to = corner - view["position"]
        angle = np.arccos(to @ ahead / np.linalg.norm(to) / np.linalg.norm(ahead))
        assert angle < np.arctan(1.81 * np.tan(FOV / 2))  # the corners of a picture of 3:2; the field is its height
    for wrong in (
        {"from": (1, 2, 3)},
        {"position": (1, 2)},
        (np.nan, 0, 0),
        {"position": (1, 1, 1), "look_at": (1, 1, 1)},
    ):
        with pytest.raises(ValueError, match="camera"):
            fixed_view(picture, wrong)


def test_frames_and_pace():
    time = np.linspace(0, 2, 201)
    assert np.array_equal(frames(time, 1.0, 50), np.arange(0, 201, 2))
    assert np.array_equal(frames(time, 1.0, 1000), np.arange(201))
    assert len(frames(time, 2.0, 50)) == 51
    assert frames(time[:1], 1.0, 50).tolist() == [0]
    assert pace(10.0, None) == 1.0
    assert pace(7200.0, None) == 360.0
    assert pace(1e-3, None) == 5e-5
    with pytest.raises(ValueError, match="speed must be positive"):
        pace(1.0, -1.0)


def test_layers_by_name():
    usual = layers_of(None)
    assert layers_of("+forces") == tuple(name for name in LAYERS if name in (*usual, "forces"))
    assert layers_of(["bodies"]) == ("bodies",)
    with pytest.raises(ValueError, match="there is no layer 'force'; did you mean 'forces'"):
        picture_of(runs_to_show.box()).layer("force")


def test_looks():
    from poinsot.spatial import shapes

    run = runs_to_show.pendulum()
    picture = picture_of(run, looks={"upper": shapes.Box((0.1, 0.1, 1.0))})
    assert len(picture.looks["upper"][0].triangles.faces) == 12
    with pytest.raises(TypeError, match="cannot be drawn"):
        _ = picture_of(run, looks={"upper": 3}).looks
    with pytest.raises(KeyError, match="uper"):
        _ = picture_of(run, looks={"uper": shapes.Sphere(1.0)}).looks


def test_rotors_tanks_and_flames():
    """A rotor rotates about its axis, a tank empties, a flame points against the thrust."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    craft = world.add_body("craft", pt.Inertia.cylinder(100.0, 0.5, 3.0))
    craft.add(pt.Rotor("wheel", axis=(1.0, 0.0, 0.0), inertia=0.1, speed=5.0))
    craft.add(pt.Tank("fuel", capacity=50.0, contents=50.0, radius=0.4, height=1.0, settles=True))
    craft.add(pt.Thruster("engine", tank="fuel", thrust=3000.0, exhaust_speed=1000.0, point=(0.0, 0.0, -1.5)))
    run = world.simulate(5.0, 1e-3, every=0.05)
    found = marks(run, "parts")
    wheel, fuel, flame = found["craft.wheel"], found["craft.fuel contents"], found["craft.engine"]
    assert np.isclose(fuel.scales[0, 0, 2], 0.97, atol=1e-3)
    assert np.allclose(fuel.scales[:, 0, 2], 0.97 * run.data["craft.fuel.contents"].values / 50.0, atol=1e-9)
    body, z = run["craft"].orientation.values, np.array([0.0, 0.0, 1.0])
    axis = quaternion.rotate(body, np.array([1.0, 0.0, 0.0]))
    assert np.allclose(quaternion.rotate(wheel.track.wxyz, z), axis, atol=1e-9)
    turned = quaternion.product(quaternion.conjugate(wheel.track.wxyz[:-1]), wheel.track.wxyz[1:])
    relative = np.linalg.norm(quaternion.log(turned), axis=1)
    assert np.allclose(relative, 5.0 * 0.05, atol=0.02)  # the body itself rotates the other way, a little
    assert np.allclose(quaternion.rotate(flame.wxyz[50, 0], z), -quaternion.rotate(body[50], z), atol=1e-9)


def test_what_is_broken_turns_red():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("hub", pt.Inertia.cylinder(1.0, 0.1, 0.1), joint=pt.revolute((0.0, 0.0, 1.0)), v=[0.0])
    world.add_body("arm", pt.Pose(p=(0.5, 0.0, 0.0)) @ pt.Inertia.box(1.0, (1.0, 0.1, 0.1)), "hub")
    world.add(pt.Cut("root", body="arm"))
    world.add(pt.Limit("strength", body="arm", cut="root", axial=2.0))
    world.add_torque("drive", "hub", (0.0, 0.0, 1.0))
    with pytest.warns(match="a limit of the structure was passed"):
        run = world.simulate(3.0, 1e-3, every=0.02)
    hue = marks(run, "bodies")["arm"].hue
    latched = run.data["strength.latched"].values > 0.5
    assert latched[-1]
    assert not latched[0]
    assert np.array_equal(np.any(hue != hue[0], axis=1), latched)


class Sheet:
    """Something with vertices and faces."""

    def __init__(self, vertices, faces):
        self.vertices, self.faces = vertices, faces


CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        ((*CORNERS[:2], (0.0, np.nan, 0.0)), ((0, 1, 2),), "vertex 2 of the Sheet .* finite"),
        ((*CORNERS[:2], (0.0, 1e300, 0.0)), ((0, 1, 2),), "vertex 2 of the Sheet .* below 1e\\+30 m"),
        (CORNERS, ((0, 1, 3),), "numbers of vertices, 0 to 2"),
        (CORNERS, ((0, 1, -1),), "numbers of vertices, 0 to 2"),
        (CORNERS, ((0.0, 1.0, 2.0),), "numbers of vertices, 0 to 2"),
        (CORNERS, np.zeros((0, 3), int), r"triangles \(k, 3\), not \(3, 3\) and \(0, 3\)"),
        (((0.0, 0.0),), ((0, 0, 0),), r"vertices \(n, 3\)"),
        (CORNERS, np.zeros((400_001, 3), int), "400,001 triangles, too many"),
    ],
)
def test_surfaces_that_cannot_be_drawn(vertices, faces, message):
    with pytest.raises(ValueError, match=message):
        look_of(Sheet(vertices, faces))


def test_a_ball_around_its_joint_has_no_rod():
    """Its centre of mass is at the joint: there is nothing to join."""
    world = pt.World()
    world.add_body("frame", None, joint=pt.revolute((0.0, 1.0, 0.0)))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), "frame", pt.revolute((1.0, 0.0, 0.0)), placement=(0, 0, -1.0))
    picture = picture_of(world.simulate(0.02, 1e-2))
    assert [m.name for m in picture.layer("joints")] == ["frame", "ball"]


def test_a_finger_that_slides_hangs_on_a_strut_that_closes_the_gap():
    world = pt.World()
    world.add_body("hand", pt.Inertia.box(1.0, (0.2, 0.04, 0.03)), joint=pt.prismatic((0.0, 0.0, 1.0)))
    finger, side = pt.Inertia.box(0.2, (0.02, 0.04, 0.08)), pt.prismatic((1.0, 0.0, 0.0))
    world.add_body("finger", finger, "hand", side, placement=(-0.06, 0.0, -0.12))
    world.add_body("touching", finger, "hand", side, placement=(0.06, 0.0, -0.055))
    world.add_body("along", finger, "hand", side, placement=(0.2, 0.0, 0.0))  # the gap closes as it slides
    (strut,) = picture_of(world.simulate(0.02, 1e-2)).layer("joints")
    low, high = strut.triangles.vertices.min(axis=0), strut.triangles.vertices.max(axis=0)
    assert strut.body == "finger"
    assert (low + high) / 2 == pytest.approx([0.0, 0.0, (0.04 + 0.105) / 2])  # from its top to the hand's lower side
    assert high[2] - low[2] == pytest.approx(1.04 * (0.105 - 0.04))


def test_several_wheels_of_a_body_do_not_meet():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    craft = world.add_body("craft", pt.Inertia.sphere(10.0, 0.5))
    for name, axis in zip("xyz", np.eye(3), strict=True):
        craft.add(pt.Rotor(name, axis=axis, inertia=0.01, torque=0.1))
    wheels = [m for m in picture_of(world.simulate(0.02, 1e-2)).layer("parts") if m.name.split(".")[-1] in "xyz"]
    assert len(wheels) == 3
    for wheel, axis in zip(wheels, np.eye(3), strict=True):
        assert np.allclose(wheel.track.position[0] / np.linalg.norm(wheel.track.position[0]), axis, atol=1e-6)
        assert wheel.triangles.reach < 0.9 * np.linalg.norm(wheel.track.position[0])
        assert wheel.triangles.reach + np.linalg.norm(wheel.track.position[0]) < 0.5 * np.sqrt(2)
