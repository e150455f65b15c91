"""The machine code of an assembly: elements read the rows of a few nodes, and add to rows of the same nodes.

A row is one load. The rows of `width` elements are transposed in registers, so that each element is one lane of the
graph; the results are transposed back and added one element after the other. The values of an element never go through
memory, and no two additions collide.

The results of a block are added while the next one is computed: a processor executes a few hundred instructions out of
order, and would otherwise wait for the end of each block. Every block takes the same instructions. In the last one,
lanes beyond the last element repeat its nodes and add zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.llvm.abi.packing import columns_of, load_row, rows_of, store_row
from poinsot.fuse.llvm.abi.status import any_nan, restore_flags, save_flags
from poinsot.fuse.llvm.emitter import LoopHead, literal_vector
from poinsot.fuse.llvm.lowering import Function
from poinsot.fuse.llvm.module import Module
from poinsot.fuse.llvm.target import Target
from poinsot.fuse.llvm.values import Ref


@dataclass(frozen=True)
class _Shape:
    """Arguments and results of an element: for each of its nodes, one row of each of these widths, and one of sums."""

    nodes: int
    widths: Sequence[int]
    sums: int

    @property
    def unit(self) -> int:
        """The shortest row."""
        return min(*self.widths, self.sums)

    @property
    def size(self) -> int:
        """The elements of all rows."""
        return self.nodes * sum(self.widths)


def assembly_module(graph: Graph, k: int, widths: Sequence[int], r: int, target: Target) -> str:
    """The text of a module with one function, `kernel`, for a graph that takes (k, c), ..., scalars, and gives (k, r).

    int kernel(nodes, padded, count, sums, rows ..., own ...) takes the addresses of the nodes (k, padded), of the sums
    (n, r), of rows (n, c) for each width c, and for each scalar of an array over the `count` elements. Nodes are 32-bit
    offsets in bytes for the shortest of these rows; `padded` is a multiple of `target.width`. It returns 1 if a NaN was
    added, else 0.
    """
    module, shape = Module(target, graph), _Shape(k, widths, r)
    f = Function(module)
    flags = save_flags(f)
    nans = _blocks(f, graph, shape)
    restore_flags(f, flags)
    some = f.zext(f.reduce("or", nans, "b"), "i1", "i32")
    arguments = ["ptr %nodes", "i64 %padded", "i64 %count", "ptr %sums"]
    arguments += [f"ptr %rows{number}" for number in range(len(widths))]
    arguments += [f"ptr %own{number}" for number in range(len(graph.params) - shape.size)]
    f.define(f"define i32 @kernel({', '.join(arguments)})", f"ret i32 {some}")
    return module.text()


def _blocks(f: Function, graph: Graph, shape: _Shape) -> str:
    """The loop over blocks, which adds the results of the block before; the lanes in which a NaN was made."""
    width, vector, mask = f.target.width, f.target.vector("f"), f.target.vector("b")
    results = _Results(graph, shape.nodes, shape.sums)
    last = f.sub("%padded", width)
    head = LoopHead(f, "blocks")
    first, nans = head.carry("i64", 0), head.carry(mask, "zeroinitializer")
    before = [head.carry(vector, "zeroinitializer") for _ in results.distinct]
    now = f.intrinsic("i64", "smin.i64", ("i64", first), ("i64", last))
    refs = _load_rows(f, graph, shape, now)
    late = f.intrinsic("i64", "smax.i64", ("i64", f.sub(first, width)), ("i64", 0))
    offsets = (_load_nodes(f, a, late) for a in range(shape.nodes))
    results.add(f, [_places(f, "%sums", of, shape.sums // shape.unit) for of in offsets], before)
    valid = _lanes_in_use(f, f.sub("%count", first))
    for number, param in enumerate(graph.params[shape.size :]):
        refs[param] = Ref(_load_own(f, number, first, valid), "f", False)
    f.graph(graph, refs)
    ends = [f.vector(refs[node]) for node in results.distinct]
    ends = [f.choose(valid, end, "zeroinitializer", "f") for end in ends]
    nans_so_far = f.or_(nans, any_nan(f, ends), mask)
    following = f.add(first, width)
    f.branch(f.icmp("sle", following, "%padded"), head.label, "end")
    head.close(following, nans_so_far, *ends)
    f.label("end")
    return nans_so_far


def _load_rows(f: Function, graph: Graph, shape: _Shape, first: str) -> dict[Node, Ref]:
    """The rows of all nodes of the elements from number `first` on, as vectors over the elements."""
    refs, start = dict[Node, Ref](), 0
    nodes = [_load_nodes(f, a, first) for a in range(shape.nodes)]
    for number, c in enumerate(shape.widths):
        places = [_places(f, f"%rows{number}", of, c // shape.unit) for of in nodes]
        refs |= _gather_columns(f, graph, graph.params[start : start + shape.nodes * c], places)
        start += shape.nodes * c
    return refs


def _load_nodes(f: Function, a: int, first: str) -> list[str]:
    """The offset of node number a, for each lane."""
    start = f.gep(f.gep("%nodes", f.mul("%padded", a), "i32"), first, "i32")
    places = [f.gep(start, lane, "i32") for lane in range(f.target.width)]
    return [f.zext(f.load("i32", place, 4), "i32", "i64") for place in places]


def _places(f: Function, base: str, offsets: Sequence[str], units: int) -> list[str]:
    return [f.gep(base, offset, f"[{units} x i8]") for offset in offsets]


def _lanes_in_use(f: Function, left: str) -> str:
    """The lanes below the number of elements that are left."""
    width = f.target.width
    lanes = f.splat(left, "i64", width)
    return f.icmp("sgt", lanes, literal_vector("i64", range(width)), f"<{width} x i64>")


def _load_own(f: Function, number: int, first: str, valid: str) -> str:
    """A scalar of each element; zero in lanes that are not in use."""
    t, vector, mask = f.target, f.target.vector("f"), (f.target.vector("b"), valid)
    place = ("ptr", f.gep(f"%own{number}", first, t.scalar("f")))
    name = f"masked.load.v{t.width}f{t.bits}.p0"
    return f.intrinsic(vector, name, place, ("i32", t.itemsize), mask, (vector, "zeroinitializer"))


def _gather_columns(
    f: Function, graph: Graph, columns: Sequence[Node], places: Sequence[Sequence[str]]
) -> dict[Node, Ref]:
    """The columns of the rows of each node; where two rows are only used for their difference, the columns of that."""
    k, c = len(places), len(columns) // len(places)
    groups: list[Sequence[Node | None]] = [columns[a * c : (a + 1) * c] for a in range(k)]
    differences = _differences(graph, columns) if k == 2 else None
    refs = {param: Ref("poison", "f", False) for param in columns}
    for first, count in _pieces(f, c):
        rows = [[load_row(f, _element(f, place, first), count) for place in of] for of in places]
        if differences is not None:
            groups, kind = [differences], f"<{count} x {f.target.scalar('f')}>"
            rows = [[f.fsub(y, x, kind) for x, y in zip(*rows, strict=True)]]
        for group, lanes in zip(groups, rows, strict=True):
            for node, text in zip(group[first : first + count], columns_of(f, lanes, count), strict=True):
                if node is not None:
                    refs[node] = Ref(text, "f", False)
    return refs


def _differences(graph: Graph, columns: Sequence[Node]) -> list[Node | None] | None:
    """For the columns of two rows x and y the nodes y - x, None where not used; None if there are other uses at all."""
    c = len(columns) // 2
    place = {param: number % c for number, param in enumerate(columns)}
    differences: list[Node | None] = [None] * c
    for node in graph.live():
        for column in {place[arg] for arg in node.args if arg in place}:
            if node.op != "sub" or node.args != (columns[c + column], columns[column]):
                return None
            differences[column] = node
    return None if any(node in place for node in graph.outputs) else differences


class _Results:
    """The values that are added to the sums of each node: `distinct` ones, which become the columns of its row."""

    def __init__(self, graph: Graph, k: int, r: int) -> None:
        self.groups = [graph.outputs[a * r : (a + 1) * r] for a in range(k)]
        self.source: list[
            int
        ] = []  # for each node: itself, or an earlier one whose results are the negative of its own
        for a, group in enumerate(self.groups):
            before = (b for b in range(a) if self.source[b] == b and all(map(_opposite, group, self.groups[b])))
            self.source.append(next(before, a))
        own = [node for a, group in enumerate(self.groups) if self.source[a] == a for node in group]
        self.distinct = [node for node in dict.fromkeys(own) if node.op != "const" or node.data != 0]

    def add(self, f: Function, places: Sequence[Sequence[str]], values: Sequence[str]) -> None:
        """Add to the sums, one node after the other, and for each node one lane after the other."""
        text = dict(zip(self.distinct, values, strict=True))
        rows: dict[tuple[int, int], list[str]] = {}
        for a, (group, source) in enumerate(zip(self.groups, self.source, strict=True)):
            operation = f.fadd if source == a else f.fsub
            for first, count in _pieces(f, len(group)):
                if source == a:
                    columns = [text.get(node, "zeroinitializer") for node in group[first : first + count]]
                    rows[a, first] = rows_of(f, columns)
                for place, row in zip(places[a], rows[source, first], strict=True):
                    address = _element(f, place, first)
                    old = load_row(f, address, count)
                    store_row(f, operation(old, row, f"<{count} x {f.target.scalar('f')}>"), address, count)


def _opposite(a: Node, b: Node) -> bool:
    if a.op == b.op == "const":
        return bool(a.data == -b.data)
    return (a.op == "neg" and a.args[0] is b) or (b.op == "neg" and b.args[0] is a)


def _pieces(f: Function, c: int) -> list[tuple[int, int]]:
    """Rows of c elements in pieces of at most `width`: where they begin, and how long they are."""
    return [(first, min(c, f.target.width)) for first in range(0, c, f.target.width)]


def _element(f: Function, place: str, k: int) -> str:
    return f.gep(place, k, f.target.scalar("f")) if k else place
