"""The command `poinsot`."""

from poinsot.cli.commands import application, main

__all__ = ["application", "main"]
