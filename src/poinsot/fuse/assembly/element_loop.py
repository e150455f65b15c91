"""The machine code of an assembly: elements read the rows of a few nodes, and add to rows of the same nodes.

A row is one load. The rows of `width` elements are transposed in registers, so that each element is one lane of the
graph; what comes out is transposed back and added one element after the other. Nothing that belongs to an element goes
through memory, and no two additions collide.

The results of a block are added while the next one is computed: a processor looks a few hundred instructions ahead, and
would otherwise wait for the end of each block. Every block takes the same instructions. In the last one, lanes beyond
the last element repeat its nodes and add zero.
"""

from collections.abc import Sequence

from poinsot.fuse.graph.nodes import Graph, Node
from poinsot.fuse.llvm import structure as structure
from poinsot.fuse.llvm.abi.packing import columns_of, load_row, rows_of, store_row
from poinsot.fuse.llvm.abi.status import any_nan, restore_flags, save_flags
from poinsot.fuse.llvm.instructions import Target
from poinsot.fuse.llvm.lowering import Function, Module, Ref


def assembly_module(graph: Graph, k: int, widths: Sequence[int], r: int, target: Target) -> str:
    """The text of a module with one function, `kernel`, for a graph that takes (k, c), ..., scalars, and gives (k, r).

    int kernel(nodes, padded, count, sums, rows ..., own ...) takes the addresses of the nodes (k, padded), of the sums
    (n, r), of rows (n, c) for each width c, and for each scalar of an array over the `count` elements. Nodes are 32-bit
    offsets in bytes for the shortest of these rows; `padded` is a multiple of `target.width`. It returns 1 if a NaN was
    added, else 0.
    """
    module = Module(target, graph)
    f = Function(module)
    width, vector, mask = target.width, target.vector("f"), target.vector("b")
    own, unit = graph.params[k * sum(widths) :], min(*widths, r)
    results = _Results(graph, k, r)
    flags = save_flags(f)
    last = f.op(f"sub i64 %padded, {width}")
    f.line("br label %blocks")
    f.label("blocks")
    first, nan, position = f.fresh(), f.fresh(), len(f.lines)
    before = [f.fresh() for _ in results.distinct]

    now = f.intrinsic("smin.i64", "i64", "i64", first, last)
    nodes, start = [_load_nodes(f, a, now) for a in range(k)], 0
    refs: dict[Node, Ref] = {}
    for number, c in enumerate(widths):
        places = [_places(f, f"%rows{number}", of, c // unit) for of in nodes]
        refs |= _gather(f, graph, graph.params[start : start + k * c], places)
        start += k * c
    late = f.intrinsic("smax.i64", "i64", "i64", f.op(f"sub i64 {first}, {width}"), "0")
    results.add(f, [_places(f, "%sums", _load_nodes(f, a, late), r // unit) for a in range(k)], before)
    valid = _lanes_in_use(f, f.op(f"sub i64 %count, {first}"))
    refs |= {param: Ref(_load_own(f, number, first, valid), "f", False) for number, param in enumerate(own)}
    f.graph(graph, refs)
    ends = [f.vector(refs[node]) for node in results.distinct]
    ends = [f.op(f"select {mask} {valid}, {vector} {end}, {vector} zeroinitializer") for end in ends]
    found = f.op(f"or {mask} {nan}, {any_nan(f, ends)}")

    following = f.op(f"add i64 {first}, {width}")
    more = f.op(f"icmp sle i64 {following}, %padded")
    f.line(f"br i1 {more}, label %blocks, label %end")
    carried = [(first, "i64", "0", following), (nan, mask, "zeroinitializer", found)]
    carried += [(b, vector, "zeroinitializer", end) for b, end in zip(before, ends, strict=True)]
    f.lines[position:position] = [
        f"  {name} = phi {kind} [{start}, %start], [{end}, %{f.block}]" for name, kind, start, end in carried
    ]
    f.label("end")
    restore_flags(f, flags)
    some = f.op(f"zext i1 {f.reduce('or', found, 'b')} to i32")
    arguments = ["ptr %nodes", "i64 %padded", "i64 %count", "ptr %sums"]
    arguments += [f"ptr %rows{number}" for number in range(len(widths))]
    arguments += [f"ptr %own{number}" for number in range(len(own))]
    module.functions.append(f.define(f"define i32 @kernel({', '.join(arguments)})", f"ret i32 {some}"))
    return module.text()


def _load_nodes(f: Function, a: int, first: str) -> list[str]:
    """The offset of node number a, for each lane."""
    start = f.op(f"getelementptr i32, ptr %nodes, i64 {f.op(f'mul i64 %padded, {a}')}")
    start = f.op(f"getelementptr i32, ptr {start}, i64 {first}")
    places = [f.op(f"getelementptr i32, ptr {start}, i64 {lane}") for lane in range(f.target.width)]
    return [f.op(f"zext i32 {f.op(f'load i32, ptr {place}, align 4')} to i64") for place in places]


def _places(f: Function, base: str, offsets: Sequence[str], units: int) -> list[str]:
    return [f.op(f"getelementptr [{units} x i8], ptr {base}, i64 {offset}") for offset in offsets]


def _lanes_in_use(f: Function, left: str) -> str:
    """The lanes below the number of elements that are left."""
    width, integers = f.target.width, f"<{f.target.width} x i64>"
    splat = f.op(f"insertelement {integers} poison, i64 {left}, i64 0")
    splat = f.op(f"shufflevector {integers} {splat}, {integers} poison, <{width} x i32> zeroinitializer")
    return f.op(f"icmp sgt {integers} {splat}, <{', '.join(f'i64 {lane}' for lane in range(width))}>")


def _load_own(f: Function, number: int, first: str, valid: str) -> str:
    """A scalar of each element; zero in lanes that are not in use."""
    t, vector, mask = f.target, f.target.vector("f"), f.target.vector("b")
    name = f"llvm.masked.load.v{t.width}f{t.bits}.p0"
    f.module.declarations[name] = f"declare {vector} @{name}(ptr, i32, {mask}, {vector})"
    place = f.op(f"getelementptr {t.scalar('f')}, ptr %own{number}, i64 {first}")
    return f.op(f"call {vector} @{name}(ptr {place}, i32 {t.itemsize}, {mask} {valid}, {vector} zeroinitializer)")


def _gather(f: Function, graph: Graph, columns: Sequence[Node], places: Sequence[Sequence[str]]) -> dict[Node, Ref]:
    """The columns of the rows of each node; where two rows are used for their difference alone, the columns of that."""
    k, c = len(places), len(columns) // len(places)
    groups: list[Sequence[Node | None]] = [columns[a * c : (a + 1) * c] for a in range(k)]
    differences = _differences(graph, columns) if k == 2 else None
    refs = {param: Ref("poison", "f", False) for param in columns}
    for first, count in _pieces(f, c):
        rows = [[load_row(f, _element(f, place, first), count) for place in of] for of in places]
        if differences is not None:
            groups, kind = [differences], f"<{count} x {f.target.scalar('f')}>"
            rows = [[f.op(f"fsub {kind} {y}, {x}") for x, y in zip(*rows, strict=True)]]
        for group, lanes in zip(groups, rows, strict=True):
            for node, text in zip(group[first : first + count], columns_of(f, lanes, count), strict=True):
                if node is not None:
                    refs[node] = Ref(text, "f", False)
    return refs


def _differences(graph: Graph, columns: Sequence[Node]) -> list[Node | None] | None:
    """For the columns of two rows x and y the nodes y - x, None where not used; None if there are other uses at all."""
    c = len(columns) // 2
    place = {param: number % c for number, param in enumerate(columns)}
    found: list[Node | None] = [None] * c
    for node in graph.live():
        for column in {place[arg] for arg in node.args if arg in place}:
            if node.op != "sub" or node.args != (columns[c + column], columns[column]):
                return None
            found[column] = node
    return None if any(node in place for node in graph.outputs) else found


class _Results:
    """What is added to the sums of each node: `distinct` values, which become the columns of its row."""

    def __init__(self, graph: Graph, k: int, r: int) -> None:
        self.groups = [graph.outputs[a * r : (a + 1) * r] for a in range(k)]
        self.source: list[int] = []  # of each node: itself, or the one before whose results are the negative of its own
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
            operation = "fadd" if source == a else "fsub"
            for first, count in _pieces(f, len(group)):
                if source == a:
                    columns = [text.get(node, "zeroinitializer") for node in group[first : first + count]]
                    rows[a, first] = rows_of(f, columns)
                for place, row in zip(places[a], rows[source, first], strict=True):
                    address = _element(f, place, first)
                    old = load_row(f, address, count)
                    new = f.op(f"{operation} <{count} x {f.target.scalar('f')}> {old}, {row}")
                    store_row(f, new, address, count)


def _opposite(a: Node, b: Node) -> bool:
    if a.op == b.op == "const":
        return bool(a.data == -b.data)
    return (a.op == "neg" and a.args[0] is b) or (b.op == "neg" and b.args[0] is a)


def _pieces(f: Function, c: int) -> list[tuple[int, int]]:
    """Rows of c elements in pieces of at most `width`: where they begin, and how long they are."""
    return [(first, min(c, f.target.width)) for first in range(0, c, f.target.width)]


def _element(f: Function, place: str, k: int) -> str:
    return f.op(f"getelementptr {f.target.scalar('f')}, ptr {place}, i64 {k}") if k else place
