"""The values that a key of a scenario may have, as types of pydantic: numbers with units, arrays, words, files.

Each reader converts a TOML value into what Poinsot takes, or raises an error that says what was expected. `computed`
has those of values that may change with time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from poinsot._hints import hint
from poinsot.files.problems import shown
from poinsot.files.size_limits import ARRAY_DEPTH
from poinsot.files.units import to_si, wanted

KeyType: TypeAlias = Any
"""The type of a key, as pydantic takes it."""

NUMBER_OR_TEXT = [{"type": "number"}, {"type": "string"}]


@dataclass(frozen=True)
class Context:
    """The scenario around a key, as far as readers need it."""

    folder: Path = Path()
    constants: dict[str, float] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    allow_code: bool = False
    body: str = ""  # whose quantities formulas name without brackets
    tables: Mapping[str, Any] = field(default_factory=dict)  # that formulas may call


class ScenarioTable(BaseModel):
    """A table of a scenario: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)  # many are never used

    def entries(self) -> dict[str, Any]:
        """The keys that stand in the file, with their values."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


def problem(text: str) -> PydanticCustomError:
    """An error of this text."""
    return PydanticCustomError("scenario", "{text}", {"text": text})


def typed(read: Callable[[object, Context], Any], expected: str, schema: dict[str, Any]) -> KeyType:
    """A type of pydantic: a reader of values, what it expects in words, and its JSON schema."""

    def validate(value: object, info: ValidationInfo) -> Any:
        try:
            return read(value, info.context or Context())
        except (ValueError, TypeError, KeyError) as error:
            raise problem(str(error).rstrip(".")) from None

    return Annotated[
        Any, BeforeValidator(validate), WithJsonSchema({**schema, "description": expected}), Field(description=expected)
    ]


# Numbers.


def number_of(value: object, units: Sequence[str], infinite: bool = True) -> float:
    """A number in SI, from a number or a text with a unit."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"expected {wanted(units)}")
    try:
        number = to_si(value, units) if isinstance(value, str) else float(value)
    except OverflowError:
        raise ValueError(f"the number is too large; expected {wanted(units)}") from None
    if np.isnan(number) or (np.isinf(number) and not infinite):
        raise ValueError("expected a finite number")
    return number


def number(*units: str, infinite: bool = False, positive: bool = False) -> KeyType:
    """One number, in SI or as text with one of these units."""

    def read(value: object, _: Context) -> float:
        x = number_of(value, units, infinite)
        if positive and not x > 0:
            raise ValueError(f"must be above zero; expected {wanted(units)}")
        return x

    return typed(read, wanted(units), {"anyOf": NUMBER_OR_TEXT})


def array_of(value: object, units: Sequence[str], depth: int = 0) -> Any:
    """A number, or an array of numbers from lists of them, in SI."""
    if not isinstance(value, list):
        return number_of(value, units)
    if depth >= ARRAY_DEPTH:
        raise ValueError(f"lists are nested too deeply; the limit is {ARRAY_DEPTH}")
    entries = []
    for k, item in enumerate(value):
        try:
            entries.append(array_of(item, units, depth + 1))
        except ValueError as error:
            raise ValueError(f"entry {k} is {shown(item)}: {error}" if value[1:] else str(error)) from None
    if len({np.shape(entry) for entry in entries}) > 1:
        raise ValueError("expected lists of the same length")
    return np.array(entries, dtype=float)


def array(*units: str, shape: tuple[int | None, ...] | None = None) -> KeyType:
    """One number, or lists of them; if a shape is given, of that shape, None being any length."""
    what = wanted(units) if shape is None else _lists(shape, units)

    def read(value: object, _: Context) -> Any:
        x = array_of(value, units)
        if shape is not None and (
            np.ndim(x) != len(shape) or any(n not in (None, m) for n, m in zip(shape, np.shape(x), strict=True))
        ):
            raise ValueError(f"expected {what}")
        return x

    return typed(read, what, {"anyOf": [*NUMBER_OR_TEXT, {"type": "array"}]})


def vector(*units: str) -> KeyType:
    """Three numbers."""
    return array(*units, shape=(3,))


CAMERA = {"kind": None, "body": None, "other": None, "azimuth": ("rad",), "elevation": ("rad",), "distance": ("m",)}


