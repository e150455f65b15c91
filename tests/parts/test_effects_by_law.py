"""What parts do at one instant, by laws and by hand, in plain NumPy: no run, no kernel."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.parts.beam import Beam, Flexure
from poinsot.parts.flow import pulse
from poinsot.parts.loads import limited
from poinsot.parts.scene import BodyState
from poinsot.parts.structure import Cut, Limit, beyond
from poinsot.parts.tank import Tank
from poinsot.spatial import Inertia, Pose, motion, quaternion
from poinsot.world import State, System

SEEDS = range(4)


def body(rng):
    return Pose(p=0.2 * rng.normal(size=3)) @ Inertia.box(rng.uniform(2, 9), rng.uniform(0.2, 0.8, 3))


def two_bodies(seed, joint=None, **start):
    """Two bodies in random motion, the second on a joint of the first, or free."""
    rng = np.random.default_rng(seed)
    world = pt.World((0, 0, 0))
    poses = [Pose.from_euler(rng.normal(size=3), p=rng.normal(size=3)) for _ in range(2)]
    world.add_body("a", body(rng), None, None, poses[0], v=rng.normal(size=6))
    if joint is None:
        world.add_body("b", body(rng), None, None, poses[1], v=rng.normal(size=6))
    else:
        world.add_body("b", body(rng), "a", joint, poses[1], **start)
    return rng, world


def at_start(world):
    system = System(world.description)
    state = system.start()
    return system, state, system.motion(0.0, state)


def rate_of_stored(system, state, name, h=1e-6):
    """d(stored)/dt of an element while everything moves on at constant velocities."""

    def stored(s):
        q = kinematics.integrate(system.mechanism, state.q, s * state.v)
        return system.motion(0.0, State(q, state.v, state.parts)).effects[name].stored

    return (stored(h) - stored(-h)) / (2 * h)


def power_into_bodies(system, state, moved, name):
    """What the wrenches and joint forces of an element do on the bodies [W]."""
    effect, at = moved.effects[name], dict(zip(moved.scene.bodies, system.mechanism.v_slices, strict=True))
    on_bodies = sum(moved.scene[b].twist @ F for b, F in effect.wrenches.items())
    return on_bodies + sum(state.v[at[b]] @ tau for b, tau in effect.joint_forces.items())


# Bodies.


@pytest.mark.parametrize("seed", SEEDS)
def test_points_forces_and_momenta_of_a_body(seed):
    """Velocities are rates of positions; a force does f . v of its point; momenta are sums over points."""
    rng = np.random.default_rng(seed)
    masses, x = rng.uniform(0.5, 2, 6), rng.normal(size=(6, 3))
    X, V, h = Pose.exp(rng.normal(size=6)), rng.normal(size=6), 1e-6
    here = BodyState(X, V, Inertia.points(masses, x))
    later, earlier = (BodyState(X @ Pose.exp(s * V), V) for s in (h, -h))
    v = np.array([here.velocity_of(p) for p in x])
    for p, v_p in zip(x, v, strict=True):
        np.testing.assert_allclose(v_p, (later.point(p) - earlier.point(p)) / (2 * h), atol=1e-8)
        f = rng.normal(size=3)
        np.testing.assert_allclose(V @ here.wrench(f, p), f @ v_p, atol=1e-13)
    np.testing.assert_allclose(here.velocity, here.velocity_of(np.zeros(3)), atol=1e-15)
    np.testing.assert_allclose(here.momentum, masses @ v, atol=1e-12)
    np.testing.assert_allclose(here.angular_momentum, masses @ np.cross([here.point(p) for p in x], v), atol=1e-12)
    np.testing.assert_allclose(here.kinetic_energy, 0.5 * masses @ np.sum(v * v, axis=1), rtol=1e-13)
    np.testing.assert_allclose(quaternion.rotate(here.orientation, x[0]) + here.position, here.point(x[0]), atol=1e-13)


# Springs and stops.


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spring_between_points_of_two_bodies(seed):
    """T = k (l - l0) + c l' pulls both points towards each other; energy goes into the spring or is lost."""
    rng, world = two_bodies(seed)
    points = rng.normal(size=(2, 3))
    world.add(pt.Spring("s", "a", "b", 7.0, 0.4, 0.9, *points))
    system, state, moved = at_start(world)
    a, b, effect = moved.scene["a"], moved.scene["b"], moved.effects["s"]
    d, d_rate = b.point(points[1]) - a.point(points[0]), b.velocity_of(points[1]) - a.velocity_of(points[0])
    length = np.linalg.norm(d)
    T = 7.0 * (length - 0.4) + 0.9 * (d @ d_rate) / length
    for name, sign, p in (("a", 1, points[0]), ("b", -1, points[1])):
        np.testing.assert_allclose(
            effect.wrenches[name], moved.scene[name].wrench(sign * T * d / length, p), atol=1e-12
        )
    np.testing.assert_allclose(effect.stored, 3.5 * (length - 0.4) ** 2, rtol=1e-13)
    balance = rate_of_stored(system, state, "s") + power_into_bodies(system, state, moved, "s")
    np.testing.assert_allclose(effect.power, balance, atol=1e-7)
    np.testing.assert_allclose([effect.shown["length"], effect.shown["tension"]], [length, T], rtol=1e-13)


