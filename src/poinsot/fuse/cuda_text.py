"""CUDA C++ as it grows: the lines of a function, where its arrays lie, and the unit that they all belong to.

Arrays that are indexed at run time lie in shared memory, thread beside thread, as far as it reaches, and in local
memory beyond.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cuda_rows import FAST, PRELUDE, RECIPROCAL, ROWS, TURN
from .graph import Graph, Node, Type
from .memory import UNSET
from .patterns import Element

Refs = dict[Node, Any]  # the names of what is known

TYPES = {"f": "T", "i": "int", "b": "bool"}

BLOCKS = {4: 128, 8: 64}  # threads of a block, by the bytes of a float
SHARED = 113 * 1024  # bytes of shared memory for a block, so that two of them fit
AHEAD = {4: 2, 8: 1}  # turns that a loop reads ahead in local memory; in arguments of the kernel, one
CONSTANT = 60_000  # bytes of tables that go to constant memory, which holds 65,536


@dataclass(frozen=True)
class Place:
    """Where an array lies: how the index becomes an element's name, and which elements of shared memory it takes."""

    form: str
    shared: tuple[int, int] | None = None

    def at(self, index: str | int) -> str:
        return self.form.format(index)

    @property
    def is_constant(self) -> bool:
        """Whether it is a table, or an argument of the kernel."""
        return self.form.startswith(("table", "in"))

    @property
    def is_near(self) -> bool:
        """Whether it is read without delay: from shared memory, or from that of constants."""
        return self.form.startswith(("mine", "table"))


