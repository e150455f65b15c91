"""poinsot sweep --reduce: a sweep of which a summary of the outputs is kept, and nothing else."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poinsot._hints import hint
from poinsot.cli import finding
from poinsot.cli.screen import Screen, complain, plain

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario
    from poinsot.study.reduced import Reduced

SHARES = {"0.1 %": 0.001, "1 %": 0.01, "5 %": 0.05, "50 %": 0.5, "95 %": 0.95, "99 %": 0.99, "99.9 %": 0.999}
SHOWN = ("mean", "std", "least", "5 %", "50 %", "95 %", "most")
CHUNKS = 100  # about how many, so that progress shows and little is lost


def reduced(
    screen: Screen,
    scenario: "Scenario",
    values: dict[str, Any],
    out: Path | None,
    what: list[str] | None,
    options: dict[str, Any],
) -> int:
    """Run the sweep, or what is left of it; print and write the summary. 1 if it was interrupted or some broke down."""
    names = _outputs(scenario, what)
    folder = finding.result_path(out, scenario.name, "-reduced")
    screen.say(scenario.title, "bold")
    done = _done(screen, scenario, values, folder, options)
    if done is None:
        return 1
    summary = done.summary
    content = told(done)
    done.job.tell(json.dumps(plain(content), indent=1).encode())
    screen.say(f"{summary.n:,} runs over {', '.join(values)}.")
    if summary.broken:
        screen.say(f"{summary.broken:,} of them broke down, and are left out.", "yellow")
    if left := summary.n - summary.finite - summary.broken:
        screen.say(f"{left:,} of them have an output that is not finite, and are left out.", "yellow")
    rows = content["statistics"].items()
    lines = [(name, *(f"{x[k]:.4g}" for k in SHOWN)) for name, x in rows if name in names]
    screen.table(("output", *SHOWN), lines)
    screen.data({**content, "results": str(folder)})
    screen.say(f"{'results':<8} {folder}", "green")
    screen.result(str(folder))
    return int(summary.broken > 0)


def _outputs(scenario: "Scenario", what: list[str] | None) -> list[str]:
    """The outputs to report."""
    there = scenario.options.get("outputs")
    if not there:
        raise ValueError("--reduce keeps a summary of outputs, and the scenario has none: give a table [outputs].")
    for name in what or ():
        if name not in there:
            near = hint(name, there) or f"; there are {', '.join(there)}."
            raise ValueError(f"--what {name}: with --reduce only outputs are kept{near}")
    return what or list(there)


def _done(
    screen: Screen, scenario: "Scenario", values: dict[str, Any], folder: Path, options: dict[str, Any]
) -> "Reduced | None":
    """The sweep, when all of it is done; None if it was interrupted."""
    from poinsot.study.reduced import BLOCK, sweep_reduced

    run = {k: v for k, v in options.items() if k not in ("every", "record")}
    if run["samples"] is None:
        raise ValueError("--reduce draws all numbers at random: say how many instances, --samples 100000.")
    if run["chunk"] is None:
        run["chunk"] = min(64, max(1, run["samples"] // (CHUNKS * BLOCK))) * BLOCK
    progress = None if screen.talks else False
    try:
        return sweep_reduced(scenario.world, values, save=str(folder), progress=progress, **run)
    except KeyboardInterrupt:
        complain(f"interrupted; finished chunks are kept in {folder}, and the same command continues from there")
        return None


def told(done: "Reduced") -> dict[str, Any]:
    """The report of a sweep: counts; of each output moments, quantiles and extremes; covariances."""
    summary = done.summary
    counts = {"runs": summary.n, "finite": summary.finite, "broken": summary.broken, "varied": list(done.job.vary)}
    if not summary.finite:
        return {**counts, "statistics": {}, "covariance": [], "extremes": {}}
    statistics = {
        name: {
            "mean": summary.mean(name),
            "std": summary.std(name),
            **{share: summary.quantile(name, x) for share, x in SHARES.items()},
            "least": summary.least[name][0][0],
            "most": summary.most[name][0][0],
        }
        for name in summary.names
    }
    extremes = {name: done.extremes(name) for name in summary.names}
    return {**counts, "statistics": statistics, "covariance": summary.covariance().tolist(), "extremes": extremes}
