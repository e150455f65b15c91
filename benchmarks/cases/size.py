"""The disk space of packages with all that they need, as `pip install` puts them into an empty environment."""

import importlib.metadata
from functools import partial
from pathlib import Path

import poinsot
from case import Case, Contender, Measured, Missing, Work


def installed(name: str, extra: str = "") -> Work:
    """The size of a distribution and of those that it needs [MB], byte code included."""
    if not _there(name):
        raise Missing(f"{name} is not installed")

    def all_there() -> list[list[float]]:
        return [[float(all(path.exists() for path in files(name, extra)))]]

    return Measured(all_there, lambda: sum(path.stat().st_size for path in files(name, extra)) / 1e6)


def files(name: str, extra: str = "") -> set[Path]:
    """All files of a distribution and of those that it needs."""
    return {path.resolve() for part in closure(name, extra) for path in _own_files(part)}


def closure(name: str, extra: str = "") -> set[str]:
    """A distribution, with an extra or none, and all that it needs here."""
    from packaging.requirements import Requirement

    found: set[tuple[str, str]] = set()
    waiting = {(name.lower(), extra)}
    while waiting:
        part, asked = item = waiting.pop()
        found.add(item)
        for line in importlib.metadata.requires(part) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": asked}):
                waiting |= {(needed.name.lower(), inner) for inner in {"", *needed.extras}} - found
    return {part for part, _ in found}


def _own_files(name: str) -> list[Path]:
    if name == "poinsot":  # it may be installed as a checkout
        package = Path(poinsot.__file__).parent
        root = package.parents[1]
        folders = [package, root / "examples", root / "docs" / "courses"] if package.parent.name == "src" else [package]
        return [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [Path(str(file.locate())) for file in importlib.metadata.files(name) or []]


def _there(name: str) -> bool:
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False


PEERS = {
    "MuJoCo": ("mujoco", "mujoco"),
    "Pinocchio": ("pin", "pinocchio"),
    "Drake": ("drake", "pydrake"),
    "JAX": ("jax", "jax"),
    "heyoka": ("heyoka", "heyoka"),
    "JSBSim": ("jsbsim", "jsbsim"),
    "RocketPy": ("rocketpy", "rocketpy"),
    "Basilisk": ("bsk", "Basilisk"),
}
CASES = (
    Case(
        name="installed-size",
        what="The disk space of what `pip install` brings, dependencies and byte code included",
        contenders=(
            Contender("poinsot", partial(installed, "poinsot")),
            Contender("poinsot[view]", partial(installed, "poinsot", "view")),
            *(Contender(name, partial(installed, package), peer=peer) for name, (package, peer) in PEERS.items()),
        ),
        expected=lambda: [[1.0]],
        tolerance=0.0,
        unit="MB",
    ),
)
