"""Kernels: `np.vectorize`, compiled."""

import dataclasses
import functools
import inspect
import math
import os
import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from poinsot._memo import MEMORY, memo
from poinsot.fuse import buffers, parallel, reference, signature
from poinsot.fuse.cuda import launch
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.graph.nodes import Graph, tracing
from poinsot.fuse.llvm import gufunc, jit
from poinsot.fuse.llvm.abi.inner_loop import kernel_module
from poinsot.fuse.llvm.target import Target, this_machine
from poinsot.fuse.plan.budget import GPU, tracing_for
from poinsot.fuse.signature import Shape
from poinsot.fuse.trace import pytree
from poinsot.fuse.trace.control import once
from poinsot.fuse.trace.function_graph import SharedTrace, nested_arguments, trace
from poinsot.fuse.trace.traced import Traced

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
INTERPRETED = 2**10  # instances that the reference back end takes together
ELEMENTARY = (  # of one number, and of two: what NumPy rounds in another way
    "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh",
    "arctan2 power hypot logaddexp",
)
MUCH = 1024  # numbers that go into one instance, from which on those with loops of their own lengths are computed alone


class Program:
    """A function traced for given core shapes: a graph, and the ufuncs compiled from it."""

    hasty = False  # whether its machine code is used little: then it is made in less time, and gives the same bits

    def __init__(
        self,
        graph: Graph | Callable[[], Graph],
        inputs: Sequence[Shape],
        outputs: Sequence[Shape],
        name: str,
        doc: str,
        operations: int | None = None,
    ) -> None:
        self._graph, self.inputs, self.outputs = graph, list(inputs), list(outputs)
        self.name, self.doc = name, doc
        self.structure: Any = None  # of the user's results, unless that is an array or a flat tuple or list
        self.operations = sum(self.graph.count().values()) if operations is None else operations
        self.place: str | None = None  # where it is kept on disk (`program_cache`)
        self._begun: dict[tuple[Target, int], Future[jit.MachineCode]] = {}  # by threads of a process

    @property
    def graph(self) -> Graph:
        """The graph, read from disk when it is first asked for if the program was kept there."""
        if not isinstance(self._graph, Graph):
            self._graph = self._graph()
        return self._graph

    @property
    def only_moves(self) -> bool:
        """Whether all results are arguments or constants."""
        return self.operations == 0

    @property
    def signature(self) -> str:
        return "->".join(",".join(map(signature.text, side)) for side in (self.inputs, self.outputs))

    @property
    def f64(self) -> np.ufunc:
        return self._compile(_F64)

    @property
    def f32(self) -> np.ufunc:
        return self._compile(_F32)

    @memo  # not a cached property, which holds a lock while it is computed: a child of a fork would wait for it
    def _compile(self, dtype: np.dtype[Any]) -> np.ufunc:
        code = self._machine_code(self._target(dtype.itemsize))
        return gufunc.make_gufunc(
            code, self.signature, len(self.inputs), len(self.outputs), dtype, self.name, self.doc,
            recipe=(_remake, (self._uncompiled(), dtype == _F64)),
        )  # fmt: skip

    def _target(self, size: int, serial: bool = False) -> Target:
        """This machine, for floats of a size in bytes; `serial`: with vectors of one element."""
        target = dataclasses.replace(this_machine(size), hasty=self.hasty)
        return dataclasses.replace(target, width=1) if serial or self.hasty or self._goes_own_ways else target

    @property
    def _goes_own_ways(self) -> bool:
        """Whether instances go their own ways over much data: side by side, each would wait for all others, and read
        memory from place to place."""
        much = sum(math.prod(shape) for shape in self.inputs) > MUCH
        return much and any(graph.goes_on is not None for graph in self.graph.subgraphs())

    def _uncompiled(self) -> "Program":
        """The same program without its ufuncs, so that a ufunc does not keep itself alive through its recipe."""
        twin = object.__new__(Program)
        twin.__dict__.update({k: v for k, v in self.__dict__.items() if k != MEMORY} | {"_begun": {}})
        return twin

    @property
    def serial_loop(self) -> jit.MachineCode:
        """The float64 loop with vectors of one element, which takes instances strictly in order."""
        return self._machine_code(self._target(8, serial=True))

    def begin(self, serial: bool) -> None:
        """Make the machine code of the `serial_loop`, or else of `f64`, in another thread while this one goes on."""
        if jit.available() and not self.is_hollow():
            target = self._target(8, serial)
            key = target, os.getpid()  # a child has no such threads
            if key not in self._begun:
                self._begun[key] = compilers(os.getpid()).submit(self._make_machine_code, target)

    @memo
    def _machine_code(self, target: Target) -> jit.MachineCode:
        """The compiled inner loop."""
        begun = self._begun.get((target, os.getpid()))
        return self._make_machine_code(target) if begun is None else begun.result()

    def _make_machine_code(self, target: Target) -> jit.MachineCode:
        floats = "float64" if target.float64 else "float32"
        comment = "one after the other" if target.width == 1 else f"{floats}, {self.operations} operations"
        name = f"{self.name} {self.signature} {comment}"
        code = None if self.place is None else jit.found(self.place, target, name)
        if code is None:
            text = kernel_module(self.graph, self.inputs, self.outputs, target)
            code = jit.compile_module(text, name, target.hasty)
            if self.place is not None:
                jit.remember(self.place, target, text)
        return code

    def is_hollow(self) -> bool:
        """Whether there is no input, or an array without elements: NumPy has no ufuncs of that kind."""
        return not self.inputs or any(0 in shape for shape in (*self.inputs, *self.outputs))

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != MEMORY}
        state |= {"_graph": self.graph, "_begun": {}}
        state["place"] = None  # another process, maybe elsewhere, has a cache of its own
        try:
            pickle.dumps(self.structure)
        except (pickle.PicklingError, AttributeError, TypeError):  # a class that other processes cannot find
            state["structure"] = None
        return state

    def interpret(self, *args: Any, dtype: np.dtype[Any]) -> tuple[np.ndarray, ...]:
        """The results of the reference back end, a block of instances at a time: its numbers stay in the cache."""
        arrays = [np.asarray(arg, dtype=dtype) for arg in args]
        batch = signature.batch_shape(arrays, self.inputs)
        n = math.prod(batch)
        full = [
            np.broadcast_to(array, batch + core).reshape(n, math.prod(core))
            for array, core in zip(arrays, self.inputs, strict=True)
        ]
        sizes = [math.prod(core) for core in self.outputs]
        results = reference.moved(self.graph, full, sizes) if self.only_moves else None
        if results is None:
            results = [np.empty((n, size), dtype) for size in sizes]
            functions = _elementary() if self.graph.plain and dtype == _F64 and jit.available() else {}
            reference.run_into(results, self.graph, full, max(1, n) if self.only_moves else INTERPRETED, functions)
        return tuple(result.reshape(batch + core) for result, core in zip(results, self.outputs, strict=True))


