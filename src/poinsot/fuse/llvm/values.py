"""Values of a block of instances: vectors of `width` lanes, and scalars that are the same in all lanes (uniform).

In memory, a value is a vector; truth values are stored as integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from poinsot.fuse.graph.nodes import Node, Scalar, Type
from poinsot.fuse.llvm.emitter import Emitter, Operand
from poinsot.fuse.llvm.frame import Frame
from poinsot.fuse.llvm.module import Module


class Ref(NamedTuple):
    """A name in the text, of a scalar that is the same in all lanes or of a vector; of an array, its address."""

    text: str
    type: Type
    uniform: bool

    @property
    def element(self) -> Scalar:
        """The type of the elements of an array."""
        assert isinstance(self.type, tuple)
        return self.type[0]


@dataclass(frozen=True)
class ArgumentElement:
    """Where one element of an argument is: from the address of the first one, by steps in bytes along each axis."""

    f: Emitter
    base: str
    steps: Sequence[str]
    index: Sequence[int]

    def __call__(self) -> str:
        """Its address."""
        place = self.base
        for i, step in zip(self.index, self.steps, strict=True):
            if i:
                place = self.f.gep(place, self.f.mul(step, i))
        return place

    def follows(self, other: object) -> bool:
        """Whether it is the next one after another, in a row."""
        return (
            isinstance(other, ArgumentElement)
            and len(self.index) == 1
            and self.base == other.base
            and self.index[0] == other.index[0] + 1
        )


def stored(type_: Type) -> Type:
    """The type of a value in memory."""
    return "i" if type_ == "b" else type_


class VectorEmitter(Emitter):
    """The text of one function of a module, with words for vectors over the batch and their memory."""

    def __init__(self, module: Module) -> None:
        super().__init__(module.declarations)
        self.module, self.target = module, module.target
        self.frame = Frame(module.target, module.declarations)
        self._splats: dict[tuple[str, str, str], str] = {}  # by block, scalar and type

    def define(self, head: str, end: str) -> None:
        """The function is complete: into the module with it."""
        start = [f"{head} #0 {{", "entry:", *self.frame.entry.lines, "  br label %start", "start:"]
        self.module.functions.append("\n".join([*start, *self.lines, *self.frame.exit.lines, f"  {end}", "}"]))

    # Values.
    def constant(self, value: float, type_: Type, uniform: bool) -> str:
        literal = self.target.literal(value, type_)
        return literal if uniform else f"splat ({self.target.scalar(type_)} {literal})"

    def literal(self, node: Node) -> Ref:
        """The value of a constant node."""
        return Ref(self.target.literal(node.data, node.type), node.type, True)

    def scalar(self, ref: Ref) -> str:
        assert ref.uniform
        return ref.text

    def vector(self, ref: Ref) -> str:
        """The value in all lanes."""
        if not ref.uniform:
            return ref.text
        scalar = self.target.scalar(ref.type)
        if ref.text[0] != "%":
            return f"splat ({scalar} {ref.text})"
        key = (self.block, ref.text, scalar)
        if key not in self._splats:
            self._splats[key] = self.splat(ref.text, scalar, self.target.width)
        return self._splats[key]

    def choose(self, mask: str, a: str, b: str, type_: Type) -> str:
        """a in the lanes of a mask, b in the others."""
        return self.select(mask, a, b, self.target.vector(type_), self.target.vector("b"))

    def reduce(self, operation: str, text: str, type_: Type) -> str:
        """One scalar from all lanes."""
        scalar = self.target.scalar(type_)
        name = f"vector.reduce.{operation}.v{self.target.width}{scalar}"
        return self.intrinsic(scalar, name, (self.target.vector(type_), text))

    # Memory.
    def allocate(self, count: int) -> str:
        """Memory for vectors, for as long as the function runs."""
        return self.frame.allocate(count)

    def address(self, base: str, index: Operand, integer: str = "") -> str:
        """The address of the vector number `index`, an integer of the floats' size or of another."""
        return self.gep(base, index, self.target.vector("f"), integer or self.target.scalar("i"))

    def slot(self, number: int) -> str:
        """The address of a slot of the frame."""
        return self.address(*self.frame.slot(number))

    def read(self, base: str, k: Operand, type_: Type) -> Ref:
        """The vector number k of an array."""
        return self.read_at(self.address(base, k), type_)

    def read_at(self, address: str, type_: Type) -> Ref:
        vector = self.target.vector(stored(type_))
        text = self.load(vector, address, self.target.itemsize)
        if type_ == "b":
            text = self.trunc(text, vector, self.target.vector("b"))
        return Ref(text, type_, False)

    def write(self, base: str, k: Operand, ref: Ref) -> None:
        """The value becomes the vector number k of an array."""
        text = self.as_stored(ref)
        self.store(self.target.vector(stored(ref.type)), text, self.address(base, k), self.target.itemsize)

    def as_stored(self, ref: Ref) -> str:
        """The value in all lanes, as it is in memory."""
        text = self.vector(ref)
        return self.zext(text, self.target.vector("b"), self.target.vector("i")) if ref.type == "b" else text
