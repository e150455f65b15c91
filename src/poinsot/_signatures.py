"""Whether functions of the user can be called as they will be, told before they are."""

from collections.abc import Callable
from inspect import signature
from typing import Any


def misfit(function: Callable[..., Any], *arguments: str) -> str:
    """What is wrong with a function that cannot be called with these arguments, in words; "" if it can."""
    try:
        known = signature(function)
    except (TypeError, ValueError):  # a function in C, or none at all: its call will tell
        return ""
    try:
        known.bind(*arguments)
    except TypeError:
        return f"a function {known}; it must be one of ({', '.join(arguments)})"
    return ""
