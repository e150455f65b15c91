"""What may stand at a key of a scenario: numbers with units, arrays, formulas, tables over time. As types of pydantic.

Each reader turns what a TOML file says into what Poinsot takes, or raises an error that says what was expected.
"""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from poinsot._hints import hint
from poinsot.files.described import imported
from poinsot.files.expressions import Expression, Law
from poinsot.files.problems import shown
from poinsot.files.units import is_quantity, to_si, wanted
from poinsot.parts import Input, Tabulated

FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
NUMBER_OR_TEXT = [{"type": "number"}, {"type": "string"}]


@dataclass(frozen=True)
class Context:
    """What readers must know of the scenario around a key."""

    folder: Path = Path()
    constants: dict[str, float] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    allow_code: bool = False
    body: str = ""  # that formulas are of


class Table(BaseModel):
    """A table of a scenario: keys that it does not know are errors."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    def given(self) -> dict[str, Any]:
        """What the file says, key by key."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


def problem(text: str) -> PydanticCustomError:
    """An error of this text."""
    return PydanticCustomError("scenario", "{text}", {"text": text})


def _typed(read: Callable[[Any, Context], Any], expected: str, schema: dict[str, Any]) -> Any:
    """A type of pydantic: what `read` makes of a value, what is expected in words, and what a JSON schema says."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        try:
            return read(value, info.context or Context())
        except (ValueError, TypeError, KeyError) as error:
            raise problem(str(error).rstrip(".")) from None

    return Annotated[
        Any, BeforeValidator(validate), WithJsonSchema({**schema, "description": expected}), Field(description=expected)
    ]


# Numbers.


def number_of(value: Any, units: Sequence[str], infinite: bool = True) -> float:
    """A number in SI, from a number or a text with a unit."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"expected {wanted(units)}")
    number = to_si(value, units) if isinstance(value, str) else float(value)
    if np.isnan(number) or (np.isinf(number) and not infinite):
        raise ValueError("expected a finite number")
    return number


def number(*units: str, infinite: bool = False, positive: bool = False) -> Any:
    """One number, in SI or as text with one of these units."""

    def read(value: Any, _: Context) -> float:
        found = number_of(value, units, infinite)
        if positive and not found > 0:
            raise ValueError(f"must be above zero; expected {wanted(units)}")
        return found

    return _typed(read, wanted(units), {"anyOf": NUMBER_OR_TEXT})


def array_of(value: Any, units: Sequence[str]) -> Any:
    """A number, or an array of numbers from lists of them, in SI."""
    if not isinstance(value, list):
        return number_of(value, units)
    entries = []
    for k, item in enumerate(value):
        try:
            entries.append(array_of(item, units))
        except ValueError as error:
            raise ValueError(f"entry {k} is {shown(item)}: {error}" if value[1:] else str(error)) from None
    if len({np.shape(entry) for entry in entries}) > 1:
        raise ValueError("expected rows of the same length")
    return np.array(entries, dtype=float)


def array(*units: str, shape: tuple[int | None, ...] | None = None) -> Any:
    """Numbers in lists, or one; of this shape, if it is given, None for any length."""
    what = wanted(units) if shape is None else _lists(shape, units)

    def read(value: Any, _: Context) -> Any:
        found = array_of(value, units)
        if shape is not None and (
            np.ndim(found) != len(shape) or any(n not in (None, m) for n, m in zip(shape, np.shape(found), strict=True))
        ):
            raise ValueError(f"expected {what}")
        return found

    return _typed(read, what, {"anyOf": [*NUMBER_OR_TEXT, {"type": "array"}]})


def vector(*units: str) -> Any:
    """Three numbers."""
    return array(*units, shape=(3,))


WORDS = {2: "two", 3: "three", 4: "four"}


def _lists(shape: tuple[int | None, ...], units: Sequence[str]) -> str:
    unit = f" [{' or '.join(units)}]" if units and units != ("1",) else ""
    count = "some" if shape[-1] is None else WORDS.get(shape[-1], str(shape[-1]))
    if len(shape) == 1:
        return f"a list of {count} numbers{unit}"
    rows = "" if shape[0] is None else f"{WORDS.get(shape[0], shape[0])} "
    return f"a list of {rows}lists of {count} numbers{unit}"


# What may change with time and state.


def _is_formula(value: Any) -> bool:
    """Whether it is a text that is no number with a unit: a formula, or "module:function"."""
    return isinstance(value, str) and not is_quantity(value)


def _value(value: Any, units: Sequence[str], context: Context) -> Any:
    """A constant, a formula, {times, values}, {input, factor}, or "module:function"."""
    if isinstance(value, dict):
        return _table(value, units)
    if _is_formula(value):
        return _computed(value, context)
    if isinstance(value, list) and any(map(_is_formula, value)):
        texts = [x if _is_formula(x) else repr(number_of(x, units)) for x in value]
        return _formula(f"[{', '.join(texts)}]", context)
    return array_of(value, units)


def _computed(text: str, context: Context) -> Callable[..., Any]:
    return _code(text, context) if FUNCTION.fullmatch(text) else _formula(text, context)


