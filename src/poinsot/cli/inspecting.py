"""poinsot plot, info, view, convert: the commands for results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poinsot._alone import not_alone
from poinsot._hints import file_hint
from poinsot._optional import require
from poinsot.cli import finding
from poinsot.cli.charts import CHARTS, question
from poinsot.cli.completion import drawn_names, result_names
from poinsot.cli.looking import Camera, checked_camera
from poinsot.cli.options import AllowCode, Json, Out, Overwrite, Quiet, Set
from poinsot.cli.screen import Screen, complain, seconds, short

if TYPE_CHECKING:
    from poinsot.run import Run
    from poinsot.study.swept import Sweep

Result = Annotated[
    Path, typer.Argument(metavar="RESULT", help="A result: x.nc or x.zarr.", autocompletion=result_names)
]
Plotted = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT",
        help="A result: x.nc or x.zarr; for a chart also a scenario, x.toml, or the name of an example.",
        autocompletion=drawn_names,
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="NAME=FIRST:LAST:COUNT", help="What a chart goes over: airspeed=60:200:15."),
]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="NAME=VALUE", help="What a chart is made with: altitude='2 km', cruise='54 m/s'."),
]
What = Annotated[list[str] | None, typer.Argument(metavar="WHAT...", help="What to plot; by default a selection.")]

ROBOTS, STORES, TABLES = (".urdf", ".xml"), (".nc", ".zarr"), (".csv", ".parquet")
CONVERSIONS = {(a, ".toml") for a in ROBOTS} | {(a, b) for a in STORES for b in (*STORES, *TABLES)}


def _is_sweep(path: Path) -> bool:
    from poinsot._owned import kind_of

    return path.suffix == ".zarr" and kind_of(path) == "sweep"


def _loaded(path: Path, allow_code: bool = False) -> "Run":
    from poinsot.files import load_run

    if _is_sweep(path):
        raise ValueError(
            f"'{path}' is a sweep, which holds records of many instances and no world to move; poinsot view, plot and "
            "info show it, poinsot convert makes a table of it, and poinsot run --set shows one of its instances."
        )
    if allow_code:
        not_alone()
    return load_run(path, allow_code=allow_code)


def draw(run: "Run", path: Path, what: Any = None) -> Path:
    """Plot a run into a file."""
    _close(run.plot(*(what or ()), path=path))
    return path


def draw_sweep(sweep: "Sweep", path: Path, what: Any = None) -> Path:
    """Plot the quantiles of a sweep into a file."""
    from poinsot.show.quantiles import quantile_plot
    from poinsot.study.quantities import expand

    kept = sweep.outputs
    names = [one for name in what or () for one in ([name] if name in kept else expand(sweep.data, name) or [name])]
    _close(quantile_plot(sweep, names, path))
    return path


def _close(figure: Any) -> None:
    require("matplotlib.pyplot", "view", "plotting").close(figure)


def plot(
    result: Plotted,
    what: What = None,
    over: Over = None,
    given: With = None,
    changes: Set = None,
    out: Out = None,
    overwrite: Overwrite = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Plot quantities of a result over time, with names and units; of a sweep, their quantiles; or charts of a world.

    WHAT: quantities such as box.position.z, box.angular_velocity, arm.q, energy; or special plots: phase, energy,
    momentum, polhode, margins, path, ground_track, globe, height_and_speed, mach_altitude, elements, eclipse,
    dispersion. Of a sweep also pairs of outputs, such as north:west, with ellipses of dispersion.

    Charts, of a scenario or of the world of a result, by trims: envelope, turns, root_locus, flutter, bode, vn.
    --over names what they go over. --with sets what a trim finds (free=alpha,thrust,elevator), what must vanish
    (zero=u,w,q), conditions (altitude='2 km') and numbers of the design.

    Example:  poinsot plot results/t-handle.nc handle.angular_velocity polhode --out handle.png

    Example:  poinsot plot glider flutter --over airspeed=24:40:17 --with trim=climb
    """
    screen = Screen(quiet, json)
    if set(what or ()) & set(CHARTS):
        path = _plot_chart(result, what or [], (over or [], given or []), changes, allow_code, out, overwrite)
    elif over or given or changes or result.suffix == ".toml":
        raise ValueError(
            f"a chart of a world is missing: one of {', '.join(CHARTS)}; --over, --with and --set belong to these, and "
            "a scenario has no records to plot: poinsot run it first."
        )
    else:
        path = _plot_result(result, what, finding.place_for(out, result.with_suffix(".png"), overwrite))
    screen.say(f"picture  {path}", "green")
    screen.result(str(path))
    screen.data({"picture": str(path)})
    return 0


