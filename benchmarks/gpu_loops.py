"""Closed loops on the GPU: Andrews' squeezing mechanism of `cases/loops.py`, RK4.

Needs NumPy and CuPy alone:

PYTHONPATH=src python benchmarks/gpu_loops.py [--count 65536]
"""

import argparse

import numpy as np

from cases.loops import STEP, andrews
from on_gpu import Fleet, rows

ANDREWS = Fleet("Andrews", andrews, STEP, 100, before=(100,), checked=20, wanted={4: 4e9, 8: 2e9})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, nargs="*", default=[65536], help="instances")
    arguments = parser.parse_args()
    rows([(ANDREWS, "rk4", np.dtype(kind)) for kind in ("f4", "f8")], tuple(arguments.count))


if __name__ == "__main__":
    main()