@dataclass
class Text:
    """The body of one function, grown line by line. `free`: which elements of shared memory are, as (first, end)."""

    unit: "Unit"
    free: list[tuple[int, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    made: list[Place] = field(default_factory=list)  # arrays, since somebody looked
    skipped: set[Node] = field(default_factory=set)  # what need not be written, though it is there

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        self.unit.count += 1
        return f"v{self.unit.count}"

    def value(self, type_: Type, text: str) -> str:
        name = self.name()
        self.line(f"const {TYPES[type_]} {name} = {text};")
        return name

    def array(self, type_: Type) -> Place:
        """A new array, in shared memory if there is room."""
        kind, size = type_
        for k, (first, end) in enumerate(self.free):
            if kind == "f" and size <= end - first:
                self.free[k : k + 1] = [(first + size, end)] if first + size < end else []
                self.unit.shared = max(self.unit.shared, first + size)
                self.made.append(Place(f"mine[({first} + {{}}) * {self.unit.block}]", (first, first + size)))
                return self.made[-1]
        name = self.name()
        self.line(f"{TYPES[kind]} {name}[{size}];")
        return Place(name + "[{}]")

    def release(self, place: Place) -> None:
        """Nobody will use the array any more."""
        if place.shared:
            merged: list[tuple[int, int]] = []
            for first, end in sorted([*self.free, place.shared]):
                if merged and merged[-1][1] == first:
                    first = merged.pop()[0]
                merged.append((first, end))
            self.free = merged


@dataclass
class Unit:
    """One translation unit. `room`: elements of shared memory that a thread may use; `shared`: those that it does.

    `streams`: its arrays are so large that they lie in local memory and go through the caches; what counts then is to
    read and write little, by many threads.
    """

    float64: bool
    fast: bool
    room: int
    streams: bool = False
    functions: list[str] = field(default_factory=list)
    tables: dict[Any, str] = field(default_factory=dict)
    callees: dict[Graph, str] = field(default_factory=dict)
    inputs: dict[Node, tuple[str, int, int]] = field(default_factory=dict)  # form, place and size of an argument
    count: int = 0
    shared: int = 0
    rows_in_shared: int = 0

    @property
    def block(self) -> int:
        return BLOCKS[8 if self.float64 else 4]

    @property
    def ahead(self) -> int:
        return AHEAD[8 if self.float64 else 4]

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
            return '(T)nan("")'
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
        used = {key: name for key, name in self.tables.items() if f"{name}(" in code}
        rows, tables = self._rows(used) if self.streams and not self.float64 else ([], [])
        size = sum(len(data) for _, data in used) * (8 if self.float64 else 4)
        memory = "__constant__" if size <= CONSTANT and not rows else "__device__"
        for (type_, data), name in used.items():
            if not rows or type_ != "f":
                tables += [
                    f"{memory} const {TYPES[type_]} {name}_[{len(data)}] = {{{self._numbers(data, type_)}}};",
                    f"#define {name}(k) {name}_[k]",
                ]
        fill = ""
        if rows:
            tables.append(f"__device__ const T rows[{len(rows)}] = {{{self._numbers(rows, 'f')}}};")
            fill = "for (int k = threadIdx.x; k < ROWS; k += blockDim.x) pool[k] = rows[k]; __syncthreads();"
        self.rows_in_shared = len(rows)
        tables += [
            "extern __shared__ __align__(16) T pool[];",
            f"#define ROWS {len(rows)}",
            f"#define FILL_ROWS {fill}",
        ]
        head = f"typedef {'double' if self.float64 else 'float'} T;"
        own = TURN[self.float64] + RECIPROCAL[self.float64]
        return "\n".join([head, PRELUDE, own, *tables, code])

    def _numbers(self, data: Iterable[Any], type_: Type) -> str:
        return ", ".join(self.literal(v, type_) for v in data)

    def _rows(self, used: dict[Any, str]) -> tuple[list[Any], list[str]]:
        """Tables of one length side by side, a row for each index, so that four entries are read at once.

        All rows, which go to shared memory, and how each table is read there; nothing, if they are too many.
        """
        lengths: dict[int, list[tuple[Any, str]]] = {}
        for (type_, data), name in used.items():
            if type_ == "f":
                lengths.setdefault(len(data), []).append((data, name))
        rows, macros = [], []  # type: list[Any], list[str]
        for members in lengths.values():
            width = -(-len(members) // 4) * 4
            macros += [
                f"#define {name}(k) pool[{len(rows)} + (k) * {width} + {j}]" for j, (_, name) in enumerate(members)
            ]
            blank = [0.0] * (width - len(members))
            rows += [x for row in zip(*(data for data, _ in members), strict=True) for x in (*row, *blank)]
        return (rows, macros) if 4 * len(rows) <= SHARED // 4 else ([], [])


def simple(text: Text, node: Node, refs: Refs) -> str:
    """An operation on what is known, in a line of its own; a constant as it is."""
    unit = text.unit
    if node.op == "const":
        return f"({unit.literal(node.data, node.type)})" if node.data < 0 else unit.literal(node.data, node.type)
    if node.op == "div" and node.args[0].op == "const" and node.args[0].data == 1:
        return text.value("f", f"reciprocal({refs[node.args[1]]})")
    arguments = dict(zip("abc", (refs[arg] for arg in node.args), strict=False))
    return text.value(node.type, unit.rows[node.op].format(**arguments))


def element(text: Text, pattern: Any, refs: Refs, k: str = "k") -> str:
    """Element k of a pattern, as an expression. An array may be known by the name of that one element alone."""
    if isinstance(pattern, Node):
        return refs[pattern] if pattern in refs else simple(text, pattern, refs)
    if isinstance(pattern, Element):
        place = Place(pattern.form) if pattern.form is not None else refs[pattern.array]
        return place.at(f"{pattern.first} + {k}" if pattern.first else k) if isinstance(place, Place) else place
    op, *parts = pattern
    arguments = dict(zip("abc", (element(text, part, refs, k) for part in parts), strict=False))
    return f"({text.unit.rows[op].format(**arguments)})"


def each(text: Text, size: int, line: str) -> None:
    """A line for each k."""
    text.line("#pragma unroll 4")
    text.line(f"for (int k = 0; k < {size}; k++) {line}")


def copy(text: Text, target: Place, source: Place, size: int, node: Node | None = None) -> None:
    """`node`: what the source is; a table of one value need not be read, and what was never set not be copied."""
    value = source.at("k")
    if node is not None and node.op == "table":
        if all(x is UNSET for x in node.data):
            return
        if len(set(map(repr, node.data))) == 1:
            value = text.unit.literal(node.data[0], node.type[0])
    each(text, size, f"{target.at('k')} = {value};")
