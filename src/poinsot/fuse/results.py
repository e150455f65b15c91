"""What comes out of a graph, on its way to buffers, and from there to its places."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from .graph import Graph, Node
from .llvm import Function, Ref
from .memory import whole_of
from .status import NaNs
from .transfer import Transfer, either

_FEW = 8  # results that stay in registers
_OFTEN = 500  # operations between looks at what can be written

Shape = tuple[int, ...]


class Results:
    """What comes out of the graph, on its way to the buffers: numbers that are known once for all blocks, many results
    as soon as they are there, few when all of them are."""

    def __init__(self, f: Function, graph: Graph, shapes: Sequence[Shape], buffers: Sequence[str]) -> None:
        self.f, self.nans, self.buffers = f, NaNs(f), list(buffers)
        self._values: list[list[str]] = [[""] * math.prod(shape) for shape in shapes]
        self._known = [np.zeros(math.prod(shape), bool) for shape in shapes]
        self._early: dict[int, tuple[Transfer, str, set[int]]] = {}  # outputs that may be written before all is known
        self._homes: dict[Node, list[tuple[int, int]]] = {}
        self._written = 0  # operations
        self._wholes: dict[int, Node] = {}  # outputs that lie in memory as they are
        rest = iter(graph.outputs)
        for k, values in enumerate(self._values):
            nodes = [next(rest) for _ in values]
            whole = None if self._few(k) else whole_of(nodes)
            if whole is not None:
                self._wholes[k] = whole
                continue
            for i, node in enumerate(nodes):
                self._homes.setdefault(node, []).append((k, i))
        self.nodes = [*self._homes, *self._wholes.values()]
        for node in [node for node in self._homes if node.op == "const" and node.data == node.data]:
            ref = f.literal(node)
            for k, i in self._homes.pop(node):
                self._known[k][i] = True
                self._values[k][i] = f.vector(ref)
                f.store(buffers[k], i, ref)

    def begin(self, transfers: Sequence[Transfer]) -> None:
        """A block begins."""
        for k, transfer in enumerate(transfers):
            may_go = transfer.pairs > 8 and transfer.past_caches != "false" and k not in self._wholes
            if self.f.module.is_long and may_go:
                self._early[k] = transfer, transfer.goes_past_caches(), set()

    def _write_early(self) -> None:
        """Lines of which all elements are known go past the caches: memory takes them while the rest is computed."""
        width = self.f.target.width
        for k, (transfer, goes, gone) in self._early.items():
            parts = [self._known[k][2 * width * q : 2 * width * (q + 1) + width] for q in range(transfer.pairs)]
            chosen = [q for q, part in enumerate(parts) if q not in gone and part.all()]
            if len(chosen) > 1:
                self.f.registers.clear()
                either(self.f, goes, partial(transfer.write_pairs, chosen))
                gone.update(chosen)

    def put(self, node: Node, refs: dict[Node, Ref]) -> None:
        """The node has been written: if it is a result, take it."""
        self._written += 1
        if self._written % _OFTEN == 0:
            self._write_early()
        if node not in self._homes:
            return
        ref = self.f.value(node, refs)
        value = self.f.vector(ref)
        self.nans.look(value)
        for k, i in self._homes[node]:
            self._values[k][i] = value
            self._known[k][i] = True
            if not self._few(k):
                self.f.store(self.buffers[k], i, ref)

    def end(self, refs: dict[Node, Ref]) -> None:
        """The graph has been written."""
        for k, node in self._wholes.items():
            self.nans.look_along(refs[node].text, len(self._values[k]))
            self.buffers[k] = refs[node].text

    def _few(self, k: int) -> bool:
        return len(self._values[k]) <= _FEW

    def deliver(self, k: int, transfer: Transfer) -> None:
        """Write output number k."""

        def through_buffer() -> None:
            for i, value in enumerate(self._values[k]):
                self.f.store(self.buffers[k], i, Ref(value, "f", False))
            transfer.write()

        gone = self._early[k][2] if k in self._early else ()
        transfer = replace(transfer, buffer=self.buffers[k], written=frozenset(gone))
        if self._few(k):
            either(self.f, transfer.direct, lambda: transfer.write_values(self._values[k]), through_buffer)
        else:
            either(self.f, transfer.direct, transfer.write_lanes, transfer.write)
