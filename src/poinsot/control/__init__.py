"""Control in the loop: signals, sampled and continuous laws, the usual blocks, reproducible noise."""

from poinsot.control import noise
from poinsot.control.actuator import Actuator
from poinsot.control.blocks import PID, GainSchedule, Lag, Lead, Notch, QuaternionFeedback, Washout
from poinsot.control.controller import Block, Controller
from poinsot.control.events import When
from poinsot.control.gusts import Dryden
from poinsot.control.regulator import StateFeedback, lqr
from poinsot.control.release import Release
from poinsot.control.sensor import Sensor

__all__ = [
    "PID",
    "Actuator",
    "Block",
    "Controller",
    "Dryden",
    "GainSchedule",
    "Lag",
    "Lead",
    "Notch",
    "QuaternionFeedback",
    "Release",
    "Sensor",
    "StateFeedback",
    "Washout",
    "When",
    "lqr",
    "noise",
]
