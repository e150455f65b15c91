"""The version of Poinsot."""

__version__ = "0.1.0"
