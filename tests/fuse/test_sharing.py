"""Functions of `once` that are traced for several loops are compiled a single time."""

import numpy as np
import pytest

from poinsot import fuse
from poinsot.fuse import fori_loop
from poinsot.fuse.trace.control import once


def callees(kernel, *shapes):
    graph = kernel.specialise(*shapes).graph
    parts = (graph, *graph.subgraphs())
    return {id(node.data) for part in parts for node in part.live() if node.op == "call"}


def nested(first, second):
    """first in a loop, second in a loop within a loop, and both outside."""

    def function(x):
        x = fori_loop(3, lambda _, y: first(y), x)
        x = fori_loop(2, lambda _, y: fori_loop(2, lambda _, z: second(z), y), x)
        return first(x) + second(x)

    return fuse.Kernel(function, "(3)->(3)")


def test_one_function_in_several_loops_is_compiled_once_and_gives_the_same_values():
    turn = once(lambda y: 0.5 * np.cross(y, np.array([0.1, 0.2, 0.3])) + np.sin(y))
    kernel = nested(turn, turn)
    assert len(callees(kernel, (3,))) == 1
    x = np.random.default_rng(0).normal(size=(7, 3))
    apart = nested(turn.__wrapped__, turn.__wrapped__)
    np.testing.assert_allclose(kernel(x), apart(x), rtol=1e-13)


@pytest.mark.parametrize(
    ("a", "b"), [(0.0, -0.0), (1.0, np.nextafter(1.0, 2.0)), (np.nan, 1.0)], ids=["signs", "last digits", "NaN"]
)
def test_functions_that_differ_in_one_number_stay_two(a, b):
    kernel = nested(once(lambda y: np.copysign(y, a) + y * b), once(lambda y: np.copysign(y, b) + y * a))
    assert len(callees(kernel, (3,))) == 2


def test_a_function_with_other_loops_within_stays_another():
    def repeated(n):
        return once(lambda y: fori_loop(n, lambda _, z: np.sin(z), y))

    assert len(callees(nested(repeated(4), repeated(5)), (3,))) == 2
    assert len(callees(nested(repeated(4), repeated(4)), (3,))) == 1


def test_captured_numbers_are_arguments():
    """What a function takes from its surroundings may differ where it is called."""

    def function(x, c):
        def with_number(number):
            return once(lambda y: np.sin(y) * number)

        return fori_loop(3, lambda _, y: with_number(c)(y), x) + fori_loop(3, lambda _, y: with_number(2 * c)(y), x)

    kernel = fuse.Kernel(function, "(3),()->(3)")
    x = np.array([0.3, 0.2, 0.1])

    def by_hand(c):
        y = x
        for _ in range(3):
            y = np.sin(y) * c
        return y

    np.testing.assert_allclose(kernel(x, 1.7), by_hand(1.7) + by_hand(3.4), rtol=1e-14)
