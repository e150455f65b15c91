"""Worlds for learners: Gymnasium environments, and bridges with derivatives to torch and JAX."""

from poinsot.learn import bridge
from poinsot.learn.single_env import Env
from poinsot.learn.task import Task
from poinsot.learn.vector_env import VectorEnv

__all__ = ["Env", "Task", "VectorEnv", "bridge"]
