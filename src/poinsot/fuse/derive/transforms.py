"""Derivatives of kernels, which are kernels again, and of plain functions, for use inside kernels."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot.fuse import signature
from poinsot.fuse.derive.forward import Dual, push, replay
from poinsot.fuse.derive.reverse import pull
from poinsot.fuse.graph.build import lift
from poinsot.fuse.graph.nodes import Graph, Value, current, tracing, tracing_into
from poinsot.fuse.kernels import Kernel
from poinsot.fuse.plan.budget import budget_pushed_forward, tracing_for
from poinsot.fuse.trace import pytree
from poinsot.fuse.trace.function_graph import nested_arguments
from poinsot.fuse.trace.traced import Traced, as_objects, objects

Wrt = int | Sequence[int]
Sides = list[signature.Dims]  # the core dimensions of the arguments or results of a kernel


def jvp(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """f and its Jacobian-vector product: (x ..., dx ...) -> (y ..., dy ...).

    The tangents dx follow the arguments, one per argument in `wrt`.
    """
    places = _places(wrt)

    def derived(*args: Any) -> Any:
        args, along = args[: len(args) - len(places)], args[len(args) - len(places) :]
        with tracing_for(budget_pushed_forward()):
            inner = _TracedFunction(function, args)
        tangents = dict(zip(places, along, strict=True))
        duals = []
        for k, leaf in enumerate(inner.leaves):
            d = as_objects(tangents[k]).ravel() if k in tangents else [0.0] * leaf.size
            duals += [Dual(v, (t,)) for v, t in zip(leaf.data.ravel(), d, strict=True)]
        ends = push(inner.graph, [*duals, *(Dual(c, (0.0,)) for c in inner.graph.captures)], 1)
        return *inner.arrays([d.value for d in ends]), *inner.arrays([d.tangent[0] for d in ends])

    def text(ins: Sides, outs: Sides) -> tuple[Sides, Sides]:
        return ins + [ins[k] for k in places], outs + outs

    return _derive(function, derived, text, f"jvp of {_name(function)}")


def vjp(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """f and its vector-Jacobian product, the gradient of sum(w * y): (x ..., w ...) -> (y ..., d/dx ...).

    There is one cotangent w per output, and one derivative per argument in `wrt`.
    """
    places = _places(wrt)

    def derived(*args: Any) -> Any:
        count = _outputs_of(function, args)
        args, weights = args[: len(args) - count], args[len(args) - count :]
        inner = _TracedFunction(function, args)
        flat = [w for weight in weights for w in as_objects(weight).ravel()]
        values, shares = pull(inner.graph, inner.inputs(), flat)
        return *inner.arrays(values), *(inner.share(shares, k) for k in places)

    def text(ins: Sides, outs: Sides) -> tuple[Sides, Sides]:
        return ins + outs, outs + [ins[k] for k in places]

    return _derive(function, derived, text, f"vjp of {_name(function)}")


def jacobian(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """dy/dx, of shape y.shape + x.shape; one per output and argument in `wrt`, outputs first.

    It is computed in forward or reverse mode, whichever takes fewer operations.
    """
    places = _places(wrt)

    def derived(*args: Any) -> Any:
        inner = _TracedFunction(function, args)
        starts = np.cumsum([0] + [leaf.size for leaf in inner.leaves])
        columns = [int(starts[k]) + e for k in places for e in range(inner.leaves[k].size)]
        rows = sum(int(np.prod(shape)) for shape in inner.out_shapes)
        matrix = objects(_cheapest(inner, columns, _by_columns, _by_rows), (rows, len(columns)))
        results, row = [], 0
        for shape in inner.out_shapes:
            size, column = int(np.prod(shape)), 0
            for k in places:
                n = inner.leaves[k].size
                block = matrix[row : row + size, column : column + n]
                results.append(Traced(block.reshape(shape + inner.leaves[k].shape)))
                column += n
            row += size
        return tuple(results) if len(results) > 1 else results[0]

    def text(ins: Sides, outs: Sides) -> tuple[Sides, Sides]:
        return ins, [out + ins[k] for out in outs for k in places]

    return _derive(function, derived, text, f"jacobian of {_name(function)}")


def gradient(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """dy/dx of a function with one scalar result, of the shape of x; one per argument in `wrt`."""
    places = _places(wrt)

    def derived(*args: Any) -> Any:
        inner = _TracedFunction(function, args)
        if [int(np.prod(shape)) for shape in inner.out_shapes] != [1]:
            raise ValueError(
                f"the gradient of {_name(function)} is not defined: it returns shapes {inner.out_shapes}, not one "
                "scalar; use pt.jacobian"
            )
        _, shares = pull(inner.graph, inner.inputs(), [1.0])
        results = tuple(inner.share(shares, k) for k in places)
        return results if len(results) > 1 else results[0]

    def text(ins: Sides, outs: Sides) -> tuple[Sides, Sides]:
        return ins, [ins[k] for k in places]

    return _derive(function, derived, text, f"gradient of {_name(function)}")


def hessian(function: Callable[..., Any], wrt: int = 0) -> Callable[..., Any]:
    """The second derivatives of a function with one scalar result, of shape x.shape + x.shape."""
    return jacobian(gradient(function, wrt), wrt)


def _places(wrt: Wrt) -> tuple[int, ...]:
    return (wrt,) if isinstance(wrt, int) else tuple(wrt)


def _name(function: Any) -> str:
    return getattr(function, "__name__", "function")


class _TracedFunction:
    """The graph of a function on its own, with the values that it is called with and the shapes of its results."""

    def __init__(self, function: Any, args: Sequence[Any]) -> None:
        plain: Any = function.function if isinstance(function, Kernel) else function
        leaves, rebuild = pytree.flatten(tuple(args))
        self.leaves = [leaf if isinstance(leaf, Traced) else Traced(as_objects(leaf)) for leaf in leaves]
        self.graph = Graph(current(), name=_name(function))
        with tracing_into(self.graph):
            inside = [
                Traced(objects([self.graph.param("f") for _ in range(leaf.size)], leaf.shape)) for leaf in self.leaves
            ]
            flat_call = isinstance(function, Kernel)
            result = plain(*(nested_arguments(plain, inside) if flat_call else rebuild(inside)))
            ends, _ = pytree.flatten(result)
            arrays = [as_objects(end) for end in ends]
            self.graph.outputs = [lift(value, "f") for array in arrays for value in array.ravel()]
        self.out_shapes = [array.shape for array in arrays]

    def inputs(self) -> list[Value]:
        return [v for leaf in self.leaves for v in leaf.data.ravel()] + list(self.graph.captures)

    def arrays(self, values: Sequence[Value]) -> list[Traced]:
        results, start = [], 0
        for shape in self.out_shapes:
            size = int(np.prod(shape))
            results.append(Traced(objects(list(values[start : start + size]), shape)))
            start += size
        return results

    def share(self, shares: Sequence[Value], place: int) -> Traced:
        start = sum(leaf.size for leaf in self.leaves[:place])
        leaf = self.leaves[place]
        return Traced(objects(list(shares[start : start + leaf.size]), leaf.shape))


Columns = Sequence[int]  # numbers of the parameters to differentiate with respect to


def _by_columns(graph: Graph, inputs: Sequence[Value], columns: Columns) -> list[Value]:
    """The Jacobian, row by row, from one forward sweep with a direction per column."""
    direction = {k: c for c, k in enumerate(columns)}
    duals = [
        Dual(v, tuple(1.0 if direction.get(i) == c else 0.0 for c in range(len(columns)))) for i, v in enumerate(inputs)
    ]
    return [d for end in push(graph, duals, len(columns)) for d in end.tangent]


def _by_rows(graph: Graph, inputs: Sequence[Value], columns: Columns) -> list[Value]:
    """The Jacobian, row by row, from one reverse sweep per row."""
    flat: list[Value] = []
    for row in range(len(graph.outputs)):
        weights = [1.0 if k == row else 0.0 for k in range(len(graph.outputs))]
        _, shares = pull(graph, inputs, weights)
        flat += [shares[k] for k in columns]
    return flat


def _cheapest(inner: _TracedFunction, columns: Columns, *ways: Callable[..., list[Value]]) -> list[Value]:
    """Build the Jacobian in each way in a graph of its own, and use the one with the fewest operations."""
    trials: list[tuple[int, Graph]] = []
    for way in ways:
        trial = Graph(name="trial")
        with tracing_into(trial):
            params = [trial.param(p.type) for p in inner.graph.params]
            try:
                trial.outputs = [lift(value, "f") for value in way(inner.graph, params, columns)]
            except TypeError:  # a loop with a run-time trip count has no reverse mode
                if not trials:
                    raise
                continue
        trials.append((sum(trial.count().values()), trial))
    _, best = min(trials, key=lambda pair: pair[0])
    return replay(best, inner.inputs())


def _outputs_of(function: Any, args: Sequence[Any]) -> int:
    if isinstance(function, Kernel):
        return len(function._out)
    raise TypeError("pt.vjp needs a kernel: decorate the function with pt.kernel(signature)")


def _derive(
    function: Any, derived: Callable[..., Any], text: Callable[[Sides, Sides], tuple[Sides, Sides]], name: str
) -> Callable[..., Any]:
    """The derivative: a kernel if the function is one, otherwise a function for use inside kernels."""
    if isinstance(function, Kernel):
        ins, outs = text(list(function._in), list(function._out))
        sides = (",".join(map(signature.text, side)) for side in (ins, outs))
        derived.__name__, derived.__doc__ = name.replace(" ", "_"), f"The {name}."
        return Kernel(derived, "->".join(sides), function.backend, function.strict)

    def call(*args: Any) -> Any:
        if tracing():
            return derived(*args)
        raise TypeError(f"the {name} can be used inside a kernel; to call it on arrays, derive a pt.kernel")

    call.__name__ = name.replace(" ", "_")
    return call
