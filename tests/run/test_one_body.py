"""Steps with one body of code, as they are made for a GPU: the same motion as that of steps that are written out, on
the back ends that need no GPU, and as CUDA source that is compiled for the host."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from cuda_on_host import run_on_host
from poinsot.fuse.plan.budget import GPU, tracing_for
from poinsot.integrate import schemes
from poinsot.run.driver import compiled_system

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gpu_code

N, H, STEPS = 6, 1e-2, 6


def craft() -> pt.World:
    """A hull with a tank that drains, so that its centre moves, and two arms: one may break off, then the other."""
    world = pt.World()
    hull = world.add_body("hull", pt.Inertia.box(40.0, (1.0, 0.8, 0.6)), angular_velocity=(0.2, -0.3, 0.5))
    hull.add(pt.Tank("fuel", capacity=20.0, contents=15.0, size=(0.4, 0.4, 0.5), settles=True))
    hull.add(pt.Thruster("jet", tank="fuel", thrust=300.0, exhaust_speed=90.0, direction=(0, 0.1, 1), point=(0, 0, -1)))
    for name, joint, side in (("stub", pt.free(), 1.0), ("flap", pt.revolute((0, 1, 0), damping=0.1), -1.0)):
        arm = world.add_body(name, pt.Inertia.box(1.0, (0.2, 0.1, 0.1)), hull, joint, placement=(0.6 * side, 0, 0))
        arm.add(pt.Cut("root", axis=(side, 0, 0)))
        arm.add(pt.Limit("limit", cut="root", shear=1e9, then="part"))
    world.add_force("push", hull, lambda t, scene: np.stack([0 * t, 0 * t, 4e4 * t]), point=(0, 0.1, 0))
    return world


def arms() -> pt.World:
    """Two pendulums with a rod between them."""
    world = pt.World(gravity=(0, -9.81, 0))
    for k, q in enumerate((-1.0, -2.5)):
        arm = pt.Inertia(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1]))
        world.add_body(f"arm{k}", arm, joint=pt.revolute((0, 0, 1)), placement=(2.0 * k, 0, 0), q=q, v=0.5)
    world.close("rod", "arm0", "arm1", pt.distance(1.0), (1, 0, 0), (1, 0, 0))
    return world


def bridge() -> pt.World:
    """A rod that breaks, and a controller that takes samples."""
    world = arms()
    world.add(pt.Cut("section", loop="rod"))
    world.add(pt.Limit("strength", loop="rod", cut="section", axial=1e9, then="part"))
    world.add(pt.PID("pid", "arm0.q", -1.2, kp=20.0, ki=3.0, sample=0.01))
    world.add_motor("motor", "arm0", pt.Signal("pid.out"))
    return world


def snap() -> pt.World:
    """A rod that is let go by an event, which is looked for within the step."""
    world = arms()
    world.add(pt.When("snap", condition=lambda t, scene: scene.joint("arm0")[0][0] + 1.25, release="rod"))
    return world


# What varies, and the latches. Of the arms none part, one, the other, both in different steps, both in the same step.
WORLDS = {
    "craft": (
        craft,
        {
            "stub.limit.shear": np.array([90.0, 11.3, 80.0, 13.3, 10.2, 11.0]),
            "flap.limit.shear": np.array([70.0, 65.0, 24.0, 23.0, 11.0, 10.7]),
        },
        "limit.latched",
    ),
    "bridge": (bridge, {"strength.axial": np.array([2.5, 1.7, 1.44, 1.5, 2.4, 1.9])}, "strength.latched"),
    "snap": (snap, {"arm0.v[0]": np.array([-0.5, 0.1, 0.5, 0.6, 0.8, 1.2])}, "snap.happened"),
}


@pytest.fixture(scope="module", params=WORLDS)
def made(request):
    """The program for a GPU, the arguments, the states that steps written out lead to, which of them are latches, and
    the program for the processor."""
    world, vary, latch = WORLDS[request.param]
    c = compiled_system(world().system(tuple(vary)), "rk4", (), True, None, "cpu")
    p = c.parameters(vary, {}, (N,))
    x = c.to_stepped(c.start(p), p)
    clock = (np.zeros(N), np.zeros(N), np.full(N, H), np.full(N, float(STEPS)))
    kernel = pt.fuse.Kernel(c._advance, f"({c.nx}),({c.np}),(),(),(),()->({c.nx})")
    with tracing_for(replace(GPU[8], written_out=0.0)):
        program = kernel.specialise((c.nx,), (c.np,), (), (), (), ())
    expected = c.advance(x, p, *clock)
    latches = [k for k, label in enumerate(c.labels()) if label.endswith(latch)]
    return program, (x, p, *clock), expected, latches, c.advance.program()


def near(found, expected):
    scale = np.maximum(np.abs(expected).max(axis=0), 1.0)
    return np.all(np.abs(found - expected) <= 1e-11 * scale)  # rounding, over some hundred steps and partings


def test_some_part_and_some_do_not(made):
    """Each instance at its own times, and some twice in a step; and the program is one body, about half as long."""
    program, _, expected, latches, written_out = made
    parted = expected[:, latches].sum(axis=1)
    assert set(parted) == set(range(len(latches) + 1))
    if len(latches) == 2:
        steps = np.ceil(expected[:, [k + 1 for k in latches]] / H)
        assert {bool(a == b) for a, b in steps[parted == 2]} == {True, False}
    assert program.operations < 0.55 * written_out.operations


def test_back_ends_without_a_gpu_agree(made):
    program, args, expected, latches, _ = made
    found = program.f64(*args)
    np.testing.assert_array_equal(found[:, latches], expected[:, latches])
    assert near(found, expected)
    (reference,) = program.interpret(*args, dtype=np.float64)
    assert near(reference, expected)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_the_source_for_gpus_agrees(made, tmp_path):
    program, args, expected, latches, _ = made
    (found,) = run_on_host(program, tmp_path, *args)
    np.testing.assert_array_equal(found[:, latches], expected[:, latches])
    assert near(found, expected)


def test_the_code_of_a_vehicle_that_parts_is_short():
    """Of the dive: 9,184 lines if its steps were written out, and 206 KB, of which 8 KB are the stack of a thread."""
    text, _, _ = gpu_code.source("dive", 8)
    assert text.text.count("\n") < 4200
    if shutil.which("nvcc"):
        said, cubin, _ = gpu_code.compiled(text, "sm_90")
        assert 10_000 < gpu_code.bytes_of_code(cubin) < 90_000
        assert max(map(int, re.findall(r"(\d+) bytes stack frame", said))) < 2000


def flexible() -> pt.World:
    """A hull with two beams, whose roots have limits, and forces at their tips."""
    world = pt.World()
    hull = world.add_body("hull", pt.Inertia.box(20.0, (1.0, 0.6, 0.4)), angular_velocity=(0.3, 0.2, -0.4))
    for name, side in (("left", 1.0), ("right", -1.0)):
        beam = pt.Beam(name, 2.0, EI=900.0, GJ=500.0, mass_per_length=0.8, polar=0.02, n=3, damping=0.01)
        segments = world.add_beam(beam, hull, pt.Pose.from_euler([0, 0, side * np.pi / 2], p=(0, 0.3 * side, 0)))
        up = lambda t, scene, tip=str(segments[-1]): np.stack([0 * t, 0 * t, 30 - scene[tip].velocity[2]])  # noqa: E731
        world.add_force(f"{name}_lift", str(segments[-1]), up)
        world.add(pt.Cut(f"{name}_root", f"{name}0", at=(-beam.joints[0], 0, 0), axis=(1, 0, 0)))
        world.add(pt.Limit(f"{name}_limit", cut=f"{name}_root", bending=20.0))
    return world


@pytest.fixture(scope="module")
def bending():
    """The program of a machine on which bodies are in loops, its arguments, and what steps written out lead to."""
    c = compiled_system(flexible().system(("left_limit.bending",)), "rk4", (), True, None, "cpu")
    p = c.parameters({"left_limit.bending": np.linspace(20.0, 45.0, N)}, {}, (N,))
    args = c.start(p), p, np.zeros(N), np.zeros(N), np.full(N, 1e-3), np.full(N, 40.0)
    kernel = pt.fuse.Kernel(c._advance, f"({c.nx}),({c.np}),(),(),(),()->({c.nx})")
    with tracing_for(replace(GPU[8], written_out=0.0, straight_line=2000.0, straight_line_beside_loops=2000)):
        program = kernel.specialise((c.nx,), (c.np,), (), (), (), ())
    return program, args, c.advance(*args), [k for k, x in enumerate(c.labels()) if x.startswith("left_limit.latched")]


def test_bodies_in_loops_and_joints_in_one_function(bending):
    """The ledger, too, of which the inflow by forces is entered before the accelerations are found."""
    program, args, expected, latches = bending
    assert 0 < expected[:, latches[0]].sum() < N
    assert near(program.f64(*args), expected)
    nodes = (node for part in (program.graph, *program.graph.subgraphs()) for node in part.live())
    assert "_spring" in {node.data.name for node in nodes if node.op == "call"}


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_their_source_for_gpus_agrees(bending, tmp_path):
    program, args, expected, _ = bending
    (found,) = run_on_host(program, tmp_path, *args)
    assert near(found, expected)


def pendulums(n: int) -> pt.World:
    """A chain, of which nothing is looked at after a step."""
    world = pt.World()
    for k in range(n):
        rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.cylinder(1.0, 0.05, 1.0)
        at = (0, 0, -1.0 if k else 0.0)
        world.add_body(f"rod{k}", rod, f"rod{k - 1}" if k else None, pt.revolute((0.1, 1, 0.2)), at, q=0.3 * k + 0.2)
    return world


def test_stages_are_a_loop_where_they_are_long_and_a_call_each_elsewhere():
    """The same bits on a processor."""

    def kernel(n):
        c = compiled_system(pendulums(n).system(()), "rk4", (), True, None, "cpu")
        return c, pt.fuse.Kernel(c._advance, f"({c.nx}),({c.np}),(),(),(),()->({c.nx})")

    def calls(program):
        parts = (node.op for part in program.graph.subgraphs() for node in part.live())
        return list(parts).count("call")

    (short, of_short), (long, of_long) = kernel(1), kernel(6)
    shapes = [[(c.nx,), (c.np,), (), (), (), ()] for c in (short, long)]
    one, many = (k.gpu_program(*s, dtype=np.float64) for k, s in zip((of_short, of_long), shapes, strict=True))
    assert (calls(one), calls(many)) == (4, 1)
    p = long.parameters({}, {})
    args = long.to_stepped(long.start(p), p), p, 0.0, 0.0, H, 100.0
    np.testing.assert_array_equal(many.f64(*args), long.advance(*args))


@pytest.mark.parametrize("tableau", [schemes.EULER, schemes.MIDPOINT, schemes.HEUN3, schemes.RK4])
def test_stages_in_a_loop(tableau):
    """The bits of stages that are written out, in plain NumPy."""

    def f(t, y):
        return {"x": y["v"], "v": np.sin(t) - y["x"]}

    y = {"x": np.array([0.3, 0.1]), "v": np.array([-0.2, 0.7])}
    both = (steps(tableau, f, 0.4, y, 0.1) for steps in (schemes.runge_kutta, schemes.runge_kutta_in_a_loop))
    for one, other in zip(*(end.values() for end in both), strict=True):
        np.testing.assert_array_equal(one, other)


def test_stages_that_start_from_several_are_no_loop():
    """Kutta's method of order 3."""
    assert schemes.Tableau(3, ((), (1 / 2,), (-1.0, 2.0)), (1 / 6, 2 / 3, 1 / 6)).reach is None
    assert schemes.RK4.reach == (0.5, 0.5, 1.0, 0.0)
