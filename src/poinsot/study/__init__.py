"""Questions about worlds: small motions, sensitivities, the right step, sweeps."""

from poinsot.study.linear import Linear, linearise
from poinsot.study.sensitivities import Sensitivity, sensitivity
from poinsot.study.steps import StepCheck, check_step

__all__ = [
    "Linear",
    "Sensitivity",
    "StepCheck",
    "check_step",
    "linearise",
    "sensitivity",
]
