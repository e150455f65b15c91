"""Reverse differentiation: a graph run again, then backwards, each node handing its share to its arguments."""

from collections.abc import Sequence
from typing import Any

from poinsot.fuse.derive.forward import Dual, lift_any, push_all, zeros
from poinsot.fuse.derive.partials import PARTIALS, SINGULAR
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, is_number, lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, Node, Value, current, tracing_into


def pull(
    graph: Graph, inputs: Sequence[Value], cotangents: Sequence[Value], masked: bool = False
) -> tuple[list[Value], list[Value]]:
    """The outputs of the graph, and what each parameter contributes to sum(cotangent * output).

    `masked`: the cotangents may be zero because a branch that the outputs went into was not taken.
    """
    duals = push_all(graph, [Dual(value, ()) for value in inputs], 0)
    values = {node: dual.value for node, dual in duals.items()}
    adjoints = _Adjoints(values)
    for node, cotangent in zip(graph.outputs, cotangents, strict=True):
        adjoints.add(node, cotangent, masked)
    for node in reversed(graph.live()):
        if node.op in ("loop", "call"):
            users = node.used_results()
            found = {user.data: adjoints.take(user) for user in users}
            if any(not is_number(a, 0) for a in found.values()):
                _LARGE[node.op](node, found, adjoints, any(map(adjoints.masked, users)))
        elif node.op not in ("const", "param", "proj", "table"):
            adjoint = adjoints.take(node)
            if not is_number(adjoint, 0):
                _hand_down(node, adjoint, adjoints)
    return [values[node] for node in graph.outputs], [adjoints.take(param) for param in graph.params]


class _Adjoints:
    """What has been collected for each node so far: a value; for arrays in memory a node, or 0."""

    def __init__(self, values: dict[Node, Value]) -> None:
        self.values = values
        self._sums: dict[Node, Value] = {}
        self._masked: set[Node] = set()  # nodes whose adjoint may be zero because a branch was not taken

    def add(self, node: Node, value: Value, masked: bool = False) -> None:
        if is_number(value, 0) or node.op in ("const", "table"):
            return
        if masked:
            self._masked.add(node)
        old = self._sums.get(node, 0.0)
        if isinstance(node.type, tuple) and not is_number(old, 0):
            self._sums[node] = _add_arrays(old, value, node.type[1])
        else:
            self._sums[node] = value if is_number(old, 0) else build("add", old, value)

    def replace(self, node: Node, value: Value, masked: bool) -> None:
        self._sums[node] = value
        if masked:
            self._masked.add(node)

    def take(self, node: Node) -> Value:
        return self._sums.get(node, 0.0)

    def masked(self, node: Node) -> bool:
        return node in self._masked


def _add_arrays(a: Node, b: Node, size: int) -> Node:
    terms = [build("add", memory.get(a, k), memory.get(b, k)) for k in range(size)]
    return current().node("array", tuple(lift(term, "f") for term in terms), ("f", size))


def _hand_down(node: Node, adjoint: Value, adjoints: _Adjoints) -> None:
    masked = adjoints.masked(node)
    if node.op in _MEMORY:
        _MEMORY[node.op](node, adjoint, adjoints)
    elif node.op == "where":
        condition, a, b = node.args
        test = adjoints.values[condition]
        adjoints.add(a, build("where", test, adjoint, 0.0), masked=True)
        adjoints.add(b, build("where", test, 0.0, adjoint), masked=True)
    elif node.op in PARTIALS:
        partials = PARTIALS[node.op](*(adjoints.values[arg] for arg in node.args), adjoints.values[node])
        for arg, partial in zip(node.args, partials, strict=True):
            if is_number(partial, 0) or arg.op == "const":
                continue
            share = build("mul", adjoint, partial)
            if masked and node.op in SINGULAR and isinstance(partial, Node):
                share = build("where", build("equal", adjoint, 0.0), 0.0, share)
            adjoints.add(arg, share, masked)


def _array(node: Node, adjoint: Node, adjoints: _Adjoints) -> None:
    for k, arg in enumerate(node.args):
        adjoints.add(arg, memory.get(adjoint, k), adjoints.masked(node))


