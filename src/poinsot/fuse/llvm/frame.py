"""The memory of one function: arrays, slots in which values wait, and short ways to them and to constants.

Addresses near one that is in a register of its own are short, and so are the instructions that use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poinsot.fuse.llvm.lowering import Module

_LARGE = 1 << 16  # bytes; a stack has a few million
_NEAR = 256  # elements around an address that can be written in one byte


class Frame:
    """What is allocated on entry and freed on exit, as text."""

    def __init__(self, module: Module) -> None:
        self.module, self.target = module, module.target
        self.entry: list[str] = []  # allocations: they belong into the first block
        self.exit: list[str] = []  # and their end
        self.free: list[int] = []  # slots not in use
        self._count = 0
        self._taken, self._rooms = 0, list[str]()  # how many slots there are, and the middle of each row of them
        self._numbers = dict[tuple[int, bool], str]()  # the middle of each row of constants, twice
        self._turns = dict[int, bool]()  # which of the two was taken last

    def allocate(self, count: int) -> str:
        """Room for vectors, for as long as the function runs: on the stack, or if large, elsewhere."""
        name, size = self._name(), max(count, 1) * self.target.size
        if size <= _LARGE:
            self.entry.append(f"  {name} = alloca [{max(count, 1)} x {self.target.vector('f')}], align 64")
        else:
            self.module.declarations |= {"malloc": "declare ptr @malloc(i64)", "free": "declare void @free(ptr)"}
            self.module.declarations["ptrmask"] = "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"
            self.entry += [  # on a line of the cache
                f"  {name}.all = call ptr @malloc(i64 {size + 64})",
                f"  {name}.end = getelementptr i8, ptr {name}.all, i64 63",
                f"  {name} = call ptr @llvm.ptrmask.p0.i64(ptr {name}.end, i64 -64)",
            ]
            self.exit.append(f"  call void @free(ptr {name}.all)")
        return name

    def take_slot(self) -> int:
        """Room for one vector: its number."""
        if self.free:
            return self.free.pop()
        if self._taken % _NEAR == 0:
            self._rooms.append(self._middle(self.allocate(_NEAR), self.target.size))
        self._taken += 1
        return self._taken - 1

    def slot(self, number: int) -> tuple[str, str]:
        """An address, and how many vectors from there a slot lies."""
        return self._rooms[number // _NEAR], str(number % _NEAR - _NEAR // 2)

    def number(self, k: int) -> tuple[str, int]:
        """An address, and how many numbers from there a constant of the module lies: from two registers in turn, so
        that the compiler does not keep it for the next use."""
        self._turns[k] = not self._turns.get(k)
        key = k // _NEAR, self._turns[k]
        if key not in self._numbers:
            base = f"getelementptr (i{self.target.bits}, ptr @numbers, i64 {k // _NEAR * _NEAR})"
            self._numbers[key] = self._middle(base, self.target.itemsize)
        return self._numbers[key], k % _NEAR - _NEAR // 2

    def _middle(self, base: str, size: int) -> str:
        """The address in the middle of so many elements of this size, which the compiler does not see through."""
        name = self._name()
        self.entry += [
            f"  {name}.half = getelementptr i8, ptr {base}, i64 {_NEAR // 2 * size}",
            f'  {name} = call ptr asm "", "=r,0"(ptr {name}.half)',
        ]
        return name

    def _name(self) -> str:
        self._count += 1
        return f"%m{self._count}"
