"""The numbers of every instance, checked by the constructors before anything runs.

Within compiled code numbers are not known, so constructors cannot check them there. Here a description is made with the
numbers of single instances: of all of them, if they are some hundreds. Of more, those are tried that lie at an end of
what can be refused: the extremes of each number, of differences between numbers of one owner, of lengths, and the
moments that are the least physical, also after those of rotors are taken away. Whether every joint moves some mass is
tried at these extremes only; an instance whose joint does not breaks down at its first step, and is told of then.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import kernel
from poinsot.parts import Element
from poinsot.spatial import Inertia
from poinsot.spatial.arrays import as_array
from poinsot.spatial.physical import unphysical
from poinsot.world import Body, Description, System, paths

FEW = 512  # instances that are all tried
MANY = 2**16  # instances whose mass properties are computed together
FREE = ("q", "v", "position", "velocity", "angular_velocity")  # numbers of a body's start: all finite ones are possible


def require_possible(system: System, values: Mapping[str, Array], n: int | None, few: int = FEW) -> None:
    """An error that names the first instance whose numbers no body, joint or element can have.

    Up to a few instances are all tried, of more only those at the ends.
    """
    values = {path: x for path, x in values.items() if not _of_start(system.description, path, FREE)}
    if not values or n == 0:
        return
    varied = {path: np.shape(x) != np.shape(system.numbers[path]) for path, x in values.items()}
    paths_of_all = tuple(values)

    def numbers(k: int, of: Iterable[str] = paths_of_all) -> dict[str, Array]:
        return {path: values[path][k] if varied[path] else values[path] for path in of}

    @cache
    def refused(k: int, of: tuple[str, ...], whole: bool) -> bool:
        return _refusal(system, numbers(k, of), whole) is not None

    def sets(of: tuple[str, ...], m: Array) -> set[tuple[str, ...]]:
        """The numbers with which instances are tried that are last by a measure: with all, and alone. Those of a start
        are refused whatever the others are, so that an end with all tells of them."""
        ends = (int(np.argmin(m)), int(np.argmax(m)))
        start = all(".start." in path for path in of) and not any(refused(k, paths_of_all, False) for k in ends)
        return {paths_of_all} if start else {of, paths_of_all}

    many = (n or 1) > few
    first = None if many else next((k for k in range(n or 1) if refused(k, paths_of_all, False)), None)
    if first is None:
        measures = list(_measures(system, {path: x for path, x in values.items() if varied[path]}))
        if many:
            found = {k for of, m in measures for some in sets(of, m) for k in _offenders(m, some, refused)}
            first = min((k for k in found if refused(k, paths_of_all, False)), default=None)
        if first is None:
            ends = sorted({int(end(m)) for _, m in measures for end in (np.argmin, np.argmax)} or {0})
            whole = any(map(partial(_moves_mass, system.description), values))
            first = next((k for k in ends if refused(k, paths_of_all, whole)), None)
    if first is not None:
        _refuse(system, numbers(first), None if n is None else first)


def _of_start(description: Description, path: str, names: tuple[str, ...]) -> bool:
    """Whether the number at this path is one of these of a body."""
    name = path.rpartition(".")[2].partition("[")[0]
    return name in names and isinstance(paths.owner_of(description, path), Body) and path.count(".") == 1


def _moves_mass(description: Description, path: str) -> bool:
    """Whether the number at this path may change what a joint moves; that of an input, of a start, or of an element
    without mass does not."""
    owner = paths.owner_of(description, path)
    if isinstance(owner, Element) and not _has_mass(type(owner)):
        return False
    if _of_start(description, path, (*FREE, "orientation")):
        return False
    return not (isinstance(owner, Description) and path != "gravity") and ".start." not in path


def _has_mass(kind: type[Element]) -> bool:
    """Whether such elements add to the mass of bodies, as tanks do, or take from what joints move, as rotors do."""
    return kind.inertias is not Element.inertias or kind.decoupled is not Element.decoupled


def _offenders(measure: Array, of: tuple[str, ...], refused: Callable[..., bool]) -> Iterator[int]:
    """The first instance that is refused for a small measure (n,) of the numbers at these paths, and the first that is
    refused for a large one, each found by bisection."""
    for m in (measure, -measure):
        if refused(int(np.argmin(m)), of, False):
            order = np.argsort(m, kind="stable")
            low, high = 0, len(order)  # order[low] is refused; from `high` on they are not
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if refused(int(order[middle]), of, False) else (low, middle)
            yield from {int(order[:high].min()), int(order[0])}


def _refusal(system: System, numbers: Mapping[str, Array], whole: bool = True) -> ValueError | None:
    """Why a world cannot have these numbers, or None; `whole`: also because a joint moves no mass, which is slow."""
    try:
        description = paths.write(system.description, numbers)
        if any(_moves_mass(system.description, path) for path in numbers):
            description.mechanism() if whole else description.links()
        if any(".start." in path for path in numbers):
            description.started()
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


def _measures(system: System, values: Mapping[str, Array]) -> Iterator[tuple[tuple[str, ...], Array]]:
    """Measures (n,) of the instances, with the paths of their numbers: one that is refused is refused for the size of
    one of these."""
    for path, x in values.items():
        yield from (((path,), m) for m in x.reshape(len(x), -1).T)
        if x.ndim > 1:
            yield from (((path,), m) for m in np.linalg.norm(x, axis=-1).reshape(len(x), -1).T)
            yield from (((path,), m) for m in np.diff(x, axis=-1).reshape(len(x), -1).T)
    for (a, x), (b, y) in combinations(values.items(), 2):
        if ".start." in a:  # whose numbers are refused one by one
            continue
        if paths.owner_of(system.description, a) is paths.owner_of(system.description, b) and x.shape == y.shape:
            yield from (((a, b), m) for m in (x - y).reshape(len(x), -1).T)
    moving = {path: x for path, x in values.items() if _moves_mass(system.description, path)}
    for masses, moments in _mass_properties(system, moving):
        yield from ((tuple(values), m) for m in (masses, *unphysical(moments)))


def _mass_properties(system: System, values: Mapping[str, Array]) -> Iterator[tuple[Array, Array]]:
    """The masses (n,) and moments (n, 3, 3) of the links that the varied numbers change, whatever the way: by a shape,
    by an entry, by what elements add, or what rotors take away. Traced once, and evaluated for all instances."""
    if not values:
        return
    changed, find = _properties(system, tuple((path, x.shape[1:]) for path, x in values.items()))
    if changed:
        n = len(next(iter(values.values())))
        with np.errstate(all="ignore"):
            pieces = [find(*(x[k : k + MANY] for x in values.values())) for k in range(0, n, MANY)]
        masses, moments = (np.concatenate(x) for x in zip(*pieces, strict=True))
        moments[~np.isfinite(moments).all(axis=(-2, -1))] = -np.eye(3)
        yield from ((masses[:, k], moments[:, k]) for k in changed)


@memo
def _properties(system: System, cores: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[list[int], Any]:
    """The kernel of the mass properties of some links, and which of these the numbers at these paths, with their
    shapes, change."""
    description, changed = system.description, set[str]()
    for path, _ in cores:
        owner = paths.owner_of(description, path)
        changed |= (
            {owner.name} if isinstance(owner, Body) else set(owner.bodies()) if isinstance(owner, Element) else set()
        )

    def of(description: Description) -> list[Inertia]:
        return [k.inertia for k in description.links() if k.name in changed and k.inertia is not None]

    def properties(*numbers: Array) -> tuple[Array, Array]:
        values = {path: x for (path, _), x in zip(cores, numbers, strict=True)}
        inertias = of(paths.write(description, values))
        return np.stack([as_array(I.mass) for I in inertias]), np.stack([I.moment for I in inertias])

    count, text = len(of(description)), ",".join(f"({','.join(map(str, core))})" for _, core in cores)
    find = kernel(f"{text}->({count}),({count},3,3)")(properties).to("numpy")
    if not count:
        return [], find
    ends = np.array([node.op != "const" for node in find.program().graph.outputs])
    varies = np.column_stack([ends[:count], ends[count:].reshape(count, 9)]).any(axis=1)
    return np.flatnonzero(varies).tolist(), find