@functools.cache
def compilers(process: int) -> ThreadPoolExecutor:
    """The threads of a process that make machine code ahead of its use."""
    return ThreadPoolExecutor(2, thread_name_prefix="poinsot-compiler")


@functools.cache
def _elementary() -> dict[str, "Kernel"]:
    """Elementary functions, compiled each on its own when it is first called: the bits that they have in kernels."""
    one, two = ((names, f"{'(),' * n}".rstrip(",") + "->()") for n, names in enumerate(ELEMENTARY, start=1))
    return {name: kernel(signature)(getattr(np, name)) for names, signature in (one, two) for name in names.split()}


def _remake(program: Program, float64: bool) -> np.ufunc:
    return program.f64 if float64 else program.f32


class Kernel:
    """A function of one instance, compiled for batches of any shape. Made by `pt.kernel`."""

    def __init__(
        self,
        function: Callable[..., Any] | None,
        text: str,
        backend: str = "llvm",
        strict: bool = False,
        whole: float = math.inf,
    ) -> None:
        self.function, self.signature, self.backend, self.strict = function, text, backend, strict
        self.whole = whole  # arguments and results of so many elements stay in memory, for loops
        self.shared: SharedTrace | None = None  # in which the function is traced with others
        self._in, self._out = signature.parse(text)
        self.__name__ = getattr(function, "__name__", "kernel").strip("<>")
        self.__doc__ = getattr(function, "__doc__", None)
        self._programs: dict[tuple[Shape, ...], Program] = {}
        self._recent: Callable[..., Any] | None = None  # the ufunc of the last call, most likely also of the next
        self._limit, self._large = 0, 0  # sizes of arguments: above, threads may share the work; results are large
        self._fast = False
        self._gpu_kernels: dict[int, Kernel] = {}  # the same for the GPU, by the size of its floats

    def __repr__(self) -> str:
        return f"<kernel {self.__name__} {self.signature}>"

    # Calling.
    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if self._recent is not None and not kwargs:
            limit = self._limit
            for arg in args:
                kind = type(arg)
                if kind is np.ndarray:
                    if (arg.size > limit and parallel.threads() > 1) or arg.dtype is _F32 or arg.size > self._large:
                        break
                elif kind is not float and kind is not int and kind is not np.float64:
                    break
            else:
                try:
                    return self._recent(*args) if out is None else self._recent(*args, out=out)
                except (ValueError, TypeError):
                    pass  # other core dimensions or types: find their program, or raise the right error
        return self._call(args, out, kwargs)

    def _call(self, args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
        if len(args) != len(self._in) or any(map(dataclasses.is_dataclass, args)):
            args = tuple(pytree.flatten(args)[0])
        if len(args) != len(self._in):
            raise TypeError(f"{self!r} takes {len(self._in)} arrays, not {len(args)}")
        if self.backend == "cuda" and not tracing():
            return self._on_gpu(args, out)
        args = tuple(a if hasattr(a, "__array_ufunc__") else np.asarray(a) for a in args)
        if tracing() and any(isinstance(a, Traced) for a in args):
            signature.sizes(self._in, [a.shape for a in args], self._parameter_names)
            if any(len(a.shape) > len(core) for a, core in zip(args, self._in, strict=True)):
                raise TraceError(
                    f"{self!r} is called inside of another kernel, on a batch of shapes {[a.shape for a in args]}",
                    "call it on one instance at a time, as in np.stack([f(x) for x in batch])",
                )
            return self._called(*args)
        program = self.specialise(*(np.shape(a) for a in args))
        dtype = _F32 if all(getattr(a, "dtype", None) == _F32 for a in args) else _F64
        if self.backend == "numpy" or program.is_hollow() or not jit.available():
            return self._finish(program, self._interpret(program, args, out, dtype))
        ufunc = program.f64 if dtype == _F64 else program.f32
        if any(hasattr(a, "__dask_graph__") for a in args):
            return self._finish(program, _lazily(ufunc, self.signature, args, dtype))
        core = max((math.prod(shape) for shape in program.inputs), default=1)
        limit = core * max(1, int(parallel.SERIAL_WORK / max(program.operations, 1)))
        plain = all(type(a) is np.ndarray for a in args)
        large = plain and not kwargs and max(a.size for a in args) > limit
        if large and parallel.threads() > 1 and parallel.separable(program, args, out):
            return self._finish(program, parallel.call(ufunc, program, args, out, dtype))
        if program.structure is None and dtype == _F64:
            most = max(math.prod(shape) for shape in program.outputs)
            self._recent, self._limit, self._large = ufunc, limit, core * (buffers.SMALL // (8 * most))
        if out is None and plain and not kwargs:
            out = buffers.for_results(program.inputs, program.outputs, args, dtype)
        return self._finish(program, ufunc(*args, **kwargs) if out is None else ufunc(*args, out=out, **kwargs))

    def _finish(self, program: Program, results: Any) -> Any:
        if program.structure is None:
            return results
        return pytree.unflatten(program.structure, results if isinstance(results, tuple) else (results,))

    def _interpret(self, program: Program, args: Any, out: Any, dtype: np.dtype[Any]) -> Any:
        if self.backend != "numpy" and not jit.available():
            _warn_once()
        results = program.interpret(*args, dtype=dtype)
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
            for target, result in zip(targets, results, strict=True):
                target[...] = result
            results = targets
        return results if len(results) > 1 else results[0]

    @functools.cached_property
    def _called(self) -> Callable[..., Any]:
        """For use inside another kernel: a function compiled once and called."""
        if self.function is None:
            raise TypeError(f"{self!r} was unpickled and cannot be part of another kernel")
        function = self.function
        return once(functools.wraps(function)(lambda *leaves: function(*nested_arguments(function, leaves))))

    # Tracing.
    def specialise(self, *shapes: Shape) -> Program:
        """The program for arguments of these shapes (batch dimensions in front do not matter)."""
        names = self._parameter_names
        known = signature.sizes(self._in, shapes, names)
        inputs = tuple(signature.resolve(core, known) for core in self._in)
        if inputs not in self._programs:
            self._programs[inputs] = self._trace(inputs, known)
        return self._programs[inputs]

    def adopt(self, program: Program) -> None:
        """Use a program of this function that is known already."""
        self._programs[tuple(program.inputs)] = program

    def _trace(self, inputs: tuple[Shape, ...], known: dict[str, int]) -> Program:
        if self.function is None:
            raise TypeError(f"{self!r} was unpickled with programs for {list(self._programs)} only")
        if self.shared is None:
            graph, outputs, structure = trace(self.function, inputs, self.__name__, self.strict, self.whole)
        else:
            graph, outputs, structure = self.shared.trace(self.function, inputs, self.__name__)
        if len(outputs) != len(self._out):
            raise ValueError(f"{self!r} returns {len(outputs)} arrays, but its signature promises {len(self._out)}")
        for k, (core, shape) in enumerate(zip(self._out, outputs, strict=True)):
            fits = len(core) == len(shape) and all(
                (known.setdefault(d, n) if isinstance(d, str) else d) == n for d, n in zip(core, shape, strict=True)
            )
            if not fits:
                raise ValueError(
                    f"{self!r}: output {k} has shape {shape}, but the signature promises {signature.text(core)}"
                )
        program = Program(graph, inputs, outputs, self.__name__, self.__doc__ or "")
        flat = [(cls, *(None for _ in outputs)) for cls in (tuple, list)]
        program.structure = None if structure is None or structure in flat else structure
        return program

    @functools.cached_property
    def _parameter_names(self) -> list[str]:
        try:
            names = list(inspect.signature(self.function).parameters) if self.function else []
        except (TypeError, ValueError):
            names = []
        return names if len(names) == len(self._in) else [f"argument {k}" for k in range(len(self._in))]

    # Programs and back ends.
    def program(self, **sizes: int) -> Program:
        """The program for these sizes of the named core dimensions; without any, the one used so far."""
        if not sizes and len(self._programs) == 1:
            return next(iter(self._programs.values()))
        missing = {d for core in self._in for d in core if isinstance(d, str)} - set(sizes)
        if missing:
            raise ValueError(
                f"{self!r} depends on the sizes {sorted(missing)}: give them, as in count({min(missing)}=7)"
            )
        return self.specialise(*(signature.resolve(core, sizes) for core in self._in))

    def count(self, **sizes: int) -> Counter[str]:
        """The number of operations by name, for these sizes of the named core dimensions."""
        return self.program(**sizes).graph.count()

    def ufunc(self, **sizes: int) -> np.ufunc:
        """The NumPy ufunc in float64."""
        return self.program(**sizes).f64

    def to(self, backend: str, fast: bool = False) -> "Kernel":
        """The same kernel on another back end.

        "llvm": compiled for the processor. "cuda": compiled for the GPU; takes and returns CuPy arrays (extra `cuda`),
        and with `fast` computes float32 sines, quotients and the like with the GPU's approximate instructions.
        "numpy": the reference.
        """
        if backend not in ("llvm", "cuda", "numpy"):
            raise ValueError(f"back end {backend!r} is unknown; there are 'llvm', 'cuda' and 'numpy'")
        other = Kernel(self.function, self.signature, backend, self.strict, self.whole)
        other._programs, other._gpu_kernels, other._fast = self._programs, self._gpu_kernels, fast
        if backend == "cuda":
            launch.cupy()
        return other

    def gpu_program(self, *shapes: Shape, dtype: Any) -> Program:
        """The program for arguments of these shapes, traced for the GPU.

        How much of it is straight-line code depends on the machine and on the size of its numbers.
        """
        if self.function is None:  # unpickled
            return self.specialise(*shapes)
        size = np.dtype(dtype).itemsize
        if size not in self._gpu_kernels:
            self._gpu_kernels[size] = Kernel(self.function, self.signature, strict=self.strict, whole=self.whole)
        with tracing_for(GPU[size]):
            return self._gpu_kernels[size].specialise(*shapes)

    def _on_gpu(self, args: tuple[Any, ...], out: Any) -> Any:
        single = [str(getattr(a, "dtype", "")).endswith("float32") for a in args if getattr(a, "shape", ())]
        dtype = _F32 if single and all(single) else _F64
        program = self.gpu_program(*(tuple(getattr(a, "shape", np.shape(a))) for a in args), dtype=dtype)
        return self._finish(program, launch.run(program, args, dtype, self._fast, out))

    def __reduce__(self) -> Any:
        if not self._programs and not any(isinstance(dim, str) for core in self._in for dim in core):
            self.program()
        return _restore, (self.signature, self.backend, self.__name__, self.__doc__, self._programs)


def _restore(text: str, backend: str, name: str, doc: str | None, programs: dict[Any, Program]) -> Kernel:
    kernel = Kernel(None, text, backend)
    kernel.__name__, kernel.__doc__, kernel._programs = name, doc, programs
    return kernel


def restored(program: Program) -> Kernel:
    """The kernel of a program, without the function that was traced."""
    return _restore(program.signature, "llvm", program.name, program.doc, {tuple(program.inputs): program})


def kernel(text: str, strict: bool = False) -> Callable[[Callable[..., Any]], Kernel]:
    """Compile a function of one instance into a ufunc over batches.

    >>> @kernel("(3),(3)->()")
    ... def angle(a, b):
    ...     return np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)

    `text` is NumPy's gufunc signature. The function is written in plain NumPy and traced once per set of core sizes.
    `strict`: infinities, NaN and the sign of zeros as in NumPy, and each operation rounded on its own. Without it, x*0,
    0/x and x-x are 0 and x/x is 1 for every x, and products are fused with the sums that they go into: it is faster.
    """
    return lambda function: Kernel(function, text, strict=strict)


def _lazily(ufunc: np.ufunc, text: str, args: Sequence[Any], dtype: np.dtype[Any]) -> Any:
    """The ufunc on every block of Dask arrays. (Dask itself would call it on arrays of size one to infer the type.)"""
    from dask.array import apply_gufunc

    types = [dtype] * ufunc.nout
    apply: Callable[..., Any] = apply_gufunc
    return apply(ufunc, text.replace(" ", ""), *args, output_dtypes=types if ufunc.nout > 1 else dtype)


@functools.cache
def _warn_once() -> None:
    warnings.warn(
        "llvmlite is not installed: kernels run on the slow NumPy reference. pip install llvmlite", RuntimeWarning, 5
    )
