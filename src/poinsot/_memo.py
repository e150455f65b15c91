"""Remembered results: the one way in which Poinsot computes a thing once and keeps it."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Owner = TypeVar("Owner")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def memo(
    function: Callable[Concatenate[Owner, Rest], Result],
) -> Callable[Concatenate[Owner, Rest], Result]:
    """Compute f(owner, *key) once for each owner and key, and forget it together with the owner.

    The owner is told by identity and held weakly, so it must be an object that hashes by identity (a frozen dataclass
    with eq=False); the other arguments are positional and hashable. For a value without a key, that belongs to a class,
    use `functools.cached_property`.
    """
    results: WeakKeyDictionary[Any, dict[Hashable, Result]] = WeakKeyDictionary()

    @wraps(function)
    def remembered(owner: Owner, *key: Rest.args, **named: Rest.kwargs) -> Result:
        known = results.setdefault(owner, {})
        place = (key, tuple(sorted(named.items())))
        if place not in known:
            known[place] = function(owner, *key, **named)
        return known[place]

    return remembered
