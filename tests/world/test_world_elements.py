"""Elements of a world: springs, motors, feedback, stops, inputs, starts; each against its own known effect."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from world_models import NOTHING, G, close, rod, same_orientation

import poinsot as pt
from poinsot.spatial import quaternion
from poinsot.world.system import System


def hinge(inertia: float = 0.5, **joint: float) -> pt.World:
    """One degree of freedom without gravity: inertia * q'' = tau."""
    world = pt.World(gravity=NOTHING)
    disc = pt.Inertia(1.0, np.zeros(3), inertia * np.diag([0.5, 0.5, 1.0]))
    world.add_body("disc", disc, joint=pt.revolute((0, 0, 1), **joint))
    return world


def test_spring_and_damper_of_a_joint():
    """J q'' + c q' + k (q - rest) = 0, damped below the critical: exp(-d t) cos."""
    J, k, c, rest = 0.5, 8.0, 0.4, 0.3
    run = hinge(J, stiffness=k, damping=c, rest=rest).simulate(3.0, 1e-3)
    d = c / (2 * J)
    w = np.sqrt(k / J - d**2)
    q = rest - rest * np.exp(-d * run.time) * (np.cos(w * run.time) + d / w * np.sin(w * run.time))
    close(run.data.q[:, 0], q, 1e-11)
    assert run.ledger.relative_residual.max() < 1e-10


def test_dry_friction_of_a_joint_stops_it():
    """A torque that does not depend on the speed: it stops after J v / tau."""
    world = hinge(0.5, friction=0.2)
    world["disc.v"] = [1.0]
    run = world.simulate(4.0, 1e-3)
    moving = run.time < 2.4
    close(run.data.v[moving, 0], 1.0 - 0.2 / 0.5 * run.time[moving], 1e-4)
    assert abs(run.data.v[-1, 0]) < 1e-4


def test_feedback_brings_a_joint_to_its_target():
    J, kp, kd, target = 0.5, 20.0, 3.0, 0.7
    world = hinge(J)
    world.add_feedback("servo", "disc", kp, kd, target=target)
    run = world.simulate(2.0, 1e-3)

    def rate(t, y):
        return [y[1], (kp * (target - y[0]) - kd * y[1]) / J]

    exact = solve_ivp(rate, (0, 2.0), [0, 0], t_eval=run.time, method="DOP853", rtol=1e-12, atol=1e-13).y[0]
    close(run.data.q[:, 0], exact, 1e-10)
    close(run.data["servo.error"][:, 0], target - exact, 1e-10)
    assert abs(run.data.q[-1, 0] - target) < 1e-2


def test_feedback_follows_a_moving_target_and_keeps_its_limit():
    world = hinge(0.5)
    world.add_feedback("servo", "disc", 50.0, 10.0, target=lambda t, s: 0.5 * t, target_rate=0.5, limit=0.8)
    run = world.simulate(4.0, 1e-3)
    assert np.abs(run.data["servo.torque"]).max() == 0.8
    close(run.data.q[-1, 0], 0.5 * 4.0, 1e-6)


def test_feedback_on_an_attitude_turns_the_short_way():
    """Where q is a quaternion the error is a rotation vector: also for the target -q."""
    target = quaternion.exp(np.array([0.4, -1.0, 0.8]))
    ends = []
    for sign in (1.0, -1.0):
        world = pt.World(gravity=NOTHING)
        world.add_body("craft", pt.Inertia.box(1.0, (0.3, 0.4, 0.5)), joint=pt.spherical())
        world.add_feedback("autopilot", "craft", 0.2, 0.15, target=sign * target)
        ends.append(world.simulate(10.0, 1e-2))
    for run in ends:
        same_orientation(run["craft"].orientation[-1], target, 1e-6)
    close(ends[0].y[-1], ends[1].y[-1], 1e-9)


def test_feedback_on_a_free_body():
    """An autopilot acts in the free joint of its craft; methods that let bodies fly freely do not know it."""
    world = pt.World(gravity=NOTHING)
    world.add_body("craft", pt.Inertia.sphere(2.0, 0.3))
    world.add_feedback("autopilot", "craft", 5.0, 3.0, target=(1, 0, 0, 0, 1.0, 0, 0))
    run = world.simulate(10.0, 1e-2)
    assert run.settings["method"] == "rk4"
    close(run["craft"].position[-1], [1.0, 0, 0], 1e-2)
    with pytest.raises(ValueError, match="method 'poinsot' is for free bodies"):
        world.simulate(1.0, method="poinsot")


