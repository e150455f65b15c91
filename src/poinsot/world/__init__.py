"""Bodies, joints, parts and environment put together: one state function."""

from poinsot.world.builder import World
from poinsot.world.description import Body, Description
from poinsot.world.flight_start import Start
from poinsot.world.handles import BodyHandle
from poinsot.world.instants import Motion, State
from poinsot.world.orbit import Orbit
from poinsot.world.system import System

__all__ = ["Body", "BodyHandle", "Description", "Motion", "Orbit", "Start", "State", "System", "World"]
