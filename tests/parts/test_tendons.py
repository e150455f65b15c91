"""Tendons over joints, by laws: forces, energy, steps by the forces at their end, derivatives, and scenarios."""

import numpy as np
import pytest
from instants import at_start, power_into_bodies, rate_of_stored

import poinsot as pt
from poinsot._errors import FieldError
from poinsot.files import load_scenario
from poinsot.parts.resisting import Later
from poinsot.run.compiled import CompiledSystem
from poinsot.run.heaps import is_heap
from poinsot.world.system import System

H = 0.01
PATH = {"over": ("f0", "f2"), "coefficients": (1.0, -0.6)}
TENDONS = {
    "spring": lambda: pt.Tendon("t", **PATH, stiffness=40.0, damping=0.3, rest_length=0.3),
    "taut above": lambda: pt.Tendon("t", **PATH, stiffness=40.0, rest_length=(-1.0, -0.5)),
    "taut below": lambda: pt.Tendon("t", **PATH, stiffness=40.0, damping=0.1, rest_length=(0.1, 0.5)),
    "slack": lambda: pt.Tendon("t", **PATH, stiffness=40.0, damping=0.1, rest_length=(-1.5, 1.5)),
    "friction": lambda: pt.Tendon("t", **PATH, friction=0.4, stiffness=1.0),
    "upper stop": lambda: pt.TendonStop("t", **PATH, stiffness=50.0, damping=0.3, lower=-1.0, upper=-0.6),
    "lower stop": lambda: pt.TendonStop("t", **PATH, stiffness=50.0, damping=0.3, lower=0.5),
    "servo": lambda: pt.TendonMotor("t", **PATH, value=0.2, kp=5.0, kd=0.4, target=0.7, target_rate=0.1),
    "servo at its limit": lambda: pt.TendonMotor("t", **PATH, kp=5.0, kd=0.4, target=0.7, limit=0.3),
    "motor": lambda: pt.TendonMotor("t", **PATH, value=0.2),
}


def finger(*elements, gravity=-9.81):
    """Three links on hinges, one after the other, in motion."""
    world, parent = pt.World((0, 0, gravity)), None
    for k in range(3):
        inertia = pt.Pose(p=(0.05, 0, 0)) @ pt.Inertia.box(0.3, (0.1, 0.02, 0.02))
        start = {"q": [0.2 * k - 0.3], "v": [1.0 - 0.7 * k]}
        joint = pt.revolute((0, 1, 0), damping=0.01)
        world.add_body(f"f{k}", inertia, parent, joint, (0.1 * (k > 0), 0, 0), **start)
        parent = f"f{k}"
    for element in elements:
        world.add(element)
    return world


L, RATE = -0.3 - 0.6 * 0.1, 1.0 + 0.6 * 0.4
FORCES = {
    "spring": -40.0 * (L - 0.3) - 0.3 * RATE,
    "taut above": -40.0 * (L + 0.5),
    "taut below": -40.0 * (L - 0.1) - 0.1 * RATE,
    "slack": -0.1 * RATE,
    "friction": -L - 0.4,
    "upper stop": -50.0 * (L + 0.6) * (1 + 0.3 * RATE),
    "lower stop": 50.0 * (0.5 - L) * (1 - 0.3 * RATE),
    "servo": 0.2 + 5.0 * (0.7 - L) + 0.4 * (0.1 - RATE),
    "servo at its limit": 0.3,
    "motor": 0.2,
}


@pytest.mark.parametrize("name", TENDONS)
def test_forces_and_power_at_an_instant(name):
    """tau_i = c_i f; what the tendon stores and its forces do is its power, which only motors may add."""
    system, state, moved = at_start(finger(TENDONS[name]()))
    effect, c = moved.effects["t"], np.array([1.0, -0.6])
    found = [effect.joint_forces[k][0] for k in ("f0", "f2")]
    np.testing.assert_allclose(found, FORCES[name] * c, rtol=1e-12)
    np.testing.assert_allclose(effect.shown["tension"], FORCES[name], rtol=1e-12)
    assert effect.shown["length"] == pytest.approx(L)
    if name.startswith(("servo", "motor")):
        assert effect.stored is None
        return
    balance = rate_of_stored(system, state, "t") + power_into_bodies(system, state, moved, "t")
    np.testing.assert_allclose(effect.power, balance, atol=1e-7)
    assert effect.power <= 1e-15


