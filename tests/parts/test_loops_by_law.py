"""Closing forces at one instant: what they do on both bodies, and whose numbers they are."""

import numpy as np
import pytest
from instants import body

import poinsot as pt
from poinsot.parts.closed_loop import ClosedLoop
from poinsot.spatial import Pose, motion


def closed(a, relation=None, tree=False, **more):
    """Free bodies "a" and "b" in random motion, b closed to `a` or to the world; or b on a joint of "a"."""
    rng = np.random.default_rng(3)
    world = pt.World((0, 0, -9.81))
    ends = [Pose.from_euler(rng.normal(size=3), p=rng.normal(size=3)) for _ in range(2)]
    X_WA = Pose.from_euler(rng.normal(size=3), p=rng.normal(size=3))
    X_WB = (X_WA if a == "a" else Pose()) @ ends[0] @ ends[1].inverse()
    world.add_body("a", body(rng), None, None, X_WA, v=np.concatenate([rng.normal(size=3), np.zeros(3)]))
    world.add_body("b", body(rng), None, None, X_WB)
    world.close("pin", a, "b", relation or pt.spherical(), *ends, **more)
    return world.motion(), ends


def test_two_bodies_push_each_other():
    """Opposite wrenches in the world, no power, nothing from outside; `force` is that on b, in the axes of its end."""
    moved, ends = closed("a")
    effect, scene = moved.effects["pin"], moved.scene
    on = {name: motion.wrench_in_frame(scene[name].pose, F) for name, F in effect.wrenches.items()}
    assert set(on) == {"a", "b"}
    np.testing.assert_allclose(on["a"], -on["b"], atol=1e-10)
    assert np.linalg.norm(on["a"]) > 0.1
    np.testing.assert_allclose(
        effect.shown["force"], motion.wrench_in_frame(ends[1].inverse(), effect.wrenches["b"]), atol=1e-12
    )
    np.testing.assert_allclose(effect.shown["force"][:3], 0.0, atol=1e-10)  # a ball joint has no torque at its centre
    assert effect.outside == {}
    assert effect.power == 0
    p = [ends[0].p, ends[1].p]
    v = [motion.point_velocity(scene[n].twist, x) for n, x in zip("ab", p, strict=True)]
    rates = [moved.acceleration(n) for n in "ab"]
    a = [
        scene[n].pose.R @ (A[3:] + np.cross(A[:3], x) + np.cross(scene[n].twist[:3], u))
        for n, A, x, u in zip("ab", rates, p, v, strict=True)
    ]
    np.testing.assert_allclose(a[0], a[1], atol=1e-9)  # the two ends accelerate alike


def test_the_world_pushes_from_outside():
    effect = closed("world")[0].effects["pin"]
    assert set(effect.wrenches) == {"b"}
    np.testing.assert_array_equal(effect.outside["b"], effect.wrenches["b"])
    assert np.linalg.norm(effect.outside["b"]) > 1.0


def test_a_loop_has_the_numbers_of_its_relation():
    """They are taken from it, or given instead; a closure of a mechanism becomes the same loop."""
    X, Y = Pose(p=(1, 2, 3)), Pose(p=(4, 5, 6))
    loop = ClosedLoop("rod", "a", "b", pt.distance(0.7), X, Y)
    assert loop.length == 0.7
    assert ClosedLoop("rod", "a", "b", pt.distance(0.7), X, Y, length=0.9).relation.length == 0.9
    again = ClosedLoop.of(loop.closure())
    assert (again.name, again.a, again.b, again.length) == ("rod", "a", "b", 0.7)
    np.testing.assert_array_equal([again.placement_a.p, again.placement_b.p], [X.p, Y.p])
    assert ClosedLoop.of(ClosedLoop("rod", "world", "b", pt.distance(0.7)).closure()).a == "world"
    assert loop.bodies() == ("a", "b")
    assert ClosedLoop("rod", "world", "b", pt.distance(0.7)).bodies() == ("b",)
    assert loop.closure().held == 1.0
    with pytest.raises(ValueError, match="let a be the world, and b a body"):
        ClosedLoop("rod", "a", "world", pt.distance(0.7))


def test_a_coupling_acts_in_joints_alone():
    """Gears do no work in all; a drive does what it puts in."""
    world = pt.World((0, 0, 0))
    for name, v in (("a", 2.0), ("b", 4.0)):
        world.add_body(name, pt.Inertia.box(3.0, (1, 2, 3)), joint=pt.revolute((0, 0, 1)), v=v)
    world.add_motor("m", "a", 5.0)
    world.close("gears", "a", "b", pt.coupling(2.0))
    effect = world.motion().effects["gears"]
    work = 2.0 * effect.joint_forces["a"] + 4.0 * effect.joint_forces["b"]
    np.testing.assert_allclose(work, 0.0, atol=1e-12)
    assert effect.shown["force"] == pytest.approx(effect.joint_forces["b"][0])
    assert effect.joint_forces["b"][0] > 0.1
    assert effect.power == 0
    assert effect.outside == {}
