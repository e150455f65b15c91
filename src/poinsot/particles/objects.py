"""An object O = (m, x, v), a collection of point masses: its momenta and energy, whatever the internal forces are."""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.spatial.arrays import as_array, cross, dot


@dataclass(frozen=True, eq=False)
class Particles:
    """O = (m, x, v), de Nivelle definition 3.1: n point masses in one inertial frame W.

    masses (n,) [kg], positions (..., n, 3) [m] and velocities (..., n, 3) [m/s] along the axes of W. A batch shape in
    front, for example the instants of a motion, is also in front of the shape of every sum below.
    """

    masses: Array
    positions: Array
    velocities: Array = (0.0, 0.0, 0.0)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        m, x, v = (_floats(a) for a in (self.masses, self.positions, self.velocities))
        if m.ndim != 1 or not m.size:
            raise ValueError(f"masses must have shape (n,) with n > 0 [kg]; got {m.shape}.")
        if x.shape[-2:] != (m.size, 3):
            raise ValueError(f"positions of {m.size} masses must have shape (..., {m.size}, 3) [m]; got {x.shape}.")
        if v.shape[-1:] != (3,) or (v.ndim > 1 and v.shape[-2] not in (1, m.size)):
            raise ValueError(f"velocities of {m.size} masses must have shape (..., {m.size}, 3) [m/s]; got {v.shape}.")
        shape = np.broadcast_shapes(x.shape, v.shape)
        x, v = (a if a.shape == shape else np.broadcast_to(a, shape) for a in (x, v))
        if not is_traced(m) and not (np.isfinite(m) & (m > 0)).all():
            k = int(np.argmin(np.isfinite(m) & (m > 0)))
            raise ValueError(
                f"mass {k} is {m[k]} kg; a mass must be positive and finite. A fixed point is not "
                "part of the object: let its force be external."
            )
        for name, a in (("positions", x), ("velocities", v)):
            if not is_traced(a) and not np.isfinite(a).all():
                where = tuple(np.argwhere(~np.isfinite(a))[0].tolist())
                raise ValueError(f"{name}[{', '.join(map(str, where))}] is {a[where]}, which is not a finite number.")
        for name, a in (("masses", m), ("positions", x), ("velocities", v)):
            object.__setattr__(self, name, a)

    def __len__(self) -> int:
        """The number n of point masses."""
        return int(self.masses.shape[0])


def total_mass(particles: Particles) -> float:
    """m_O = sum m_i [kg]. Peskin (4), de Nivelle definition 3.3."""
    return np.sum(particles.masses)


def centre_of_mass(particles: Particles) -> Array:
    """C_O = sum m_i x_i / m_O [m], (..., 3) in W. Peskin (5)."""
    return particles.masses @ particles.positions / total_mass(particles)


def centre_velocity(particles: Particles) -> Array:
    """V_O = sum m_i v_i / m_O [m/s], (..., 3) in W, the average speed of de Nivelle. Peskin (6)."""
    return momentum(particles) / total_mass(particles)


def momentum(particles: Particles) -> Array:
    """P = sum m_i v_i [kg m/s], (..., 3) in W."""
    return particles.masses @ particles.velocities


def kinetic_energy(particles: Particles) -> Array:
    """sum m_i |v_i|^2 / 2 [J], shape (...)."""
    v = particles.velocities
    return 0.5 * np.sum(particles.masses * dot(v, v), axis=-1)


def angular_momentum(particles: Particles, about: ArrayLike | None = None) -> Array:
    """L(c) = sum m_i (x_i - c) x v_i [kg m^2/s], (..., 3) in W. De Nivelle definition 3.5.

    c = `about` (..., 3) [m] is any point, fixed or moving; without it the centre of mass, as in Peskin (10), (20). The
    velocities are those in W even if c moves: `angular_momentum_rate` has the term that follows.
    """
    p = particles.masses[:, None] * particles.velocities
    return np.sum(cross(_arms(particles, about), p), axis=-2)


def torque(particles: Particles, forces: ArrayLike, about: ArrayLike | None = None) -> Array:
    """tau_c(E) = sum (x_i - c) x E_i [N m], (..., 3) in W, of forces E (..., n, 3) [N]. De Nivelle definition 3.6.

    c = `about` (..., 3) [m]; without it the centre of mass, Peskin (16).
    """
    return np.sum(cross(_arms(particles, about), forces), axis=-2)


def angular_momentum_rate(
    particles: Particles, forces: ArrayLike, about: ArrayLike | None = None, about_velocity: ArrayLike = (0.0, 0.0, 0.0)
) -> Array:
    """dL(c)/dt = tau_c(E) - c' x P [N m], (..., 3) in W, for external forces E (..., n, 3) [N].

    For a fixed point it is the torque, de Nivelle theorem 3.9. A point that moves with the velocity c' =
    `about_velocity` [m/s] adds the second term. It vanishes if c moves parallel to the momentum P, as the centre of
    mass does, which is the default: Peskin (19).
    """
    tau = torque(particles, forces, about)
    return tau if about is None else tau - cross(about_velocity, momentum(particles))


def weights(particles: Particles, gravity: ArrayLike) -> Array:
    """E_i = m_i g [N], (n, 3) in W, for uniform gravity g (3,) [m/s^2]. De Nivelle theorem 3.10."""
    return particles.masses[:, None] * as_array(gravity)


def _arms(particles: Particles, about: ArrayLike | None) -> Array:
    """x_i - c, (..., n, 3)."""
    c = centre_of_mass(particles) if about is None else as_array(about)
    return particles.positions - c[..., None, :]


def _floats(a: ArrayLike) -> Array:
    a = as_array(a)
    return a if is_traced(a) else np.asarray(a, dtype=float)
