"""Signals between elements: where they may stand, in which order they are evaluated, and what cannot be."""

from dataclasses import dataclass

import numpy as np
import pytest

import poinsot as pt


def gain(name, source, factor):
    return pt.Controller(name, lambda t, u: factor * u, {"u": source})


def ball(*elements):
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 2.0, velocity=(1.0, 0.5, 0.0))
    for element in elements:
        world.add(element)
    return world


def test_signals_of_bodies_inputs_states_and_outputs():
    world = ball(gain("a", "ball.velocity", -2.0))
    world.add_input("wind", (0.0, 0.0, 3.0))
    world.add_force("drag", "ball", pt.Signal("a.out", 0.5))
    world.add_force("blow", "ball", pt.Signal("wind"))
    scene, _ = world.system().scene(0.0, world.start())
    np.testing.assert_array_equal(scene.signal("a.out"), [-2.0, -1.0, 0.0])
    assert scene.signal("ball.velocity[1]") == 0.5
    np.testing.assert_array_equal(scene.signal("ball.v"), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(scene.signal("drag.force"), [-1.0, -0.5, 0.0])
    run = world.simulate(1.0, 1e-2)
    t = run.time[:, None]
    exact = np.array([1.0, 0.5, 0.0]) * np.exp(-t / 2) + np.array([0, 0, 3.0]) * (1 - np.exp(-t / 2))
    np.testing.assert_allclose(run.data.velocity[:, 0], exact, atol=1e-9)


def test_signals_are_sorted_whatever_the_order_in_which_they_are_added():
    chain = [gain(f"g{k}", f"g{k + 1}.out", 2.0) for k in range(5)] + [gain("g5", "ball.velocity[0]", 1.0)]
    for order in (chain, chain[::-1], chain[::2] + chain[1::2]):
        world = ball(*order)
        assert world.system().motion(0.0, world.start()).effects["g0"].shown["out"] == 32.0


def test_each_element_is_evaluated_once():
    calls = []

    def law(t, u):
        calls.append(t)
        return u

    world = ball(pt.Controller("a", law, {"u": "ball.velocity[0]"}), gain("b", "a.out", 1.0), gain("c", "a.out", 1.0))
    world.system()
    calls.clear()
    world.system().motion(0.0, world.start())
    assert len(calls) == 1


def test_a_loop_without_a_state_is_named_link_by_link():
    world = ball(gain("a", "c.out", 1.0), gain("b", "a.out", 1.0), gain("c", "b.out", 1.0))
    with pytest.raises(ValueError, match=r"a\.out -> b\.out -> c\.out -> a\.out has no state in it: give one of them"):
        world.system()
    with pytest.raises(ValueError, match=r"a\.out -> a\.out has no state"):
        ball(gain("a", "a.out", 1.0)).system()
    outside = ball(gain("a", "b.out", 1.0), gain("b", "c.out", 1.0), gain("c", "d.out", 1.0), gain("d", "b.out", 1.0))
    with pytest.raises(ValueError, match=r"^b\.out -> d\.out -> c\.out -> b\.out has no state"):  # a only reads it
        outside.system()


def test_a_loop_through_a_state_or_a_sample_is_none():
    lag = pt.Controller("lag", lambda t, u, out: ({}, {"out": u - out}), {"u": "g.out"}, states={"out": 1.0})
    run = ball(lag, gain("g", "lag.out", -1.0)).simulate(1.0, 1e-3)
    np.testing.assert_allclose(run.data["lag.out"], np.exp(-2 * run.time), atol=1e-12)
    for delay, first in ((0.0, -0.5), (0.1, 1.0)):
        hold = pt.Controller("hold", lambda t, u: u, {"u": "g.out"}, {"out": 1.0}, sample=0.1, delay=delay)
        run = ball(hold, gain("g", "hold.out", -0.5)).simulate(1.0, 0.01, every=0.1)
        np.testing.assert_array_equal(run.data["hold.out"], first * (-0.5) ** np.arange(11))


def test_a_loop_of_sampled_laws_needs_a_delay():
    world = ball(
        pt.Controller("a", lambda t, u: u, {"u": "b.out"}, sample=0.1),
        pt.Controller("b", lambda t, u: u, {"u": "a.out"}, sample=0.1),
    )
    with pytest.raises(ValueError, match=r"[ab]\.out -> [ab]\.out -> [ab]\.out are sampled without a delay"):
        world.system()


def test_two_writers_of_one_signal():
    @dataclass(frozen=True, eq=False)
    class Shows(pt.Element):
        def effect(self, scene):
            return pt.Effect(shown={"b.out": np.zeros(())})

    with pytest.raises(ValueError, match=r"Shows 'a' and Controller 'a\.b' both write the signal 'a\.b\.out'"):
        ball(Shows("a"), gain("a.b", "ball.velocity", 1.0)).system()


def test_unknown_signals():
    world = ball(gain("a", "ball.velocity", 1.0))
    scene, _ = world.system().scene(0.0, world.start())
    for wrong, right in {"a.ot": "a.out", "ball.velocty": "ball.velocity", "aa.out": "a.out"}.items():
        scene.effect("a")
        with pytest.raises(KeyError, match=f"no signal '{wrong}'; did you mean '{right}'"):
            scene.signal(wrong)
    with pytest.raises(KeyError, match=r"'ball.velocity' has shape \(3,\)"):
        scene.signal("ball.velocity[3]")
    world.add_force("push", "ball", pt.Signal("a.ouch"))
    with pytest.raises(KeyError, match=r"no signal 'a.ouch'; did you mean 'a.out'"):
        world.simulate(1.0)
