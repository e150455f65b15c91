"""Python's arithmetic on nodes, which NumPy's own loops over object arrays (matmul, einsum, sum, ...) use."""

from collections.abc import Callable

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.nodes import Value


def _operator(op: str, swap: bool = False) -> Callable[[Value, Value], Value]:
    if swap:
        return lambda self, other: build(op, other, self)
    return lambda self, other: build(op, self, other)


# The package gives these methods to `Node`.
OPERATORS: dict[str, Callable[..., Value]] = {
    "__add__": _operator("add"),
    "__radd__": _operator("add", swap=True),
    "__sub__": _operator("sub"),
    "__rsub__": _operator("sub", swap=True),
    "__mul__": _operator("mul"),
    "__rmul__": _operator("mul", swap=True),
    "__truediv__": _operator("div"),
    "__rtruediv__": _operator("div", swap=True),
    "__neg__": lambda self: build("neg", self),
    "conjugate": lambda self: self,
}
