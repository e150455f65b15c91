"""Forward-mode differentiation: a graph evaluated on dual numbers, with one tangent per direction."""

from collections.abc import Sequence
from dataclasses import dataclass

from poinsot._memo import memo
from poinsot.fuse.derive.partials import PARTIALS
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, is_number, lift
from poinsot.fuse.graph.nodes import Graph, Node, Type, Value, current, tracing_into, type_of
from poinsot.fuse.graph.ops import OPS

Tangent = tuple[Value, ...]  # one value per direction; for arrays in memory, a node or 0.0
Activity = tuple[tuple[bool, ...], ...]  # for each dual number, which of its tangents are not always zero


@dataclass(frozen=True)
class Dual:
    """A primal value and its tangents."""

    value: Value
    tangent: Tangent

    @property
    def array(self) -> Node:
        """The primal value, if it is an array in memory."""
        assert isinstance(self.value, Node)
        return self.value


def replay(graph: Graph, inputs: Sequence[Value]) -> list[Value]:
    """The graph's outputs, built again in the current graph."""
    return [dual.value for dual in push(graph, [Dual(value, ()) for value in inputs], 0)]


def push(graph: Graph, inputs: Sequence[Dual], directions: int) -> list[Dual]:
    """The pushforward of the graph: its outputs for one dual number per parameter, the captured ones included."""
    return [dual for dual in map(push_all(graph, inputs, directions).get, graph.outputs) if dual is not None]


def push_all(graph: Graph, inputs: Sequence[Dual], directions: int) -> dict[Node, Dual]:
    """The dual number of every live node."""
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
    if node.op in _MEMORY:
        return [(node, _MEMORY[node.op](node, duals))]
    if all(is_zero(dual.tangent) for dual in duals):
        inputs = tuple(lift(dual.value, arg.type) for dual, arg in zip(duals, node.args, strict=True))
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


def tangent_type(primal: Type) -> Type:
    """The type of the tangents and cotangents of a value: floats."""
    return ("f", primal[1]) if isinstance(primal, tuple) else "f"


def as_node(value: Value, primal: Type) -> Node:
    """A tangent or cotangent as a node, of an array in memory as an array: zeros if it is 0."""
    if not isinstance(primal, tuple):
        return lift(value, "f")
    return value if isinstance(value, Node) else zeros(primal[1])


def zeros(size: int) -> Node:
    return current().node("table", (), ("f", size), (0.0,) * size)


def _array(node: Node, args: Sequence[Dual]) -> Dual:
    values = current().node("array", tuple(lift(arg.value, node.element) for arg in args), node.type)
    tangent: list[Value] = []
    for along in zip(*(arg.tangent for arg in args), strict=True):
        moving = not is_zero(along)
        tangent.append(current().node("array", tuple(lift(d, "f") for d in along), node.type) if moving else 0.0)
    return Dual(values, tuple(tangent))


def _get(node: Node, args: Sequence[Dual]) -> Dual:
    array, index = args
    along = tuple(memory.get(d, index.value) if isinstance(d, Node) else 0.0 for d in array.tangent)
    return Dual(memory.get(array.array, index.value), along)


def _set(node: Node, args: Sequence[Dual]) -> Dual:
    array, index, value = args
    tangent: list[Value] = []
    for a, v in zip(array.tangent, value.tangent, strict=True):
        still = is_number(a, 0) and is_number(v, 0)
        tangent.append(0.0 if still else memory.set_(as_node(a, node.type), index.value, v))
    return Dual(memory.set_(array.array, index.value, value.value), tuple(tangent))


_MEMORY = {"array": _array, "get": _get, "set": _set}


def _lifted(duals: Sequence[Dual], types: Sequence[Type]) -> list[Dual]:
    """The same dual numbers, their primal values as nodes of these types."""
    return [Dual(lift(dual.value, type_), dual.tangent) for dual, type_ in zip(duals, types, strict=True)]


def _flat(duals: Sequence[Dual], active: Activity) -> list[Node]:
    """The primal values, then the active tangents, as nodes."""
    types = [type_of(dual.value) for dual in duals]
    nodes = [lift(dual.value, type_) for dual, type_ in zip(duals, types, strict=True)]
    for dual, type_, flags in zip(duals, types, active, strict=True):
        nodes += [as_node(d, type_) for d, moves in zip(dual.tangent, flags, strict=True) if moves]
    return nodes


def _unflatten(nodes: Sequence[Node], count: int, active: Activity) -> list[Dual]:
    values, rest = nodes[:count], iter(nodes[count:])
    return [
        Dual(value, tuple(next(rest) if moves else 0.0 for moves in flags))
        for value, flags in zip(values, active, strict=True)
    ]


def _params(graph: Graph, types: Sequence[Type], active: Activity) -> list[Dual]:
    """New parameters of a graph: primal values of these types, then the active tangents."""
    params = [graph.param(type_) for type_ in types]
    for type_, flags in zip(types, active, strict=True):
        params.extend(graph.param(tangent_type(type_)) for moves in flags if moves)
    return _unflatten(params, len(types), active)


def _activity(duals: Sequence[Dual]) -> Activity:
    return tuple(tuple(not is_number(d, 0) for d in dual.tangent) for dual in duals)


def _loop(node: Node, args: Sequence[Dual], zero: Tangent) -> list[Dual]:
    """The loop with the tangents of its carry in its carry; traced until no more of them become active."""
    body: Graph = node.data
    types = [output.type for output in body.outputs]
    start = _lifted(args[1 : 1 + len(types)], types)
    outside = dict(zip(body.captures.values(), args[1 + len(types) :], strict=True))
    active = _activity(start)
    while True:
        graph = Graph(current(), name=body.name)
        with tracing_into(graph):
            counter = graph.param("i")
            graph.counters[counter] = next(iter(body.counters.values()))
            inside = iter(_params(graph, types, active))
            inputs = [
                Dual(counter, zero) if p is body.params[0] else outside[p] if p in outside else next(inside)
                for p in body.params
            ]
            ends = push(body, inputs, len(zero))
            pairs = zip(active, _activity(ends), strict=True)
            wider = tuple(tuple(a or b for a, b in zip(*pair, strict=True)) for pair in pairs)
            if wider == active:
                graph.outputs, graph.goes_on = _flat(_lifted(ends, types), active), body.goes_on
                break
            active = wider
    count = lift(args[0].value, "i")
    loop = current().node("loop", (count, *_flat(start, active), *graph.captures), "t", graph)
    return _unflatten(loop.results(), len(types), active)


def _call(node: Node, args: Sequence[Dual], zero: Tangent) -> list[Dual]:
    """A call of the pushforward of the callee, which is compiled once, like the callee."""
    callee: Graph = node.data
    types = [param.type for param in callee.params]
    args = _lifted(args, types)
    active = _activity(args)
    graph, out_active = _pushforward(current(), callee, active, len(zero))
    result = current().node("call", (*_flat(args, active), *graph.captures), "t", graph)
    return _unflatten(result.results(), len(callee.outputs), out_active)


@memo
def _pushforward(caller: Graph, callee: Graph, active: Activity, directions: int) -> tuple[Graph, Activity]:
    """The graph of a callee's results and active tangents, and which those are; once per caller."""
    graph = Graph(caller, name=f"d_{callee.name}")
    with tracing_into(graph):
        ends = push(callee, _params(graph, [param.type for param in callee.params], active), directions)
        ends = _lifted(ends, [output.type for output in callee.outputs])
        graph.outputs = _flat(ends, _activity(ends))
    return graph, _activity(ends)
