"""Which bodies may touch which: all of a world, groups, neighbours, surfaces that differ, shapes of their own."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment import PairTouch, Touch
from poinsot.spatial import shapes


def touches(world):
    return {name for name, e in world.description.elements.items() if isinstance(e, Touch | PairTouch)}


def chain():
    """A pelvis with two legs of two links each; a foot is fixed to each shin; a massless link lies between."""
    world = pt.World()
    link = pt.Inertia.capsule(1.0, 0.05, 0.3)
    world.add_body("pelvis", pt.Inertia.box(3.0, (0.3, 0.3, 0.2)), position=(0, 0, 2))
    for side in ("left", "right"):
        world.add_body(f"{side}-hip", None, "pelvis", pt.revolute((1, 0, 0)), placement=(0, 0.3, 0))
        world.add_body(f"{side}-thigh", link, f"{side}-hip", pt.revolute((0, 1, 0)))
        world.add_body(f"{side}-shin", link, f"{side}-thigh", pt.revolute((0, 1, 0)), placement=(0, 0, -0.5))
        world.add_body(f"{side}-foot", pt.Inertia.box(0.1, (0.2, 0.1, 0.05)), f"{side}-shin", placement=(0, 0, -0.3))
    return world


def test_all_bodies_but_neighbours():
    world = chain()
    world.collide()
    found = {frozenset(name.replace("left-", "l").replace("right-", "r").split("-")) for name in touches(world)}
    bodies = ["pelvis", *(s + part for s in "lr" for part in ("thigh", "shin", "foot"))]
    every = {frozenset((a, b)) for k, a in enumerate(bodies) for b in bodies[k + 1 :]}
    near = {("thigh", "shin"), ("thigh", "foot"), ("shin", "foot")}  # a foot is fixed to its shin
    neighbours = {frozenset((s + a, s + b)) for s in "lr" for a, b in near} | {
        frozenset(("pelvis", s + "thigh")) for s in "lr"
    }
    assert found == every - neighbours


def test_groups_and_pairs_that_are_ignored():
    world = chain()
    world.ignore("pelvis", "left-shin")
    world.collide(["left-shin", "left-foot"], ["pelvis", "right-shin"])
    assert touches(world) == {"left-shin-right-shin", "left-foot-pelvis", "left-foot-right-shin"}
    world.collide("left-shin", "pelvis")
    world.collide()
    assert "left-shin-pelvis" in touches(world)
    assert "pelvis-left-shin" not in touches(world)
    with pytest.raises(ValueError, match="there is no body 'left-shn'; did you mean 'left-shin'"):
        world.collide(["left-shn"])
    with pytest.raises(ValueError, match=r"collide needs two bodies, or a list of them; got only 'pelvis'"):
        world.collide("pelvis")
    with pytest.raises(ValueError, match="body 'pelvis' cannot touch itself"):
        world.collide("pelvis", "pelvis")


def test_many_bodies_share_one_list():
    world = pt.World()
    for k in range(40):
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(k, 0, 0))
    world.collide()
    assert list(world.description.elements) == ["contacts"]
    assert len(world.description.elements["contacts"].pairs) == 780


def test_shapes_of_their_own_and_their_surfaces():
    ice, rubber = pt.Material(friction=0.05), pt.Material(stiffness=1e4, damping=1.0, friction=1.2)
    world = pt.World()
    world.add_ground(surface=pt.Material(stiffness=1e4, damping=0.0, friction=0.4))
    feet = [pt.Collider(shapes.Sphere(0.05), pt.Pose(p=(x, y, -0.1)), rubber) for x in (-1, 1) for y in (-1, 1)]
    skid = pt.Collider(shapes.Box((0.1, 0.1, 0.1)), surface=ice, priority=1)
    world.add_body("sled", pt.Inertia.box(9.0, (2, 2, 0.1)), position=(0, 0, 1), shapes=[*feet, skid])
    elements = world.description.elements
    assert touches(world) == {"sled-ground", "sled-ground-2"}
    assert (elements["sled-ground"].count, elements["sled-ground-2"].count) == (4, 8)
    on_feet = elements["sled-ground"]
    assert (on_feet.stiffness, on_feet.damping, on_feet.friction) == (5e3, 0.5, 1.2)  # in series; the mean; the greater
    assert elements["sled-ground-2"].friction == 0.05  # by its priority
    world.collide("sled", "ground", pt.Material(friction=0.7))
    assert touches(world) == {"sled-ground"}
    assert world.description.elements["sled-ground"].count == 12


def test_groups_of_shapes():
    world = pt.World()
    world.add_ground()
    body = pt.Inertia.sphere(1.0, 0.1)
    for name, groups in (("a", (1, 1)), ("b", (2, 1)), ("c", (0, 0)), ("d", (2, 2))):
        world.add_body(name, body, position=(ord(name), 0, 1), shapes=[pt.Collider(shapes.Sphere(0.1), groups=groups)])
    world.collide()
    assert touches(world) == {"a-ground", "b-ground", "a-b", "b-d"}


def test_what_is_not_a_collider():
    mesh = pt.spatial.mesh.Mesh(*[getattr(pt.hull(np.eye(4, 3)), key) for key in ("vertices", "faces")])
    for shape, match in (
        (mesh, r"a Mesh is not a shape that can touch anything: take pt.hull\(mesh\)"),
        (3.0, "float"),
    ):
        with pytest.raises(ValueError, match=match):
            pt.World().add_body("a", pt.Inertia.sphere(1.0, 0.1), shapes=[shape])
    with pytest.raises(ValueError, match=r"surface of a collider must be a pt.Material, not 'wood'"):
        pt.Collider(shapes.Sphere(0.1), surface="wood")
    with pytest.raises(ValueError, match=r"friction of a material must be zero or more, not -0.1"):
        pt.World().add_surface("ice", friction=-0.1)


def test_a_cylinder_stands_on_a_box_and_a_hull_on_both():
    """They come to rest, and each bears what lies on it."""
    world = pt.World()
    world.add_ground(surface=pt.Material(1e5, 0.5, 0.6))
    cube = pt.hull(np.array(np.meshgrid(*[[-0.05, 0.05]] * 3)).reshape(3, -1).T)
    world.add_body("box", pt.Inertia.box(2.0, (0.3, 0.3, 0.1)), position=(0, 0, 0.05))
    world.add_body("drum", pt.Inertia.cylinder(1.0, 0.08, 0.1), position=(0.02, 0, 0.15))
    world.add_body("cube", pt.Inertia.mesh(cube, mass=0.5), position=(0, 0.01, 0.25))
    world.collide()
    world.ignore("cube", "box")
    run = world.simulate(1.5, 2e-3, every=0.5, ledger=False)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-6
    for name, mass in (("box-ground", 3.5), ("box-drum", -1.5), ("drum-cube", -0.5)):
        assert run.data[f"{name}.force"].values[-1] == pytest.approx([0, 0, 9.81 * mass], abs=1e-4)
    assert np.abs(run.data.position.values[-1, :, 2] - [0.05, 0.15, 0.25]).max() < 1e-3
