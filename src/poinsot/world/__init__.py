"""Bodies, joints, parts and environment put together: one state function."""

from poinsot.world.description import Body, Description
from poinsot.world.system import Motion, State, System
from poinsot.world.world import BodyInWorld, World

__all__ = ["Body", "BodyInWorld", "Description", "Motion", "State", "System", "World"]
