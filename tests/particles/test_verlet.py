"""Steps of the Verlet scheme: exact conservation, second order, and the limit of stability."""

import numpy as np
import pytest
from random_objects import law, make_object, make_springs, same, seeds, sizes
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.particles import (
    Particles,
    Springs,
    Stepper,
    angular_momentum,
    derivative,
    dissipation,
    kinetic_energy,
    momentum,
    natural_frequencies,
    rigid_speed_function,
    simulate,
    spring_energy,
    stable_step,
    total_mass,
    verlet,
)

ORIGIN = np.zeros(3)


def wobbling_body(stiffness=200.0, damping=0.0):
    """Six masses, all joined, that rotate, move and vibrate."""
    o = make_object(11, 6)
    s = Springs.unstretched(o, [(i, j) for i in range(6) for j in range(i)], stiffness, damping)
    return o, s


def reference(o, s, duration, **forces):
    """The motion to about 1e-12, by DOP853 from the derivative (1)."""

    def rhs(t, y):
        x, v = y.reshape(2, -1, 3)
        return np.concatenate([np.ravel(a) for a in derivative(Particles(o.masses, x, v), s, t=t, **forces)])

    y0 = np.concatenate([o.positions.ravel(), o.velocities.ravel()])
    y = solve_ivp(rhs, (0, duration), y0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return y.reshape(2, -1, 3)


def order(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


@law(examples=15, seed=seeds, n=sizes)
def test_simulate_is_repeated_verlet(seed, n):
    o, s = make_object(seed, n), make_springs(seed, n, 2 * n, damping=0.0)
    forces = {"forces": lambda t, x, v: np.sin(t) * x, "gravity": (0, 1, -9)}
    run = simulate(o, s, step=1e-2, steps=20, every=5, start=0.5, **forces)
    p = o
    for k in range(20):
        p = verlet(p, 1e-2, s, t=0.5 + k * 1e-2, **forces)
    same(run[-1].positions, p.positions, scale=10.0)
    same(run[-1].velocities, p.velocities, scale=10.0)
    same(run.time, 0.5 + 1e-2 * np.arange(0, 21, 5))
    assert len(run) == 5
    assert np.array_equal(run[0].positions, o.positions)


def test_momentum_and_angular_momentum_are_conserved_to_rounding_over_ten_thousand_steps():
    for damping in (0.0, 0.5):
        o, s = wobbling_body(damping=damping)
        run = simulate(o, s, step=0.2 * stable_step(o, s), steps=10_000, every=1000)
        P, L = momentum(run.particles), angular_momentum(run.particles, ORIGIN)
        same(P, np.broadcast_to(P[0], P.shape), tolerance=1e-12, scale=10.0)
        same(L, np.broadcast_to(L[0], L.shape), tolerance=1e-12, scale=np.abs(run.particles.positions).max() * 10)


def test_energy_stays_bounded_and_its_error_is_of_second_order():
    o, s = wobbling_body()
    h, errors = 0.3 * stable_step(o, s), []
    for k in (1, 2, 4):
        run = simulate(o, s, step=h / k, steps=6000 * k, every=3 * k)
        energy = kinetic_energy(run.particles) + spring_energy(run.particles, s)
        early, late = np.abs(energy / energy[0] - 1)[1:].reshape(2, -1).mean(axis=1)
        assert late < 1.2 * early  # no drift
        errors.append(early)
    assert np.all(np.abs(order(errors) - 2) < 0.1)
    assert errors[0] < 5e-3


@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_motion_is_of_second_order(damping):
    """With gravity and forces that depend on time, position and velocity; at once, and step by step."""
    o, s = wobbling_body(damping=damping)
    forces = {"forces": lambda t, x, v: np.cos(3 * t) * np.ones_like(x) - 0.5 * v - x, "gravity": (0, 0, -9.81)}
    x, v = reference(o, s, 0.5, **forces)
    errors = []
    for steps in (128, 256, 512):
        h, p = 0.5 / steps, o
        for k in range(steps):
            p = verlet(p, h, s, t=k * h, **forces)
        end = simulate(o, s, step=h, steps=steps, **forces)[-1]
        errors.append([max(np.abs(e.positions - x).max(), np.abs(e.velocities - v).max()) for e in (end, p)])
    assert np.all(np.abs(order(errors) - 2) < 0.15)


def test_undamped_steps_can_be_undone():
    o, s = wobbling_body()
    end = simulate(o, s, step=5e-3, steps=200)[-1]
    back = simulate(Particles(o.masses, end.positions, -end.velocities), s, step=5e-3, steps=200)[-1]
    same(back.positions, o.positions, tolerance=1e-11)
    same(back.velocities, -o.velocities, tolerance=1e-11)


def test_the_energy_loss_is_the_integral_of_the_dissipation():
    """E(0) - E(T) = integral of the dissipation, up to the second-order error of steps and quadrature."""
    o, s = wobbling_body(damping=1.0)
    gaps = []
    for steps in (250, 500, 1000):
        run = simulate(o, s, step=1.0 / steps, steps=steps)
        energy = kinetic_energy(run.particles) + spring_energy(run.particles, s)
        heat = np.trapezoid(dissipation(run.particles, s), run.time)
        gaps.append(abs(energy[0] - energy[-1] - heat) / (energy[0] - energy[-1]))
    assert np.all(np.diff(energy) < 0)
    assert np.all(np.abs(order(gaps) - 2) < 0.3)
    assert gaps[-1] < 1e-3


def test_damping_leaves_a_rigid_motion():
    """Damping removes what is not rigid motion; slowly also the nutation, which stretches the springs."""
    o, s = wobbling_body(stiffness=400.0, damping=8.0)
    run = simulate(o, s, step=2e-3, steps=10_000, every=10_000)
    start, end = (rigid_speed_function(run[k]).residual for k in (0, 1))
    assert end < 1e-2 * start


def test_free_fall_and_constant_forces_are_exact():
    o = make_object(12, 4)
    g, E = np.array([0.1, -0.2, -9.81]), np.random.default_rng(3).normal(size=(4, 3))
    run = simulate(o, step=0.1, steps=30, forces=E, gravity=g)
    a, t = g + E / o.masses[:, None], run.time[:, None, None]
    same(run.particles.positions, o.positions + t * o.velocities + t * t / 2 * a, scale=100.0)
    same(run.particles.velocities, o.velocities + t * a, scale=10.0)


def test_the_centre_of_mass_falls_as_one_mass_whatever_the_springs_do():
    o, s = wobbling_body(damping=0.3)
    run = simulate(o, s, step=1e-3, steps=1000, every=100, gravity=(0, 0, -9.81))
    fall = momentum(run.particles) - total_mass(o) * run.time[:, None] * np.array([0, 0, -9.81])
    same(fall, np.broadcast_to(fall[0], fall.shape), tolerance=1e-12, scale=100.0)


def test_the_same_bits_every_time():
    o, s = wobbling_body(damping=0.2)
    runs = [simulate(o, s, step=1e-3, steps=300, every=k, gravity=(0, 0, -1)) for k in (1, 1, 100)]
    assert np.array_equal(runs[0].particles.positions, runs[1].particles.positions)
    assert np.array_equal(runs[0][-1].velocities, runs[2][-1].velocities)  # records do not change the motion


def test_a_stepper_can_be_read_and_continue():
    o, s = wobbling_body(damping=0.2)
    forces = {"forces": lambda t, x, v: t * x, "gravity": (0, 0, -1)}
    run = simulate(o, s, step=1e-3, steps=30, start=2.0, **forces)
    stepper = Stepper(o, s, step=1e-3, start=2.0, **forces)
    same(stepper.particles.velocities, o.velocities)
    for steps in (0, 7, 1, 22):
        stepper.advance(steps)
        assert stepper.time == run.time[stepper.steps]
        assert np.array_equal(stepper.particles.positions, run[stepper.steps].positions)
        if stepper.steps:
            assert np.array_equal(stepper.particles.velocities, run[stepper.steps].velocities)


def test_a_hundred_bodies_in_one_kernel():
    o, s = wobbling_body()

    @pt.kernel("(n,3),(n,3),()->(n,3)")
    def fly(x, v, stiffness):
        springs = Springs(s.pairs, stiffness, s.rest_length)
        start = Particles(o.masses, x, v)
        return pt.fori_loop(50, lambda i, p: verlet(p, 1e-3, springs, gravity=(0, 0, -9.81)), start).positions

    stiffness = np.linspace(50.0, 500.0, 100)
    x = fly(o.positions, o.velocities, stiffness)
    for k in (0, 57, 99):
        springs = Springs(s.pairs, stiffness[k], s.rest_length)
        same(x[k], simulate(o, springs, step=1e-3, steps=50, gravity=(0, 0, -9.81))[-1].positions, scale=10.0)


def test_two_over_omega_is_the_limit():
    o = Particles([1.0, 3.0], [(0, 0, 0), (1, 0, 0)], [(0.03, 0, 0), (-0.01, 0, 0)])
    s = Springs.unstretched(o, [(0, 1)], 12.0)
    limit = 2 / natural_frequencies(o, s)[-1]
    below = simulate(o, s, step=0.99 * limit, steps=2000)
    assert np.abs(below.particles.positions - o.positions).max() < 0.2
    above = simulate(o, s, step=1.01 * limit, steps=30)
    assert np.abs(above.particles.positions - o.positions).max() > 1


def test_a_step_that_is_too_long_is_explained():
    o, s = wobbling_body(stiffness=1e6)
    with pytest.raises(FloatingPointError, match=r"has diverged before t = .* they need a step below 0\.000"):
        simulate(o, s, step=0.1, steps=2000, every=500)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0.0}, r"step must be positive \[s\]; got 0.0"),
        ({"steps": -1}, r"steps -1 must be zero or more"),
        ({"every": 0}, r"every 0 at least one"),
    ],
)
def test_invalid_steps_are_rejected(change, message):
    o, s = wobbling_body()
    with pytest.raises(ValueError, match=message):
        simulate(o, s, **({"step": 1e-3, "steps": 1, "every": 1} | change))


def test_many_instants_are_not_an_initial_state():
    with pytest.raises(ValueError, match=r"a Stepper takes one object, with positions \(n, 3\); got \(2, 4, 3\)"):
        simulate(make_object(1, 4, batch=(2,)), step=1.0, steps=1)