def _plot_result(result: Path, what: list[str] | None, path: Path) -> Path:
    if not _is_sweep(result):
        return draw(_loaded(result), path, what)
    from poinsot.study.swept import load_sweep

    return draw_sweep(load_sweep(result), path, what)


def _plot_chart(
    source: Path,
    what: list[str],
    options: tuple[list[str], list[str]],
    changes: list[str] | None,
    allow_code: bool,
    out: Path | None,
    overwrite: bool,
) -> Path:
    """Draw a chart of the world of a scenario, or of that of a result."""
    from poinsot.show.plots import saved

    if len(what) > 1:
        raise ValueError(f"{' '.join(what)}: a chart is drawn by itself.")
    if source.suffix in STORES:
        if changes:
            raise ValueError("--set changes a scenario, and not the world of a result.")
        asked = question(_loaded(source, allow_code).world, *options)
        default = source.with_name(f"{source.stem}-{what[0]}.png")
    else:
        scenario = finding.load(source, changes, allow_code)
        asked = question(scenario.world, *options, scenario)
        default = finding.result_path(None, f"{scenario.name}-{what[0]}", ".png")
    path = finding.place_for(out, default, overwrite)
    figure = CHARTS[what[0]](asked)
    saved(figure, path)
    _close(figure)
    return path


def info(result: Result, quiet: Quiet = False, json: Json = False) -> int:
    """Describe a result: its settings, why it ended, what was recorded and what was conserved.

    Example:  poinsot info results/t-handle.nc
    """
    screen = Screen(quiet, json)
    if _is_sweep(result):
        from poinsot.cli.sweeping import tell
        from poinsot.study.swept import load_sweep

        tell(screen, load_sweep(result), None)
    else:
        _describe(screen, result, _loaded(result))
    return 0


def _describe(screen: Screen, path: Path, run: "Run") -> None:
    from poinsot.cli import shown

    settings = {k: v for k, v in run.attributes().items() if k not in ("stop", "stop_text")}
    screen.say(str(path), "bold")
    worlds = "" if run.batch is None else f", {run.batch} worlds"
    screen.say(f"{len(run.time)} records to t = {seconds(run.time[-1])}{worlds}; it ended because {run.stop}.\n")
    lines = [(k, short(v) if isinstance(v, float) else str(v)) for k, v in settings.items()]
    screen.table(("setting", "value"), lines, 2)
    variables = run.columns.data_vars.items()
    recorded = [(str(n), " ".join(map(str, a.dims)), str(a.attrs.get("units", ""))) for n, a in variables]
    screen.table(("recorded", "dimensions", "unit"), recorded, 3)
    if run.compiled.keeps_ledger:
        shown.ledger(screen, run.ledger)
    screen.data(
        {
            "result": str(path),
            "settings": settings,
            "stop": {"reason": run.stop.reason, "time": run.stop.time, "text": run.stop.text},
            "records": len(run.time),
            "batch": run.batch,
            "recorded": {str(n): {"dims": list(a.dims), **a.attrs} for n, a in variables},
            **({"ledger": shown.ledger_data(run.ledger)} if run.compiled.keeps_ledger else {}),
        }
    )


