"""Elements over an implicit step, engines that are lit, tanks that slosh, and signals, at one instant and by hand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from instants import at_start, flying, two_bodies

import poinsot as pt
from poinsot.contact.law import push as contact_push
from poinsot.parts.beam import Flexure
from poinsot.parts.element import Effect, Element
from poinsot.parts.resisting import Later, Resistance
from poinsot.parts.slosh import slosh_model, slosh_parts
from poinsot.parts.structure import Limit
from poinsot.spatial import Inertia, Pose, quaternion

H = 0.01


def welded(seed=2):
    """Two bodies in random motion, the second with a third one fixed to it, whose carrier is the second."""
    rng, world = two_bodies(seed, pt.revolute((1, 2, 3)), q=0.4, v=[-0.7])
    world.add_body("c", Inertia.box(1.0, (1, 2, 1)), "b", pt.fixed(), Pose.from_euler((0.3, -0.5, 0.2), p=(1, 2, -1)))
    return rng, world


def later_of(scene, rng):
    """Any accelerations: of bodies in the frames of their carriers, and of joints."""
    return Later(scene, H, {name: rng.normal(size=6) for name in scene.bodies}, rng.normal(size=scene.v.size))


def balances(effect, used, later):
    """What forces do at the end of the step, and what is stored, is power and what the step itself adds."""
    done = used.power(later) + (effect.foreseen - effect.stored) / H
    rounding = 1e-14 * (effect.foreseen + effect.stored) / H
    assert effect.power + effect.numerical == pytest.approx(done, rel=1e-10, abs=1e-13 + rounding)


def test_forces_at_the_end_of_a_step_are_linear_in_the_velocities():
    """F(V) = F_0 - K (V - V_0), also between bodies; in the axes of the body they do the same work."""
    rng, world = welded()
    scene = at_start(world)[2].scene
    later = later_of(scene, rng)
    names = ("a", "c")
    F_0, K = {n: rng.normal(size=6) for n in names}, {n: rng.normal(size=(6, 6)) for n in names}
    K_ac, tau, slope = rng.normal(size=(6, 6)), rng.normal(size=1), rng.normal(size=1)
    used = Resistance(F_0, K, {"b": tau}, {"b": slope}, {("a", "c"): K_ac}, np.ones(2)).used(later)
    dV = {n: H * later.A[n] for n in names}
    F = {"a": F_0["a"] - K["a"] @ dV["a"] - K_ac @ dV["c"], "c": F_0["c"] - K["c"] @ dV["c"] - K_ac.T @ dV["a"]}
    for n in names:
        moved = scene.carrier(n)[1].adjoint()  # twists of the body in the axes of its carrier
        np.testing.assert_allclose(moved @ later.change(n), dV[n], atol=1e-14)
        for e in np.eye(6):
            assert used.wrenches[n] @ e == pytest.approx(F[n] @ (moved @ e), rel=1e-11, abs=1e-12)
        np.testing.assert_allclose(later.twist(n), scene[n].twist + later.change(n), atol=1e-15)
    at = scene.mechanism.v_slices[scene.mechanism.index("b")]
    np.testing.assert_allclose(later.joint_change("b"), H * later.a[at])
    np.testing.assert_allclose(later.velocity("b"), [-0.7] + H * later.a[at])
    np.testing.assert_allclose(used.joint_forces["b"], tau - slope * H * later.a[at], rtol=1e-13)
    np.testing.assert_array_equal(used.kept, np.ones(2))
    work = sum(used.wrenches[n] @ (scene[n].twist + later.change(n)) for n in names)
    work = work + used.joint_forces["b"] @ (scene.joint("b")[1] + later.joint_change("b"))
    assert used.power(later) == pytest.approx(work, rel=1e-12)
    assert not np.allclose(scene.carrier("c")[1].R, np.eye(3))


@pytest.mark.parametrize("joint", [pt.spherical(), pt.universal((0, 1, 0), (0, 0, 1))], ids=lambda j: j.kind)
def test_a_flexure_over_a_step(joint):
    """tau = -J^-1 K phi - h K v - C v at the start, with the slope C + h K; what it stores at the end is booked."""
    q, v = quaternion.exp([0.9, -0.5, 0.4]) if joint.nq == 4 else np.array([0.7, -0.4]), np.array([0.3, -0.8, 0.5])
    K, C, v = np.array([3.0, 5.0, 7.0])[: joint.nv], 0.2, v[: joint.nv]
    rng, world = two_bodies(2, joint, q=q, v=v)
    world.add(Flexure("bend", "b", K, C))
    moved = at_start(world)[2]
    scene, plain = moved.scene, moved.effects["bend"]
    law, later = scene.elements["bend"].resisting(scene, H), later_of(scene, rng)
    resistance = law.at(later)
    np.testing.assert_allclose(resistance.joint_forces["b"], plain.joint_forces["b"] - H * K * v, rtol=1e-13)
    np.testing.assert_allclose(resistance.joint_slopes["b"], C + H * K, rtol=1e-14)
    used = resistance.used(later)
    effect, dv = law.taken(later, used), later.joint_change("b")
    tau = plain.joint_forces["b"] - H * K * v - (C + H * K) * dv
    np.testing.assert_allclose(effect.joint_forces["b"], tau, rtol=1e-12)
    np.testing.assert_allclose(effect.shown["torque"], tau, rtol=1e-12)
    np.testing.assert_allclose(effect.shown["bent"], plain.shown["bent"])
    assert effect.stored == pytest.approx(plain.stored, rel=1e-13)
    assert effect.power == pytest.approx(-C * (v + dv) @ (v + dv), rel=1e-12)
    assert effect.numerical == pytest.approx(-0.5 * H * (v + dv) @ (K * (v + dv)), rel=1e-12)
    balances(effect, used, later)
    if joint.nq == 4:
        phi = quaternion.log(quaternion.product(q, quaternion.exp(H * (v + dv))))
    else:
        phi = q + H * (v + dv)
    assert effect.foreseen == pytest.approx(0.5 * phi @ (K * phi), rel=1e-4 if joint.nq == 4 else 1e-13)  # it turns


@pytest.mark.parametrize("q", [1.0, -0.9, 0.2])
@pytest.mark.parametrize("v", [0.6, -0.6])
def test_a_joint_stop_over_a_step(q, v):
    """The law of contacts at the depth beyond each limit, towards the inside; the energy at the end is booked."""
    rng, world = two_bodies(1, pt.revolute((0, 0, 1)), q=q, v=[v])
    world.add(pt.JointStop("stop", "b", 50.0, 0.3, lower=-0.5, upper=0.8))
    scene = at_start(world)[2].scene
    law, later = scene.elements["stop"].resisting(scene, H), later_of(scene, rng)
    guess, tau, slope = later.velocity("b"), np.zeros(1), np.zeros(1)
    for depth, sign in ((-0.5 - q, 1.0), (q - 0.8, -1.0)):
        f, g, _ = contact_push(np.array(50.0), np.array(0.3), H, np.array([depth]), sign * guess)
        tau, slope = tau + sign * f - g * (np.array([v]) - guess), slope + g
    resistance = law.at(later)
    np.testing.assert_allclose(resistance.joint_forces["b"], tau, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(resistance.joint_slopes["b"], slope, rtol=1e-12, atol=1e-14)
    inwards = {1.0: -1, -0.9: 1, 0.2: 0}[q]
    assert np.sign(resistance.used(later).joint_forces["b"]) == inwards
    used = resistance.used(later)
    effect = law.taken(later, used)

    def stored(x):
        return 25.0 * (max(-0.5 - x, 0.0) ** 2 + max(x - 0.8, 0.0) ** 2)

    assert effect.stored == pytest.approx(stored(q))
    end = q + H * guess[0]
    assert effect.foreseen == pytest.approx(stored(end), rel=1e-12)
    assert effect.power <= 0
    assert effect.numerical <= 0
    balances(effect, used, later)
    np.testing.assert_array_equal(effect.shown["torque"], used.joint_forces["b"])


@pytest.mark.parametrize("limit", [{"upper": 0.8}, {"lower": 0.5}])
def test_a_joint_stop_on_one_side(limit):
    """What has no limit takes no energy, and is touched nowhere."""
    rng, world = two_bodies(1, pt.revolute((0, 0, 1)), q=0.6, v=[0.2])
    world.add(pt.JointStop("stop", "b", 50.0, 0.3, **limit))
    scene = at_start(world)[2].scene
    law, later = scene.elements["stop"].resisting(scene, H), later_of(scene, rng)
    effect = law.taken(later, law.at(later).used(later))
    assert [effect.stored, effect.foreseen, effect.power, effect.numerical] == [0.0] * 4


@pytest.mark.parametrize("reach", [None, 0.3])
@pytest.mark.parametrize("rest", [0.1, 9.0])
def test_a_spring_over_a_step(rest, reach):
    """Its pull by the length at the end of the step, and turned with it; both ends, one fixed to another body."""
    rng, world = welded()
    points = rng.normal(size=(2, 3))
    if reach:  # a short one
        scene = at_start(world)[2].scene
        points[1] = scene["c"].pose.inverse() @ (scene["a"].point(points[0]) + reach * np.array([0.6, 0.0, -0.8]))
    world.add(pt.Spring("s", "a", "c", 70.0, rest, 0.9, *points))
    scene = at_start(world)[2].scene
    law, later = scene.elements["s"].resisting(scene, H), later_of(scene, rng)
    a, c = scene["a"], scene["c"]
    d, u = c.point(points[1]) - a.point(points[0]), c.velocity_of(points[1]) - a.velocity_of(points[0])
    du = c.pose.R @ (later.change("c")[3:] + np.cross(later.change("c")[:3], points[1]))
    du = du - a.pose.R @ (later.change("a")[3:] + np.cross(later.change("a")[:3], points[0]))
    length = np.linalg.norm(d)
    n, pull = d / length, 70.0 * (length - rest)
    across = H * max(pull, 0.0) / length
    G = (0.9 + H * 70.0) * np.outer(n, n) + across * (np.eye(3) - np.outer(n, n))
    f = pull * n + G @ (u + du)
    used = law.at(later).used(later)
    np.testing.assert_allclose(used.wrenches["a"], a.wrench(f, points[0]), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(used.wrenches["c"], c.wrench(-f, points[1]), rtol=1e-10, atol=1e-11)
    effect, rate = law.taken(later, used), n @ (u + du)
    assert effect.stored == pytest.approx(35.0 * (length - rest) ** 2, rel=1e-13)
    assert effect.foreseen == pytest.approx(35.0 * (length + H * rate - rest) ** 2, rel=1e-12)
    assert effect.power == pytest.approx(-0.9 * rate**2, rel=1e-10)
    balances(effect, used, later)
    np.testing.assert_allclose([effect.shown["length"], effect.shown["tension"]], [length, n @ f], rtol=1e-12)


def test_which_parts_resist():
    """Springs unless their tension is a function, flexures, stops; no forces that are taken at the start."""
    assert pt.Spring("s", "a").resists
    assert not pt.Spring("s", "a", tension=lambda l, r, k, l0, c: 0.0).resists
    assert Flexure("f", "a").resists
    assert pt.JointStop("s", "a").resists
    assert not pt.Force("f", "a").resists


# Flows.


def test_fuel_for_an_engine_on_another_body_leaves_its_tank_unmoved():
    """At a point of its body it has the velocity of the body: what is lost takes its momentum along, and no more."""
    _, world = two_bodies(3)
    world.add(pt.Tank("t", "b", contents=8.0, position=(0.4, 0.1, 0.2)))
    thruster = {"thrust": 300.0, "exhaust_speed": 900.0, "direction": (1, 0, 0.2), "point": (-1, 0.1, 0.3)}
    world.add(pt.Thruster("e", "a", "t", **thruster))
    moved = at_start(world)[2]
    effect, a, b = moved.effects["e"], moved.scene["a"], moved.scene["b"]
    np.testing.assert_allclose(effect.wrenches["b"], 0.0, atol=1e-12)
    tank = a.pose.inverse() @ b.point((0.4, 0.1, 0.2))  # a stream from there to the nozzle, in the frame of a
    path = np.concatenate([np.cross(tank, (-1, 0.1, 0.3)), np.array([-1, 0.1, 0.3]) - tank])
    np.testing.assert_allclose(effect.carried["a"], 300.0 / 900.0 * path, rtol=1e-12, atol=1e-13)
    assert "b" not in effect.carried or np.allclose(effect.carried["b"], 0.0)


@pytest.mark.parametrize(("happened", "force"), [(1.0, 40.0), (0.0, 0.0)])
def test_an_engine_is_lit_by_an_event(happened, force):
    """No thrust before it; the clock of the thrust starts with it."""
    for tank in (None, "t"):
        engine = pt.Thruster("e", "craft", tank, lambda t: 20.0 * t, direction=(2.0, 0, 0), ignition="lit", lag=0.5)
        event = pt.When("lit", lambda t, scene: t - 3.0)
        parts = (engine, event, pt.Tank("t", "craft", contents=50.0))
        moved = flying(*parts, states={"lit.happened": happened, "lit.at": 3.0}, t=5.0)
        effect = moved.effects["e"]
        if tank is None:
            np.testing.assert_allclose(effect.shown["force"], [force, 0, 0])
        else:
            assert effect.rates["rate"] == pytest.approx(force / 3000.0 / 0.5)
    constant = pt.Thruster("e", "craft", None, 7.0, direction=(0, 3.0, 0), ignition="lit")
    moved = flying(constant, event, states={"lit.happened": happened, "lit.at": 3.0}, t=5.0)
    np.testing.assert_allclose(moved.effects["e"].shown["force"], [0, 7.0 * happened, 0])


# Sloshing.

CYLINDER = {"radius": 0.8, "height": 2.0}


@pytest.mark.parametrize(("bottom", "up"), [("-z", 1.0), ("z", -1.0)])
def test_the_parts_of_a_tank_that_sloshes(bottom, up):
    """A pendulum about x, then y, from its hinge; the rest of the liquid at its place; damping of its own frequency."""
    tank = pt.Tank("t", "a", capacity=900.0, contents=400.0, position=(1.0, 2.0, 3.0), **CYLINDER)
    model, parts = slosh_model(tank), slosh_parts(tank, damping=0.02, bottom=bottom)
    np.testing.assert_array_equal(parts.joint.axes, [[1, 0, 0], [0, 1, 0]])
    c = 2 * 0.02 * np.sqrt(9.80665 / model.length) * model.mass * model.length**2
    np.testing.assert_allclose(parts.joint.damping, c, rtol=1e-13)
    np.testing.assert_allclose(parts.rest.position, [1.0, 2.0, 3.0 + up * model.fixed], rtol=1e-14)
    assert (parts.rest.contents, parts.rest.capacity) == (model.fixed_mass, 900.0)
    np.testing.assert_allclose(parts.placement.p, [1.0, 2.0, 3.0 + up * model.hinge], rtol=1e-14)
    np.testing.assert_array_equal(parts.placement.R, np.diag([1.0, up, up]))
    np.testing.assert_array_equal(parts.pendulum.com, [0, 0, -model.length])
    np.testing.assert_array_equal(parts.pendulum.moment, np.zeros((3, 3)))
    assert parts.pendulum.mass == model.mass
    for size, axis in (((1.0, 2.0, 1.5), (1, 0, 0)), ((2.0, 1.0, 1.5), (0, 1, 0)), ((1.0, 1.0, 1.5), (0, 1, 0))):
        box = pt.Tank("t", "a", capacity=900.0, contents=400.0, size=size)
        np.testing.assert_array_equal(slosh_parts(box).joint.axes, [axis])
    assert slosh_parts(tank).joint.damping == pytest.approx(0.25 * c)
    for wrong in ({"bottom": "x"}, {"damping": -0.1}):
        with pytest.raises(ValueError, match="tank 't' must be"):
            slosh_parts(tank, **wrong)
    with pytest.raises(TypeError, match=r"is not a pt\.Tank"):
        slosh_parts("t")


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_the_pendulum_of_a_ball(level):
    """It hinges at the centre, and balances the liquid: a spherical cap, whose volume gives the level."""
    R, m = 0.7, 300.0
    model = slosh_model(pt.Tank("t", "a", capacity=m / level, contents=m, radius=R))
    z = -R + (np.arange(200_000) + 0.5) / 200_000 * 2 * R
    area = np.pi * (R * R - z * z)
    filled = np.cumsum(area) <= level * area.sum()
    centre = (area * z)[filled].sum() / area[filled].sum()
    assert model.hinge == 0
    assert model.mass + model.fixed_mass == pytest.approx(m, rel=1e-12)
    assert model.fixed_mass * model.fixed - model.mass * model.length == pytest.approx(m * centre, rel=1e-4)
    assert model.frequency(4.0) == pytest.approx(np.sqrt(4.0 / model.length))
    assert model.frequency() == pytest.approx(np.sqrt(9.80665 / model.length))


@pytest.mark.parametrize(
    "tank",
    [
        {"contents": 0.0, "capacity": 9.0, "radius": 1.0},
        {"contents": 9.0, "capacity": 9.0, "radius": 1.0},
        {"contents": 3.0, "radius": 1.0},
        {"contents": 3.0, "capacity": 9.0},
        {"contents": 3.0, "capacity": 9.0, "radius": -1.0},
        {"contents": 3.0, "capacity": 9.0, "radius": 1.0, "height": 0.0},
    ],
)
def test_tanks_that_cannot_slosh(tank):
    with pytest.raises(ValueError, match=r"tank 't'"):
        slosh_model(pt.Tank("t", "a", **tank))


# Elements and signals.


def test_an_element_of_ones_own_may_not_throw_dice():
    """Its effect must be the same each time it is asked for one instant."""
    rng = np.random.default_rng(1)

    @dataclass(frozen=True, eq=False)
    class Dice(Element):
        def effect(self, scene):
            return Effect(shown={"eyes": np.asarray(rng.normal())})

    _, world = two_bodies(1)
    world.add(Dice("dice"))
    with pytest.raises(ValueError, match=r"effect of Dice 'dice' .* other numbers each time"):
        world.motion()


def test_signals_of_a_scene():
    """States, what is shown, quantities of bodies, inputs, entries of arrays; wrong ones are named."""
    _, world = two_bodies(3, pt.revolute((0, 0, 1)), q=0.4, v=[-0.2])
    world.add(pt.Spring("s", "a", stiffness=2.0))
    world.add(pt.Tank("t", "a", capacity=4.0, contents=3.0))
    world.add_input("u", 5.0)
    scene = at_start(world)[2].scene
    assert scene.signal("t.contents") == 3.0
    assert scene.signal("t.filled") == 0.75
    assert scene.signal("u") == 5.0
    assert scene.signal("b.q") == [0.4]
    assert scene.signal("b.v") == [-0.2]
    assert scene.signal("s.length") == scene.effect("s").shown["length"]
    np.testing.assert_array_equal(scene.signal("a.position"), scene["a"].position)
    assert scene.signal("a.orientation[3]") == scene["a"].orientation[3]
    np.testing.assert_allclose(scene.signal("a.specific_force"), scene.specific_force("a"))
    assert list(scene.asked)[:2] == ["t.contents", "t.filled"]
    for wrong in ("a.position[3]", "u[0]", "s.lenght", "nobody.position", "t.level"):
        with pytest.raises(KeyError, match="there is no signal"):
            scene.signal(wrong)
    with pytest.raises(KeyError, match="there is no element 'sp'"):
        scene.element("sp")
    with pytest.raises(KeyError, match="there is no input 'w'"):
        scene.input("w")
    with pytest.raises(ValueError, match="follows from accelerations"):
        _ = replace(scene, solve=None).dynamics
    assert scene["world"].position @ np.ones(3) == 0
    assert scene.solids("nobody") == ()


def test_an_output_that_is_ready_is_a_signal_before_its_inputs():
    """What follows from the states of an element alone does not ask for its effect."""

    @dataclass(frozen=True, eq=False)
    class Memory(Element):
        def states(self):
            return {"x": np.array(3.0)}

        def ready(self, states):
            return {"twice": 2 * states["x"]}

        def effect(self, scene):
            return Effect(rates={"x": np.zeros(())}, shown={"twice": np.array(-1.0), "late": scene.signal("m.twice")})

    _, world = two_bodies(3)
    world.add(Memory("m"))
    scene = at_start(world)[2].scene
    assert scene.signal("m.twice") == 6.0
    assert scene.signal("m.late") == 6.0


def test_a_joint_that_is_held_starts_at_rest():
    """A free body that a limit holds may not move against its parent before it is let go."""
    for v, refused in ((0.0, False), (1e-12, False), (1e-6, True)):
        world = pt.World((0, 0, 0))
        world.add_body("a", Inertia.box(5.0, (1, 2, 3)))
        world.add_body("b", Inertia.box(5.0, (1, 2, 3)), "a", pt.free(), v=(0, 0, 0, v, 0, 0))
        world.add(pt.Cut("cut", "b"))
        world.add(Limit("limit", "b", "cut", axial=1.0, then="part"))
        if refused:
            with pytest.raises(ValueError, match="holds it before"):
                world.motion()
        else:
            world.motion()
