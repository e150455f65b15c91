"""The compiler: knows NumPy and machines, knows no physics."""

from typing import Any


def is_traced(*values: Any) -> bool:
    """True if any of the values is being traced, so that its numbers are not known yet."""
    return any(getattr(type(value), "__traced__", False) for value in values)
