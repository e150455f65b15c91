"""Completions of arguments for shells: a function for each kind of argument, of the text typed so far."""

from collections.abc import Iterable
from pathlib import Path

from poinsot.cli.finding import examples
from poinsot.cli.templates import TEMPLATES


def scenario_names(incomplete: str) -> list[str]:
    """Examples, scenario files, and folders with a slash."""
    return [*example_names(incomplete), *_paths(incomplete, (".toml",))]


def result_names(incomplete: str) -> list[str]:
    """Results, and folders with a slash."""
    return _paths(incomplete, (".nc", ".zarr"))


def drawn_names(incomplete: str) -> list[str]:
    """Results or scenarios: a chart is drawn of either."""
    return [*example_names(incomplete), *_paths(incomplete, (".nc", ".zarr", ".toml"))]


def example_names(incomplete: str) -> list[str]:
    return _begun(examples(), incomplete)


def course_names(incomplete: str) -> list[str]:
    from poinsot.files.course_pages import courses

    return _begun(courses(), incomplete)


def template_names(incomplete: str) -> list[str]:
    return _begun(TEMPLATES, incomplete)


def _begun(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _paths(incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    """Files with one of these suffixes, stores that are folders among them, and other folders with a slash."""
    begun = Path(incomplete)
    folder = begun if incomplete.endswith("/") else begun.parent
    try:
        here = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        here = []
    found = [
        str(path) if path.suffix in suffixes else f"{path}/"
        for path in here
        if path.suffix in suffixes or path.is_dir()
    ]
    return _begun(found, incomplete)
