"""How soon a heap of balls or boxes shows something: `POINSOT_CACHE=0 python benchmarks/heap_records.py ball 50 200`.

Processor time: the first look at `run.data` of eleven records, without the import of xarray; a stepper that observes
the energy and a place, and its start; a live page.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray  # noqa: F401  so that its import is not measured

import poinsot as pt

STEP = 2e-3


def heap(kind: str, n: int) -> pt.World:
    world = pt.World()
    world.add_ground(capacity=4 * n)
    body = pt.Inertia.sphere(1.0, 0.1) if kind == "ball" else pt.Inertia.box(1.0, (0.2, 0.2, 0.2))
    for k in range(n):
        world.add_body(f"b{k}", body, position=(0.25 * (k % 10), 0.25 * (k // 10 % 10), 0.11 + 0.25 * (k // 100)))
    world.collide(capacity=4 * n)
    return world


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["ball", "box"])
    parser.add_argument("sizes", type=int, nargs="+")
    options = parser.parse_args()
    for n in options.sizes:
        run = heap(options.kind, n).simulate(0.1, STEP, every=0.01, ledger_tolerance=np.inf)
        data = timed(lambda: run.data)[1]  # noqa: B023
        world = heap(options.kind, n)
        sim, made = timed(lambda: world.stepper(step=STEP, observe=["energy", "b3.position"]))  # noqa: B023
        begun = timed(sim.reset)[1]
        world = heap(options.kind, n)
        page, shown = timed(lambda: world.live(step=STEP, browser=False, block=False))  # noqa: B023
        page.close()
        print(
            f"{n} {options.kind}: data {data:.2f} s, stepper {made + begun:.2f} s, live page {shown:.2f} s", flush=True
        )


if __name__ == "__main__":
    main()
