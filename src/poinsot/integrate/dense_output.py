"""The solution within a step, as a polynomial that the method of the step gives: dense output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Scalar
from poinsot.integrate.schemes import combine


@dataclass(frozen=True, eq=False)
class Within:
    """A step from the time `begin` [s], of a `length` [s], and r_1, r_2, ..., each like the state, of which with the
    share s of the step that has passed

        y = r_1 + s (r_2 + (1 - s) (r_3 + s (r_4 + (1 - s) (r_5 + ...)))).

    Hairer, Norsett and Wanner I, section II.6.
    """

    begin: Scalar
    length: Scalar
    terms: tuple[Any, ...]

    @classmethod
    def nothing(cls, t: Scalar, y: Any, terms: int) -> "Within":
        """No step yet."""
        zero = np.zeros(())
        return cls(t + zero, zero, (y, *(combine(None, [(zero, y)]) for _ in range(terms - 1))))

    def at(self, t: Scalar) -> Any:
        """y at the time t [s]."""
        s = (t - self.begin) / np.where(self.length > 0, self.length, 1.0)
        factors, y = (s, 1.0 - s), self.terms[-1]
        for k in reversed(range(len(self.terms) - 1)):
            y = combine(self.terms[k], [(factors[k % 2], y)])
        return y


def hermite(y: Any, new: Any, first: Any, last: Any, h: Scalar) -> list[Any]:
    """r_1 to r_4 of a step h [s] from y to new, from the rates at both ends."""
    change = combine(new, [(-1.0, y)])
    bend = combine(None, [(h, first), (-1.0, change)])
    return [y, change, bend, combine(change, [(-h, last), (-1.0, bend)])]


def weighted(rows: Sequence[Sequence[float]], k: Sequence[Any], h: Scalar) -> list[Any]:
    """h times the sums of stages k, by rows of their weights."""
    return [combine(None, [(w * h, ki) for w, ki in zip(row, k, strict=True) if w]) for row in rows]
