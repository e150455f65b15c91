"""The reference back end: the graph evaluated by NumPy, node by node, over a batch of instances."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from poinsot._memo import memo
from poinsot.fuse.graph.memory import by_argument, is_whole
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.graph.ops import OPS

Functions: TypeAlias = Mapping[str, Callable[..., Any]]  # by operation, for those that are not to be NumPy's


def run_into(
    results: Sequence[np.ndarray], graph: Graph, arguments: Sequence[np.ndarray], size: int, functions: Functions
) -> None:
    """The results (n, elements) of a kernel's graph for arguments (n, elements), `size` instances at a time."""
    ends = by_argument(graph.outputs, [result.shape[1] for result in results])
    columns = [c for result, end in zip(results, ends, strict=True) for c in _columns(result, end)]
    params = by_argument(graph.params, [argument.shape[1] for argument in arguments])
    for first in range(0, len(results[0]) if results else 0, size):
        block = slice(first, first + size)
        packed = [(np.array(argument[block], order="F"), own) for argument, own in zip(arguments, params, strict=True)]
        with np.errstate(all="ignore"):
            values = run(graph, [column for array, own in packed for column in _columns(array, own)], functions)
        for column, value in zip(columns, values, strict=True):
            column[..., block] = value


def moved(graph: Graph, arguments: Sequence[np.ndarray], sizes: Sequence[int]) -> list[np.ndarray] | None:
    """The results (n, size) of a graph whose outputs are all arguments or constants; None if they are not."""
    known = _moves(graph)
    if known is None or not arguments or sum(argument.shape[1] for argument in arguments) != len(graph.params):
        return None
    places, constants = known
    rest = np.broadcast_to(constants.astype(arguments[0].dtype), (len(arguments[0]), len(constants)))
    return np.split(np.concatenate([*arguments, rest], axis=1)[:, places], np.cumsum(sizes)[:-1], axis=1)


@memo
def _moves(graph: Graph) -> tuple[np.ndarray, np.ndarray] | None:
    """Where each output is among the arguments and, behind them, the constants; None if it is neither."""
    place = {param: k for k, param in enumerate(graph.params)}
    if any(node not in place and node.op != "const" for node in graph.outputs):
        return None
    constants = [node for node in dict.fromkeys(graph.outputs) if node.op == "const"]
    place |= {node: len(graph.params) + k for k, node in enumerate(constants)}
    return np.array([place[node] for node in graph.outputs], int), np.array([float(c.data) for c in constants])


def _columns(array: np.ndarray, nodes: Sequence[Node]) -> Sequence[np.ndarray]:
    """The part of an array (batch, elements) that the nodes of an argument stand for: a column each, or all of it."""
    return [array.T] if is_whole(nodes) else array.T  # type: ignore[return-value]


def run(
    graph: Graph,
    inputs: Sequence[np.ndarray],
    functions: Functions = MappingProxyType({}),
    dtype: np.dtype[Any] | None = None,
) -> list[np.ndarray]:
    """The outputs for these parameters: arrays over the batch; arrays in memory have shape (elements, batch or 1).

    dtype: of all floats; by default that of the first of them.
    """
    dtype = dtype or next((x.dtype for x in inputs if x.dtype.kind == "f"), np.dtype(float))
    values: dict[Node, Any] = {**_constants(graph, dtype), **dict(zip(graph.params, inputs, strict=True))}
    for node, numpy, over in _steps(graph, tuple(graph.outputs)):
        args = [values[arg] for arg in node.args]
        if numpy is None:
            values[node] = _STRUCTURE[node.op](node, args, functions, dtype)
        else:
            result = functions.get(node.op, numpy)(*args)
            values[node] = result.astype(dtype) if node.op == "to_float" else result
        for arg in over:
            del values[arg]
    return [values[node] for node in graph.outputs]


@memo
def _constants(graph: Graph, dtype: np.dtype[Any]) -> dict[Node, Any]:
    constants = [node for node in graph.nodes if node.op == "const"]
    return {node: dtype.type(node.data) if node.type == "f" else node.data for node in constants}


@memo
def _steps(graph: Graph, outputs: tuple[Node, ...]) -> list[tuple[Node, Callable[..., Any] | None, list[Node]]]:
    """The operations in order, each with NumPy's function, if it has one, and with the values that nothing after it
    uses: numbers in use stay in the caches."""
    live, used, steps = graph.live(outputs), {*outputs}, []
    for node in reversed(live):
        over = [arg for arg in dict.fromkeys(node.args) if arg not in used]
        used.update(over)
        if node.op not in ("param", "const"):
            steps.append((node, OPS[node.op].evaluate if node.op in OPS else None, over))
    return steps[::-1]


def _loop(node: Node, args: list[Any], functions: Functions, dtype: np.dtype[Any]) -> list[Any]:
    body: Graph = node.data
    count, carry, captured = args[0], args[1 : 1 + len(body.outputs)], args[1 + len(body.outputs) :]
    for i in range(int(np.max(count, initial=0))):
        runs = i < np.asarray(count)
        if body.goes_on is not None:
            runs = runs & carry[body.goes_on]
            if not np.any(runs):
                break
        ends = run(body, _as_arrays([np.int64(i), *carry, *captured]), functions, dtype)
        carry = [np.where(runs, new, old) for new, old in zip(ends, carry, strict=True)]
    return carry


def _as_arrays(values: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(value) for value in values]


def _slow_path(node: Node, args: list[Any], functions: Functions, dtype: np.dtype[Any]) -> list[Any]:
    mask, fast, inputs = args[0], args[1 : 1 + len(node.data.outputs)], args[1 + len(node.data.outputs) :]
    slow = run(node.data, _as_arrays(inputs), functions, dtype)
    return [np.where(mask, new, old) for new, old in zip(slow, fast, strict=True)]


def _array(node: Node, args: list[Any], functions: Functions, dtype: np.dtype[Any]) -> Any:
    return np.stack(np.broadcast_arrays(*map(np.atleast_1d, args)))


def _table(node: Node, args: list[Any], functions: Functions, dtype: np.dtype[Any]) -> Any:
    return np.asarray(node.data, dtype if node.element == "f" else None)[:, None]


def _get(node: Node, args: list[Any], functions: Functions, dtype: np.dtype[Any]) -> Any:
    array, index = args
    return array[index, np.arange(array.shape[1]) if array.shape[1] != 1 else 0]


def _set(node: Node, args: list[Any], functions: Functions, dtype: np.dtype[Any]) -> Any:
    array, index, value = args
    (lanes,) = np.broadcast_shapes(np.shape(index), np.shape(value), array.shape[1:])
    new = np.array(np.broadcast_to(array, (node.size, lanes)))
    new[index, np.arange(lanes)] = value
    return new


_STRUCTURE = {
    "loop": _loop,
    "call": lambda node, args, functions, dtype: run(node.data, _as_arrays(args), functions, dtype),
    "proj": lambda node, args, functions, dtype: args[0][node.data],
    "slow_path": _slow_path,
    "array": _array,
    "table": _table,
    "get": _get,
    "set": _set,
}
