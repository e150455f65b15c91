"""Random numbers, clocks and counters in a world would be frozen when it is traced: they are refused, by name."""

import functools
import itertools
import logging
import os
import random
import secrets
import time
import time as clock
import uuid
from dataclasses import dataclass, field
from datetime import date, datetime
from os import times as used
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.trace.purity import suspect
from poinsot.parts import Effect, Element
from poinsot.run.fingerprints import hash_of

RNG, COUNTER, GUSTS, STATE, MATRIX = np.random.default_rng(0), itertools.count(), list(range(9999)), {"n": 0}, np.eye(3)
calls = 0


def counting(t, scene):
    global calls
    calls += 1
    return calls * np.ones(3)


def remembering(t, scene):
    STATE["n"] += 1
    return STATE["n"] * np.ones(3)


class Walk:
    def __init__(self):
        self.x = np.zeros(3)

    def __call__(self, t, scene):
        self.x = self.x + 1.0
        return self.x


VARYING = {
    "a generator": (lambda t, scene: RNG.normal(size=3), r"random numbers \(numpy.random"),
    "a generator, looped": (lambda t: pt.fori_loop(3, lambda i, c: c + RNG.random(), t * np.ones(3)), "random numbers"),
    "Python's random numbers": (lambda t: random.random() * np.ones(3), "random numbers"),
    "a clock": (lambda t: (time.time() - t) * np.ones(3), "a clock"),
    "a clock of another name": (lambda t: clock.perf_counter() * np.ones(3), "a clock"),
    "the date": (lambda t: datetime.now().timestamp() * np.ones(3), "a clock"),
    "the hour": (lambda t: time.localtime().tm_hour * np.ones(3), r"a clock \(time.localtime"),
    "the date of today": (lambda t: date.today().day * np.ones(3), r"a clock \(datetime"),
    "this year": (lambda t: datetime.now().year * np.ones(3), "a clock"),
    "a text of the time": (lambda t: float(time.strftime("%Y")) * np.ones(3), "a clock"),
    "time on the processor": (lambda t: os.times().user * np.ones(3), r"a clock \((posix|nt).times"),
    "time, imported as a function": (lambda t: used().elapsed * np.ones(3), r"a clock \((posix|nt).times"),
    "a coin": (lambda t: float(random.choice([1, 2])) * np.ones(3), "random numbers"),
    "a coin of the system": (lambda t: float(secrets.choice([1, 2])) * np.ones(3), r"random numbers \("),
    "bytes of the system": (lambda t: os.urandom(1)[0] % 2 * np.ones(3), r"random numbers \("),
    "a number of no other": (lambda t: uuid.uuid4().int % 2 * np.ones(3), r"random numbers \("),
    "a coin of a generator": (lambda t: RNG.integers(2) * np.ones(3), "random numbers"),
    "a counter": (lambda t, scene: next(COUNTER) * scene["box"].velocity + next(COUNTER), r"next\(\)"),
    "a global": (counting, "the variable 'calls' outside of it"),
    "a dict": (remembering, "an array, list, dict or set outside of it"),
    "a list": (lambda t: GUSTS.pop() * np.ones(3), "an array, list, dict or set outside of it"),
    "a walk": (Walk(), "Walk"),
    "a partial function": (functools.partial(lambda rng, t: rng.normal(size=3), RNG), "random numbers"),
}


def box() -> pt.World:
    world = pt.World()
    world.add_body("box", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), velocity=(1.0, 2.0, 3.0))
    return world


@pytest.mark.parametrize("name", VARYING)
def test_a_force_that_varies_is_refused(name):
    function, words = VARYING[name]
    world = box()
    world.add_force("gust", "box", function)
    with pytest.raises(ValueError, match=rf"(?s)value of force 'gust'.*it uses .*{words}.*Fix: .*Input"):
        world.simulate(0.01)


def test_the_error_names_file_and_line():
    world = box()
    world.add_force("gust", "box", counting)
    line = counting.__code__.co_firstlineno
    with pytest.raises(ValueError, match=rf"counting at .*test_varying_functions\.py:{line}"):
        world.simulate(0.01)


@dataclass(frozen=True, eq=False)
class Jitter(Element):
    body: str = ""
    rng: Any = None
    seen: Any = field(default=None)

    def bodies(self):
        return (self.body,)

    def effect(self, scene):
        return Effect({self.body: self.wrench(scene)}, shown={"later": lambda motion: motion.acceleration(self.body)})

    def wrench(self, scene):
        return 0.1 * scene[self.body].twist + (0.0 if self.rng is None else self.rng.normal(size=6))


