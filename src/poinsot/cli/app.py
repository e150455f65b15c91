"""The commands, put together; and what becomes of errors."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

import poinsot
from poinsot.cli import bench, inspecting, running, sweeping, writing
from poinsot.cli.screen import complain
from poinsot.files.problems import ScenarioError

# Errors of what was given, not of Poinsot.
INPUT = (ValueError, KeyError, OSError, ImportError)

app = typer.Typer(
    name="poinsot",
    help="Rigid-body dynamics as the text books write it.\n\nExample:  poinsot run",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., int]] = {
    "run": running.run,
    "check": running.check,
    "new": writing.new,
    "examples": writing.examples,
    "plot": inspecting.plot,
    "info": inspecting.info,
    "view": inspecting.view,
    "convert": inspecting.convert,
    "sweep": sweeping.sweep,
    "bench": bench.bench,
    "schema": writing.schema,
}


def _with_code(command: Callable[..., int]) -> Callable[..., None]:
    """The command, with what it returns as the exit code."""

    @wraps(command)
    def called(*args: Any, **options: Any) -> None:
        raise typer.Exit(command(*args, **options))

    return called


for _name, _command in COMMANDS.items():
    app.command(_name)(_with_code(_command))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"poinsot {poinsot.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Which version this is.")
    ] = False,
) -> None:
    """Rigid-body dynamics as the text books write it.

    Example:  poinsot run
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. The exit code is 0 if all went well, 1 if a run ended early, 2 for bad input."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        app(args=given, prog_name="poinsot")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except INPUT as error:
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        messages = error.messages() if isinstance(error, ScenarioError) else [f"error: {text}"]
        if "--json" in given:
            print(json.dumps({"errors": messages}, indent=2))
        else:
            complain(*messages)
    return 2
