"""Kernels: signatures, several outputs, dataclasses in and out, and errors that name the argument."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from fuse_laws import agrees, every_backend

from poinsot.fuse import Kernel, kernel, signature


@dataclass(frozen=True)
class Pose:
    R: np.ndarray
    p: np.ndarray

    def __matmul__(self, other: "Pose") -> "Pose":
        return Pose(self.R @ other.R, self.p + self.R @ other.p)


@dataclass
class State:
    pose: Pose
    speed: np.ndarray
    name: str = field(init=False, default="state")


@dataclass
class Wrapped:
    x: np.ndarray


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def test_several_outputs(rng):
    agrees(
        lambda v, s: (v * s, s, v @ v, np.outer(v, v)), "(3),()->(3),(),(),(3,3)", *(rng.random((5, 3)), rng.random(5))
    )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_named_dimensions_are_specialised(n, rng):
    k = kernel("(n),(n,m)->(m),(n)")(lambda v, A: (v @ A, v * len(A)))
    for m in (1, 3):
        v, A = rng.random((4, n)), rng.random((4, n, m))
        for _, (a, b) in every_backend(k, v, A):
            np.testing.assert_allclose(a, (v[:, None] @ A)[:, 0])
            np.testing.assert_array_equal(b, v * n)
    assert k(np.ones(n), np.ones((n, 2)))[0].shape == (2,)


def test_dimensions_of_the_output_alone():
    assert kernel("(n)->(k)")(lambda v: np.concatenate([v, v]))(np.ones((2, 3))).shape == (2, 6)


def compose(a: Pose, b: Pose) -> Pose:
    return a @ b


def test_dataclasses_are_flattened_and_rebuilt(rng):
    k = kernel("(3,3),(3),(3,3),(3)->(3,3),(3)")(compose)
    R, p = rng.random((6, 3, 3)), rng.random((6, 3))
    for backend in ("numpy", "llvm"):
        result = k.to(backend)(Pose(R, p), Pose(R, p))
        assert type(result) is Pose
        np.testing.assert_allclose(result.R, R @ R, rtol=1e-13)
        np.testing.assert_allclose(result.p, p + (R @ p[..., None])[..., 0], rtol=1e-13)
        flat = k.to(backend)(R, p, R, p)
        np.testing.assert_array_equal(flat.R, result.R)


def drift(state: State, dt: float) -> State:
    pose = state.pose
    return State(Pose(pose.R, pose.p + pose.R @ state.speed * dt), state.speed)


def test_nested_dataclasses(rng):
    k = kernel("(3,3),(3),(3),()->(3,3),(3),(3)")(drift)
    R, p, v = np.eye(3), rng.random((4, 3)), rng.random((4, 3))
    result = k(State(Pose(R, p), v), 0.5)
    assert type(result) is State
    assert type(result.pose) is Pose
    assert result.name == "state"
    np.testing.assert_allclose(result.pose.p, p + v / 2)


def test_a_dataclass_of_one_array():
    def double(w: Wrapped) -> Wrapped:
        return Wrapped(2 * w.x)

    k = kernel("(3)->(3)")(double)
    np.testing.assert_array_equal(k(Wrapped(np.ones(3))).x, [2, 2, 2])
    np.testing.assert_array_equal(k(Wrapped(np.ones((4, 3)))).x, np.full((4, 3), 2))


@pytest.mark.parametrize("make", [lambda a, b: {"a": a, "b": b}, lambda a, b: [a, b], Pair, lambda a, b: (a, [b])])
def test_structures_come_out_as_they_were_made(make):
    result = kernel("(),()->(),()")(make)(1.0, 2.0)
    want = make(1.0, 2.0)
    assert type(result) in (type(want), tuple)
    assert str(result).count("2.0") == 1
    if isinstance(want, (dict, Pair)):
        assert type(result) is type(want)
        assert result == want


def test_kernels_describe_themselves():
    @kernel("(3),(3)->()")
    def angle(a, b):
        """The angle between two vectors."""
        return np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)

    assert isinstance(angle, Kernel)
    assert (angle.__name__, angle.__doc__) == ("angle", "The angle between two vectors.")
    assert repr(angle) == "<kernel angle (3),(3)->()>"
    assert angle([1, 0, 0], [0, 2, 0]) == pytest.approx(np.pi / 2)


@pytest.mark.parametrize(
    ("text", "inputs", "outputs"),
    [
        ("(n),(3,m)->(n)", [("n",), (3, "m")], [("n",)]),
        (" ( n , 2 ) , ( ) -> ( ) , (n)", [("n", 2), ()], [(), ("n",)]),
        ("()->()", [()], [()]),
    ],
)
def test_signatures(text, inputs, outputs):
    assert signature.parse(text) == (inputs, outputs)


@pytest.mark.parametrize(
    "text", ["", "(n)", "(n)->", "n->n", "(n)->(n)->(n)", "(n),->(n)", "(n->(n)", "(n) (n)->()", "(n?)->()"]
)
def test_malformed_signatures(text):
    with pytest.raises(ValueError, match="is not of the form"):
        kernel(text)(lambda *x: x[0])


def addition(first, second):
    return first + second


@pytest.mark.parametrize(
    ("text", "shapes", "words"),
    [
        ("(3),(3)->(3)", [(3,), (4,)], r"'second' has shape \(4,\), but its core dimension 3 should be 3"),
        ("(n),(n)->(n)", [(5, 3), (5, 2)], r"'second' has shape \(5, 2\), but its core dimension n should be 3"),
        ("(3),(3)->(3)", [(), (3,)], r"'first' has shape \(\), but needs at least the core dimensions \(3\)"),
        ("(2,2),(2,2)->(2,2)", [(2,), (2, 2)], "'first'"),
        ("(3),(3)->(3)", [(5, 3), (4, 3)], "broadcast"),
        ("(3),(3)->()", [(3,), (3,)], r"output 0 has shape \(3,\), but the signature promises \(\)"),
        ("(3),(3)->(3),()", [(3,), (3,)], "returns 1 arrays, but its signature promises 2"),
    ],
)
def test_wrong_shapes(text, shapes, words):
    with pytest.raises(ValueError, match=words):
        kernel(text)(addition)(*map(np.ones, shapes))


def test_wrong_shapes_after_right_ones():
    """The short cut for repeated calls must not hide the message."""
    k = kernel("(3),(3)->(3)")(addition)
    k(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="'second'"):
        k(np.ones(3), np.ones(4))
    with pytest.raises(TypeError, match="takes 2 arrays, not 1"):
        k(np.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        k(np.ones((2, 3)), np.ones((4, 3)))


def test_other_sizes_after_the_first_ones():
    k = kernel("(n),(n)->(n)")(addition)
    for n in (3, 2, 3, 1, 4):
        np.testing.assert_array_equal(k(np.ones(n), np.ones((2, n))), np.full((2, n), 2))


def test_dimensions_of_size_zero():
    k = kernel("(n),(n)->(n),()")(lambda a, b: (a + b, a @ b))
    for batch in ((), (5,)):
        total, product = k(np.ones(batch + (0,)), np.ones(0))
        assert total.shape == batch + (0,)
        np.testing.assert_array_equal(product, np.zeros(batch))


def test_questions_about_sizes():
    k = kernel("(n)->()")(lambda v: v @ v)
    with pytest.raises(ValueError, match=r"depends on the sizes \['n'\]: give them, as in count\(n=7\)"):
        k.count()
    assert sum(k.count(n=3).values()) == 5
    assert k.ufunc(n=3).signature == "(3)->()"


def test_unknown_back_ends():
    with pytest.raises(ValueError, match="'fortran' is unknown"):
        kernel("()->()")(lambda x: x).to("fortran")
