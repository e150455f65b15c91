"""The momentum formulation with R as a matrix, as the notes write it: Y = (x, R, P, L), R' = omega* R.

A step on the components of R leaves the rotations; R is brought back to the nearest one, within a step before it is
used, and after the step for good.
"""

from functools import partial

from poinsot.body import momentum
from poinsot.body.forces import Load
from poinsot.body.momentum import MomentumState
from poinsot.spatial import Inertia

from_motion = partial(momentum.from_motion, as_quaternion=False)
to_motion = momentum.to_motion
normalize = momentum.normalize


def derivative(t: float, state: MomentumState, inertia: Inertia, load: Load) -> MomentumState:
    """dY/dt = (v, omega* R, F, tau)."""
    return momentum.derivative(t, normalize(state), inertia, load)
