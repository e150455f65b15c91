"""Tests over many cases of one law: a few run in `make test`, all of them in `make test-slow`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """The values of a parameter, of which those that are not `kept` are slow."""
    values = list(values)
    assert all(value in values for value in kept)
    return [value if value in kept else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
