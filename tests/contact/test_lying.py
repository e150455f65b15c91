"""Capsules that lie along boxes, cylinders and each other: they touch at both ends of the line of contact and come to
rest, and the force does not jump as they rock or turn."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poinsot as pt
from poinsot.contact.patches import patches
from poinsot.contact.pressing import Pressed
from poinsot.run.compiled import CompiledSystem
from poinsot.spatial import Pose
from poinsot.spatial.shapes import Box, Capsule, Cylinder
from poinsot.world.system import System

WOOD = pt.Material(1e5, 1.0, 0.5)
LOG = Capsule(0.05, 0.3)
SIDEWAYS = Rotation.from_euler("y", np.pi / 2).as_matrix()
UNDER = {  # what lies under a log along x at the origin, its surface at z = -0.05
    "wide box": (Box((1.0, 1.0, 0.2)), Pose(p=(0, 0, -0.15))),
    "narrow box": (Box((0.1, 1.0, 0.2)), Pose(p=(0.03, 0, -0.15))),
    "cylinder's end": (Cylinder(0.4, 0.2), Pose(p=(0, 0, -0.15))),
    "cylinder's side": (Cylinder(0.1, 0.2), Pose(SIDEWAYS, (0.02, 0, -0.15))),
    "capsule": (Capsule(0.1, 0.2), Pose(SIDEWAYS, (0.02, 0, -0.15))),
}


def rotated(x=0.0, y=0.0, z=0.0):
    return Rotation.from_euler("xyz", [x, y, z]).as_matrix() @ SIDEWAYS


def push(found):
    """The wrench (6,) of patches at rest."""
    total, still = np.zeros(6), np.zeros(6)
    for f in found:
        share = 1.0 if f.share is None else float(f.share)
        patch = Pressed(f.normal, f.points, f.depths, np.zeros(3), np.zeros(3), np.zeros(3), share)
        total = total + patch.wrench(patch.grip(WOOD, 0.0, still), patch.speeds(still))
    return total


@pytest.mark.parametrize("under", UNDER)
def test_the_force_does_not_jump_as_a_log_rocks(under):
    solid, at = UNDER[under]
    depth = 1e-4
    wrenches, deepest = [], []
    for tilt in np.linspace(-4e-4, 4e-4, 81):
        found = patches(LOG, Pose(rotated(y=tilt), (0, 0, -depth)), solid, at)
        wrenches.append(push(found))
        deepest.append(max(float(f.depths[0]) for f in found))
    level = push(patches(LOG, Pose(rotated(), (0, 0, -depth)), solid, at))
    assert level[5] == pytest.approx(2 * WOOD.stiffness * depth, rel=1e-6)  # both ends bear
    wrenches = np.array(wrenches)
    back = wrenches[:, 1] - level[1]
    assert back[0] * back[-1] < 0  # it is turned back from either side
    assert np.abs(np.diff(wrenches, axis=0)).max() < 0.02 * np.abs(wrenches).max()
    assert np.all(np.array(deepest) > 0)


@pytest.mark.parametrize("tilt", [0.0, 4e-4])
def test_the_force_does_not_jump_as_a_log_turns_on_another(tilt):
    """From two points where it lies along, to one where it crosses, which is as deep as it is."""
    other = Pose(SIDEWAYS, (0.02, 0, -0.0999))
    angles = np.concatenate([np.linspace(0, 0.05, 101), np.linspace(0.05, 0.5, 21)])
    forces = []
    for angle in angles:
        found = patches(LOG, Pose(rotated(y=tilt, z=angle)), LOG, other)
        forces.append(push(found))
    forces = np.array(forces)
    assert np.abs(np.diff(forces, axis=0)).max() < 0.03 * np.abs(forces).max()
    if not tilt:
        assert forces[0, 5] == pytest.approx(2e-4 * WOOD.stiffness, rel=1e-6)
        assert forces[-1, 5] == pytest.approx(1e-4 * WOOD.stiffness, rel=1e-6)


def test_logs_are_as_deep_as_the_nearest_points_of_their_axes():
    rng = np.random.default_rng(4)
    t = np.linspace(-0.5, 0.5, 401)
    for k in range(12):
        R = Rotation.random(2, random_state=rng).as_matrix()
        if k % 3 == 0:  # nearly parallel
            R[1] = Rotation.from_rotvec(1e-3 * rng.normal(size=3)).as_matrix() @ R[0]
        a, b = Capsule(0.1, 0.5), Capsule(0.15, 0.3)
        X, Y = Pose(R[0], 0.1 * rng.normal(size=3)), Pose(R[1], 0.1 * rng.normal(size=3))
        gaps = (X.p + 0.5 * t[:, None] * R[0][:, 2])[:, None] - (Y.p + 0.3 * t[:, None] * R[1][:, 2])[None]
        wanted = 0.25 - np.linalg.norm(gaps, axis=2).min()
        found = patches(a, X, b, Y)
        assert max(float(f.depths[0]) for f in found) == pytest.approx(wanted, abs=2e-5 if wanted < 0.2 else 2e-3)
        bears = sum(float(f.share * max(f.depths[0], 0.0)) for f in found)
        assert wanted < 0 or (1 - 1e-3) * wanted < bears < 2.001 * wanted


def lying(under, listed, tilt):
    world = pt.World()
    for k, (solid, at) in enumerate(under):
        fixed = pt.Collider(solid, at)
        world.add_body(f"under{k}", pt.Inertia.sphere(1.0, 0.1), joint=pt.fixed(), shapes=[fixed])
    turned = Pose(rotated(x=0.7, y=tilt, z=0.5 * tilt)).quaternion()
    world.add_body("log", pt.Inertia.capsule(1.0, 0.05, 0.3), position=(0.01, 0, 0.01), orientation=turned)
    for k in range(len(under)):
        if not listed:
            world.collide("log", f"under{k}", WOOD)
    if listed:
        world.collide(["log"], [f"under{k}" for k in range(len(under))], WOOD, capacity=12)
    return world


GROOVE = [(Capsule(0.06, 1.0), Pose(SIDEWAYS, (0, s * 0.065, -0.088))) for s in (-1, 1)]


@pytest.mark.parametrize("under", ["wide box", "cylinder's end", "narrow box", "groove"])
def test_a_log_comes_to_rest(under):
    world = lying(GROOVE if under == "groove" else [UNDER[under]], False, 0.03)
    for touch in [name for name in world.description.elements if name.startswith("log-")]:
        world[f"{touch}.rolling"] = 1e-3  # across itself, it would roll on
    run = world.simulate(3.0, 2e-3, every=1.0, ledger_tolerance=np.inf)
    assert np.abs(run.data.velocity.sel(body="log").values[-1]).max() < 1e-6  # it dies out; no end takes over again
    assert np.abs(run.data.angular_velocity.sel(body="log").values[-1]).max() < 1e-6
    assert np.all(run.ledger.relative_residual < 1e-12)


def test_a_box_on_two_logs_comes_to_rest():
    world = pt.World()
    for k, (solid, at) in enumerate(GROOVE):
        world.add_body(f"under{k}", pt.Inertia.sphere(1.0, 0.1), joint=pt.fixed(), shapes=[pt.Collider(solid, at)])
    world.add_body("box", pt.Inertia.box(1.0, (0.3, 0.2, 0.1)), position=(0.01, 0.01, 0.03))
    world.collide(["box"], ["under0", "under1"], WOOD)
    run = world.simulate(3.0, 2e-3, every=1.0, ledger_tolerance=np.inf)
    assert np.abs(run.data.velocity.sel(body="box").values[-1]).max() < 1e-12
    assert np.abs(run.data.angular_velocity.sel(body="box").values[-1]).max() < 1e-12


def test_logs_in_a_list_move_as_pair_by_pair(monkeypatch):
    monkeypatch.setattr("poinsot.environment.touch_list.GAIN", 1e4)
    one, other = (
        lying(GROOVE, listed, 0.03).simulate(0.4, 2e-3, every=0.02, ledger=False).data.position.sel(body="log").values
        for listed in (True, False)
    )
    assert np.abs(one - other).max() < 1e-9
    run = lying(GROOVE, True, 0.03).simulate(0.4, 2e-3, every=0.2, ledger_tolerance=np.inf)
    assert np.all(run.ledger.relative_residual < 1e-12)


def test_a_list_of_balls_and_logs_has_room_for_the_ends():
    world = pt.World()
    for k, inertia in enumerate((pt.Inertia.sphere(1.0, 0.1), *[pt.Inertia.capsule(1.0, 0.05, 0.3)] * 2)):
        world.add_body(f"b{k}", inertia, position=(0.3 * k, 0, 0))
    world.collide(capacity=100)
    only = pt.World()
    for k in range(3):
        only.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(0.3 * k, 0, 0))
    only.collide(capacity=100)
    assert [w.description.elements["contacts"].capacity for w in (world, only)] == [9, 3]


def test_a_heap_of_logs_comes_to_rest():
    """In lists, by conjugate gradients."""
    law, rng, lying = pt.Material(2e4, 1.0, 0.6, 0.0, 1e-3), np.random.default_rng(1), Pose(SIDEWAYS)
    world = pt.World()
    world.add_ground(capacity=80, surface=law, distance=lambda p: np.minimum(p[2], 0.35 - np.abs(p[1])))
    for k in range(18):
        turned = (Pose.from_euler((0, 0, 0.02 * rng.normal())) @ lying).quaternion()
        x, y = rng.normal(size=2)
        place = (0.02 * x, 0.24 * (k % 3 - 1) + 0.01 * y, 0.1 + 0.18 * (k // 3))
        world.add_body(f"log{k}", pt.Inertia.capsule(1.0, 0.08, 0.5), position=place, orientation=turned)
    world.collide(surface=law)
    run = world.simulate(3.0, 2e-3, every=1.0, ledger_tolerance=np.inf)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-4
    assert np.abs(run.data.angular_velocity.values[-1]).max() < 1e-3
    assert np.all(run.ledger.relative_residual < 1e-11)


@pytest.mark.parametrize("listed", [False, True])
def test_slopes_of_steps_of_a_log_are_those_of_differences(listed):
    """Exactly along what it lies on, where ends and deepest point meet, and as it comes to rest."""
    system = CompiledSystem(System(lying(GROOVE, listed, 0.0).description, ()), "implicit", {}, False)
    signature = f"({system.ny}),({system.np})->({system.ny})"
    kernel = pt.kernel(signature)(lambda y, p: system._advance_state(y, p, 0.0, 2e-3, 2))
    p, rng, along = system.parameters({}, {}), np.random.default_rng(2), pt.jvp(kernel, wrt=(0,))
    y = np.array(system.start(p))
    for step in range(40):
        y = kernel(y, p)
        if step not in (0, 5, 39):
            continue
        dy = np.zeros(system.ny)
        moving = system.system.nq + system.system.nv
        dy[:moving] = rng.normal(size=moving)
        dy[: system.system.nq] *= 1e-3
        slopes = along(y, p, dy)[1]
        differences = (kernel(y + 1e-6 * dy, p) - kernel(y - 1e-6 * dy, p)) / 2e-6
        assert np.abs(slopes - differences).max() < 1e-6 * max(1.0, np.abs(differences).max())


@pytest.mark.parametrize("under", [Box((0.3, 0.5, 0.2)), Cylinder(0.2, 0.3)], ids=["box", "cylinder"])
def test_slopes_of_where_a_log_crosses_an_edge_are_those_of_differences(under):
    """The place on its axis that is deepest moves as it is turned, on faces, sides, edges and rims."""

    def met(x):
        found = patches(LOG, Pose(Pose.exp(np.concatenate([x[:3], np.zeros(3)])).R, x[3:]), under, Pose())
        deepest = found[-1]
        return np.concatenate([deepest.normal, deepest.points[0], deepest.depths, deepest.share[None]])

    kernel = pt.kernel("(6)->(8)")(met)
    slopes, rng, seen = pt.jacobian(kernel), np.random.default_rng(4), 0
    for _ in range(150):
        x = np.concatenate([rng.uniform(-3, 3, 3), rng.uniform(-0.25, 0.25, 3)])
        y = kernel(x)
        if not (0 < y[6] < LOG.radius and y[7] > 0.5):
            continue
        h, seen = 1e-6, seen + 1
        differences = np.stack([(kernel(x + h * e) - kernel(x - h * e)) / (2 * h) for e in np.eye(6)], axis=1)
        assert slopes(x) == pytest.approx(differences, rel=1e-6, abs=1e-6 * np.abs(differences).max())
    assert seen >= 5
