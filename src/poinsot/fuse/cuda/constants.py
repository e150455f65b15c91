"""Constants in CUDA C++: literals, and the tables that are indexed at run time.

A table is read as `table3(k)`, wherever it is stored. Small tables are in constant memory, whose cache is fast and
small. More of them are copied to shared memory by each block, where tables of one length are packed: one row for each
index, so that several entries are read at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from poinsot.fuse.graph.nodes import Type

TYPES: dict[Type, str] = {"f": "T", "i": "int", "u": "unsigned int", "b": "bool"}
CACHED = 2048  # bytes of tables that the cache of constant memory holds
CONSTANT = 60_000  # bytes of tables that go to constant memory, which holds 65,536
PACKED = 28_000  # bytes of packed tables that go to shared memory: each block of a multiprocessor has a copy


def literal(value: float, type_: Type, float64: bool) -> str:
    """A constant as C++ writes it, exactly."""
    if type_ == "b":
        return "true" if value else "false"
    if type_ in ("i", "u"):
        return str(value) + "u" * (type_ == "u")
    with np.errstate(over="ignore"):
        number = float(value if float64 else np.float32(value))
    if number != number:
        return '(T)nan("")'
    if abs(number) == float("inf"):
        return f"(T)__int_as_float(0x{'ff' if number < 0 else '7f'}800000)"  # no literal stands for infinity
    return number.hex() + ("" if float64 else "f")


@dataclass
class Tables:
    """The tables of one translation unit, and their names."""

    float64: bool
    names: dict[tuple[Type, tuple[float, ...]], str] = field(default_factory=dict)

    def name(self, data: tuple[float, ...], type_: Type) -> str:
        return self.names.setdefault((type_, data), f"table{len(self.names)}")

    @property
    def itemsize(self) -> int:
        return 8 if self.float64 else 4

    def packed(self) -> "PackedTables":
        """Tables of floats for shared memory; none, if they are so few that constant memory is better, or too many."""
        packed, floats = PackedTables(), [(data, name) for (type_, data), name in self.names.items() if type_ == "f"]
        if sum(len(data) for data, _ in floats) * self.itemsize > PACKED:
            return packed
        for length in dict.fromkeys(len(data) for data, _ in floats):
            packed.add([(data, name) for data, name in floats if len(data) == length])
        size = sum(len(data) for data, _ in floats) * self.itemsize
        return packed if size > CACHED and len(packed.numbers) * self.itemsize <= PACKED else PackedTables()

    def declarations(self) -> list[str]:
        """Lines that declare all tables; `FILL_ROWS` copies the packed ones to the first ROWS elements of shared
        memory."""
        packed = self.packed()
        rest = {key: name for key, name in self.names.items() if not packed.numbers or key[0] != "f"}
        size = sum(len(data) for _, data in rest) * self.itemsize
        lines = [
            "extern __shared__ __align__(16) T pool[];",
            f"#define ROWS {len(packed.numbers)}",
            "#define FILL_ROWS",
            *packed.macros,
        ]
        if packed.numbers:
            lines.append(f"__device__ const T rows[] = {{{self._list(packed.numbers, 'f')}}};")
            lines[2] += " for (int k = threadIdx.x; k < ROWS; k += blockDim.x) pool[k] = rows[k]; __syncthreads();"
        for (type_, data), name in rest.items():
            memory = "__constant__" if size <= CONSTANT else "__device__"
            lines += [
                f"{memory} const {TYPES[type_]} {name}_[] = {{{self._list(data, type_)}}};",
                f"#define {name}(k) {name}_[k]",
            ]
        return lines

    def _list(self, data: Iterable[float], type_: Type) -> str:
        return ", ".join(literal(value, type_, self.float64) for value in data)


@dataclass
class PackedTables:
    """Tables row by row, one row for each index: all numbers, and the macros that read them."""

    numbers: list[float] = field(default_factory=list)
    macros: list[str] = field(default_factory=list)

    def add(self, tables: list[tuple[tuple[float, ...], str]]) -> None:
        """Tables of one length; rows are padded, so that each starts where four numbers can be read at once."""
        first, width = len(self.numbers), -(-len(tables) // 4) * 4
        self.macros += [f"#define {name}(k) pool[{first} + (k) * {width} + {j}]" for j, (_, name) in enumerate(tables)]
        blank = [0.0] * (width - len(tables))
        self.numbers += [x for row in zip(*(data for data, _ in tables), strict=True) for x in (*row, *blank)]
