"""The motion of particles: the differential equation (1), and steps of the Verlet scheme."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import kernel
from poinsot.particles.network import Network
from poinsot.particles.objects import Particles, weights
from poinsot.particles.springs import Springs, spring_forces
from poinsot.particles.vibration import stable_step
from poinsot.spatial.arrays import as_array

Forces: TypeAlias = ArrayLike | Callable[[float, Array, Array], ArrayLike] | None
"""External forces E (n, 3) [N] in W, or a function of t [s], x (n, 3) [m] and v (n, 3) [m/s] that returns them."""


@dataclass(frozen=True, eq=False)
class ParticleTrajectory:
    """Records of a motion: time (r,) [s], and the particles with positions and velocities (r, n, 3).

    `trajectory[k]` is the object at record k; `kinetic_energy(trajectory.particles)` has shape (r,), and so on.
    """

    time: Array
    particles: Particles

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, k: int) -> Particles:
        p = self.particles
        return Particles(p.masses, p.positions[k], p.velocities[k])


def total_forces(
    particles: Particles,
    springs: Springs | None = None,
    forces: Forces = None,
    gravity: ArrayLike | None = None,
    t: float = 0.0,
) -> Array:
    """F_i = E_i + sum_j I_ij [N], (..., n, 3) in W: springs, external forces and uniform gravity (3,) [m/s^2]."""
    F = np.zeros(particles.positions.shape) if springs is None else spring_forces(particles, springs)
    if forces is not None:
        F = F + as_array(forces(t, particles.positions, particles.velocities) if callable(forces) else forces)
    return F if gravity is None else F + weights(particles, gravity)


def derivative(
    particles: Particles,
    springs: Springs | None = None,
    forces: Forces = None,
    gravity: ArrayLike | None = None,
    t: float = 0.0,
) -> tuple[Array, Array]:
    """x_i' = v_i [m/s] and v_i' = (E_i + sum_j I_ij)/m_i [m/s^2], (..., n, 3) each in W. De Nivelle (1), Peskin (1)."""
    F = total_forces(particles, springs, forces, gravity, t)
    return particles.velocities, F / particles.masses[:, None]


def verlet(
    particles: Particles,
    step: float,
    springs: Springs | None = None,
    forces: Forces = None,
    gravity: ArrayLike | None = None,
    t: float = 0.0,
) -> Particles:
    """The object one step h [s] later: x + h v + h^2/2 a, and v + h/2 (a + a_new). Plain NumPy, traceable.

    Second order. Momentum and angular momentum are conserved to rounding. Without damping the scheme is symplectic and
    reversible, and its energy error stays bounded, for steps below 2/omega_max (`stable_step`). Forces that depend on
    velocity use the predicted velocity v + h a: Groot and Warren, J. Chem. Phys. 107 (1997), with lambda = 1.
    """
    v, a = derivative(particles, springs, forces, gravity, t)
    x = particles.positions + step * (v + 0.5 * step * a)
    predicted = Particles(particles.masses, x, v + step * a)
    _, a_new = derivative(predicted, springs, forces, gravity, t + step)
    return Particles(particles.masses, x, v + 0.5 * step * (a + a_new))


@kernel("(),(),(),(),()->(),()")
def _leap(x: Array, u: Array, F: Array, h_over_m: Array, h: Array) -> tuple[Array, Array]:
    """Verlet as a leapfrog, per component: u is the velocity half a step before x, on return before the new x."""
    u = u + h_over_m * F
    return x + h * u, u


@kernel("(),(),(),(),()->(),(),()")
def _leap_and_predict(x: Array, u: Array, F: Array, h_over_m: Array, h: Array) -> tuple[Array, Array, Array]:
    """The same, with a prediction of the velocity at the new x."""
    dv = h_over_m * F
    u = u + dv
    return x + h * u, u, u + 0.5 * dv


class Stepper:
    """Steps one object by `verlet`, for networks of any size: `advance` it, and read its `time` and `particles`.

    The spring forces come from a `Network`, and are computed once per step: the next step starts from those at the
    predicted velocities.
    """

    def __init__(
        self,
        particles: Particles,
        springs: Springs | None = None,
        *,
        step: float,
        forces: Forces = None,
        gravity: ArrayLike | None = None,
        start: float = 0.0,
    ) -> None:
        if particles.positions.ndim != 2:
            raise ValueError(f"a Stepper takes one object, with positions (n, 3); got {particles.positions.shape}.")
        if not step > 0:
            raise ValueError(f"step must be positive [s]; got {step}.")
        self.step, self.start, self.steps = step, start, 0
        self._object, self._springs = particles, springs
        self._function = forces if callable(forces) else None
        n = len(particles)
        network = Network(springs or Springs(np.zeros((0, 2), int), np.zeros(0), np.zeros(0)), n)
        self._x, self._v, self._u, self._F, self._E, self._h_over_m = (network.zeros() for _ in range(6))
        self._x[:, :3], self._v[:, :3] = particles.positions, particles.velocities
        self._E[:, :3] = total_forces(particles, None, None if callable(forces) else forces, gravity)
        self._h_over_m[:] = (step / particles.masses)[:, None]
        self._add_springs = network.adding(self._F, self._x, self._v)
        x, v, u, F, h_over_m = (a.reshape(-1) for a in (self._x, self._v, self._u, self._F, self._h_over_m))
        needs_velocity = network.damped or callable(forces)
        self._leap = _leap_and_predict if needs_velocity else _leap
        self._arguments, self._out = (x, u, F, h_over_m, float(step)), (x, u, v) if needs_velocity else (x, u)
        self._update_forces()
        self._u -= 0.5 * self._h_over_m * self._F
        self._u[:, :3] += particles.velocities

    @property
    def time(self) -> float:
        """The time [s] after the steps so far."""
        return self.start + self.steps * self.step

    @property
    def particles(self) -> Particles:
        """The object at the present time."""
        v = self._u + 0.5 * self._h_over_m * self._F
        return Particles(self._object.masses, self._x[:, :3].copy(), v[:, :3])

    def advance(self, steps: int = 1) -> None:
        """Advance by a number of steps."""
        with np.errstate(all="ignore"):
            for _ in range(steps):
                self._leap(*self._arguments, out=self._out)
                self.steps += 1
                self._update_forces()
        if not np.isfinite(self._F).all():
            raise FloatingPointError(_too_long(self._object, self._springs, self.step, self.time))

    def _update_forces(self) -> None:
        np.copyto(self._F, self._E)
        self._add_springs()
        if self._function is not None:
            x, v = self._x[:, :3], self._v[:, :3]
            for view in (x, v):
                view.setflags(write=False)
            self._F[:, :3] += as_array(self._function(self.time, x, v))


def simulate(
    particles: Particles,
    springs: Springs | None = None,
    *,
    step: float,
    steps: int,
    forces: Forces = None,
    gravity: ArrayLike | None = None,
    every: int = 1,
    start: float = 0.0,
) -> ParticleTrajectory:
    """`steps` steps of `verlet` of `step` seconds each, from the time `start` on; every `every`-th one is recorded."""
    if not (steps >= 0 and every >= 1):
        raise ValueError(f"steps {steps} must be zero or more, and every {every} at least one.")
    stepper = Stepper(particles, springs, step=step, forces=forces, gravity=gravity, start=start)
    times, records = [start], [particles]
    for _ in range(steps // every):
        stepper.advance(every)
        times.append(stepper.time)
        records.append(stepper.particles)
    x, v = (np.stack([getattr(p, name) for p in records]) for name in ("positions", "velocities"))
    return ParticleTrajectory(np.array(times), Particles(particles.masses, x, v))


def _too_long(particles: Particles, springs: Springs | None, step: float, t: float) -> str:
    limit = np.inf if springs is None else stable_step(particles, springs)
    hint = f" The springs are stiff: they need a step below {limit:.3g} s." if step > limit else ""
    return f"the motion has diverged before t = {t:.6g} s, with steps of {step:.3g} s.{hint}"
