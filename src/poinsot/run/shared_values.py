"""Values that are computed once for all objects that share their code."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from poinsot._memo import is_known, set_known

T = TypeVar("T")


class Shared(Generic[T]):
    """A cached property that belongs to the `original` of an object, and so to all that have the same one."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make, self.name, self.__doc__ = make, make.__name__, make.__doc__

    def __get__(self, instance: Any, owner: type) -> T:
        original = instance.original
        if not is_known(original, self.name):
            set_known(original, self.name, self.make(original))
        known: T = original.__dict__[self.name]
        return known
