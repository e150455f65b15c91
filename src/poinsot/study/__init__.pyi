# The public names; `__init__.py` reads this list, and imports each when it is first used.

from poinsot.study.envelopes import envelope, turn_performance
from poinsot.study.fitting import Fit, FitError, fit
from poinsot.study.gust_loads import vn_diagram
from poinsot.study.linear import Linear, linearise
from poinsot.study.sensitivities import Sensitivity, sensitivity
from poinsot.study.steps import StepCheck, check_step
from poinsot.study.trimmed import Trim, TrimError
from poinsot.study.trimming import trim

__all__ = [
    "Fit",
    "FitError",
    "Linear",
    "Sensitivity",
    "StepCheck",
    "Trim",
    "TrimError",
    "check_step",
    "envelope",
    "fit",
    "linearise",
    "sensitivity",
    "trim",
    "turn_performance",
    "vn_diagram",
]
