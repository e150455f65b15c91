"""Traced arrays: they behave like NumPy arrays and record the operations on them.

The elements are in a NumPy object array, so shapes, slices, views, stacking, `einsum` and the like are NumPy's own
work. Whatever depends on values (comparisons, `where`, `linalg`) is in the tables of `ufuncs` and `functions`.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from poinsot.fuse.graph import memory
from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.errors import MissingAttributeError, TraceError
from poinsot.fuse.graph.nodes import Node, Type, Value, type_of
from poinsot.fuse.trace import tiles, unsigned
from poinsot.fuse.trace.ufuncs import SCALAR_RULES, on_objects

_asarray, _empty = np.asarray, np.empty  # the originals, also while `creation` replaces them


def _binary(ufunc: np.ufunc, swap: bool = False) -> Callable[["Traced", Any], Any]:
    def apply(self: "Traced", other: Any) -> Any:
        a, b = (other, self) if swap else (self, other)
        if type(other) is Traced or type(other) is float:
            return self.__array_ufunc__(ufunc, "__call__", a, b)  # what NumPy would call
        takes_part = not isinstance(other, str) and getattr(other, "__array_ufunc__", ufunc) is not None
        return ufunc(a, b) if takes_part else NotImplemented  # a class that takes no part in ufuncs, as Pose

    return apply


def _in_place(ufunc: np.ufunc) -> Callable[["Traced", Any], "Traced"]:
    def apply(self: "Traced", other: Any) -> "Traced":
        result: Traced = ufunc(self, other)
        if self.ndim == 0:  # scalars do not change in NumPy; the name is bound to a new one
            return result
        if self._type == "u" != result._type:
            raise TraceError("an array of uint32 would become one of floats in place", "write x = x + y")
        self[...] = result
        return self

    return apply


def _operators(ufunc: np.ufunc) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """a + b, b + a and a += b."""
    return _binary(ufunc), _binary(ufunc, swap=True), _in_place(ufunc)


def _method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(np, name)(self, *args, **kwargs)


class Traced:
    """An array whose elements are values of the graph: nodes, or numbers that are known while tracing.

    They are in an object array (`_data`), in one array in memory (`_memory`), or in a part of such an array (`_origin`:
    the array and an index), as a view through which it is read and changed.
    """

    __slots__ = ("_data", "_memory", "_origin", "_shape")
    __traced__ = True
    __array_priority__ = 1000.0

    def __init__(self, data: Any) -> None:
        self._data: np.ndarray | None = as_objects(data)
        self._memory: Node | None = None
        self._origin: tuple[Traced, Any] | None = None
        self._shape = self._data.shape

    @classmethod
    def in_memory(cls, array: Node, shape: tuple[int, ...]) -> "Traced":
        self = object.__new__(cls)
        self._data, self._memory, self._origin, self._shape = None, array, None, shape
        return self

    def _view(self, index: Any, shape: tuple[int, ...]) -> "Traced":
        view = object.__new__(Traced)
        view._data, view._memory, view._origin, view._shape = None, None, (self, index), shape
        return view

    def _moved(self, move: Callable[[np.ndarray], np.ndarray]) -> "Traced":
        """The same elements in another order or shape."""
        if self._data is not None:
            return Traced(move(self._data))
        positions = move(np.arange(self.size).reshape(self.shape))
        return self._view(np.unravel_index(positions, self.shape), positions.shape)

    @property
    def data(self) -> np.ndarray:
        """The elements as an object array."""
        if self._origin is not None:
            return self._origin[0]._read(self._origin[1])
        if self._memory is not None:
            return objects([memory.get(self._memory, k) for k in range(self.size)], self.shape)
        assert self._data is not None
        return self._data

    # Attributes of arrays.
    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        return math.prod(self._shape)

    @property
    def T(self) -> "Traced":
        return self._moved(lambda a: a.T)

    @property
    def mT(self) -> "Traced":
        return self._moved(lambda a: a.mT)

    @property
    def flat(self) -> Iterator["Traced"]:
        return iter(self.ravel())

    @property
    def _type(self) -> Type:
        """The type of the first element: unsigned, if all are."""
        if self._origin is not None:
            return self._origin[0]._type
        if self._memory is not None:
            return self._memory.element
        return type_of(self.data.item(0)) if self.size else "f"

    @property
    def dtype(self) -> np.dtype[Any]:
        types = {type_of(v) for v in self.data.ravel()}
        if "u" in types:
            return np.dtype(np.uint32)
        return np.dtype(bool if types == {"b"} else int if types and types <= {"i", "b"} else float)

    def item(self) -> Any:
        return self.__array__().item()

    def copy(self) -> "Traced":
        return Traced(self.data.copy())

    def astype(self, dtype: Any, copy: bool = True) -> "Traced":
        return Traced(unsigned.converted(self.data, np.dtype(dtype)))

    def view(self, *args: Any, **kwargs: Any) -> "Traced":
        raise TraceError("the bits of a traced array cannot be seen as another type", "convert it: x.astype(np.uint32)")

    def reshape(self, *shape: Any, **kwargs: Any) -> "Traced":
        return self._moved(lambda a: a.reshape(*shape, **kwargs))

    def transpose(self, *axes: Any) -> "Traced":
        return self._moved(lambda a: a.transpose(*axes))

    # Indexing.
    def __getitem__(self, index: Any) -> "Traced":
        static, moving = self._split(index)
        if self._data is not None and not moving:
            return Traced(self._data[static])
        shape = _empty(self.shape, bool)[static].shape
        return self._view(index, shape) if shape and _is_basic(static) else Traced(self._read(index))

    def _read(self, index: Any) -> np.ndarray:
        """The elements at an index."""
        static, moving = self._split(index)
        if self._memory is None and not moving:
            return _asarray(self.data[static])
        offsets, base = self._offsets(static, moving)
        array, start = self._window()
        places = (start + offsets.ravel()).tolist()
        return objects([memory.get(array, build("add", base, k)) for k in places], offsets.shape)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, Traced) and value._origin is not None:
            source, place = value._origin
            if source is self and place is index:  # the end of `a[i] += b`, which is done already
                return
        if isinstance(index, Traced) and index.dtype == bool and not index.is_known():
            self[...] = np.where(index, value, self)
            return
        if self._origin is not None:
            part = self.copy()
            part[index] = value
            source, place = self._origin
            source[place] = part
            return
        index, moving = self._split(index)
        new = unsigned.assigned(self._type, as_objects(value))
        if moving or self._memory is not None:
            offsets, base = self._offsets(index, moving)
            array = self._in_memory()
            for k, v in zip(offsets.ravel().tolist(), np.broadcast_to(new, offsets.shape).ravel(), strict=True):
                array = memory.set_(array, build("add", base, k), v)
            if self._data is None:
                self._memory = array
            else:  # element by element, so that other views of the same data see it
                self._data[...] = objects([memory.get(array, k) for k in range(self.size)], self.shape)
        else:
            self.data[index] = new.item() if new.ndim == 0 else new

    def _split(self, index: Any) -> tuple[Any, dict[int, Value]]:
        """An index with its run-time entries replaced by 0, and these entries by axis."""
        entries = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(e, Traced) for e in entries):
            return index, {}
        static: list[Any] = []
        moving: dict[int, Value] = {}
        for axis, entry in enumerate(entries):
            if isinstance(entry, Traced) and entry.is_known():
                entry = entry.__array__()
            elif isinstance(entry, Traced):
                if entry.dtype == bool or entry.ndim:
                    raise TraceError(
                        f"an array is indexed by a traced array of {entry.dtype}s, so its shape would depend on data",
                        "use np.where(mask, a, b), or index by one traced integer at a time",
                    )
                if entry.dtype.kind == "f":
                    raise TraceError("an index is a traced float", "make it an integer: i.astype(int)")
                if entry.dtype == np.uint32:
                    entry = np.minimum(entry, self.shape[axis] - 1).astype(int)
                moving[axis] = memory.in_range(entry.data.item(), self.shape[axis])
                entry = 0
            elif (entry is Ellipsis or entry is None) and any(
                isinstance(e, Traced) and not e.is_known() for e in entries[axis + 1 :]
            ):
                raise TraceError("a traced index comes after '...' or None", "put the traced index first")
            static.append(entry)
        return tuple(static), moving

    def _offsets(self, index: Any, moving: dict[int, Value]) -> tuple[np.ndarray, Value]:
        """The positions of the indexed elements: known offsets, and a run-time base to add to all of them."""
        offsets = np.arange(self.size).reshape(self.shape)[index]
        base: Value = 0
        for axis, entry in moving.items():
            stride = int(np.prod(self.shape[axis + 1 :]))
            base = build("add", base, build("mul", entry, stride))
        return _asarray(offsets), base

    def _in_memory(self) -> Node:
        return self._memory if self._memory is not None else memory.array_of(list(self.data.ravel()))

    def _window(self) -> tuple[Node, int]:
        """An array in memory that holds the elements in a row, and where they begin in it."""
        if (row := self._row()) is not None:
            return row
        values = list(self.data.ravel())
        return memory.row_of(values) or (memory.array_of(values), 0)

    def _row(self) -> tuple[Node, int] | None:
        """The same of an array in memory, or of a part of one whose place is known; None of any other."""
        if self._memory is not None or self._origin is None:
            return None if self._memory is None else (self._memory, 0)
        source, index = self._origin
        row, (static, moving) = source._row(), source._split(index)
        if row is None or moving:
            return None
        offsets = source._offsets(static, moving)[0].ravel()
        if not len(offsets) or np.any(np.diff(offsets) != 1):
            return None
        return row[0], row[1] + int(offsets[0])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a traced scalar")
        return self.shape[0]

    def __iter__(self) -> Iterator["Traced"]:
        return (self[k] for k in range(len(self)))

    # Conversion to numbers, of values that are known.
    def is_known(self) -> bool:
        return not any(type(v) is Node for v in self.data.ravel())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self.is_known():
            raise TraceError(
                "a traced value is used where plain numbers are needed",
                "build arrays with np.array, np.stack or np.zeros (called as np.…); to index a constant array with a "
                "traced integer write np.asarray(table)[i]; keep code that needs numbers outside of the kernel",
            )
        return _asarray(self.data.tolist(), dtype=dtype or self.dtype)

    def _number(self, what: str, fix: str) -> Any:
        if self.size != 1:
            raise TypeError(f"only one element can be converted to a number, not an array of shape {self.shape}")
        if not self.is_known():
            raise TraceError(what, fix)
        return self.data.ravel()[0]

    def __bool__(self) -> bool:
        return bool(
            self._number(
                "a Python `if`, `while`, `and`, `or` or `not` depends on a traced value",
                "use np.where(condition, a, b), and &, |, ~ between conditions",
            )
        )

    def __float__(self) -> float:
        return float(self._number("float() of a traced value", "leave it an array: NumPy functions accept it as it is"))

    def __int__(self) -> int:
        return int(self._number("int() of a traced value", "use x.astype(int), or np.floor(x)"))

    def __index__(self) -> int:
        return int(
            self._number(
                "a traced integer is used as an index into a plain array, or as a count",
                "index np.asarray(table)[i], and loop with pt.fori_loop(n, body, carry)",
            )
        )

    def __complex__(self) -> complex:
        return complex(self._number("complex() of a traced value", "kernels compute with real numbers"))

    def __repr__(self) -> str:
        return f"Traced(shape={self.shape}, dtype={self.dtype})"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __hash__(self) -> int:
        raise TraceError(
            "a traced value is used as a key of a dict, in a set, or as the argument of a cached function",
            "index np.asarray(table)[i] by a traced integer, or use np.where(x == key, a, b)",
        )

    def __round__(self, digits: int | None = None) -> "Traced":
        whole: Any = np.round(self, digits) if digits is not None else np.rint(self).astype(int)
        return whole

    __trunc__ = __int__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        raise MissingAttributeError(f"x.{name} of a traced array cannot be traced", "use NumPy's functions on it")

    # Operators and methods of arrays.
    __add__, __radd__, __iadd__ = _operators(np.add)
    __sub__, __rsub__, __isub__ = _operators(np.subtract)
    __mul__, __rmul__, __imul__ = _operators(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = _operators(np.true_divide)
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators(np.floor_divide)
    __mod__, __rmod__, __imod__ = _operators(np.remainder)
    __pow__, __rpow__, __ipow__ = _operators(np.power)
    __divmod__, __rdivmod__ = lambda x, y: (x // y, x % y), lambda x, y: (y // x, y % x)
    __matmul__, __rmatmul__, __imatmul__ = _operators(np.matmul)
    __and__, __rand__, __iand__ = _operators(np.bitwise_and)
    __or__, __ror__, __ior__ = _operators(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _operators(np.bitwise_xor)
    __lshift__, __rlshift__, __ilshift__ = _operators(np.left_shift)
    __rshift__, __rrshift__, __irshift__ = _operators(np.right_shift)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)
    __neg__, __pos__, __abs__, __invert__ = map(_method, ("negative", "positive", "absolute", "invert"))
    sum, prod, mean, min, max = map(_method, ("sum", "prod", "mean", "min", "max"))
    any, all, clip, dot, trace = map(_method, ("any", "all", "clip", "dot", "trace"))
    squeeze, swapaxes, diagonal, round = map(_method, ("squeeze", "swapaxes", "diagonal", "round"))
    repeat, take, cumsum, cumprod, std, var = map(_method, ("repeat", "take", "cumsum", "cumprod", "std", "var"))
    argmax, argmin, argsort, nonzero = map(_method, ("argmax", "argmin", "argsort", "nonzero"))
    searchsorted, choose, argpartition = map(_method, ("searchsorted", "choose", "argpartition"))
    conj = conjugate = _method("conjugate")
    real = property(lambda self: self)
    ravel = flatten = _method("ravel")

    # NumPy's protocols.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        simple = not kwargs and method == "__call__" and ufunc in SCALAR_RULES
        if simple and (values := unsigned.single_values(inputs)) is not None:
            return Traced(SCALAR_RULES[ufunc](*values))
        return self._ufunc(ufunc, method, *inputs, **kwargs)

    # Arithmetic on known numbers may set floating-point flags that have nothing to do with the result.
    @np.errstate(all="ignore")
    def _ufunc(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        arrays = unsigned.ufunc_operands(ufunc, method, inputs, [as_objects(x) for x in inputs])
        if not kwargs and out is None and method == "__call__" and ufunc in SCALAR_RULES:
            return Traced(on_objects(ufunc)(*arrays))
        where = kwargs.pop("where", True)
        if where is not True and (out is None or method != "__call__"):
            name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
            fix = "use np.where(mask, a, b), or np.sum and np.max, which take where="
            raise TraceError(f"{name} with where= leaves elements without a value", fix)
        kwargs.pop("dtype", None)
        if ufunc in SCALAR_RULES:
            result = getattr(on_objects(ufunc), method)(*arrays, **kwargs)
        elif ufunc is np.matmul and all(a.ndim == 2 and min(a.shape) > 2 * tiles.TILE for a in arrays):
            result = tiles.product(*arrays)
        elif ufunc.signature is not None and method == "__call__":  # matmul and the like
            result = ufunc(*arrays, **kwargs)
        else:
            raise TraceError(f"np.{ufunc.__name__} cannot be traced", "write it with the functions listed in the docs")
        results = tuple(map(Traced, result)) if isinstance(result, tuple) else (Traced(result),)
        if out is not None:
            for target, r in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
                target[...] = r if where is True else np.where(where, r, target)
            return out[0] if isinstance(out, tuple) and len(out) == 1 else out
        return results if len(results) > 1 else results[0]

    @np.errstate(all="ignore")
    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        from poinsot.fuse.trace.functions import apply  # which is written for traced arrays

        return apply(func, args, kwargs)


def _is_basic(index: Any) -> bool:
    """Whether NumPy returns a view for this index, not a copy."""
    entries = index if isinstance(index, tuple) else (index,)
    return all(e is None or e is Ellipsis or isinstance(e, (int, np.integer, slice)) for e in entries)


def objects(values: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """An object array of these values, taken as they are."""
    if shape == ():
        single = _empty((), dtype=object)
        single[()] = values[0]
        return single
    array = _empty(len(values), dtype=object)
    array[:] = values
    return array if shape is None else array.reshape(shape)


def as_objects(x: Any) -> np.ndarray:
    """Anything array-like as an object array of values."""
    if type(x) is Traced:
        return x.data
    if type(x) is Node:
        return objects([x], ())
    if isinstance(x, np.ndarray) and x.dtype == object:
        return x
    if isinstance(x, (list, tuple)):
        parts = [as_objects(part) for part in x]
        return np.stack(parts) if parts else _empty(0, dtype=object)
    array = _asarray(x)
    if array.dtype == unsigned.WORD:
        return objects([*map(np.uint32, array.ravel())], array.shape)
    return array.astype(object)


def is_traced(*values: Any) -> bool:
    """True if any of the values is a traced array, whose numbers may not be known yet."""
    return any(isinstance(v, Traced) or (isinstance(v, (list, tuple)) and is_traced(*v)) for v in values)
