"""A new joint is one entry of the table: what a user adds works in every algorithm, back end, file and run."""

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_rolled import MACHINES, check
from trees import along, random_inertia, random_motion, random_placement, rate, same

import poinsot as pt
from poinsot._types import Array, ArrayLike
from poinsot.files.scenario import read_scenario
from poinsot.files.written import scenario_text
from poinsot.mechanism import book, derivatives, dynamics, kinematics
from poinsot.mechanism.joint_types import Constant, JointType
from poinsot.mechanism.joints import TYPES, Joint
from poinsot.run import ledger
from poinsot.spatial import rotation
from poinsot.world import State, System
from poinsot.world.dimensions import units_at
from sparing import few

DIFFERENCES = 1e-8  # what difference quotients of second order in time leave


# The new joints: what a user writes.


def cam(axis: ArrayLike, lift: float, **data: Any) -> Joint:
    """q: the angle [rad] about the axis, along which it rises by lift (1 - cos q), lift in m."""
    return Joint("cam", pt.revolute(axis).axes, {"lift": lift}, **data)


def arc(axis: ArrayLike, radius: float, **data: Any) -> Joint:
    """q: the way [m] along a circle about the axis, of this radius [m], whose tangent turns with the child."""
    return Joint("arc", pt.planar(axis).axes[:2], {"radius": radius}, **data)


def cardan(axis1: ArrayLike, axis2: ArrayLike, **data: Any) -> Joint:
    """A universal joint that is not taken apart."""
    return replace(pt.universal(axis1, axis2, **data), kind="cardan")


def _turned(n: Array, angle: Array) -> Array:
    return rotation.exp(angle * n)


def _arc_pose(joint: Joint, q: Array) -> pt.Pose:
    n, t = joint.axes
    angle = q[0] / joint.radius
    p = joint.radius * (np.sin(angle) * t + (1 - np.cos(angle)) * np.cross(n, t))
    return pt.Pose.unchecked(_turned(n, angle), p)


NEW = {
    "cam": JointType(
        cam,
        ("rad",),
        lambda j, q: pt.Pose.unchecked(_turned(j.axes[0], q[0]), j.lift * (1 - np.cos(q[0])) * j.axes[0]),
        lambda j, q: np.concatenate([j.axes[0], j.lift * np.sin(q[0]) * j.axes[0]])[:, None],
        axes=("axis",),
        parameters={"lift": "m"},
    ),
    "arc": JointType(
        arc,
        ("m",),
        _arc_pose,
        Constant(lambda j: np.concatenate([j.axes[0] / j.radius, j.axes[1]])[:, None]),
        axes=("axis",),
        parameters={"radius": "m"},
    ),
    "cardan": replace(TYPES["universal"], make=cardan, parts=None),
}


@pytest.fixture(autouse=True)
def _new_joints(monkeypatch):
    for kind, entry in NEW.items():
        monkeypatch.setitem(TYPES, kind, entry)


def random_new(rng: np.random.Generator, kind: str, **data: Any) -> Joint:
    axes = rng.standard_normal((2, 3))
    return cardan(*axes, **data) if kind == "cardan" else NEW[kind].make(axes[0], rng.uniform(0.2, 0.5), **data)


