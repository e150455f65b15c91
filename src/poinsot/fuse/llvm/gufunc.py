"""A real `numpy.ufunc` around a machine-code loop, made at run time through NumPy's own C interface."""

import copyreg
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

_PyUFunc_FromFuncAndDataAndSignature = 31  # its place in NumPy's table of ufunc functions, fixed since NumPy 1.0
Recipe = tuple[Callable[..., np.ufunc], tuple[object, ...]]


def make_gufunc(
    address: int, signature: str, nin: int, nout: int, dtype: np.dtype[Any], name: str, doc: str, recipe: Recipe
) -> np.ufunc:
    """The ufunc whose inner loop is the function at `address`, which must stay loaded for as long as the ufunc lives.

    `recipe` is (function, arguments), which makes the same ufunc when it is unpickled in another process.
    """
    functions = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = ctypes.create_string_buffer(bytes([dtype.num]) * (nin + nout), nin + nout)
    words = (name.encode(), doc.encode(), signature.encode())
    ufunc: np.ufunc = _constructor()(
        functions, data, ctypes.cast(types, ctypes.c_char_p), 1, nin, nout, -1, words[0], words[1], 0, words[2]
    )
    _kept[id(ufunc)] = (recipe, functions, data, types, words)  # NumPy keeps pointers to these, not copies
    return ufunc


_kept: dict[int, tuple[Recipe, *tuple[object, ...]]] = {}
_numpy_reduce = copyreg.dispatch_table[np.ufunc]


def _reduce(ufunc: np.ufunc) -> Any:
    """NumPy pickles a ufunc by its name; ours have a recipe."""
    return _kept[id(ufunc)][0] if id(ufunc) in _kept else _numpy_reduce(ufunc)


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
