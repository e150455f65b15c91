"""Arrays in memory: what an array becomes when it is read or written at an index that is only known at run time.

`array` gathers scalars into memory, `table` is a constant one, `get` reads, `set` gives the array with one element
changed (in place where the old one is not needed any more: that is the back end's business).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot.fuse.graph.build import build, lift
from poinsot.fuse.graph.nodes import Node, Value, current, tracing_into, type_of

UNSET = float("nan")  # this one object fills `np.empty`: what was never set


def array_of(values: Sequence[Value]) -> Node:
    """The values gathered into one array in memory, made in the innermost graph that any of them belongs to."""
    types = {type_of(v) for v in values}
    kind = "f" if "f" in types else "i" if "i" in types else "b"
    if not any(type(v) is Node for v in values):
        cast = {"f": float, "i": int, "b": bool}[kind]
        return current().node("table", (), (kind, len(values)), tuple(cast(v) for v in values))
    if (whole := whole_of(values)) is not None:
        return whole
    nodes = [v for v in values if type(v) is Node]
    for node in nodes:
        node.graph.indexed.add(node)
    with tracing_into(max((node.graph for node in nodes), key=lambda graph: graph.depth)) as home:
        return home.node("array", tuple(lift(v, kind) for v in values), (kind, len(values)))


def whole_of(values: Sequence[Value]) -> Node | None:
    """The array in memory of which these are all the elements, in order."""
    first = values[0] if values else None
    if type(first) is not Node or first.op != "get" or first.args[0].type[1] != len(values):
        return None
    whole = first.args[0]
    return whole if all(_is_element(value, whole, k) for k, value in enumerate(values)) else None


def _is_element(value: Value, array: Node, index: int) -> bool:
    if type(value) is not Node or value.op != "get" or value.args[0] is not array:
        return False
    return value.args[1].op == "const" and value.args[1].data == index


def get(array: Node, index: Value) -> Value:
    kind, size = array.type
    if type(index) is not Node:
        index = range(size)[index]
        while array.op == "set" and array.args[1].op == "const":
            if array.args[1].data == index:
                return array.args[2]
            array = array.args[0]
        if array.op == "table":
            return array.data[index]
        if array.op == "array":
            return array.args[index]
    return current().node("get", (array, lift(index, "i")), kind)


def set_(array: Node, index: Value, value: Value) -> Node:
    kind, size = array.type
    if type(index) is not Node:
        index = range(size)[index]
    return current().node("set", (array, lift(index, "i"), lift(value, kind)), array.type)


def in_range(index: Value, size: int) -> Value:
    """A run-time index made safe: counted from the end if negative, as in NumPy, and never outside of the array."""
    if type(index) is not Node:
        return range(size)[index]
    low, high = bounds(index)
    if low < 0:
        index = build("where", build("less", index, 0), build("add", index, size), index)
    if low < -size:
        index = build("maximum", index, 0)
    if high >= size:
        index = build("minimum", index, size - 1)
    return index


def bounds(value: Value) -> tuple[float, float]:
    """The least and the greatest value that an integer can have, as far as its expression tells."""
    if type(value) is not Node:
        return value, value
    if value.op == "const":
        return value.data, value.data
    if value in value.graph.counters:
        return 0, value.graph.counters[value] - 1
    if value.op in ("add", "sub", "mul", "minimum", "maximum"):
        table: Any = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "minimum": min, "maximum": max}
        a, b = bounds(value.args[0]), bounds(value.args[1])
        with np.errstate(invalid="ignore"):
            corners = [float(table[value.op](x, y)) for x in a for y in b]
        if not any(np.isnan(corners)):
            return min(corners), max(corners)
    if value.op == "get" and value.args[0].op == "table":
        return min(value.args[0].data), max(value.args[0].data)
    return -np.inf, np.inf
