"""Joints of every kind that separate at a load: the motion is continuous, then that of separate bodies."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt
from poinsot.run import ledger
from poinsot.world import State

STEP = 5e-4
HULL, ARM = pt.Inertia.box(20.0, (1.0, 0.8, 0.6)), pt.Pose(p=(0.3, 0.1, 0)) @ pt.Inertia.box(3.0, (0.6, 0.3, 0.2))
TIP = pt.Pose(p=(0.2, 0, 0)) @ pt.Inertia.box(0.5, (0.4, 0.1, 0.1))
MOTION = ("position", "orientation", "velocity", "angular_velocity")

# The joint, its initial position and velocity, and the load [N, N m taken together] at which it separates.
JOINTS = {
    "fixed": (pt.fixed(), {}, 14.0),
    "revolute": (pt.revolute((0.2, 1, 0.1)), {"q": [0.4], "v": [1.3]}, 14.0),
    "prismatic": (pt.prismatic((1, 0.3, 0)), {"q": [0.1], "v": [0.4]}, 9.0),
    "helical": (pt.helical((0, 1, 0.2), 0.3), {"q": [0.4], "v": [1.0]}, 14.0),
    "cylindrical": (pt.cylindrical((0, 0.3, 1)), {"q": [0.4, 0.1], "v": [1.0, -0.3]}, 11.0),
    "universal": (pt.universal((0, 1, 0), (0.1, 0, 1)), {"q": [0.3, -0.4], "v": [1.0, 0.7]}, 11.0),
    "planar": (pt.planar((0.1, 0, 1)), {"q": [0.3, 0.1, -0.2], "v": [0.8, 0.2, 0.3]}, 7.0),
    "spherical": (pt.spherical(), {"v": [0.5, -0.7, 0.9]}, 10.0),
    "translation": (pt.translation(), {"q": [0.1, 0.2, -0.1], "v": [0.2, -0.3, 0.4]}, 3.0),
    "free": (pt.free(), {}, 14.0),
}


def size(F):
    """The norm of a wrench, force and moment taken together."""
    return np.sqrt(F @ F)


def craft(joint: pt.Joint, limit: float | None, **start: object) -> pt.World:
    """A hull under a growing force, an arm that may separate from it, and a tip on the arm."""
    world = pt.World(gravity=(0, 0, 0))
    hull = world.add_body("hull", HULL, angular_velocity=(0.3, -0.4, 0.5), velocity=(1.0, 2.0, 3.0))
    X = pt.Pose.from_euler([0.3, 0.2, -0.4], p=(0.6, 0.1, 0.2))
    arm = world.add_body("arm", ARM, hull, joint, X, **start)
    on_the_way(world, lambda scene: 0.0, v=[1.0])
    arm.add(pt.Cut("root"))
    if limit is not None:
        arm.add(pt.Limit("limit", cut="root", load=lambda F: size(F) / limit, then="part"))
    return world


def on_the_way(world: pt.World, since, **start: object) -> None:
    """The tip on the arm, and the push on the hull; the run starts at the time since(scene) of it."""
    world.add_body("tip", TIP, "arm", pt.revolute((0, 0, 1), stiffness=2.0, damping=0.05), (0.6, 0.1, 0), **start)

    def push(t, scene):
        now = t + since(scene)
        return np.stack([0 * now, 200 * now, -300 * now])

    world.add_force("push", "hull", push, point=(-0.4, 0.1, 0))


def two_bodies(hull, arm, tip) -> pt.World:
    """Hull and arm as two free bodies, with what each starts with."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("hull", HULL, **hull)
    world.add_body("arm", ARM, **arm)
    world.add_input("since", 0.0)
    on_the_way(world, lambda scene: scene.input("since"), **tip)
    return world


@cache
def at_rest() -> pt.World:
    """The two bodies, compiled once for all starts."""
    return two_bodies({}, {}, {"q": [0.0], "v": [0.0]})


