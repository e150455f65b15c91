"""Legged robots with contact on the GPU: a quadruped on its feet, a humanoid that falls, and one that touches itself.

The worlds are those of the rows `contact-quadruped` and `contact-humanoid`, made by `legged.py`. Needs NumPy and CuPy
alone:

PYTHONPATH=src python benchmarks/gpu_contact.py [--floats 4 8] [--count 8192 65536] [--methods ...] [fleets ...]
"""

import argparse
import itertools
from functools import partial
from typing import Any

import numpy as np

import legged
import poinsot as pt
from on_gpu import Fleet, rows

SURFACE = pt.Material(3e4, 1.0, 0.7)
METHODS = ("implicit, one iteration", "implicit")
STEPS = {"quadruped": 4e-3, "humanoid": 5e-3}
FALL = 600  # steps, in which the humanoid comes to lie


def world(robot: str, touches_itself: bool) -> pt.World:
    made = legged.world_of(getattr(legged, robot)(), SURFACE, stops=robot == "humanoid")
    if touches_itself:
        made.collide(surface=SURFACE)
    return made


def moving(system: Any, y: np.ndarray) -> np.ndarray:
    """Random velocities, as in the rows on the processor, and feet a little in the ground."""
    rng = np.random.default_rng(0)
    y[:, 6] -= 2e-3 * rng.random(len(y))
    y[:, system.nq : system.nq + system.nv] = 0.05 * rng.normal(size=(len(y), system.nv))
    return y


def contacts(system: Any, y: np.ndarray) -> str:
    """How many springs of contacts are stretched, on the ground, and between bodies, on average; and how high the root
    is."""
    ground, pairs, start = 0.0, 0.0, system.nq + system.nv
    for path, first in system.states.items():
        x = y[:, start : start + np.size(first)].reshape(len(y), *np.shape(first))
        start += np.size(first)
        if path.endswith(".touching"):
            pairs += float(np.sum(x >= 0, axis=1).mean())
        elif path.endswith("-ground.stretch"):
            ground += float(np.sum(np.any(x != 0, axis=-1), axis=1).mean())
    return f"{ground:.1f} on the ground, {pairs:.1f} listed, root at {y[:, 6].mean():.2f} m"


def fleet(name: str, robot: str, itself: bool, wanted: float, *before: int) -> Fleet:
    return Fleet(
        name, partial(world, robot, itself), STEPS[robot], 60, moving, (0, *before), wanted={4: wanted}, tell=contacts
    )


FLEETS = {
    "quadruped": fleet("quadruped", "quadruped", False, 1.5e9),
    "humanoid": fleet("humanoid", "humanoid", False, 200e6, FALL),
    "self": fleet("humanoid with self-collision", "humanoid", True, 50e6, FALL),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--floats", type=int, nargs="*", default=[4], choices=[4, 8], help="bytes of a float")
    parser.add_argument("--count", type=int, nargs="*", default=[8192, 65536], help="instances")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("fleets", nargs="*", default=list(FLEETS), help=f"of {', '.join(FLEETS)}")
    arguments = parser.parse_args()
    tasks = itertools.product(map(FLEETS.__getitem__, arguments.fleets), arguments.methods, arguments.floats)
    rows([(fleet, method, np.dtype(f"f{size}")) for fleet, method, size in tasks], tuple(arguments.count))


if __name__ == "__main__":
    main()
