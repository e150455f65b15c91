"""What comes out of a graph, on its way to buffers, and from there to its places."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from poinsot.fuse.graph.memory import whole_of
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.llvm.abi.status import NaNs
from poinsot.fuse.llvm.abi.streamed import Lines
from poinsot.fuse.llvm.abi.transfer import Transfer, either
from poinsot.fuse.llvm.lowering import Function, Ref
from poinsot.fuse.llvm.structure import copy_array

_FEW = 8  # results that stay in registers
_OFTEN = 500  # operations between looks at what can be written

Shape = tuple[int, ...]
Room = tuple[str, Lines | None]  # a buffer, and the lines that it may be written in


class _Output:
    """One output on its way. Each of its values has a slot in the buffer, and may be several elements."""

    def __init__(self, nodes: Sequence[Node], buffer: str, lines: Lines | None) -> None:
        self.slots = {node: slot for slot, node in enumerate(dict.fromkeys(nodes))}
        self.order = [self.slots[node] for node in nodes]
        self.values = [""] * len(self.slots)  # those that are known
        self.buffer, self.few = buffer, len(nodes) <= _FEW
        self.whole = None if self.few else whole_of(nodes)  # it lies in memory as it is
        self.lines, self.goes, self.start = lines, "", ""
        self.gone = set[int]()  # pairs of lines, of the present block
        if lines is not None:
            lines.buffer, lines.behind = buffer, len(self.slots)
            lines.order = self._table(lines.f, [*self.order, *(lines.behind + k for k in range(lines.beyond))])

    def _table(self, f: Function, order: Sequence[int]) -> str:
        """Of the slots of elements, if some share one."""
        shared = self.whole is None and len(self.slots) < len(self.order)
        return f.module.table(tuple(order), "i") if shared else ""

    def lying(self, transfer: Transfer) -> Transfer:
        """The transfer from the slots."""
        return replace(transfer, buffer=self.buffer, order=self._table(transfer.f, self.order))

    def is_known(self, first: int, last: int) -> bool:
        return all(self.values[slot] for slot in self.order[first:last])


class Results:
    """What comes out of the graph, on its way to the buffers: numbers that are known once for all blocks, many results
    as soon as they are there, few when all of them are."""

    def __init__(self, f: Function, graph: Graph, shapes: Sequence[Shape], rooms: Sequence[Room]) -> None:
        rest = iter(graph.outputs)
        each = [list(itertools.islice(rest, math.prod(shape))) for shape in shapes]
        self.f, self.nans, self._written = f, NaNs(f), 0  # operations
        self._outputs = [_Output(nodes, *room) for nodes, room in zip(each, rooms, strict=True)]
        self._of: dict[Node, list[_Output]] = {}
        for output in self._outputs:
            for node in output.slots if output.whole is None else ():
                self._of.setdefault(node, []).append(output)
        self.nodes = [*self._of, *(output.whole for output in self._outputs if output.whole is not None)]
        for node in [node for node in self._of if node.op == "const" and node.data == node.data]:
            ref = f.literal(node)
            for output in self._of.pop(node):
                output.values[output.slots[node]] = f.vector(ref)
                f.store(output.buffer, output.slots[node], ref)

    def begin(self, transfers: Sequence[Transfer]) -> None:
        """A block begins."""
        for output, transfer in zip(self._outputs, transfers, strict=True):
            if output.lines is not None:
                output.goes = self.f.op(f"and i1 {transfer.full}, {output.lines.goes}")
                output.start = transfer.start

    def _write_early(self) -> None:
        """Lines of which all elements are known, in long code."""
        for output in self._outputs if self.f.module.is_long else ():
            if output.lines is None or output.whole is not None:
                continue
            pairs = [q for q in range(output.lines.pairs) if q not in output.gone]
            chosen = [q for q in pairs if output.is_known(*output.lines.elements(q))]
            if len(chosen) > 1:
                self.f.registers.clear()
                either(self.f, output.goes, partial(output.lines.write_pairs, output.start, chosen))
                output.gone.update(chosen)

    def put(self, node: Node, refs: dict[Node, Ref]) -> None:
        """The node has been written: if it is a result, take it."""
        self._written += 1
        if self._written % _OFTEN == 0:
            self._write_early()
        if node not in self._of:
            return
        ref = self.f.value(node, refs)
        value = self.f.vector(ref)
        self.nans.look(value)
        for output in self._of[node]:
            output.values[output.slots[node]] = value
            if not output.few:
                self.f.store(output.buffer, output.slots[node], ref)

    def end(self, refs: dict[Node, Ref]) -> None:
        """The graph has been written."""
        for output in self._outputs:
            if output.whole is not None:
                output.buffer = refs[output.whole].text
                self.nans.look_along(output.buffer, len(output.order))

    def deliver(self, k: int, transfer: Transfer, number: str) -> None:
        """Write output number k of the block that begins with the instance of this number."""
        output = self._outputs[k]
        transfer = output.lying(transfer)

        def through_buffer() -> None:
            for slot, value in enumerate(output.values):
                self.f.store(output.buffer, slot, Ref(value, "f", False))
            transfer.write()

        if output.few:
            values = [output.values[slot] for slot in output.order]
            either(self.f, transfer.direct, partial(transfer.write_values, values), through_buffer)
            return
        write = partial(either, self.f, transfer.direct, transfer.write_lanes, transfer.write)
        if output.lines is not None:
            either(self.f, output.goes, partial(self._write_rest, output, output.lines, number), write)
        else:
            write()

    def _write_rest(self, output: _Output, lines: Lines, number: str) -> None:
        if output.whole is not None:  # there is no room behind it
            count = len(output.order)
            copy_array(self.f, lines.buffer, Ref(output.buffer, ("f", count), False), count)
        lines.write_rest(output.start, number, output.gone)
