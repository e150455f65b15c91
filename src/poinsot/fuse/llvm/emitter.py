"""The vocabulary of LLVM's text: instructions, calls, branches and loops, written line by line.

Operands are names ("%v3") or literals, types are LLVM's own words. Where no type is named, numbers are i64, truth
values i1, and addresses count bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Operand = str | int
Typed = tuple[str, Operand]  # a type, and a value of it


def literal_vector(kind: str, values: Sequence[Operand]) -> str:
    return f"<{', '.join(f'{kind} {value}' for value in values)}>"


class Emitter:
    """A piece of LLVM text. Each word appends its instruction and returns the name of the result."""

    def __init__(self, declarations: dict[str, str], prefix: str = "v") -> None:
        self.lines: list[str] = []
        self.block = "start"  # the label of the block that is being written
        self.declarations = declarations  # of the functions that are called, by name
        self._prefix, self._count = prefix, 0

    # Lines.
    def number(self) -> int:
        """A new one, for labels."""
        self._count += 1
        return self._count

    def fresh(self) -> str:
        """A new name."""
        return f"%{self._prefix}{self.number()}"

    def op(self, text: str) -> str:
        """An instruction with a result."""
        self._count += 1
        name = f"%{self._prefix}{self._count}"  # as of `fresh`, once for each line of the text
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name

    # Arithmetic.
    def add(self, a: Operand, b: Operand, kind: str = "i64") -> str:
        return self.op(f"add {kind} {a}, {b}")

    def sub(self, a: Operand, b: Operand, kind: str = "i64") -> str:
        return self.op(f"sub {kind} {a}, {b}")

    def mul(self, a: Operand, b: Operand, kind: str = "i64") -> str:
        return self.op(f"mul {kind} {a}, {b}")

    def udiv(self, a: Operand, b: Operand, kind: str = "i64") -> str:
        return self.op(f"udiv {kind} {a}, {b}")

    def fadd(self, a: str, b: str, kind: str) -> str:
        return self.op(f"fadd {kind} {a}, {b}")

    def fsub(self, a: str, b: str, kind: str) -> str:
        return self.op(f"fsub {kind} {a}, {b}")

    def fdiv(self, a: str, b: str, kind: str) -> str:
        return self.op(f"fdiv {kind} {a}, {b}")

    def fneg(self, a: str, kind: str) -> str:
        return self.op(f"fneg {kind} {a}")

    def and_(self, a: Operand, b: Operand, kind: str = "i1") -> str:
        return self.op(f"and {kind} {a}, {b}")

    def or_(self, a: Operand, b: Operand, kind: str = "i1") -> str:
        return self.op(f"or {kind} {a}, {b}")

    def xor(self, a: Operand, b: Operand, kind: str = "i1") -> str:
        return self.op(f"xor {kind} {a}, {b}")

    def icmp(self, test: str, a: Operand, b: Operand, kind: str = "i64") -> str:
        return self.op(f"icmp {test} {kind} {a}, {b}")

    def fcmp(self, test: str, a: str, b: str, kind: str) -> str:
        return self.op(f"fcmp {test} {kind} {a}, {b}")

    def select(self, test: str, a: Operand, b: Operand, kind: str = "i64", tests: str = "i1") -> str:
        """a where the test is true, else b."""
        return self.op(f"select {tests} {test}, {kind} {a}, {kind} {b}")

    def zext(self, a: str, kind: str, to: str) -> str:
        return self.op(f"zext {kind} {a} to {to}")

    def trunc(self, a: str, kind: str, to: str) -> str:
        return self.op(f"trunc {kind} {a} to {to}")

    def ptrtoint(self, address: str) -> str:
        return self.op(f"ptrtoint ptr {address} to i64")

    # Memory.
    def alloca(self, kind: str, align: int) -> str:
        return self.op(f"alloca {kind}, align {align}")

    def gep(self, base: str, index: Operand, kind: str = "i8", integer: str = "i64") -> str:
        """The address of element number `index` of an array of `kind`."""
        return self.op(f"getelementptr {kind}, ptr {base}, {integer} {index}")

    def load(self, kind: str, address: str, align: int = 0, volatile: bool = False) -> str:
        return self.op(f"load {'volatile ' * volatile}{kind}, ptr {address}{f', align {align}' if align else ''}")

    def store(self, kind: str, value: str, address: str, align: int = 0, volatile: bool = False) -> None:
        where = f"ptr {address}{f', align {align}' if align else ''}"
        self.line(f"store {'volatile ' * volatile}{kind} {value}, {where}")

    def store_nontemporal(self, kind: str, value: str, address: str, align: int) -> None:
        """Straight to memory: it leaves no copy in the caches."""
        self.declarations["!1"] = "!1 = !{i32 1}"
        self.line(f"store {kind} {value}, ptr {address}, align {align}, !nontemporal !1")

    # Vectors and structures.
    def insert(self, vector: str, kind: str, value: Operand, scalar: str, lane: int) -> str:
        return self.op(f"insertelement {kind} {vector}, {scalar} {value}, i64 {lane}")

    def shuffle(self, a: str, b: str, kind: str, lanes: Sequence[int]) -> str:
        """The lanes with these numbers, of a and then of b."""
        chosen = literal_vector("i32", lanes) if any(lanes) else "zeroinitializer"
        return self.op(f"shufflevector {kind} {a}, {kind} {b}, <{len(lanes)} x i32> {chosen}")

    def splat(self, value: Operand, scalar: str, width: int) -> str:
        """A vector of this value in all lanes."""
        kind = f"<{width} x {scalar}>"
        return self.shuffle(self.insert("poison", kind, value, scalar, 0), "poison", kind, [0] * width)

    def extract(self, structure: str, kind: str, k: int) -> str:
        return self.op(f"extractvalue {kind} {structure}, {k}")

    def insert_value(self, structure: str, kind: str, value: str, member: str, k: int) -> str:
        return self.op(f"insertvalue {kind} {structure}, {member} {value}, {k}")

    # Calls.
    def call(self, result: str, function: str, *arguments: Typed) -> str:
        text = f"call {result} {function}({', '.join(f'{kind} {value}' for kind, value in arguments)})"
        if result != "void":
            return self.op(text)
        self.line(text)
        return ""

    def call_external(self, result: str, function: str, *arguments: Typed) -> str:
        """Call a function from outside of the module, and declare it."""
        self.declarations[function] = f"declare {result} {function}({', '.join(kind for kind, _ in arguments)})"
        return self.call(result, function, *arguments)

    def intrinsic(self, result: str, name: str, *arguments: Typed) -> str:
        """Call an intrinsic function of LLVM."""
        return self.call_external(result, f"@llvm.{name}", *arguments)

    # Control flow.
    def jump(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch(self, test: str, yes: str, no: str, weights: str = "") -> None:
        self.line(f"br i1 {test}, label %{yes}, label %{no}{f', !prof {weights}' if weights else ''}")

    def phi(self, kind: str, *sources: tuple[Operand, str]) -> str:
        """The value that belongs to the block from which control came."""
        return self.op(_phi(kind, sources))

    @contextmanager
    def when(self, test: str) -> Iterator[Callable[[], None]]:
        """If the test is true: what is written inside. `with f.when(test) as otherwise` gives a function: what is
        written after it has been called is done if the test is false."""
        number, began = self.number(), list[str]()
        self.branch(test, f"yes{number}", f"no{number}")
        self.label(f"yes{number}")

        def otherwise() -> None:
            began.append("no")
            self.jump(f"both{number}")
            self.label(f"no{number}")

        yield otherwise
        if not began:
            otherwise()
        self.jump(f"both{number}")
        self.label(f"both{number}")

    @contextmanager
    def unless(self, test: str) -> Iterator[None]:
        """If the test is false: what is written inside."""
        with self.when(test) as otherwise:
            otherwise()
            yield

    @contextmanager
    def repeat(self, count: Operand, integer: str = "i64") -> Iterator[str]:
        """for i in range(count): what is written inside, at least once."""
        number = self.number()
        loop = LoopHead(self, f"each{number}")
        i = loop.carry(integer, 0)
        yield i
        following = self.add(i, 1, integer)
        more = self.icmp("slt", following, count, integer)
        self.branch(more, loop.label, f"after{number}")
        loop.close(following)
        self.label(f"after{number}")


class LoopHead:
    """The block in which each iteration of a loop begins, and the values that one iteration hands to the next."""

    def __init__(self, f: Emitter, label: str) -> None:
        self.f, self.label, self._before = f, label, f.block
        self._carried: list[tuple[str, str, Operand]] = []
        f.jump(label)
        f.label(label)
        self._position = len(f.lines)

    def carry(self, kind: str, start: Operand) -> str:
        """The name of a value that begins with this one."""
        self._carried.append((self.f.fresh(), kind, start))
        return self._carried[-1][0]

    def close(self, *ends: Operand) -> None:
        """End the loop: the next iteration follows the present block, and begins with these values."""
        self.f.lines[self._position : self._position] = [
            f"  {name} = {_phi(kind, [(start, self._before), (end, self.f.block)])}"
            for (name, kind, start), end in zip(self._carried, ends, strict=True)
        ]


def _phi(kind: str, sources: Sequence[tuple[Operand, str]]) -> str:
    return f"phi {kind} {', '.join(f'[{value}, %{block}]' for value, block in sources)}"
