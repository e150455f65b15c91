"""Where two shapes touch, or nearly so: points with depths that have one normal."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array

AWAY = -1.0  # m: the depth of points that do not touch


@dataclass(frozen=True, eq=False)
class ContactPatch:
    """The unit normal (3,) that points from b to a, points (m, 3) [m], and their depths (m,) [m]; in world axes. share:
    of the stiffness that a point alone has; None: all of it."""

    normal: Array
    points: Array
    depths: Array
    share: Array | None = None

    def raised(self, margin: Any) -> "ContactPatch":
        """The patch of bodies that touch from this [m] away on."""
        return replace(self, depths=np.where(self.depths > AWAY, self.depths + margin, AWAY))
