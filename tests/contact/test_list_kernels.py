"""Steps with lists of contacts as kernels: derivatives, materials that differ, batches, float32 and CUDA."""

import shutil

import numpy as np
import pytest

import poinsot as pt
from cuda_on_host import run_on_host
from poinsot.contact.colliders import joined
from poinsot.run.compiled import CompiledSystem
from poinsot.spatial import shapes
from poinsot.world.system import System

STEP = 2e-3
HARD, SLICK = pt.Material(2e4, 1.0, 0.5, 0.01), pt.Material(1e4, 0.5, 0.1)
LYING = pt.Pose.from_euler((np.pi / 2, 0, 0))
PLACES = {"ball": (0.02, 0, 0.599), "tube": (-0.201, 0.01, 0.561), "top": (0.0, 0.05, 0.798)}


def heap(listed=True):
    """Two balls and a capsule on a thick log that slides along x, in two materials."""
    world = pt.World(gravity=(0.8, 0, -9.81))
    tube = pt.Collider(shapes.Capsule(0.1, 0.2), LYING, surface=SLICK)
    log = pt.Collider(shapes.Capsule(0.5, 2.0), LYING, surface=HARD)
    world.add_body("log", pt.Inertia.sphere(9.0, 0.5), joint=pt.prismatic((1, 0, 0)), shapes=[log])
    for name, place in PLACES.items():
        shape = tube if name == "tube" else pt.Collider(shapes.Sphere(0.1), surface=HARD)
        world.add_body(name, pt.Inertia.sphere(0.5, 0.1), position=place, shapes=[shape])
    names = ["log", *PLACES]
    if listed:
        world.collide(names, capacity=7)
    else:
        bodies = world.description.bodies
        for k, a in enumerate(names):
            for b in names[k + 1 :]:
                world.collide(a, b, joined(bodies[a].shapes[0], bodies[b].shapes[0]))
    return world


def steps_of(world, free=()):
    system = CompiledSystem(System(world.description, free), "implicit", {}, False)
    signature = f"({system.ny}),({system.np})->({system.ny})"
    return system, pt.kernel(signature)(lambda y, p: system._advance_state(y, p, 0.0, STEP, 2))


@pytest.fixture(scope="module")
def steps():
    return steps_of(heap(), ("ball.mass", "log.mass"))


@pytest.fixture(scope="module")
def along(steps):
    return pt.jvp(steps[1], wrt=(0, 1))


STATES = {"sticking": (0.0, 0.0), "sliding": (0.8, 0.0), "lifting off": (0.2, 0.3), "falling on": (0.3, -0.4)}


def moved(system, kernel, sideways=0.0, up=0.0):
    """The state and numbers after some steps, with velocities added to the bodies on the log."""
    p = system.parameters({}, {})
    y = np.array(system.start(p))
    for _ in range(20):
        y = kernel(y, p)
    mech = system.system.mechanism
    for body in PLACES:
        k = system.system.nq + mech.v_slices[mech.index(body)].start
        y[k + 3 : k + 6] += sideways, 0.1 * sideways, up
    return y, p


def directions(system, y, rng):
    """Of state and numbers: not of those that say which patch is where."""
    dy, dp = rng.normal(size=(6, system.ny)), rng.normal(size=(6, system.np))
    dy[:3], dp[3:] = 0.0, 0.0
    start = system.system.nq + system.system.nv
    dy[:, : system.system.nq] *= 1e-3
    dy[:, start:] *= 1e-4
    touching = list(system.system.named_states(np.arange(system.system.ns))["contacts.touching"])
    dy[:, start + np.array(touching, dtype=int)] = 0.0
    return dy, dp


@pytest.mark.parametrize("name", STATES)
def test_slopes_of_two_steps_are_those_of_differences(steps, along, name):
    system, kernel = steps
    y, p = moved(system, kernel, *STATES[name])
    dy, dp = directions(system, y, np.random.default_rng(3))
    _, found = along(y, p, dy, dp)
    halves = [(kernel(y + s * dy, p + s * dp) - kernel(y - s * dy, p - s * dp)) / (2 * s) for s in (1e-4, 5e-5)]
    wanted = (4 * halves[1] - halves[0]) / 3
    assert np.max(np.abs(found - wanted) / np.abs(wanted).max(axis=1, keepdims=True)) < 1e-6


def test_at_rest_without_stretch_nothing_is_nan(steps, along):
    system, _ = steps
    p = system.parameters({}, {})
    _, slopes = along(system.start(p), p, np.eye(system.ny), np.zeros(system.np))
    assert np.all(np.isfinite(slopes))


@pytest.mark.slow
def test_reverse_mode_through_a_list_agrees_with_forward_mode(steps, along):
    system, kernel = steps
    y, p = moved(system, kernel, 0.5)
    dy, dp = directions(system, y, np.random.default_rng(0))
    c = np.random.default_rng(1).normal(size=system.ny)
    _, forward = along(y, p, dy, dp)
    _, by_state, by_number = pt.vjp(kernel, wrt=(0, 1))(y, p, c)
    assert forward @ c == pytest.approx(dy @ by_state + dp @ by_number, rel=1e-9)


def test_pairs_of_a_list_have_materials_of_their_own(steps):
    """As pair by pair, with the stiffness and friction of each."""
    contacts = heap().description.elements["contacts"]
    assert len(contacts.laws) == 2
    listed, paired = steps[0], steps_of(heap(listed=False))
    y, z = (moved(*x, sideways=0.3)[0] for x in (steps, paired))
    p, r = listed.parameters({}, {}), paired[0].parameters({}, {})
    for _ in range(10):
        y, z = steps[1](y, p), paired[1](z, r)
    n = listed.system.nq + listed.system.nv
    assert np.abs(y[:n] - z[:n]).max() < 1e-10


def test_the_bits_of_a_step_do_not_depend_on_the_batch(steps):
    system, kernel = steps
    y, p = moved(system, kernel)
    many = y + 1e-3 * np.random.default_rng(1).normal(size=(19, system.ny)) * (np.arange(system.ny) < system.system.nq)
    together = kernel(many, p)
    assert np.all(np.isfinite(together))
    assert all(np.array_equal(kernel(many[k], p), together[k]) for k in range(19))


def test_float32(steps):
    system, kernel = steps
    y, p = moved(system, kernel, 0.3)
    found = kernel(y.astype(np.float32), p.astype(np.float32))
    assert found.dtype == np.float32
    assert np.abs(found - kernel(y, p)).max() < 1e-3


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize(("float64", "within"), [(True, 1e-11), (False, 1e-3)])
def test_the_source_for_gpus(steps, float64, within, tmp_path):
    system, kernel = steps
    y, p = moved(system, kernel, 0.3)
    many = y + 1e-3 * np.random.default_rng(1).normal(size=(5, system.ny)) * (np.arange(system.ny) < system.system.nq)
    (found,) = run_on_host(kernel.program(), tmp_path, many, np.broadcast_to(p, (5, len(p))), float64=float64)
    assert np.abs(found - kernel(many, p)).max() < within
