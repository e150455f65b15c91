"""Random numbers, clocks and counters in a kernel would be frozen when it is traced: they are refused."""

import functools
import itertools
import random
import time
import uuid

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.trace.purity import may_vary

RNG, COUNTER, HISTORY, MATRIX = np.random.default_rng(0), itertools.count(), [], np.eye(3)
calls = 0


def counting(x):
    global calls
    calls += 1
    return calls * x


def nested():
    k = 0

    def inner(x):
        nonlocal k
        k += 1
        return k * x

    return inner


TALLY = np.zeros(1)


def tallied(x):
    """A counter in an array outside."""
    TALLY[0] += 1
    return x * TALLY[0]


def tallied_as_a_whole(x):
    tally = TALLY
    tally += 1
    return x * float(tally[0])


def tallied_in_a_slice(x):
    TALLY[0:1] = TALLY + 1
    return x * TALLY[0]


ENDLESS = [*range(1000)]


def shortened(x):
    del ENDLESS[0]
    return x * len(ENDLESS)


@functools.lru_cache
def cached_noise(key):
    return RNG.random()


VARYING = {
    "an array that changes": tallied,
    "a whole array that changes": tallied_as_a_whole,
    "a slice of an array that changes": tallied_in_a_slice,
    "a list that shrinks": shortened,
    "an array that is an output": lambda x: x * float(np.add(TALLY, 1, out=TALLY)[0]),
    "behind a cache": lambda x: x * cached_noise(object()),
    "by name": lambda x: x * globals()["RNG"].random(),
    "by a name that is put together": lambda x: x * getattr(np, "ran" + "dom").random(),
    "in text": lambda x: x * eval("RNG.random()", {"RNG": RNG}),
    "a module": lambda x: x * (uuid.uuid4().int % 1000),
    "a generator": lambda x: x + RNG.normal(size=3),
    "NumPy's old functions": lambda x: x + np.random.normal(),  # noqa: NPY002
    "Python's random numbers": lambda x: x * random.random(),
    "a clock": lambda x: x * time.perf_counter(),
    "a counter": lambda x: x + next(COUNTER),
    "a global": counting,
    "a variable outside": nested(),
    "a list that grows": lambda x: HISTORY.append(1) or x * len(HISTORY),
    "inside a loop": lambda x: pt.fori_loop(3, lambda i, c: c + RNG.random(), x),
    "a default": lambda x, rng=RNG: x + rng.random(),
}


@pytest.mark.parametrize("name", VARYING)
def test_numbers_that_change_from_call_to_call_are_refused(name):
    assert may_vary(VARYING[name])
    with pytest.raises(pt.TraceError, match="each time it is called"):
        pt.kernel("(3)->(3)")(VARYING[name])(np.ones(3))


def helper(x):
    parts = []
    for k in range(3):
        parts.append(np.sin(x[k]))
    return np.stack(parts)


PLAIN = {
    "arrays": lambda x: MATRIX @ x,
    "a helper": lambda x: helper(x) + 1.0,
    "a partial function": functools.partial(lambda a, x: a * x, 2.0),
    "a loop": lambda x: pt.fori_loop(3, lambda i, c: c + x[i], x),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_functions_are_traced_once(name):
    assert not may_vary(PLAIN[name])
    pt.kernel("(3)->(3)")(PLAIN[name])(np.ones(3))


class Model:
    def __init__(self):
        self.matrix = np.eye(3)

    def rate(self, x):
        return pt.fori_loop(2, lambda i, c: self.matrix @ np.sin(c), x)


def test_objects_of_ones_own_are_traced_twice_and_pass():
    assert may_vary(Model().rate)
    np.testing.assert_allclose(pt.kernel("(3)->(3)")(Model().rate)(np.ones(3)), np.sin(np.sin(1.0)) * np.ones(3))