def test_a_spring_with_a_law_of_its_own():
    _, world = two_bodies(5)
    world.add(
        pt.Spring("s", "a", stiffness=2.0, rest_length=0.3, damping=0.7, tension=lambda l, r, k, l0, c: k + l0 * c)
    )
    _, _, moved = at_start(world)
    assert moved.effects["s"].shown["tension"] == pytest.approx(2.0 + 0.3 * 0.7)
    assert moved.effects["s"].stored is None
    assert set(moved.effects["s"].wrenches) == {"a"}


STOP = {"stiffness": 50.0, "damping": 0.3, "lower": -0.5, "upper": 0.8}


@pytest.mark.parametrize(("q", "v"), [(1.0, 0.6), (1.0, -0.6), (-0.9, 0.6), (-0.9, -0.6), (0.2, 5.0), (1.0, -9.0)])
def test_a_joint_stop(q, v):
    """tau = k d (1 + c d') back into the range, never outwards; energy is stored or lost, never gained."""
    _, world = two_bodies(1, pt.revolute((0, 0, 1)), q=q, v=[v])
    world.add(pt.JointStop("stop", "b", **STOP))
    system, state, moved = at_start(world)
    effect = moved.effects["stop"]
    d, d_rate, sign = (q - 0.8, v, -1) if q > 0.8 else (-0.5 - q, -v, 1) if q < -0.5 else (0.0, 0.0, 1)
    np.testing.assert_allclose(effect.joint_forces["b"], [sign * 50.0 * d * max(1 + 0.3 * d_rate, 0.0)], atol=1e-12)
    np.testing.assert_allclose(effect.stored, 25.0 * d * d, atol=1e-12)
    balance = rate_of_stored(system, state, "stop") + power_into_bodies(system, state, moved, "stop")
    np.testing.assert_allclose(effect.power, balance, atol=1e-6)
    assert effect.power <= 1e-15


@pytest.mark.parametrize("joint", [pt.spherical(), pt.universal((0, 1, 0), (0, 0, 1))], ids=lambda j: j.kind)
def test_a_flexure_is_the_gradient_of_its_energy(joint):
    q = quaternion.exp([0.9, -0.5, 0.4]) if joint.nq == 4 else [0.7, -0.4]
    v = np.array([0.3, -0.8, 0.5])[: joint.nv]
    _, world = two_bodies(2, joint, q=q, v=v)
    world.add(Flexure("bend", "b", np.array([3.0, 5.0, 7.0])[: joint.nv], 0.2))
    system, state, moved = at_start(world)
    effect = moved.effects["bend"]
    balance = rate_of_stored(system, state, "bend") + power_into_bodies(system, state, moved, "bend")
    np.testing.assert_allclose(effect.power, balance, atol=1e-7)
    np.testing.assert_allclose(effect.power, -0.2 * v @ v, rtol=1e-13)
    phi = effect.shown["bent"]
    np.testing.assert_allclose(effect.stored, 0.5 * phi @ (np.array([3.0, 5.0, 7.0])[: joint.nv] * phi), rtol=1e-13)
    np.testing.assert_array_equal(effect.shown["torque"], effect.joint_forces["b"])


