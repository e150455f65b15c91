"""Reverse-mode differentiation: a graph evaluated again, then swept backwards, adjoints flowing to the arguments."""

from collections.abc import Callable, Sequence

from poinsot._memo import memo
from poinsot.fuse.derive.forward import Dual, as_node, push_all, replay, tangent_type
from poinsot.fuse.derive.partials import PARTIALS, SINGULAR
from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build, is_number, lift
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import PYTHON, Graph, Node, Scalar, Type, Value, current, tracing_into

MOST = 1 << 24  # numbers of a loop that are kept for the way back, 128 MB


def pull(
    graph: Graph, inputs: Sequence[Value], cotangents: Sequence[Value], masked: bool = False
) -> tuple[list[Value], list[Value]]:
    """The pullback of the graph: its outputs, and the derivative of sum(cotangent * output) by each parameter.

    `masked`: the cotangents may be zero because an output was in a branch that was not taken.
    """
    duals = push_all(graph, [Dual(value, ()) for value in inputs], 0)
    values = {node: dual.value for node, dual in duals.items()}
    adjoints = _Adjoints(values)
    for node, cotangent in zip(graph.outputs, cotangents, strict=True):
        adjoints.add(node, cotangent, masked)
    for node in reversed(graph.live()):
        if node.op in _WITH_BODY:
            users = node.used_results()
            of_results = {user.data: adjoints.of(user) for user in users}
            if any(not is_number(a, 0) for a in of_results.values()):
                _WITH_BODY[node.op](node, of_results, adjoints, any(map(adjoints.masked, users)))
        elif node.op not in ("const", "param", "proj", "table"):
            adjoint = adjoints.of(node)
            if not is_number(adjoint, 0):
                _propagate(node, adjoint, adjoints)
    return [values[node] for node in graph.outputs], [adjoints.of(param) for param in graph.params]


class _Adjoints:
    """The adjoint of each node as accumulated so far: a value; for arrays in memory a node, or 0."""

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
        if is_number(old, 0):
            self._sums[node] = value
        else:
            self._sums[node] = _sum(old, value, node.type)

    def replace(self, node: Node, value: Value, masked: bool) -> None:
        self._sums[node] = value
        if masked:
            self._masked.add(node)

    def of(self, node: Node) -> Value:
        return self._sums.get(node, 0.0)

    def masked(self, node: Node) -> bool:
        return node in self._masked


def _sum(a: Value, b: Value, primal: Type) -> Value:
    """a + b, of arrays in memory element by element."""
    if not isinstance(primal, tuple):
        return build("add", a, b)
    terms = [build("add", _element(a, k), _element(b, k)) for k in range(primal[1])]
    return current().node("array", tuple(lift(term, "f") for term in terms), tangent_type(primal))


def _element(array: Value, k: int) -> Value:
    assert isinstance(array, Node)
    return memory.get(array, k)


def _elements(value: Value, primal: Type) -> list[Value]:
    return [_element(value, k) for k in range(primal[1])] if isinstance(primal, tuple) else [value]


def _propagate(node: Node, adjoint: Value, adjoints: _Adjoints) -> None:
    """Add the contributions of a node to the adjoints of its arguments."""
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


def _array(node: Node, adjoint: Value, adjoints: _Adjoints) -> None:
    for k, arg in enumerate(node.args):
        adjoints.add(arg, _element(adjoint, k), adjoints.masked(node))


def _get(node: Node, adjoint: Value, adjoints: _Adjoints) -> None:
    array, index = node.args
    if array.op == "table" or array.element != "f":
        return
    total, where = as_node(adjoints.of(array), array.type), adjoints.values[index]
    total = memory.set_(total, where, build("add", memory.get(total, where), adjoint))
    adjoints.replace(array, total, adjoints.masked(node))


def _set(node: Node, adjoint: Value, adjoints: _Adjoints) -> None:
    array, index, value = node.args
    where, total, masked = adjoints.values[index], as_node(adjoint, node.type), adjoints.masked(node)
    adjoints.add(value, memory.get(total, where), masked)
    adjoints.add(array, memory.set_(total, where, 0.0), masked)


_MEMORY: dict[str, Callable[[Node, Value, _Adjoints], None]] = {"array": _array, "get": _get, "set": _set}


