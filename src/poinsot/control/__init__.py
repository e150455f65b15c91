"""Control in the loop: signals, sampled and continuous laws, reproducible noise."""

from poinsot.control import noise
from poinsot.control.controller import Block, Controller

__all__ = ["Block", "Controller", "noise"]