def test_motor_with_an_input_and_a_limit():
    world = hinge(0.5)
    world.add_input("throttle", 0.0)
    world.add_motor("motor", "disc", pt.Input("throttle", 2.0), limit=1.5)
    slow = world.simulate(1.0, 1e-2, inputs={"throttle": 0.25})
    close(slow.data.v[-1, 0], 0.5 / 0.5, 1e-13)
    fast = world.simulate(1.0, 1e-2, inputs={"throttle": 10.0})
    close(fast.data.v[-1, 0], 1.5 / 0.5, 1e-13)
    ramp = world.simulate(1.0, 1e-2, inputs={"throttle": lambda t: 0.5 * t})
    close(ramp.data.v[-1, 0], 0.5 / 0.5, 1e-13)


def test_tabulated_force():
    """0 to 4 N and back over 2 s, then none: the impulse is the area, 4 N s."""
    world = pt.World(gravity=NOTHING)
    world.add_particle("stone", 2.0)
    table = pt.Tabulated([0.0, 1.0, 2.0], [(0, 0, 0), (4.0, 0, 0), (0, 0, 0)])
    world.add_force("push", "stone", table)
    run = world.simulate(3.0, 1e-2)
    close(run["stone"].velocity[-1], [2.0, 0, 0], 1e-12)
    close(run.data["push.force"].sel(time=0.5, method="nearest"), [2.0, 0, 0], 1e-12)


def test_force_in_body_axes_turns_with_the_body():
    world = pt.World(gravity=NOTHING)
    half_turn = quaternion.exp(np.array([0, 0, np.pi / 2]))
    world.add_body("craft", pt.Inertia.sphere(2.0, 0.1), orientation=half_turn)
    world.add_force("jet", "craft", (3.0, 0, 0), axes="body")
    motion = world.motion()
    close(motion.scene["craft"].pose.R @ motion.vdot[3:], [0, 1.5, 0], 1e-14)


def test_users_force_sees_the_scene():
    """Air drag on a falling ball, c v^2: it falls as v_t tanh(g t / v_t)."""
    world = pt.World()
    world.add_particle("ball", 0.5, (0, 0, 100.0))

    def drag(t, scene):
        v = scene["ball"].velocity
        return -0.02 * np.linalg.norm(v) * v

    world.add_force("drag", "ball", drag)
    run = world.simulate(5.0, 1e-3)
    terminal = np.sqrt(0.5 * G / 0.02)
    close(run["ball"].velocity[:, 2], -terminal * np.tanh(G * run.time / terminal), 1e-9)


# Joint stops.


def test_stop_turns_a_joint_back():
    """Between two bumpers without damping a joint goes to and fro for ever; half a swing of sqrt(k/J) at each."""
    J, k, v = 0.5, 200.0, 1.0
    world = hinge(J, lower=-0.5, upper=1.0)
    world["disc.v"] = [v]
    world.add_joint_stop("bumpers", "disc", k, damping=0.0)
    run = world.simulate(20.0, 1e-4, every=0.01)
    q, swing = run.data.q.values[:, 0], v * np.sqrt(J / k)
    assert q.max() == pytest.approx(1.0 + swing, rel=1e-3)
    assert q.min() == pytest.approx(-0.5 - swing, rel=1e-3)
    period = 2 * 1.5 / v + 2 * np.pi * np.sqrt(J / k)
    folded = np.interp(run.time[run.time < period], run.time, q)
    later = np.interp(run.time[run.time < period] + 5 * period, run.time, q)
    close(later, folded, 1e-3)  # of interpolation between records
    assert run.ledger.relative_residual[3] < 1e-6  # the corner where the bumper sets in


