"""Point masses and springs: general objects, as de Nivelle sections 2 and 3 and Peskin (1)-(20) describe them."""

from poinsot.particles.attraction import G, gravitation
from poinsot.particles.internal import central_forces, internal_forces
from poinsot.particles.leapfrog import ParticleTrajectory, Stepper, derivative, simulate, total_forces, verlet
from poinsot.particles.network import Network
from poinsot.particles.objects import (
    Particles,
    angular_momentum,
    angular_momentum_rate,
    centre_of_mass,
    centre_velocity,
    kinetic_energy,
    momentum,
    torque,
    total_mass,
    weights,
)
from poinsot.particles.rigid import RigidSpeed, rigid_speed_function
from poinsot.particles.springs import Springs, dissipation, lengths, rates, spring_energy, spring_forces, tensions
from poinsot.particles.vibration import natural_frequencies, stable_step

__all__ = [
    "G",
    "Network",
    "ParticleTrajectory",
    "Particles",
    "RigidSpeed",
    "Springs",
    "Stepper",
    "angular_momentum",
    "angular_momentum_rate",
    "central_forces",
    "centre_of_mass",
    "centre_velocity",
    "derivative",
    "dissipation",
    "gravitation",
    "internal_forces",
    "kinetic_energy",
    "lengths",
    "momentum",
    "natural_frequencies",
    "rates",
    "rigid_speed_function",
    "simulate",
    "spring_energy",
    "spring_forces",
    "stable_step",
    "tensions",
    "torque",
    "total_forces",
    "total_mass",
    "verlet",
    "weights",
]
