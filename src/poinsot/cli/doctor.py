"""poinsot doctor: what works on this machine, what is missing, and what to do about it."""

import importlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from poinsot.cli import hardware
from poinsot.cli.options import Json
from poinsot.cli.screen import Screen

LEAST_PYTHON = (3, 11)
# What plain runs need, with what it is for.
NEEDED = {
    "numpy": "arrays",
    "llvmlite": "compiled kernels",
    "xarray": "labelled results",
    "h5netcdf": "results in .nc files",
    "h5py": "results in .nc files",
    "pint": "units in scenarios",
    "pydantic": "checked scenarios",
    "rich": "the command",
    "typer": "the command",
}
# The extras of pyproject.toml: the packages that they bring, and what those are for.
EXTRAS = {
    "adaptive": (("scipy",), "adaptive steps, regulators, Sobol indices"),
    "cluster": (("distributed",), "sweeps on a Dask cluster"),
    "contact": (("scipy",), "contact of meshes: their hulls"),
    "control": (("control",), "linear models for python-control"),
    "cuda": (("cupy",), "batches on NVIDIA GPUs"),
    "fit": (("scipy",), "parameters from measurements"),
    "jax": (("jax",), "the bridge to JAX"),
    "learn": (("gymnasium",), "learning environments"),
    "mesh": (("trimesh", "collada"), "bodies and looks from mesh files"),
    "orbits": (("ppigrf", "sgp4"), "the Earth's magnetic field, two-line elements"),
    "remote": (("fsspec", "s3fs"), "sweeps in object stores"),
    "robots": (("mujoco",), "MJCF files"),
    "symbolic": (("sympy",), "equations of motion in symbols"),
    "tables": (("pyarrow",), "Parquet files"),
    "torch": (("torch",), "the bridge to PyTorch"),
    "view": (("matplotlib", "PIL"), "plots and images"),
    "zarr": (("zarr",), "sweeps, results in .zarr folders"),
}
MARKS = {"ok": "green", "missing": "yellow", "broken": "red"}

NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not start the browser.")]


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at: `state` is ok, missing (an optional thing) or broken (plain runs need it)."""

    topic: str
    state: str
    found: str
    advice: str = ""


def doctor(no_browser: NoBrowser = False, json: Json = False) -> int:
    """Check Python, the compiler, its cache, threads, GPU, browser and packages; say what to do where one is missing.

    The exit code is 1 if something that plain runs need is broken.

    Example:  poinsot doctor
    """
    import poinsot

    screen = Screen(json=json)
    checks = [python, needed, compiler, cache, threads, gpu, *([] if no_browser else [browser]), *extras()]
    screen.say(f"poinsot {poinsot.__version__}", "bold")
    all_found = []
    for check in checks:
        found = _attempt(check)
        all_found.append(found)
        screen.say(_row(found))
    broken = [one.topic for one in all_found if one.state == "broken"]
    screen.say(f"Broken: {', '.join(broken)}." if broken else "All that plain runs need works.", "bold")
    screen.data({"version": poinsot.__version__, "works": not broken, "checks": [asdict(one) for one in all_found]})
    return int(bool(broken))


def _row(found: Diagnosis) -> Table:
    """One line of the report, the advice below it."""
    row = Table.grid(padding=(0, 1))
    for width in (7, 8):
        row.add_column(width=width)
    row.add_row(f"[{MARKS[found.state]}]{found.state}[/]", found.topic, escape(found.found))
    if found.advice:
        row.add_row("", "", f"[bold]{escape(found.advice)}[/]")
    return row


def _attempt(check: Callable[[], Diagnosis]) -> Diagnosis:
    """A check's answer; one that fails is itself an answer."""
    try:
        return check()
    except Exception as error:
        state = "broken" if check in (python, needed, compiler, threads) else "missing"
        return Diagnosis(check.__name__, state, f"{type(error).__name__}: {error}")


def python() -> Diagnosis:
    """The interpreter."""
    said = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if sys.version_info >= LEAST_PYTHON:
        return Diagnosis("python", "ok", said)
    return Diagnosis("python", "broken", said, f"Install Python {'.'.join(map(str, LEAST_PYTHON))} or newer.")


def needed() -> Diagnosis:
    """The packages of a plain install, each of which must import."""
    failed = {}
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except Exception as error:  # also what a damaged package raises
            failed[name] = str(error)
    if not failed:
        found = ", ".join(f"{name} {hardware.installed(name)}" for name in NEEDED)
        return Diagnosis("packages", "ok", found)
    said = "; ".join(f"{name} ({NEEDED[name]}): {error}" for name, error in failed.items())
    return Diagnosis("packages", "broken", said, f"pip install --force-reinstall {' '.join(failed)}")


