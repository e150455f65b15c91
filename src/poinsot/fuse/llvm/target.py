"""The processor that code is made for."""

import functools
import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poinsot.fuse.graph.nodes import Type


@dataclass(frozen=True)
class Target:
    """How many lanes a vector has, how precise floats are, the family of the processor ("x86", "arm" or "other"), and
    how many vector registers it has. `hasty`: the code is used so little that it is worth more to have it soon."""

    width: int
    float64: bool = True
    processor: str = "x86"
    registers: int = 32
    hasty: bool = False

    @property
    def bits(self) -> int:
        return 64 if self.float64 else 32

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    @property
    def size(self) -> int:
        """Bytes of a vector."""
        return self.width * self.itemsize

    def scalar(self, type_: Type) -> str:
        return _scalars(self.float64)[type_]

    def short(self, type_: Type) -> str:
        """The name of a type of numbers inside the names of intrinsic functions."""
        return f"f{self.bits}" if type_ == "f" else self.scalar(type_)

    def bytes(self, type_: Type) -> int:
        """The size of a number."""
        return 4 if type_ == "u" else self.itemsize

    def vector(self, type_: Type) -> str:
        return _vectors(self.width, self.float64)[type_]

    def literal(self, value: float, type_: Type) -> str:
        """A constant as LLVM writes it, exactly."""
        if type_ == "b":
            return "true" if value else "false"
        if type_ == "i":
            return str(_wrapped(int(value), self.bits))
        if type_ == "u":
            return str(_wrapped(int(value), 32))
        if not self.float64:
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        return "0x" + struct.pack(">d", value).hex().upper()


@functools.cache
def _scalars(float64: bool) -> dict[Type, str]:
    """The names of the types of numbers."""
    bits = 64 if float64 else 32
    return {"f": "double" if float64 else "float", "i": f"i{bits}", "u": "i32", "b": "i1"}


@functools.cache
def _vectors(width: int, float64: bool) -> dict[Type, str]:
    return {type_: f"<{width} x {scalar}>" for type_, scalar in _scalars(float64).items()}


def _wrapped(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


class Host(NamedTuple):
    """The processor of this machine, in LLVM's words, with the bytes of its vectors and its family."""

    name: str
    features: str
    vector_bytes: int
    family: str


@functools.cache
def host() -> Host:
    """The processor of this machine."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    width = 64 if features.get("avx512f") and features.get("avx512dq") else 32 if features.get("avx") else 16
    triple = llvm.get_default_triple()
    family = "x86" if triple.startswith("x86_64") else "arm" if triple.startswith(("aarch64", "arm64")) else "other"
    return Host(llvm.get_host_cpu_name(), features.flatten(), width, family)


def this_machine(itemsize: int) -> Target:
    """The target for floats of so many bytes on this machine."""
    width, family = host().vector_bytes, host().family
    return Target(width // itemsize, itemsize == 8, family, 32 if width == 64 or family == "arm" else 16)
