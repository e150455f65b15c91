"""Control in the loop: reproducible noise."""

from poinsot.control import noise

__all__ = ["noise"]
