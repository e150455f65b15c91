"""Questions about worlds: small motions, sensitivities, the right step, sweeps."""

from poinsot.study.linear import Linear, linearise
from poinsot.study.sensitivities import Sensitivity, sensitivity
from poinsot.study.steps import StepCheck, check_step
from poinsot.study.sweeps import sweep
from poinsot.study.swept import Sweep, load_sweep

__all__ = [
    "Linear",
    "Sensitivity",
    "StepCheck",
    "Sweep",
    "check_step",
    "linearise",
    "load_sweep",
    "sensitivity",
    "sweep",
]
