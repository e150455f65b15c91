"""Files: scenarios, robots (URDF, MJCF), their coordinates elsewhere, flight models (DAVE-ML), thrust curves, runs."""

from poinsot._listed import listed

__getattr__, __dir__, __all__ = listed(__name__, __file__)
