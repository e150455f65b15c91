"""Runs that go wrong without a number that is not finite: told by the ledger, or by how far they went."""

import warnings

import numpy as np

from poinsot.run.ledger import CONSERVED_QUANTITIES, LedgerWarning
from poinsot.run.result import Run
from poinsot.run.stepping import METHODS

GROWTH = 1e9  # times the largest number at the start, or 1 m, rad, m/s, rad/s: no machine gets there
SMALL = 0.1  # a relative residual below which it falls with the order of the method


def warn(run: Run) -> None:
    """A warning if the ledger of a run has a residual above its tolerance; without one, if its numbers grew too far."""
    if run.stop.reason == "broken" or not run.y.size:
        return
    if run.compiled.keeps_ledger:
        if run.unexplained:
            warnings.warn(_residual(run), LedgerWarning, stacklevel=5)
        return
    n = run.compiled.system.nq + run.compiled.system.nv
    start, end = (np.abs(np.asarray(run.y[k])[..., :n]).max(axis=-1, initial=1.0) for k in (0, -1))
    far = np.flatnonzero(np.ravel(end > GROWTH * start))
    if len(far):
        first = "" if run.batch is None else f"instance {far[0]} (of {len(far)} such among {run.batch}) "
        text = f"{first}ran away: a coordinate or velocity grew to {np.ravel(end)[far[0]]:.1e}."
        warnings.warn(f"{text} {_advice(run, np.inf)}", LedgerWarning, stacklevel=5)


def _residual(run: Run) -> str:
    left = run.ledger.relative_residual
    *instance, k = np.unravel_index(np.argmax(np.where(np.isnan(left), np.inf, left)), left.shape)
    where = f" of instance {instance[0]}" if instance else ""
    worst = float(left[(*instance, k)])
    quantity = CONSERVED_QUANTITIES[int(k)].replace("_", " ")
    return (
        f"the ledger does not close: a part of {worst:.1e} of the {quantity}{where} is unexplained, more than "
        f"ledger_tolerance = {run.settings['ledger_tolerance']:g}. {_advice(run, worst)}"
    )


def _advice(run: Run, worst: float) -> str:
    """The step that would do, if the residual is in the range in which it falls with the order of the method."""
    method, step = run.settings["method"], run.settings["step"]
    if method not in METHODS:
        return "Take a smaller tolerance, or check that forces state their true power."
    if worst < SMALL:
        advised = 0.8 * step * (run.settings["ledger_tolerance"] / worst) ** (1 / METHODS[method].order)
        return f"If the step causes it, {advised:.1e} s instead of {step:.1e} s would do; world.check_step() tells."
    return (
        f"The step of {step:.1e} s is too long, most likely: try a tenth of it; world.check_step() finds one. Or an "
        "element of your own states a wrong power."
    )
