"""Bodies, joints, parts and environment put together: one state function."""

from poinsot.world.builder import BodyInWorld, World
from poinsot.world.description import Body, Description
from poinsot.world.system import Motion, State, System

__all__ = ["Body", "BodyInWorld", "Description", "Motion", "State", "System", "World"]
