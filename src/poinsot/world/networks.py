"""Networks of point masses and springs as bodies and elements of a world."""

import numpy as np

from poinsot.mechanism import translation
from poinsot.particles import Particles, Springs
from poinsot.parts import Spring
from poinsot.parts.element import alike
from poinsot.spatial import Inertia
from poinsot.world.description import Body, check_name


def network(name: str, particles: Particles, springs: Springs | None) -> tuple[dict[str, Body], dict[str, Spring]]:
    """Point masses as bodies, called name0, name1, ..., and springs between them as elements, name_spring0, ..."""
    if particles.positions.ndim != 2:
        raise ValueError(f"one object, with positions (n, 3), can be added; got {particles.positions.shape}.")
    check_name("particles", name)
    masses = zip(particles.masses.tolist(), particles.positions, particles.velocities, strict=True)
    points = {m: Inertia(m, np.zeros(3), np.zeros((3, 3))) for m in dict.fromkeys(particles.masses.tolist())}
    joint = translation()
    bodies: dict[str, Body] = {}
    elements: dict[str, Spring] = {}
    for k, (m, x, v) in enumerate(masses):
        bodies[f"{name}{k}"] = Body(f"{name}{k}", points[m], joint=joint, position=x, velocity=v)
    if springs is not None:
        numbers = (springs.stiffness.tolist(), springs.rest_length.tolist(), springs.damping.tolist())
        for k, ((i, j), *own) in enumerate(zip(springs.pairs.tolist(), *numbers, strict=True)):
            values = (f"{name}_spring{k}", f"{name}{i}", f"{name}{j}", *own)
            fields = dict(zip(("name", "a", "b", "stiffness", "rest_length", "damping"), values, strict=True))
            if k == 0 or springs.tension is not None:
                first = elements[values[0]] = Spring(**fields, tension=springs.tension)
            else:  # `Springs` has checked the numbers of all
                elements[values[0]] = alike(first, **fields)
    return bodies, elements