def _formula(text: str, context: Context) -> Expression:
    inputs = tuple(name for name in context.inputs if _names(text, name))
    return Expression(text, _constants_in(text, context), inputs, context.body)


def _constants_in(text: str, context: Context) -> dict[str, float]:
    return {name: number for name, number in context.constants.items() if _names(text, name)}


def _names(text: str, name: str) -> bool:
    """Whether a formula names this."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _table(value: dict[str, Any], units: Sequence[str]) -> Any:
    if set(value) == {"times", "values"}:
        return Tabulated(array_of(value["times"], ("s",)), array_of(value["values"], units))
    if "input" in value and set(value) <= {"input", "factor"}:
        return Input(str(value["input"]), number_of(value.get("factor", 1.0), ()))
    raise ValueError('expected { times = [...], values = [...] } or { input = "name", factor = 1.0 }')


def _code(text: str, context: Context) -> Callable[..., Any]:
    """The function that "module:function" names, if code is allowed."""
    if not context.allow_code:
        raise ValueError("this names code, which a scenario may run only with --allow-code")
    sys.path.insert(0, str(context.folder.absolute()))  # modules beside the scenario come first
    try:
        found = imported(text)
    except Exception as error:  # whatever the module does when it is imported
        raise ValueError(f"it cannot be imported: {error}") from None
    finally:
        sys.path.remove(str(context.folder.absolute()))
    if not callable(found):
        module, _, name = text.partition(":")
        raise ValueError(f"{name!r} of module {module!r} is no function")
    return found


def value(*units: str) -> Any:
    """A constant, or what changes with time and state."""
    expected = f"{wanted(units)}, a formula, or a table over time"
    schema = {"anyOf": [*NUMBER_OR_TEXT, {"type": "array"}, {"type": "object"}]}
    return _typed(lambda x, context: _value(x, units, context), expected, schema)


def condition() -> Any:
    """A formula that becomes true, such as 'altitude("box") < 0'."""
    expected = "a formula, such as 'altitude(\"box\") < 0'"

    def read(value: Any, context: Context) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"expected {expected}")
        return _computed(value, context)

    return _typed(read, expected, {"type": "string"})


def law(arguments: tuple[str, ...], *units: str) -> Any:
    """A number, or a formula in these arguments, or "module:function"."""
    numbers = f"{wanted(units)}, or " if units else ""
    expected = f"{numbers}a formula in {', '.join(arguments)}"

    def read(value: Any, context: Context) -> Any:
        if isinstance(value, str) and FUNCTION.fullmatch(value):
            return _code(value, context)
        if _is_formula(value):
            return Law(value, arguments, _constants_in(value, context))
        if not units:
            raise ValueError(f"expected {expected}")
        return number_of(value, units)

    return _typed(read, expected, {"anyOf": NUMBER_OR_TEXT})


# Words.


def _taken(fits: Callable[[Any], bool], expected: str, schema: dict[str, Any]) -> Any:
    """A value that is taken as it stands, if it fits."""

    def read(value: Any, _: Context) -> Any:
        if not fits(value):
            raise ValueError(f"expected {expected}")
        return value

    return _typed(read, expected, schema)


def text(expected: str = "a text") -> Any:
    """A text."""
    return _taken(lambda x: isinstance(x, str), expected, {"type": "string"})


def name(example: str) -> Any:
    """The name of something."""
    return text(f'a name, such as "{example}"')


def flag() -> Any:
    """true or false."""
    return _taken(lambda x: isinstance(x, bool), "true or false", {"type": "boolean"})


def whole(least: int = 0) -> Any:
    """A whole number."""
    schema = {"type": "integer", "minimum": least}
    return _taken(lambda x: type(x) is int and x >= least, f"a whole number, {least} or more", schema)


def choice(*words: str) -> Any:
    """One of these words."""
    listed = ", ".join(f'"{word}"' for word in words)

    def read(value: Any, _: Context) -> str:
        if not isinstance(value, str) or value not in words:
            near = hint(value, words) if isinstance(value, str) else ""
            raise ValueError(f"expected one of {listed}{near}")
        return value

    return _typed(read, f"one of {listed}", {"enum": list(words)})


def names(expected: str = "a list of names") -> Any:
    """A list of texts."""

    def read(value: Any, _: Context) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise ValueError(f"expected {expected}")
        return tuple(value)

    return _typed(read, expected, {"type": "array", "items": {"type": "string"}})


def file(*suffixes: str) -> Any:
    """A file, beside the scenario."""
    expected = f"a file ({', '.join(suffixes)})" if suffixes else "a file"

    def read(value: Any, context: Context) -> Path:
        if not isinstance(value, str):
            raise ValueError(f"expected {expected}")
        path = context.folder / value
        if not path.is_file():
            raise ValueError(f"there is no file '{path}'")
        return path

    return _typed(read, expected, {"type": "string"})


def wrapped(model: type[Table], key: str, *types: type) -> Any:
    """A table, or a value of these types that stands for the table with this one key."""
    return Annotated[
        model,
        BeforeValidator(lambda x: {key: x} if isinstance(x, types) else x),
        Field(description=f"a table {{ {', '.join(model.model_fields)} }}"),
    ]
