"""The CUDA source, where there may be no GPU: its operations, and that a C++ compiler makes the right numbers of it."""

import ctypes
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.cuda import ROWS, kernel_source
from poinsot.fuse.ops import OPS

# What CUDA C++ has and plain C++ has not; the kernel becomes a loop over the threads.
_SHIM = """
#include <cmath>
#include <algorithm>
#include <cstring>
using std::min; using std::max;
#define __device__ static inline
#define __noinline__
#define __global__
#define __restrict__
struct { long long x; } blockIdx, blockDim, threadIdx;
static double __longlong_as_double(long long b) { double x; std::memcpy(&x, &b, 8); return x; }
static float __int_as_float(int b) { float x; std::memcpy(&x, &b, 4); return x; }
"""


def source_of(kernel: pt.fuse.Kernel, float64: bool = True, fast: bool = False, **sizes: int) -> str:
    program = kernel.program(**sizes)
    inputs, outputs = ([math.prod(core) for core in side] for side in (program.inputs, program.outputs))
    return kernel_source(program.graph, inputs, outputs, float64, fast)


def run_on_host(kernel: pt.fuse.Kernel, folder: Path, *args: np.ndarray) -> list[np.ndarray]:
    """The kernel's source compiled as C++ and run thread after thread; arguments (n, core ...)."""
    program = kernel.specialise(*(a.shape for a in args))
    count = len(args[0])
    arrays = [np.ascontiguousarray(np.moveaxis(a, 0, -1)) for a in args]
    results = [np.full((*core, count), np.nan) for core in program.outputs]
    text = source_of(kernel).replace("static __device__", "__device__")
    names = ", ".join([f"i{k}" for k in range(len(arrays))] + [f"o{k}" for k in range(len(results))])
    parameters = ", ".join(
        [f"double* i{k}" for k in range(len(arrays))] + [f"double* o{k}" for k in range(len(results))]
    )
    loop = (
        f'extern "C" void run({parameters}, long long count) {{ blockDim.x = 1; threadIdx.x = 0;'
        f" for (blockIdx.x = 0; blockIdx.x < count; blockIdx.x++) kernel({names}, count); }}"
    )
    (folder / "k.cpp").write_text(_SHIM + text + loop)
    subprocess.run(
        ["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-o", folder / "k.so", folder / "k.cpp"], check=True
    )
    library = ctypes.CDLL(str(folder / "k.so"))
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, *results)]
    library.run(*pointers, ctypes.c_longlong(count))
    return [np.moveaxis(r, -1, 0) for r in results]


table = np.array([0.5, -1.0, 2.0, 0.25, 3.0])


def everything(x, y, n):
    """Loops in loops, arrays in memory, calls, tables, conditions and most functions."""
    inner = pt.once(lambda a, b: np.stack([np.sin(a) * b, np.where(a > b, a, np.hypot(a, b))]))

    def step(i, carry):
        z, w = carry
        z[i] = z[i - 1] + table[i] * w
        u = inner(z[i], w)
        total = pt.fori_loop(3, lambda j, s: s + j * np.arctan2(u[0], 1 + w * w), 0.0 * w)
        return z, np.clip(np.tanh(u[1]) + total, -1.0, 2.0)

    z, w = pt.fori_loop(5, step, (x, y))
    rest = pt.fori_loop(n, lambda i, s: 0.5 * s + np.mod(s, 0.7) + np.sqrt(np.abs(s)), w)
    return z, np.stack([w, rest, np.minimum(x[0], y), np.maximum(x[1], np.exp(-y * y)), np.sign(x[2]), np.floor(3 * y)])


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_the_source_computes_what_the_reference_computes(tmp_path: Path) -> None:
    kernel = pt.kernel("(5),(),()->(5),(6)")(everything)
    rng = np.random.default_rng(0)
    args = (rng.standard_normal((50, 5)), rng.standard_normal(50), rng.integers(0, 5, 50).astype(float))
    expected = kernel.to("numpy")(*args)
    for found, wanted in zip(run_on_host(kernel, tmp_path, *args), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_every_operation_has_a_row() -> None:
    """All but those on bits, which only the elementary functions of the processor use."""
    assert set(OPS) - set(ROWS) == {"bits", "from_bits", "shift_right_logical"}


def test_one_line_for_each_operation() -> None:
    """The cross product: six loads, nine operations, three stores."""
    text = source_of(pt.kernel("(3),(3)->(3)")(np.cross))
    body = text[text.index("__global__") :]
    assert len(re.findall(r"const T v\d+ = in", body)) == 6
    assert len(re.findall(r"const T v\d+ = v\d+ [-*] v\d+;", body)) == 9
    assert len(re.findall(r"out0\[", body)) == 3


def test_precision_and_fast_functions() -> None:
    kernel = pt.kernel("()->()")(lambda x: np.sin(x) / 3.0)
    double, single, fast = (source_of(kernel, f, q) for f, q in ((True, False), (False, False), (False, True)))
    assert "typedef double T;" in double
    assert "typedef float T;" in single
    assert "__sinf" not in single
    assert "__sinf" in fast
    assert "__fdividef" in fast


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc, CUDA's compiler")
@pytest.mark.parametrize("float64", [True, False])
def test_nvcc_accepts_the_source(tmp_path: Path, float64: bool) -> None:
    kernel = pt.kernel("(5),(),()->(5),(6)")(everything)
    (tmp_path / "k.cu").write_text(source_of(kernel, float64))
    command = ["nvcc", "-arch=sm_90", "-std=c++17", "-cubin", "-o", tmp_path / "k.cubin", tmp_path / "k.cu"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_no_gpu_gives_a_clear_error(python) -> None:
    done = python(
        "import sys; sys.modules['cupy'] = None\n"
        "import poinsot as pt\n"
        "k = pt.kernel('()->()')(lambda x: x + 1)\n"
        "try: k.to('cuda')\n"
        "except ImportError as error: print(error)\n"
        "print(k(1.0))\n"
    )
    assert "pip install 'poinsot[cuda]'" in done.stdout
    assert "2.0" in done.stdout
