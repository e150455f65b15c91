"""Simulate one world or a million; record; keep the ledger."""

from poinsot.run.continuing import RunState
from poinsot.run.distributions import (
    Choice,
    LogNormal,
    MultivariateNormal,
    Normal,
    PhysicalMoment,
    Triangular,
    Truncated,
    Uniform,
)
from poinsot.run.driver import RunOptions, simulate
from poinsot.run.flights import load_flight
from poinsot.run.ledger import Ledger, LedgerWarning
from poinsot.run.limits import Limits, LimitWarning
from poinsot.run.observe import OBSERVABLES
from poinsot.run.result import Run, Stop
from poinsot.run.stepper import WorldStepper
from poinsot.run.stepper_options import StepperOptions, StepperState
from poinsot.run.stepping import METHODS
from poinsot.run.wall_clock import BehindWarning, LiveRecord, LiveRun, live

__all__ = [
    "METHODS",
    "OBSERVABLES",
    "BehindWarning",
    "Choice",
    "Ledger",
    "LedgerWarning",
    "LimitWarning",
    "Limits",
    "LiveRecord",
    "LiveRun",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "PhysicalMoment",
    "Run",
    "RunOptions",
    "RunState",
    "StepperOptions",
    "StepperState",
    "Stop",
    "Triangular",
    "Truncated",
    "Uniform",
    "WorldStepper",
    "live",
    "load_flight",
    "simulate",
]
