"""The inner loop of a NumPy gufunc around a graph: void loop(char **args, intp *dims, intp *steps, void *data).

Blocks of `width` instances go through one and the same code. An argument whose instances are contiguous (the last axis
of memory is the batch) is read in place; any other, and the last, incomplete block, goes through a small buffer, once
if it is the same for all. So the bits of a result never depend on where in a batch its instance stands.

Results go to buffers as soon as they are there, since of many only few have room in registers, and from there to their
places when the block is done; streamed outputs of long code, before that. With vectors of one element, all inputs of an
instance are read before its outputs are written, and those before the inputs of the next: an instance may read what the
one before has written (`scan`).

Both sides of a `where` are computed, so the processor's exception flags say nothing about results: they are restored as
they were, and "invalid" is raised only if a NaN comes out where none went in. NumPy turns that into its usual warning.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from poinsot.fuse.graph.memory import by_argument, is_whole
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.llvm.abi.outputs import Results
from poinsot.fuse.llvm.abi.status import NaNs, raise_invalid, restore_flags, save_flags
from poinsot.fuse.llvm.abi.streamed import StreamedOutput, fence, streamed_output
from poinsot.fuse.llvm.abi.transfer import Shape, Transfer, addresses
from poinsot.fuse.llvm.emitter import LoopHead
from poinsot.fuse.llvm.lowering import Function
from poinsot.fuse.llvm.module import Module
from poinsot.fuse.llvm.target import Target
from poinsot.fuse.llvm.values import ArgumentElement, Ref

_LONG = 512  # elements of an input: those of longer ones are not written out
_MANY = 16  # inputs that are not read in place
_CACHES = 1 << 24  # bytes: more than that, and the results of a call have left the caches before they are used
_HEAD = "define void @kernel(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr %data)"

Place = tuple[str, list[str]]  # the address of a first element, and the steps along its axes in bytes


def kernel_module(graph: Graph, inputs: Sequence[Shape], outputs: Sequence[Shape], target: Target) -> str:
    """The text of a module with one function, `kernel`."""
    module = Module(target, graph)
    f = Function(module, contract=not (graph.strict or graph.plain))
    total = _word(f, "%dims", 0)
    f.always = f.icmp("sge", total, 0)
    much = f.icmp("ugt", total, _CACHES // (target.itemsize * max(1, sum(map(math.prod, outputs)))))
    arguments = _arguments(f, inputs, outputs, much)
    flags = save_flags(f)
    results = Results(f, graph, outputs, [(a.buffer, a.streamed) for a in arguments if not a.inward])
    invalid = _blocks(f, graph, total, arguments, results)
    for argument in arguments:
        if argument.streamed is not None:
            argument.streamed.end(total)
    with f.when(much):
        fence(f)
    restore_flags(f, flags)
    with f.when(f.reduce("or", invalid, "b")):
        raise_invalid(f, arguments[0].buffer)
    f.define(_HEAD, "ret void")
    return module.text()


@dataclass(frozen=True)
class _LoopArgument:
    """An argument in all blocks: `dense` if the instances are contiguous, `same` if there is one for all."""

    base: str
    lane_step: str
    core_steps: Sequence[str]
    shape: Shape
    buffer: str
    inward: bool
    dense: str
    same: str
    streamed: StreamedOutput | None


def _arguments(f: Function, inputs: Sequence[Shape], outputs: Sequence[Shape], much: str) -> list[_LoopArgument]:
    """As NumPy hands them over: addresses; steps of all along the batch, and then of each along its own axes."""
    shapes, arguments = [*inputs, *outputs], []
    axis = len(shapes)
    for k, shape in enumerate(shapes):
        base, lane_step = _word(f, "%args", k, "ptr"), _word(f, "%steps", k)
        core_steps = [_word(f, "%steps", axis + i) for i in range(len(shape))]
        axis += len(shape)
        inward = k < len(inputs)
        dense, same = (f.icmp("eq", lane_step, step) for step in (f.target.itemsize, 0))
        streamed = None if inward else streamed_output(f, base, [lane_step, *core_steps], shape, much)
        buffer = f.allocate(math.prod(shape) + (0 if streamed is None else streamed.beyond))
        arguments.append(_LoopArgument(base, lane_step, core_steps, shape, buffer, inward, dense, same, streamed))
    return arguments


def _word(f: Function, base: str, k: int, kind: str = "i64") -> str:
    return f.load(kind, f.gep(base, k, "i64"))


def _blocks(f: Function, graph: Graph, total: str, arguments: Sequence[_LoopArgument], results: Results) -> str:
    """The loop over blocks; the lanes in which a NaN was made."""
    masks, inputs = f.target.vector("b"), [a for a in arguments if a.inward]
    head = LoopHead(f, "blocks")
    first, invalid = head.carry("i64", 0), head.carry(masks, "zeroinitializer")
    left = f.sub(total, first)
    f.branch(f.icmp("sgt", left, 0), "block", "end")
    f.label("block")
    transfers = _transfers(f, arguments, first, left)
    params = by_argument(graph.params, (math.prod(a.shape) for a in inputs))
    places = _fetch(f, params, inputs, transfers, first)
    _compute(f, graph, params, places, transfers, results)
    made = _made_nans(f, results.nans.mask(), params, places, transfers)
    for k, transfer in enumerate(transfers[len(inputs) :]):
        results.deliver(k, transfer, first)
    following, invalid_so_far = f.add(first, f.target.width), f.or_(invalid, made, masks)
    f.jump(head.label)
    head.close(following, invalid_so_far)
    f.label("never")
    f.line("unreachable")
    f.label("end")
    return invalid


def _transfers(f: Function, arguments: Sequence[_LoopArgument], first: str, left: str) -> list[Transfer]:
    """The transfers of the block that begins with instance number `first`; `left` instances are left."""
    full = f.icmp("sge", left, f.target.width)
    lanes, transfers = f.select(full, f.target.width, left), []
    for a in arguments:
        start = f.gep(a.base, f.mul(first, a.lane_step))
        direct = f.and_(full, a.dense)
        place = start, a.lane_step, a.core_steps, a.shape, a.buffer
        transfers.append(Transfer(f, *place, lanes, full, direct, a.inward))
    return transfers


def _fetch(
    f: Function,
    params: Sequence[Sequence[Node]],
    inputs: Sequence[_LoopArgument],
    transfers: Sequence[Transfer],
    first: str,
) -> list[Place]:
    """Where the inputs of a block can be read: in place if they are contiguous, else in buffers.

    Long code reads them more than once, and inputs that are far from each other compete for the same lines of the
    caches: many are always copied to their buffers. So are those that stay in memory, for each block anew: the graph
    may change them.
    """
    in_place = not f.module.is_long or sum(map(len, params)) <= _MANY
    later, places = f.icmp("ne", first, 0), []
    for nodes, argument, t in zip(params, inputs, transfers, strict=False):
        packed = [str(math.prod(t.shape[axis + 1 :]) * f.target.size) for axis in range(len(t.shape))]
        known = f.and_(argument.same, later)
        if is_whole(nodes):
            t.transfer_contiguous()
            places.append((t.buffer, packed))
        elif in_place:
            with f.unless(f.or_(t.direct, known)):
                t.transfer()
            steps = [f.select(t.direct, there, here) for there, here in zip(t.core_steps, packed, strict=True)]
            places.append((f.select(t.direct, t.start, t.buffer, "ptr"), steps))
        else:
            with f.unless(known):
                t.transfer_contiguous()
            places.append((t.buffer, packed))
    return places


def _compute(
    f: Function,
    graph: Graph,
    params: Sequence[Sequence[Node]],
    places: Sequence[Place],
    transfers: Sequence[Transfer],
    results: Results,
) -> None:
    """Write the graph. Its results are in their buffers then, or in registers, and some have gone to their places."""
    refs = dict[Node, Ref]()
    for nodes, (base, steps), transfer in zip(params, places, transfers, strict=False):
        if is_whole(nodes):
            refs[nodes[0]] = Ref(base, nodes[0].type, False)
            continue
        for node, index in zip(nodes, np.ndindex(*transfer.shape), strict=True):
            f.homes[node] = ArgumentElement(f, base, steps, index)
    scattered = [t for nodes, t in zip(params, transfers, strict=False) if not is_whole(nodes)]
    prefetch = _prefetching(f, scattered, len(graph.live(results.nodes)))
    results.begin(transfers[len(places) :])

    def done(node: Node) -> None:
        results.put(node, refs)
        prefetch()

    f.graph(graph, refs, done, results.nodes)
    results.end(refs)


def _made_nans(
    f: Function,
    nans: str,
    params: Sequence[Sequence[Node]],
    places: Sequence[Place],
    transfers: Sequence[Transfer],
) -> str:
    """The lanes in which a NaN came out and none went in. Rare: only then are the inputs checked, those in memory as
    they came."""
    masks, before = f.target.vector("b"), f.block
    f.branch(f.reduce("or", nans, "b"), "nan", "store")
    f.label("nan")
    came = NaNs(f)
    for nodes, (base, steps), t in zip(params, places, transfers, strict=False):
        if is_whole(nodes):
            again = replace(t, buffer=f.allocate(t.size))
            again.transfer_contiguous()
            came.check_array(again.buffer, t.size)
        elif len(t.shape) == 1 and t.size > _LONG:
            came.check_row(base, steps[0], t.size)
        else:
            for place in addresses(f, base, steps, t.shape):
                came.check(f.read_at(place, "f").text)
    made = f.and_(nans, f.xor(came.mask(), "splat (i1 true)", masks), masks)
    checked = f.block
    f.jump("store")
    f.label("store")
    return f.phi(masks, ("zeroinitializer", before), (made, checked))


def _prefetching(f: Function, transfers: Sequence[Transfer], operations: int) -> Callable[[], None]:
    """To be called after each of so many operations: prefetches the inputs of the next block.

    It suits contiguous instances; for others it is of no use, and does no harm.
    """
    few = f.module.is_long and sum(t.size for t in transfers) <= _LONG
    places = [(t, k) for t in transfers for k in range(t.size)] if few else []
    every, count = max(1, operations // max(1, len(places))), itertools.count(1)

    def prefetch() -> None:
        if places and next(count) % every == 0:
            transfer, k = places.pop()
            distance = f.add(f.mul(transfer.lane_step, f.target.width), k * f.target.size)
            place = f.gep(transfer.start, distance)
            f.intrinsic("void", "prefetch.p0", ("ptr", place), ("i32", 0), ("i32", 3), ("i32", 1))

    return prefetch