def compiler() -> Diagnosis:
    """The compiler, which must give NumPy's numbers."""
    import llvmlite.binding

    from poinsot.fuse import kernel

    x = np.linspace(-3.0, 3.0, 101)
    probe = kernel("()->()")(lambda y: np.sin(y) * np.sqrt(1 + y * y))
    with fresh_code():
        found = probe(x)
    wanted = np.sin(x) * np.sqrt(1 + x * x)
    said = f"LLVM {'.'.join(map(str, llvmlite.binding.llvm_version_info))}, vectors of {hardware.vectors()}"
    if np.allclose(found, wanted, rtol=1e-14, atol=1e-14):
        return Diagnosis("compiler", "ok", said)
    return Diagnosis("compiler", "broken", f"{said}: compiled code gives wrong numbers", "pip install -U llvmlite")


@contextmanager
def fresh_code() -> Iterator[None]:
    """Compile what is called here, rather than take it from the cache."""
    before = os.environ.get("POINSOT_CACHE")
    os.environ["POINSOT_CACHE"] = "0"
    try:
        yield
    finally:
        os.environ.pop("POINSOT_CACHE") if before is None else os.environ.update(POINSOT_CACHE=before)


def cache() -> Diagnosis:
    """The folder of compiled code, tried with an entry of its own: without it, every process compiles anew."""
    from poinsot.fuse.llvm import object_cache

    folder, trial = object_cache.cache_folder(), f"doctor-{os.getpid()}"
    own = "Set POINSOT_CACHE to a folder of your own: kernels are then compiled once."
    if folder is None:
        return Diagnosis("cache", "missing", "switched off by POINSOT_CACHE", own)
    object_cache.write(trial, b"trial")
    kept = object_cache.read(trial)
    (folder / f"{trial}.o").unlink(missing_ok=True) if folder.is_dir() else None
    if kept is None:
        others = folder.is_dir() and not object_cache.is_private(folder)
        reason = "not used: others may write to it" if others else "cannot be written"
        return Diagnosis("cache", "missing", f"{folder}: {reason}", f"chmod 700 '{folder}'" if others else own)
    sizes = [entry.stat().st_size for entry in os.scandir(folder) if entry.name.endswith(".o")]
    most = object_cache.LIMIT / 2**20
    return Diagnosis(
        "cache", "ok", f"{folder}: private, {len(sizes)} kernels, {sum(sizes) / 2**20:.1f} of {most:.0f} MiB"
    )


def threads() -> Diagnosis:
    """The threads that share large batches."""
    from poinsot import fuse

    chosen = " (POINSOT_THREADS)" if os.environ.get("POINSOT_THREADS") else ""
    return Diagnosis("threads", "ok", f"{fuse.threads()}{chosen} of {os.cpu_count()} cores, {hardware.processor()}")


def gpu() -> Diagnosis:
    """NVIDIA's GPU, with a kernel that runs on it."""
    from poinsot.fuse import kernel

    names = hardware.gpus()
    if not names:
        return Diagnosis("GPU", "missing", "none that NVIDIA's driver sees", "Batches run on the processor.")
    said = ", ".join(names)
    try:
        import cupy
    except ImportError:
        return Diagnosis("GPU", "missing", f"{said}, but no CuPy", "pip install 'poinsot[cuda]'")
    x = np.linspace(0.0, 1.0, 7)
    try:
        y: Any = kernel("()->()")(lambda a: a * a + 1).to("cuda")(cupy.asarray(x))
        right = np.allclose(cupy.asnumpy(y), x * x + 1, rtol=1e-15)
    except Exception as error:  # the errors of CuPy, of NVRTC and of the driver have no common class
        return Diagnosis("GPU", "missing", f"{said}: {error}", "Install the CuPy that fits the driver's CUDA version.")
    if right:
        return Diagnosis("GPU", "ok", f"{said}, CuPy {cupy.__version__}")
    return Diagnosis("GPU", "missing", f"{said}: wrong numbers", "Update the driver and CuPy.")


def browser() -> Diagnosis:
    """Chromium or Chrome, which draws images and films without a display."""
    from poinsot.show import chromium

    advice = "Only images and films without a display need it; pages open in any browser."
    try:
        program = chromium.browser()
        with chromium.tab():
            return Diagnosis("browser", "ok", f"{program}, draws in three dimensions (WebGL 2)")
    except (OSError, RuntimeError, TimeoutError) as error:
        return Diagnosis("browser", "missing", str(error), advice)


def extras() -> list[Callable[[], Diagnosis]]:
    """One check per extra: whether its packages are there."""
    return [partial(_extra, extra) for extra in EXTRAS]


def _extra(extra: str) -> Diagnosis:
    packages, purpose = EXTRAS[extra]
    lacking = [name for name in packages if importlib.util.find_spec(name) is None]
    if not lacking:
        return Diagnosis(extra, "ok", f"{purpose}: {', '.join(packages)}")
    return Diagnosis(extra, "missing", f"{purpose}: no {', '.join(lacking)}", f"pip install 'poinsot[{extra}]'")
