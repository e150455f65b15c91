"""Forward differentiation: a graph run again with values that carry their derivatives along several directions."""

from collections.abc import Sequence
from dataclasses import dataclass

from poinsot.fuse.derive.partials import PARTIALS
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, is_number, lift
from poinsot.fuse.graph.nodes import Graph, Node, Value, current, tracing_into, type_of
from poinsot.fuse.graph.ops import OPS

Tangent = tuple[Value, ...]  # one value a direction; for arrays in memory, a node or 0.0


@dataclass(frozen=True)
class Dual:
    """A value and its derivatives."""

    value: Value
    tangent: Tangent


def replay(graph: Graph, inputs: Sequence[Value]) -> list[Value]:
    """The graph's outputs, built again in the current graph."""
    return [dual.value for dual in push(graph, [Dual(value, ()) for value in inputs], 0)]


def push(graph: Graph, inputs: Sequence[Dual], directions: int) -> list[Dual]:
    """The graph run on dual values: one per parameter, the captured ones included."""
    return [dual for dual in map(push_all(graph, inputs, directions).get, graph.outputs) if dual is not None]


def push_all(graph: Graph, inputs: Sequence[Dual], directions: int) -> dict[Node, Dual]:
    """The dual value of every live node."""
    duals: dict[Node, Dual] = dict(zip(graph.params, inputs, strict=True))
    for node in graph.live():
        if node not in duals and node.op != "proj":
            for target, dual in _evaluate(node, [duals.get(arg) for arg in node.args], directions):
                duals[target] = dual
    return duals


def _evaluate(node: Node, args: Sequence[Dual | None], directions: int) -> list[tuple[Node, Dual]]:
    zero: Tangent = (0.0,) * directions
    if node.op == "const":
        return [(node, Dual(node.data, zero))]
    if node.op == "table":
        return [(node, Dual(current().node("table", (), node.type, node.data), zero))]
    duals = [arg for arg in args if arg is not None]
    if node.op in OPS:
        return [(node, _scalar(node, duals, zero))]
    if node.op in ("array", "get", "set"):
        return [(node, _MEMORY[node.op](node, duals, zero))]
    if all(is_zero(dual.tangent) for dual in duals):
        kinds = [arg.type for arg in node.args]
        inputs = tuple(lift_any(dual.value, kind) for dual, kind in zip(duals, kinds, strict=True))
        same = current().node(node.op, inputs, "t", node.data)
        results = [Dual(result, zero) for result in same.results()]
    else:
        results = (_loop if node.op == "loop" else _call)(node, duals, zero)
    return [(user, results[user.data]) for user in node.used_results()]


def _scalar(node: Node, args: Sequence[Dual], zero: Tangent) -> Dual:
    values = [arg.value for arg in args]
    result = build(node.op, *values)
    if node.op == "where":
        condition = values[0]
        pairs = zip(args[1].tangent, args[2].tangent, strict=True)
        return Dual(result, tuple(build("where", condition, a, b) for a, b in pairs))
    if node.op not in PARTIALS or all(is_zero(arg.tangent) for arg in args):
        return Dual(result, zero)
    partials = PARTIALS[node.op](*values, result)
    tangent = []
    for along in zip(*(arg.tangent for arg in args), strict=True):
        terms: Value = 0.0
        for partial, d in zip(partials, along, strict=True):
            if not is_number(d, 0):
                terms = build("add", terms, build("mul", partial, d))
        tangent.append(terms)
    return Dual(result, tuple(tangent))


def is_zero(tangent: Tangent) -> bool:
    return all(is_number(d, 0) for d in tangent)


def as_array(value: Value, size: int) -> Node:
    """The tangent of an array in memory; zeros if there is none."""
    return value if isinstance(value, Node) else zeros(size)


def zeros(size: int) -> Node:
    return current().node("table", (), ("f", size), (0.0,) * size)


def _array(node: Node, args: Sequence[Dual], zero: Tangent) -> Dual:
    values = current().node("array", tuple(lift(arg.value, node.type[0]) for arg in args), node.type)
    tangent = []
    for along in zip(*(arg.tangent for arg in args), strict=True):
        moving = not is_zero(along)
        tangent.append(current().node("array", tuple(lift(d, "f") for d in along), node.type) if moving else 0.0)
    return Dual(values, tuple(tangent))


def _get(node: Node, args: Sequence[Dual], zero: Tangent) -> Dual:
    array, index = args
    along = tuple(memory.get(d, index.value) if isinstance(d, Node) else 0.0 for d in array.tangent)
    return Dual(memory.get(array.value, index.value), along)


