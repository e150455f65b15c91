"""Heaps, many free bodies in lists: the step in loops is the implicit step; they come to rest where they should."""

import shutil

import numpy as np
import pytest

import poinsot as pt
from cuda_on_host import run_on_host
from poinsot.run import crowds, heaps
from poinsot.run.compiled import CompiledSystem
from poinsot.world.system import System

SOFT = pt.Material(2e4, 1.0, 0.5)
STEP = 2e-3


def heap(kinds, width, spacing=0.3, seed=0):
    """Bodies above the floor of a square box of some width [m], in layers."""
    world = pt.World()
    n, half = len(kinds), 0.5 * width
    world.add_ground(
        surface=SOFT,
        capacity=4 * n,
        distance=lambda p: np.minimum(p[2], np.minimum(half - np.abs(p[0]), half - np.abs(p[1]))),
    )
    rng, side = np.random.default_rng(seed), max(1, int((width - 0.05) // spacing))
    for k, kind in enumerate(kinds):
        across = [spacing * (j - 0.5 * (side - 1)) + 0.01 * rng.normal() for j in (k % side, k // side % side)]
        body = pt.Inertia.sphere(1.0, 0.1) if kind == "ball" else pt.Inertia.box(1.5, (0.2, 0.24, 0.16))
        place = (*across, 0.15 + 0.27 * (k // side**2))
        world.add_body(f"b{k}", body, position=place, angular_velocity=rng.normal(size=3))
    world.collide(capacity=4 * n, surface=SOFT)
    return world


def moved(world, loops, guessed=1e-11):
    """A run by loops, or by the step for all worlds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowds, "LEAST", 1 if loops else 99)
        patch.setattr(heaps, "GUESSED", guessed)
        run = world.simulate(0.24, STEP, every=0.08, ledger_tolerance=np.inf)
        assert heaps.is_heap(run.compiled.system) == loops
    return run


@pytest.fixture(scope="module")
def both():
    return [moved(heap(("ball", "box", "ball"), 0.36), loops) for loops in (True, False)]


def test_a_heap_moves_as_other_worlds_do(both):
    one, other = (run.data.position.values for run in both)
    assert np.abs(one[-1] - one[0]).max() > 0.05
    assert np.abs(one - other).max() < 1e-10


@pytest.mark.slow
def test_guesses_need_not_be_exact(both):
    """They only say where forces are linearised: the ledger closes as well."""
    rough = moved(heap(("ball", "box", "ball"), 0.36), True, 1e-5)
    assert np.abs(rough.data.position.values - both[1].data.position.values).max() < 1e-7
    assert np.all(rough.ledger.relative_residual < 1e-10)


def test_the_ledger_of_a_heap_is_that_of_other_worlds(both):
    one, other = (run.ledger for run in both)
    assert one.sources == other.sources
    assert np.abs(one.inflow - other.inflow).max() < 1e-9
    assert np.abs(one.inflow[list(one.sources).index("ground-contacts"), 1:4]).min() > 0
    assert all(np.all(ledger.relative_residual < 1e-10) for ledger in (one, other))


@pytest.fixture(scope="module")
def steps():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowds, "LEAST", 1)
        patch.setattr(heaps, "GUESSED", 1e-11)  # differences of runs are taken
        world = heap(("ball", "ball"), 0.24)
        system = CompiledSystem(System(world.description, ("b0.mass",)), "implicit", {}, False)
        signature = f"({system.ny}),({system.np})->({system.ny})"
        kernel = pt.kernel(signature)(lambda y, p: system._advance_state(y, p, 0.0, STEP, 2))
        p = system.parameters({}, {})
        y = np.array(system.start(p))
        for _ in range(40):
            y = kernel(y, p)
        yield system, kernel, y, p


def test_the_bits_of_a_heap_do_not_depend_on_the_batch(steps):
    system, kernel, y, p = steps
    many = y + 1e-3 * np.random.default_rng(1).normal(size=(11, system.ny)) * (np.arange(system.ny) < system.system.nq)
    together = kernel(many, p)
    assert np.all(np.isfinite(together))
    assert all(np.array_equal(kernel(many[k], p), together[k]) for k in range(11))


@pytest.mark.slow
def test_slopes_of_a_heap_are_those_of_differences(steps):
    system, kernel, y, p = steps
    rng, n = np.random.default_rng(3), system.system.nq + system.system.nv
    dy, dp = 1e-3 * rng.normal(size=(4, system.ny)), rng.normal(size=(4, system.np))
    dy[:2], dp[2:], dy[:, n:] = 0.0, 0.0, 0.0
    _, found = pt.jvp(kernel, wrt=(0, 1))(y, p, dy, dp)
    halves = [(kernel(y + s * dy, p + s * dp) - kernel(y - s * dy, p - s * dp)) / (2 * s) for s in (1e-3, 5e-4)]
    wanted = (4 * halves[1] - halves[0]) / 3
    assert np.max(np.abs(found - wanted)[:, :n] / np.abs(wanted).max(axis=1, keepdims=True)) < 1e-6


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize(("float64", "within"), [(True, 1e-9), (False, 2e-3)])
def test_the_source_of_a_heap_for_gpus(steps, float64, within, tmp_path):
    system, kernel, y, p = steps
    many = y + 1e-3 * np.random.default_rng(1).normal(size=(3, system.ny)) * (np.arange(system.ny) < system.system.nq)
    (found,) = run_on_host(kernel.program(), tmp_path, many, np.broadcast_to(p, (3, len(p))), float64=float64)
    assert np.abs(found - kernel(many, p)).max() < within


def came_to_rest(n, kinds, width, duration):
    world = heap([kinds[k % len(kinds)] for k in range(n)], width)
    run = world.simulate(duration, STEP, every=duration / 4, ledger_tolerance=np.inf)
    assert run.stop.reason == "duration"
    p, v = run.data.position.values, run.data.velocity.values
    half = 0.5 * width
    assert np.abs(p[..., :2]).max() < half - 0.07  # within the walls, pressed into them by some mm
    assert p[..., 2].min() > 0.07
    assert np.all(run.ledger.relative_residual < 1e-10), run.ledger
    weight = 9.81 * sum(1.0 if kinds[k % len(kinds)] == "ball" else 1.5 for k in range(n))
    pushed = run.ledger.inflow[list(run.ledger.sources).index("ground-contacts"), 3]
    return p, v, pushed / (weight * duration)


def test_a_heap_falls_into_a_box_and_stays_there():
    _, v, borne = came_to_rest(20, ("ball",), 0.72, 1.2)
    assert np.abs(v[-1]).max() < 1.0
    assert borne == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "kind", "within", "most"), [(100, "ball", 0.1, 2.0), (60, "box", 1e-3, 0.1)])
def test_large_heaps_come_to_rest(n, kind, within, most):
    """Balls roll on for long."""
    _, v, borne = came_to_rest(n, (kind,), 1.3, 3.0)
    assert np.median(np.abs(v[-1])) < within
    assert np.abs(v[-1]).max() < most
    assert borne == pytest.approx(1.0, abs=0.02)
