"""The numbers of every instance, checked by the constructors before anything runs.

Within compiled code numbers are not known, so constructors cannot check them there. Here a description is made with the
numbers of single instances. For many, only those are tried that lie at an end of what can be refused: the extremes of
each number, of differences between numbers of one owner, of lengths, and the moments that are the least physical.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.spatial.physical import unphysical
from poinsot.world import System, paths

FEW = 64  # instances that are all tried


def require_possible(system: System, values: Mapping[str, Array], n: int | None) -> None:
    """An error that names the first instance whose numbers no body, joint or element can have."""
    if not values or n == 0:
        return
    varied = {path: np.shape(x) != np.shape(system.numbers[path]) for path, x in values.items()}

    def numbers(k: int) -> dict[str, Array]:
        return {path: x[k] if varied[path] else x for path, x in values.items()}

    @cache
    def refused(k: int) -> bool:
        return _refusal(system, numbers(k)) is not None

    if (n or 1) <= FEW:
        first = next((k for k in range(n or 1) if refused(k)), None)
    else:
        measures = _measures(system, {path: x for path, x in values.items() if varied[path]})
        first = min((k for m in measures for k in _offenders(m, refused)), default=None)
    if first is not None:
        _refuse(system, numbers(first), None if n is None else first)


def _offenders(measure: Array, refused: Callable[[int], bool]) -> Iterator[int]:
    """The first instance that is refused for a small measure (n,), and for a large one, each found by bisection."""
    for m in (measure, -measure):
        if refused(int(np.argmin(m))):
            order = np.argsort(m, kind="stable")
            low, high = 0, len(order)  # order[low] is refused; from `high` on they are not
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if refused(int(order[middle])) else (low, middle)
            yield int(order[:high].min()) if refused(int(order[:high].min())) else int(order[0])


def _refusal(system: System, numbers: Mapping[str, Array]) -> ValueError | None:
    """Why a world cannot have these numbers, or None."""
    try:
        paths.write(system.description, numbers).mechanism()
    except ValueError as error:
        return error
    return None


def _refuse(system: System, numbers: Mapping[str, Array], k: int | None) -> None:
    """Raise the error for an instance; it names the number that is refused on its own, or all that are together."""
    alone = [path for path, x in numbers.items() if _refusal(system, {path: x}) is not None]
    named = {path: numbers[path] for path in (alone[:1] or numbers)}
    error = _refusal(system, named) or _refusal(system, numbers)
    what = ", ".join(f"{path} = {np.asarray(x).tolist()}" for path, x in named.items())
    where = "" if k is None else f" of instance {k}"
    field, owner = (error.field, error.owner) if isinstance(error, FieldError) else ("", "")
    raise FieldError(f"{what}{where} cannot be: {error}", field, owner) from error


def _measures(system: System, values: Mapping[str, Array]) -> Iterator[Array]:
    """Measures (n,) of the instances: one that is refused is refused for the size of one of these."""
    for x in values.values():
        yield from x.reshape(len(x), -1).T
        if x.ndim > 1:
            yield from np.linalg.norm(x, axis=-1).reshape(len(x), -1).T
            yield from np.diff(x, axis=-1).reshape(len(x), -1).T
    for (a, x), (b, y) in combinations(values.items(), 2):
        if paths.owner_of(system.description, a) is paths.owner_of(system.description, b) and x.shape == y.shape:
            yield from (x - y).reshape(len(x), -1).T
    for moments in _moments(system, values):
        yield from unphysical(moments)


def _moments(system: System, values: Mapping[str, Array]) -> Iterator[Array]:
    """The moments (n, 3, 3) of the bodies for which they, or entries of them, are varied."""
    heads = {path.split("[")[0] for path in values if path.split("[")[0].endswith(".moment")}
    for head in sorted(heads):
        own = {path: x for path, x in values.items() if path.split("[")[0] == head}
        n = len(next(iter(own.values())))
        moment = np.array(
            own[head] if head in own else np.broadcast_to(paths.read(system.description, head), (n, 3, 3))
        )
        for path, x in own.items():
            for at in paths.places(path):
                np.moveaxis(moment, 0, -1)[at] = x.T
        yield moment
