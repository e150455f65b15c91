"""poinsot fly."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poinsot.cli import finding
from poinsot.cli.looking import Camera, checked_camera
from poinsot.cli.options import AllowCode, Json, Overwrite, Quiet, Scenario, Set
from poinsot.cli.screen import Screen, seconds

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario as Loaded
    from poinsot.show import Flight

SUFFIXES = (".csv", ".nc", ".zarr")
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Keep what was flown: its inputs as x.csv, all records as x.nc or x.zarr."
    ),
]
Gauges = Annotated[bool, typer.Option("--gauges", help="Round instruments instead of the head-up display.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]
Port = Annotated[int, typer.Option("--port", help="Where the page is served; a port in use is skipped.")]


def fly(
    file: Scenario = None,
    changes: Set = None,
    save: Save = None,
    gauges: Gauges = False,
    camera: Camera = None,
    port: Port = 8080,
    browser: Browser = True,
    overwrite: Overwrite = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Fly a scenario in the browser, by keyboard, gamepad or mouse, from the cockpit or from outside.

    Without a file it is a light aeroplane on a runway. Its inputs are moved by their names (elevator, aileron, rudder,
    throttle, brake, flaps, gear, steering), or as its table [fly] says. The flight ends when the page is closed, or
    with Ctrl-C. What was flown runs again to the same bits: poinsot run FILE --flight x.csv.

    Example:  poinsot fly circuit --save flight.csv
    """
    screen = Screen(quiet, json)
    path = Path("circuit") if file is None else file
    scenario = finding.load(path, changes, allow_code)
    place = None if save is None else _place(save, overwrite)
    screen.say(scenario.title, "bold")
    flight = _opened(scenario, gauges, camera, port, browser)
    screen.say(f"Fly it at {flight.url} (end with Ctrl-C, or by closing the page).")
    flight.wait()
    _told(screen, flight, place, path)
    return 0


def _opened(scenario: "Loaded", gauges: bool, camera: str | None, port: int, browser: bool) -> "Flight":
    from poinsot.show import fly as fly_it

    options: dict[str, Any] = {k: scenario.options[k] for k in ("step", "method") if k in scenario.options}
    options |= {**scenario.fly, **({"instruments": "gauges"} if gauges else {})}
    options |= {"camera": checked_camera(camera, scenario.world.description.bodies)}
    flight = fly_it(scenario.world, port=port, browser=False, block=False, **options)
    if browser:
        import webbrowser

        webbrowser.open(flight.url)
    return flight


def _place(save: Path, overwrite: bool) -> Path:
    if save.suffix not in SUFFIXES:
        raise ValueError(f"--save {save}: what was flown is kept as {', '.join(SUFFIXES)}.")
    return finding.place_for(save, save, overwrite)


def _told(screen: Screen, flight: "Flight", place: Path | None, path: Path) -> None:
    flown = flight.flown
    screen.say(f"\n{seconds(flown.duration)} flown, {len(flown.times)} changes of the controls.")
    report: dict[str, Any] = {"duration": flown.duration, "changes": len(flown.times)}
    if place is not None and flown.duration > 0:
        kept = flight.save(place)
        screen.say(f"flight   {kept}", "green")
        if kept.suffix == ".csv":
            screen.say(f"Run it again with: poinsot run {path} --flight {kept}")
        screen.result(str(kept))
        report["flight"] = str(kept)
    screen.data(report)