def apart(run: pt.Run, k: int) -> pt.Run:
    """The motion of hull and arm as two free bodies, from record k to the end."""
    start = {f"{name}.{what}": run[name][what].values[k] for name in ("hull", "arm") for what in MOTION}
    start["tip.q"] = [run.data.q.sel(coordinate="tip").values[k]]
    start["tip.v"] = [run.data.v.sel(freedom="tip").values[k]]
    return at_rest().simulate(run.time[-1] - run.time[k], STEP, vary=start, inputs={"since": run.time[k]})


def difference(a: pt.Run, b: pt.Run, when: slice = slice(None)) -> float:
    """The largest of any quantity of the motion, over these records."""
    return max(float(np.abs(a.data[x].values[when] - b.data[x].values[when]).max()) for x in MOTION)


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[] if k in ("fixed", "universal", "free") else pytest.mark.slow) for k in JOINTS]
)
def test_motion_before_and_after(kind):
    """Before, as if there were no limit; after, as two bodies started separately from the same state."""
    joint, start, limit = JOINTS[kind]
    run = craft(joint, limit, **start).simulate(0.8, STEP)
    at = float(run.limits["arm.limit"]["latched_at"])
    assert 0.1 < at < 0.6
    before, after = int(np.argmax(run.time > at)), int(np.argmax(run.time > at)) + 1
    plain = craft(pt.fixed() if kind == "free" else joint, None, **start).simulate(run.time[before - 1], STEP)
    assert difference(run, plain, slice(0, before)) < 1e-11
    alone = apart(run, after)
    assert difference(run, alone, slice(-1, None)) < 3e-10
    assert run.ledger.relative_residual.max() < 1e-11
    np.testing.assert_allclose(run.data["arm.root.wrench"].values[after:], 0.0, atol=1e-10)
    assert list(run.data.body.values) == ["hull", "arm", "tip"]
    if joint.nv and kind != "free":  # it is locked
        own = [x for x in run.data.freedom.values if x.split("[")[0] == "arm"]
        np.testing.assert_array_equal(run.data.v.sel(freedom=own).values[after:], 0.0)
        q = run.data.q.sel(coordinate=[x for x in run.data.coordinate.values if x.split("[")[0] == "arm"]).values
        np.testing.assert_allclose(q[after:], q[[after]] * np.ones((len(q) - after, 1)), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind not in ("fixed", "free")])
def test_the_motion_is_continuous(kind):
    """At the event: mass, momentum, angular momentum and energy, and the twist of every body, to rounding.

    After it, all accelerations are those of two bodies in that state.
    """
    joint, start, limit = JOINTS[kind]
    world = craft(joint, limit, **start)
    system, y = world.system(), world.start()
    parts = y.parts + np.array([name.endswith("latched") for name in system.states])
    parted, lost = system.released(State(y.q, y.v, parts))
    a, b = system.motion(0.1, y), system.motion(0.1, parted)
    np.testing.assert_allclose(
        ledger.conserved_quantities(b.scene, b.effects),
        ledger.conserved_quantities(a.scene, a.effects),
        rtol=1e-14,
        atol=1e-14,
    )
    for name in ("hull", "arm", "tip"):
        np.testing.assert_allclose(b[name].twist, a[name].twist, rtol=0, atol=2e-15)
    assert lost == 0.0
    np.testing.assert_array_equal(b.scene.joint("arm")[1], 0.0)
    assert np.abs(b.acceleration("hull") - a.acceleration("hull")).max() > 1e-3  # the hull is relieved of the arm
    np.testing.assert_array_equal(system.released(parted)[0].v, parted.v)
    hull, arm = ({what: getattr(b[name], what) for what in MOTION} for name in ("hull", "arm"))
    tip = dict(zip(("q", "v"), b.scene.joint("tip"), strict=True))
    alone = two_bodies(hull, arm, tip).motion(t=0.1)
    for name in ("hull", "arm", "tip"):
        np.testing.assert_allclose(b.acceleration(name), alone.acceleration(name), rtol=0, atol=1e-11)