@pytest.mark.parametrize("name", [name for name in TENDONS if name != "motor"])
def test_a_tendon_over_a_step(name):
    """Linear in the velocities, with one symmetric slope; exact where they were guessed; booked by what it does."""
    scene = at_start(finger(TENDONS[name]()))[2].scene
    law = scene.elements["t"].resisting(scene, H)
    rng = np.random.default_rng(2)
    later = Later(scene, H, {}, 20 * rng.normal(size=3))
    stated, c, change = law.at(later), np.array([1.0, -0.6]), H * later.a[[0, 2]]
    slopes = np.diag([stated.joint_slopes[k][0] for k in ("f0", "f2")])
    slopes[0, 1] = slopes[1, 0] = stated.joint_couplings["f0", "f2"]
    g = slopes[0, 0]
    np.testing.assert_allclose(slopes, g * np.outer(c, c), atol=1e-14)
    assert g >= 0
    used = stated.used(later)
    f = stated.joint_forces["f0"][0] - g * (c @ change)
    np.testing.assert_allclose([used.joint_forces[k][0] for k in ("f0", "f2")], f * c, rtol=1e-12, atol=1e-14)
    effect, rate = law.taken(later, used), RATE + c @ change
    assert effect.shown["tension"] == pytest.approx(f, rel=1e-10)
    end = L + H * rate
    wanted = {
        "spring": -40.0 * (end - 0.3) - 0.3 * rate, "taut above": -40.0 * max(end + 0.5, 0.0),
        "taut below": -40.0 * min(end - 0.1, 0.0) - 0.1 * rate, "slack": -0.1 * rate,
        "friction": -end - 0.4 * np.tanh(rate / 1e-3), "servo": 0.2 + 5.0 * (0.7 - end) + 0.4 * (0.1 - rate),
        "upper stop": -50.0 * max(end + 0.6, 0.0) * max(1 + 0.3 * rate, 0.0),
        "lower stop": 50.0 * max(0.5 - end, 0.0) * max(1 - 0.3 * rate, 0.0), "servo at its limit": 0.3,
    }  # fmt: skip
    assert f == pytest.approx(wanted[name], rel=1e-6)
    if effect.stored is not None:
        done = used.power(later) + (effect.foreseen - effect.stored) / H
        assert effect.power + effect.numerical == pytest.approx(done, rel=1e-9, abs=1e-9)
        assert effect.power <= 0
        assert effect.numerical <= 1e-9


@pytest.mark.parametrize("name", TENDONS)
def test_an_implicit_step_is_of_first_order_and_its_ledger_closes(name):
    """Against a fine run of fourth order; the step books what it adds, to rounding."""
    world = finger(TENDONS[name]())
    exact = world.simulate(0.1, 1e-5).y[-1, :6]
    ends = []
    for h in (5e-5, 2.5e-5):
        run = world.simulate(0.1, h, method="implicit", ledger_tolerance=1.0)
        assert run.ledger.relative_residual.max() < 1e-11
        ends.append(run.y[-1, :6])
    errors = [np.abs(end - exact).max() for end in ends]
    assert 1.6 < errors[0] / errors[1] < 2.4
    assert np.abs(2 * ends[1] - ends[0] - exact).max() < 0.25 * errors[1]


def test_stiff_tendons_hold_at_long_steps():
    """A coupling of 1e6 N m at 5 ms: an explicit step would need some 20 us."""
    world = finger(pt.Tendon("t", **PATH, stiffness=1e6, rest_length=L))
    run = world.simulate(2.0, 5e-3, method="implicit", ledger=False)
    lengths = run.y[:, 0] - 0.6 * run.y[:, 2]
    assert np.abs(lengths[20:] - L).max() < 1e-4
    assert np.abs(run.y[-1, 0] + 0.3) > 0.1  # it swings


def test_an_implicit_step_in_kernels_derives():
    """By the state, stiffness, gain and coefficients, against differences, forwards and backwards."""
    tendons = (TENDONS["spring"](), pt.TendonMotor("m", ("f1", "f2"), (0.5, 1.0), kp=5.0, kd=0.2))
    world = finger(*tendons)
    free = ("t.stiffness", "m.kp", "t.coefficients")
    system = CompiledSystem(System(world.description, free), "implicit", {}, False)
    kernel = pt.kernel(f"({system.ny}),({system.np})->({system.ny})")(
        lambda y, p: system._advance_state(y, p, 0.0, 2e-3, 2)
    )
    p = system.parameters({}, {})
    y = np.array(system.start(p))
    rng = np.random.default_rng(3)
    dy, dp, c = rng.normal(size=(5, system.ny)), rng.normal(size=(5, system.np)), rng.normal(size=system.ny)
    _, found = pt.jvp(kernel, wrt=(0, 1))(y, p, dy, dp)
    e = 1e-5
    wanted = (kernel(y + e * dy, p + e * dp) - kernel(y - e * dy, p - e * dp)) / (2 * e)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
    _, back = pt.vjp(kernel, wrt=0)(y, p, c)
    _, forward = pt.jvp(kernel, wrt=0)(y, p, dy[0])
    assert c @ forward == pytest.approx(back @ dy[0], rel=1e-9)


def test_tendons_beside_loops_and_contacts():
    """The matrix that they join is the same with closed loops, and with lists of contacts."""

    def tip(closed, listed):
        world = finger(TENDONS["spring"](), gravity=-3.0)
        world.add_body("ball", pt.Inertia.sphere(0.2, 0.05), position=(3.0, 0, 1.0))
        world.add_body("other", pt.Inertia.sphere(0.2, 0.05), position=(5.0, 0, 1.0))
        if closed:  # a third body that the loop holds
            world.add_body("rod", pt.Inertia.sphere(0.1, 0.05), joint=pt.prismatic((0, 0, 1)), placement=(7, 0, 0))
            world.close("loop", "world", "rod", pt.fixed(), placement_a=(7, 0, 0))
        if listed:
            world.collide(["f0", "ball", "other"], capacity=3)
        return world.simulate(0.2, 1e-3, method="implicit")["f2"].position.values[-1]

    plain = tip(False, False)
    for case in ((True, False), (False, True), (True, True)):
        np.testing.assert_allclose(tip(*case), plain, rtol=1e-9, atol=1e-12)


