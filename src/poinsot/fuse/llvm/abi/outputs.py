"""The results of a graph on their way to buffers, and from there to their places."""

import math
from collections.abc import Sequence
from dataclasses import replace

from poinsot.fuse.graph.memory import by_argument, is_whole, whole_of
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.llvm.abi.status import NaNs
from poinsot.fuse.llvm.abi.streamed import StreamedOutput
from poinsot.fuse.llvm.abi.transfer import Shape, Transfer
from poinsot.fuse.llvm.control_flow import copy_array
from poinsot.fuse.llvm.lowering import Function
from poinsot.fuse.llvm.values import Ref, VectorEmitter

_FEW = 8  # results that stay in registers
_OFTEN = 500  # operations after which complete lines are looked for

Room = tuple[str, StreamedOutput | None]  # a buffer, and how it is streamed


class _Output:
    """One output on its way. Each of its values has a slot in the buffer, and may be several elements."""

    def __init__(self, nodes: Sequence[Node], buffer: str, streamed: StreamedOutput | None) -> None:
        self.whole = nodes[0] if is_whole(nodes) else None  # an array in memory that is all of it
        self.slots = {node: slot for slot, node in enumerate(dict.fromkeys(nodes))}
        self.order = [*range(self.whole.size)] if self.whole is not None else [self.slots[node] for node in nodes]
        self.values = [""] * len(self.slots)  # those that are known
        self.buffer, self.few = buffer, self.whole is None and len(nodes) <= _FEW
        if self.whole is None and not self.few:
            self.whole = whole_of(nodes)
        self.streamed, self.streams, self.start = streamed, "", ""
        self.gone = set[int]()  # pairs of lines of the present block that were written early
        if streamed is not None:
            streamed.buffer, streamed.behind = buffer, len(self.slots) if self.whole is None else len(self.order)
            behind = range(streamed.behind, streamed.behind + streamed.beyond)
            streamed.order = self._table(streamed.f, [*self.order, *behind])

    def _table(self, f: VectorEmitter, order: Sequence[int]) -> str:
        """The slots of all elements, if some share one."""
        shared = self.whole is None and len(self.slots) < len(self.order)
        return f.module.table(tuple(order), "i") if shared else ""

    def from_slots(self, transfer: Transfer) -> Transfer:
        """The transfer from the slots."""
        return replace(transfer, buffer=self.buffer, order=self._table(transfer.f, self.order))

    def is_known(self, first: int, last: int) -> bool:
        return all(self.values[slot] for slot in self.order[first:last])


class Results:
    """The results of a graph on their way to the buffers: constants once for all blocks, many results as soon as they
    are there, few when all of them are."""

    def __init__(self, f: Function, graph: Graph, shapes: Sequence[Shape], rooms: Sequence[Room]) -> None:
        each = by_argument(graph.outputs, map(math.prod, shapes))
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
                f.write(output.buffer, output.slots[node], ref)

    def begin(self, transfers: Sequence[Transfer]) -> None:
        """A block begins."""
        for output, transfer in zip(self._outputs, transfers, strict=True):
            if output.streamed is not None:
                output.streams = self.f.and_(transfer.full, output.streamed.streams)
                output.start = transfer.start

    def _write_early(self) -> None:
        """Lines of which all elements are known, in long code."""
        for output in self._outputs if self.f.module.is_long else ():
            if output.streamed is None or output.whole is not None:
                continue
            pairs = [q for q in range(output.streamed.pairs) if q not in output.gone]
            complete = [q for q in pairs if output.is_known(*output.streamed.elements(q))]
            if len(complete) > 1:
                self.f.registers.spill_all()
                with self.f.when(output.streams):
                    output.streamed.write_pairs(output.start, complete)
                output.gone.update(complete)

    def put(self, node: Node, refs: dict[Node, Ref]) -> None:
        """The node has been written: if it is a result, take it."""
        self._written += 1
        if self._written % _OFTEN == 0:
            self._write_early()
        if node not in self._of:
            return
        ref = self.f.value(node, refs)
        value = self.f.vector(ref)
        self.nans.check(value)
        for output in self._of[node]:
            output.values[output.slots[node]] = value
            if not output.few:
                self.f.write(output.buffer, output.slots[node], ref)

    def end(self, refs: dict[Node, Ref]) -> None:
        """The graph has been written."""
        for output in self._outputs:
            if output.whole is not None:
                output.buffer = refs[output.whole].text
                self.nans.check_array(output.buffer, len(output.order))

    def deliver(self, k: int, transfer: Transfer, number: str) -> None:
        """Write output number k of the block that begins with the instance of this number."""
        output = self._outputs[k]
        transfer = output.from_slots(transfer)
        if output.few:
            with self.f.when(transfer.direct) as otherwise:
                transfer.store_values([output.values[slot] for slot in output.order])
                otherwise()
                for slot, value in enumerate(output.values):
                    self.f.write(output.buffer, slot, Ref(value, "f", False))
                transfer.transfer()
        elif output.streamed is None:
            transfer.transfer_contiguous()
        else:
            with self.f.when(output.streams) as otherwise:
                self._stream_rest(output, output.streamed, number)
                otherwise()
                transfer.transfer_contiguous()

    def _stream_rest(self, output: _Output, streamed: StreamedOutput, number: str) -> None:
        if output.whole is not None:  # there is no room behind it
            count = len(output.order)
            copy_array(self.f, streamed.buffer, Ref(output.buffer, ("f", count), False), count)
        streamed.write_rest(output.start, number, output.gone)
