"""How a scenario wants to be looked at: the [show] table and --camera, checked before anything is simulated."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario

Camera = Annotated[
    str | None,
    typer.Option(
        "--camera",
        metavar="CAMERA",
        help='chase, orbit, cockpit or fixed, with a body as in "chase plane"; or "wing from fuselage".',
    ),
]


def view_options(scenario: "Scenario", camera: str | None) -> dict[str, Any]:
    """The options of `view` and `html` that a scenario asks for; --camera comes first."""
    show = scenario.show
    camera = camera if camera is not None else show.get("camera")
    known = {
        "camera": checked_camera(camera, scenario.world.description.bodies),
        "show": show.get("layers"),
        "plots": show.get("plot"),
        "surroundings": show.get("surroundings"),
    }
    checked_layers(show.get("layers"))
    return {key: value for key, value in known.items() if value is not None}


def checked_camera(camera: Any, names: Iterable[str]) -> Any:
    """The words of a camera, a direction or a table; an error if these name no camera, or no body."""
    from poinsot.show.cameras import check_table, spelled

    if isinstance(camera, str):
        spelled(camera, list(names))
    elif isinstance(camera, dict):
        check_table(camera, list(names))
    return camera


def checked_layers(layers: Iterable[str] | None) -> None:
    """An error if there is no such layer."""
    from poinsot._hints import hint
    from poinsot.show.picture import LAYERS

    for name in layers or ():
        if (plain := name.removeprefix("+")) not in LAYERS:
            raise ValueError(f"[show] layers: there is no layer {plain!r}{hint(plain, LAYERS)}.")
