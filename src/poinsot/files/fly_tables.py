"""The table [fly] of scenarios: how a world is flown; and flights that were kept, as inputs of a run."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field as Key

from poinsot._hints import hint
from poinsot.control.flight_options import LIMITED, require_flight
from poinsot.control.stick import AXES
from poinsot.files import readers
from poinsot.files.readers import ScenarioTable
from poinsot.files.shape_tables import table
from poinsot.world import World

UNITS = {"airspeed": "m/s", "alpha": "rad", "load_factor": "1", "mach": "1", "altitude": "m"}
Moved = table(
    "Moved",
    "An input, moved by an axis of the cockpit: its values at the ends, and in the middle.",
    {"axis": readers.choice(*AXES)},
    range=readers.array(shape=(2,)),
    centre=readers.number(),
)
Runway = table(
    "Runway",
    "The runway under the start.",
    {},
    length=readers.number("m", positive=True),
    width=readers.number("m", positive=True),
    before=readers.number("m"),
)
FlightLimits = table(
    "FlightLimits",
    "What the display warns of: a largest value, or the smallest and the largest.",
    {},
    **{name: readers.array(UNITS[name]) for name in LIMITED},
)
Bound: Any = Annotated[dict[str, readers.text('what it moves, such as "pitch+"')], Key(description="a table")]  # type: ignore[misc]
FlyOptions = table(
    "FlyOptions",
    "How `poinsot fly` flies it.",
    {},
    body=readers.name("plane"),
    eye=readers.vector("m"),
    start=Annotated[dict[str, readers.number()], Key(description="a table of inputs at the start")],  # type: ignore[misc]
    runway=Runway,
    limits=FlightLimits,
    controls=Annotated[
        dict[str, readers.wrapped(Moved, "axis", str)],  # type: ignore[misc]
        Key(description="a table of inputs with the axis of the cockpit that moves each"),
    ],
    keys=Bound,
    gamepad=Bound,
    instruments=readers.choice("display", "gauges"),
)


def fly_options(table: ScenarioTable | None, world: World) -> dict[str, Any]:
    """The options of `world.fly` in a table [fly], checked against the world."""
    if table is None:
        return {}
    options = {key: _plain(value) for key, value in table.entries().items()}
    require_flight(world.description.bodies, world.description.inputs, options)
    return options


def _plain(value: Any) -> Any:
    if isinstance(value, ScenarioTable):
        return {key: _plain(entry) for key, entry in value.entries().items()}
    return {key: _plain(entry) for key, entry in value.items()} if isinstance(value, dict) else value


def flown(run: Mapping[str, Any], world: World) -> dict[str, Any]:
    """The options of a run, with the inputs and the duration of its flight, if it has one."""
    rest = {key: value for key, value in run.items() if key != "flight"}
    if "flight" not in run:
        return rest
    from poinsot.run.flights import load_flight

    kept = load_flight(run["flight"])
    for name in kept.names:
        if name not in world.description.inputs:
            near = hint(name, world.description.inputs)
            raise ValueError(f"'{run['flight']}' moves {name!r}, which is not an input{near}")
    return {**rest, "inputs": kept.inputs, "duration": kept.duration}
