"""The table of commands, and how their errors end."""

import atexit
import gc
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

import poinsot
from poinsot._alone import alone

COLLECT_EVERY = 1_000_000  # new objects: most that a scenario makes stay, and looking through them finds little
INPUT_ERRORS = (ValueError, KeyError, OSError, ImportError)  # the input is wrong, not Poinsot

COMMANDS = {  # by name the module of `poinsot.cli` that has the function of that name
    "run": "running",
    "check": "running",
    "new": "writing",
    "examples": "writing",
    "course": "teaching",
    "plot": "inspecting",
    "info": "inspecting",
    "view": "inspecting",
    "convert": "inspecting",
    "sweep": "sweeping",
    "fly": "flying",
    "bench": "bench",
    "schema": "writing",
    "doctor": "doctor",
}


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command with these subcommands: one that is run needs no other."""
    app = typer.Typer(
        name="poinsot",
        help="Rigid-body dynamics as the textbooks write it.\n\nExample:  poinsot run",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        module = importlib.import_module(f"poinsot.cli.{COMMANDS[name]}")
        app.command(name)(_with_exit_code(getattr(module, name)))
    app.callback()(_options)
    return app


def _with_exit_code(command: Callable[..., int]) -> Callable[..., None]:
    """The command, which then exits with the code that it returns."""

    @wraps(command)
    def exiting(*args: Any, **options: Any) -> None:
        raise typer.Exit(command(*args, **options))

    return exiting


def _version(wanted: bool) -> None:
    if wanted:
        from poinsot.cli.hardware import machine_lines

        print("\n".join([f"poinsot {poinsot.__version__}", *machine_lines()]))
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and the machine."),
    ] = False,
) -> None:
    """Rigid-body dynamics as the textbooks write it.

    Example:  poinsot run
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. The exit code is 0 on success, 1 if a run ended early, 2 for bad input."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    os.environ.setdefault(
        "PYDANTIC_DISABLE_PLUGINS", "__all__"
    )  # else it looks through all installed packages for some
    gc.set_threshold(max(COLLECT_EVERY, gc.get_threshold()[0]))
    atexit.register(gc.freeze)  # the process ends: looking for cycles once more would take half a second
    try:
        with alone(arguments is None):
            application(given[:1] if given and given[0] in COMMANDS else COMMANDS)(args=given, prog_name="poinsot")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except INPUT_ERRORS as error:
        if "--json" in given:
            print(json.dumps({"errors": _messages(error)}, indent=2))
        else:
            from poinsot.cli.screen import complain

            complain(*_messages(error))
    return 2


def _messages(error: Exception) -> list[str]:
    from poinsot.files.problems import ScenarioError

    if isinstance(error, ScenarioError):
        return error.messages()
    return [f"error: {error.args[0] if isinstance(error, KeyError) and error.args else error}"]
