"""Graph to CUDA C++: one instance a thread, its state in registers, loops and called functions kept as such.

Arrays that are indexed at run time lie in shared memory, thread beside thread, as far as it reaches, and in local
memory beyond. Multiplications and additions are contracted, as on the processor; mathematical functions are accurate
unless `fast` asks for others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cuda_rows import FAST, PRELUDE, RECIPROCAL, ROWS, TURN
from .graph import Graph, Node, Type
from .memory import UNSET
from .patterns import Element, Plan, elements

_TYPES = {"f": "T", "i": "int", "b": "bool"}

BLOCKS = {4: 128, 8: 64}  # threads of a block, by the bytes of a float
SHARED = 113 * 1024  # bytes of shared memory for a block, so that two of them fit
STREAM = {4: 3, 8: 2}  # arrays that need so many times more of it stay in local memory
CONSTANT = 60_000  # bytes of tables that go to constant memory, which holds 65,536


@dataclass(frozen=True)
class Source:
    """The text of `kernel`, for blocks of so many threads with so many bytes of shared memory."""

    text: str
    block: int
    shared: int


@dataclass(frozen=True)
class _Place:
    """Where an array lies: how the index becomes an element's name, and which elements of shared memory it takes."""

    form: str
    shared: tuple[int, int] | None = None

    def at(self, index: str | int) -> str:
        return self.form.format(index)


