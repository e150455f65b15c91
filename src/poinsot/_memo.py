"""Remembered results: the one way in which Poinsot computes a thing once and keeps it."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


MEMORY = "_remembered"  # the attribute of an owner that holds its results


class Remembered(dict[Hashable, Any]):
    """The results that belong to one object. Pickles and deep copies of the object start with an empty one."""

    def __reduce__(self) -> tuple[type["Remembered"], tuple[()]]:
        return Remembered, ()


def memo(
    function: Callable[Concatenate[Owner, Rest], Result],
) -> Callable[Concatenate[Owner, Rest], Result]:
    """Compute f(owner, *key) once for each owner and key, and forget it together with the owner.

    The results are kept on the owner, so they may refer to it; it must not change (a frozen dataclass, or a class). The
    other arguments are hashable. For a value without a key, that belongs to a class, use `functools.cached_property`.
    """

    @wraps(function)
    def remembered(owner: Owner, /, *key: Rest.args, **named: Rest.kwargs) -> Result:
        known = owner.__dict__.get(MEMORY)
        if known is None:
            known = Remembered()
            (type if isinstance(owner, type) else object).__setattr__(owner, MEMORY, known)  # frozen, maybe
        place = (function, key, tuple(sorted(named.items())))
        if place not in known:
            known[place] = function(owner, *key, **named)
        result: Result = known[place]
        return result

    return remembered


def is_known(owner: object, name: str) -> bool:
    """Whether a cached property has been computed or set."""
    return name in owner.__dict__


def set_known(owner: object, name: str, value: Any) -> None:
    """Set a cached property, also of a frozen object, to a value that is known already."""
    owner.__dict__[name] = value