# Loads.


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_and_torques_in_both_axes(seed):
    rng, world = two_bodies(seed)
    f, p = rng.normal(size=(2, 3))
    world.add(pt.Force("w", "a", f, p))
    world.add(pt.Torque("tw", "a", f))
    moved = at_start(world)[2]
    R = moved.scene["a"].pose.R
    world.add(pt.Force("bo", "a", R.T @ f, p, axes="body"))
    world.add(pt.Torque("tb", "a", R.T @ f, axes="body"))
    world.add(pt.Thruster("jet", "a", thrust=3.0 * np.linalg.norm(f), direction=R.T @ f, point=p))
    effects = at_start(world)[2].effects
    force = np.concatenate([np.cross(p, R.T @ f), R.T @ f])
    np.testing.assert_allclose(effects["w"].wrenches["a"], force, atol=1e-13)
    np.testing.assert_allclose(effects["bo"].wrenches["a"], force, atol=1e-13)
    np.testing.assert_allclose(effects["jet"].wrenches["a"], 3.0 * force, atol=1e-12)
    for name in ("tw", "tb"):
        np.testing.assert_allclose(effects[name].wrenches["a"], [*(R.T @ f), 0, 0, 0], atol=1e-13)


def test_motors_and_their_limits():
    _, world = two_bodies(1, pt.revolute((0, 0, 1)), q=0.7, v=[-0.2])
    world.add(pt.Motor("m", "b", 3.0))
    world.add(pt.Motor("weak", "b", -3.0, limit=2.0))
    world.add(pt.PD("pd", "b", kp=5.0, kd=0.5, target=0.4, target_rate=0.3))
    world.add(pt.PD("home", "b", kp=5.0, limit=1.0))
    effects = at_start(world)[2].effects
    tau = {name: float(effect.joint_forces["b"][0]) for name, effect in effects.items()}
    assert tau["m"] == 3.0
    assert tau["weak"] == -2.0
    assert tau["pd"] == pytest.approx(5.0 * (0.4 - 0.7) + 0.5 * (0.3 + 0.2))
    assert tau["home"] == -1.0
    assert effects["pd"].shown["error"] == pytest.approx([-0.3])
    np.testing.assert_array_equal(limited(np.array([-5.0, 1.0, 5.0]), 2.0), [-2.0, 1.0, 2.0])


def test_a_controller_of_a_ball_joint_turns_the_short_way():
    """Along the rotation vector from q to the target, in the axes of the body, whatever the target's length."""
    q, phi = quaternion.exp([0.3, 0.2, -0.6]), np.array([0.4, -0.1, 0.2])
    _, world = two_bodies(1, pt.spherical(), q=q, v=[0.0, 0.0, 0.0])
    world.add(pt.PD("pd", "b", kp=2.0, target=3.0 * quaternion.product(q, quaternion.exp(phi))))
    np.testing.assert_allclose(at_start(world)[2].effects["pd"].joint_forces["b"], 2.0 * phi, atol=1e-13)


