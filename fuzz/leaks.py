"""Many worlds and runs in one process: memory, memory maps and open files level off."""

import gc
import os
from pathlib import Path

import numpy as np

import poinsot as pt
from trial import require

WORLDS, RUNS = 60, 600


def maps() -> int:
    return Path("/proc/self/maps").read_text().count("\n")


def resident() -> float:
    """Megabytes of memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def fresh_world(rng: np.random.Generator) -> None:
    world = pt.World()
    world.add_body(
        "box", pt.Inertia.box(mass=rng.uniform(1, 2), size=(0.1, 0.2, 0.3)), angular_velocity=(0.1, 5.0, 0.1)
    )
    world.simulate(0.01)


def trial(rng: np.random.Generator) -> None:
    """Twice as much work takes no more of anything, once the first round has warmed up."""
    world = pt.World()
    world.add_body("box", pt.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3)), angular_velocity=(0.1, 5.0, 0.1))
    rounds = []
    for _ in range(3):
        for _ in range(WORLDS):
            fresh_world(rng)
        for _ in range(RUNS):
            world.simulate(0.01)
        for mass in rng.uniform(1, 2, WORLDS):
            world["box.mass"] = mass
            world.simulate(0.01)
        gc.collect()
        rounds.append((maps(), resident(), handles()))
    (maps_before, memory_before, handles_before), (maps_after, memory_after, handles_after) = rounds[1:]
    require(maps_after - maps_before < 20, f"memory maps grow: {rounds}")
    require(memory_after - memory_before < 5, f"memory grows: {rounds}")
    require(handles_after - handles_before < 3, f"open files grow: {rounds}")
