"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.completion import scenario_names

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
    typer.Option("--flight", metavar="FILE", help="Fly again: the inputs that `poinsot fly --save x.csv` kept."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the names of the files written.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", "--force", help="Replace files that exist. Without it, nothing is replaced.")
]
