"""What the code of worlds is like on a GPU, without one: those of `gpu_worlds.py`, compiled by nvcc.

PYTHONPATH=src python benchmarks/gpu_code.py [--floats 4 8] [--arch sm_90] [worlds ...]

Lines of CUDA C++; processor time of tracing and of nvcc; bytes of machine code; registers; and of all functions
together, bytes of the stack of a thread, and the bytes that the assembler spills and loads again, each counted once,
however often it is done.
"""

import argparse
import math
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import poinsot as pt
from gpu_worlds import CASES
from poinsot.fuse.cuda.translation import Source, kernel_source
from poinsot.run.compiled import CompiledSystem
from poinsot.run.stepping import choose_method

HEAD = "| world | floats | operations | lines | trace s | nvcc s | code | registers | stack | spilled | loaded |"


def source(name: str, size: int) -> tuple[Source, int, float]:
    """The text of the kernel that makes the steps of a world, with a ledger; its operations, and how long [s] it takes
    to be traced."""
    case = CASES[name]
    system = case.world().system(tuple(case.vary))
    c = CompiledSystem(system, choose_method(None, system), {}, True)
    kernel = pt.fuse.Kernel(c._advance, f"({c.nx}),({c.np}),(),(),(),()->({c.nx})")
    begin = time.process_time()
    program = kernel.gpu_program((c.nx,), (c.np,), (), (), (), (), dtype=np.dtype(f"f{size}"))
    took = time.process_time() - begin
    inputs, outputs = ([math.prod(core) for core in side] for side in (program.inputs, program.outputs))
    return kernel_source(program.graph, inputs, outputs, size == 8), program.operations, took


def compiled(text: Source, arch: str) -> tuple[str, bytes, float]:
    """What the assembler says of a kernel, its code, and how long [s] nvcc takes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.cu").write_text(text.text)
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [
            "nvcc",
            "-cubin",
            f"-arch={arch}",
            "-std=c++17",
            "-Xptxas",
            "-v",
            *text.options,
            "-o",
            "k.cubin",
            "k.cu",
        ]
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        return said, (Path(folder) / "k.cubin").read_bytes(), took


def bytes_of_code(cubin: bytes) -> int:
    """The sizes of the sections .text of an ELF file of 64 bits, together."""
    table, size, count, names = (
        int.from_bytes(cubin[a:b], "little") for a, b in ((40, 48), (58, 60), (60, 62), (62, 64))
    )
    heads = [cubin[table + k * size : table + (k + 1) * size] for k in range(count)]
    first = int.from_bytes(heads[names][24:32], "little")

    def is_text(head: bytes) -> bool:
        return cubin[first + int.from_bytes(head[:4], "little") :].startswith(b".text.")

    return sum(int.from_bytes(head[32:40], "little") for head in heads if is_text(head))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--floats", type=int, nargs="*", default=[8], choices=[4, 8], help="bytes of a float")
    parser.add_argument("--arch", default="sm_90", help="of the GPU")
    parser.add_argument("worlds", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    arguments = parser.parse_args()
    print(HEAD + "\n|---|---" + "|--:" * 9 + "|")
    for name in arguments.worlds:
        for size in arguments.floats:
            text, operations, trace = source(name, size)
            said, cubin, took = compiled(text, arguments.arch)
            spills = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
            stack, stored, loaded = (sum(int(x[k]) for x in spills) for k in range(3))
            registers = max(map(int, re.findall(r"Used (\d+) registers", said)))
            print(
                f"| {name} | f{8 * size} | {operations} | {text.text.count(chr(10))} | {trace:.1f} | {took:.1f} "
                f"| {bytes_of_code(cubin)} | {registers} | {stack} | {stored} | {loaded} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
