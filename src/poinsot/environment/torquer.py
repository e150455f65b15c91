"""Magnetic torquers: coils whose dipole turns a spacecraft in the magnetic field of the Earth."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from poinsot._errors import FieldError
from poinsot.environment.air_mass import earth_of
from poinsot.parts.element import Effect, Element, Value, require_finite, require_limit, value_of
from poinsot.parts.loads import limited
from poinsot.parts.scene import Scene


@dataclass(frozen=True, eq=False)
class Torquer(Element):
    """Three coils of a body with the dipole m (3,) [A m^2] along its axes: the torque is m x B [N m].

    dipole: a constant, a function (t, scene), or a `Signal` of a controller. limit: the most along each axis. The
    field B is that of the Earth, `pt.Earth(magnetic=...)`, at the body's origin; its gradient exerts no force here.
    """

    body: str = ""
    dipole: Annotated[Value, "A m^2"] = (0.0, 0.0, 0.0)
    limit: Annotated[float, "A m^2"] = np.inf

    def __post_init__(self) -> None:
        owner = f"torquer {self.name!r}"
        require_finite(owner, dipole=self.dipole)
        require_limit(owner, self.limit)
        if not callable(self.dipole) and np.shape(self.dipole) != (3,):
            raise FieldError(f"dipole of {owner} must be three numbers [A m^2], not {self.dipole!r}.", "dipole")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        earth, state = earth_of(scene), scene[self.body]
        if earth is None or earth.magnetic is None:
            raise FieldError(
                f"torquer {self.name!r} needs a magnetic field: pt.Earth(magnetic='igrf'), or 'dipole'.",
                "dipole",
            )
        m = limited(value_of(self.dipole, scene, (3,), "dipole", f"torquer {self.name!r}", spread=False), self.limit)
        B = state.pose.R.T @ earth.magnetic_field(state.position, scene.t)
        torque = np.cross(m, B)
        wrench = np.concatenate([torque, np.zeros(3)])
        return Effect(
            {self.body: wrench}, power=wrench @ state.twist, shown={"torque": torque, "moment": m, "field": B}
        )

    def units(self) -> dict[str, str]:
        return {"torque": "N m", "moment": "A m^2", "field": "T"}