def test_stop_never_pulls_and_takes_energy():
    """With damping c, as for contact: v + w = ln((1 + c v) / (1 - c w)) / c."""
    v, c = 2.0, 0.4
    world = hinge(0.5, upper=0.5)
    world["disc.v"] = [v]
    world.add_joint_stop("bumper", "disc", 1e3, damping=c)
    run = world.simulate(1.0, 1e-5, every=1e-3)
    w = -float(run.data.v[-1, 0])
    assert v + w == pytest.approx(np.log((1 + c * v) / (1 - c * w)) / c, rel=1e-6)
    assert run.data["bumper.torque"].max() <= 0.0
    assert np.diff(run.data.energy).max() < 1e-9
    assert run.ledger.relative_residual[3] < 1e-6


def test_stop_holds_a_pendulum_and_has_limits_of_its_own():
    """A rod that leans on its stop is as deep in it as its weight demands."""
    world = pt.World()
    length, limit, k = 0.8, 0.4, 500.0
    joint = pt.cylindrical((0, 1, 0), damping=(0.5, 5.0), stiffness=(0.0, 50.0))
    world.add_body("rod", rod(1.0, length), joint=joint, q=(0.5, 0.0))
    world.add_joint_stop("rest", "rod", k, lower=(limit, -np.inf), damping=1.0)
    run = world.simulate(10.0, 1e-3)
    q = float(run.data.q[-1, 0])
    assert k * (limit - q) == pytest.approx(1.0 * G * length / 2 * np.sin(q), rel=1e-6)
    assert float(run.data.v[-1, 0]) == pytest.approx(0.0, abs=1e-8)


# How a world starts.


def test_starts_are_consistent_with_joints():
    """Where bodies are to be, in the world, gives the coordinates of their joints; parents first."""
    world = pt.World()
    turn = quaternion.exp(np.array([0.3, 0.4, 0.5]))
    moving = {"velocity": (1, 0, 0), "angular_velocity": (0, 0, 2)}
    world.add_body("bus", pt.Inertia.box(2.0, (1, 1, 1)), position=(1, 2, 3), orientation=turn, **moving)
    X = pt.Pose.from_quaternion(turn, (1, 2, 3))
    hinge_axis, angle = np.array([0, 1.0, 0]), 0.7
    arm = X @ pt.Pose(p=(0.5, 0, 0)) @ pt.Pose.exp(np.array([*(angle * hinge_axis), 0, 0, 0]))
    world.add_body("arm", rod(1, 1), "bus", pt.revolute(hinge_axis), (0.5, 0, 0), orientation=arm.quaternion())
    slide = arm @ pt.Pose(p=(0, 0.2, -0.3))
    world.add_body("slide", rod(1, 1), "arm", pt.prismatic((0, 0, 1)), (0, 0.2, 0), position=slide.p)
    still = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}
    world.add_body("rider", rod(1, 1), "slide", pt.free(), (0, 0, 1), position=(4, 5, 6), **still)
    scene, state = world.scene(), world.start()
    close(state.q[7], angle, 1e-12)
    close(state.q[8], -0.3, 1e-12)
    close(scene["slide"].position, slide.p, 1e-12)
    close(scene["rider"].position, (4, 5, 6), 1e-12)
    close(scene["rider"].velocity, np.zeros(3), 1e-12)
    close(scene["rider"].angular_velocity, np.zeros(3), 1e-12)
    close(scene["bus"].velocity, (1, 0, 0), 1e-13)
    # What says nothing rides along.
    close(scene["arm"].angular_velocity, arm.R.T @ X.R @ (0, 0, 2.0), 1e-12)


def test_velocities_in_the_world_give_those_of_joints():
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1, (1, 1, 1)), joint=pt.prismatic((1, 0, 0)), velocity=(2, 0, 0))
    world.add_body("mast", rod(1, 1), "cart", pt.revolute((0, 1, 0)), q=0.4, angular_velocity=(0, 3, 0))
    world.add_body("flag", rod(1, 1), "mast", pt.spherical(), angular_velocity=(1, 2, 3))
    tilt = quaternion.exp(np.array([0.5, 0, 0]))
    world.add_body("disc", rod(1, 1), joint=pt.universal((1, 0, 0), (0, 1, 0)), orientation=tilt)
    v = world.start().v
    close(v[:2], [2, 3], 1e-14)
    close(world.scene()["flag"].angular_velocity, [1, 2, 3], 1e-14)
    close(world.start().q[-2:], [0.5, 0], 1e-14)


