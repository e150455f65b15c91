"""Nested arguments and results: tuples, lists, dicts and dataclasses of arrays, flattened to lists of arrays."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, get_type_hints


def flatten(x: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The arrays in x (its leaves), and the function that rebuilds x with other leaves."""
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [field.name for field in dataclasses.fields(x) if field.init]
        cls = type(x)
        return _join([getattr(x, name) for name in names], lambda parts: cls(**dict(zip(names, parts, strict=True))))
    if isinstance(x, dict):
        return _join(list(x.values()), lambda parts: dict(zip(x, parts, strict=True)))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return _join(list(x), lambda parts: type(x)(*parts))
    if isinstance(x, (tuple, list)):
        return _join(list(x), type(x))
    return [x], lambda leaves: leaves[0]


def _join(children: list[Any], rebuild: Callable[[list[Any]], Any]) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    flat = [flatten(child) for child in children]

    def unflatten(leaves: Sequence[Any]) -> Any:
        parts, start = [], 0
        for child_leaves, child_rebuild in flat:
            parts.append(child_rebuild(leaves[start : start + len(child_leaves)]))
            start += len(child_leaves)
        return rebuild(parts)

    return [leaf for leaves, _ in flat for leaf in leaves], unflatten


def structure(x: Any) -> Any:
    """The nesting of x around its arrays: equal for values that `flatten` takes apart in the same way."""
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return type(x), *(structure(getattr(x, field.name)) for field in dataclasses.fields(x) if field.init)
    if isinstance(x, dict):
        return dict, *((key, structure(value)) for key, value in x.items())
    return (type(x), *map(structure, x)) if isinstance(x, (tuple, list)) else None


def unflatten(shape: Any, leaves: Sequence[Any]) -> Any:
    """The value of this structure with these arrays as leaves."""
    rest = iter(leaves)

    def make(shape: Any) -> Any:
        if shape is None:
            return next(rest)
        cls, *parts = shape
        if cls is dict:
            return {key: make(part) for key, part in parts}
        if dataclasses.is_dataclass(cls):
            names = [field.name for field in dataclasses.fields(cls) if field.init]
            values = {name: make(part) for name, part in zip(names, parts, strict=True)}
            return cls(**values)  # type: ignore[operator]
        return cls(*map(make, parts)) if hasattr(cls, "_fields") else cls(map(make, parts))

    return make(shape)


def in_order_of(like: Any, x: Any) -> Any:
    """x, its dicts ordered as those in `like`, which have the same keys."""
    if isinstance(like, dict) and isinstance(x, dict) and like.keys() == x.keys():
        return {key: in_order_of(value, x[key]) for key, value in like.items()}
    if isinstance(like, (tuple, list)) and isinstance(x, (tuple, list)) and len(like) == len(x):
        parts = map(in_order_of, like, x)
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    return x


def assemble(annotation: Any, leaves: Sequence[Any], start: int) -> tuple[Any, int]:
    """The argument of an annotated type, made from the leaves from `start` on, and where the next one starts."""
    if not (isinstance(annotation, type) and dataclasses.is_dataclass(annotation)):
        return leaves[start], start + 1
    hints, parts = get_type_hints(annotation), {}
    for field in dataclasses.fields(annotation):
        if field.init:
            parts[field.name], start = assemble(hints[field.name], leaves, start)
    return annotation(**parts), start
