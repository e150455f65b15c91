"""Assembly: elements that join a few nodes each, and the sums of their contributions to the nodes."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot.fuse.assembly.element_loop import assembly_module
from poinsot.fuse.kernels import Kernel
from poinsot.fuse.llvm import jit
from poinsot.fuse.llvm.target import this_machine

_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


class Assembly:
    """sums[nodes[e]] += f(rows[nodes[e]], ..., own[e], ...) for all elements e, in one compiled loop.

    `f` is a kernel of one element, with a signature like "(2,4),(2,4),(3)->(2,4)": first come rows of its k nodes, from
    as many arrays as `rows` says, then the element's own numbers; the result is added to the same nodes. `nodes` (e, k)
    are numbers of rows. Rows have 1, 2, 4, 8, ... numbers, so that each is one load: pad them with zeros.

    Elements are processed in order, a vector of them at a time, by one thread: on one kind of processor the same input
    gives the same bits. It is fast if consecutive nodes are close to each other in memory, and different: an addition
    to a row waits for the previous addition to the same row.
    """

    def __init__(self, f: Kernel, nodes: Any, rows: int = 1) -> None:
        if f.backend == "cuda":
            raise ValueError(f"{f!r} is for the GPU, but an assembly runs on the processor: leave out .to('cuda')")
        self.f, self.nodes, self.rows = f, np.array(nodes), rows
        self.nodes.setflags(write=False)
        program = f.program()
        shapes = [*program.inputs[:rows], *program.outputs]
        if len(shapes) != rows + 1 or len({shape[:1] for shape in shapes}) != 1 or {*map(len, shapes)} != {2}:
            raise ValueError(
                f"{f!r} is not a function of an element; its signature must be like {'(k,c),' * rows}...->(k,r)"
            )
        k, self._widths = shapes[0][0], [shape[1] for shape in shapes]
        for size in self._widths:
            if size < 1 or size & (size - 1):
                raise ValueError(f"{f!r} has rows of {size} numbers; pad them with zeros to 1, 2, 4, 8, ...")
        if self.nodes.ndim != 2 or self.nodes.shape[1] != k or self.nodes.dtype.kind not in "iu":
            raise ValueError(
                f"nodes must be integers of shape (e, {k}), the rows that each element of {f!r} joins; got an array of "
                f"{self.nodes.dtype} of shape {self.nodes.shape}"
            )
        low, self._high = int(self.nodes.min(initial=0)), int(self.nodes.max(initial=-1))
        if low < 0:
            raise ValueError(f"node {low} does not exist: rows count from 0")

    def __len__(self) -> int:
        """The number of elements."""
        return len(self.nodes)

    def __reduce__(self) -> Any:
        return Assembly, (self.f, self.nodes, self.rows)

    def add_to(self, sums: np.ndarray, *args: Any) -> None:
        """Add the contributions of all elements to `sums` (n, r), in place.

        The arguments are those of `f`, for all nodes and elements: the rows (n, c), and the elements' own numbers,
        (e, ...) or the same for all.
        """
        self.bind(sums, *args)()

    def bind(self, sums: np.ndarray, *args: Any) -> Callable[[], None]:
        """`add_to` for these arrays, checked once: a function to call whenever their contents have changed.

        It sees new contents of arrays that need not be copied: rows in C order, and the elements' own numbers with the
        elements last in memory, as in `np.empty((q, e)).T`. Rows from `aligned_zeros` are read fastest.
        """
        dtype, e, inputs = sums.dtype, len(self), self.f.program().inputs
        if len(args) != len(inputs):
            raise TypeError(f"{self.f!r} takes {len(inputs)} arrays, not {len(args)}")
        rows = [np.ascontiguousarray(a, dtype) for a in args[: self.rows]]
        self._check(sums, rows)
        own = [
            np.broadcast_to(np.asarray(a, dtype), (e, *core))
            for a, core in zip(args[self.rows :], inputs[self.rows :], strict=True)
        ]

        def plainly() -> np.ndarray:
            contributions: np.ndarray = self.f(*(array[self.nodes] for array in rows), *own)
            return contributions

        if self.f.backend == "numpy" or not jit.available() or not e:
            return lambda: np.add.at(sums, self.nodes, plainly())
        loop, columns = self._loop(dtype), [np.asfortranarray(a.reshape(e, -1)) for a in own]
        places = [_address(c) + k * c.strides[1] for c in columns for k in range(c.shape[1])]
        places = [_address(sums), *map(_address, rows), *places]

        def add(_kept: Any = (sums, rows, columns)) -> None:
            if loop(*places) and np.geterr()["invalid"] != "ignore":
                plainly()  # it warns of a NaN, as any kernel does, unless one went in

        return add

    def _check(self, sums: np.ndarray, rows: Sequence[np.ndarray]) -> None:
        if sums.dtype not in _TYPES or not (sums.flags.c_contiguous and sums.flags.writeable):
            raise ValueError(f"sums must be writeable floats in C order; got {sums.dtype} with strides {sums.strides}")
        for array, size in zip((*rows, sums), self._widths, strict=True):
            if array.ndim != 2 or array.shape[1] != size or len(array) <= self._high:
                raise ValueError(
                    f"rows and sums for {self.f!r} must have shape (n, {size}), n at least {self._high + 1}; got "
                    f"{array.shape}"
                )
        if any(np.may_share_memory(sums, array) for array in rows):
            raise ValueError("sums and rows share memory: an element would read what another one has changed")

    @memo
    def _loop(self, dtype: np.dtype[Any]) -> Callable[..., int]:
        """The compiled loop: a function of the addresses of the sums, the rows, and the columns of own numbers."""
        program, (e, k), unit = self.f.program(), self.nodes.shape, min(self._widths) * dtype.itemsize
        if self._high * unit >= 2**32:
            raise ValueError(f"{self._high + 1} rows of {unit} bytes are too many; there may be {2**32 // unit}")
        target = this_machine(dtype.itemsize)
        *widths, r = self._widths
        text = assembly_module(program.graph, k, widths, r, target)
        code = jit.compile_module(text, f"assembly of {program.name} {program.signature} {dtype}")
        nodes = np.zeros((k, -(-e // target.width) * target.width), np.uint32)
        nodes[:, :e], nodes[:, e:] = self.nodes.T * unit, self.nodes[-1:].T * unit
        pointers = [ctypes.c_void_p] * (1 + len(widths) + len(program.graph.params) - k * sum(widths))
        function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_int64] * 2, *pointers)(code.address)
        return lambda *places, _kept=code: function(_address(nodes), nodes.shape[1], e, *places)


def aligned_zeros(shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """`np.zeros`, aligned to 64 bytes: a row of 64 bytes or less is in one cache line."""
    count, size = int(np.prod(shape)), np.dtype(dtype).itemsize
    room = np.zeros(count + 64 // size, dtype)
    first = -_address(room) % 64 // size
    return room[first : first + count].reshape(shape)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
