"""The CUDA source of a kernel, compiled as C++ for the host and run there: a stand-in for a GPU."""

import ctypes
import math
import re
import subprocess
from pathlib import Path

import numpy as np

from poinsot.fuse.cuda.text import BLOCKS
from poinsot.fuse.cuda.translation import kernel_source
from poinsot.fuse.kernels import Program

# What CUDA C++ has and plain C++ has not; the kernel becomes a loop over the threads.
_SHIM = """
#include <cmath>
#include <algorithm>
#include <cstring>
using std::min; using std::max;
#define __device__ static
#define __constant__ static
#define __shared__
#define __align__(n)
#define __syncthreads()
#define __noinline__
#define __forceinline__ inline
#define __global__
#define __restrict__
#define __launch_bounds__(...)
struct { long long x; } blockIdx, threadIdx, blockDim = {1};
template <class A, class B> static A as(B b) { A a; std::memcpy(&a, &b, sizeof a); return a; }
static int __double2loint(double x) { return (int)as<long long>(x); }
static int __double2hiint(double x) { return (int)(as<long long>(x) >> 32); }
static double __hiloint2double(int h, int l) { return as<double>((long long)h << 32 | (unsigned)l); }
static int __float_as_int(float x) { return as<int>(x); }
static float __int_as_float(int x) { return as<float>(x); }
"""


def for_host(text: str) -> str:
    """The source without the instructions of a GPU: with others that have as few digits."""
    text = re.sub(r'asm\("rcp.*;', "r = 1 / x; r += r / 4096;", text.replace("static __device__", "__device__"))
    return re.sub(r'asm\("rsqrt.*;', "r = 1 / std::sqrt(x); r += r / (1 << 19);", text) + "\nT pool[1 << 16];\n"


def source_of(program: Program, float64: bool = True, fast: bool = False) -> str:
    inputs, outputs = ([math.prod(core) for core in side] for side in (program.inputs, program.outputs))
    return kernel_source(program.graph, inputs, outputs, float64, fast).text


def run_on_host(program: Program, folder: Path, *args: np.ndarray, float64: bool = True) -> list[np.ndarray]:
    """The kernel's source compiled as C++ and run thread after thread; arguments (n, core ...)."""
    count, dtype = len(args[0]), np.float64 if float64 else np.float32
    arrays = [np.ascontiguousarray(np.moveaxis(a, 0, -1), dtype) for a in args]
    results = [np.full((*core, count), np.nan, dtype) for core in program.outputs]
    text = for_host(source_of(program, float64))
    names = [f"i{k}" for k in range(len(arrays))] + [f"o{k}" for k in range(len(results))]
    loop = (
        f'extern "C" void run({", ".join(f"T* {n}" for n in names)}, long long count) {{'
        f" for (blockIdx.x = 0; blockIdx.x < count; blockIdx.x++)"
        f" kernel({', '.join(f'{n} + blockIdx.x, count, 0' for n in names)}, count * {BLOCKS[8 if float64 else 4]}); }}"
    )
    (folder / "k.cpp").write_text(_SHIM + text + loop)
    subprocess.run(
        ["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-o", folder / "k.so", folder / "k.cpp"], check=True
    )
    library = ctypes.CDLL(str(folder / "k.so"))
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, *results)]
    library.run(*pointers, ctypes.c_longlong(count))
    return [np.moveaxis(r, -1, 0) for r in results]
