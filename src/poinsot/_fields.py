"""Annotations of the types of fields: the SI units of a number, the arguments of a function.

    stiffness: Annotated[float, "N/m"]
    kp: Annotated[ArrayLike, "N m/rad", "N/m"]                        where the joint decides
    load: Annotated[Callable[[Array], Any], Arguments("wrench")]

Scenario files, the units of results and the messages about wrong values follow from them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints


class Arguments(tuple[str, ...]):
    """The names of the arguments of a function that is a field, for formulas in scenario files."""

    def __new__(cls, *names: str) -> "Arguments":
        return super().__new__(cls, names)


@dataclass(frozen=True)
class FieldType:
    """The type of a field without annotations, its SI units, and the arguments of the function that it may be."""

    bare: Any
    units: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


@cache
def field_types(cls: Any) -> dict[str, FieldType]:
    """The types of the fields of a dataclass, by their names."""
    bare, annotated = _hints(cls, False), _hints(cls, True)
    types = {}
    for f in fields(cls):
        notes = list(_notes(annotated[f.name]))
        units = tuple(note for note in notes if isinstance(note, str))
        arguments = next((tuple(note) for note in notes if isinstance(note, Arguments)), ())
        types[f.name] = FieldType(bare[f.name], units, arguments)
    return types


def units_of(cls: Any) -> dict[str, tuple[str, ...]]:
    """The SI units of the fields of a dataclass that have some, by their names."""
    return {name: kind.units for name, kind in field_types(cls).items() if kind.units}


def _hints(cls: Any, annotated: bool) -> dict[str, Any]:
    try:
        return get_type_hints(cls, include_extras=annotated)
    except NameError:  # a name that only type checkers know
        return {f.name: f.type for f in fields(cls)}


def _notes(annotation: Any) -> Iterator[Any]:
    """The annotations of a type, and of the parts of a union."""
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    elif not isinstance(annotation, str):
        for part in get_args(annotation):
            yield from _notes(part)
