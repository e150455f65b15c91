"""Gravity that is not uniform."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.environment.earth import RADIUS, Earth
from poinsot.environment.pull import Planet, pull
from poinsot.parts.element import Effect, Element, read_only, require_not_negative, require_points
from poinsot.parts.flow import gains
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array, as_numbers


@dataclass(frozen=True, eq=False)
class CentralGravity(Element):
    """The pull of a sphere or point of gravitational parameter mu = G M [m^3/s^2] at `centre` (3,) [m] in the world.

    A body of mass m and moment I about its centre of mass, at r from the centre, has the energy

        U = -mu m/r - mu/(2 r^3) (tr I - 3 r^T I r / r^2)

    (MacCullagh), up to terms of the order (size/r)^4. Force and torque are the derivatives of this energy: energy and
    angular momentum about the centre are conserved, and the gravity gradient acts on long bodies. The bodies do not
    attract each other, and the centre is fixed.
    """

    name: str = "gravity"
    mu: Annotated[float, "m^3/s^2"] = 3.986004418e14  # of the Earth
    centre: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)

    internal: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"the name of a gravity is text, not {self.name!r}: write pt.CentralGravity(mu=...).")
        require_not_negative("central gravity", mu=self.mu)
        require_points("central gravity", centre=self.centre)

    def effect(self, scene: Scene) -> Effect:
        wrenches: dict[str, Array] = {}
        stored, power = np.zeros(()), np.zeros(())
        for link, X in zip(scene.mechanism.links, scene.poses, strict=True):
            if link.inertia is None:
                continue
            m, c, I = link.inertia.mass, link.inertia.com, link.inertia.moment
            d = X.R.T @ (X @ c - as_array(self.centre))  # from the centre to the body's com, in body axes
            r = np.sqrt(d @ d)
            u = d / r
            Iu, trace = I @ u, I[0, 0] + I[1, 1] + I[2, 2]
            uIu = u @ Iu
            f = -self.mu / r**2 * (m * u + 1.5 / r**2 * ((trace - 5 * uIu) * u + 2 * Iu))
            moment = 3 * self.mu / r**3 * np.cross(u, Iu)
            wrenches[link.name] = np.concatenate([moment + np.cross(c, f), f])
            stored = stored - self.mu / r * (m + 0.5 / r**2 * (trace - 3 * uIu))
            for gained, layer in gains(scene, link.name):  # mass gained at rho brings its energy along
                rho = layer.com - c
                dI = layer.moment + (rho @ rho) * np.eye(3) - np.outer(rho, rho)
                dU = -self.mu / r * (1 + 0.5 / r**2 * (np.trace(dI) - 3 * (u @ dI @ u))) - f @ rho / m
                power = power + gained * dU
        return Effect(wrenches, stored=stored, power=power)

    def field(self, p: Array, t: Any = 0.0) -> Array:
        """The acceleration (3,) [m/s^2] of free fall at p (3,) [m] in the world, at the time t [s]."""
        d = p - as_array(self.centre)
        return -self.mu / (d @ d) ** 1.5 * d


@dataclass(frozen=True, eq=False)
class EarthGravity(Element):
    """The gravitation of the Earth on every body, in a world with inertial axes whose origin is the Earth's centre.

    Energy, force and torque are those of `pull`: the gravity gradient acts on long bodies, and energy and the angular
    momentum about the Earth's axis are conserved, with central gravity about its centre. The Earth does not move.
    With `gradient=False` of the Earth every body is pulled like a point at its centre of mass. The Sun and Moon, if the
    Earth says so, pull bodies as points; what they do is an inflow of the ledger.
    """

    name: str = "gravity"
    earth: Earth = field(default_factory=Earth)

    internal: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.earth, Earth):
            raise FieldError(f"earth={self.earth!r} must be a pt.Earth, such as pt.Earth(gravity='J2').", "earth")

    def effect(self, scene: Scene) -> Effect:
        planet, extent = Planet(self.earth.mu, RADIUS, self.earth.zonal), float(self.earth.gradient)
        wrenches: dict[str, Array] = {}
        stored, power = np.zeros(()), np.zeros(())
        for link, X in zip(scene.mechanism.links, scene.poses, strict=True):
            if link.inertia is None:
                continue
            m, c = link.inertia.mass, link.inertia.com
            p_B, z_B = X.R.T @ (X @ c), X.R[2]
            pulled = pull(planet, p_B, z_B, m, extent * link.inertia.moment)
            wrenches[link.name] = np.concatenate([pulled.torque + np.cross(c, pulled.force), pulled.force])
            stored = stored + pulled.energy
            if self.earth.pulls:
                f = X.R.T @ (m * self.earth.third_body_pull(X @ c, scene.t))
                F = np.concatenate([np.cross(c, f), f])
                wrenches[link.name] = wrenches[link.name] + F
                power = power + F @ scene[link.name].twist
            for gained, layer in gains(scene, link.name):  # mass gained at rho brings its energy along
                rho = layer.com - c
                dI = layer.moment + (rho @ rho) * np.eye(3) - np.outer(rho, rho)
                power = power + gained * (pull(planet, p_B, z_B, 1.0, extent * dI).energy - pulled.force @ rho / m)
        return Effect(wrenches, stored=stored, power=power)

    def field(self, p: Array, t: Any = 0.0) -> Array:
        """The acceleration (3,) [m/s^2] of free fall at p (3,) [m] in the world, at the time t [s]."""
        g = self.earth.gravitation(p)
        return g + self.earth.third_body_pull(p, t) if self.earth.pulls else g


def gravity_of(gravity: Any, earth: Earth | None) -> Array | CentralGravity | EarthGravity:
    """The gravity of a world; an error if there are two."""
    if earth is not None:
        if gravity is not None:
            raise FieldError(f"gravity={gravity!r} and earth={earth!r}: the Earth brings its own; give one.", "gravity")
        return EarthGravity(earth=earth)
    if isinstance(gravity, CentralGravity):
        return gravity
    if isinstance(gravity, Earth):
        raise FieldError("gravity is a pt.Earth; write pt.World(earth=...).", "gravity")
    uniform = as_numbers("gravity", (0.0, 0.0, -9.81) if gravity is None else gravity)
    if uniform.shape != (3,) or not np.all(np.isfinite(uniform)):
        raise ValueError(f"gravity must be three finite numbers [m/s^2] or a CentralGravity, not {uniform}.")
    return read_only(uniform)
