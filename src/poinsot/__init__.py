"""Rigid-body dynamics as the text books write it, in plain NumPy, compiled into fused kernels.

What a user reaches from here is listed in `__init__.pyi`, and imported when it is first used: so `import poinsot` is
quick, and needs NumPy alone.
"""

from poinsot._listed import listed
from poinsot._version import __version__ as __version__

__getattr__, __dir__, __all__ = listed(__name__, __file__)
