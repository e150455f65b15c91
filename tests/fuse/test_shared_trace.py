"""Functions of the same arguments in one trace: each has the graph of its own trace, and common work is done once."""

import numpy as np

from poinsot.fuse import Kernel, fori_loop, once
from poinsot.fuse.trace.function_graph import SharedTrace, trace

SHAPES = [(), (3,), (2,)]


def program_of(function, signature, shared=None):
    kernel = Kernel(function, signature)
    kernel.shared = shared
    return kernel.program()


def numbers(program, *arguments):
    return [x.tobytes() for x in program.interpret(*arguments, dtype=np.dtype(float))]


class Work:
    """Something costly that several functions ask for."""

    def __init__(self, shared):
        self.shared, self.calls = shared, 0

    def __call__(self, t, y, p):
        known = self.shared.known if y is self.shared.leaves[1] else {}
        if "work" not in known:
            self.calls += 1
            known["work"] = fori_loop(3, lambda i, y: np.sin(y) + p[0] * t, y[:3])
        return known["work"]


def test_each_function_has_the_numbers_of_its_own_trace():
    shared = SharedTrace(SHAPES)
    work = Work(shared)
    part = once(lambda y: np.cross(y, y[::-1]))
    functions = {
        "(),(3),(2)->(3)": lambda t, y, p: 2.0 * work(t, y, p),
        "(),(5),(2)->()": lambda t, y, p: work(t, y, p) @ part(y[:3]) - p[1],
        "(),(4),(2)->(3),()": lambda t, y, p: (y[:3] + work(t, y, p), p[0] * t),
    }
    made = {text: program_of(f, text, shared) for text, f in functions.items()}
    assert work.calls == 1
    rng = np.random.default_rng(3)
    for text, f in functions.items():
        own = program_of(f, text)
        assert made[text].graph.count() == own.graph.count()
        assert made[text].inputs == own.inputs
        arguments = [rng.normal(size=shape) for shape in own.inputs]
        assert numbers(made[text], *arguments) == numbers(own, *arguments)


def test_one_that_fails_after_others_is_traced_alone():
    """What one found inside of a loop means nothing outside of it."""
    shared = SharedTrace(SHAPES)

    def inside(t, y, p):
        def body(i, x):
            shared.known["found"] = x * p[0]
            return shared.known["found"]

        return fori_loop(2, body, y)

    def outside(t, y, p):
        return shared.known["found"] + y if y is shared.leaves[1] else y * p[1]

    program_of(inside, "(),(3),(2)->(3)", shared)
    first = shared.leaves
    program = program_of(outside, "(),(3),(2)->(3)", shared)
    assert shared.leaves is not first
    assert shared.known == {}
    graph, _, _ = trace(outside, SHAPES)
    assert program.graph.count() == graph.count()
