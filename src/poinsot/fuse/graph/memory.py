"""Arrays in memory, for reads and writes at an index that is only known at run time.

`array` gathers scalars into memory, `table` is a constant array, `get` reads, `set` gives the array with one element
changed (in place where the old array is dead: that is for the back end to decide).
"""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from poinsot.fuse.graph.build import build, lift
from poinsot.fuse.graph.nodes import PYTHON, Node, Value, common_type, current, tracing_into

UNSET = float("nan")  # this one object fills `np.empty`: an element that was never set


def is_unset(array: Node) -> bool:
    """Whether an array is that of `np.empty`, of which no element was set."""
    return array.op == "table" and not isinstance(array.data, Numbers) and all(x is UNSET for x in array.data)


def array_of(values: Sequence[Value]) -> Node:
    """The values gathered into one array in memory, made in the innermost graph that any of them belongs to."""
    element = common_type(values)
    nodes = [v for v in values if type(v) is Node]
    if not nodes:
        return table(tuple(PYTHON[element](v) for v in values if type(v) is not Node))
    if (whole := whole_of(values)) is not None:
        return whole
    for node in nodes:
        node.graph.indexed.add(node)
    with tracing_into(max((node.graph for node in nodes), key=lambda graph: graph.depth)) as home:
        return home.node("array", tuple(lift(v, element) for v in values), (element, len(values)))


class Numbers(Sequence[float]):
    """Constant floats, kept as one array: for tables so large that Python numbers would take long."""

    def __init__(self, values: np.ndarray) -> None:
        self.array = np.ascontiguousarray(values, dtype=np.float64).ravel()
        self._hash = hash(self.array.tobytes())

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        return self.array[index].item()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and self.array.tobytes() == other.array.tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)


def table(numbers: tuple[float, ...] | Numbers) -> Node:
    """A constant array of numbers of one type."""
    if isinstance(numbers, Numbers):
        return current().node("table", (), ("f", len(numbers)), numbers)
    return current().node("table", (), (common_type(numbers), len(numbers)), numbers)


def is_whole(nodes: Sequence[Node]) -> bool:
    """Whether an argument or result of a kernel is one array in memory, not a node for each of its elements."""
    return len(nodes) == 1 and isinstance(nodes[0].type, tuple)


def by_argument(nodes: Sequence[Node], sizes: Iterable[int]) -> list[list[Node]]:
    """The parameters or outputs of a kernel's graph, argument by argument: one array in memory, or one node for each of
    so many elements."""
    groups, rest = [], list(reversed(nodes))
    for size in sizes:
        whole = bool(rest) and isinstance(rest[-1].type, tuple) and size > 0
        groups.append([rest.pop() for _ in range(1 if whole else size)])
    return groups


def whole_of(values: Sequence[Value]) -> Node | None:
    """The array in memory of which these are all the elements, in order."""
    row = row_of(values)
    return row[0] if row is not None and row[0].size == len(values) else None


def row_of(values: Sequence[Value]) -> tuple[Node, int] | None:
    """The array in memory of which these are elements in a row, and where they begin."""
    first = values[0] if values else None
    if type(first) is not Node or first.op != "get" or first.args[1].op != "const":
        return None
    array, start = first.args[0], first.args[1].data
    return (array, start) if all(_is_element(x, array, start + k) for k, x in enumerate(values)) else None


def _is_element(value: Value, array: Node, index: int) -> bool:
    if type(value) is not Node or value.op != "get" or value.args[0] is not array:
        return False
    return value.args[1].op == "const" and value.args[1].data == index


def _counted(index: float, size: int) -> int:
    """A known index, counted from the start."""
    return range(size)[cast(int, index)]


def get(array: Node, index: Value) -> Value:
    """The element at an index."""
    if type(index) is not Node:
        place = _counted(index, array.size)
        while array.op == "set" and array.args[1].op == "const":
            if array.args[1].data == place:
                return array.args[2]
            array = array.args[0]
        if array.op == "table":
            number: float = array.data[place]
            return number
        if array.op == "array":
            return array.args[place]
        index = place
    return current().node("get", (array, lift(index, "i")), array.element)


def set_(array: Node, index: Value, value: Value) -> Node:
    """The array with the element at an index changed."""
    if type(index) is not Node:
        index = _counted(index, array.size)
    return current().node("set", (array, lift(index, "i"), lift(value, array.element)), array.type)


def in_range(index: Value, size: int) -> Value:
    """A run-time index made safe: counted from the end if negative, as in NumPy, and never outside of the array."""
    if type(index) is not Node:
        return _counted(index, size)
    low, high = bounds(index)
    result: Value = index
    if low < 0:
        result = build("where", build("less", index, 0), build("add", index, size), index)
    if low < -size:
        result = build("maximum", result, 0)
    if high >= size:
        result = build("minimum", result, size - 1)
    return result


_INTERVAL: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "minimum": min,
    "maximum": max,
}


_DEEP = 40  # operations in a row that `bounds` looks through


def bounds(value: Value) -> tuple[float, float]:
    """The least and the greatest value that an integer can have, as far as its expression tells."""
    return _bounds(value, {}, 0)


def _bounds(value: Value, known: dict[Node, tuple[float, float]], depth: int) -> tuple[float, float]:
    if type(value) is not Node:
        return value, value
    if value.op == "param":
        value = value.graph.origin(value)
    if value.op == "const":
        return value.data, value.data
    if value in value.graph.counters:
        return 0, value.graph.counters[value] - 1
    if value not in known:
        known[value] = _interval(value, known, depth + 1) if depth < _DEEP else (-np.inf, np.inf)
    return known[value]


def _interval(node: Node, known: dict[Node, tuple[float, float]], depth: int) -> tuple[float, float]:
    """The bounds of an operation from those of its arguments."""
    if node.op in _INTERVAL:
        a, b = (_bounds(arg, known, depth) for arg in node.args)
        corners = [float(_INTERVAL[node.op](x, y)) for x in a for y in b]
        if not any(map(math.isnan, corners)):
            return min(corners), max(corners)
    if node.op == "where":
        lows, highs = zip(*(_bounds(arg, known, depth) for arg in node.args[1:]), strict=True)
        return min(lows), max(highs)
    if node.op == "get" and node.args[0].op == "table":
        return min(node.args[0].data), max(node.args[0].data)
    return -np.inf, np.inf
