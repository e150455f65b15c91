"""The environment of a world: gravity, ground."""

from poinsot.environment.gravity import CentralGravity
from poinsot.environment.ground import Contact

__all__ = ["CentralGravity", "Contact"]