def _get(node: Node, adjoint: Value, adjoints: _Adjoints) -> None:
    array, index = node.args
    if array.op == "table" or array.type[0] != "f":
        return
    total = adjoints.take(array)
    total = total if isinstance(total, Node) else zeros(array.type[1])
    where = adjoints.values[index]
    total = memory.set_(total, where, build("add", memory.get(total, where), adjoint))
    adjoints.replace(array, total, adjoints.masked(node))


def _set(node: Node, adjoint: Node, adjoints: _Adjoints) -> None:
    array, index, value = node.args
    where = adjoints.values[index]
    masked = adjoints.masked(node)
    adjoints.add(value, memory.get(adjoint, where), masked)
    adjoints.add(array, memory.set_(adjoint, where, 0.0), masked)


_MEMORY = {"array": _array, "get": _get, "set": _set}


def _call(node: Node, found: dict[int, Value], adjoints: _Adjoints, masked: bool) -> None:
    """A call of the callee's own derivative, compiled once."""
    callee: Graph = node.data
    active = tuple(not is_number(found.get(k, 0.0), 0) for k in range(len(callee.outputs)))
    cache = current().derived
    key = (callee, "reverse", active, masked)
    if key not in cache:
        graph = Graph(current(), name=f"r_{callee.name}")
        with tracing_into(graph):
            params = [graph.param(param.type) for param in callee.params]
            kinds = [_real(out.type) for out in callee.outputs]
            weights: list[Value] = [graph.param(kind) if a else 0.0 for kind, a in zip(kinds, active, strict=True)]
            _, shares = pull(callee, params, weights, masked)
            moving = [k for k, share in enumerate(shares) if not is_number(share, 0)]
            graph.outputs = [lift(e, "f") for k in moving for e in _elements(shares[k], callee.params[k].type)]
        cache[key] = graph, moving
    graph, moving = cache[key]
    inputs = [lift_any(adjoints.values[arg], p.type) for arg, p in zip(node.args, callee.params, strict=True)]
    nodes = [lift_any(found[k], _real(out.type)) for k, out in enumerate(callee.outputs) if active[k]]
    result = current().node("call", (*inputs, *nodes, *graph.captures), "t", graph)
    ends = iter(result.results())
    for position in moving:
        kind = callee.params[position].type
        if isinstance(kind, tuple):
            array = tuple(next(ends) for _ in range(kind[1]))
            adjoints.add(node.args[position], current().node("array", array, _real(kind)), masked)
        else:
            adjoints.add(node.args[position], next(ends), masked)


def _elements(value: Value, kind: Any) -> list[Value]:
    return [memory.get(value, k) for k in range(kind[1])] if isinstance(kind, tuple) else [value]


def _real(kind: Any) -> Any:
    return ("f", kind[1]) if isinstance(kind, tuple) else "f"