def test_a_rope_that_breaks():
    """A stone on a string from the world: it is released when m (g cos a + l a'^2) is 25 N, and follows a parabola."""
    world = pt.World()
    stone = world.add_body(
        "stone", pt.Pose(p=(0, 0, -1.5)) @ pt.Inertia.sphere(1.0, 0.1), joint=pt.revolute((0, -1, 0)), q=[2.0]
    )
    stone.add(pt.Cut("knot", axis=(0, 0, -1)))
    stone.add(pt.Limit("string", cut="knot", axial=25.0, then="part"))
    run = world.simulate(2.0, STEP)
    at = float(run.limits["stone.string"]["latched_at"])
    assert str(run.limits).splitlines()[1].split() == [
        "stone.string", "knot", "1", "axial", f"{at:.6g}", f"{at:.6g}",
    ]  # fmt: skip
    # I a'^2 / 2 = m g l (cos a - cos 2), and m (g cos a + l a'^2) = 25 N
    m, g, l, I = 1.0, 9.81, 1.5, 0.4 * 0.01 + 1.5**2
    cos = (25.0 + 2 * m * l / I * m * g * l * np.cos(2.0)) / (m * g + 2 * m * l / I * m * g * l)
    a, rate = np.arccos(cos), -np.sqrt(2 * m * g * l / I * (cos - np.cos(2.0)))
    along, out = np.array([np.cos(a), 0, np.sin(a)]), np.array([np.sin(a), 0, -np.cos(a)])
    t = run.time[run.time > at] - at
    expected = l * out + np.outer(t, l * rate * along) + np.outer(t**2 / 2, [0, 0, -g])
    centre = run["stone"].position.values + np.array(
        [pt.Pose.from_quaternion(q).R @ [0, 0, -1.5] for q in run["stone"].orientation.values]
    )
    np.testing.assert_allclose(centre[run.time > at], expected, atol=2e-6)  # the time: linear interpolation in a step
    np.testing.assert_allclose(run["stone"].angular_velocity.values[run.time > at][:, 1], -rate, rtol=1e-6)
    assert run.ledger.relative_residual.max() < 1e-10


def hinge(**joint: object) -> pt.World:
    """An arm on a hinge with motor, servo and stop, which separates while tumbling."""
    world = craft(pt.revolute((0.2, 1, 0.1), **joint), 8.0, q=[0.4], v=[1.3])
    world.add_motor("motor", "arm", 0.4)
    world.add_feedback("servo", "arm", 2.0, 0.1, target=0.6)
    world.add_joint_stop("stop", "arm", 50.0, damping=0.2, upper=0.5)
    return world


def test_springs_motors_and_stops_of_a_separated_joint_have_no_effect():
    world = hinge(stiffness=3.0, rest=0.1, damping=0.2, friction=0.05)
    run = world.simulate(0.8, STEP)
    at = float(run.limits["arm.limit"]["latched_at"])
    after = int(np.argmax(run.time > at)) + 1
    assert run.data["stop.torque"].values[after] != 0.0  # compressed when it separates
    alone = apart(run, after)
    assert difference(run, alone, slice(-1, None)) < 3e-10
    assert run.ledger.relative_residual.max() < 1e-8  # dry friction is steep, and a stop sets in with a corner
    books = dict(zip(run.ledger.sources, run.ledger.inflow, strict=True))
    half = world.simulate(float(run.time[after]), STEP)
    for name, row in zip(half.ledger.sources, half.ledger.inflow, strict=True):
        if name in ("motor", "servo", "stop"):
            assert books[name][7] == pytest.approx(row[7], rel=1e-12)


def test_the_rotor_of_a_motor_stops_and_its_energy_is_in_the_ledger():
    """Armature, 0.5 A v^2, is lost through the joints; bodies keep their motion."""
    A = 0.05
    run = hinge(armature=A).simulate(0.8, STEP, every=STEP)
    at = float(run.limits["arm.limit"]["latched_at"])
    before = int(np.argmax(run.time > at)) - 1
    v = run.data.v.sel(freedom="arm").values[before - 2 : before + 1]
    rate = v @ [0, -(s := (at - run.time[before]) / STEP), 1 + s]
    books = dict(zip(run.ledger.sources, run.ledger.inflow, strict=True))
    damper = 0.05 * np.trapezoid(run.data.v.sel(freedom="tip").values ** 2, run.time)  # that of the tip
    assert 0.5 * A * rate**2 > 0.1 * damper
    assert books["joints"][7] == pytest.approx(-0.5 * A * rate**2 - damper, rel=1e-5)
    assert run.ledger.relative_residual.max() < 1e-8  # a stop sets in with a corner


