"""The memory of one function: arrays, spill slots, and short addresses of these and of constants.

Addresses near one that is in a register of its own are short, and so are the instructions that use them.
"""

from poinsot.fuse.llvm.emitter import Emitter
from poinsot.fuse.llvm.target import Target

_LARGE = 1 << 16  # bytes; a stack has a few million
_NEAR = 256  # elements around an address whose distances fit into one byte


class Frame:
    """Allocations on entry to a function, and their end on exit."""

    def __init__(self, target: Target, declarations: dict[str, str]) -> None:
        self.target = target
        self.entry = Emitter(declarations, "m")  # allocations belong into the first block
        self.exit = Emitter(declarations)
        self.free: list[int] = []  # slots not in use
        self._slots, self._slot_bases = 0, list[str]()  # how many slots there are; the middle of each group of them
        self._constant_bases = dict[tuple[int, bool], str]()  # the middle of each group of constants, twice
        self._second = dict[int, bool]()  # which of the two was taken last, by the number of the constant

    def allocate(self, count: int) -> str:
        """Memory for vectors, for as long as the function runs: on the stack, or if large, on the heap."""
        entry, size = self.entry, max(count, 1) * self.target.size
        if size <= _LARGE:
            return entry.alloca(f"[{max(count, 1)} x {self.target.vector('f')}]", 64)
        memory = entry.call_external("ptr", "@malloc", ("i64", size + 64))
        self.exit.call_external("void", "@free", ("ptr", memory))
        end = entry.gep(memory, 63)
        return entry.intrinsic("ptr", "ptrmask.p0.i64", ("ptr", end), ("i64", -64))  # on a line of the cache

    def take_slot(self) -> int:
        """Memory for one vector: its number."""
        if self.free:
            return self.free.pop()
        if self._slots % _NEAR == 0:
            self._slot_bases.append(self._middle(self.allocate(_NEAR), self.target.size))
        self._slots += 1
        return self._slots - 1

    def slot(self, number: int) -> tuple[str, int]:
        """An address, and the distance of a slot from there, in vectors."""
        return self._slot_bases[number // _NEAR], number % _NEAR - _NEAR // 2

    def constant(self, number: int) -> tuple[str, int]:
        """An address, and the distance from there of a constant of the module, in elements.

        The address comes from two registers alternately, so that the compiler does not keep the constant for its next
        use.
        """
        self._second[number] = not self._second.get(number)
        key = number // _NEAR, self._second[number]
        if key not in self._constant_bases:
            base = f"getelementptr (i{self.target.bits}, ptr @numbers, i64 {number // _NEAR * _NEAR})"
            self._constant_bases[key] = self._middle(base, self.target.itemsize)
        return self._constant_bases[key], number % _NEAR - _NEAR // 2

    def _middle(self, base: str, size: int) -> str:
        """The address in the middle of a group of elements of this size; the compiler does not see how it is made."""
        half = self.entry.gep(base, _NEAR // 2 * size)
        return self.entry.call("ptr", 'asm "", "=r,0"', ("ptr", half))