def _set(node: Node, args: Sequence[Dual], zero: Tangent) -> Dual:
    array, index, value = args
    tangent: list[Value] = []
    for a, v in zip(array.tangent, value.tangent, strict=True):
        still = is_number(a, 0) and is_number(v, 0)
        tangent.append(0.0 if still else memory.set_(as_array(a, node.type[1]), index.value, v))
    return Dual(memory.set_(array.value, index.value, value.value), tuple(tangent))


_MEMORY = {"array": _array, "get": _get, "set": _set}


def _flat(duals: Sequence[Dual], active: Sequence[Sequence[bool]]) -> list[Node]:
    """The values, then the tangents that are not always zero, as nodes."""
    nodes = [lift_any(dual.value, kind) for dual, kind in zip(duals, _types(duals), strict=True)]
    for dual, kind, flags in zip(duals, _types(duals), active, strict=True):
        for d, moves in zip(dual.tangent, flags, strict=True):
            if moves:
                nodes.append(as_array(d, kind[1]) if isinstance(kind, tuple) else lift(d, "f"))
    return nodes


def _types(duals: Sequence[Dual]) -> list[object]:
    return [type_of(dual.value) for dual in duals]


def lift_any(value: Value, kind: object) -> Node:
    return value if isinstance(kind, tuple) else lift(value, kind)


def _unflatten(nodes: Sequence[Node], count: int, active: Sequence[Sequence[bool]]) -> list[Dual]:
    values, rest = nodes[:count], iter(nodes[count:])
    return [
        Dual(value, tuple(next(rest) if moves else 0.0 for moves in flags))
        for value, flags in zip(values, active, strict=True)
    ]


def _activity(duals: Sequence[Dual]) -> list[list[bool]]:
    return [[not is_number(d, 0) for d in dual.tangent] for dual in duals]


def _loop(node: Node, args: Sequence[Dual], zero: Tangent) -> list[Dual]:
    """The loop with the derivatives of what it carries among what it carries."""
    body: Graph = node.data
    count, start = args[0].value, list(args[1 : 1 + len(body.outputs)])
    kinds = [output.type for output in body.outputs]
    start = [Dual(lift_any(d.value, kind), d.tangent) for d, kind in zip(start, kinds, strict=True)]
    outside = dict(zip(body.captures.values(), args[1 + len(body.outputs) :], strict=True))
    active = _activity(start)
    while True:
        graph = Graph(current(), name=body.name)
        with tracing_into(graph):
            counter = graph.param("i")
            graph.counters[counter] = next(iter(body.counters.values()))
            carried = [graph.param(kind) for kind in kinds]
            for kind, flags in zip(kinds, active, strict=True):
                tangent_type = ("f", kind[1]) if isinstance(kind, tuple) else "f"
                carried.extend(graph.param(tangent_type) for moves in flags if moves)
            inside = iter(_unflatten(carried, len(kinds), active))
            inputs = [
                Dual(counter, zero) if p is body.params[0] else outside[p] if p in outside else next(inside)
                for p in body.params
            ]
            ends = push(body, inputs, len(zero))
            wider = [[a or b for a, b in zip(x, y, strict=True)] for x, y in zip(active, _activity(ends), strict=True)]
            if wider == active:
                ends = [Dual(lift_any(d.value, kind), d.tangent) for d, kind in zip(ends, kinds, strict=True)]
                graph.outputs = _flat(ends, active)
                break
            active = wider
    loop = current().node("loop", (lift(count, "i"), *_flat(start, active), *graph.captures), "t", graph)
    return _unflatten(loop.results(), len(kinds), active)


def _call(node: Node, args: Sequence[Dual], zero: Tangent) -> list[Dual]:
    """A call of the function that computes the callee's results and derivatives, compiled once like the callee."""
    callee: Graph = node.data
    kinds = [param.type for param in callee.params]
    args = [Dual(lift_any(d.value, kind), d.tangent) for d, kind in zip(args, kinds, strict=True)]
    active = _activity(args)
    cache = current().derived
    key = (callee, "forward", tuple(map(tuple, active)))
    if key not in cache:
        graph = Graph(current(), name=f"d_{callee.name}")
        with tracing_into(graph):
            params = [graph.param(kind) for kind in kinds]
            for kind, flags in zip(kinds, active, strict=True):
                tangent_type = ("f", kind[1]) if isinstance(kind, tuple) else "f"
                params.extend(graph.param(tangent_type) for moves in flags if moves)
            ends = push(callee, _unflatten(params, len(kinds), active), len(zero))
            ends = [Dual(lift_any(d.value, o.type), d.tangent) for d, o in zip(ends, callee.outputs, strict=True)]
            graph.outputs = _flat(ends, _activity(ends))
        cache[key] = graph, _activity(ends)
    graph, out_active = cache[key]
    result = current().node("call", (*_flat(args, active), *graph.captures), "t", graph)
    return _unflatten(result.results(), len(callee.outputs), out_active)
