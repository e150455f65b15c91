"""A real `numpy.ufunc` around a machine-code loop, made at run time through NumPy's own C interface."""

import copyreg
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot.fuse.llvm.jit import MachineCode

_PyUFunc_FromFuncAndDataAndSignature = 31  # its place in NumPy's table of ufunc functions, fixed since NumPy 1.0
Recipe = tuple[Callable[..., np.ufunc], tuple[object, ...]]


class _Kept:
    """The objects that a ufunc of ours needs for as long as it lives: NumPy keeps pointers to them, not copies."""

    def __init__(self, recipe: Any, *things: Any) -> None:
        self.recipe, self.things = recipe, things


def make_gufunc(
    code: MachineCode, signature: str, nin: int, nout: int, dtype: np.dtype[Any], name: str, doc: str, recipe: Any
) -> np.ufunc:
    """The ufunc whose inner loop is this code, which stays loaded for as long as the ufunc lives.

    `recipe` is (function, arguments), which makes the same ufunc when it is unpickled in another process.
    """
    functions = (ctypes.c_void_p * 1)(code.address)
    data = (ctypes.c_void_p * 1)(None)
    types = ctypes.create_string_buffer(bytes([dtype.num]) * (nin + nout), nin + nout)
    words = (name.encode(), doc.encode(), signature.encode())
    ufunc: np.ufunc = _constructor()(
        functions, data, ctypes.cast(types, ctypes.c_char_p), 1, nin, nout, -1, words[0], words[1], 0, words[2]
    )
    kept = _Kept(recipe, code, functions, data, types, words)
    owned = _Header.from_address(id(ufunc))
    if (owned.nin, owned.nout, owned.name, owned.obj) == (nin, nout, words[0], None):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        owned.obj = id(kept)
    else:  # a NumPy with another layout: then the code stays loaded
        _immortal[id(ufunc)] = kept
    return ufunc


class _Header(ctypes.Structure):
    """The fields of NumPy's ufunc object up to `obj`, an object that it owns."""

    _fields_ = (
        ("head", ctypes.c_byte * object.__basicsize__),
        *((name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")),
        *((name, ctypes.c_void_p) for name in ("functions", "data")),
        *((name, ctypes.c_int) for name in ("ntypes", "reserved")),
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in ("types", "doc", "ptr", "obj")),
    )


_immortal: dict[int, _Kept] = {}
_numpy_reduce: Callable[[np.ufunc], Any] = copyreg.dispatch_table[np.ufunc]


def _reduce(ufunc: np.ufunc) -> Any:
    """NumPy pickles a ufunc by its name; ours have a recipe."""
    address = _Header.from_address(id(ufunc)).obj
    kept = ctypes.cast(address, ctypes.py_object).value if address else _immortal.get(id(ufunc))
    return kept.recipe if isinstance(kept, _Kept) else _numpy_reduce(ufunc)


copyreg.pickle(np.ufunc, _reduce)


def _constructor() -> Any:
    capsule = np._core._multiarray_umath._UFUNC_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    pointers, text, number = ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_int
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, pointers, pointers, text, number, number, number, number, text, text, number, text
    )
    return prototype(table[_PyUFunc_FromFuncAndDataAndSignature])