@dataclass
class _Text:
    """The body of one function, grown line by line. `free`: which elements of shared memory are, as (first, end)."""

    unit: "_Unit"
    free: list[tuple[int, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    made: list[_Place] = field(default_factory=list)  # arrays, since somebody looked

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        self.unit.count += 1
        return f"v{self.unit.count}"

    def value(self, type_: Type, text: str) -> str:
        name = self.name()
        self.line(f"const {_TYPES[type_]} {name} = {text};")
        return name

    def array(self, type_: Type) -> _Place:
        """A new array, in shared memory if there is room."""
        kind, size = type_
        for k, (first, end) in enumerate(self.free):
            if kind == "f" and size <= end - first:
                self.free[k : k + 1] = [(first + size, end)] if first + size < end else []
                self.unit.shared = max(self.unit.shared, first + size)
                self.made.append(_Place(f"mine[({first} + {{}}) * {self.unit.block}]", (first, first + size)))
                return self.made[-1]
        name = self.name()
        self.line(f"{_TYPES[kind]} {name}[{size}];")
        return _Place(name + "[{}]")

    def release(self, place: _Place) -> None:
        """Nobody will use the array any more."""
        if place.shared:
            merged: list[tuple[int, int]] = []
            for first, end in sorted([*self.free, place.shared]):
                if merged and merged[-1][1] == first:
                    first = merged.pop()[0]
                merged.append((first, end))
            self.free = merged


@dataclass
class _Unit:
    """One translation unit. `room`: elements of shared memory that a thread may use; `shared`: those that it does."""

    float64: bool
    fast: bool
    room: int
    functions: list[str] = field(default_factory=list)
    tables: dict[Any, str] = field(default_factory=dict)
    callees: dict[Graph, str] = field(default_factory=dict)
    inputs: dict[Node, tuple[str, int, int]] = field(default_factory=dict)  # form, place and size of an argument
    count: int = 0
    shared: int = 0

    @property
    def block(self) -> int:
        return BLOCKS[8 if self.float64 else 4]

    @property
    def rows(self) -> dict[str, str]:
        return {**ROWS, **FAST} if self.fast and not self.float64 else ROWS

    def literal(self, value: Any, type_: Type) -> str:
        if type_ == "b":
            return "true" if value else "false"
        if type_ == "i":
            return str(value)
        with np.errstate(over="ignore"):
            number = float(value if self.float64 else np.float32(value))
        if number != number:
            return '(T)__builtin_nan("")'
        if abs(number) == float("inf"):
            return f"(T)({'-' if number < 0 else ''}1e999)"  # too large for any double: infinity
        return number.hex() + ("" if self.float64 else "f")

    def table(self, data: tuple[Any, ...], type_: Type) -> str:
        key = (type_, data)
        if key not in self.tables:
            self.tables[key] = f"table{len(self.tables)}"
        return self.tables[key]

    def text(self) -> str:
        code = "\n".join(self.functions)
        used = {key: name for key, name in self.tables.items() if f"{name}[" in code}
        size = sum(len(data) for _, data in used) * (8 if self.float64 else 4)
        memory = "__constant__" if size <= CONSTANT else "__device__"
        tables = [
            f"{memory} const {_TYPES[type_]} {name}[{len(data)}] = "
            f"{{{', '.join(self.literal(v, type_) for v in data)}}};"
            for (type_, data), name in used.items()
        ]
        head = f"typedef {'double' if self.float64 else 'float'} T;"
        own = TURN[self.float64] + ("" if self.float64 else RECIPROCAL)
        return "\n".join([head, PRELUDE, own, *tables, code])


def kernel_source(
    graph: Graph, inputs: Sequence[int], outputs: Sequence[int], float64: bool, fast: bool = False
) -> Source:
    """CUDA C++ of `kernel(in, row, lane, ..., out, row, lane, ..., count)`, for arguments of so many elements each.

    Element e of instance i of an argument lies at e row + i lane.
    """
    itemsize = 8 if float64 else 4
    room = 0 if _passes_arrays(graph) else SHARED // (BLOCKS[itemsize] * itemsize)
    streams = _written(graph, inputs, outputs, _Unit(float64, fast, 1 << 30)).shared > STREAM[itemsize] * room > 0
    unit = _written(graph, inputs, outputs, _Unit(float64, fast, 0 if streams else room))
    return Source(unit.text(), unit.block, unit.shared * unit.block * itemsize)


def _written(graph: Graph, inputs: Sequence[int], outputs: Sequence[int], unit: "_Unit") -> "_Unit":
    """The unit with the kernel written into it."""
    text = _Text(unit, [(0, unit.room)])
    params, results = iter(graph.params), iter(graph.outputs)
    for k, size in enumerate(inputs):
        for e in range(size):
            unit.inputs[next(params)] = (f"in{k}[({{}}) * in{k}_row]", e, size)
    groups = [[next(results) for _ in range(size)] for size in outputs]
    refs: dict[Node, Any] = {}
    plan = Plan(graph, unit.inputs, groups)
    for param, (form, e, _) in unit.inputs.items():
        if param in plan.wanted:
            refs[param] = text.value("f", form.format(e))
    _graph(text, graph, refs, plan)
    for k, group in enumerate(groups):
        if plan.patterns.get(k):
            _each(text, len(group), f"out{k}[k * out{k}_row] = {_element(text, plan.patterns[k], refs)};")
            continue
        for e, node in enumerate(group):
            text.line(f"out{k}[{e} * out{k}_row] = {refs[node]};")
    names = {f"in{k}": "const T*" for k in range(len(inputs))} | {f"out{k}": "T*" for k in range(len(outputs))}
    arguments = ", ".join(
        f"{type_} __restrict__ {name}, const long long {name}_row, const long long {name}_lane"
        for name, type_ in names.items()
    )
    head = f'extern "C" __global__ void __launch_bounds__({unit.block}) kernel({arguments}, const long long count) {{'
    first = [
        f"  const long long lane = blockIdx.x * (long long){unit.block} + threadIdx.x;",
        "  if (lane >= count) return;",
        *(f"  {name} += lane * {name}_lane;" for name in names),
    ]
    if unit.shared:
        first = ["  extern __shared__ T pool[];", "  T* const mine = pool + threadIdx.x;", *first]
    unit.functions.append("\n".join([head, *first, *text.lines, "}"]))
    return unit


def _passes_arrays(graph: Graph) -> bool:
    """Whether some called function takes an array, as a pointer to local memory."""
    return any(
        node.op == "call" and any(isinstance(arg.type, tuple) for arg in node.args)
        for part in (graph, *graph.subgraphs())
        for node in part.live()
    )


def _graph(text: _Text, graph: Graph, refs: dict[Node, Any], plan: "Plan | None" = None) -> list[Any]:
    """Write out the live nodes of a graph whose parameters are given; the names of its outputs."""
    plan = plan or Plan(graph, text.unit.inputs)
    turns: dict[Node, dict[str, str]] = {}
    accurate = text.unit.float64 or not text.unit.fast
    owned: dict[_Place, float] = {}  # the arrays that were made here, and the number of the node that uses them last
    text.made, outer, last = [], text.made, plan.last
    for node in (node for node in graph.nodes if node in plan.wanted):
        if node in refs or node.op == "proj":
            continue
        for place in [place for place, end in owned.items() if end < node.index]:
            text.release(place)
            del owned[place]
        if node in plan.patterns:
            _by_pattern(text, node, plan, refs)
        elif node.op in _STRUCTURE:
            _STRUCTURE[node.op](text, node, refs, last)
        if isinstance(node.type, tuple) or node.op in _STRUCTURE:
            owned.update((place, node.index) for place in text.made)
            text.made = []
            for name in (node, *(node.used_results() if node.op == "loop" else ())):
                if refs.get(name) in owned:
                    owned[refs[name]] = max(owned[refs[name]], last.get(name, 0))
        elif node.op in ("sin", "cos") and accurate:
            angle = node.args[0]
            if angle not in turns:
                turns[angle] = {op: text.name() for op in ("sin", "cos")}
                text.line("T {sin}, {cos};".format(**turns[angle]))
                text.line("turn({0}, {sin}, {cos});".format(refs[angle], **turns[angle]))
            refs[node] = turns[angle][node.op]
        else:
            refs[node] = _simple(text, node, refs)
    text.made = outer
    return [refs.get(node) for node in graph.outputs]


def _simple(text: _Text, node: Node, refs: dict[Node, Any]) -> str:
    unit = text.unit
    if node.op == "const":
        return f"({unit.literal(node.data, node.type)})" if node.data < 0 else unit.literal(node.data, node.type)
    if node.op == "div" and node.args[0].op == "const" and node.args[0].data == 1 and not unit.float64:
        return text.value("f", f"reciprocal({refs[node.args[1]]})")
    arguments = dict(zip("abc", (refs[arg] for arg in node.args), strict=False))
    return text.value(node.type, unit.rows[node.op].format(**arguments))


def _each(text: _Text, size: int, line: str) -> None:
    """A line for each k."""
    text.line("#pragma unroll 4")
    text.line(f"for (int k = 0; k < {size}; k++) {line}")


def _copy(text: _Text, target: _Place, source: _Place, size: int, node: Node | None = None) -> None:
    """`node`: what the source is; a table of one value need not be read, and what was never set not be copied."""
    value = source.at("k")
    if node is not None and node.op == "table":
        if all(x is UNSET for x in node.data):
            return
        if len(set(map(repr, node.data))) == 1:
            value = text.unit.literal(node.data[0], node.type[0])
    _each(text, size, f"{target.at('k')} = {value};")


def _by_pattern(text: _Text, node: Node, plan: "Plan", refs: dict[Node, Any]) -> None:
    """An array whose elements are all made in one way: a loop, in place of one that it is made from if that ends here.

    An argument of the kernel, taken as a whole, is read where it lies.
    """
    pattern = plan.patterns[node]
    if isinstance(pattern, Element) and pattern.form is not None and pattern.first == 0 and pattern.is_whole:
        refs[node] = _Place(pattern.form)
        return
    parts = list(elements(pattern))
    target = None
    for e in parts:
        ends = e.array is not None and plan.last[e.array] <= node.index and e.array.type == node.type
        if ends and all(o.first == 0 for o in parts if o.array is e.array) and not _is_constant(refs[e.array]):
            target = refs[e.array]
    target = target or text.array(node.type)
    _each(text, node.type[1], f"{target.at('k')} = {_element(text, pattern, refs)};")
    refs[node] = target


def _element(text: _Text, pattern: Any, refs: dict[Node, Any]) -> str:
    """Element k of a pattern, as an expression."""
    if isinstance(pattern, Node):
        return refs[pattern] if pattern in refs else _simple(text, pattern, refs)
    if isinstance(pattern, Element):
        place = _Place(pattern.form) if pattern.form is not None else refs[pattern.array]
        return place.at(f"{pattern.first} + k" if pattern.first else "k")
    op, *parts = pattern
    arguments = dict(zip("abc", (_element(text, part, refs) for part in parts), strict=False))
    return f"({text.unit.rows[op].format(**arguments)})"


def _array(text: _Text, node: Node, refs: dict[Node, Any], last: dict[Node, float]) -> None:
    refs[node] = text.array(node.type)
    for k, arg in enumerate(node.args):
        text.line(f"{refs[node].at(k)} = {refs[arg]};")


def _table(text: _Text, node: Node, refs: dict[Node, Any], last: dict[Node, float]) -> None:
    refs[node] = _Place(text.unit.table(node.data, node.type[0]) + "[{}]")


def _get(text: _Text, node: Node, refs: dict[Node, Any], last: dict[Node, float]) -> None:
    array, index = (refs[arg] for arg in node.args)
    refs[node] = text.value(node.type, array.at(index))


def _is_constant(place: _Place) -> bool:
    """Whether it is a table, or an argument of the kernel."""
    return place.form.startswith(("table", "in"))


def _set(text: _Text, node: Node, refs: dict[Node, Any], last: dict[Node, float]) -> None:
    array, index, value = (refs[arg] for arg in node.args)
    if _is_constant(array) or last[node.args[0]] > node.index:  # the old array is needed again
        fresh = text.array(node.type)
        _copy(text, fresh, array, node.type[1])
        array = fresh
    text.line(f"{array.at(index)} = {value};")
    refs[node] = array


def _call(text: _Text, node: Node, refs: dict[Node, Any], last: dict[Node, float]) -> None:
    """Scalars are passed by value, arrays as pointers, results through references."""
    graph: Graph = node.data
    unit = text.unit
    if graph not in unit.callees:
        name = unit.callees[graph] = f"function{len(unit.callees)}"
        inner = _Text(unit)
        names = [inner.name() for _ in graph.params]
        places = [
            _Place(n + "[{}]") if isinstance(p.type, tuple) else n for p, n in zip(graph.params, names, strict=True)
        ]
        ends = _graph(inner, graph, dict(zip(graph.params, places, strict=True)))
        parameters = [
            f"const {_TYPES[p.type[0]]}* {n}" if isinstance(p.type, tuple) else f"const {_TYPES[p.type]} {n}"
            for p, n in zip(graph.params, names, strict=True)
        ]
        parameters += [f"{_TYPES[out.type]}& result{k}" for k, out in enumerate(graph.outputs)]
        body = [*inner.lines, *(f"  result{k} = {end};" for k, end in enumerate(ends))]
        head = f"static __device__ __noinline__ void {name}({', '.join(parameters)}) {{"
        unit.functions.append("\n".join([head, *body, "}"]))
    results = [text.name() for _ in graph.outputs]
    for name, out in zip(results, graph.outputs, strict=True):
        text.line(f"{_TYPES[out.type]} {name};")
    given = [f"&{refs[arg].at(0)}" if isinstance(arg.type, tuple) else refs[arg] for arg in node.args]
    text.line(f"{unit.callees[graph]}({', '.join([*given, *results])});")
    for user in node.used_results():
        refs[user] = results[user.data]


def _loop(text: _Text, node: Node, refs: dict[Node, Any], last: dict[Node, float]) -> None:
    body: Graph = node.data
    counter, *params = body.params
    inside = dict(zip(body.captures.values(), (refs[a] for a in node.args[1 + len(body.outputs) :]), strict=True))
    carried = [p for p in params if p not in inside]
    places: dict[Node, Any] = {}
    for argument, p in zip(node.args[1:], carried, strict=False):
        if isinstance(p.type, tuple):
            taken = _is_constant(refs[argument]) or last[argument] > node.index or list(node.args).count(argument) > 1
            places[p] = text.array(p.type) if taken else refs[argument]
            if taken:
                _copy(text, places[p], refs[argument], p.type[1], argument)
        else:
            places[p] = text.name()
            text.line(f"{_TYPES[p.type]} {places[p]} = {refs[argument]};")
    i, free = text.name(), list(text.free)
    text.line("#pragma unroll 1")
    text.line(f"for (int {i} = 0; {i} < {refs[node.args[0]]}; {i}++) {{")
    text.depth += 1
    ends = _graph(text, body, {**inside, **places, counter: i})
    moved = [(p, end) for p, end in zip(carried, ends, strict=True) if end != places[p]]
    detours: list[Any] = []
    for p, end in moved:  # by a detour, if two change places
        detours.append(end)
        if isinstance(p.type, tuple) and end in places.values():
            detours[-1] = text.array(p.type)
            _copy(text, detours[-1], end, p.type[1])
        elif not isinstance(p.type, tuple):
            detours[-1] = text.value(p.type, end)
    for (p, _), detour in zip(moved, detours, strict=True):
        if isinstance(p.type, tuple):
            _copy(text, places[p], detour, p.type[1])
        else:
            text.line(f"{places[p]} = {detour};")
    text.depth -= 1
    text.line("}")
    text.free = free
    for user in node.used_results():
        refs[user] = places[carried[user.data]]


_STRUCTURE = {"array": _array, "table": _table, "get": _get, "set": _set, "call": _call, "loop": _loop}