def test_tables():
    table = pt.Tabulated([0.0, 1.0, 3.0], [[1.0, 10.0], [3.0, 20.0], [-1.0, 40.0]])
    np.testing.assert_allclose(table(0.5), [2.0, 15.0])
    np.testing.assert_allclose([table(-1.0), table(9.0)], [[1.0, 10.0], [-1.0, 40.0]])
    assert pt.Tabulated([0.0, 2.0], [1.0, 3.0])(1.5) == 2.5
    for times in ([0.0], [0.0, 0.0], [1.0, 0.0], [0.0, np.inf], [[0.0, 1.0]]):
        with pytest.raises(ValueError, match="times of a table must be two or more increasing"):
            pt.Tabulated(times, np.zeros(len(times)))
    with pytest.raises(ValueError, match="values of a table at 2 times"):
        pt.Tabulated([0.0, 1.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(("at", "over"), [(0.0, 1.0), (2.0, 0.4)])
def test_a_pulse_moves_its_mass_in_its_time(at, over):
    dump = pulse(6.0, at, over)
    assert (dump.times[0], dump.times[-1]) == (at, pytest.approx(at + over))
    assert np.trapezoid(dump.values, dump.times) == pytest.approx(6.0)
    np.testing.assert_allclose(np.diff(dump.times) / over, [0.25, 0.5, 0.25])
    assert dump(at) == dump(at + over) == 0


# Rotors.


def rotor_torque(**motor):
    _, world = two_bodies(3)
    world.add(pt.Rotor("r", "a", axis=(0, 0, 2.0), inertia=0.05, **motor))
    return at_start(world)[2].effects["r"].shown["torque"]


def test_the_motor_of_a_rotor():
    """Its torque less viscous and dry friction; limited; fading over the last hundredth below the largest speed."""
    assert rotor_torque(speed=2.0, torque=3.0) == 3.0
    assert rotor_torque(speed=2.0, torque=-3.0, max_torque=1.0) == -1.0
    assert rotor_torque(speed=2.0, torque=3.0, friction=0.2) == pytest.approx(3.0 - 0.4)
    assert rotor_torque(speed=2.0, torque=3.0, dry_friction=0.2) == pytest.approx(2.8)
    assert rotor_torque(speed=0.5e-3, torque=0.0, dry_friction=0.2) == pytest.approx(-0.2 * np.tanh(0.5))
    for speed, share in ((0.0, 1.0), (9.0, 1.0), (9.95, 0.5), (10.0, 0.0), (11.0, 0.0), (-9.95, 1.0)):
        assert rotor_torque(speed=speed, torque=3.0, max_speed=10.0) == pytest.approx(3.0 * share)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rotor_is_a_body_that_spins(seed):
    """Its wrench on its body is minus the rate of the momentum h = J sigma s, fixed in the body: h x omega."""
    rng, world = two_bodies(seed)
    s = rng.normal(size=3)
    world.add(pt.Rotor("r", "a", axis=s, inertia=0.5, speed=30.0, load=0.4))
    moved = at_start(world)[2]
    effect, omega, s = moved.effects["r"], moved.scene["a"].twist[:3], s / np.linalg.norm(s)
    h = 0.5 * 30.0 * s
    np.testing.assert_allclose(effect.wrenches["a"], [*(np.cross(h, omega) + 0.4 * s), 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(effect.carried["a"], [*h, 0, 0, 0], atol=1e-13)
    np.testing.assert_allclose(effect.stored, h @ omega + 0.5 * 0.5 * 30.0**2, rtol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_driven_rotor_pushes_its_body_back(seed):
    """The torque tau on the rotor, -tau on the body; h = J (sigma + s . omega) s; work on both adds up."""
    rng, world = two_bodies(seed)
    s, J, sigma = rng.normal(size=3), 0.01, 30.0
    world.add(pt.Rotor("r", "a", axis=s, inertia=J, speed=sigma, torque=0.3, load=0.4))
    moved = at_start(world)[2]
    effect, omega, s = moved.effects["r"], moved.scene["a"].twist[:3], s / np.linalg.norm(s)
    h = J * (sigma + s @ omega) * s
    np.testing.assert_allclose(effect.wrenches["a"], [*(np.cross(h, omega) - 0.3 * s), 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(effect.stored, 0.5 * J * (sigma + s @ omega) ** 2, rtol=1e-13)
    np.testing.assert_allclose(effect.power, 0.3 * sigma + 0.4 * (sigma + s @ omega), rtol=1e-13)
    turned = moved.acceleration("a")[:3] @ s
    np.testing.assert_allclose(effect.rates["speed"], (0.3 + 0.4) / J - turned, rtol=1e-12)


def test_a_speed_that_follows_a_function():
    """sigma' = (command - sigma)/lag, from rest, by the torque J (sigma' + s . omega')."""
    _, world = two_bodies(1)
    world.add(pt.Rotor("r", "a", axis=(0, 0, 1), inertia=0.01, speed=lambda t: 8.0 + t, lag=0.5))
    moved = at_start(world)[2]
    effect = moved.effects["r"]
    np.testing.assert_allclose(effect.rates["speed"], 16.0)
    np.testing.assert_allclose(effect.shown["torque"], 0.01 * (16.0 + moved.acceleration("a")[2]), rtol=1e-12)
    np.testing.assert_allclose(effect.wrenches["a"], [0, 0, -0.16, 0, 0, 0], atol=1e-14)


# Tanks.

TANKS = {
    "point": {},
    "box": {"size": (0.4, 0.6, 0.9)},
    "ball": {"radius": 0.3},
    "cylinder": {"radius": 0.3, "height": 0.9},
    "settled box": {"size": (0.4, 0.6, 0.9), "settles": True},
    "settled cylinder": {"radius": 0.3, "height": 0.9, "settles": True},
}


@pytest.mark.parametrize("shape", TANKS)
def test_contents_are_a_shape_of_their_mass(shape):
    tank = Tank("t", "a", capacity=8.0, contents=2.0, position=(1.0, 2.0, 3.0), **TANKS[shape])
    solids = {
        "point": lambda: Inertia(2.0, np.zeros(3), np.zeros((3, 3))),
        "box": lambda: Inertia.box(2.0, (0.4, 0.6, 0.9)),
        "ball": lambda: Inertia.sphere(2.0, 0.3),
        "cylinder": lambda: Inertia.cylinder(2.0, 0.3, 0.9),
        "settled box": lambda: Pose(p=(0, 0, -0.45 + 0.1125)) @ Inertia.box(2.0, (0.4, 0.6, 0.225)),
        "settled cylinder": lambda: Pose(p=(0, 0, -0.45 + 0.1125)) @ Inertia.cylinder(2.0, 0.3, 0.225),
    }
    expected = Pose(p=(1.0, 2.0, 3.0)) @ solids[shape]()
    np.testing.assert_allclose(tank.inertia(np.array(2.0)).spatial(), expected.spatial(), atol=1e-13)


@pytest.mark.parametrize("shape", TANKS)
def test_a_layer_is_the_derivative_of_the_contents(shape):
    tank = Tank("t", "a", capacity=8.0, contents=2.0, position=(1.0, 2.0, 3.0), **TANKS[shape])
    m, h = np.array(3.0), 1e-4
    slope = (tank.inertia(m + h).spatial() - tank.inertia(m - h).spatial()) / (2 * h)
    np.testing.assert_allclose(tank.layer(m).spatial(), slope, atol=1e-7)
    np.testing.assert_allclose(tank.climb(), (tank.layer(m + h).com - tank.layer(m - h).com) / (2 * h), atol=1e-9)


def flow_rate(contents, other, **flow):
    """d(rate)/dt of a flow from one tank of 8 kg to another."""
    _, world = two_bodies(4)
    world.add(pt.Tank("t0", "a", capacity=8.0, contents=contents))
    world.add(pt.Tank("t1", "b", capacity=8.0, contents=other))
    world.add(pt.Flow("f", source="t0", to="t1", flowing=0.1, **flow))
    return float(at_start(world)[2].effects["f"].rates["rate"])


def test_a_flow_follows_its_command_and_fades():
    """(command - rate)/lag; it would not empty or fill a tank in less than four lags."""
    assert flow_rate(4.0, 4.0, rate=2.0, lag=0.5) == pytest.approx((2.0 - 0.1) / 0.5)
    assert flow_rate(4.0, 4.0, rate=1.0, proportion=0.1, lag=0.5) == pytest.approx((1.4 - 0.1) / 0.5)
    assert flow_rate(1.0, 4.0, rate=2.0, lag=0.5) == pytest.approx((1.0 / 2.0 - 0.1) / 0.5)
    assert flow_rate(4.0, 7.5, rate=2.0, lag=0.5) == pytest.approx((0.5 / 2.0 - 0.1) / 0.5)


# Structure.


@dataclass
class Instant:
    """A motion in which the joint of the body carries a given wrench, at the time t."""

    F: Any
    t: float = 0.0
    elements: dict = field(default_factory=dict)

    @property
    def scene(self):
        return self

    def element(self, name, body=""):
        return self.elements[name]

    def reaction(self, name):
        return np.asarray(self.F, dtype=float)


@pytest.mark.parametrize("seed", SEEDS)
def test_components_of_a_cut(seed):
    """Forces and moments of the outer on the inner part, split along and across the normal, about the point."""
    rng = np.random.default_rng(seed)
    F, at, axis = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    cut = Cut("c", "a", at, axis)
    n, moment = axis / np.linalg.norm(axis), F[:3] - np.cross(at, F[3:])
    found = cut.components(Instant(F))
    assert found["axial"] == pytest.approx(-F[3:] @ n)
    assert found["shear"] == pytest.approx(np.linalg.norm(np.cross(n, F[3:])))
    assert found["torsion"] == pytest.approx(-moment @ n)
    assert found["bending"] == pytest.approx(np.linalg.norm(np.cross(n, moment)))
    np.testing.assert_allclose(cut.wrench(Instant(F)), motion.wrench_at(F, at), atol=1e-14)


CUT = {"c": Cut("c", "a", axis=(1, 0, 0))}


def test_loads_of_a_limit():
    """F = (torsion 2, bending 3, 0; axial 4, shear 5, 0), with the other sign for tension."""
    instant = Instant([-2.0, 3.0, 0.0, -4.0, 5.0, 0.0], elements=CUT)
    limit = Limit("l", "a", "c", axial=8.0, shear=4.0, bending=12.0, torsion=1.0)
    assert limit.loads(instant) == (2.0, 3.0)
    assert Limit("l", "a", "c", axial=8.0, shear=4.0).loads(instant) == (1.25, 1.0)
    both = Limit("l", "a", "c", axial=8.0, shear=4.0, combined=True).loads(instant)
    assert both[0] == pytest.approx(np.hypot(0.5, 1.25))
    assert Limit("l", "a", "c", load=lambda F: F[4] / 10).loads(instant) == (0.5, 0.0)
    for name in ("axial", "shear", "bending", "torsion"):
        with pytest.raises(ValueError, match=f"{name} of limit 'l' must be above zero, not 0.0"):
            Limit("l", "a", "c", **{name: 0.0})


def test_a_limit_latches_between_the_steps():
    """The load rises from 0.5 to 2.5 between 1 s and 3 s: passed at 1.5 s; then it stays latched, the worst goes on."""
    limit = Limit("l", "a", "c", axial=1.0, shear=1.0)
    states = {name: np.zeros(()) for name in limit.states()}
    rows = [(1.0, 0.5, 0), (3.0, 2.5, 1), (4.0, 0.2, 0), (5.0, 3.0, 0), (6.0, 1.1, 1)]
    kept, names = [], ("latched", "latched_at", "worst", "worst_at", "case", "last", "last_at")
    for t, load, case in rows:
        states = limit.settle(Instant([0, 0, 0, -load * (case == 0), load * (case == 1), 0], t, CUT), states)
        kept.append([float(states[name]) for name in names])
    np.testing.assert_allclose(
        kept,
        [
            [0, 0, 0.5, 1.0, 0, 0.5, 1.0],
            [1, 1.5, 2.5, 3.0, 1, 2.5, 3.0],
            [1, 1.5, 2.5, 3.0, 1, 0.2, 4.0],
            [1, 1.5, 3.0, 5.0, 0, 3.0, 5.0],
            [1, 1.5, 3.0, 5.0, 0, 1.1, 6.0],
        ],
    )
    part = Limit("l", "a", "c", axial=1.0, then="part")
    before, after = {"latched": np.zeros(())}, {"latched": np.ones(()), "latched_at": np.array(2.0)}
    assert part.lets_go(before, after)[0] == 2.0
    assert part.lets_go(after, after)[0] > 1e20
    assert limit.lets_go(before, after) is None
    assert (part.holds(before)["a"], part.holds(after)["a"]) == (1.0, 0.0)


def test_the_shapes_beyond_a_station():
    rod = sum(Pose(p=(x, 0, 0)) @ Inertia.sphere(m, 0.1) for x, m in ((0.0, 1.0), (1.0, 2.0), (2.0, 4.0)))
    assert beyond(rod, (3.0, 0, 0), 0.5).mass == 6.0
    assert beyond(rod, (-1.0, 0, 0), -1.5).mass == 3.0
    with pytest.raises(ValueError, match="none of the 3 shapes"):
        beyond(rod, (1.0, 0, 0), 2.5)


# Beams.


@pytest.mark.parametrize("n", [1, 3, 6])
def test_segments_make_up_the_beam(n):
    """Mass, centre and moment of a tapered beam, whatever the number of segments; and its compliance up to the tip."""
    beam = Beam("w", 2.0, lambda x: 5.0 + x, lambda x: 3.0 - x, n, GJ=4.0, EI_side=7.0, polar=0.02, damping=0.1)
    whole, X = [], Pose()
    for link in beam.links():
        X = X @ link.placement
        whole.append(X @ link.inertia)
    whole = sum(whole)
    mass, first, second = 4.0, 6.0 - 8.0 / 3, 8.0 - 4.0  # integrals of 3 - x, times 1, x, x^2, from 0 to 2
    np.testing.assert_allclose(whole.mass, mass)
    np.testing.assert_allclose(whole.com, [first / mass, 0, 0], atol=1e-13)
    across = second - first**2 / mass + 0.02
    np.testing.assert_allclose(whole.moment, np.diag([0.04, across, across]), atol=1e-12)
    end = 2.0 * (n - 0.5) / n  # the last half segment bends nothing
    K = np.array([flexure.stiffness for flexure in beam.flexures()])
    np.testing.assert_allclose(np.sum(1 / K, axis=0), [end / 4.0, np.log((5 + end) / 5), end / 7.0], rtol=1e-9)
    np.testing.assert_allclose([flexure.damping for flexure in beam.flexures()], 0.1 * K)


# Flows, from bodies at rest: there only the velocity relative to the body counts.


def resting(*parts):
    world = pt.World((0, 0, 0))
    world.add_body("a", Inertia.box(5.0, (1, 2, 3)), None, None, Pose(p=(1, 0, 0)))
    world.add_body("b", Inertia.box(5.0, (1, 2, 3)), None, None, Pose.from_euler((0.4, 0.3, 0.2), p=(0, 3, 0)))
    for part in parts:
        world.add(part)
    return at_start(world)[2]


def tank(name="t", on="a", **shape):
    return pt.Tank(name, on, capacity=8.0, contents=4.0, position=(0.1, 0.2, 0.3), **shape)


def momentum_at(x, v):
    return np.concatenate([np.cross(x, v), v])


@pytest.mark.parametrize("point", [None, (0.5, -0.4, 0.9)])
@pytest.mark.parametrize(("end", "sign"), [("source", -1.0), ("to", 1.0)])
def test_mass_that_leaves_or_enters_brings_its_momentum(point, end, sign):
    """-r u at the point where it leaves, r u where it enters; the stream in the body runs from or to the tank."""
    x, u, r = np.array([0.1, 0.2, 0.3]), np.array([0.5, 2.0, -1.0]), 0.7
    moved = resting(tank(), pt.Flow("f", rate=r, point=point, velocity=u, **{end: "t"}))
    effect = moved.effects["f"]
    there = x if point is None else np.array(point)
    np.testing.assert_allclose(effect.wrenches["a"], sign * r * momentum_at(there, u), atol=1e-14)
    np.testing.assert_allclose(effect.outside["a"], sign * r * momentum_at(there, u), atol=1e-14)
    assert effect.mass == sign * r
    assert effect.rates["t.contents"] == sign * r
    carried = -sign * r * np.concatenate([np.cross(x, there), there - x])
    np.testing.assert_allclose(effect.carried.get("a", np.zeros(6)), carried, atol=1e-14)


def test_mass_that_crosses_from_body_to_body_flows_through_both():
    """From the tank to the outlet in the first, from the outlet to the other tank in the second."""
    x, out, r = np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.4, 0.9]), 0.7
    moved = resting(tank(), tank("s", "b"), pt.Flow("f", source="t", to="s", rate=r, point=out))
    carried = moved.effects["f"].carried
    in_b = moved.scene["b"].pose.inverse() @ (moved.scene["a"].pose @ out)
    np.testing.assert_allclose(carried["a"], r * np.concatenate([np.cross(x, out), out - x]), atol=1e-14)
    np.testing.assert_allclose(carried["b"], r * np.concatenate([np.cross(in_b, x), x - in_b]), atol=1e-13)
    assert moved.effects["f"].mass is None


def test_mass_that_leaves_a_sinking_level_has_its_velocity():
    """The level of a settled tank sinks by r height/capacity, and what is taken from there moves along."""
    r = 0.7
    moved = resting(tank(size=(1, 1, 2), settles=True), tank("s", "b"), pt.Flow("f", source="t", to="s", rate=r))
    x, v = np.array([0.1, 0.2, 0.3]), np.array([0, 0, -r * 2 / 8])
    np.testing.assert_allclose(moved.effects["f"].wrenches["a"], -r * momentum_at(x, v), atol=1e-14)


def test_how_a_flow_starts():
    assert pt.Flow("f", source="t", rate=2.0).states()["rate"] == 2.0
    assert pt.Flow("f", source="t", rate=lambda t: 2.0).states()["rate"] == 0.0
    assert pt.Flow("f", source="t", rate=2.0, flowing=0.5).states()["rate"] == 0.5
    with pytest.raises(ValueError, match=r"flow 'f' starts with 500 kg/s, for which tank 't' with 4 kg is too empty"):
        resting(tank(), pt.Flow("f", source="t", rate=500.0))
    resting(tank(), pt.Flow("f", source="t", rate=500.0, flowing=0.0))
    with pytest.raises(ValueError, match="flow 'f' needs a tank; 'g' is a Force"):
        resting(pt.Force("g", "a"), pt.Flow("f", source="g", rate=1.0))


def test_a_thruster_is_a_flow_of_its_propellant():
    """thrust / exhaust_speed from the tank, with the exhaust speed against its direction: the thrust, at its point."""
    jet = pt.Thruster("jet", "a", "t", thrust=30.0, exhaust_speed=60.0, direction=(0, 3, 4), point=(0.5, -0.4, 0.9))
    effect = resting(tank(), jet).effects["jet"]
    np.testing.assert_allclose(effect.wrenches["a"], momentum_at([0.5, -0.4, 0.9], [0, 18, 24]), atol=1e-13)
    np.testing.assert_allclose(effect.shown["force"], [0, 18, 24], atol=1e-13)
    assert effect.mass == -0.5
    varying = pt.Thruster("jet", "a", "t", thrust=lambda t: 30.0 + t, exhaust_speed=60.0, flowing=0.1, lag=0.5)
    assert resting(tank(), varying).effects["jet"].rates["rate"] == pytest.approx((0.5 - 0.1) / 0.5)


def test_wrong_shapes_name_their_part():
    _, world = two_bodies(1, pt.spherical(), v=[0.0, 0.0, 0.0])
    for part, message in (
        (pt.Motor("m", "b", (1.0, 2.0)), r"value of motor 'm' has shape \(2,\); it must have shape \(3,\)"),
        (pt.PD("p", "b", target=1.0), r"target of PD 'p' has shape \(\); it must have shape \(4,\)"),
        (pt.PD("p", "b", target_rate=(1.0, 2.0)), r"target_rate of PD 'p' has shape \(2,\)"),
        (pt.Torque("t", "b", (1.0, 2.0)), r"value of torque 't' has shape \(2,\)"),
        (pt.Thruster("t", "b", thrust=(1.0, 2.0)), r"thrust of thruster 't' has shape \(2,\)"),
        (pt.Rotor("r", "b", inertia=0.01, torque=(1.0, 2.0)), r"torque of rotor 'r' has shape \(2,\)"),
        (pt.Rotor("r", "b", inertia=0.01, load=(1.0, 2.0)), r"load of rotor 'r' has shape \(2,\)"),
    ):
        _, world = two_bodies(1, pt.spherical(), v=[0.0, 0.0, 0.0])
        world.add(part)
        with pytest.raises(ValueError, match=message):
            at_start(world)
    with pytest.raises(ValueError, match="values of a table"):
        pt.Tabulated([0.0, 1.0], np.zeros((2, 1, 1)))


def test_a_part_does_nothing_by_default():
    """No force, torque, stiffness or flow, at the origin of its body; what lies within the world is internal."""
    _, world = two_bodies(1, pt.revolute((0, 0, 1)), q=0.7, v=[-0.2])
    world.add(pt.Tank("t", "a"))
    for part in (pt.Force("f", "a"), pt.Torque("c", "a"), pt.Motor("m", "b"), pt.PD("p", "b"), pt.Thruster("j", "a")):
        world.add(part)
    for part in (Flexure("x", "b"), pt.Spring("s", "a", "b"), pt.Flow("o", source="t"), pt.Rotor("r", "a")):
        world.add(part)
    moved = at_start(world)[2]
    for name, effect in moved.effects.items():
        for F in (*effect.wrenches.values(), *effect.joint_forces.values()):
            np.testing.assert_array_equal(F, np.zeros(F.shape), err_msg=name)
    assert moved.effects["o"].rates["rate"] == 0
    assert Flexure.internal
    assert (pt.Spring("s", "a", "b").internal, pt.Spring("s", "a").internal, pt.Force("f", "a").internal) == (
        True,
        False,
        False,
    )
    np.testing.assert_array_equal(resting(pt.Force("f", "a", (1, 2, 3))).effects["f"].wrenches["a"], [0, 0, 0, 1, 2, 3])


def test_springs_cuts_and_thrusters_by_default():
    """Between the origins of two bodies, from no length at all; through the origin, across x; upwards."""
    _, world = two_bodies(1)
    world.add(pt.Spring("s", "a", "b", stiffness=2.0))
    moved = at_start(world)[2]
    apart = np.linalg.norm(moved.scene["b"].position - moved.scene["a"].position)
    assert moved.effects["s"].shown["tension"] == pytest.approx(2.0 * apart)
    found = Cut("c", "a").components(Instant([1.0, 2.0, 2.0, 5.0, 4.0, 3.0]))
    assert found == pytest.approx({"axial": -5.0, "shear": 5.0, "bending": np.sqrt(8), "torsion": -1.0})
    jet = resting(pt.Thruster("j", "a", thrust=3.0)).effects["j"]
    np.testing.assert_allclose(jet.wrenches["a"], [0, 0, 0, 0, 0, 3.0])