def tree(seed: int, kinds: tuple[str, ...] = ("cam", "arc", "cardan")) -> pt.Mechanism:
    """New joints and old ones in a tree with a branch, one of the new ones at the root, one with a motor."""
    rng = np.random.default_rng(seed)
    old = [pt.revolute(rng.standard_normal(3)), pt.spherical(), pt.prismatic(rng.standard_normal(3))]
    joints = [random_new(rng, kinds[k // 2 % len(kinds)]) if k % 2 == 0 else old[k // 2] for k in range(6)]
    joints.append(random_new(rng, kinds[0], armature=0.3))
    parents = [None, "l0", "l1", "l1", "l2", "l3", "l4"]
    parts = zip(joints, parents, strict=True)
    links = [pt.Link(f"l{k}", random_inertia(rng), p, j, random_placement(rng)) for k, (j, p) in enumerate(parts)]
    return pt.Mechanism(links, gravity=3 * rng.standard_normal(3))


every_tree = pytest.mark.parametrize("seed", range(4))
every_kind = pytest.mark.parametrize("kind", NEW)


# Kinematics, from the pose alone.


@every_kind
@pytest.mark.parametrize("seed", range(5))
def test_subspace_and_its_rate_follow_from_the_pose(kind, seed):
    rng = np.random.default_rng(seed)
    joint = random_new(rng, kind)
    t, q, v = joint.type, rng.standard_normal(joint.nv), rng.standard_normal(joint.nv)
    X = t.pose(joint, q)
    twist = rate(lambda h: (X.inverse() @ t.pose(joint, q + h * v)).log())
    same(t.subspace(joint, q) @ v, twist, 1e-11)
    same(t.subspace_rate(joint, q, v), rate(lambda h: t.subspace(joint, q + h * v)), 1e-11)
    same(t.bias(joint, q, v), t.subspace_rate(joint, q, v) @ v, 1e-14)
    same(t.pose(joint, t.neutral(joint)).matrix(), np.eye(4), 0.0)


@every_tree
def test_jacobian_and_its_rate(seed):
    mech = tree(seed)
    q, v, vdot = random_motion(np.random.default_rng(seed), mech)
    motion = along(mech, q, v, vdot)
    for link in mech.links:
        name, i = link.name, mech.index(link.name)
        same(kinematics.jacobian(mech, q, name) @ v, kinematics.twists(mech, q, v)[i], 1e-12)
        Jdot = rate(lambda t, name=name: kinematics.jacobian(mech, motion(t)[0], name))
        same(kinematics.jacobian_rate(mech, q, v, name), Jdot, 1e-10)
        Vdot = rate(lambda t, i=i: kinematics.twists(mech, *motion(t))[i])
        same(kinematics.accelerations(mech, q, v, vdot)[i], Vdot, 1e-10)


# Dynamics: laws, and an oracle that knows nothing but poses.


@every_tree
def test_laws_of_dynamics(seed):
    """As the book has them; ID(FD(tau)) = tau, M = dID/dvdot, M^-1 M = 1, and power is the rate of energy."""
    mech = tree(seed)
    q, v, tau = random_motion(np.random.default_rng(seed), mech)
    vdot, M = pt.forward_dynamics(mech, q, v, tau), pt.mass_matrix(mech, q)
    same(vdot, book.forward_dynamics(mech, q, v, tau), 1e-9)
    same(tau, book.inverse_dynamics(mech, q, v, vdot))
    same(M, book.mass_matrix(mech, q))
    same(pt.inverse_dynamics(mech, q, v, vdot), tau)
    same(dynamics.forward_dynamics_dense(mech, q, v, tau), vdot, 1e-9)
    bias = dynamics.bias_forces(mech, q, v)
    same(M, np.stack([pt.inverse_dynamics(mech, q, v, e) - bias for e in np.eye(mech.nv)], axis=1))
    same(dynamics.inverse_mass_matrix(mech, q) @ M, np.eye(mech.nv), 1e-9)
    motion = along(mech, q, v, vdot)

    def energy(t: float) -> Array:
        q, v = motion(t)
        return kinematics.kinetic_energy(mech, q, v) + kinematics.potential_energy(mech, q)

    same(tau @ v, rate(energy), 1e-10)
    same(v @ M @ v / 2, kinematics.kinetic_energy(mech, q, v))


@every_tree
def test_forces_follow_from_the_positions_of_points(seed):
    """d'Alembert: tau_k = sum over points of m (a - g) . dx/dq_k, by differences of positions along the motion."""
    rng = np.random.default_rng(seed)
    masses, places = 0.1 + rng.random(5), 0.4 * rng.standard_normal((5, 3))
    mech = tree(seed)
    mech = pt.Mechanism(
        [
            replace(k, inertia=pt.Inertia.points(masses, places), joint=replace(k.joint, armature=0.0))
            for k in mech.links
        ],
        mech.gravity,
    )
    q, v, vdot = random_motion(rng, mech)

    def points(q: Array) -> Array:
        return np.stack([X @ places for X in kinematics.world_poses(mech, q)])

    def along_joint(e: Array) -> Array:
        return rate(lambda t: points(kinematics.integrate(mech, q, t * e)))

    path = along(mech, q, v, vdot)
    a = rate(lambda s: rate(lambda t: points(path(s + t)[0]), 5e-3), 5e-3)
    tau = [np.sum(masses[:, None] * (a - mech.gravity) * along_joint(e)) for e in np.eye(mech.nv)]
    same(pt.inverse_dynamics(mech, q, v, vdot), np.stack(tau), DIFFERENCES)


@every_tree
def test_a_cardan_joint_is_a_universal_joint(seed):
    """The one has a subspace that depends on q; the other is taken apart into two hinges."""
    one = tree(seed, ("cardan",))
    links = [replace(k, joint=replace(k.joint, kind=k.joint.kind.replace("cardan", "universal"))) for k in one.links]
    two = pt.Mechanism(links, one.gravity)
    q, v, x = random_motion(np.random.default_rng(seed), one)
    for f in (pt.forward_dynamics, pt.inverse_dynamics, derivatives.forward_dynamics_derivatives):
        for a, b in zip(np.atleast_2d(f(one, q, v, x)), np.atleast_2d(f(two, q, v, x)), strict=True):
            same(a, b, 1e-9)


# Derivatives.


@pytest.mark.parametrize("kinds", few(["cam", "arc", "cardan", "cam arc cardan"], {"cardan", "cam arc cardan"}))
@pytest.mark.parametrize("name", ["inverse", "forward"])
def test_derivatives_are_those_of_the_compiler(name, kinds):
    mech = tree(3, tuple(kinds.split()))
    links = [k if k.joint.nv == k.joint.nq else replace(k, joint=pt.revolute((1, 2, 3))) for k in mech.links[:4]]
    mech = pt.Mechanism(links, mech.gravity)  # v is dq/dt everywhere
    f = {"inverse": pt.inverse_dynamics, "forward": pt.forward_dynamics}[name]
    d = {"inverse": derivatives.inverse_dynamics_derivatives, "forward": derivatives.forward_dynamics_derivatives}[name]
    n, (q, v, x) = mech.nv, random_motion(np.random.default_rng(1), mech)
    kernel = pt.kernel(f"({n}),({n}),({n})->({n})")(lambda q, v, x: f(mech, q, v, x))
    traced = pt.kernel(f"({n}),({n}),({n})->({n},{n}),({n},{n}),({n},{n})")(lambda q, v, x: d(mech, q, v, x))
    for compiler, plain, compiled in zip(
        pt.jacobian(kernel, wrt=(0, 1, 2))(q, v, x), d(mech, q, v, x), traced(q, v, x), strict=True
    ):
        same(plain, compiler, 1e-9)
        same(compiled, compiler, 1e-9)


# Generated code.


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("function", [pt.forward_dynamics, pt.inverse_dynamics])
def test_loops(function, machine):
    check(tree(1), function, machine, 1e-10)


def test_straight_line_code():
    mech = tree(2)
    text = f"({mech.nq}),({mech.nv}),({mech.nv})->({mech.nv})"
    q, v, x = random_motion(np.random.default_rng(0), mech)
    for f in (pt.forward_dynamics, pt.inverse_dynamics):
        same(pt.kernel(text)(lambda q, v, x, f=f: f(mech, q, v, x))(q, v, x), f(mech, q, v, x))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("size", [3, 7], ids=["straight-line", "loops"])
def test_cuda_text(size, tmp_path):
    """The CUDA source compiled as C++."""
    place = Path(__file__).parents[1] / "fuse" / "test_cuda.py"
    spec = importlib.util.spec_from_file_location("cuda_on_host", place)
    assert spec is not None
    assert spec.loader is not None
    host = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(host)
    mech = pt.Mechanism(tree(1).links[:size])
    kernel = pt.kernel(f"({mech.nq}),({mech.nv}),({mech.nv})->({mech.nv})")(lambda *x: pt.forward_dynamics(mech, *x))
    states = [random_motion(np.random.default_rng(k), mech) for k in range(3)]
    args = [np.stack(x) for x in zip(*states, strict=True)]
    program = kernel.gpu_program(*(a.shape for a in args), dtype=np.float64)
    assert (program.graph.count()["loop"] > 0) == (size == 7)
    (vdot,) = host.run_on_host(program, tmp_path, *args)
    same(vdot, np.stack([pt.forward_dynamics(mech, *x) for x in states]), 1e-9)


# Files, worlds, runs.


@every_tree
def test_a_scenario_keeps_axes_and_parameters(seed):
    mech = tree(seed)
    again = read_scenario(scenario_text(mech, "new joints")).world.mechanism
    q, v, tau = random_motion(np.random.default_rng(0), mech)
    for a, b in zip(mech.links, again.links, strict=True):
        assert (a.joint.kind, dict(a.joint.parameters)) == (b.joint.kind, dict(b.joint.parameters))
    same(pt.forward_dynamics(again, q, v, tau), pt.forward_dynamics(mech, q, v, tau), 1e-12)


def test_parameters_are_read_in_their_units():
    text = '[run]\nduration = 1\n[[body]]\nname = "box"\nshape = [{ kind = "box", size = [1, 1, 1], mass = 2 }]\n'
    world = read_scenario(
        text + 'joint = { kind = "cam", axis = [0, 0, 2], lift = "5 mm", damping = "1 N m s/rad" }'
    ).world
    assert world.description.bodies["box"].hinge.lift == 0.005
    assert units_at("box.joint.lift", world.description) == ("m",)
    with pytest.raises(ValueError, match=r"lift.*missing"):
        read_scenario(text + 'joint = { kind = "cam", axis = [0, 0, 2] }')


def swinging() -> pt.World:
    """A cam with a spring, a damper and a stop, a motor on an arc, and a spring to the world."""
    rng = np.random.default_rng(8)
    world = pt.World()
    follower = cam((0.1, 0, 1), 0.2, stiffness=3.0, rest=0.2, damping=0.2, friction=0.05, armature=0.01)
    world.add_body("follower", random_inertia(rng), joint=follower, q=[0.3], v=[1.0])
    world.add_body("car", random_inertia(rng), "follower", arc((1, 0, 0), 0.5), (0, 0, 0.3), v=[0.4])
    world.add_body("tool", random_inertia(rng), "car", cardan((1, 0, 0), (0, 1, 0), damping=0.1), (0.2, 0, 0))
    world.add(pt.JointStop("bumper", joint="follower", lower=-0.4, upper=0.4, stiffness=50.0))
    world.add(pt.Motor("drive", joint="car", value=0.3))
    world.add(pt.Flexure("bent", joint="tool", stiffness=2.0, damping=0.1))
    world.add_spring("rope", "world", "tool", 20.0, 0.5, point_b=(0.1, 0, 0))
    return world


def test_the_ledger_closes():
    """Instant by instant, and over a run; the corner where the bumper sets in costs some digits."""
    world = swinging()
    system = System(world.description)
    start = system.start()
    moved = system.motion(0.0, start)
    slope, inflow = system.rate(moved), ledger.inflow_rates(system, moved)

    def conserved(h: float) -> Array:
        q = kinematics.integrate(system.mechanism, start.q, h * (start.v + h / 2 * slope.v))
        m = system.motion(h, State(q, start.v + h * slope.v, start.parts))
        return ledger.conserved_quantities(m.scene, m.effects)

    same(rate(conserved, 1e-3), inflow.sum(axis=0), DIFFERENCES)
    assert world.simulate(1.0, 1e-3).ledger.relative_residual.max() < 1e-6


def test_a_saved_run_comes_back(tmp_path):
    run = swinging().simulate(0.1, 1e-3, ledger=False)
    run.save(tmp_path / "run.nc")
    again = pt.load_run(tmp_path / "run.nc").repeat()
    np.testing.assert_array_equal(again.y, run.y)
    run.export(tmp_path / "run.csv")
    heads = (tmp_path / "run.csv").read_text().partition("\n")[0]
    assert "follower.q [rad]" in heads
    assert "car.v [m/s]" in heads


def test_small_motions():
    world = swinging()
    n, start = 4, world.start()

    def slope(x: Array) -> Array:
        d = world.derivative(0.0, State(start.q + x[:n], start.v + x[n:], start.parts))
        return np.concatenate([d.q, d.v])

    A = np.stack([rate(lambda t, e=e: slope(t * e)) for e in np.eye(2 * n)], axis=1)
    same(world.linearise().A, A, 1e-9)


def test_parameters_can_be_left_free():
    world = swinging()
    assert {"follower.joint.lift", "car.joint.radius"} <= set(world.paths())
    lifts = np.array([0.1, 0.2, 0.3])
    many = world.simulate(0.05, 1e-3, vary={"follower.lift": lifts}, ledger=False)
    alone = swinging().simulate(0.05, 1e-3, ledger=False)
    np.testing.assert_allclose(many.y[-1, 1], alone.y[-1].ravel(), rtol=1e-12)
    assert not np.allclose(many.y[-1, 0], many.y[-1, 2])


def test_bodies_start_where_they_are_told_to():
    """Where a body is to be gives the coordinates of its joint."""
    q, v = np.array([0.4]), np.array([0.7])
    for joint in (cam((0, 0, 1), 0.3), arc((1, 2, 0), 0.5)):
        X, V = joint.type.pose(joint, q), joint.type.subspace(joint, q) @ v
        place = {"position": X.p} if joint.type.units == ("m",) else {"orientation": X.quaternion()}
        world = pt.World()
        world.add_body("box", pt.Inertia.box(1.0, (1, 2, 3)), joint=joint, velocity=X.R @ V[3:], **place)
        same(world.start().q, q, 1e-9)
        same(world.start().v, v, 1e-9)


def test_an_entry_that_would_go_wrong_is_refused():
    entry = NEW["cam"]
    with pytest.raises(TypeError, match="cam: a joint with a rate of its own needs integrate and a constant S"):
        replace(entry, rate=lambda j, q, v: 2 * v)
    with pytest.raises(TypeError, match="arc: a joint with a rate of its own needs integrate and a constant S"):
        replace(NEW["arc"], rate=lambda j, q, v: 2 * v)  # constant, but without integrate
    with pytest.raises(TypeError, match="cam: a joint with a rate of its own needs integrate and a constant S"):
        replace(entry, rate=lambda j, q, v: 2 * v, integrate=lambda j, q, u: q + 2 * u)
    replace(NEW["arc"], rate=lambda j, q, v: 2 * v, integrate=lambda j, q, u: q + 2 * u)
    with pytest.raises(TypeError, match="arc: a constant S has no rate"):
        replace(NEW["arc"], subspace_rate=lambda j, q, v: np.zeros((6, 1)))
    with pytest.raises(ValueError, match=r"cam: the unit of each degree of freedom is 'rad' or 'm', not \('deg',\)"):
        replace(entry, units=("deg",))
    with pytest.raises(TypeError, match="cam does not take height, which its entry names"):
        replace(entry, parameters={"height": "m"})
    with pytest.raises(ValueError, match="cam joint of link 'a' has the parameters none; it needs lift"):
        pt.Link("a", joint=Joint("cam", np.eye(3)[2:]))
