"""The environment of a world: gravity, ground, the Earth, air."""

from poinsot.environment.earth import Earth
from poinsot.environment.gravity import CentralGravity
from poinsot.environment.ground import Contact

__all__ = ["CentralGravity", "Contact", "Earth"]
