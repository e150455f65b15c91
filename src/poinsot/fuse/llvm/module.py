"""One LLVM module: functions, the constants that they read, and declarations of what they call."""

from poinsot.fuse.graph.memory import Numbers
from poinsot.fuse.graph.nodes import Graph, Node, Type
from poinsot.fuse.llvm.target import Target

SHORT = 1500  # operations; for code of that length, LLVM finds registers for values and constants itself, and for hasty
# code, in which a plan of them would be as much text again
_ATTRIBUTES = 'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }'


class Module:
    """The text of a module, for one kernel."""

    def __init__(self, target: Target, graph: Graph) -> None:
        self.target = target
        self.is_long = not target.hasty and sum(graph.count().values()) > SHORT
        self.functions: list[str] = []
        self.declarations: dict[str, str] = {}
        self.callees: dict[Graph, str] = {}  # the names of functions that have been written
        self._globals: list[str] = []
        self._tables: dict[tuple[Type, tuple[str, ...]] | Numbers, str] = {}
        self._constants: dict[str, int] = {}

    def text(self) -> str:
        kinds, values = (", ".join(x) for x in ([text.split()[0] for text in self._constants], self._constants))
        constants = f"@numbers = private constant {{{kinds}}} {{{values}}}, align 64"
        return "\n".join([constants, *self._globals, *self.declarations.values(), *self.functions, _ATTRIBUTES])

    def constant(self, node: Node) -> int:
        """The number of a constant in the list of all."""
        text = f"{self.target.scalar(node.type)} {self.target.literal(node.data, node.type)}"
        return self._constants.setdefault(text, len(self._constants))

    def table(self, data: tuple[float, ...] | Numbers, type_: Type) -> str:
        """The name of an array of constants."""
        if isinstance(data, Numbers):
            return self._bytes(data)
        key = (type_, tuple(map(repr, data)))
        if key not in self._tables:
            name = self._tables[key] = f"@table{len(self._tables)}"
            scalar = self.target.scalar(type_)
            body = ", ".join(f"{scalar} {self.target.literal(v, type_)}" for v in data)
            body = f"[{body}]" if any(map(_has_bits, data)) else "zeroinitializer"
            self._globals.append(f"{name} = private constant [{len(data)} x {scalar}] {body}, align 64")
        return self._tables[key]

    def _bytes(self, data: Numbers) -> str:
        """The name of an array of floats, written as bytes: LLVM reads these many times faster than numbers."""
        if data not in self._tables:
            name = self._tables[data] = f"@table{len(self._tables)}"
            content = data.array.astype(f"<f{self.target.itemsize}").tobytes()
            body = "\\" + content.hex("\\")
            self._globals.append(f'{name} = private constant [{len(content)} x i8] c"{body}", align 64')
        return self._tables[data]


def _has_bits(value: float) -> bool:
    return value != 0 or repr(value)[0] == "-"
