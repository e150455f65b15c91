"""The inner loop of a NumPy gufunc around a graph: void loop(char **args, intp *dims, intp *steps, void *data).

Blocks of `width` instances go through one and the same code. An argument whose instances lie next to each other (the
last axis of memory is the batch) is read in place; any other, and the last, incomplete block, goes through a small
buffer, once if it is the same for all. So the bits of a result never depend on where in a batch its instance stands.

Results go to buffers as soon as they are there, since of many only few have room in registers, and from there to their
places when the block is done; much of long code that goes past the caches, before that. With vectors of one element,
all inputs of an instance are read before its outputs are written, and those before the inputs of the next: instances
may follow on from each other in memory (`scan`).

Both sides of a `where` are computed, so the processor's exception flags say nothing about results: they are put back as
they were, and "invalid" is raised only if a NaN comes out where none went in. NumPy turns that into its usual warning.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.llvm import structure as structure
from poinsot.fuse.llvm.abi.outputs import Results
from poinsot.fuse.llvm.abi.status import any_nan, raise_invalid, restore_flags, save_flags
from poinsot.fuse.llvm.abi.streamed import Lines, lines_of
from poinsot.fuse.llvm.abi.transfer import Transfer, address, addresses, either, fence, unless
from poinsot.fuse.llvm.instructions import Target
from poinsot.fuse.llvm.lowering import Function, Module, Ref

_MANY = 16  # inputs that are not read in place
_CACHES = 1 << 24  # bytes: more than that, and the results of a call are gone from them before they are used

Shape = tuple[int, ...]
Place = tuple[str, list[str]]  # the address of a first element, and the steps along its axes in bytes


def kernel_module(graph: Graph, inputs: Sequence[Shape], outputs: Sequence[Shape], target: Target) -> str:
    """The text of a module with one function, `kernel`."""
    module = Module(target, graph)
    f, masks = Function(module), target.vector("b")
    total = _word(f, "%dims", 0)
    f.always = f.op(f"icmp sge i64 {total}, 0")
    much = f.op(f"icmp ugt i64 {total}, {_CACHES // (target.itemsize * max(1, len(graph.outputs)))}")
    arguments = _arguments(f, inputs, outputs, much)
    flags = save_flags(f)
    results = Results(f, graph, outputs, [(a.buffer, a.lines) for a in arguments if not a.inward])

    f.line("br label %blocks")
    f.label("blocks")
    first, invalid, position = f.fresh(), f.fresh(), len(f.lines)
    left = f.op(f"sub i64 {total}, {first}")
    f.line(f"br i1 {f.op(f'icmp sgt i64 {left}, 0')}, label %block, label %end")
    f.label("block")
    transfers = _transfers(f, arguments, first, left)
    places = _fetch(f, graph, arguments[: len(inputs)], transfers, first)
    _compute(f, graph, places, transfers, results)
    made = _made_nans(f, results.nans.mask(), places, inputs)
    for k, transfer in enumerate(transfers[len(inputs) :]):
        results.deliver(k, transfer, first)
    following, invalid_so_far = f.op(f"add i64 {first}, {target.width}"), f.op(f"or {masks} {invalid}, {made}")
    f.line("br label %blocks")
    f.lines[position:position] = [
        f"  {first} = phi i64 [0, %start], [{following}, %{f.block}]",
        f"  {invalid} = phi {masks} [zeroinitializer, %start], [{invalid_so_far}, %{f.block}]",
    ]
    f.label("never")
    f.line("unreachable")
    f.label("end")
    for argument in arguments:
        if argument.lines is not None:
            argument.lines.end(total)
    either(f, much, partial(fence, f))
    restore_flags(f, flags)
    either(f, f.reduce("or", invalid, "b"), partial(raise_invalid, f, arguments[0].buffer))
    head = "define void @kernel(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr %data)"
    module.functions.append(f.define(head, "ret void"))
    return module.text()


@dataclass(frozen=True)
class _Argument:
    """What holds for all blocks: `dense` if the instances lie side by side, `same` if there is one for all."""

    base: str
    lane_step: str
    core_steps: Sequence[str]
    shape: Shape
    buffer: str
    inward: bool
    dense: str
    same: str
    lines: Lines | None


def _arguments(f: Function, inputs: Sequence[Shape], outputs: Sequence[Shape], much: str) -> list[_Argument]:
    """As NumPy hands them over: addresses; steps of all along the batch, and then of each along its own axes."""
    shapes, found = [*inputs, *outputs], []
    axis = len(shapes)
    for k, shape in enumerate(shapes):
        base, lane_step = _word(f, "%args", k, "ptr"), _word(f, "%steps", k)
        core_steps = [_word(f, "%steps", axis + i) for i in range(len(shape))]
        axis += len(shape)
        inward = k < len(inputs)
        dense, same = (f.op(f"icmp eq i64 {lane_step}, {step}") for step in (f.target.itemsize, 0))
        lines = None if inward else lines_of(f, base, [lane_step, *core_steps], shape, much)
        buffer = f.allocate(math.prod(shape) + (0 if lines is None else lines.beyond))
        found.append(_Argument(base, lane_step, core_steps, shape, buffer, inward, dense, same, lines))
    return found


def _word(f: Function, base: str, k: int, kind: str = "i64") -> str:
    return f.op(f"load {kind}, ptr {f.op(f'getelementptr i64, ptr {base}, i64 {k}')}")


def _transfers(f: Function, arguments: Sequence[_Argument], first: str, left: str) -> list[Transfer]:
    """Of the block that begins with instance number `first`; so many are left."""
    full = f.op(f"icmp sge i64 {left}, {f.target.width}")
    lanes, found = f.op(f"select i1 {full}, i64 {f.target.width}, i64 {left}"), []
    for a in arguments:
        start = f.op(f"getelementptr i8, ptr {a.base}, i64 {f.op(f'mul i64 {first}, {a.lane_step}')}")
        direct = f.op(f"and i1 {full}, {a.dense}")
        place = start, a.lane_step, a.core_steps, a.shape, a.buffer
        found.append(Transfer(f, *place, lanes, full, direct, a.inward))
    return found


def _fetch(
    f: Function, graph: Graph, arguments: Sequence[_Argument], transfers: Sequence[Transfer], first: str
) -> list[Place]:
    """Has the inputs of a block at hand, and tells where: in their places if they lie side by side, else in buffers.

    Long code reads them more than once, and those that are far from each other are in each other's way in the caches:
    many are always brought to their buffers.
    """
    in_place = not f.module.is_long or len(graph.params) <= _MANY
    later, places = f.op(f"icmp ne i64 {first}, 0"), []
    for argument, t in zip(arguments, transfers, strict=False):
        packed = [str(math.prod(t.shape[axis + 1 :]) * f.target.size) for axis in range(len(t.shape))]
        known = f.op(f"and i1 {argument.same}, {later}")
        if in_place:
            unless(f, f.op(f"or i1 {t.direct}, {known}"), t.write)
            pairs = zip(t.core_steps, packed, strict=True)
            steps = [f.op(f"select i1 {t.direct}, i64 {there}, i64 {here}") for there, here in pairs]
            places.append((f.op(f"select i1 {t.direct}, ptr {t.start}, ptr {t.buffer}"), steps))
        else:
            unless(f, known, partial(either, f, t.direct, t.write_lanes, t.write))
            places.append((t.buffer, packed))
    return places


def _compute(
    f: Function, graph: Graph, places: Sequence[Place], transfers: Sequence[Transfer], results: Results
) -> None:
    """Write the graph. Its results are in their buffers then, or in registers, and some have gone to their places."""
    params, refs = iter(graph.params), dict[Node, Ref]()
    for (base, steps), transfer in zip(places, transfers, strict=False):
        for index in np.ndindex(*transfer.shape):
            f.homes[next(params)] = partial(address, f, base, steps, index)
    fetch_ahead = _fetching_ahead(f, transfers, len(graph.live(results.nodes)))
    results.begin(transfers[len(places) :])

    def done(node: Node) -> None:
        results.put(node, refs)
        fetch_ahead()

    f.graph(graph, refs, done, results.nodes)
    results.end(refs)


def _made_nans(f: Function, found: str, places: Sequence[Place], shapes: Sequence[Shape]) -> str:
    """The lanes of those in which a NaN was found that had none going in. Rare: only then look at what went in."""
    masks, before = f.target.vector("b"), f.block
    f.line(f"br i1 {f.reduce('or', found, 'b')}, label %nan, label %store")
    f.label("nan")
    each = [
        place for (base, steps), shape in zip(places, shapes, strict=True) for place in addresses(f, base, steps, shape)
    ]
    loads = [f.fetch(place, "f").text for place in each]
    made = f.op(f"and {masks} {found}, {f.op(f'xor {masks} {any_nan(f, loads)}, splat (i1 true)')}")
    f.line("br label %store")
    f.label("store")
    return f.op(f"phi {masks} [zeroinitializer, %{before}], [{made}, %nan]")


def _fetching_ahead(f: Function, transfers: Sequence[Transfer], operations: int) -> Callable[[], None]:
    """To be called after each of so many operations: has lines of memory brought that will be read soon.

    Those are the inputs of the next block. Instances that lie in one piece are meant; for others it is of no use, and
    does no harm.
    """
    line = f.target.size
    places = [(t, k) for t in transfers if t.inward for k in range(t.size)] if f.module.is_long else []
    every, count = max(1, operations // max(1, len(places))), itertools.count(1)
    f.module.declarations["prefetch"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"

    def fetch() -> None:
        if places and next(count) % every == 0:
            transfer, k = places.pop()
            distance = f.op(f"mul i64 {transfer.lane_step}, {f.target.width}")
            distance = f.op(f"add i64 {distance}, {k * line}")
            place = f.op(f"getelementptr i8, ptr {transfer.start}, i64 {distance}")
            f.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")

    return fetch
