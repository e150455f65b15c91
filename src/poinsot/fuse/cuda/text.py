"""CUDA C++ as it grows: a `Unit` of functions, the `Text` of each function's body, and the `Place` of each array.

Arrays that are indexed at run time are in shared memory, interleaved between threads, while there is room, and in local
memory otherwise. The functions at the end serve both `translation` and `loops`.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from poinsot.fuse.cuda import quotients
from poinsot.fuse.cuda.constants import TYPES, Tables, literal
from poinsot.fuse.cuda.opcodes import EXPRESSIONS, FAST, PRELUDE, RECIPROCAL, TURN, UNSIGNED
from poinsot.fuse.graph.memory import is_unset
from poinsot.fuse.graph.nodes import ArrayType, Graph, Node, Type
from poinsot.fuse.graph.patterns import ArrayElement, Pattern

# The name of a number; the `Place` of an array, or the names of its elements, if it is not in memory yet.
Refs = dict[Node, Any]

BLOCKS = {4: 128, 8: 64}  # threads of a block, by the bytes of a float
SHARED = 113 * 1024  # bytes of shared memory for a block, so that two of them fit
PREFETCH = {4: 4, 8: 1}  # iterations by which a loop prefetches from local memory; from arguments of the kernel, one


@dataclass(frozen=True)
class Place:
    """Where an array is: how the index becomes an element's name, and which elements of shared memory it takes."""

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
        """Whether it is read without delay: from shared or constant memory."""
        return self.form.startswith(("mine", "table"))


@dataclass
class Text:
    """The body of one function, grown line by line, at a depth of braces.

    `free`: which elements of shared memory are free, as (first, end); `made`: the arrays that were put there and have
    no owner yet; `skipped`: arrays, and writes to arrays, that a loop takes care of.
    """

    unit: "Unit"
    free: list[tuple[int, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    made: list[Place] = field(default_factory=list)
    skipped: set[Node] = field(default_factory=set)

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        """A new name."""
        self.unit.count += 1
        return f"v{self.unit.count}"

    def value(self, type_: Type, text: str) -> str:
        """A line that gives an expression a name."""
        name = self.name()
        self.line(f"const {TYPES[type_]} {name} = {text};")
        return name

    def array(self, type_: ArrayType) -> Place:
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
        """The array is dead."""
        if place.shared:
            merged: list[tuple[int, int]] = []
            for first, end in sorted([*self.free, place.shared]):
                if merged and merged[-1][1] == first:
                    first = merged.pop()[0]
                merged.append((first, end))
            self.free = merged


@dataclass
class Unit:
    """One translation unit: its functions, and what they share.

    `room`: elements of shared memory that a thread may use; `shared`: those that it does. `streams`: its arrays are so
    large that they are in local memory and go through the caches; then it is best to read and write little, in many
    threads. `calls`: in how many places each function is called. `inputs`: for each number that is an argument's
    element, the argument's form, the element and their number.
    """

    float64: bool
    fast: bool
    room: int
    streams: bool = False
    functions: list[str] = field(default_factory=list)
    callees: dict[Graph, str] = field(default_factory=dict)
    calls: Counter[Graph] = field(default_factory=Counter)
    inputs: dict[Node, tuple[str, int, int]] = field(default_factory=dict)
    count: int = 0  # names
    shared: int = 0
    strict: bool = False  # whether each operation is rounded on its own

    def __post_init__(self) -> None:
        self.tables = Tables(self.float64)

    @property
    def itemsize(self) -> int:
        return self.tables.itemsize

    @property
    def block(self) -> int:
        """The threads of a block."""
        return BLOCKS[self.itemsize]

    @property
    def prefetch(self) -> int:
        """Iterations by which a loop prefetches."""
        return PREFETCH[self.itemsize]

    @property
    def operations(self) -> dict[str, str]:
        """How each operation is written."""
        return {**EXPRESSIONS, **FAST} if self.fast and not self.float64 else EXPRESSIONS

    def literal(self, value: float, type_: Type) -> str:
        return literal(value, type_, self.float64)

    def text(self) -> str:
        """All of the unit."""
        head = f"typedef {'double' if self.float64 else 'float'} T;"
        own = TURN[self.float64] + RECIPROCAL[self.float64] + quotients.functions(self.float64, self.strict)
        if any(TYPES["u"] in function for function in self.functions):
            own += UNSIGNED
        return "\n".join([head, PRELUDE, own, *self.read_tables().declarations(), *self.functions])

    def read_tables(self) -> Tables:
        """The tables that the functions read."""
        code = "\n".join(self.functions)
        return Tables(self.float64, {key: name for key, name in self.tables.names.items() if f"{name}(" in code})


def simple(text: Text, node: Node, refs: Refs) -> str:
    """An operation on known values, in a line of its own; a constant as it is."""
    unit = text.unit
    if node.op == "const":
        return f"({unit.literal(node.data, node.type)})" if node.data < 0 else unit.literal(node.data, node.type)
    if node.op == "div" and node.args[0].op == "const" and node.args[0].data == 1:
        return text.value("f", f"reciprocal({refs[node.args[1]]})")
    if node.op == "div" and unit.float64 and not unit.strict and quotients.has_reciprocal(node.args[1]):
        known = unit.literal(1 / node.args[1].data, "f")
        return text.value("f", f"quotient({refs[node.args[0]]}, {refs[node.args[1]]}, {known})")
    arguments = dict(zip("abc", (refs[arg] for arg in node.args), strict=False))
    return text.value(node.type, unit.operations[node.op].format(**arguments))


def element(text: Text, pattern: Pattern, refs: Refs, k: str = "k") -> str:
    """Element k of a pattern, as an expression. An array may be known only by the name of that one element."""
    if isinstance(pattern, Node):
        return refs[pattern] if pattern in refs else simple(text, pattern, refs)
    if isinstance(pattern, ArrayElement):
        place = refs[pattern.array] if pattern.array is not None else Place(pattern.form or "")
        return place.at(f"{pattern.first} + {k}" if pattern.first else k) if isinstance(place, Place) else place
    arguments = dict(zip("abc", (element(text, part, refs, k) for part in pattern.parts), strict=False))
    return f"({text.unit.operations[pattern.op].format(**arguments)})"


def each(text: Text, size: int, line: str) -> None:
    """A line for each k."""
    text.line("#pragma unroll 4")
    text.line(f"for (int k = 0; k < {size}; k++) {line}")


def copy(text: Text, target: Place, source: Place, size: int, node: Node | None = None) -> None:
    """Copy element by element. `node`: the source; a table of equal values is copied as that value, and one that was
    never set is not copied."""
    value = source.at("k")
    if node is not None and node.op == "table":
        if is_unset(node):
            return
        if len(set(map(repr, node.data))) == 1:
            value = text.unit.literal(node.data[0], node.element)
    each(text, size, f"{target.at('k')} = {value};")