@dataclass(frozen=True, eq=False)
class Ratchet(Element):
    def states(self):
        return {"clicks": np.zeros(())}

    def effect(self, scene):
        return Effect(rates={"clicks": np.zeros(())})

    def settle(self, motion, states):
        return {"clicks": states["clicks"] + next(COUNTER)}


def test_an_element_that_varies_is_refused():
    world = box()
    world.add(Jitter("jitter", body="box", rng=RNG))
    with pytest.raises(ValueError, match=r"effect of Jitter 'jitter'.*numpy.random"):
        world.simulate(0.01)
    world = box()
    world.add(Ratchet("ratchet"))
    with pytest.raises(ValueError, match=r"settle of Ratchet 'ratchet'"):
        world.simulate(0.01)


def test_so_is_any_other_function_in_a_run():
    world = box()
    world.add_input("wind", 0.0)
    with pytest.raises(ValueError, match="input 'wind'"):
        world.simulate(0.01, inputs={"wind": lambda t: RNG.normal()})
    with pytest.raises(ValueError, match="until is the function"):
        world.simulate(0.01, until=lambda t, scene: scene["box"].position[0] - RNG.random())
    world.add_spring("rope", "box", "world", 0.0, tension=lambda length, *numbers: length * random.random())
    with pytest.raises(ValueError, match="tension of spring 'rope'"):
        world.simulate(0.01)


def smooth(t):
    parts = []
    for k in range(3):
        parts.append(np.sin(k * t))
    return np.stack(parts)


@functools.cache
def strength(k):
    return 2.0**k


def noise_of_a_seed(t):
    return np.random.default_rng(7).normal(size=3) * np.cos(t)


def remembered(t, scene, cache={}):  # noqa: B006
    return cache.setdefault("drag", -0.1 * np.ones(3)) * scene["box"].velocity


def looped(t):
    A = np.ones(3)
    return pt.fori_loop(3, lambda i, c: c * 0.5 + t * A, A)


def logged(t):
    logging.getLogger("poinsot.test").warning("called")  # which reads a clock for itself
    return np.ones(3)


STEADY = {
    "a log": (logged, False),
    "a closure": (lambda t, scene, matrix=MATRIX: matrix @ scene["box"].velocity + MATRIX[0], True),
    "a helper": (lambda t: smooth(t), True),
    "a cached helper": (lambda t: strength(3) * smooth(t), True),
    "a cache of its own": (remembered, False),
    "noise of one seed": (noise_of_a_seed, False),
    "a loop": (looped, True),
    "a loop and a cache of its own": (lambda t, cache={}: cache.setdefault("k", 2.0) * looped(t), False),
    "a loop and a cached helper": (lambda t: strength(2) * looped(t), True),
}


@pytest.mark.parametrize("name", STEADY)
def test_functions_that_do_not_vary_pass(name):
    function, plain = STEADY[name]
    assert (suspect(function) is None) == plain
    world = box()
    world.add_force("gust", "box", function)
    assert world.simulate(0.01, ledger=False).stop.reason == "duration"


def test_an_element_that_does_not_vary_passes():
    element = Jitter("jitter", body="box")
    assert suspect(element.effect) is None
    world = box()
    world.add(element)
    world.simulate(0.01, ledger=False)


def test_functions_that_cannot_vary_are_called_once():
    """A function that may vary is called twice; it does not, so it passes."""
    count = []

    def counted(t, scene):
        count.append(1)
        return np.zeros(3)

    def steady(t, scene):
        return np.zeros(3)

    for function, times in ((counted, 2), (steady, 1)):
        assert (suspect(function) is None) == (times == 1)
    world = box()
    world.add_force("gust", "box", counted)
    world.simulate(0.01, ledger=False)
    assert len(count) % 2 == 0


def test_what_a_trace_leaves_behind_is_not_read():
    """A force that keeps its last value: it does not vary, and its hash does not walk through all of the trace."""
    kept = [0.0]

    def function(t, scene):
        kept[0] = scene["box"].angular_velocity[0]
        return np.stack([kept[0], 0.0, 0.0])

    world = box()
    world.add_torque("gust", "box", function)
    world.simulate(0.01, ledger=False)
    assert type(kept[0]).__name__ == "Traced"
    assert world.simulate(0.01, ledger=False).settings["description_hash"] == hash_of(world)
