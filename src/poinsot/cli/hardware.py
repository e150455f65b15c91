"""The machine in words: processor, vectors, threads and GPU, without importing what takes long."""

import ctypes
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

SET_NAMES = {64: "AVX-512", 32: "AVX"}  # of vectors on x86, by their bytes
DRIVERS = ("libcuda.so.1", "libcuda.so") if os.name == "posix" else ("nvcuda.dll",)


def processor() -> str:
    """The processor's name, as its maker writes it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def vectors() -> str:
    """The vectors that kernels are compiled for."""
    from poinsot.fuse.llvm.target import host

    this = host()
    name = SET_NAMES.get(this.vector_bytes, "SSE2") if this.family == "x86" else "NEON" if this.family == "arm" else ""
    return f"{8 * this.vector_bytes} bits{f' ({name})' if name else ''}, {this.vector_bytes // 8} doubles at a time"


def gpus() -> list[str]:
    """The names of the GPUs that NVIDIA's driver sees; none without a driver."""
    for library in DRIVERS:
        try:
            driver = ctypes.CDLL(library)
        except OSError:
            continue
        count = ctypes.c_int(0)
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
            return []
        names = []
        for place in range(count.value):
            device, name = ctypes.c_int(0), ctypes.create_string_buffer(256)
            if not driver.cuDeviceGet(ctypes.byref(device), place):
                driver.cuDeviceGetName(name, len(name), device)
                names.append(name.value.decode(errors="replace"))
        return names
    return []


def installed(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def machine_lines() -> list[str]:
    """The description of the machine in `poinsot --version`."""
    from poinsot.fuse import threads

    python = f"{platform.python_implementation()} {platform.python_version()} on {sys.platform} {platform.machine()}"
    versions = ", ".join(f"{name} {installed(name) or 'missing'}" for name in ("numpy", "llvmlite"))
    try:
        vector = vectors()
    except ImportError:
        vector = "unknown, as llvmlite cannot be imported"
    try:
        threads_used = str(threads())
    except ValueError as error:
        threads_used = str(error)
    return [
        f"python     {python}, {versions}",
        f"processor  {processor()}",
        f"vectors    {vector}",
        f"threads    {threads_used}",
        f"GPU        {', '.join(gpus()) or 'none found'}",
    ]
