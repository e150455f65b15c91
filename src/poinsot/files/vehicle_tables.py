"""Keys of elements that more stands behind than the type of a field: coefficients, models and curves from files."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot.files import computed, readers
from poinsot.files.computed import constants_in, tables_in
from poinsot.files.daveml import load_daveml
from poinsot.files.described import table_name
from poinsot.files.expressions import CONSTANTS, FUNCTIONS, Law, parse
from poinsot.files.readers import Context, KeyType, array_of, typed
from poinsot.files.shape_tables import table
from poinsot.files.thrust_curves import load_eng
from poinsot.files.units import is_quantity
from poinsot.parts import Beam
from poinsot.parts.slosh import BOTTOMS

Beams: TypeAlias = Mapping[str, Beam]
SIGNAL = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\[\d+\])*")  # "stick", "autopilot.elevator", "plane.velocity[2]"


def _named(read: Callable[[object, Context], Any], what: str) -> KeyType:
    """A table of names, each with a value of this kind."""
    expected = f"a table of names, each with {what}"

    def each(value: object, context: Context) -> dict[str, Any]:
        if not isinstance(value, dict) or not value:
            raise ValueError(f"expected {expected}")
        entries = {}
        for name, item in value.items():
            try:
                entries[name] = read(item, context)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return entries

    return typed(each, expected, {"type": "object"})


def _coefficient(value: object, context: Context) -> Any:
    """A number or several, a formula in the names of variables and inputs, or a table over them."""
    text = value if isinstance(value, str) and not is_quantity(value) else computed.look_up(value, context)
    if not text:
        return array_of(value, ("1", "1/rad"))
    constants, tables = constants_in(text, context), tables_in(text, context)
    nodes = [node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)]
    known = {*CONSTANTS, *FUNCTIONS, *constants, *(tables or ())}
    return Law(text, tuple(dict.fromkeys(name for name in nodes if name not in known)), constants, tables)


def _input(value: object, context: Context) -> Any:
    """The name of a signal, an input or a variable; or a value that may change."""
    if isinstance(value, str) and SIGNAL.fullmatch(value):
        return value
    return computed.value_in(value, (), context)


def _word(value: object, _: Context) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a name")
    return value


DaveFile = table(
    "DaveFile",
    "A model in a DAVE-ML file.",
    {"file": readers.file(".dml")},
    units=_named(_word, "the unit that it means"),
    check=readers.flag(),
)
EngFile = table(
    "EngFile", "A motor in an .eng file.", {"file": readers.file(".eng")}, motor=readers.text("its name in the file")
)
SloshTable = table(
    "SloshTable",
    "The first mode of the liquid in a tank, as a pendulum.",
    {},
    damping=readers.number("1"),
    bottom=readers.choice(*BOTTOMS),
)
# By the names of their tables: readers for fields of elements, and further keys.
KEYS: dict[str, dict[str, KeyType]] = {
    "aero": {
        "coefficients": _named(_coefficient, "a number, a formula or a table"),
        "inputs": _named(_input, "a signal, a number or a formula"),
        "outputs": _named(_word, "a name of the model"),
        "daveml": readers.wrapped(DaveFile, "file", str),
    },
    "barrowman": {"drag": computed.law(("mach",), "1")},
    "solid_motor": {"eng": readers.wrapped(EngFile, "file", str)},
    "tank": {"slosh": SloshTable},
    "wing": {
        "beam": readers.text("the name of a beam"),
        "chord": computed.along("y", "m"),
        "twist": computed.along("y", "rad"),
    },
}


def _aero(entries: dict[str, Any], beams: Beams) -> dict[str, Any]:
    """The model of a DAVE-ML file as coefficients."""
    model = entries.pop("daveml", None)
    if model is None:
        return entries
    if "coefficients" in entries:
        raise ValueError("give either coefficients or daveml")
    return entries | {"coefficients": _loaded(model.entries())}


def _loaded(entries: Mapping[str, Any]) -> Any:
    return load_daveml(entries["file"], entries.get("check", True), entries.get("units"))


def made(cls: type, entries: dict[str, Any], beams: Beams) -> dict[str, Any]:
    """The fields of an element from the keys of its table; beams: those of the world, by name."""
    make = MADE.get(table_name(cls))
    return entries if make is None else make(entries, beams)


def _jet(entries: dict[str, Any], beams: Beams) -> dict[str, Any]:
    """A table of thrust over Mach number and altitude is that at full power."""
    thrust = entries.get("thrust")
    if isinstance(thrust, Law) and re.fullmatch(r"\w+\([\w, ]+\)", thrust.text) and "power" not in thrust.text:
        entries["thrust"] = replace(thrust, text=f"power*{thrust.text}")
    return entries


def _solid_motor(entries: dict[str, Any], beams: Beams) -> dict[str, Any]:
    """Thrust and mass of the propellant from an .eng file, and the case that its grains must fit into."""
    eng = entries.pop("eng", None)
    if eng is None:
        return entries
    if "thrust" in entries:
        raise ValueError("give either thrust or eng")
    motor = load_eng(eng.entries()["file"], eng.entries().get("motor"))
    case = {"case_radius": motor.diameter / 2, "case_length": motor.length}
    return {"thrust": motor.thrust, "mass": motor.propellant_mass, **case, **entries}


def _wing(entries: dict[str, Any], beams: Beams) -> dict[str, Any]:
    """The beam that the wing sits on, by its name."""
    name = entries.get("beam")
    if name is not None and name not in beams:
        raise FieldError(f"there is no beam {name!r}{hint(name, beams)}", "beam")
    return entries if name is None else {**entries, "beam": beams[name]}


MADE: dict[str, Callable[[dict[str, Any], Beams], dict[str, Any]]] = {
    "aero": _aero, "jet": _jet, "solid_motor": _solid_motor, "wing": _wing,
}  # fmt: skip