def _call(node: Node, cotangents: dict[int, Value], adjoints: _Adjoints, masked: bool) -> None:
    """A call of the pullback of the callee, which is compiled once, like the callee."""
    callee: Graph = node.data
    active = tuple(not is_number(cotangents.get(k, 0.0), 0) for k in range(len(callee.outputs)))
    graph, moving = _pullback(current(), callee, active, masked)
    inputs = [lift(adjoints.values[arg], p.type) for arg, p in zip(node.args, callee.params, strict=True)]
    seeds = [lift(cotangents[k], tangent_type(out.type)) for k, out in enumerate(callee.outputs) if active[k]]
    result = current().node("call", (*inputs, *seeds, *graph.captures), "t", graph)
    ends = iter(result.results())
    for position in moving:
        type_ = callee.params[position].type
        if isinstance(type_, tuple):
            array = tuple(next(ends) for _ in range(type_[1]))
            adjoints.add(node.args[position], current().node("array", array, tangent_type(type_)), masked)
        else:
            adjoints.add(node.args[position], next(ends), masked)


@memo
def _pullback(caller: Graph, callee: Graph, active: tuple[bool, ...], masked: bool) -> tuple[Graph, list[int]]:
    """The graph of the adjoints of a callee's parameters, and the numbers of those that are not 0; once per caller."""
    graph = Graph(caller, name=f"r_{callee.name}")
    with tracing_into(graph):
        params = [graph.param(param.type) for param in callee.params]
        types = [tangent_type(out.type) for out in callee.outputs]
        weights: list[Value] = [graph.param(t) if a else 0.0 for t, a in zip(types, active, strict=True)]
        _, shares = pull(callee, params, weights, masked)
        moving = [k for k, share in enumerate(shares) if not is_number(share, 0)]
        graph.outputs = [lift(e, "f") for k in moving for e in _elements(shares[k], callee.params[k].type)]
    return graph, moving


def _loop(node: Node, cotangents: dict[int, Value], adjoints: _Adjoints, masked: bool) -> None:
    """Run the loop again and record its carry before every iteration; then iterate backwards through the record.

    The backward loop carries the adjoints of the carry, and accumulates those of the captured values.
    """
    body: Graph = node.data
    _, initial, captured = node.loop_args()
    count, types = _trip_count(node, adjoints), [output.type for output in body.outputs]
    if count == 0:
        for k, arg in enumerate(initial):
            adjoints.add(arg, cotangents.get(k, 0.0), masked)
        return
    _require_room(count, types)
    start = [lift(adjoints.values[arg], type_) for arg, type_ in zip(initial, types, strict=True)]
    outside = {p: adjoints.values[arg] for p, arg in zip(body.captures.values(), captured, strict=True)}
    records, done = _record(body, count, start, outside)
    moving = {k: initial[k] for k, type_ in enumerate(types) if _scalar(type_) == "f"}
    shared = {p: arg for p, arg in zip(outside, captured, strict=True) if tangent_type(p.type) == p.type}
    graph = _backward(body, count, done, records, outside, list(moving), list(shared), masked)
    begin = [as_node(cotangents.get(k, 0.0), types[k]) for k in moving] + [as_node(0.0, p.type) for p in shared]
    loop = current().node("loop", (lift(done, "i"), *begin, *graph.captures), "t", graph)
    for arg, result in zip((*moving.values(), *shared.values()), loop.results(), strict=True):
        adjoints.add(arg, result, masked)


def _trip_count(node: Node, adjoints: _Adjoints) -> int:
    count = adjoints.values[node.args[0]]
    if isinstance(count, Node):
        raise TraceError(
            "a loop whose count is only known at run time is differentiated in reverse",
            "give the loop a fixed count, or use pt.jvp or forward differentiation",
        )
    return max(int(count), 0)


def _require_room(count: int, types: Sequence[Type]) -> None:
    numbers = count * sum(type_[1] if isinstance(type_, tuple) else 1 for type_ in types)
    if numbers > MOST:
        raise TraceError(
            f"a loop of up to {count:,} iterations is differentiated in reverse, which keeps the {numbers // count} "
            "numbers that it carries, of each iteration",
            "bound the iterations more closely (most=...), or use pt.jvp or forward differentiation",
        )