def test_each_instance_separates_at_its_own_time():
    joint, start, _ = JOINTS["revolute"]
    world = craft(joint, None, **start)
    world.add(pt.Limit("limit", "arm", "arm.root", shear=1.0, then="part"))
    limits = np.array([6.0, 9.0, 12.0, 1e6])
    run = world.simulate(0.6, STEP, vary={"limit.shear": limits}, ledger=True)
    found = run.limits["limit"]
    np.testing.assert_array_equal(found["latched"], [1, 1, 1, 0])
    assert np.all(np.diff(found["latched_at"][:3]) > 0.01)
    assert "number 2; 3 of 4 passed it" in str(run.limits)
    assert run.ledger.relative_residual.max() < 1e-10
    for k, limit in enumerate(limits):
        one = world.simulate(0.6, STEP, vary={"limit.shear": limit})
        np.testing.assert_array_equal(run.y[-1, k], one.y[-1])


@cache
def spun(left: tuple = (1.0,), right: tuple = (1.0,)) -> pt.World:
    """A bar that is pushed along, with a spinning mass at each end; each hinge has its own strengths."""
    limits = {"left": left, "right": right}
    world = pt.World(gravity=(0, 0, 0))
    bar = world.add_body("bar", pt.Inertia.box(4.0, (0.2, 2.0, 0.2)))
    world.add_force("push", bar, lambda t, scene: np.stack([0 * t, 10 * t, 0 * t]))
    for name, side in (("left", -1.0), ("right", 1.0)):
        mass = world.add_body(name, pt.Inertia.sphere(1.0, 0.1), bar, pt.revolute((0, 1, 0)), (0, side, 0), v=[3.0])
        mass.add(pt.Cut("root", axis=(0, 1, 0)))
        for k, limit in enumerate(limits[name]):
            mass.add(pt.Limit(f"limit{k}", cut="root", axial=limit, then="part"))
    return world


@cache
def run_of(right, method="rk4") -> pt.Run:
    """A run in which the right hinge has this strength [N], and the left one 1 N."""
    return spun().simulate(1.0, STEP, method=method, vary={"right.limit0.axial": right})


def test_two_joints_that_separate_in_one_step():
    """Both masses separate when m F / (4 + 1 + 1) reaches the limit; or the second one after the first."""
    run = run_of(1.0)
    times = [float(run.limits[f"{name}.limit0"]["latched_at"]) for name in ("left", "right")]
    np.testing.assert_allclose(times, 0.6, rtol=1e-12)
    np.testing.assert_allclose(run["bar"].angular_velocity.values[-1], 0.0, atol=1e-14)
    assert run["bar"].velocity.values[-1, 1] == pytest.approx(5 * 0.36 / 6 + 5 * 0.64 / 4, rel=1e-12)
    np.testing.assert_allclose(run["left"].velocity.values[-1, 1], 5 * 0.36 / 6, rtol=1e-12)
    np.testing.assert_allclose(run["left"].angular_velocity.values[-1], [0, 3.0, 0], atol=1e-12)
    # One separates: the other is then loaded by F/5 instead of F/6, at once.
    later = run_of(1.1)
    found = {name: later.limits[f"{name}.limit0"] for name in ("left", "right")}
    np.testing.assert_allclose([row["latched_at"] for row in found.values()], 0.6, rtol=1e-12)
    assert found["right"]["worst"] == pytest.approx(1.2 / 1.1, rel=1e-12)
    assert later.ledger.relative_residual.max() < 1e-12
    # And alone, if the other is stronger.
    alone = run_of(3.0)
    assert [float(alone.limits[f"{name}.limit0"]["latched"]) for name in ("left", "right")] == [1, 0]


