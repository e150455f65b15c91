"""Graph to CUDA C++: one instance per thread, its state in registers; loops and calls stay loops and calls.

Multiplications and additions are contracted, as on the processor; mathematical functions are accurate unless `fast`
asks for others.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poinsot.fuse.cuda.constants import TYPES
from poinsot.fuse.cuda.loops import write_loop
from poinsot.fuse.cuda.text import SHARED, Place, Refs, Text, Unit, copy, each, element, simple
from poinsot.fuse.graph.memory import by_argument, is_whole
from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.graph.patterns import ArrayElement, LoopPlan, elements

EVERYTHING = 1 << 30  # elements of shared memory: more than any program needs
STREAM = {4: 3, 8: 2}  # arrays that need so many times more than the shared memory stay in local memory
STREAMING = 512  # threads per multiprocessor that are then enough; long code has too few registers in so many
# The assembler looks for an order of instructions that hides their latency. Where that is short, and in long blocks,
# the order of the text is better: it needs fewer registers.
LONG = 4000
NEAR = 4  # operations between known values and an angle that is computed early, together with others


@dataclass(frozen=True)
class Source:
    """The text of `kernel`, the threads per block, the bytes of shared memory per block, and compiler options."""

    text: str
    block: int
    shared: int
    options: tuple[str, ...] = ()


def kernel_source(
    graph: Graph, inputs: Sequence[int], outputs: Sequence[int], float64: bool, fast: bool = False
) -> Source:
    """CUDA C++ of `kernel(in, row, lane, ..., out, row, lane, ..., count)`, for arguments of so many elements each.

    Element e of instance i of an argument is at e row + i lane. It is written twice: the first text shows how much
    shared memory the program could use, and how much of that goes to tables.
    """
    by_itself = graph.strict or graph.plain  # each operation is rounded on its own
    first = _written(graph, inputs, outputs, Unit(float64, fast, EVERYTHING, strict=by_itself))
    tables, itemsize, block = len(first.read_tables().packed().numbers), first.itemsize, first.block
    room = 0 if _passes_arrays(graph) else (SHARED // itemsize - tables) // block
    is_long = sum(function.count("\n") for function in first.functions) > LONG
    streams = first.shared > STREAM[itemsize] * room > 0 and not is_long
    unit = _written(graph, inputs, outputs, Unit(float64, fast, 0 if streams else room, streams, strict=by_itself))
    nodes = graph.live()
    loops, by_order = any(node.op == "loop" for node in nodes), (not float64 and not fast) or len(nodes) > LONG
    shared = (unit.shared * block + tables) * itemsize
    options = ("--ptxas-options=-O1",) if (by_order and not loops) or _calls_in_long_code(graph) else ()
    return Source(unit.text(), block, shared, (*options, "--fmad=false") if by_itself else options)


def _written(graph: Graph, inputs: Sequence[int], outputs: Sequence[int], unit: Unit) -> Unit:
    """The unit with the kernel written into it."""
    text = Text(unit, [(0, unit.room)])
    unit.calls = _calls(graph)
    groups, refs = by_argument(graph.outputs, outputs), Refs()
    for k, nodes in enumerate(by_argument(graph.params, inputs)):
        form = f"in{k}[({{}}) * in{k}_row]"
        if is_whole(nodes):
            refs[nodes[0]] = Place(form)
        else:
            unit.inputs.update((node, (form, e, len(nodes))) for e, node in enumerate(nodes))
    plan = LoopPlan(graph, unit.inputs, groups)
    for param, (form, e, _) in unit.inputs.items():
        if param in plan.wanted:
            refs[param] = text.value("f", form.format(e))
    _graph(text, graph, refs, plan)
    for k, group in enumerate(groups):
        if k in plan.patterns:
            each(text, len(group), f"out{k}[k * out{k}_row] = {element(text, plan.patterns[k], refs)};")
        elif is_whole(group):
            each(text, group[0].size, f"out{k}[k * out{k}_row] = {refs[group[0]].at('k')};")
        else:
            for e, node in enumerate(group):
                text.line(f"out{k}[{e} * out{k}_row] = {refs[node]};")
    names = {f"in{k}": "const T*" for k in range(len(inputs))} | {f"out{k}": "T*" for k in range(len(outputs))}
    arguments = ", ".join(
        f"{type_} __restrict__ {name}, const long long {name}_row, const long long {name}_lane"
        for name, type_ in names.items()
    )
    bounds = f"{unit.block}, {STREAMING // unit.block}" if unit.streams else f"{unit.block}"
    head = f'extern "C" __global__ void __launch_bounds__({bounds}) kernel({arguments}, const long long count) {{'
    first = [
        "  FILL_ROWS",
        "  T* const mine = pool + ROWS + threadIdx.x;",
        f"  const long long lane = blockIdx.x * (long long){unit.block} + threadIdx.x;",
        "  if (lane >= count) return;",
        *(f"  {name} += lane * {name}_lane;" for name in names),
    ]
    unit.functions.append("\n".join([head, *first, *text.lines, "}"]))
    return unit


def _calls(graph: Graph) -> Counter[Graph]:
    """In how many places each function is called."""
    return Counter(node.data for part in (graph, *graph.subgraphs()) for node in part.live() if node.op == "call")


def _calls_in_long_code(graph: Graph) -> bool:
    """Whether functions are called in long code: looking for an order, the assembler then keeps 32 or 128 registers."""
    size = sum(len(part.live()) for part in (graph, *graph.subgraphs()))
    return size > LONG and any(places > 1 for places in _calls(graph).values())


def _passes_arrays(graph: Graph) -> bool:
    """Whether some called function takes an array, as a pointer to local memory."""
    called = (callee for callee, places in _calls(graph).items() if places > 1)
    return any(isinstance(param.type, tuple) for callee in called for param in callee.params)


def _graph(text: Text, graph: Graph, refs: Refs, plan: LoopPlan | None = None) -> list[Any]:
    """Write the live nodes of a graph whose parameters have names; the names of its outputs."""
    plan = plan or LoopPlan(graph, text.unit.inputs)
    sincos: dict[Node, dict[str, str]] = {}  # the names of sine and cosine of angles
    accurate = text.unit.float64 or not text.unit.fast
    owned: dict[Place, float] = {}  # the arrays that were made here, and the number of the node that uses them last
    text.made, outer, last = [], text.made, plan.last
    angles = {node.args[0] for node in plan.wanted if node.op in ("sin", "cos")} if accurate else set()
    for node in (node for node in graph.nodes if node in plan.wanted):
        if node in refs or node.op == "proj":
            continue
        for place in [place for place, end in owned.items() if end < node.index]:
            text.release(place)
            del owned[place]
        made: list[Node] = [node]
        if node in plan.patterns:
            _by_pattern(text, node, plan, refs)
        elif node.op == "loop":
            made += [*node.used_results(), *write_loop(text, graph, node, refs, plan, _graph)]
        elif node.op in _CONTROL_FLOW:
            _CONTROL_FLOW[node.op](text, node, refs, last)
        if isinstance(node.type, tuple) or node.op in ("loop", *_CONTROL_FLOW):
            owned.update((place, node.index) for place in text.made)
            text.made = []
            for result in made:
                if refs.get(result) in owned:
                    owned[refs[result]] = max(owned[refs[result]], last.get(result, 0))
        elif node.op in ("sin", "cos") and accurate:
            if node.args[0] not in sincos:
                near = [a for a in sorted(angles, key=lambda a: a.index) if _is_known(text, a, refs, NEAR)]
                sincos.update(_sincos(text, near, refs))
                angles.difference_update(near)
            refs[node] = sincos[node.args[0]][node.op]
        else:
            refs[node] = simple(text, node, refs)
    text.made = outer
    return [refs.get(node) for node in graph.outputs]


def _is_known(text: Text, node: Node, refs: Refs, depth: int) -> bool:
    """Whether a number is known, or follows by a few operations, which are then written."""
    if node in refs:
        return True
    reads = node.op == "get"
    if not depth or not (reads or node.op in text.unit.operations or node.op == "const") or node.op in ("sin", "cos"):
        return False
    if not all(_is_known(text, arg, refs, depth - 1) for arg in node.args):
        return False
    if reads:
        _get(text, node, refs, {})
    else:
        refs[node] = simple(text, node, refs)
    return True


def _sincos(text: Text, angles: Sequence[Node], refs: Refs) -> dict[Node, dict[str, str]]:
    """The names of sine and cosine of angles; one test tells whether any of them is large."""
    names = [text.name() for _ in angles]
    for name, angle in zip(names, angles, strict=True):
        text.line(f"T {name} = {refs[angle]};")
    largest = f"size({names[0]})"
    for name in names[1:]:
        largest = f"max({largest}, size({name}))"
    text.line(f"if ({largest} > size(1e5)) {{ {' '.join(f'{name} = near({name});' for name in names)} }}")
    results = {angle: {op: text.name() for op in ("sin", "cos")} for angle in angles}
    for name, pair in zip(names, results.values(), strict=True):
        text.line("T {sin}, {cos};".format(**pair))
        text.line("turn({0}, {sin}, {cos});".format(name, **pair))
    return results


def _by_pattern(text: Text, node: Node, plan: LoopPlan, refs: Refs) -> None:
    """An array whose elements are all made in one way: a loop, in place of one that it is made from if that dies here.

    An argument of the kernel that is used as a whole is read in place.
    """
    pattern = plan.patterns[node]
    if isinstance(pattern, ArrayElement) and pattern.form is not None and pattern.first == 0 and pattern.is_whole:
        refs[node] = Place(pattern.form)
        return
    parts = list(elements(pattern))
    target = None
    for array in (e.array for e in parts if e.array is not None):
        dies = plan.last[array] <= node.index and array.type == node.type
        if dies and all(o.first == 0 for o in parts if o.array is array) and not refs[array].is_constant:
            target = refs[array]
    target = target or text.array(node.array_type)
    each(text, node.size, f"{target.at('k')} = {element(text, pattern, refs)};")
    refs[node] = target


def _array(text: Text, node: Node, refs: Refs, last: dict[Node, float]) -> None:
    if node in text.skipped:
        refs[node] = tuple(refs[arg] for arg in node.args)
        return
    refs[node] = text.array(node.array_type)
    for k, arg in enumerate(node.args):
        text.line(f"{refs[node].at(k)} = {refs[arg]};")


def _table(text: Text, node: Node, refs: Refs, last: dict[Node, float]) -> None:
    refs[node] = Place(text.unit.tables.name(node.data, node.element) + "({})")


def _get(text: Text, node: Node, refs: Refs, last: dict[Node, float]) -> None:
    array, index = (refs[arg] for arg in node.args)
    refs[node] = text.value(node.type, array.at(index))


def _set(text: Text, node: Node, refs: Refs, last: dict[Node, float]) -> None:
    array, index, value = (refs[arg] for arg in node.args)
    if node in text.skipped:
        refs[node] = array
        return
    if array.is_constant or last[node.args[0]] > node.index:  # the old array is still live
        fresh = text.array(node.array_type)
        copy(text, fresh, array, node.size)
        array = fresh
    text.line(f"{array.at(index)} = {value};")
    refs[node] = array


def _call(text: Text, node: Node, refs: Refs, last: dict[Node, float]) -> None:
    """Scalars are passed by value, arrays as pointers, results through references. A function that is called in one
    place alone is written there."""
    graph: Graph = node.data
    unit = text.unit
    if unit.calls[graph] == 1:
        free, inside = list(text.free), dict(zip(graph.params, (refs[arg] for arg in node.args), strict=True))
        ends = _graph(text, graph, inside)
        refs.update((user, ends[user.data]) for user in node.used_results())
        text.free = free
        return
    if graph not in unit.callees:
        name = unit.callees[graph] = f"function{len(unit.callees)}"
        inner = Text(unit)
        names = [inner.name() for _ in graph.params]
        places = [
            Place(n + "[{}]") if isinstance(p.type, tuple) else n for p, n in zip(graph.params, names, strict=True)
        ]
        ends = _graph(inner, graph, dict(zip(graph.params, places, strict=True)))
        parameters = [
            f"const {TYPES[p.type[0]]}* {n}" if isinstance(p.type, tuple) else f"const {TYPES[p.type]} {n}"
            for p, n in zip(graph.params, names, strict=True)
        ]
        parameters += [f"{TYPES[out.type]}& result{k}" for k, out in enumerate(graph.outputs)]
        body = [*inner.lines, *(f"  result{k} = {end};" for k, end in enumerate(ends))]
        head = f"static __device__ __noinline__ void {name}({', '.join(parameters)}) {{"
        unit.functions.append("\n".join([head, *body, "}"]))
    results = [text.name() for _ in graph.outputs]
    for name, out in zip(results, graph.outputs, strict=True):
        text.line(f"{TYPES[out.type]} {name};")
    arguments = [f"&{refs[arg].at(0)}" if isinstance(arg.type, tuple) else refs[arg] for arg in node.args]
    text.line(f"{unit.callees[graph]}({', '.join([*arguments, *results])});")
    for user in node.used_results():
        refs[user] = results[user.data]


_CONTROL_FLOW = {"array": _array, "table": _table, "get": _get, "set": _set, "call": _call}
