"""Networks of point masses and springs as bodies and elements of a world."""

from typing import TYPE_CHECKING

from poinsot.particles import Particles, Springs
from poinsot.parts import Spring

if TYPE_CHECKING:
    from poinsot.world.builder import World
    from poinsot.world.handles import BodyHandle


def add_network(world: "World", name: str, particles: Particles, springs: Springs | None) -> "list[BodyHandle]":
    """Add point masses and the springs between them to a world; see `World.add_particles`."""
    if particles.positions.ndim != 2:
        raise ValueError(f"one object, with positions (n, 3), can be added; got {particles.positions.shape}.")
    masses = zip(particles.masses, particles.positions, particles.velocities, strict=True)
    added = [world.add_particle(f"{name}{k}", float(m), x, v) for k, (m, x, v) in enumerate(masses)]
    if springs is not None:
        for k, ((i, j), *numbers) in enumerate(zip(springs.pairs, *springs.parameters, strict=True)):
            stiffness, rest_length, damping = map(float, numbers)
            ends = (f"{name}{i}", f"{name}{j}")
            world.add(Spring(f"{name}_spring{k}", *ends, stiffness, rest_length, damping, tension=springs.tension))
    return added
