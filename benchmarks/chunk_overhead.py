"""The overhead of a chunk of a reduced sweep on one thread: drawing, running one step, summarising, writing.

python benchmarks/chunk_overhead.py
"""

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import poinsot as pt
from poinsot.study.reduced import ReducedJob

VARY = {"ball.velocity[2]": pt.Normal(10.0, 1.0), "ball.velocity[0]": pt.Uniform(1.0, 5.0)}
OUTPUTS = {"top": "max(ball.position.z)", "reach": "final(ball.position.x)"}
RUN = {"duration": 0.05, "step": 0.05, "every": 0.05, "ledger": False, "record": ["position"], "outputs": OUTPUTS}


def spent(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time [s] of a call, and its result."""
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def main() -> None:
    pt.set_threads(1)
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), velocity=(3.0, 0.0, 10.0))
    for chunk in (1024, 16384, 65536):
        with tempfile.TemporaryDirectory() as folder:
            job = ReducedJob(world.description, RUN, VARY, 4 * chunk, 0, chunk, f"{folder}/x")
            job.prepare(False)
            rows = []
            for k in range(4):  # the first compiles
                run, summary = spent(partial(job.summary, k))
                write, _ = spent(partial(job.write, k, summary))
                rows.append((run, write))
            merge, _ = spent(job.merged)
            size = os.path.getsize(f"{folder}/x/chunk-00000001.json")
            run, write = (min(row[i] for row in rows[1:]) for i in (0, 1))
            times = f"run {1e3 * run:.1f} ms, write {1e3 * write:.1f} ms, merge {250 * merge:.1f} ms"
            print(f"{chunk:,} instances: {times}, file {size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
