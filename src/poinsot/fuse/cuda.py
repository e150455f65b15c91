"""Graph to CUDA C++: one instance a thread, its state in registers, loops and called functions kept as such.

Arrays lie with the batch last, so that neighbouring threads read neighbouring numbers. Multiplications and additions
are contracted, as on the processor; mathematical functions are the accurate ones of CUDA unless `fast` asks for others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .graph import Graph, Node, Type

# One row an operation: {a}, {b}, {c} are the arguments, T the float type.
ROWS: dict[str, str] = {
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul": "{a} * {b}",
    "div": "{a} / {b}",
    "neg": "-{a}",
    "fma": "fma({a}, {b}, {c})",
    "less": "{a} < {b}",
    "less_equal": "{a} <= {b}",
    "equal": "{a} == {b}",
    "not_equal": "{a} != {b}",
    "and": "{a} && {b}",
    "or": "{a} || {b}",
    "xor": "{a} != {b}",
    "not": "!{a}",
    "where": "{a} ? {b} : {c}",
    "minimum": "least({a}, {b})",
    "maximum": "greatest({a}, {b})",
    "floordiv": "floordiv({a}, {b})",
    "modulo": "modulo({a}, {b})",
    "bit_and": "{a} & {b}",
    "bit_or": "{a} | {b}",
    "bit_xor": "{a} ^ {b}",
    "shift_left": "{a} << {b}",
    "shift_right": "{a} >> {b}",
    "to_float": "(T){a}",
    "to_int": "(int){a}",
    "truth": "{a} != 0",
    "power": "pow({a}, {b})",
    "arctan2": "atan2({a}, {b})",
    "hypot": "hypot({a}, {b})",
    "copysign": "copysign({a}, {b})",
    "abs": "absolute({a})",
    **{op: f"{op}({{a}})" for op in (
        "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh floor rint trunc"
    ).split()},
    **{f"arc{op}": f"a{op}({{a}})" for op in "sin cos tan sinh cosh tanh".split()},
}  # fmt: skip

# What `fast` puts in their place, in float32: approximate, but good to about 1e-6.
FAST: dict[str, str] = {
    "div": "__fdividef({a}, {b})",
    "sin": "__sinf({a})",
    "cos": "__cosf({a})",
    "exp": "__expf({a})",
    "log": "__logf({a})",
}

_PRELUDE = """
template <class U> __device__ U absolute(U a) { return a < 0 ? -a : a + (U)0; }
__device__ T least(T a, T b) { return a != a || a < b ? a : b; }
__device__ T greatest(T a, T b) { return a != a || a > b ? a : b; }
__device__ int least(int a, int b) { return min(a, b); }
__device__ int greatest(int a, int b) { return max(a, b); }
__device__ int modulo(int a, int b) { int r = b ? a % b : 0; return r && (r ^ b) < 0 ? r + b : r; }
__device__ int floordiv(int a, int b) { return b ? (a - modulo(a, b)) / b : 0; }
"""

_TYPES = {"f": "T", "i": "int", "b": "bool"}


@dataclass
class _Text:
    """The body of one function, grown line by line."""

    source: "_Source"
    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        self.source.count += 1
        return f"v{self.source.count}"

    def value(self, type_: Type, text: str) -> str:
        name = self.name()
        self.line(f"const {_TYPES[type_]} {name} = {text};")
        return name


@dataclass
class _Source:
    """One translation unit."""

    float64: bool
    fast: bool
    functions: list[str] = field(default_factory=list)
    tables: dict[Any, str] = field(default_factory=dict)
    callees: dict[Graph, str] = field(default_factory=dict)
    count: int = 0

    def literal(self, value: Any, type_: Type) -> str:
        if type_ == "b":
            return "true" if value else "false"
        if type_ == "i":
            return str(value)
        with np.errstate(over="ignore"):
            number = float(value if self.float64 else np.float32(value))
        if number != number or abs(number) == float("inf"):
            bits = np.float64(number).view(np.int64) if self.float64 else np.float32(number).view(np.int32)
            return f"__longlong_as_double({bits}LL)" if self.float64 else f"__int_as_float({bits})"
        return number.hex() + ("" if self.float64 else "f")

    def table(self, data: tuple[Any, ...], type_: Type) -> str:
        key = (type_, data)
        if key not in self.tables:
            self.tables[key] = f"table{len(self.tables)}"
        return self.tables[key]

    def text(self) -> str:
        tables = [
            f"__device__ const {_TYPES[type_]} {name}[{len(data)}] = "
            f"{{{', '.join(self.literal(v, type_) for v in data)}}};"
            for (type_, data), name in self.tables.items()
        ]
        head = f"typedef {'double' if self.float64 else 'float'} T;"
        return "\n".join([head, _PRELUDE, *tables, *self.functions])


def kernel_source(
    graph: Graph, inputs: Sequence[int], outputs: Sequence[int], float64: bool, fast: bool = False
) -> str:
    """CUDA C++ of `kernel(in ..., out ..., count)`, for arguments of so many elements each, batch last."""
    source = _Source(float64, fast)
    text = _Text(source)
    refs: dict[Node, str] = {}
    params = iter(graph.params)
    for k, size in enumerate(inputs):
        for e in range(size):
            refs[next(params)] = text.value("f", f"in{k}[{e} * count + lane]")
    ends = iter(_graph(text, graph, refs))
    for k, size in enumerate(outputs):
        for e in range(size):
            text.line(f"out{k}[{e} * count + lane] = {next(ends)};")
    arguments = [f"const T* __restrict__ in{k}" for k in range(len(inputs))]
    arguments += [f"T* __restrict__ out{k}" for k in range(len(outputs))]
    head = f'extern "C" __global__ void kernel({", ".join(arguments)}, const long long count) {{'
    first = [
        "  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;",
        "  if (lane >= count) return;",
    ]
    source.functions.append("\n".join([head, *first, *text.lines, "}"]))
    return source.text()


def _graph(text: _Text, graph: Graph, refs: dict[Node, str]) -> list[str]:
    """Write out the live nodes of a graph whose parameters are given; the names of its outputs."""
    live = graph.live()
    last = graph.last_uses(live)
    for node in live:
        if node in refs or node.op == "proj":
            continue
        if node.op in _STRUCTURE:
            _STRUCTURE[node.op](text, node, refs, last)
        else:
            refs[node] = _simple(text, node, refs)
    return [refs[node] for node in graph.outputs]


def _simple(text: _Text, node: Node, refs: dict[Node, str]) -> str:
    source = text.source
    if node.op == "const":
        return f"({source.literal(node.data, node.type)})" if node.data < 0 else source.literal(node.data, node.type)
    rows = {**ROWS, **FAST} if source.fast and not source.float64 else ROWS
    arguments = dict(zip("abc", (refs[arg] for arg in node.args), strict=False))
    return text.value(node.type, rows[node.op].format(**arguments))


def _allocate(text: _Text, type_: Type) -> str:
    name = text.name()
    text.line(f"{_TYPES[type_[0]]} {name}[{type_[1]}];")
    return name


def _copy(text: _Text, target: str, source: str, size: int) -> None:
    text.line(f"for (int k = 0; k < {size}; k++) {target}[k] = {source}[k];")


def _array(text: _Text, node: Node, refs: dict[Node, str], last: dict[Node, float]) -> None:
    refs[node] = _allocate(text, node.type)
    for k, arg in enumerate(node.args):
        text.line(f"{refs[node]}[{k}] = {refs[arg]};")


def _table(text: _Text, node: Node, refs: dict[Node, str], last: dict[Node, float]) -> None:
    refs[node] = text.source.table(node.data, node.type[0])


def _get(text: _Text, node: Node, refs: dict[Node, str], last: dict[Node, float]) -> None:
    array, index = (refs[arg] for arg in node.args)
    refs[node] = text.value(node.type, f"{array}[{index}]")


def _set(text: _Text, node: Node, refs: dict[Node, str], last: dict[Node, float]) -> None:
    array, index, value = (refs[arg] for arg in node.args)
    if node.args[0].op == "table" or last[node.args[0]] > node.index:  # the old array is needed again
        fresh = _allocate(text, node.type)
        _copy(text, fresh, array, node.type[1])
        array = fresh
    text.line(f"{array}[{index}] = {value};")
    refs[node] = array


def _call(text: _Text, node: Node, refs: dict[Node, str], last: dict[Node, float]) -> None:
    """Scalars are passed by value, arrays as pointers, results through references."""
    graph: Graph = node.data
    source = text.source
    if graph not in source.callees:
        name = source.callees[graph] = f"function{len(source.callees)}"
        inner = _Text(source)
        names = [inner.name() for _ in graph.params]
        ends = _graph(inner, graph, dict(zip(graph.params, names, strict=True)))
        parameters = [
            f"const {_TYPES[p.type[0]]}* {n}" if isinstance(p.type, tuple) else f"const {_TYPES[p.type]} {n}"
            for p, n in zip(graph.params, names, strict=True)
        ]
        parameters += [f"{_TYPES[out.type]}& result{k}" for k, out in enumerate(graph.outputs)]
        body = [*inner.lines, *(f"  result{k} = {end};" for k, end in enumerate(ends))]
        head = f"static __device__ __noinline__ void {name}({', '.join(parameters)}) {{"
        source.functions.append("\n".join([head, *body, "}"]))
    results = [text.name() for _ in graph.outputs]
    for name, out in zip(results, graph.outputs, strict=True):
        text.line(f"{_TYPES[out.type]} {name};")
    text.line(f"{source.callees[graph]}({', '.join([*(refs[arg] for arg in node.args), *results])});")
    for user in node.used_results():
        refs[user] = results[user.data]


def _loop(text: _Text, node: Node, refs: dict[Node, str], last: dict[Node, float]) -> None:
    body: Graph = node.data
    counter, *params = body.params
    inside = dict(zip(body.captures.values(), (refs[a] for a in node.args[1 + len(body.outputs) :]), strict=True))
    carried = [p for p in params if p not in inside]
    places: dict[Node, str] = {}
    for argument, p in zip(node.args[1:], carried, strict=False):
        if isinstance(p.type, tuple):
            shared = argument.op == "table" or last[argument] > node.index or list(node.args).count(argument) > 1
            places[p] = _allocate(text, p.type) if shared else refs[argument]
            if shared:
                _copy(text, places[p], refs[argument], p.type[1])
        else:
            places[p] = text.name()
            text.line(f"{_TYPES[p.type]} {places[p]} = {refs[argument]};")
    i = text.name()
    text.line(f"for (int {i} = 0; {i} < {refs[node.args[0]]}; {i}++) {{")
    text.depth += 1
    ends = _graph(text, body, {**inside, **places, counter: i})
    moved = [(p, end) for p, end in zip(carried, ends, strict=True) if end != places[p]]
    detours = []
    for p, end in moved:  # by a detour, in case two change places
        if isinstance(p.type, tuple):
            detours.append(_allocate(text, p.type))
            _copy(text, detours[-1], end, p.type[1])
        else:
            detours.append(text.value(p.type, end))
    for (p, _), detour in zip(moved, detours, strict=True):
        if isinstance(p.type, tuple):
            _copy(text, places[p], detour, p.type[1])
        else:
            text.line(f"{places[p]} = {detour};")
    text.depth -= 1
    text.line("}")
    for user in node.used_results():
        refs[user] = places[carried[user.data]]


_STRUCTURE = {"array": _array, "table": _table, "get": _get, "set": _set, "call": _call, "loop": _loop}
