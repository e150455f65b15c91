"""poinsot new, examples, schema: scenarios to start from."""

import json as json_
from pathlib import Path
from typing import Annotated, Any

import typer

from poinsot.cli import finding, running
from poinsot.cli.completion import example_names, template_names
from poinsot.cli.options import Json, Out, Overwrite, Quiet
from poinsot.cli.screen import Screen
from poinsot.cli.templates import TEMPLATES


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the scenario; NAME.toml is written.")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", "-k", help=f"What to start from: {', '.join(TEMPLATES)}.", autocompletion=template_names
        ),
    ] = "body",
    quiet: Quiet = False,
) -> int:
    """Write a new scenario, with comments that explain it.

    Example:  poinsot new spin;  poinsot new swing --kind pendulum
    """
    from poinsot._atomic import write_text
    from poinsot._hints import hint

    if kind not in TEMPLATES:
        raise ValueError(f"there is no template {kind!r}{hint(kind, TEMPLATES)}; there are {', '.join(TEMPLATES)}.")
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    if path.exists():
        raise FileExistsError(f"'{path}' already exists; choose another name.")
    write_text(path, TEMPLATES[kind].lstrip())
    screen = Screen(quiet)
    screen.say(f"written  {path}", "green")
    screen.say(f"Now:     poinsot check {path};  poinsot run {path}")
    screen.result(str(path))
    return 0


def examples(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The example to run.", show_default=False, autocompletion=example_names),
    ] = None,
    copy: Annotated[bool, typer.Option("--copy", help="Copy it here instead of running it.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """List the examples that come with Poinsot, or run one of them.

    Example:  poinsot examples;  poinsot examples rocket;  poinsot examples rocket --copy
    """
    screen = Screen(quiet, json)
    if name is None:
        titles = {stem: _title(path) for stem, path in finding.examples().items()}
        screen.table(("example", "title"), titles.items(), 2, most=None)
        screen.say("Run one with: poinsot examples NAME")
        screen.result("\n".join(titles))
        screen.data({"examples": titles})
        return 0
    path = finding.scenario_path(Path(name))
    if not copy:
        return running.run(path, quiet=quiet, json=json)
    target = Path(path.name)
    files = {one: Path(one.name) for one in (path, *_companions(path))}
    for there in files.values():
        if there.exists():
            raise FileExistsError(f"'{there}' already exists; move it first.")
    for one, there in files.items():
        there.write_bytes(one.read_bytes())
    screen.say(f"written  {target}", "green")
    screen.result(str(target))
    return 0


def _title(path: Path) -> str:
    import tomllib

    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))


def _companions(path: Path) -> list[Path]:
    """The files that a scenario refers to: robots and meshes."""
    import tomllib

    def texts(x: Any) -> list[str]:
        if isinstance(x, dict):
            return [t for k, v in x.items() for t in ([v] if k in ("urdf", "mjcf", "file") else texts(v))]
        return [t for v in x for t in texts(v)] if isinstance(x, list) else []

    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return [path.parent / name for name in texts(data) if (path.parent / name).is_file()]


def schema(out: Out = None, overwrite: Overwrite = False) -> int:
    """Write the JSON schema of scenarios, for editors that complete and check as you type.

    Example:  poinsot schema --out poinsot.schema.json
    """
    from poinsot.files.schema import scenario_schema

    text = json_.dumps(scenario_schema(), indent=2)
    if out is None:
        print(text)
    else:
        if not overwrite:
            finding.require_new(out)
        out.write_text(text + "\n", encoding="utf-8")
        Screen().say(f"written  {out}", "green")
    return 0
