"""The text for GPUs of a step with loops: Andrews' squeezing mechanism by RK4, on the host, and compiled by nvcc."""

import math
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cuda_on_host import run_on_host
from poinsot.fuse import Kernel
from poinsot.fuse.cuda.translation import kernel_source
from poinsot.fuse.kernels import Program

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
CACHE = 105_000  # bytes of instructions that stay near a multiprocessor of an H200
STEPS = 20


@cache
def advancing():
    """The compiled world, and the kernel that takes many of its steps."""
    from cases.loops import STEP, andrews

    compiled = andrews().simulate(STEP, STEP, method="rk4", ledger=False).compiled
    signature = f"({compiled.nx}),({compiled.np}),(),(),(),()->({compiled.nx})"
    return compiled, Kernel(compiled._advance, signature), STEP


def program(dtype: type) -> Program:
    compiled, kernel, _ = advancing()
    return kernel.gpu_program((compiled.nx,), (compiled.np,), (), (), (), (), dtype=dtype)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-3)], ids=["float64", "float32"])
def test_steps_of_andrews_on_the_host(dtype, tolerance, tmp_path):
    """Against the processor, from varied starts that are closed; tolerances by what 20 steps make of rounding."""
    compiled, _, h = advancing()
    p = np.tile(compiled.parameters({}, {}), (3, 1))
    x = np.stack(
        [compiled.advance(compiled.to_stepped(compiled.start(p[0]), p[0]), p[0], 0.0, 0, h, n) for n in (0, 30, 60)]
    )
    clock = [np.full(3, value, dtype=float) for value in (0.0, 0, h, STEPS)]
    (found,) = run_on_host(program(dtype), tmp_path, x, p, *clock, float64=dtype is np.float64)
    expected = compiled.advance(x, p, 0.0, 0, h, STEPS)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize(("dtype", "spilled"), [(np.float64, 256), (np.float32, 0)], ids=["float64", "float32"])
def test_andrews_fits_a_multiprocessor(dtype, spilled, tmp_path):
    """Registers are not spilled, but for some bytes once per step, and the instructions fit their cache."""
    made = program(dtype)
    sizes = ([math.prod(core) for core in side] for side in (made.inputs, made.outputs))
    source = kernel_source(made.graph, *sizes, dtype is np.float64)
    (tmp_path / "k.cu").write_text(source.text)
    options = ["-arch=sm_90", "-cubin", "--std=c++17", "-Xptxas=-v", *source.options]
    done = subprocess.run(
        ["nvcc", *options, "-o", tmp_path / "k.cubin", tmp_path / "k.cu"], capture_output=True, text=True, check=True
    )
    stores, loads = (
        sum(map(int, re.findall(rf"(\d+) bytes spill {what}", done.stderr))) for what in ("stores", "loads")
    )
    assert max(stores, loads) <= spilled
    assert (tmp_path / "k.cubin").stat().st_size < CACHE