def _backward(
    body: Graph,
    count: int,
    done: Value,
    records: Sequence[Node],
    outside: dict[Node, Value],
    moving: Sequence[int],
    shared: Sequence[Node],
    masked: bool,
) -> Graph:
    """The body of the backward loop over those iterations that were done, of at most `count`.

    It carries the adjoints of the carried values number `moving`, and sums up those of the captured values `shared`.
    """
    graph, types = Graph(current(), name=f"r_{body.name}"), [output.type for output in body.outputs]
    with tracing_into(graph):
        counter = _counter(graph, count)
        weights = {k: graph.param(tangent_type(types[k])) for k in moving}
        sums = {p: graph.param(tangent_type(p.type)) for p in shared}
        step = build("sub", build("sub", done, 1), counter)
        if isinstance(done, Node):
            step = build("maximum", step, 0)  # instances that have no more to do read their record as well
        carry = [_recall(record, step, type_) for record, type_ in zip(records, types, strict=True)]
        inputs = _body_inputs(body, step, carry, outside)
        _, shares = pull(body, inputs, [weights.get(k, 0.0) for k in range(len(types))], masked)
        by_param = dict(zip(body.params, shares, strict=True))
        carried = body.carried
        graph.outputs = [as_node(by_param[carried[k]], types[k]) for k in moving]
        for p, total in sums.items():
            share = by_param[p]
            unchanged = isinstance(p.type, tuple) and is_number(share, 0)
            graph.outputs.append(total if unchanged else lift(_sum(total, share, p.type), tangent_type(p.type)))
    return graph


def _counter(graph: Graph, count: int) -> Node:
    counter = graph.param("i")
    graph.counters[counter] = float(count)
    return counter


def _body_inputs(body: Graph, step: Value, carry: Sequence[Value], outside: dict[Node, Value]) -> list[Value]:
    """The values of a body's parameters, in their order."""
    carried = iter(carry)
    return [step if p is body.params[0] else outside[p] if p in outside else next(carried) for p in body.params]


def _scalar(type_: Type) -> Scalar:
    scalar = type_[0] if isinstance(type_, tuple) else type_
    assert scalar != "t"
    return scalar


def _record(body: Graph, count: int, start: Sequence[Node], outside: dict[Node, Value]) -> tuple[list[Node], Value]:
    """The carry before each iteration, for each carried value one array, iterations by elements; and how many
    iterations were done."""
    graph, types = Graph(current(), name=f"record_{body.name}"), [output.type for output in body.outputs]
    sizes = [type_[1] if isinstance(type_, tuple) else 1 for type_ in types]
    stored: list[Scalar] = ["i" if _scalar(type_) == "b" else _scalar(type_) for type_ in types]
    with tracing_into(graph):
        counter = _counter(graph, count)
        carried = [graph.param(type_) for type_ in types]
        arrays = [graph.param((s, count * size)) for s, size in zip(stored, sizes, strict=True)]
        done = [] if body.goes_on is None else [graph.param("i")]
        kept = []
        for value, array, size in zip(carried, arrays, sizes, strict=True):
            for k in range(size):
                element = _element(value, k) if isinstance(value.type, tuple) else value
                array = memory.set_(array, build("add", build("mul", counter, size), k), element)
            kept.append(array)
        ends = replay(body, _body_inputs(body, counter, carried, outside))
        following = [lift(build("add", n, 1), "i") for n in done]
        graph.outputs = [*(lift(end, type_) for end, type_ in zip(ends, types, strict=True)), *kept, *following]
        graph.goes_on = body.goes_on
    blank = [
        current().node("table", (), (s, count * size), (PYTHON[s](0),) * (count * size))
        for s, size in zip(stored, sizes, strict=True)
    ]
    none = [lift(0, "i") for _ in done]
    loop = current().node("loop", (lift(count, "i"), *start, *blank, *none, *graph.captures), "t", graph)
    results = loop.results()[len(types) :]
    return results[: len(types)], results[-1] if done else count


def _recall(record: Node, step: Value, type_: Type) -> Value:
    """A carried value as it was before an iteration."""
    if not isinstance(type_, tuple):
        value = memory.get(record, step)
        return build("truth", value) if type_ == "b" else value
    base = build("mul", step, type_[1])
    elements = [memory.get(record, build("add", base, k)) for k in range(type_[1])]
    return current().node("array", tuple(lift(e, type_[0]) for e in elements), type_)


_WITH_BODY = {"loop": _loop, "call": _call}
