"""Batches of instances with steps of their own, in rounds of so many steps: those that have arrived leave.

Instances that are computed side by side wait for each other. In a round none tries more than a few steps; the next one
goes on with those that have not arrived, side by side again, so that a slow one holds up no others for longer than a
round. Their bits do not depend on that.
"""

from typing import Any

import numpy as np

from poinsot._types import Array

STEPS = 32  # in a round
FEW = 16  # instances that are not worth it


def in_rounds(advance: Any, tries: int, x: Array, p: Array, *where: Any) -> tuple[Array, ...]:
    """The results of advance(x (n, nx), p (n, np), *where), x first; `tries`: the place in x of the number of steps
    that may be tried, which is 0 after a call that was not enough."""
    left = np.arange(len(x))
    found: tuple[Array, ...] = ()
    while len(left):
        some = x if not found else found[0][left]
        some = some.copy()
        some[:, tries] = STEPS if len(left) > FEW else np.inf
        outputs = advance(some, p[left], *where)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if not found:
            found = tuple(np.array(output) for output in outputs)
        else:
            for whole, part in zip(found, outputs, strict=True):
                whole[left] = part
        left = left[np.asarray(outputs[0])[:, tries] == 0]
    return found
