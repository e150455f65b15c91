"""poinsot sweep: one scenario with many numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poinsot.cli import finding
from poinsot.cli.options import AllowCode, Json, Out, Quiet, Set
from poinsot.cli.screen import Screen, complain

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario
    from poinsot.study.swept import Sweep

RECORDS = 100
Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="PATH=VALUES", help="lo:hi:n, normal(mu, sigma), uniform(lo, hi) or [a, b, ...]."),
]


def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario, x.toml, or the name of an example.")],
    vary: Vary = None,
    samples: Annotated[
        int | None, typer.Option(help="How many random draws, at each point of the grid of ranges.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random numbers.")] = None,
    what: Annotated[list[str] | None, typer.Option("--what", help="Quantities to tell of: box.position.z")] = None,
    out: Out = None,
    every: Annotated[float | None, typer.Option(help="Seconds between records.")] = None,
    chunk: Annotated[int | None, typer.Option(help="Instances that are run and written together.")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask: on a cluster.")] = "local",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a Dask cluster, tcp://host:8786.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, or cuda: the GPU.")] = "cpu",
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew, and replace what is there.")] = False,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw quantiles over time.")] = True,
    changes: Set = None,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Simulate a scenario with many numbers, all in one kernel; statistics, and a picture of the quantiles.

    What is varied stands in the scenario, under [sweep], or in --vary. Ranges span a grid, distributions are drawn
    from. A sweep that was stopped goes on where it was, if the same command is given again.

    Example:  poinsot sweep spin.toml --vary box.mass='normal(2 kg, 0.1 kg)' --vary box.velocity[0]=0:5:11 --samples 100
    """
    from poinsot.study.sweeps import sweep as swept

    screen = Screen(quiet, json)
    scenario = finding.load(file, changes, allow_code)
    path = finding.result_path(out, scenario.name, ".zarr")
    options = _options(scenario, every, device)
    values = _varied(scenario, vary)
    screen.say(scenario.title, "bold")
    given = scenario.sweep
    try:
        found = swept(
            scenario.world,
            values,
            save=path,
            samples=given.get("samples") if samples is None else samples,
            seed=given.get("seed", 0) if seed is None else seed,
            chunk=chunk,
            engine=engine,
            scheduler=scheduler,
            fresh=fresh,
            progress=None if screen.talks else False,
            **options,
        )
    except KeyboardInterrupt:
        complain(f"interrupted; what is done is kept in {path}, and the same command goes on from there")
        return 1
    names = _names(found, what, scenario)
    places = {"results": str(path)}
    if plot:
        from poinsot.cli.inspecting import draw_sweep

        places["picture"] = str(draw_sweep(found, path.with_suffix(".png"), names))
    tell(screen, found, names, places)
    for what_, place in places.items():
        screen.say(f"{what_:<8} {place}", "green")
        screen.result(place)
    return int(len(found.broken) > 0)


def _names(found: "Sweep", what: list[str] | None, scenario: "Scenario") -> list[str] | None:
    """The quantities to tell of: those that are asked for, or else that which the scenario draws."""
    from poinsot.study.quantities import expand, pick

    for name in what or ():
        if not expand(found.data, name):
            pick(found.data, name)  # says which there are
    wanted = what or ([scenario.show["draw"]] if "draw" in scenario.show else [])
    return [one for name in wanted for one in expand(found.data, name)] or None


def _varied(scenario: "Scenario", vary: list[str] | None) -> dict[str, Any]:
    from poinsot.files.varied import EXPECTED, varied

    texts = dict(scenario.sweep.get("vary", {}))
    for text in vary or ():
        path, equals, values = text.partition("=")
        if not equals:
            raise ValueError(f"--vary {text}: expected PATH={EXPECTED}.")
        texts[path.strip()] = values
    if not texts:
        raise ValueError(f"nothing is varied: give --vary PATH={EXPECTED}, or a table [sweep] in the scenario.")
    found = {}
    for path, text in texts.items():
        try:
            found[path] = varied(path, text, scenario.world.description)
        except ValueError as error:
            raise ValueError(f"--vary {path}={text}: {error}.") from None
    return found


def _options(scenario: "Scenario", every: float | None, device: str) -> dict[str, Any]:
    """Of the runs: about a hundred records, at whole steps; and the device, where it is not the usual one."""
    options = {k: v for k, v in scenario.options.items() if k not in ("every", "seed", "tolerance")}
    if options.get("method") == "adaptive":
        del options["method"]
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
    except RuntimeError as error:  # of the machine, not of Poinsot
        raise OSError(f"--device cuda: {error}") from None


def tell(screen: Screen, found: "Sweep", names: Any, places: dict[str, str] | None = None) -> None:
    """Statistics of a sweep, at the end of its runs."""
    from poinsot.study.quantities import names as known

    chosen = list(names or _interesting(found, known(found.data)))
    screen.say(f"{found.done:,} of {found.n:,} runs over {', '.join(found.varied)}.", None)
    if len(found.broken):
        screen.say(f"{len(found.broken)} of them broke down, the first is number {found.broken[0]}.", "yellow")
    statistics = {name: found.statistics(name) for name in chosen} if found.done else {}
    influences = {name: found.influences(name) for name in statistics}
    heads = ("mean", "std", "5 %", "50 %", "95 %")
    screen.table(
        ("at the end", *heads), [(name, *(f"{row[h]:.3g}" for h in heads)) for name, row in statistics.items()]
    )
    paths = list(next(iter(influences.values()), {}))
    rows = [(name, *(f"{row[path]:+.2f}" for path in paths)) for name, row in influences.items()]
    if rows:
        screen.table(("rank correlation with", *paths), rows)
    screen.data(
        {
            "runs": found.n,
            "done": found.done,
            "broken": found.broken,
            "varied": list(found.varied),
            "statistics": statistics,
            "influences": influences,
            **(places or {}),
        }
    )


def _interesting(found: "Sweep", known: list[str]) -> list[str]:
    """What to tell of if nothing is asked for: positions of the bodies, or the joints, that move."""
    positions = [name for name in known if ".position." in name or name.endswith(".q")]
    moving = [name for name in positions if float(abs(found.at_end(name)).max()) > 0]
    return (moving or positions or known)[:8]
