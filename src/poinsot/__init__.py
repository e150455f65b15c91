"""Rigid-body dynamics as the text books write it, in plain NumPy, compiled into fused kernels."""

__version__ = "0.1.0"