def test_the_first_of_two_limits_releases_a_joint():
    run = spun(left=(2.0, 1.0), right=(1e6,)).simulate(0.7, STEP)
    assert run.limits["left.limit1"]["latched_at"] == pytest.approx(0.6, rel=1e-12)
    assert run.limits["left.limit0"]["latched"] == 0
    away = run["bar"].position.values[-1, 1] - run["left"].position.values[-1, 1]
    assert away == pytest.approx(1.0 + 10 / 5 * (0.7**3 / 6 - 0.6**3 / 6 - 0.6**2 * 0.1 / 2), rel=1e-12)
    assert run.ledger.relative_residual.max() < 1e-11


@pytest.mark.parametrize(("method", "tolerance"), [("midpoint", 1e-6), ("semi-implicit euler", 1e-2)])
def test_other_methods_separate_as_well(method, tolerance):
    a, b = run_of(3.0), run_of(3.0, method)
    assert b.limits["left.limit0"]["latched_at"] == pytest.approx(0.6, abs=1e-6)
    assert difference(a, b, slice(-1, None)) < tolerance


@pytest.mark.parametrize("shear", [16.0, pytest.param(1e6, marks=pytest.mark.slow)])
def test_sensitivity_with_and_without_separation(shear):
    """Derivatives of the outcome, including the time of separation, agree with differences of runs."""
    world = pt.World()
    arm = world.add_body("arm", ARM, None, pt.revolute((0.2, 1, 0.1), damping=0.2, stiffness=3.0), v=[1.3])
    arm.add(pt.Cut("root")).add(pt.Limit("limit", cut="root", shear=shear, then="part"))
    paths, outputs = ("arm.limit.shear", "arm.mass"), ("arm.position", "arm.angular_velocity")
    exact = world.sensitivity(outputs, paths, 0.4, 1e-3)
    steps = 1e-6 * np.array([world[path] for path in paths])
    beside = np.kron(np.diag(steps), [1.0, -1.0])
    around = {path: world[path] + row for path, row in zip(paths, beside, strict=True)}
    run = world.simulate(0.4, 1e-3, vary=around)
    np.testing.assert_array_equal(run.limits["arm.limit"]["latched"], float(shear < 1e3))
    for output in outputs:
        body, _, what = output.partition(".")
        ends = run[body][what].values[-1].reshape(2, 2, 3)
        for path, h, (a, b) in zip(paths, steps, ends, strict=True):
            slope = (a - b) / (2 * h)
            np.testing.assert_allclose(exact[output, path], slope, atol=1e-7 * (1 + np.abs(slope).max()))
        counts = np.abs(exact[output, "arm.limit.shear"]).max() > 1e-4
        assert counts == (shear < 1e3)  # with separation, the limit itself matters


def test_errors_name_the_joint_and_the_fix():
    world = pt.World()
    bob = world.add_body("bob", pt.Inertia(1.0, (0, 0, -1.0), np.zeros((3, 3))), joint=pt.revolute((0, 1, 0)))
    bob.add(pt.Cut("pin")).add(pt.Limit("limit", cut="pin", shear=1.0, then="part"))
    with pytest.raises(
        ValueError, match=r"once everything has parted that may, .* joint of link 'bob\.mount' .*singular"
    ):
        world.motion()
    world = craft(pt.revolute((0, 1, 0)), None)
    world.add(pt.Limit("limit", "tip", "arm.root", shear=1.0, then="part"))
    with pytest.raises(ValueError, match=r"joint of 'tip' go, but its cut 'arm\.root' goes through 'arm'; put"):
        world.motion()
    world = craft(pt.revolute((0, 1, 0)), None)
    world.add(pt.Cut("middle", "arm", piece=pt.Inertia.box(1.0, (0.3, 0.3, 0.2))))
    world.add(pt.Limit("limit", "arm", "middle", shear=1.0, then="part"))
    with pytest.raises(ValueError, match=r"its cut 'middle' goes through the body itself\. Make the piece a body"):
        world.motion()
    world = craft(pt.free(), 1.0, v=[0, 0, 0, 1.0, 0, 0])
    with pytest.raises(ValueError, match=r"holds it before; but it starts with v = .* Start it with its parent"):
        world.motion()
