"""The intermediate representation: a scalar graph in static single assignment form, with hash-consing.

A graph is a list of nodes in the order in which they were built, so arguments always precede their users. The body of a
loop and a called function are graphs of their own; a value that they use from an enclosing graph is captured: it
becomes one of their parameters (`Graph.capture`).
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NoReturn, TypeAlias, cast, final

import numpy as np

from poinsot.fuse.graph.errors import TraceError

Scalar: TypeAlias = Literal["f", "i", "u", "b"]  # float, integer, unsigned integer of 32 bits, boolean
ArrayType: TypeAlias = tuple[Scalar, int]  # an array in memory: the type and the number of its elements
Type: TypeAlias = Scalar | ArrayType | Literal["t"]  # "t": several results, each of them a `proj` of the node

NUMBERS: tuple[Scalar, ...] = ("f", "i", "u")

# What holds a number of each type while tracing: Python's numbers, but for "u", which Python does not have.
PYTHON: dict[Type, Callable[[float], Any]] = {"f": float, "i": int, "u": np.uint32, "b": bool}


@final
class Node:
    """One operation: `op` on `args`, with static `data` (a constant, a body, the number of a parameter or result)."""

    __slots__ = ("args", "data", "graph", "index", "op", "type")

    def __init__(self, graph: "Graph", op: str, args: tuple["Node", ...], type: Type, data: Any, index: int) -> None:
        self.graph, self.op, self.args, self.type, self.data, self.index = graph, op, args, type, data, index

    def __repr__(self) -> str:
        data = "" if self.data is None else f" {self.data!r}"
        return f"%{self.index} = {self.op}{data} {' '.join(f'%{a.index}' for a in self.args)} : {self.type}"

    @property
    def array_type(self) -> ArrayType:
        """The type of an array in memory."""
        return cast(ArrayType, self.type)

    @property
    def element(self) -> Scalar:
        """The type of the elements of an array in memory."""
        return self.array_type[0]

    @property
    def size(self) -> int:
        """The number of elements of an array in memory."""
        return self.array_type[1]

    def _has_no_value(self) -> NoReturn:
        raise TraceError(
            "a traced value is used where plain numbers are needed", "see the list of NumPy functions in the docs"
        )

    __bool__ = __float__ = __int__ = __index__ = _has_no_value

    def loop_args(self) -> tuple["Node", tuple["Node", ...], tuple["Node", ...]]:
        """The trip count, the initial values of the carry, and the captured values of this loop."""
        carries = len(self.data.outputs)
        return self.args[0], self.args[1 : 1 + carries], self.args[1 + carries :]

    def results(self) -> list["Node"]:
        """All results of this loop, call or slow path, as nodes."""
        return [self.graph.node("proj", (self,), out.type, k) for k, out in enumerate(self.data.outputs)]

    def used_results(self) -> list["Node"]:
        """The results of this loop, call or slow path that some node uses; `data` is the number of the result."""
        return [user for user in self.graph.nodes[self.index + 1 :] if user.op == "proj" and user.args[0] is self]


# A node, or a number that is known while tracing: a Python number (float, int, bool), or a `np.uint32`.
Value: TypeAlias = Node | float


class Graph:
    """Parameters, nodes in order, outputs. Built through `node`, which returns one node for equal operations."""

    def __init__(self, parent: "Graph | None" = None, name: str = "") -> None:
        self.parent, self.name = parent, name
        self.strict: bool = parent is not None and parent.strict  # as IEEE 754 has it: see `graph.build`
        self.plain = False  # NumPy gives the same bits, operation by operation: no products are fused into sums
        self.nodes: list[Node] = []
        self.params: list[Node] = []
        self._outputs: list[Node] = []
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.captures: dict[Node, Node] = {}  # a node of the parent -> the parameter that stands for it
        self.counters: dict[Node, float] = {}  # parameters that count 0, 1, ... below a bound
        self.goes_on: int | None = None  # of a loop's body: the number of the carried truth value while it goes on
        self.indexed: set[Node] = set()  # nodes that were gathered into an array in memory
        self.uses: dict[Node, int] = {}  # how often nodes are used by others than observers, if there are any
        self._memo: dict[Any, Node] = {}

    def _append(self, op: str, args: tuple[Node, ...], type: Type, data: Any = None) -> Node:
        node = Node(self, op, args, type, data, len(self.nodes))
        self.nodes.append(node)
        return node

    def param(self, type: Type) -> Node:
        node = self._append("param", (), type, len(self.params))
        self.params.append(node)
        return node

    def constant(self, value: float, type: Type) -> Node:
        value = PYTHON[type](value)
        key = (type, value if value else repr(value)) if value == value else (type, "nan")  # 0.0 is not -0.0
        node = self._memo.get(key)
        if node is None:
            node = self._memo[key] = self._append("const", (), type, value)
        return node

    def node(self, op: str, args: tuple[Node, ...], type: Type, data: Any = None) -> Node:
        for arg in args:
            if arg.graph is not self:
                args = tuple(self.capture(arg) for arg in args)
                break
        key = (op, args, type, data)
        node = self._memo.get(key)
        if node is None:
            node = self._memo[key] = self._append(op, args, type, data)
        return node

    def find(self, op: str, args: tuple[Node, ...], type: Type) -> Node | None:
        """The node of this operation, if there is one already."""
        return self._memo.get((op, args, type, None))

    def capture(self, outer: Node) -> Node:
        """The node of this graph that stands for `outer`, a node of this graph or of an enclosing one."""
        if outer.graph is self:
            return outer
        if outer.op == "const":
            return self.constant(outer.data, outer.type)
        if outer.op == "table":
            return self.node("table", (), outer.type, outer.data)
        if self.parent is None:
            raise RuntimeError("a traced value escaped from the function that it was traced in")
        outer = self.parent.capture(outer)
        if outer not in self.captures:
            self.captures[outer] = self.param(outer.type)
        return self.captures[outer]

    def enclosing(self) -> "Iterator[Graph]":
        """The graphs around this one, the innermost first."""
        graph = self.parent
        while graph is not None:
            yield graph
            graph = graph.parent

    def origin(self, node: Node) -> Node:
        """The node, in this graph or around it, that a node of this graph stands for."""
        outer = next((outer for outer, param in self.captures.items() if param is node), None)
        return node if outer is None or self.parent is None else self.parent.origin(outer)

    @property
    def carried(self) -> list[Node]:
        """The parameters of a loop's body that stand for its carry: all but the counter and the captured ones."""
        captured = set(self.captures.values())
        return [param for param in self.params[1:] if param not in captured]

    @property
    def condition(self) -> Node | None:
        """The parameter of a loop's body that tells, at the start of an iteration, whether the loop goes on."""
        return None if self.goes_on is None else self.carried[self.goes_on]

    @property
    def outputs(self) -> list[Node]:
        """The results of the graph. An outer value that is returned as it is, is captured like any other."""
        return self._outputs

    @outputs.setter
    def outputs(self, nodes: list[Node]) -> None:
        self._outputs = [self.capture(node) for node in nodes]

    def live(self, outputs: Sequence[Node] | None = None) -> list[Node]:
        """The nodes that the outputs depend on, in order."""
        wanted = set(self.outputs if outputs is None else outputs)
        for node in reversed(self.nodes):
            if node in wanted:
                wanted.update(node.args)
        return [node for node in self.nodes if node in wanted]

    def part(self, outputs: Sequence[Node], params: Sequence[Node]) -> "Graph":
        """A graph of its own with these outputs and parameters, which are all that the outputs depend on."""
        graph, made = Graph(name=self.name), dict[Node, Node]()
        graph.strict = self.strict
        for node in sorted({*self.live(outputs), *params}, key=lambda node: node.index):
            key = node.op, tuple([made[arg] for arg in node.args]), node.type, node.data
            made[node] = graph._memo[key] = graph._append(*key)
        graph.params = [made[param] for param in params]
        graph._outputs = [made[node] for node in outputs]
        return graph

    def last_uses(self, live: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, float]:
        """For each array in memory, the index of the node that uses it last, which may change it in place."""
        last: dict[Node, float] = {}
        for node in live:
            last.update((arg, node.index) for arg in node.args if isinstance(arg.type, tuple))
        last.update((node, float("inf")) for node in (*outputs, *self.captures.values()))
        return last

    def subgraphs(self) -> Iterator["Graph"]:
        """The bodies and callees of the live nodes, each once, innermost first."""
        found: dict[Graph, None] = {}
        self._add_subgraphs(found)
        return iter(found)

    def _add_subgraphs(self, found: dict["Graph", None]) -> None:
        if not any(isinstance(node.data, Graph) for node in self.nodes):
            return
        for node in self.live():
            if isinstance(node.data, Graph) and node.data not in found:
                node.data._add_subgraphs(found)
                found[node.data] = None

    def count(self) -> Counter[str]:
        """The number of operations by name, each body and callee counted once; leaves and projections are free."""
        free = {"const", "param", "proj", "table"}
        total = Counter(node.op for node in self.live() if node.op not in free)
        for graph in self.subgraphs():
            total.update(node.op for node in graph.live() if node.op not in free)
        return total

    # Pickled as flat records: the nodes themselves are linked too deeply for recursion.
    def __getstate__(self) -> dict[str, Any]:
        live = self.live()
        known = set(live)
        live += [param for param in self.params if param not in known]
        live.sort(key=lambda node: node.index)
        place = {node: k for k, node in enumerate(live)}
        return {
            "name": self.name,
            "strict": self.strict,
            "plain": self.plain,
            "nodes": [(n.op, [place[arg] for arg in n.args], n.type, n.data) for n in live],
            "params": [place[n] for n in self.params],
            "outputs": [place[n] for n in self.outputs],
            "captures": [place[n] for n in self.captures.values()],
            "counters": {place[n]: bound for n, bound in self.counters.items()},
            "goes_on": self.goes_on,
            "uses": {place[n]: count for n, count in self.uses.items() if n in place},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(None, state["name"])  # type: ignore[misc]
        self.strict, self.plain = state["strict"], state["plain"]
        for op, args, type_, data in state["nodes"]:
            arguments = tuple(self.nodes[k] for k in args)
            self._memo[op, arguments, type_, data] = self._append(op, arguments, type_, data)
        self.params = [self.nodes[k] for k in state["params"]]
        self.outputs = [self.nodes[k] for k in state["outputs"]]
        self.captures = {self.nodes[k]: self.nodes[k] for k in state["captures"]}
        self.counters = {self.nodes[k]: bound for k, bound in state["counters"].items()}
        self.uses = {self.nodes[k]: count for k, count in state["uses"].items()}
        self.goes_on = state["goes_on"]


_local = threading.local()


def current() -> Graph:
    """The graph that this thread is tracing into."""
    graph = innermost()
    if graph is None:
        raise RuntimeError("a traced value escaped from the function that it was traced in")
    return graph


def innermost() -> Graph | None:
    """The graph that this thread is tracing into, if it is tracing."""
    stack: list[Graph] | None = getattr(_local, "stack", None)
    return stack[-1] if stack else None


def is_strict() -> bool:
    """Whether this thread is tracing into a strict graph."""
    graph = innermost()
    return graph is not None and graph.strict


def tracing() -> bool:
    return bool(getattr(_local, "stack", None))


@contextmanager
def tracing_into(graph: Graph) -> Iterator[Graph]:
    stack = _local.__dict__.setdefault("stack", [])
    stack.append(graph)
    try:
        yield graph
    finally:
        stack.pop()


_TYPES: dict[type, Type] = {float: "f", int: "i", np.uint32: "u", bool: "b"}


def type_of(value: Value) -> Type:
    if type(value) is Node:
        return value.type
    known = _TYPES.get(type(value))
    return known if known is not None else "i" if isinstance(value, int) else "f"


def common_type(values: Iterable[Value]) -> Scalar:
    """The type that can hold all of these scalars."""
    return common({type_of(value) for value in values})


def common(types: Collection[Type]) -> Scalar:
    """The type that can hold numbers of all of these types."""
    if "f" in types:
        return "f"
    if "u" in types and "i" in types:
        raise TraceError(
            "uint32 meets an integer: NumPy makes both int64, which kernels in float32 do not have",
            "convert one of them, with x.astype(np.uint32), np.uint32(3) or x.astype(int); Python's own numbers, as "
            "in x + 3, adapt by themselves where they are 0 ... 2^32 - 1",
        )
    return "u" if "u" in types else "i" if "i" in types else "b"
