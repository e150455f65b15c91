"""Which number matters, and how rare is rare: Sobol indices by Saltelli's scheme, and importance sampling."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array

LEAST = 16  # samples: the errors by bootstrap of fewer say nothing
ALIKE = 1e-13  # relative: outcomes that differ by rounding alone

Model = Callable[[Mapping[str, Array]], Any]  # numbers (n,) by name -> outcomes (n,)


@dataclass(frozen=True, eq=False)
class SobolIndices:
    """By the names of the numbers: first order S, total T, with standard errors by bootstrap."""

    names: tuple[str, ...]
    first: Array
    total: Array
    first_error: Array
    total_error: Array
    evaluations: int

    def __str__(self) -> str:
        rows = zip(self.names, self.first, self.first_error, self.total, self.total_error, strict=True)
        return "\n".join(f"{name:<28} S {s:6.3f} +- {ds:.3f}   T {t:6.3f} +- {dt:.3f}" for name, s, ds, t, dt in rows)


def sobol_indices(model: Model, vary: Mapping[str, Any], samples: int = 1024, seed: int = 0) -> SobolIndices:
    """The shares of an outcome's variance that each number explains alone (S), and with all others (T).

    model: outcomes (n,) of numbers (n,) by name: a kernel, or runs of a world. vary: by name a distribution that has an
    inverse (`ppf`) as those of scipy.stats, or a pair (low, high). samples: a power of two; the model is evaluated
    samples (k + 2) times, at quasi-random points of Sobol's sequence (package SciPy), scrambled by the seed.
    S_i by Saltelli et al. (2010), T_i by Jansen (1999).
    """
    if not _is_whole(samples) or samples < LEAST or samples & (samples - 1):
        raise ValueError(f"samples={samples!r} must be a power of two, {LEAST} or more, such as 1024.")
    names, k = tuple(vary), len(vary)
    if not k:
        raise ValueError("vary: give at least one number with its distribution.")
    stats = require("scipy.stats", "adaptive", "Sobol indices")
    points = stats.qmc.Sobol(2 * k, seed=seed).random(samples)
    inverse = [_inverse(name, x) for name, x in vary.items()]

    def outcome(u: Array) -> Array:
        y = np.asarray(model({name: f(u[:, i]) for i, (name, f) in enumerate(zip(names, inverse, strict=True))}))
        if y.shape != (samples,) or y.dtype.kind not in "bfiu" or not np.all(np.isfinite(y)):
            raise ValueError(f"the model must give {samples} finite real outcomes, not {y.shape} of {y!r:.80}.")
        return y.astype(float)

    A, B = points[:, :k], points[:, k:]
    fA, fB = outcome(A), outcome(B)
    mixed = []
    for i in range(k):
        AB = A.copy()
        AB[:, i] = B[:, i]
        mixed.append(outcome(AB))
    fAB = np.array(mixed)
    if np.ptp(fA) <= ALIKE * np.max(np.abs(fA)):
        raise ValueError(
            f"the outcome is {fA[0]:.6g} whatever {', '.join(names)} are: there is no variance to be shared."
        )
    S, T = _shares(fA, fB, fAB)
    rng = np.random.default_rng(seed)
    again = [_shares(fA[r], fB[r], fAB[:, r]) for r in rng.integers(0, samples, (200, samples))]
    dS, dT = (np.std([x[j] for x in again], axis=0) for j in (0, 1))
    return SobolIndices(names, S, T, dS, dT, samples * (k + 2))


def _shares(fA: Array, fB: Array, fAB: Array) -> tuple[Array, Array]:
    """S and T (k,): the mean of fB (fAB - fA), and half of that of (fA - fAB)^2, over the variance. The outcomes are
    taken about their mean, which does not change them, and makes S less noisy."""
    middle = np.mean(np.concatenate([fA, fB]))
    variance = np.var(np.concatenate([fA, fB]))
    return np.mean((fB - middle) * (fAB - fA), axis=1) / variance, np.mean((fA - fAB) ** 2, axis=1) / (2 * variance)


def _inverse(name: str, x: Any) -> Callable[[Array], Array]:
    if hasattr(x, "ppf"):
        inverse: Callable[[Array], Array] = x.ppf
        return inverse
    if isinstance(x, Sequence) and len(x) == 2 and x[0] < x[1]:
        low, high = float(x[0]), float(x[1])
        return lambda u: low + (high - low) * u
    raise ValueError(f"{name} is varied by {x!r}; give a pair (low, high), or a distribution with ppf (scipy.stats).")


@dataclass(frozen=True, eq=False)
class RareEvent:
    """A probability with its standard error, how many of the draws met the event, and their effective number."""

    probability: float
    error: float
    met: int
    effective: float

    def __str__(self) -> str:
        return f"{self.probability:.4g} +- {self.error:.2g} ({self.met} draws met it, worth {self.effective:.0f})"


def rare_event(
    event: Model, vary: Mapping[str, Any], proposal: Mapping[str, Any], samples: int = 10_000, seed: int = 0
) -> RareEvent:
    """The probability of an event by importance sampling: draws from a proposal in which it is common, each weighted.

    event: whether (n,) it happened, of numbers (n,) by name. vary, proposal: distributions of scipy.stats by name, of
    the same names. The estimate is the mean of 1_event p/q, without bias if the proposal reaches wherever vary does and
    the event can happen; its error is right if p/q has a variance there: a proposal no narrower than vary is safe. An
    event that no draw meets is an error, as nothing is known of it then.
    """
    _check(vary, proposal, samples)
    rng = np.random.default_rng(seed)
    numbers, log_weight = {}, np.zeros(samples)
    for name, q in proposal.items():
        numbers[name] = np.asarray(q.rvs(size=samples, random_state=rng))
        log_weight += np.asarray(vary[name].logpdf(numbers[name])) - np.asarray(q.logpdf(numbers[name]))
    answers = np.asarray(event(numbers))
    if answers.shape != (samples,):
        raise ValueError(f"the event must give {samples} answers, not an array of shape {answers.shape}.")
    if not np.all((answers == 0) | (answers == 1)):
        raise ValueError(f"the event must say of each draw whether it happened, true or false, not {answers!r:.80}.")
    met = answers.astype(bool)
    w = np.where(met, np.exp(log_weight), 0.0)
    if not np.any(w > 0):
        where = ", ".join(f"{name} about {np.median(x):.4g}" for name, x in numbers.items())
        raise ValueError(
            f"none of {samples} draws that vary can give met the event: move the proposal ({where}) to it."
        )
    effective = float(w.sum() ** 2 / np.sum(w * w))
    return RareEvent(float(w.mean()), float(w.std(ddof=1) / np.sqrt(samples)), int(met.sum()), effective)


def _check(vary: Mapping[str, Any], proposal: Mapping[str, Any], samples: int) -> None:
    """Errors of what is asked of a rare event."""
    if not vary or set(vary) != set(proposal):
        raise ValueError(f"vary has {sorted(vary)}, but the proposal {sorted(proposal)}; they must be the same.")
    if not _is_whole(samples) or samples < 2:
        raise ValueError(f"samples={samples!r} must be a whole number, 2 or more.")
    for name, x in (*vary.items(), *proposal.items()):
        if not (hasattr(x, "logpdf") and hasattr(x, "rvs")):
            raise ValueError(f"{name} has {x!r}; give a distribution of scipy.stats, such as scipy.stats.norm(0, 1).")


def _is_whole(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)
