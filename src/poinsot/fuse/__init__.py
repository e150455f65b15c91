"""The compiler: knows NumPy and machines, knows no physics."""

from typing import Any

from . import numpy_rules as numpy_rules
from .assembly import Assembly, aligned_zeros
from .budget import budget
from .control import fori_loop, once
from .derive import gradient, hessian, jacobian, jvp, vjp
from .errors import TraceError
from .kernel import Kernel, kernel
from .linalg import solve_spd
from .parallel import set_threads, threads
from .table import Table
from .traced import Traced

__all__ = [
    "Assembly",
    "Kernel",
    "Table",
    "TraceError",
    "Traced",
    "aligned_zeros",
    "budget",
    "fori_loop",
    "gradient",
    "hessian",
    "is_traced",
    "jacobian",
    "jvp",
    "kernel",
    "once",
    "set_threads",
    "solve_spd",
    "threads",
    "vjp",
]


def is_traced(*values: Any) -> bool:
    """True if any of the values is being traced, so that its numbers are not known yet."""
    return any(isinstance(v, Traced) or (isinstance(v, (list, tuple)) and is_traced(*v)) for v in values)
