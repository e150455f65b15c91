"""The Taylor coefficients of an operation from those of its arguments: one row each.

A function of time is the series x(t + s) = x_0 + x_1 s + x_2 s^2 + ... A rule gives the coefficient r_k, k >= 1, of the
result. It may use coefficients up to k of the arguments, `s[x]` is that of order k and `s.first(x)` of order 0, and
those below k of the result, in two kinds of sums, which leave out their first and last terms:

    s.sum(x, y)  = x_1 y_{k-1} + ... + x_{k-1} y_1
    s.rate(x, y) = (1 x_1 y_{k-1} + 2 x_2 y_{k-2} + ... + (k-1) x_{k-1} y_1) / k

An operation without a row has r' = g_a a' + g_b b', with its partial derivatives g (`partials`), which are series
themselves: r_k = g_0 a_k + s.rate(a, g) for each argument. For the sine, the exponential and the like these are the
recurrences of the books. Moore (1966); Jorba and Zou, Experimental Mathematics 14 (2005), proposition 2.1.
"""

from collections.abc import Callable
from typing import Any, Protocol

from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, lift
from poinsot.fuse.graph.nodes import Node, Value, current


class Order(Protocol):
    """The series of all nodes, as a rule sees them when it is asked for the coefficient of order k."""

    def __getitem__(self, x: Node) -> Value: ...
    def first(self, x: Node) -> Value: ...
    def inverse(self, x: Node) -> Value: ...  # 1 / x_0
    def sum(self, x: Node, y: Node) -> Value: ...
    def rate(self, x: Node, y: Node) -> Value: ...


Rule = Callable[..., Value]  # (order, result, *arguments) -> coefficient


def add(*terms: Value) -> Value:
    total: Value = 0.0
    for term in terms:
        total = build("add", total, term)
    return total


def sub(a: Value, b: Value) -> Value:
    return build("sub", a, b)


def mul(a: Value, b: Value) -> Value:
    return build("mul", a, b)


def product(s: Order, a: Node, b: Node) -> Value:
    """(a b)_k, by Cauchy's rule; the newest coefficients last."""
    if a is b:
        return add(s.sum(a, a), mul(2.0, mul(s.first(a), s[a])))
    return add(s.sum(a, b), mul(s.first(a), s[b]), mul(s[a], s.first(b)))


def _quotient(s: Order, r: Node, a: Node, b: Node) -> Value:
    """From r b = a."""
    return mul(sub(sub(s[a], s.sum(r, b)), mul(s.first(r), s[b])), s.inverse(b))


def _root(s: Order, r: Node, a: Node) -> Value:
    """From r r = a."""
    return mul(sub(s[a], s.sum(r, r)), mul(0.5, s.inverse(r)))


def _power(s: Order, r: Node, a: Node, b: Node) -> Value:
    """From a r' = b r a', the exponent b a constant."""
    b0 = s.first(b)
    below = sub(mul(b0, s.rate(a, r)), s.rate(r, a))
    return mul(add(below, mul(mul(b0, s.first(r)), s[a])), s.inverse(a))


def _logarithm(s: Order, r: Node, a: Node) -> Value:
    """From a r' = a'."""
    return mul(sub(s[a], s.rate(r, a)), s.inverse(a))


def by_partials(s: Order, pairs: Any) -> Value:
    """From r' = sum of g a', for pairs (a, g)."""
    return add(*(add(s.rate(a, g), mul(s.first(g), s[a])) for a, g in pairs))


def _array(s: Order, r: Node, *elements: Node) -> Value:
    return current().node("array", tuple(lift(s[x], "f") for x in elements), r.type)


def _get(s: Order, r: Node, array: Node, index: Node) -> Value:
    coefficients = s[array]
    assert isinstance(coefficients, Node)
    return memory.get(coefficients, s.first(index))


def _set(s: Order, r: Node, array: Node, index: Node, value: Node) -> Value:
    coefficients = s[array]
    assert isinstance(coefficients, Node)
    return memory.set_(coefficients, s.first(index), s[value])


RULES: dict[str, Rule] = {
    "add": lambda s, r, a, b: add(s[a], s[b]),
    "sub": lambda s, r, a, b: sub(s[a], s[b]),
    "neg": lambda s, r, a: build("neg", s[a]),
    "mul": lambda s, r, a, b: product(s, a, b),
    "fma": lambda s, r, a, b, c: add(product(s, a, b), s[c]),
    "div": _quotient,
    "sqrt": _root,
    "power": _power,
    "log": _logarithm,
    "where": lambda s, r, c, a, b: build("where", s.first(c), s[a], s[b]),
    "array": _array,
    "get": _get,
    "set": _set,
}
