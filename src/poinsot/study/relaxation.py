"""Let a mechanism come to rest: a motion that is turned towards the forces, and stopped when it leads uphill."""

import numpy as np

from poinsot._types import Array
from poinsot.study.newton import Equations

STEPS, EVERY = 3000, 50  # of the motion at most; between looks at the fastest oscillation
LONGEST_STEP = 0.02  # s
MIXED, GROWTH = 0.1, 1.1


def relaxed(equations: Equations, z: Array, c: Array, columns: Array, rows: Array, close: float = 1e-4) -> Array:
    """z (b, n) after a damped motion of the joints: the unknowns in these columns, whose accelerations are the rows.

    An equilibrium that it comes near is a stable one. Bitzek et al., Phys. Rev. Lett. 97 (2006) 170201 ("FIRE"): while
    v @ a > 0, the velocity v is turned towards the acceleration a and the step h grows; else v = 0, and h is halved.
    """
    z, v = z.copy(), np.zeros((len(z), len(columns)))
    h = np.full((len(z), 1), 1e-3)
    with np.errstate(all="ignore"):
        for k in range(STEPS):
            if k % EVERY == 0:
                slope = equations.slopes(z, c)[1][:, rows][:, :, columns]
                fastest = np.sqrt(np.nan_to_num(np.abs(slope)).sum(axis=2).max(axis=1, initial=0.0))
                longest = np.minimum(0.5 / (fastest + 1e-12), LONGEST_STEP)[:, None]
            a = equations.values(z, c)[:, rows]
            if np.abs(a).max(initial=0.0) < close:
                break
            downhill = np.sum(v * a, axis=1, keepdims=True) >= 0
            size = np.linalg.norm(v, axis=1, keepdims=True) / (np.linalg.norm(a, axis=1, keepdims=True) + 1e-300)
            v = np.where(downhill, (1 - MIXED) * v + MIXED * size * a, 0.0)
            h = np.minimum(np.where(downhill, GROWTH * h, 0.5 * h), longest)
            v = v + h * a
            z[:, columns] += np.clip(h * v, -0.2, 0.2)
    return np.asarray(np.where(np.isfinite(z), z, 0.0))