def _loop(node: Node, found: dict[int, Value], adjoints: _Adjoints, masked: bool) -> None:
    """Run the loop again, keeping what it carried at every step; then step backwards through that."""
    body: Graph = node.data
    count = adjoints.values[node.args[0]]
    if isinstance(count, Node):
        raise TraceError(
            "a loop whose count is only known at run time is differentiated in reverse",
            "give the loop a fixed count, or use pt.jvp or forward differentiation",
        )
    count, carries = max(int(count), 0), len(body.outputs)
    kinds = [output.type for output in body.outputs]
    start = [lift_any(adjoints.values[arg], kind) for arg, kind in zip(node.args[1:], kinds, strict=False)]
    outside = {p: adjoints.values[arg] for p, arg in zip(body.captures.values(), node.args[1 + carries :], strict=True)}
    records = _record(body, count, start, kinds, outside)

    # Backwards: what is carried now are the adjoints of the carry, and the growing adjoints of what comes from outside.
    first = [found.get(k, 0.0) for k in range(carries)]
    moving = [k for k, kind in enumerate(kinds) if (kind[0] if isinstance(kind, tuple) else kind) == "f"]
    shared = [p for p in outside if _real(p.type) == p.type]
    graph = Graph(current(), name=f"r_{body.name}")
    with tracing_into(graph):
        counter = graph.param("i")
        graph.counters[counter] = float(count)
        weights = {k: graph.param(_real(kinds[k])) for k in moving}
        sums = {p: graph.param(_real(p.type)) for p in shared}
        step = build("sub", count - 1, counter)
        carried = iter([_recall(record, step, kind) for record, kind in zip(records, kinds, strict=True)])
        inputs = [step if p is body.params[0] else outside[p] if p in outside else next(carried) for p in body.params]
        _, shares = pull(body, inputs, [weights.get(k, 0.0) for k in range(carries)], masked)
        by_param = dict(zip(body.params, shares, strict=True))
        own = [p for p in body.params[1:] if p not in outside]
        graph.outputs = [_whole(by_param[own[k]], kinds[k]) for k in moving]
        for p in shared:
            share = by_param[p]
            if isinstance(p.type, tuple):
                graph.outputs.append(sums[p] if is_number(share, 0) else _add_arrays(sums[p], share, p.type[1]))
            else:
                graph.outputs.append(lift(build("add", sums[p], share), "f"))
    begin = [_whole(first[k], kinds[k]) for k in moving] + [_whole(0.0, p.type) for p in shared]
    loop = current().node("loop", (lift(count, "i"), *begin, *graph.captures), "t", graph)
    results = loop.results()
    for k, result in zip(moving, results, strict=False):
        adjoints.add(node.args[1 + k], result, masked)
    positions = list(body.captures.values())
    for p, result in zip(shared, results[len(moving) :], strict=True):
        adjoints.add(node.args[1 + carries + positions.index(p)], result, masked)


def _whole(value: Value, kind: Any) -> Node:
    if isinstance(kind, tuple):
        return value if isinstance(value, Node) else zeros(kind[1])
    return lift(value, "f")


def _record(
    body: Graph, count: int, start: Sequence[Node], kinds: Sequence[Any], outside: dict[Node, Value]
) -> list[Node]:
    """What the loop carried before each step: for each carried value one array, steps by elements."""
    graph = Graph(current(), name=f"record_{body.name}")
    sizes = [kind[1] if isinstance(kind, tuple) else 1 for kind in kinds]
    scalars = [kind[0] if isinstance(kind, tuple) else kind for kind in kinds]
    stored = ["i" if s == "b" else s for s in scalars]
    with tracing_into(graph):
        counter = graph.param("i")
        graph.counters[counter] = float(count)
        carried = [graph.param(kind) for kind in kinds]
        arrays = [graph.param((s, count * size)) for s, size in zip(stored, sizes, strict=True)]
        kept = []
        for value, array, size, kind in zip(carried, arrays, sizes, kinds, strict=True):
            for k in range(size):
                element = memory.get(value, k) if isinstance(kind, tuple) else value
                array = memory.set_(array, build("add", build("mul", counter, size), k), element)
            kept.append(array)
        rest = iter(carried)
        inputs = [counter if p is body.params[0] else outside[p] if p in outside else next(rest) for p in body.params]
        duals = push_all(body, [Dual(value, ()) for value in inputs], 0)
        ends = [lift_any(duals[out].value, kind) for out, kind in zip(body.outputs, kinds, strict=True)]
        graph.outputs = [*ends, *kept]
    blank = [
        current().node("table", (), (s, count * size), ((0.0 if s == "f" else 0),) * (count * size))
        for s, size in zip(stored, sizes, strict=True)
    ]
    loop = current().node("loop", (lift(count, "i"), *start, *blank, *graph.captures), "t", graph)
    return loop.results()[len(kinds) :]


def _recall(record: Node, step: Value, kind: Any) -> Value:
    if not isinstance(kind, tuple):
        value = memory.get(record, step)
        return build("truth", value) if kind == "b" else value
    base = build("mul", step, kind[1])
    elements = [memory.get(record, build("add", base, k)) for k in range(kind[1])]
    return current().node("array", tuple(lift(e, kind[0]) for e in elements), kind)


_LARGE = {"loop": _loop, "call": _call}
