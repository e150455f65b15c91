"""The picture and table of the cost of forward dynamics over the number of joints: python docs/make/growth.py.

CPU time of one thread; compilation with an empty cache.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from case import count_processor_time  # noqa: E402
from cases.growth import CASES, LENGTHS  # noqa: E402
from poinsot import fuse  # noqa: E402
from run import Row, measure, number  # noqa: E402

COLOURS = {"poinsot": "#0a2f5c", "pin.aba in a Python loop": "#e09f3e", "pin.abaInParallel, one thread": "#d1495b"}


def measured() -> dict[str, list[Row]]:
    fuse.set_threads(1)
    count_processor_time()
    results = {one.name: measure(one, budget=1.0, rounds=3) for one in CASES}
    troubles = [f"{name}: {row.trouble}" for name, rows in results.items() for row in rows if row.trouble]
    if troubles:
        raise SystemExit("\n".join(troubles))
    return results


def draw(results: dict[str, list[Row]]) -> plt.Figure:
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), dpi=110, layout="constrained")
    n = np.array(LENGTHS)
    for k, (name, colour) in enumerate(COLOURS.items()):
        times = [results[f"growth-{length}"][k].best for length in LENGTHS]
        left.plot(n, times, "o-", color=colour, label=name, lw=1.6, ms=5)
    compiling = [results[f"growth-{length}-compile"][0].best for length in LENGTHS]
    right.plot(n, compiling, "o-", color=COLOURS["poinsot"], lw=1.6, ms=5)
    for axis, start in ((left, results["growth-20"][0].best / 20), (right, compiling[4] / 20)):
        axis.plot(n, start * n, ":", color="#8d99ae", lw=1.2, label="proportional to the number of joints")
        axis.set(xscale="log", yscale="log", xlabel="joints")
        axis.set_xticks(n, [str(length) for length in n])
        axis.minorticks_off()
        axis.grid(color="#e6eaf0", lw=0.8)
    left.set_title("Time per forward dynamics in a batch [s]", loc="left")
    right.set_title("Time to trace and compile it [s]", loc="left")
    left.legend(frameon=False, fontsize=10)
    return figure


def table(results: dict[str, list[Row]]) -> None:
    print("| joints | compile | ours | `pin.aba` | ratio | `abaInParallel` | ratio |\n|--:|--:|--:|--:|--:|--:|--:|")
    for length in LENGTHS:
        ours, loop, pool = (row.best for row in results[f"growth-{length}"])
        words = [number(x, "s") for x in (results[f"growth-{length}-compile"][0].best, ours, loop)]
        print(f"| {length} | {' | '.join(words)} | {loop / ours:.0f} | {number(pool, 's')} | {pool / ours:.0f} |")


if __name__ == "__main__":
    results = measured()
    table(results)
    draw(results).savefig(ROOT / "docs" / "pictures" / "growth.png")