def test_free_bodies_start_on_their_placement():
    world = pt.World()
    X = pt.Pose.exp(np.array([0.1, 0.2, 0.3, 1, 2, 3]))
    world.add_body("a", rod(1, 1), placement=X)
    world.add_body("b", rod(1, 1), placement=X, position=(5, 5, 5))
    scene = world.scene()
    close(scene["a"].pose.matrix(), X.matrix(), 1e-14)
    close(scene["b"].position, (5, 5, 5), 1e-14)
    run = world.simulate(0.5, 1e-3)
    close(run["b"].position[-1], (5, 5, 5 - G / 8), 1e-9)


def test_names_lead_to_what_a_body_has():
    """Pose, twist, momentum, energy, reaction; over time, too."""
    world = pt.World()
    box = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
    world.add_body("box", box, position=(1, 2, 3), velocity=(1, 0, 2), angular_velocity=(0, 3, 0))
    world.add_body("shelf", pt.Inertia.box(4.0, (1, 1, 0.1)), joint=pt.fixed(), placement=(0, 0, 1))
    motion = world.motion()
    close(motion["box"].momentum, [2, 0, 4], 1e-14)
    close(motion["box"].angular_momentum, np.cross([1, 2, 3], [2.0, 0, 4]) + box.moment @ [0, 3.0, 0], 1e-14)
    close(motion["box"].kinetic_energy, 0.5 * 2 * 5 + 0.5 * 9 * box.moment[1, 1], 1e-14)
    close(motion.reaction("shelf"), [0, 0, 0, 0, 0, 4 * G], 1e-13)
    close(motion.reaction("box"), np.zeros(6), 1e-13)
    run = world.simulate(0.1)
    seen = run.observed(["reaction", "body_momentum", "body_angular_momentum", "body_kinetic_energy"])
    close(seen.reaction.sel(body="shelf")[-1], [0, 0, 0, 0, 0, 4 * G], 1e-12)
    close(seen.body_momentum.sum("body"), run.data.momentum, 1e-13)
    close(seen.body_angular_momentum.sum("body"), run.data.angular_momentum, 1e-13)
    close(seen.body_kinetic_energy.sum("body"), run.data.kinetic_energy, 1e-13)


def test_mechanism_on_a_body_of_the_world():
    """The same arm twice, on a free body, under two prefixes."""
    upper = pt.Link("upper", rod(1, 0.5), None, pt.revolute((0, 1, 0)))
    lower = pt.Link("lower", rod(0.5, 0.4), "upper", pt.revolute((0, 1, 0)), pt.Pose(p=(0, 0, -0.5)))
    arm = pt.Mechanism((upper, lower))
    world = pt.World()
    world.add_body("torso", pt.Inertia.box(5, (0.3, 0.4, 0.6)), position=(0, 0, 2))
    left = world.add_mechanism(arm, q=(0.1, 0.2), prefix="left_", parent="torso", placement=pt.Pose(p=(0, 0.3, 0)))
    world.add_mechanism(arm, q=(0.1, 0.2), prefix="right_", parent="torso", placement=pt.Pose(p=(0, -0.3, 0)))
    assert [str(body) for body in left] == ["left_upper", "left_lower"]
    scene = world.scene()
    close(scene["left_lower"].position - scene["right_lower"].position, (0, 0.6, 0), 1e-14)
    run = world.simulate(0.5, 1e-3)
    close(run.data.q.sel(coordinate="left_lower"), run.data.q.sel(coordinate="right_lower"), 1e-12)  # mirror images
    assert run.ledger.relative_residual.max() < 1e-9


def test_the_motion_at_the_start_is_one_of_numbers_also_after_a_trace():
    """`once` makes a value of a graph from plain numbers as well; none of them is kept."""
    law = pt.once(lambda x: np.sin(x))
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1))
    world.add_force("push", "a", lambda t, scene: law(scene["a"].position + 0.5))
    system = System(world.description)
    pt.kernel("()->()")(lambda x: x + system.first_motion().vdot[3])(1.0)
    np.testing.assert_allclose(np.asarray(system.first_motion().vdot)[3:], np.sin(0.5), rtol=1e-15)
    assert system.first_motion() is system.first_motion()
