"""The command `poinsot`."""

from poinsot.cli.commands import app, main

__all__ = ["app", "main"]
