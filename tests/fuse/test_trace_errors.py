"""Code that cannot be traced is refused with the file, the line and a fix; and NumPy is left unchanged."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from poinsot.fuse import TraceError, fori_loop, is_traced, kernel
from poinsot.fuse.graph.nodes import tracing

TABLE = np.arange(5.0)


def raises_at_line(function, text="(3)->()"):
    """The error, after checking that it names this file and the marked line of the function."""
    with pytest.raises(TraceError) as error:
        kernel(text)(function)(np.ones(3))
    message = str(error.value)
    code = function.__code__
    match = re.match(re.escape(__file__) + r":(\d+): ", message)
    assert match, message
    with open(__file__) as file:
        line = file.readlines()[int(match[1]) - 1]
    assert "# here" in line, message
    assert int(match[1]) >= code.co_firstlineno
    problem, fix = message.split("\n", 1)
    assert fix.strip().startswith("Fix: ")
    assert len(fix) > 20
    return problem


def if_statement(v):
    if v[0] > 0:  # here
        return v[0]
    return v[1]


def conditional_expression(v):
    return v[0] if v[1] > v[2] else v[1]  # here


def logical_and(v):
    return np.where(v[0] > 0 and v[1] > 0, 1.0, 2.0)  # here


def chained_comparison(v):
    return np.where(0 < v[0] < 1, 1.0, 2.0)  # here


def while_loop(v):
    x = v[0]
    while x > 1:  # here
        x = x / 2
    return x


def python_float(v):
    return float(v[0])  # here


def python_int(v):
    return TABLE[int(v[0])]  # here


def python_max(v):
    return max(v[0], v[1])  # here


def iteration_count(v):
    return sum(v[0] for _ in range(v[1].astype(int)))  # here


def plain_array_index(v):
    return TABLE[v[0].astype(int)]  # here


def float_index(v):
    return v[v[0]]  # here


def mask_read(v):
    return v[v > 0].sum()  # here


def masked_update(v):
    v = v.copy()
    v[v > 0] += 1  # here
    return v[0]


def array_index(v):
    return v[v.astype(int)].sum()  # here


def one_argument_where(v):
    return np.sum(np.where(v > 0))  # here


def nonzero(v):
    return np.sum(np.nonzero(v > 0))  # here


def sorting(v):
    return np.sort(v)[0]  # here


def eigenvalues(v):
    return np.linalg.eigvalsh(np.outer(v, v))[0]  # here


def untraceable_ufunc(v):
    return np.nextafter(v[0], v[1])  # here


def assign_into_plain(v):
    A = np.arange(3)
    A[0] = v[0]  # here
    return A[0]


def to_buffer(v):
    return np.frombuffer(memoryview(np.float64(v[0])))[0]  # here


def complex_number(v):
    return complex(v[0]).real  # here


def loop_shape_changes(v):
    return fori_loop(3, lambda i, c: np.concatenate([c, c]), v)[0]  # here


FUNCTIONS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__code__", None) and
             f.__module__ == __name__ and f.__code__.co_varnames[:1] == ("v",)]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_refused_with_line_and_fix(function):
    raises_at_line(function)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (if_statement, "`if`"),
        (python_float, "float()"),
        (python_int, "int()"),
        (mask_read, "shape"),
        (sorting, "np.sort"),
    ],
)
def test_names_the_problem(function, words):
    assert words in raises_at_line(function)


CREATION = ("array", "asarray", "zeros", "ones", "empty", "full", "eye", "identity")
ORIGINALS = {name: getattr(np, name) for name in CREATION}


def numpy_is_itself():
    return all(getattr(np, name) is original for name, original in ORIGINALS.items())


def test_creation_functions_are_restored():
    seen = []

    def f(v):
        seen.append(np.zeros is not ORIGINALS["zeros"] and is_traced(np.zeros(2), np.array([v[0], 1])))
        return v[0]

    kernel("(3)->()")(f)(np.ones(3))
    assert set(seen) == {True}
    assert numpy_is_itself()
    assert type(np.zeros(2)) is np.ndarray


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, TraceError])
def test_creation_functions_are_restored_after_an_exception(error):
    def f(v):
        raise error("a", "b")

    with pytest.raises(error):
        kernel("(3)->()")(f)(np.ones(3))
    assert numpy_is_itself()
    assert not tracing()


def test_two_threads_trace_at_once():
    both = threading.Barrier(2)

    def f(v):
        both.wait(10)  # both are inside a trace now
        A = np.zeros((3, 3))
        A[0] = v
        both.wait(10)
        return A.sum() + np.array([v[0], 2.0]).sum()

    def work(_):
        return kernel("(3)->()")(f)(np.ones(3))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [6.0, 6.0]
    assert numpy_is_itself()


def test_other_threads_never_see_traced_arrays():
    inside, done = threading.Event(), threading.Event()

    def f(v):
        inside.set()
        assert done.wait(10)
        return v[0]

    def tracer():
        kernel("(3)->()")(f)(np.ones(3))

    thread = threading.Thread(target=tracer)
    thread.start()
    assert inside.wait(10)
    made = [np.zeros(2), np.ones(2), np.empty(2), np.full(2, 3.0), np.eye(2), np.identity(2), np.array([1.0, 2.0])]
    made += [np.array(made[0]), np.asarray(made[0], dtype=np.float32), np.array([], int), np.full((1,), True)]
    replaced = not numpy_is_itself()
    done.set()
    thread.join(10)
    assert replaced
    assert {type(a) for a in made} == {np.ndarray}
    assert made[8].dtype == np.float32
    assert np.isfinite(np.concatenate(made[:7], axis=None)[:4]).all()
    assert numpy_is_itself()


def test_a_traced_value_must_not_escape():
    kept = []
    kernel("(3)->()")(lambda v: kept.append(v) or v[0])(np.ones(3))
    with pytest.raises(RuntimeError, match="escaped"):
        kept[0] + 1
    with pytest.raises(RuntimeError, match="escaped"):
        kernel("(3)->()")(lambda v: v[0] + kept[0][1])(np.ones(3))
    with pytest.raises(RuntimeError, match="escaped"):
        kernel("(3)->()")(lambda v: kept[0][1])(np.ones(3))


def test_a_loop_body_must_not_write_to_what_is_around_it():
    def f(v):
        outside = np.zeros(3)

        def body(i, c):
            outside[0] = c
            return c + 1

        return fori_loop(3, body, v[0]) + outside[0]

    with pytest.raises(RuntimeError, match="escaped"):
        kernel("(3)->()")(f)(np.ones(3))
