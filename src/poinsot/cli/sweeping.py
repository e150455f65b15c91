"""poinsot sweep: one scenario with many values of its numbers."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poinsot._optional import require
from poinsot.cli import finding
from poinsot.cli.options import AllowCode, FlightFile, Json, Out, Quiet, Set
from poinsot.cli.reducing import reduced
from poinsot.cli.screen import Screen, complain

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario
    from poinsot.study.swept import Sweep

RECORDS = 100
STATISTICS = ("mean", "std", "5 %", "50 %", "95 %")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A scenario, x.toml, or the name of an example.")]
Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="PATH=VALUES", help="lo:hi:n, [a, b, ...], normal(mu, sigma), uniform(lo, hi), ..."),
]
Samples = Annotated[int | None, typer.Option(help="Random draws at each point of the grid of ranges.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the random numbers.")]
What = Annotated[list[str] | None, typer.Option("--what", help="Quantities to report: box.position.z. Repeatable.")]
Every = Annotated[float | None, typer.Option(help="Seconds between records.")]
Chunk = Annotated[int | None, typer.Option(help="Instances that are run and written together.")]
Engine = Annotated[str, typer.Option(help="local, or dask for a cluster.")]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of a Dask cluster, tcp://host:8786.")]
Device = Annotated[str, typer.Option(help="cpu, or cuda for the GPU.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over, and replace existing results.")]
Reduce = Annotated[bool, typer.Option("--reduce", help="Keep only a summary of the outputs, in a folder.")]
Plot = Annotated[
    bool | None,
    typer.Option("--plot/--no-plot", help="Plot quantiles over time; by default if Matplotlib is installed."),
]


def sweep(
    file: File,
    vary: Vary = None,
    samples: Samples = None,
    seed: Seed = None,
    what: What = None,
    out: Out = None,
    every: Every = None,
    chunk: Chunk = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    device: Device = "cpu",
    fresh: Fresh = False,
    reduce: Reduce = False,
    plot: Plot = None,
    changes: Set = None,
    flight: FlightFile = None,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Simulate a scenario with many values of its numbers, in one kernel; report statistics, plot quantiles.

    What varies is stated under [sweep] in the scenario, or by --vary. Ranges span a grid; distributions are sampled. A
    sweep that was stopped continues when the same command is given again.

    Example:  poinsot sweep spin.toml --vary box.mass='normal(2 kg, 0.1 kg)' --vary box.velocity[0]=0:5:11 --samples 100
    """
    screen, plot = Screen(quiet, json), _plots(plot)
    if not reduce:
        require("zarr", "zarr", "A sweep")
    scenario = finding.load(file, changes, allow_code, flight)
    options = _run_options(scenario, every, device) | _drawn(scenario, samples, seed)
    options |= {"chunk": chunk, "engine": engine, "scheduler": scheduler, "fresh": fresh}
    if reduce:
        return reduced(screen, scenario, _values(scenario, vary), out, what, options)
    path = finding.result_path(out, scenario.name, ".zarr")
    done = _swept(screen, scenario, _values(scenario, vary), path, options, what)
    picture = finding.place_for(None, path.with_name(f"{path.stem}-sweep.png"), fresh) if plot else None
    return 1 if done is None else _report(screen, done, _reported(done, what, scenario), path, picture)


def _drawn(scenario: "Scenario", samples: int | None, seed: int | None) -> dict[str, Any]:
    """How many samples are drawn, and with which seed: as asked for, else as the scenario says."""
    return {
        "samples": scenario.sweep.get("samples") if samples is None else samples,
        "seed": scenario.sweep.get("seed", 0) if seed is None else seed,
    }


def _plots(wanted: bool | None) -> bool:
    """Whether to plot: if it is wanted, or not refused and possible."""
    if wanted:
        require("matplotlib", "view", "--plot")
    return find_spec("matplotlib") is not None if wanted is None else wanted


def _swept(
    screen: Screen,
    scenario: "Scenario",
    values: dict[str, Any],
    path: Path,
    options: dict[str, Any],
    what: list[str] | None,
) -> "Sweep | None":
    """The sweep, when all of it is done; None if it was interrupted."""
    from poinsot.study import sweeps

    _require_known(scenario, what, options.get("record"))
    screen.say(scenario.title, "bold")
    progress = None if screen.talks else False
    try:
        return sweeps.sweep(scenario.world, values, save=path, progress=progress, **options)
    except KeyboardInterrupt:
        complain(f"interrupted; finished runs are kept in {path}, and the same command continues from there")
        return None


