"""poinsot run, poinsot check."""

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poinsot._alone import one_run
from poinsot._optional import require
from poinsot.cli import finding
from poinsot.cli.looking import Camera, view_options
from poinsot.cli.options import AllowCode, FlightFile, Json, Out, Overwrite, Quiet, Scenario, Set
from poinsot.cli.screen import Screen, complain, seconds

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario as Loaded
    from poinsot.run import Run

STEPS = 10_000  # over which `check` tests the step

Html = Annotated[bool | None, typer.Option("--html/--no-html", help="Also write a replay for the browser.")]
Plot = Annotated[bool, typer.Option("--plot", help="Also write a plot, beside the results.")]
View = Annotated[bool, typer.Option("--view", help="View it in the browser afterwards.")]
Live = Annotated[bool, typer.Option("--live", help="Watch and change it in the browser while it runs.")]
Free = Annotated[
    list[str] | None,
    typer.Option("--free", metavar="PATH", help="With --live: a number that gets a slider. Repeatable."),
]
Tolerance = Annotated[float, typer.Option(help="The relative error that the step may cause.")]


def run(
    file: Scenario = None,
    changes: Set = None,
    out: Out = None,
    html: Html = None,
    plot: Plot = False,
    view: View = False,
    live: Live = False,
    free: Free = None,
    camera: Camera = None,
    flight: FlightFile = None,
    overwrite: Overwrite = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Simulate a scenario; show the final state and what was conserved, and save the results.

    Without a file it runs the T-handle, which flips over in free fall. The exit code is 0 on success, 1 if the run
    ended early, its ledger does not close or a structural limit was exceeded, 2 for bad input or if --out exists.

    Example:  poinsot run spin.toml --set run.duration=5 --set box.mass='3 kg' --out spin.nc --plot

    Example:  poinsot run double-pendulum --live --free upper.mass
    """
    screen = Screen(quiet, json)
    if plot:
        require("matplotlib", "view", "--plot")
    scenario = finding.load(file, changes, allow_code, flight)
    _introduce(screen, scenario)
    if live:
        return _watch(scenario, free or [], view_options(scenario, camera).get("camera"))
    looks = view_options(scenario, camera)
    path = _place(screen, scenario, out, html, plot, overwrite)
    done, took = _simulated(screen, scenario)
    _tell(screen, scenario, done)
    screen.data(_report(scenario, done, took, _keep(screen, scenario, done, path, html, plot, looks)))
    if view:
        done.view(**looks).wait()
    return int(done.stop.is_early or done.unexplained or _passed(done))


def _place(
    screen: Screen, scenario: "Loaded", out: Path | None, html: bool | None, plot: bool, overwrite: bool
) -> Path:
    """The file for the results; no file that will be written exists, unless they may be overwritten."""
    beside = [".png"] * plot + [".html"] * (html or (html is None and screen.talks))
    return finding.place_for(out, finding.result_path(out, scenario.name, ".nc"), overwrite, *beside)


def _watch(scenario: "Loaded", free: list[str], camera: Any) -> int:
    """Run it live in the browser, until the page is closed; nothing is recorded."""
    from poinsot.show import live

    known = {key: scenario.options[key] for key in ("step", "method") if key in scenario.options}
    live(scenario.world, free=free, block=True, camera=camera, **known)
    return 0


def _introduce(screen: Screen, scenario: "Loaded") -> None:
    from poinsot.cli import shown

    screen.say(scenario.title, "bold")
    if scenario.about:
        screen.say(" ".join(scenario.about.split()))
    screen.say()
    shown.masses(screen, scenario.world)
    if scenario.trim is not None:
        screen.say(str(scenario.trim))
        screen.say()


def _simulated(screen: Screen, scenario: "Loaded") -> tuple["Run", float]:
    from poinsot.run.ledger import LedgerWarning

    one_run()
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = scenario.run(progress=None if screen.talks else False)
    took = time.perf_counter() - started
    for warning in caught:
        told = done.stop.is_early and issubclass(warning.category, LedgerWarning)  # in the line below
        if screen.talks and not told:
            complain(f"warning: {warning.message}")
    settings = done.settings
    steps = round(done.time[-1] / settings["step"])
    grid = f"{steps:,} steps of {seconds(settings['step'])}, method {settings['method']}"
    screen.say(f"{seconds(done.time[-1])} in {grid}, computed in {took:.2g} s.")
    if done.stop.reason != "duration":
        screen.say(f"The run ended: {done.stop}.", "yellow")
    screen.say()
    return done, took


def _draw(screen: Screen, scenario: "Loaded", done: "Run") -> None:
    """Draw the curve that the scenario asks for, and say how often it crosses zero."""
    from poinsot.study.quantities import crossings, pick, unit_of, with_unit

    name = scenario.show.get("draw")
    if name is None:
        return
    curve = pick(done.columns, name)
    unit = unit_of(curve, name, done.world.description)
    screen.draw(done.time, curve.values, with_unit(name, unit))
    times = crossings(done.time, curve.values)
    if "crossing" in scenario.show and len(times) > 1:
        every = (times[-1] - times[0]) / (len(times) - 1)
        screen.say(f"It {scenario.show['crossing']} {len(times)} times, every {every:.3f} s.\n")


def _tell(screen: Screen, scenario: "Loaded", done: "Run") -> None:
    """A curve, the ledger, the final state and the limits."""
    from poinsot.cli import shown

    _draw(screen, scenario, done)
    shown.ledger(screen, done.ledger, done.unexplained)
    shown.final(screen, done)
    _limits(screen, done)


def _passed(done: "Run") -> bool:
    return any(bool(passed.any()) for passed in done.limits.passed().values())


def _limits(screen: Screen, done: "Run") -> None:
    """The outputs that were kept, the limits of the structure, and the tables that were left."""
    from poinsot.cli import shown

    shown.outputs(screen, done)
    if done.limits.latches:
        screen.say(str(done.limits), "yellow" if _passed(done) else None)
        screen.say()
    if done.table_exits:
        screen.say(str(done.table_exits), "yellow")
        screen.say()


def _keep(
    screen: Screen,
    scenario: "Loaded",
    done: "Run",
    path: Path,
    html: bool | None,
    plot: bool,
    looks: dict[str, Any],
) -> dict[str, str]:
    """Write the results, and print where they are."""
    places = {"results": str(path)}
    done.save(path)
    if plot:
        from poinsot.cli.inspecting import draw

        places["picture"] = str(draw(done, path.with_suffix(".png"), scenario.show.get("plot")))
    if html or (html is None and screen.talks):
        places["replay"] = str(done.to_html(path.with_suffix(".html"), **looks))
    for kind, place in places.items():
        screen.say(f"{kind:<8} {place}{'  (open it in a browser)' if kind == 'replay' else ''}", "green")
        screen.result(place)
    return places


def _report(scenario: "Loaded", done: "Run", took: float, places: dict[str, str]) -> dict[str, Any]:
    from poinsot.cli import shown

    settings = done.settings
    return {
        "scenario": scenario.source,
        "title": scenario.title,
        "stop": {"reason": done.stop.reason, "time": done.stop.time, "text": done.stop.text},
        "method": settings["method"],
        "step": settings["step"],
        "records": len(done.time),
        "computed_in": took,
        "ledger": shown.ledger_data(done.ledger),
        "limits": {name: bool(x) for name, x in done.limits.passed().items()},
        "final": shown.final_data(done),
        **({"outputs": shown.outputs_data(done)} if done.compiled.outputs else {}),
        **places,
    }


def check(
    file: Scenario = None,
    changes: Set = None,
    tolerance: Tolerance = 1e-6,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Check a scenario without running it: list all errors, the bodies as a tree, and masses, and test the step.

    The exit code is 0 if it can be run, 1 if the step is too long, 2 if the scenario has errors.

    Example:  poinsot check spin.toml
    """
    from poinsot.cli import shown
    from poinsot.run.stepping import chooses_steps

    screen = Screen(quiet, json)
    scenario = finding.load(file, changes, allow_code)
    screen.say(scenario.title, "bold")
    screen.say(shown.tree(scenario.world))
    screen.say()
    shown.masses(screen, scenario.world)
    options = scenario.options
    verdict = None
    if not chooses_steps(options.get("method")):
        step, duration = options["step"], options["duration"]
        verdict = scenario.world.check_step(step, min(duration, STEPS * step), tolerance, method=options.get("method"))
        screen.say(f"{verdict}.", "green" if verdict.fine else "yellow")
    screen.data(
        {
            "scenario": scenario.source,
            "title": scenario.title,
            "bodies": list(scenario.world.description.bodies),
            "elements": list(scenario.world.description.elements),
            "step": verdict and {"fine": verdict.fine, "error": verdict.error, "advised": verdict.advised},
        }
    )
    return int(verdict is not None and not verdict.fine)
