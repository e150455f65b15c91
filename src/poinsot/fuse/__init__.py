"""The compiler: knows NumPy and machines, knows no physics."""

from poinsot.fuse.assembly.sums import Assembly, aligned_zeros
from poinsot.fuse.buffers import keep_buffers
from poinsot.fuse.derive.transforms import gradient, hessian, jacobian, jvp, vjp
from poinsot.fuse.graph.errors import TraceError
from poinsot.fuse.kernels import Kernel, kernel
from poinsot.fuse.parallel import set_threads, threads
from poinsot.fuse.plan.budget import budget
from poinsot.fuse.trace.cells import locate
from poinsot.fuse.trace.control import fori_loop, in_memory, once, when, while_loop
from poinsot.fuse.trace.holding import held
from poinsot.fuse.trace.linalg import solve_spd
from poinsot.fuse.trace.precision import coarseness
from poinsot.fuse.trace.table import Table
from poinsot.fuse.trace.traced import Traced, is_traced

__all__ = [
    "Assembly",
    "Kernel",
    "Table",
    "TraceError",
    "Traced",
    "aligned_zeros",
    "budget",
    "coarseness",
    "fori_loop",
    "gradient",
    "held",
    "hessian",
    "in_memory",
    "is_traced",
    "jacobian",
    "jvp",
    "keep_buffers",
    "kernel",
    "locate",
    "once",
    "set_threads",
    "solve_spd",
    "threads",
    "vjp",
    "when",
    "while_loop",
]
