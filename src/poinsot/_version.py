"""The version of Poinsot."""

__version__ = "0.2.0"
