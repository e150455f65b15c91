"""The ends of error messages about names: the nearest one that is known."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: str, names: Iterable[str]) -> str:
    """`; did you mean 'wing'?` if a known name is near, else nothing: the end of an error message."""
    near = get_close_matches(str(name), list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
