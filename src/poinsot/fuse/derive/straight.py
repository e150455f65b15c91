"""Graphs made straight: calls inlined, loops unrolled, kinks written as choices.

What remains is a list of elementary operations, each of which is smooth, or takes one of several values (comparisons,
rounding to whole numbers). That is the form in which a Taylor series is derived operation by operation.
"""

from collections.abc import Callable, Sequence

from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, is_op, known, lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node, Value, current
from poinsot.fuse.graph.ops import OPS

MOST = 100_000  # operations of straight-line code
_LARGEST_POWER = 16  # that is written as products, which also hold where the base is zero


def straightened(graph: Graph, inputs: Sequence[Value]) -> list[Value]:
    """The graph's outputs, built in the current graph, for these values of its parameters and captured values."""
    values: dict[Node, Value] = dict(zip(graph.params, inputs, strict=True))
    for node in graph.live():
        if node not in values and node.op != "proj":
            _build(node, values)
    return [values[output] for output in graph.outputs]


def _build(node: Node, values: dict[Node, Value]) -> None:
    args = [values[arg] for arg in node.args if arg in values]
    if len(current().nodes) > MOST:
        raise TraceError(f"its straight-line code exceeds {MOST} operations", "use a Runge-Kutta method")
    if node.op == "const":
        values[node] = node.data
    elif node.op == "table":
        values[node] = current().node("table", (), node.type, node.data)
    elif node.op in OPS:
        kinked = node.op in CHOICES and node.type == "f"
        values[node] = CHOICES[node.op](*args) if kinked else build(node.op, *args)
    elif node.op in ("array", "get", "set"):
        values[node] = _in_memory(node, args)
    else:
        results = _inlined(node, args)
        values.update((user, results[user.data]) for user in node.used_results())


def _in_memory(node: Node, args: Sequence[Value]) -> Value:
    if node.op == "array":
        return current().node("array", tuple(lift(arg, node.element) for arg in args), node.type)
    array = args[0]
    assert isinstance(array, Node)
    return memory.get(array, args[1]) if node.op == "get" else memory.set_(array, args[1], args[2])


def _inlined(node: Node, args: Sequence[Value]) -> list[Value]:
    """The results of a call, or of a loop with a known number of iterations."""
    body: Graph = node.data
    if node.op == "call":
        return straightened(body, args)
    if node.op != "loop" or not known(args[0]) or (body.goes_on is not None and args[0] != 1):
        raise TraceError(
            f"a loop ({body.name!r}) goes on for a number of times that is not known beforehand",
            "use a Runge-Kutta method, or a loop with a fixed count",
        )
    carries = len(body.outputs)
    carry, outside = list(args[1 : 1 + carries]), dict(zip(body.captures.values(), args[1 + carries :], strict=True))
    for i in range(int(args[0])):
        rest = iter(carry)
        inputs = [i if p is body.params[0] else outside[p] if p in outside else next(rest) for p in body.params]
        ends = straightened(body, inputs)
        if body.goes_on is not None:  # one iteration, where a condition holds
            ends = [_chosen(carry[body.goes_on], end, start) for end, start in zip(ends, carry, strict=True)]
        carry = ends
    return carry


def _chosen(condition: Value, a: Value, b: Value) -> Value:
    if not (isinstance(a, Node) and isinstance(a.type, tuple)):
        return build("where", condition, a, b)
    assert isinstance(b, Node)
    pairs = [build("where", condition, memory.get(a, k), memory.get(b, k)) for k in range(a.size)]
    return current().node("array", tuple(lift(value, a.element) for value in pairs), a.type)


def _power(a: Value, b: Value) -> Value:
    """Whole powers as products, and powers with an exponent that is not a constant by the logarithm."""
    exponent = b.data if is_op(b, "const") else b
    if not known(exponent):
        return build("exp", build("mul", b, build("log", a)))
    if float(exponent).is_integer() and 4 < abs(exponent) <= _LARGEST_POWER:
        half = _power(a, int(abs(exponent)) // 2)
        whole = build("mul", build("mul", half, half), a if exponent % 2 else 1.0)
        return whole if exponent > 0 else build("div", 1.0, whole)
    return build("power", a, float(exponent))


def _absolute(a: Value) -> Value:
    return build("where", build("less", a, 0.0), build("neg", a), a)


# Operations on floats with kinks, as choices between smooth ones.
CHOICES: dict[str, Callable[..., Value]] = {
    "abs": _absolute,
    "minimum": lambda a, b: build("where", build("less", b, a), b, a),
    "maximum": lambda a, b: build("where", build("less", a, b), b, a),
    "copysign": lambda a, b: build("where", build("less", b, 0.0), build("neg", _absolute(a)), _absolute(a)),
    "power": _power,
}
