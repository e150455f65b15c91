"""Control in the loop: signals, sampled and continuous laws, the usual blocks, reproducible noise."""

from poinsot.control import noise
from poinsot.control.blocks import PID, Lag, Lead, Notch, QuaternionFeedback, Schedule, Washout
from poinsot.control.controller import Block, Controller
from poinsot.control.regulator import lqr

__all__ = [
    "PID",
    "Block",
    "Controller",
    "Lag",
    "Lead",
    "Notch",
    "QuaternionFeedback",
    "Schedule",
    "Washout",
    "lqr",
    "noise",
]
