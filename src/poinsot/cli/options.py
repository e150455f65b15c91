"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.finding import examples


def scenario_names(incomplete: str) -> list[str]:
    """What a shell may complete the name of a scenario to: examples, scenario files, and folders with a slash."""
    begun = Path(incomplete)
    folder = begun if incomplete.endswith("/") else begun.parent
    try:
        here = sorted(path for path in folder.iterdir() if path.suffix == ".toml" or path.is_dir())
    except OSError:
        here = []
    files = [f"{path}/" if path.is_dir() else str(path) for path in here if not path.name.startswith(".")]
    return [name for name in (*examples(), *files) if name.startswith(incomplete)]


Scenario = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="A scenario, x.toml, or the name of an example.",
        show_default=False,
        autocompletion=scenario_names,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change a value: run.duration=5, box.mass='3 kg'. Repeatable."),
]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Let the scenario import functions from Python modules: module:function.")
]
FlightFile = Annotated[
    Path | None,
    typer.Option(
        "--flight", metavar="FILE", help="Run what was flown: its inputs, as `poinsot fly --save x.csv` kept them."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the names of the files written.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", "--force", help="Replace files that exist. Without it, nothing is replaced.")
]
