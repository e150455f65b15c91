"""The command `poinsot`."""

from poinsot.cli.app import app, main

__all__ = ["app", "main"]
