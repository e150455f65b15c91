"""Work and precision of motions of all kinds, ours against heyoka, SciPy and diffrax: pictures, tables and losses.

    python docs/make/digits.py                        # measure everything, which takes some 15 minutes; print and draw
    python docs/make/digits.py "double pendulum"      # measure these again
    python docs/make/digits.py --draw                 # print and draw what was measured

Times are processor time, on one core, without compilation; all ways take turns, and the best round counts. What is
measured is kept in results/digits.json. Peers that are not installed are left out.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from case import ONE_THREAD, Work  # noqa: E402

os.environ.update(ONE_THREAD)

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import smooth  # noqa: E402
from free_top import processor_time  # noqa: E402
from poinsot import fuse  # noqa: E402
from smooth import PROBLEMS, Problem  # noqa: E402

KEPT, PICTURES = ROOT / "results" / "digits.json", ROOT / "docs" / "pictures"
TOLERANCES = tuple(10.0**-k for k in (3, 5, 7, 9, 11, 13))
ERRORS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)  # of the tables
MANY, FEW, ROUNDS, PATIENCE = 4096, 8, 5, 0.3
FREE = PROBLEMS["free top"]
SHOWN = [name for name in PROBLEMS if name != "spacecraft"]  # that one is in the benchmarks


@dataclass(frozen=True)
class Way:
    """A way to solve a problem: how many instances it has side by side; where it can be used."""

    work: Callable[[str, float, int], Work]
    colour: str
    line: str
    many: int
    suits: Callable[[Problem], bool] = lambda problem: True


WAYS = {
    "poinsot, Taylor series": Way(smooth.ours, "#0a2f5c", "-", MANY),
    "poinsot, DOP853": Way(smooth.ours_adaptive, "#4c9ac4", "-", MANY),
    "poinsot, RODAS": Way(smooth.ours_stiff, "#7a66c8", "-", MANY, lambda problem: problem.stiff),
    "poinsot, free motion": Way(smooth.ours_free, "#6fb3b8", "-", MANY, lambda problem: problem is FREE),
    "heyoka": Way(smooth.heyoka, "#d1495b", "--", FEW, lambda problem: not problem.switches),
    "SciPy": Way(smooth.scipy, "#8d99ae", "--", 1),
    "diffrax": Way(smooth.diffrax, "#e09f3e", "--", MANY),
}


def points(name: str, many: bool) -> dict[str, list[tuple[float, float]]]:
    """(error, time [s] per instance) of each way, for falling tolerances."""
    problem, works = PROBLEMS[name], list[tuple[str, float, int, Work]]()
    exact = smooth.expected(name, FEW)
    costly = problem.stiff or name.startswith("Panda")
    tolerances = TOLERANCES[:5] if problem.stiff else TOLERANCES[:4:3] if costly else TOLERANCES
    for label, way in WAYS.items():
        count = way.many if many else 1
        count = min(count, 256) if costly else count
        for tolerance in tolerances if way.suits(problem) else ():
            try:
                work = way.work(name, tolerance, count)
                end = np.asarray(work())[:FEW]
            except ImportError:
                break
            error = (np.abs(end - exact[: len(end)]).max(1) / np.abs(exact[: len(end)]).max(1)).max()
            works.append((label, float(error), count, work))
    times: list[list[float]] = [[] for _ in works]
    for round_ in range(ROUNDS):
        for (_, _, _, work), spent in zip(works, times, strict=True):
            if round_ < 1 or min(spent) < PATIENCE:
                spent.append(processor_time(work))
    found: dict[str, list[tuple[float, float]]] = {}
    for (label, error, count, _), spent in zip(works, times, strict=True):
        found.setdefault(label, []).append((error, min(spent) / count))
    return found


def time_at(curve: list[tuple[float, float]], error: float) -> float:
    """The least time [s] to reach an error, between points of falling tolerance by straight lines in logarithms."""
    best = min((t for e, t in curve if e <= error), default=np.inf)
    for (e0, t0), (e1, t1) in pairwise(curve):
        if e1 <= error < e0 and e1 > 0:
            share = np.log(e0 / error) / np.log(e0 / e1)
            best = min(best, float(np.exp((1 - share) * np.log(t0) + share * np.log(t1))))
    return best


def table(results: dict[str, Any]) -> None:
    """Ours, and how many times as long others take; then what was lost."""
    losses = []
    for many in ("one", "many"):
        names = [label for label in WAYS if not label.startswith("poinsot")]
        print(f"\n| {many} | error | poinsot | {' | '.join(names)} |\n|---|--:|--:|{'--:|' * len(names)}")
        for name in results:
            curves = results[name][many]
            for error in ERRORS:
                own = {k: time_at(c, error) for k, c in curves.items() if k.startswith("poinsot")}
                label = min(own, key=lambda k: own[k])
                t, cells = own[label], []
                for peer in names:
                    other = time_at(curves.get(peer, []), error)
                    cells.append(f"{other / t:.3g}" if np.isfinite(other) and np.isfinite(t) else "-")
                    if other < t < np.inf:
                        losses.append(f"{name}, {many}, {error:.0e}: {peer} takes {other / t:.2f} of our time")
                shown = f"{1e6 * t:.3g} us, {label.split(', ')[1]}" if np.isfinite(t) else "-"
                print(f"| {name} | {error:.0e} | {shown} | {' | '.join(cells)} |")
    print("\nlosses:", *losses, sep="\n- ")


def draw(results: dict[str, Any], many: str) -> plt.Figure:
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    across = max(-(-len(results) // 2), 2)
    figure, axes = plt.subplots(2, across, figsize=(3.1 * across + 0.1, 6.6), dpi=110, layout="constrained")
    for axis in axes.ravel()[len(results) :]:
        axis.set_visible(False)
    handles = {}
    for axis, (name, curves) in zip(axes.ravel(), results.items(), strict=False):
        for label, curve in curves[many].items():
            way, shown = WAYS[label], [(max(e, 1e-15), t) for e, t in curve if e < 1]
            errors, times = zip(*shown, strict=True) if shown else ((), ())
            style = {"color": way.colour, "ls": way.line, "marker": "o", "ms": 4, "mew": 0, "lw": 1.5}
            (handles[label],) = axis.plot(times, errors, label=label, **style)
        axis.set(xscale="log", yscale="log", ylim=(1e-15, 2), title=name)
        axis.set_yticks([10.0**-k for k in (0, 3, 6, 9, 12, 15)])
        axis.grid(color="#e6eaf0", lw=0.8)
        axis.minorticks_off()
    for axis in axes[-1]:
        axis.set_xlabel("time of each [s]" if many == "many" else "time [s]")
    for axis in axes[:, 0]:
        axis.set_ylabel("relative error in the end")
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def kept() -> dict[str, Any]:
    """What was measured so far."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def main() -> None:
    given = [word for word in sys.argv[1:] if word != "--draw"]
    fuse.set_threads(1)
    for name in () if "--draw" in sys.argv else given or SHOWN:
        found = {"one": points(name, many=False), "many": points(name, many=True)}
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps({**kept(), name: found}))
    results = kept()
    results = {name: results[name] for name in SHOWN if name in results}
    table(results)
    for many in ("one", "many"):
        draw(results, many).savefig(PICTURES / f"digits-{many}.png")


if __name__ == "__main__":
    main()
