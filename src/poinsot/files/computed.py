"""Readers of values that may change with time and state: formulas, tables over time, inputs, functions of modules."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from poinsot._hints import hint
from poinsot.files.described import imported
from poinsot.files.expressions import Expression, Law
from poinsot.files.readers import NUMBER_OR_TEXT, Context, KeyType, array_of, number_of, typed
from poinsot.files.units import is_quantity, wanted
from poinsot.fuse import Table
from poinsot.parts import Input, Signal, Tabulated

SIGNAL = re.compile(r"[^\W\d_]\w*(\.[^\W\d_]\w*)+(\[\d+\])*")  # law.out, wing.position[2]
FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def _is_formula(value: object) -> TypeGuard[str]:
    """Whether it is a text other than a number with a unit: a formula, or "module:function"."""
    return isinstance(value, str) and not is_quantity(value)


def value_in(value: object, units: Sequence[str], context: Context) -> Any:
    """A constant, a formula, {times, values}, {input, factor}, {signal, factor}, or "module:function"."""
    if isinstance(value, dict):
        text = look_up(value, context)
        return _formula(text, context) if text else _table(value, units)
    if _is_formula(value):
        return Signal(value) if SIGNAL.fullmatch(value) else _computed(value, context)
    text = _listed(value, units)
    return _formula(text, context) if text else array_of(value, units)


def _listed(value: object, units: Sequence[str]) -> str:
    """The formula of a list that has formulas in it; "" if it has none."""
    if not isinstance(value, list) or not any(map(_is_formula, value)):
        return ""
    return f"[{', '.join(x if _is_formula(x) else repr(number_of(x, units)) for x in value)}]"


def look_up(value: object, context: Context) -> str:
    """{ table = "CL" } as a formula, a [[table]] of what its axes are called; "" if it is something else."""
    if not isinstance(value, dict) or set(value) != {"table"}:
        return ""
    return str(_table_called(value["table"], context).formula(value["table"]))


def _table_called(name: object, context: Context) -> Any:
    if name not in context.tables:
        raise ValueError(f"there is no table {name!r}{hint(str(name), context.tables) or '; write it as a [[table]]'}")
    return context.tables[str(name)]


def grid() -> KeyType:
    """A [[table]] itself, by its name."""
    expected = 'a table, such as { table = "CT" }'

    def read(value: object, context: Context) -> Table:
        if not isinstance(value, dict) or set(value) != {"table"}:
            raise ValueError(f"expected {expected}")
        table: Table = _table_called(value["table"], context).table
        return table

    return typed(read, expected, {"type": "object"})


def along(argument: str, *units: str) -> KeyType:
    """A number, two of them, at the ends, or a formula in a distance."""
    expected = f"{wanted(units)}, two of them, or a formula in {argument}"
    schema = {"anyOf": [*NUMBER_OR_TEXT, {"type": "array"}]}

    def read(value: object, context: Context) -> Any:
        if _is_formula(value):
            return Law(value, (argument,), constants_in(value, context), tables_in(value, context))
        numbers = array_of(value, units)
        if np.shape(numbers) not in ((), (2,)):
            raise ValueError(f"expected {expected}")
        return numbers

    return typed(read, expected, schema)


def _computed(text: str, context: Context) -> Callable[..., Any]:
    return _code(text, context) if FUNCTION.fullmatch(text) else _formula(text, context)


def _formula(text: str, context: Context) -> Expression:
    inputs = tuple(name for name in context.inputs if _names(text, name))
    return Expression(text, constants_in(text, context), inputs, context.body, tables_in(text, context))


def constants_in(text: str, context: Context) -> dict[str, float]:
    return {name: number for name, number in context.constants.items() if _names(text, name)}


def tables_in(text: str, context: Context) -> dict[str, Table] | None:
    """The tables that a formula calls, by name."""
    return {name: named.table for name, named in context.tables.items() if _names(text, name)} or None


def _names(text: str, name: str) -> bool:
    """Whether a formula uses this name."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _table(value: dict[str, Any], units: Sequence[str]) -> Any:
    if set(value) == {"times", "values"}:
        return Tabulated(array_of(value["times"], ("s",)), array_of(value["values"], units))
    if "input" in value and set(value) <= {"input", "factor"}:
        return Input(str(value["input"]), number_of(value.get("factor", 1.0), ()))
    if "signal" in value and set(value) <= {"signal", "factor"}:
        return Signal(str(value["signal"]), number_of(value.get("factor", 1.0), ()))
    raise ValueError(
        'expected { times = [...], values = [...] }, { input = "name", factor = 1.0 } or { signal = "name" }'
    )


def _code(text: str, context: Context) -> Callable[..., Any]:
    """The function that "module:function" names, if code is allowed."""
    if not context.allow_code:
        raise ValueError("this is code, which a scenario may run only with --allow-code")
    sys.path.insert(0, str(context.folder.absolute()))  # modules beside the scenario come first
    try:
        function: Callable[..., Any] = imported(text)
    except Exception as error:  # whatever the module raises when it is imported
        raise ValueError(f"it cannot be imported: {error}") from None
    finally:
        sys.path.remove(str(context.folder.absolute()))
    if not callable(function):
        module, _, name = text.partition(":")
        raise ValueError(f"{name!r} of module {module!r} is not a function")
    return function


def value(*units: str) -> KeyType:
    """A constant, or a value that changes with time and state."""
    expected = f"{wanted(units)}, a formula, or a table over time"
    schema = {"anyOf": [*NUMBER_OR_TEXT, {"type": "array"}, {"type": "object"}]}
    return typed(lambda x, context: value_in(x, units, context), expected, schema)


def condition() -> KeyType:
    """A formula that becomes true, such as 'altitude("box") < 0'."""
    expected = "a formula, such as 'altitude(\"box\") < 0'"

    def read(value: object, context: Context) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"expected {expected}")
        return _computed(value, context)

    return typed(read, expected, {"type": "string"})


def law_in(value: object, arguments: tuple[str, ...], units: Sequence[str], context: Context) -> Any:
    """The function of these arguments that a formula, a table over some of them or "module:function" is, or None."""
    if isinstance(value, str) and FUNCTION.fullmatch(value):
        return _code(value, context)
    text = value if _is_formula(value) else _listed(value, units) or look_up(value, context)
    return Law(text, arguments, constants_in(text, context), tables_in(text, context)) if text else None


def law(arguments: tuple[str, ...], *units: str, shape: tuple[int, ...] = ()) -> KeyType:
    """Numbers of this shape, or a formula in these arguments, a table over some of them, or "module:function"."""
    numbers = f"{wanted(units)}{f' ({shape[0]} of them)' if shape else ''}, or " if units else ""
    expected = f"{numbers}a formula in {', '.join(arguments)}"

    def read(value: object, context: Context) -> Any:
        if (found := law_in(value, arguments, units, context)) is not None:
            return found
        if not units or isinstance(value, dict):
            raise ValueError(f"expected {expected}")
        numbers = array_of(value, units) if shape else number_of(value, units)
        if np.shape(numbers) != shape:
            raise ValueError(f"expected {shape[0]} numbers, or formulas")
        return numbers

    return typed(read, expected, {"anyOf": [*NUMBER_OR_TEXT, {"type": "array"}, {"type": "object"}]})