def _report(screen: Screen, done: "Sweep", names: list[str] | None, path: Path, picture: Path | None) -> int:
    places = {"results": str(path)}
    if picture is not None:
        from poinsot.cli.inspecting import draw_sweep

        places["picture"] = str(draw_sweep(done, picture, names))
    tell(screen, done, names, places)
    for kind, place in places.items():
        screen.say(f"{kind:<8} {place}", "green")
        screen.result(place)
    return int(len(done.broken) > 0)


def _require_known(scenario: "Scenario", what: list[str] | None, record: Any) -> None:
    """An error, before the sweep, if a quantity to report is none: told by a run of one step."""
    from poinsot.study.quantities import expand, pick

    wanted = [name for name in what or () if name not in (scenario.options.get("outputs") or {})]
    if wanted:
        changes = {"duration": scenario.options["step"], "every": None, "until": None, "ledger": False}
        data = scenario.run(**changes, record=record, progress=False).data
        for name in wanted:
            if not expand(data, name):
                pick(data, name)  # whose error lists the quantities


def _reported(done: "Sweep", what: list[str] | None, scenario: "Scenario") -> list[str] | None:
    """The quantities to report: those asked for, or else all outputs, or else the curve of the scenario."""
    from poinsot.study.quantities import expand

    wanted = what or done.outputs or ([scenario.show["draw"]] if "draw" in scenario.show else [])
    return [one for name in wanted for one in ([name] if name in done.outputs else expand(done.data, name))] or None


def _values(scenario: "Scenario", vary: list[str] | None) -> dict[str, Any]:
    """The values or distributions of the numbers that vary, by their paths."""
    from poinsot.files.varied import EXPECTED, varied

    texts = dict(scenario.sweep.get("vary", {}))
    for text in vary or ():
        path, equals, values = text.partition("=")
        if not equals:
            raise ValueError(f"--vary {text}: expected PATH={EXPECTED}.")
        texts[path.strip()] = values
    if not texts:
        raise ValueError(f"nothing varies: give --vary PATH={EXPECTED}, or a table [sweep] in the scenario.")
    result = {}
    for path, text in texts.items():
        try:
            result[path] = varied(path, text, scenario.world.description)
        except ValueError as error:
            raise ValueError(f"--vary {path}={text}: {error}.") from None
    return result


def _run_options(scenario: "Scenario", every: float | None, device: str) -> dict[str, Any]:
    """The options of the runs: about a hundred records, at whole steps; and the device, if it is not the default."""
    options = {k: v for k, v in scenario.options.items() if k not in ("every", "seed")} | scenario.trim_start
    step, duration = options["step"], options["duration"]
    stride = max(1, round(duration / RECORDS / step))
    wanted = every or scenario.sweep.get("every")
    options["every"] = wanted if wanted is not None else stride * step
    if "record" in scenario.sweep:
        options["record"] = scenario.sweep["record"]
    if device == "cuda":
        _require_gpu()
    return options if device == "cpu" else {**options, "device": device}


def _require_gpu() -> None:
    from poinsot.fuse.cuda.launch import cupy

    try:
        cupy()
    except RuntimeError as error:  # the machine lacks a GPU
        raise OSError(f"--device cuda: {error}") from None


def tell(screen: Screen, done: "Sweep", names: list[str] | None, places: dict[str, str] | None = None) -> None:
    """Statistics of a sweep, at the end of its runs."""
    from poinsot.study import quantities

    names = names or done.outputs or _interesting(done, quantities.names(done.data))
    screen.say(f"{done.done:,} of {done.n:,} runs over {', '.join(done.varied)}.")
    if len(done.broken):
        screen.say(f"{len(done.broken)} of them broke down, the first is number {done.broken[0]}.", "yellow")
    statistics = {name: done.statistics(name) for name in names} if done.done else {}
    influences = {name: done.influences(name) for name in statistics}
    lines = [(name, *(f"{numbers[k]:.4g}" for k in STATISTICS)) for name, numbers in statistics.items()]
    kept = all(name in done.outputs for name in names)
    screen.table(("output" if kept else "final value", *STATISTICS), lines)
    if influences:
        paths = list(next(iter(influences.values())))
        lines = [(name, *(f"{numbers[path]:+.2f}" for path in paths)) for name, numbers in influences.items()]
        screen.table(("rank correlation with", *paths), lines)
    counts = {"runs": done.n, "done": done.done, "broken": done.broken, "varied": list(done.varied)}
    screen.data({**counts, "statistics": statistics, "influences": influences, **(places or {})})


def _interesting(done: "Sweep", names: list[str]) -> list[str]:
    """The quantities to report by default: positions of the bodies, or of the joints, that move."""
    positions = [name for name in names if ".position." in name or name.endswith(".q")]
    moving = [name for name in positions if float(abs(done.at_end(name)).max()) > 0]
    return (moving or positions or names)[:8]