def camera() -> KeyType:
    """The words of a camera, a direction to look from, or a table with a kind, a body, angles and a distance."""
    what = 'a camera, such as "chase", "orbit wing", "wing from fuselage", or a direction of three numbers to look from'
    what += ', or a table such as { kind = "chase", body = "wing", distance = "30 m", elevation = "20 deg" }'

    def table(value: dict[str, Any]) -> dict[str, Any]:
        if unknown := [key for key in value if key not in CAMERA]:
            raise ValueError(f"{unknown[0]!r} is no key of a camera{hint(unknown[0], CAMERA)}; expected {what}")
        if not isinstance(value.get("kind"), str):
            raise ValueError(f"a camera that is a table has a kind; expected {what}")
        words = [key for key in ("body", "other") if key in value and not isinstance(value[key], str)]
        if words:
            raise ValueError(f"the {words[0]} of a camera is the name of a body")
        return {k: v if (units := CAMERA[k]) is None else number_of(v, units, False) for k, v in value.items()}

    def read(value: object, _: Context) -> Any:
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            return table(value)
        x = array_of(value, ("1",))
        if np.shape(x) != (3,) or not np.all(np.isfinite(x)) or not np.any(x):
            raise ValueError(f"expected {what}")
        return x

    return typed(read, what, {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "object"}]})


WORDS = {2: "two", 3: "three", 4: "four"}


def _lists(shape: tuple[int | None, ...], units: Sequence[str]) -> str:
    unit = f" [{' or '.join(units)}]" if units and units != ("1",) else ""
    count = "some" if shape[-1] is None else WORDS.get(shape[-1], str(shape[-1]))
    if len(shape) == 1:
        return f"a list of {count} numbers{unit}"
    lists = "" if shape[0] is None else f"{WORDS.get(shape[0], shape[0])} "
    return f"a list of {lists}lists of {count} numbers{unit}"


# Words.


def _taken(fits: Callable[[object], bool], expected: str, schema: dict[str, Any]) -> KeyType:
    """A value that is taken as it is, if it fits."""

    def read(value: object, _: Context) -> Any:
        if not fits(value):
            raise ValueError(f"expected {expected}")
        return value

    return typed(read, expected, schema)


def text(expected: str = "a text") -> KeyType:
    """A text."""
    return _taken(lambda x: isinstance(x, str), expected, {"type": "string"})


def name(example: str) -> KeyType:
    """The name of something."""
    return text(f'a name, such as "{example}"')


def flag() -> KeyType:
    """true or false."""
    return _taken(lambda x: isinstance(x, bool), "true or false", {"type": "boolean"})


def whole(least: int = 0, most: int = 2**53) -> KeyType:
    """A whole number."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    expected = f"a whole number, {least} or more" if most == 2**53 else f"a whole number from {least} to {most:,}"
    return _taken(lambda x: type(x) is int and least <= x <= most, expected, schema)


def choice(*words: str) -> KeyType:
    """One of these words."""
    listed = ", ".join(f'"{word}"' for word in words)

    def read(value: object, _: Context) -> str:
        if not isinstance(value, str) or value not in words:
            near = hint(value, words) if isinstance(value, str) else ""
            raise ValueError(f"expected one of {listed}{near}")
        return value

    return typed(read, f"one of {listed}", {"enum": list(words)})


def names(expected: str = "a list of names") -> KeyType:
    """A list of texts."""

    def read(value: object, _: Context) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise ValueError(f"expected {expected}")
        return tuple(value)

    return typed(read, expected, {"type": "array", "items": {"type": "string"}})


def file(*suffixes: str) -> KeyType:
    """A file, beside the scenario."""
    expected = f"a file ({', '.join(suffixes)})" if suffixes else "a file"

    def read(value: object, context: Context) -> Path:
        if not isinstance(value, str):
            raise ValueError(f"expected {expected}")
        path = context.folder / value
        try:
            is_there = path.is_file()
        except OSError:  # such as a name that is too long
            is_there = False
        if not is_there:
            raise ValueError(f"there is no file '{path}'")
        return path

    return typed(read, expected, {"type": "string"})


def one_or_more(model: type[ScenarioTable]) -> KeyType:
    """A list of tables, or one alone."""
    return Annotated[
        list[model],  # type: ignore[valid-type]
        BeforeValidator(lambda x: [x] if isinstance(x, dict) else x),
        Field(description=f"a table {{ {', '.join(model.model_fields)} }}, or a list of them"),
    ]


def wrapped(model: type[ScenarioTable], key: str, *types: type) -> KeyType:
    """A table, or a value of these types that stands for the table with this one key."""
    return Annotated[
        model,
        BeforeValidator(lambda x: {key: x} if isinstance(x, types) else x),
        Field(description=f"a table {{ {', '.join(model.model_fields)} }}"),
    ]