def view(
    result: Result,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained replay to this file instead.")
    ] = None,
    camera: Camera = None,
    overwrite: Overwrite = False,
    allow_code: AllowCode = False,
) -> int:
    """View a result in the browser: play, pause, orbit. Ctrl-C ends it.

    Of a sweep, a page is written and opened: statistics, quantiles over time, histograms, and what influences them.

    Example:  poinsot view results/t-handle.nc --html replay.html;  poinsot view results/rocket.zarr
    """
    if html is not None and not overwrite:
        finding.require_new(html)
    if _is_sweep(result):
        return _view_sweep(result, html, overwrite)
    run = _loaded(result, allow_code)
    checked_camera(camera, run.world.description.bodies)
    if html is None:
        run.view(camera=camera).wait()
    else:
        run.to_html(html, camera=camera)
    return 0


def _view_sweep(result: Path, html: Path | None, overwrite: bool) -> int:
    """Write the page of a sweep, and open it in the browser unless a file was asked for."""
    import webbrowser

    from poinsot._atomic import write_text
    from poinsot.show.sweep_page import sweep_page
    from poinsot.study.swept import load_sweep

    path = finding.place_for(html, result.with_name(f"{result.stem}-sweep.html"), overwrite)
    write_text(path, sweep_page(load_sweep(result)))
    Screen().say(f"page     {path}  (open it in a browser)", "green")
    if html is None:
        webbrowser.open(path.absolute().as_uri())
    return 0


def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A robot (.urdf, .xml) or a result (.nc, .zarr).")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="A scenario (.toml), or a table (.csv, .parquet).")],
    floating: Annotated[bool, typer.Option("--floating", help="The root of a URDF robot moves freely.")] = False,
    repair: Annotated[
        str, typer.Option(help="Mass properties that no body can have: warn (and repair them), error or never.")
    ] = "warn",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> int:
    """Convert a robot to a scenario, or a result to a table or to the other format of results.

    Example:  poinsot convert arm.urdf arm.toml;  poinsot convert results/arm.nc arm.csv
    """
    if not source.exists():
        raise FileNotFoundError(f"there is no file '{source}'{file_hint(source)}")
    if (source.suffix.lower(), target.suffix.lower()) not in CONVERSIONS:
        raise ValueError(
            f"'{source}' cannot be converted to '{target}': robots (.urdf, .xml) become scenarios (.toml), results "
            "(.nc, .zarr) become tables (.csv, .parquet) or each other."
        )
    if not overwrite:
        finding.require_new(target)
    if source.suffix.lower() in ROBOTS:
        _convert_robot(source, target, floating, repair)
    else:
        _convert_result(source, target)
    screen = Screen(quiet)
    screen.say(f"written  {target}", "green")
    screen.result(str(target))
    return 0


def _convert_result(source: Path, target: Path) -> None:
    if target.suffix.lower() in STORES:
        _loaded(source).save(target)
    elif _is_sweep(source):
        from poinsot.files.tables import export
        from poinsot.study.swept import load_sweep

        export(load_sweep(source), target)
    else:
        _loaded(source).export(target)


def _convert_robot(source: Path, target: Path, floating: bool, repair: str) -> None:
    """Write a robot as a scenario; what had to be changed is told, also if the command is quiet."""
    import warnings

    from poinsot._atomic import write_text
    from poinsot.files import load_mjcf, load_urdf
    from poinsot.files.written import fitting_names, scenario_text

    data = b"<robot" if source.suffix.lower() == ".urdf" else source.read_bytes()
    is_urdf = b"<robot" in data and b"<mujoco" not in data
    options: dict[str, Any] = {"repair": repair}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mech = load_urdf(source, floating, **options) if is_urdf else load_mjcf(source, **options)
    mech, renamed = fitting_names(mech)
    write_text(target, scenario_text(mech, source.stem))
    for warning in caught:
        complain(f"warning: {warning.message}")
    for old, new in renamed.items():
        complain(f"warning: {source}: link {old!r} is now {new!r}: a name has no dots, brackets and spaces")