def test_tendons_beside_a_heap():
    """Many balls in a list, found by conjugate gradients, leave the finger as it is to what they find."""

    def tip(balls):
        world = finger(TENDONS["spring"](), gravity=-3.0)
        names = [f"b{k}" for k in range(balls)]
        for k, name in enumerate(names):
            world.add_body(name, pt.Inertia.sphere(0.2, 0.05), position=(3.0 + 0.2 * k, 0, 1.0))
        if balls:
            world.collide(["f0", *names], capacity=8)
            assert is_heap(world.system())
        run = world.simulate(0.2, 1e-3, method="implicit", ledger=False)
        return run["f2"].position.values[-1]

    np.testing.assert_allclose(tip(30), tip(0), rtol=1e-6)


def test_two_elements_between_the_same_bodies_add_up():
    """Two springs of half the stiffness are one, also in a step that takes them at its end; so are two tendons."""

    def ends(*elements):
        world = finger(*elements)
        world.add_body("b", pt.Inertia.box(2.0, (1, 1, 1)), position=(1.5, 0, 0.2))
        return world.simulate(0.1, 2e-3, method="implicit", ledger_tolerance=1.0).y[-1]

    one = ends(pt.Spring("s", "f2", "b", 100.0, 0.5), pt.Tendon("t", **PATH, stiffness=40.0))
    half = [pt.Spring(f"s{k}", "f2", "b", 50.0, 0.5) for k in range(2)]
    half += [pt.Tendon(f"t{k}", **PATH, stiffness=20.0) for k in range(2)]
    two = ends(*half)
    np.testing.assert_allclose(two[:26], one[:26], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "field", "message"),
    [
        (lambda: pt.Tendon("t"), "over", "over of tendon 't' must name one or more bodies"),
        (lambda: pt.Tendon("t", ("a", "a"), (1.0, 2.0)), "over", "each once"),
        (lambda: pt.TendonStop("t", ("a", "b"), (1.0,)), "coefficients", "must be 2 numbers, one for each joint"),
        (lambda: pt.Tendon("t", ("a",), (np.nan,)), "coefficients", "must be finite"),
        (lambda: pt.Tendon("t", ("a",), (1.0,), -1.0), "stiffness", "must be zero or more"),
        (lambda: pt.Tendon("t", ("a",), (1.0,), rest_length=(2.0, 1.0)), "rest_length", "two in order"),
        (lambda: pt.TendonStop("t", ("a",), (1.0,), lower=1.0, upper=0.5), "lower", "must be less than the upper one"),
        (lambda: pt.TendonMotor("t", ("a",), (1.0,), limit=-1.0), "limit", "must be zero or more"),
        (lambda: finger(pt.Tendon("t", ("f9",), (1.0,))).system(), "", "'f9', which is not a body"),
    ],
)
def test_errors_name_the_field(make, field, message):
    with pytest.raises(FieldError, match=message) as caught:
        make()
    assert not field or caught.value.field == field


def test_joints_of_several_directions_are_refused():
    world = pt.World()
    world.add_body("ball", pt.Inertia.box(1.0, (1, 2, 3)), joint=pt.spherical())
    world.add(pt.Tendon("t", ("ball",), (1.0,), 1.0))
    with pytest.raises(FieldError, match="runs over the spherical joint of body 'ball'"):
        world.simulate(0.1, 0.01)


TEXT = """
title = "an arm on a cord"
[[body]]
name = "arm"
joint = { kind = "revolute", axis = [0, 1, 0] }
[[body.shape]]
kind = "box"
mass = "1 kg"
size = ["20 cm", "20 cm", "10 cm"]
[[tendon]]
name = "cord"
over = ["arm"]
coefficients = [0.5]
stiffness = "20 N/m"
rest_length = ["10 cm", "20 cm"]
[[tendon_stop]]
name = "end"
over = ["arm"]
coefficients = [0.5]
upper = "30 cm"
[[tendon_motor]]
name = "winch"
over = ["arm"]
coefficients = [0.5]
kp = "5 N/m"
target = "10 cm"
[run]
duration = "0.1 s"
step = "1 ms"
"""


def test_a_scenario_has_tendons(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(TEXT)
    elements = load_scenario(path).world.description.elements
    cord, end, winch = (elements[name] for name in ("cord", "end", "winch"))
    assert (cord.over, cord.stiffness, tuple(cord.rest_length)) == (("arm",), 20.0, (0.1, 0.2))
    assert (end.lower, end.upper, winch.kp, winch.target) == (-np.inf, 0.3, 5.0, 0.1)
