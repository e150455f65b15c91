"""What springs, loads and rotors do at one instant, by laws and by hand."""

import numpy as np
import pytest
from instants import SEEDS, Instant, at_start, power_into_bodies, rate_of_stored, resting, two_bodies

import poinsot as pt
from poinsot.parts.beam import Flexure
from poinsot.parts.loads import limited
from poinsot.parts.rotor import rpm
from poinsot.parts.scene import BodyState
from poinsot.parts.structure import Cut
from poinsot.spatial import Inertia, Pose, quaternion


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


def test_a_frame_without_mass_has_no_momentum():
    frame = BodyState(Pose(p=(1, 2, 3)), np.ones(6))
    np.testing.assert_array_equal([frame.momentum, frame.angular_momentum], np.zeros((2, 3)))
    assert frame.kinetic_energy == 0


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
    for speed, share in ((0.0, 1.0), (9.0, 1.0), (9.95, 0.5), (10.0, 0.0), (11.0, 0.0), (-9.95, 1.0), (-11.0, 1.0)):
        for way in (1, -1):  # where it brakes, all of the torque is left
            found = rotor_torque(speed=way * speed, torque=way * 3.0, max_speed=10.0)
            assert found == pytest.approx(way * 3.0 * share)
            gentle = rotor_torque(speed=way * speed, torque=way * 0.01, max_speed=10.0)
            assert gentle == pytest.approx(way * 0.01 * share)


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


def test_revolutions_per_minute():
    assert rpm(60.0) == pytest.approx(2 * np.pi)


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
