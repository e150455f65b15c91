"""poinsot course: the courses as notebooks."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli import finding
from poinsot.cli.completion import course_names
from poinsot.cli.options import Json, Out, Overwrite, Quiet
from poinsot.cli.screen import Screen

# What the notebooks use beyond a plain installation.
NEEDED = {"matplotlib": "'poinsot[view,fit]'", "jupyterlab": "jupyterlab"}
Course = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The course to write as a notebook.",
        show_default=False,
        autocompletion=course_names,
    ),
]


def course(
    name: Course = None,
    out: Out = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """List the courses, or write one as a notebook for Jupyter.

    Example:  poinsot course;  poinsot course peskin;  poinsot course peskin --out week1.ipynb
    """
    from poinsot._atomic import write_text
    from poinsot.files.course_pages import course_path, courses, notebook_text, title

    screen = Screen(quiet, json)
    if name is None:
        titles = {stem: title(path.read_text(encoding="utf-8")) for stem, path in courses().items()}
        screen.table(("course", "title"), titles.items(), 2, most=None)
        screen.say("Write one as a notebook with: poinsot course NAME")
        screen.result("\n".join(titles))
        screen.data({"courses": titles})
        return 0
    page = course_path(name).read_text(encoding="utf-8")
    target = out or Path(f"{name}.ipynb")
    if not overwrite:
        finding.require_new(target)
    write_text(target, notebook_text(page))
    screen.say(f"written  {target}", "green")
    missing = [word for package, word in NEEDED.items() if find_spec(package) is None]
    if missing:
        screen.say(f"First:   pip install {' '.join(missing)}")
    screen.say(f"Now:     jupyter lab {target}")
    screen.result(str(target))
    screen.data({"written": str(target)})
    return 0
