"""Margins: how far outside their shapes bodies touch, on the ground and on each other, alone and in lists."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.contact.patches import patches
from poinsot.spatial import Pose, shapes

G = 9.81
LAW = pt.Material(1e4, 2.0, 0.5)
SHAPES = {
    "ball": shapes.Sphere(0.1),
    "capsule": shapes.Capsule(0.1, 0.2),
    "box": shapes.Box((0.2, 0.2, 0.2)),
    "cylinder": shapes.Cylinder(0.1, 0.2),
    "ellipsoid": shapes.Ellipsoid((0.1, 0.1, 0.1)),
}


@pytest.mark.parametrize("capacity", [None, 20])
def test_bodies_rest_as_far_apart_as_their_margins_say(capacity):
    world = pt.World()
    world.add_ground(surface=LAW, capacity=capacity)
    for k, margin in enumerate((0.03, 0.02)):
        ball = pt.Collider(shapes.Sphere(0.1), margin=margin)
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.13 + 0.25 * k), shapes=[ball])
    if capacity is None:
        world.collide("b0", "b1", LAW)
    else:
        world.collide(["b0", "b1"], surface=LAW, capacity=capacity)
    run = world.simulate(2.0, 2e-3, every=1.0, ledger_tolerance=np.inf)
    z = run.data.position.sel(axis="z").values[-1]
    assert z == pytest.approx([0.13 - 2 * G / 1e4, 0.38 - 3 * G / 1e4], abs=1e-9)
    assert np.all(run.ledger.relative_residual < 1e-12)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", ["ball", "box", "ellipsoid"])
def test_depths_are_those_of_the_shapes_and_the_margin(a, b):
    for gap in (0.01, 0.04, 0.3):
        at = Pose(p=(0.01, 0.02, 0.2 + gap + (0.1 if a == "capsule" else 0.0)))
        bare, wide = (patches(SHAPES[a], at, SHAPES[b], Pose(), margin) for margin in (0.0, 0.05))
        deepest = max(float(np.max(p.depths)) for p in wide)
        assert (deepest > 0) == (gap < 0.05) or b != "box"  # a round one is a little farther off aside
        known = [(p, q) for p, q in zip(bare, wide, strict=True) if np.max(p.depths) > -0.5]
        assert all(np.allclose(q.depths[p.depths > -0.5], p.depths[p.depths > -0.5] + 0.05) for p, q in known)


def test_a_margin_is_kept_in_a_file(tmp_path):
    world = pt.World()
    world.add_ground(surface=LAW)
    ball = pt.Collider(shapes.Sphere(0.1), margin=0.03)
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.13), shapes=[ball])
    world.simulate(0.01, 2e-3).save(tmp_path / "a.nc")
    back = pt.load_run(tmp_path / "a.nc").world
    assert back.description.bodies["ball"].shapes[0].margin == 0.03
    with pytest.raises(ValueError, match=r"margin of a collider must be a length .*not -1"):
        pt.Collider(shapes.Sphere(0.1), margin=-1)


def test_the_margin_of_a_geom_is_mujocos(tmp_path):
    mujoco = pytest.importorskip("mujoco", minversion="4")
    path = tmp_path / "ball.xml"
    path.write_text("""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body name="ball" pos="0 0 0.15"><freejoint/>
        <geom type="sphere" size="0.1" mass="2" margin="0.03"/></body></worldbody></mujoco>""")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    world = pt.World()
    world.add_mechanism(pt.load_mjcf(path))
    with pytest.warns(UserWarning, match="are left out") as told:
        world.add_ground(surface=pt.Material(stiffness=1e12))
    assert not any("margins of" in str(warning.message) for warning in told)
    run = world.simulate(3.0, 2e-3, every=1.0, ledger=False)
    assert run.data.position.sel(axis="z").values[-1, 0] == pytest.approx(
        data.qpos[2], abs=1e-4
    )  # it sinks in by 0.4 mm
