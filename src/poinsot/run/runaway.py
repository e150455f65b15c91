"""Runs that go wrong without a number that is not finite: told by the ledger, by what nothing in the world can change,
or by how far they went; and those that broke down."""

import warnings

import numpy as np

from poinsot._types import Array
from poinsot.run.ledger import CONSERVED_QUANTITIES, STEP, LedgerWarning, magnitudes, only_loses_energy
from poinsot.run.result import Run
from poinsot.run.stepping import METHODS

GROWTH = 1e9  # times the largest number at the start, or 1 m, rad, m/s, rad/s: no machine gets there
SAMPLE = 15  # instances of a batch without ledger that are looked at, beside the one that is farthest
GAINED, LOST = 0.01, 0.5  # parts of what is conserved that a step itself may add, and of the energy that it may take:
# a blow within one step loses all of its speed, as it may by its own damping
SMALL = 0.1  # a relative residual below which it falls with the order of the method


def warn(run: Run) -> None:
    """A warning if a run broke down, or if its ledger has a residual above its tolerance.

    Without one: if its numbers grew too far; or if some instances of a batch gained or lost what nothing in their world
    adds to or takes from, such as the energy of a world without dampers, motors and other forces.
    """
    if not run.y.size:
        return
    if run.stop.reason in ("broken", "capacity"):
        warnings.warn(_ended(run), LedgerWarning, stacklevel=5)
        return
    if run.compiled.keeps_ledger:
        text = _residual(run) if run.unexplained else _of_the_step(run)
        if text is not None:
            warnings.warn(text, LedgerWarning, stacklevel=5)
        return
    text = _grown(run) or (_changed(run) if run.batch else None)
    if text is not None:
        warnings.warn(text, LedgerWarning, stacklevel=5)


def _ended(run: Run) -> str:
    """Of a run that broke down, what and when; in a batch, of the first instance that did."""
    if not run.stop.notes:
        return f"the run ended early: {run.stop.text}. run.stop tells."
    first = min(run.stop.notes)
    which = f"{run.stop.text}; instance {first}: {run.stop.notes[first]}"
    return f"{which}. They stay at their last finite state: leave out those in run.stop.notes."


def _sizes(run: Run, record: int) -> Array:
    """The largest coordinate or velocity of each instance in a record, at least 1."""
    n = run.compiled.system.nq + run.compiled.system.nv
    sizes: Array = np.abs(np.asarray(run.y[record])[..., :n]).max(axis=-1, initial=1.0)
    return sizes


def _grown(run: Run) -> str | None:
    start, end = _sizes(run, 0), _sizes(run, -1)
    far = np.flatnonzero(np.ravel(end > GROWTH * start))
    if not len(far):
        return None
    first = "" if run.batch is None else f"instance {far[0]} (of {len(far)} such among {run.batch}) "
    return f"{first}ran away: a coordinate or velocity grew to {np.ravel(end)[far[0]]:.1e}. {_advice(run, np.inf)}"


def _changed(run: Run) -> str | None:
    """For a sample of a batch: the change of what is conserved, relative to the largest gross amount in the sample."""
    compiled, tolerance = run.compiled, run.settings["ledger_tolerance"]
    may_lose = not compiled.is_conserved[-1] and only_loses_energy(compiled.system, compiled.inflow_possible)
    if not np.isfinite(tolerance) or not (may_lose or np.any(compiled.is_conserved)):
        return None
    tolerance = max(tolerance, GAINED) if STEP in compiled.sources else tolerance
    spread = np.linspace(0, len(run.y[-1]) - 1, SAMPLE).astype(int)
    sample = np.unique([*spread, np.argmax(_sizes(run, -1))])
    y = np.stack([np.asarray(run.y[k])[sample] for k in (0, -1)])
    p = np.stack([run.p[k][sample] for k in (0, -1)]) if run.p.ndim == y.ndim else run.p[sample]
    with np.errstate(all="ignore"):
        amounts, gross = compiled.conserved(run.time[[0, -1], None], y, p)
    change = np.where(compiled.is_conserved, amounts[1] - amounts[0], 0.0)
    if may_lose:
        change[:, -1] = np.maximum(amounts[1] - amounts[0], 0.0)[:, -1]
    change = magnitudes(change)
    scale = np.maximum(gross, magnitudes(amounts)).max(axis=(0, 1))
    left = change / np.where(scale > 0, scale, 1.0)
    k, quantity = np.unravel_index(np.argmax(np.where(np.isnan(left), np.inf, left)), left.shape)
    worst = float(left[k, quantity])
    if worst <= tolerance:
        return None
    name = CONSERVED_QUANTITIES[int(quantity)].replace("_", " ")
    verb, why = ("grew", "adds to it") if may_lose and quantity == 3 else ("changed", "adds to it or takes from it")
    return (
        f"the {name} of instance {sample[k]} {verb} by a part of {worst:.1e}, more than ledger_tolerance = "
        f"{tolerance:g}, though nothing in the world {why}. {_advice(run, worst)}"
    )


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


def _of_the_step(run: Run) -> str | None:
    """The complaint if the step itself adds or takes too much, of methods that know what it does."""
    if STEP not in run.compiled.sources or not np.isfinite(run.settings["ledger_tolerance"]):
        return None
    share = run.ledger.share_of(STEP)
    limits = np.where((np.arange(4) == 3) & (share < 0), LOST, GAINED)
    *instance, k = np.unravel_index(np.argmax(np.abs(share) / limits), share.shape)
    worst = float(share[(*instance, k)])
    if abs(worst) <= limits[(*instance, k)]:
        return None
    where = f" of instance {instance[0]}" if instance else ""
    verb = "took" if worst < 0 else "added" if k == 3 else "changed"
    quantity = CONSERVED_QUANTITIES[int(k)].replace("_", " ")
    return (
        f"the step of {run.settings['step']:.1e} s is too long: by its own error it {verb} a part of {abs(worst):.1e} "
        f"of the {quantity}{where}, the row {STEP!r} of the ledger. It falls with the step; world.check_step() tells "
        "what contacts ask for."
    )


def _advice(run: Run, worst: float) -> str:
    """The step that would do, if the residual is in the range in which it falls with the order of the method."""
    method, step = run.settings["method"], run.settings["step"]
    if METHODS[method].march is not None:
        return "Take a smaller tolerance, or check that forces state their true power."
    if worst < SMALL:
        advised = 0.8 * step * (run.settings["ledger_tolerance"] / worst) ** (1 / METHODS[method].order)
        return f"If the step causes it, {advised:.1e} s instead of {step:.1e} s would do; world.check_step() tells."
    return (
        f"The step of {step:.1e} s is too long, most likely: try a tenth of it; world.check_step() finds one. Or an "
        "element of your own states a wrong power."
    )
