"""Questions about worlds: trims, small motions, fits, sensitivities, the right step, sweeps."""

from poinsot._listed import listed

__getattr__, __dir__, __all__ = listed(__name__, __file__)
