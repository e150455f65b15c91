"""A stand-in for CuPy where there is no GPU: arrays of NumPy, and kernels compiled as C++ for the host.

sys.modules["cupy"] = cupy_on_host.module()
"""

import contextlib
import ctypes
import re
import subprocess
import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np

from cuda_on_host import _SHIM, for_host


class RawKernel:
    """A kernel of CUDA C++, run thread after thread."""

    compiled: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, text: str, name: str, options: Any = (), backend: str = "") -> None:
        self.text, self.max_dynamic_shared_size_bytes = text, 0

    def __call__(self, grid: tuple[int], block: tuple[int], args: tuple[Any, ...], shared_mem: int = 0) -> None:
        call = self._library(args)
        pointers = [
            a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_longlong(int(a)) for a in args
        ]
        call(*pointers)

    def _library(self, args: tuple[Any, ...]) -> Any:
        if self.text not in self.compiled:
            folder = Path(tempfile.mkdtemp())
            text = for_host(self.text)
            text = re.sub(r"blockIdx\.x \* \(long long\)\d+", "blockIdx.x", text)  # blocks of one thread
            kinds = ["T*" if isinstance(a, np.ndarray) else "long long" for a in args]
            names = [f"a{k}" for k in range(len(args))]
            loop = (
                f'extern "C" void run({", ".join(f"{kind} {n}" for kind, n in zip(kinds, names, strict=True))}) {{'
                f" for (blockIdx.x = 0; blockIdx.x < {names[-1]}; blockIdx.x++) kernel({', '.join(names)}); }}"
            )
            (folder / "k.cpp").write_text(_SHIM + text + loop)
            command = ["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-o", folder / "k.so", folder / "k.cpp"]
            subprocess.run(command, check=True)
            self.compiled[self.text] = ctypes.CDLL(str(folder / "k.so")).run
        return self.compiled[self.text]


def _asnumpy(a: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A copy of what is on the GPU, as there is one."""
    if out is None:
        return np.array(a)
    out[...] = a
    return out


def module() -> types.ModuleType:
    """The names of CuPy that Poinsot uses."""
    cupy: Any = types.ModuleType("cupy")
    for name in ("ndarray", "asarray", "empty", "moveaxis", "broadcast_to", "may_share_memory"):
        setattr(cupy, name, getattr(np, name))
    cupy.asnumpy, cupy.RawKernel = _asnumpy, RawKernel
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError)
    cupy.cuda = types.SimpleNamespace(runtime=runtime, Device=contextlib.nullcontext)
    cupy.__spec__ = None
    return cupy
