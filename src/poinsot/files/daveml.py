"""Flight models from DAVE-ML files (ANSI/AIAA S-119): variables, calculations, tables and check cases.

A file becomes one function that can be traced. Inside it counts in the units of the file, outside in SI units.
Entities and external definitions (DTD) are not followed.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from poinsot._errors import UnknownNameError
from poinsot._hints import hint
from poinsot.files._reading import inside, source
from poinsot.files.daveml_math import formula
from poinsot.files.daveml_tables import EXTRAPOLATE, INTERPOLATE, Argument, TableSet
from poinsot.files.daveml_units import si_factor

Rule: TypeAlias = Callable[[Mapping[str, Any]], Any]  # of the values of variables, by varID

UNTOLD = 1e-6  # the tolerance of a check value that has none: relative, absolute below 1


@dataclass(frozen=True, eq=False)
class DaveVariable:
    """A variable: its name and unit; how it is computed from the variables in `needs`; its limits, in its unit.

    initial: its value if nothing computes it; None for an input that must be given.
    """

    varID: str
    name: str
    unit: str
    factor: float  # its unit in SI
    initial: float | None = None
    least: float = -np.inf
    most: float = np.inf
    needs: tuple[str, ...] = ()
    evaluate: Rule | None = None
    is_input: bool = False
    is_output: bool = False

    def limited(self, x: Any) -> Any:
        """x between the limits."""
        x = np.maximum(x, self.least) if np.isfinite(self.least) else x
        return np.minimum(x, self.most) if np.isfinite(self.most) else x


@dataclass(frozen=True)
class CheckCase:
    """A static shot: inputs, and what variables must then be, as (value, tolerance), in the file's units by varID."""

    name: str
    inputs: Mapping[str, float]
    expected: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class DaveModel:
    """A model of a DAVE-ML file: called with its inputs by name, in SI units, it gives its outputs by name, in SI.

    name: that of the file. text: its XML, all that the model is made of. units: what misspelt units in it mean.
    """

    name: str
    text: str = field(repr=False)
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = [self.name, self.text, *self.units, *self.units.values()] if isinstance(self.units, Mapping) else [None]
        if not all(isinstance(word, str) for word in words):
            raise ValueError(f"name, text and units of the DAVE-ML model {self.name!r} must be text.")
        self._content  # noqa: B018  an error, if there is one, comes at once

    @cached_property
    def _content(self) -> tuple[dict[str, DaveVariable], tuple[CheckCase, ...]]:
        with inside(self.name):
            root = _parsed(self.text)
            variables = _ordered(_variables(root, dict(self.units)))
            shots = root.iter("staticShot")
            return variables, tuple(_check_case(shot, variables, dict(self.units)) for shot in shots)

    @property
    def variables(self) -> dict[str, DaveVariable]:
        """In an order in which each comes after what it needs, by varID."""
        return self._content[0]

    @property
    def checks(self) -> tuple[CheckCase, ...]:
        """The check cases of the file."""
        return self._content[1]

    @cached_property
    def inputs(self) -> dict[str, str]:
        """The names of the inputs, with their units in the file."""
        return {v.name: v.unit for v in self.variables.values() if v.is_input}

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The names of the outputs, with their units in the file."""
        return {v.name: v.unit for v in self.variables.values() if v.is_output}

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return _by_name(self.variables)

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        """The outputs by name, in SI units. An input that is left out has its initial value."""
        return self.at(inputs)

    def at(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> dict[str, Any]:
        """Variables by name or varID, by default all outputs, in SI units; `inputs` too are by name or varID."""
        given = {}
        for name, value in inputs.items():
            variable = self.variable(name)
            if not variable.is_input:
                known = ", ".join(self.inputs) or "none"
                raise ValueError(
                    f"{self.name}: {name!r} is not an input{hint(name, self.inputs)}; the inputs are {known}."
                )
            given[variable.varID] = value if variable.factor == 1.0 else value / variable.factor
        wanted = list(self.outputs) if outputs is None else list(outputs)
        values = self.evaluate(given, [self.variable(name).varID for name in wanted])
        return {name: values[(v := self.variable(name)).varID] * v.factor for name in wanted}

    def variable(self, name: str) -> DaveVariable:
        """The variable with this name or varID."""
        if name not in self._by_name:
            words = f"{self.name}: there is no variable {name!r}{hint(name, self._by_name)}."
            raise UnknownNameError(words, name)
        return self.variables[self._by_name[name]]

    def evaluate(self, given: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, Any]:
        """The values of the wanted variables and of all that they need, by varID, in the units of the file."""
        needed = self._ancestors(wanted)
        values: dict[str, Any] = {}
        for varID, variable in self.variables.items():
            if varID not in needed:
                continue
            if varID in given:
                value = given[varID]
            elif variable.evaluate is not None:
                value = variable.evaluate(values)
            elif variable.initial is not None:
                value = variable.initial
            else:
                raise ValueError(f"{self.name}: the input {variable.name!r} [{variable.unit}] must be given.")
            values[varID] = variable.limited(value)
        return values

    def _ancestors(self, wanted: Sequence[str]) -> set[str]:
        needed, waiting = set(), list(wanted)
        while waiting:
            if (varID := waiting.pop()) not in needed:
                needed.add(varID)
                waiting += self.variables[varID].needs
        return needed

    def check(self) -> None:
        """Run the check cases; a value that is off is an error with its shot, signal, value and tolerance."""
        for case in self.checks:
            values = self.evaluate(case.inputs, list(case.expected))
            for varID, (expected, tolerance) in case.expected.items():
                got, name = float(values[varID]), self.variables[varID].name
                if not abs(got - expected) <= tolerance:
                    raise ValueError(
                        f"{self.name}: check case {case.name!r}: {name!r} is {got!r} {self.variables[varID].unit}, but "
                        f"should be {expected!r}, with a tolerance of {tolerance:g}."
                    )


def load_daveml(path: str | os.PathLike[str], check: bool = True, units: Mapping[str, str] | None = None) -> DaveModel:
    """The model in a DAVE-ML file, a function of its inputs by name: `model(angleOfAttack=0.1, mach=0.5, ...)`.

    check: run the check cases of the file; one that fails is an error.
    units: what a misspelt unit of the file means, such as {"nim_h": "nmi_h"}.
    """
    written = source(path, "DAVEfunc")
    with inside(path):
        text = _decoded(written)
    model = DaveModel(Path(path).name, text, dict(units or {}))
    if check:
        model.check()
    return model


def _by_name(variables: Mapping[str, DaveVariable]) -> dict[str, str]:
    """The varIDs of variables by their names and varIDs."""
    return {v.name: v.varID for v in variables.values()} | {varID: varID for varID in variables}


def _decoded(written: bytes) -> str:
    """The characters of an XML file in the encoding that its first line names; UTF-8 without one."""
    named = re.match(rb"""(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']""", written)
    encoding = named[1].decode() if named else "utf-8"
    try:
        return written.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise ValueError(f"not well-formed XML: {error}. Save it as UTF-8.") from None


def _parsed(text: str) -> Element:
    """The root element, without namespaces."""
    if "<!ENTITY" in text:
        raise ValueError("it defines entities (<!ENTITY), which are not followed. Write out what they stand for.")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not well-formed XML: {error}.") from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _variables(root: Element, units: dict[str, str]) -> dict[str, DaveVariable]:
    """All variables by varID, in the order of the file."""
    written = [element.get("units", "nd") for element in root.findall("variableDef")]
    functions = dict(_functions(root))
    variables: dict[str, DaveVariable] = {}
    for element in root.findall("variableDef"):
        varID = element.get("varID", "")
        if varID in variables or not varID:
            words = f"two variables have the varID {varID!r}" if varID else "a variable has no varID"
            raise ValueError(f"{words}; each needs one of its own.")
        with inside(f"variable {varID!r}"):
            variables[varID] = _variable(element, functions.pop(varID, None), units, written)
    names = [v.name for v in variables.values() if v.is_input or v.is_output]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two inputs or outputs are called {twice!r}; each needs a name of its own.")
    if functions:
        raise ValueError(f"there is no variable {next(iter(functions))!r}, which a function computes.")
    return variables


def _variable(element: Element, function: Any, units: dict[str, str], written: list[str]) -> DaveVariable:
    needs: set[str] = set()
    calculation, evaluate = element.find("calculation"), None
    if function is not None:
        needs_of, evaluate = function
        needs.update(needs_of)
    elif calculation is not None:
        math = calculation.find("math")
        if math is None or len(math) != 1:
            raise ValueError("its <calculation> needs one <math> with one formula.")
        evaluate = formula(math[0], needs)
    initial, unit = _number(element, "initialValue"), element.get("units", "nd")
    varID = element.get("varID", "")
    return DaveVariable(
        varID=varID,
        name=element.get("name", varID),
        unit=unit,
        factor=_factor(unit, units, written),
        initial=initial,
        least=_number(element, "minValue", -np.inf),
        most=_number(element, "maxValue", np.inf),
        needs=tuple(sorted(needs)),
        evaluate=evaluate,
        is_input=element.find("isInput") is not None or (evaluate is None and initial is None),
        is_output=element.find("isOutput") is not None,
    )


def _factor(unit: str, units: dict[str, str], others: Sequence[str] = ()) -> float:
    """A unit of the file in SI."""
    try:
        return si_factor(units.get(unit, unit), others)
    except ValueError as error:
        raise ValueError(f"{error} Mend the file, or say what it means: units={{{unit!r}: ...}}.") from None


def _functions(root: Element) -> Iterator[tuple[str, tuple[tuple[str, ...], Rule]]]:
    """For each variable that a function computes: what it needs, and how."""
    tables = TableSet.of(root)
    for element in root.findall("function"):
        with inside(f"function {element.get('name', '')!r}"):
            references = element.findall("independentVarRef") or element.findall("independentVarPts")
            result = next((e for tag in ("dependentVarRef", "dependentVarPts") for e in element.findall(tag)), None)
            if result is None or not references:
                raise ValueError("it needs independent variables and a dependent one.")
            arguments = [_argument(reference) for reference in references]
            look_up = tables.look_up(element, arguments)
            names = tuple(argument.varID for argument in arguments)
            yield result.get("varID", ""), (names, _called(look_up, names))


def _called(f: Callable[..., Any], names: tuple[str, ...]) -> Rule:
    return lambda values: f(*(values[name] for name in names))


def _argument(element: Element) -> Argument:
    extrapolate, interpolate = element.get("extrapolate", "neither"), element.get("interpolate", "linear")
    for what, value, known in (
        ("extrapolate", extrapolate, EXTRAPOLATE),
        ("interpolate", interpolate, INTERPOLATE),
    ):
        if value not in known:
            raise ValueError(f"{what}={value!r} is not one of {', '.join(known)}.")
    least, most = _number(element, "min", -np.inf), _number(element, "max", np.inf)
    return Argument(element.get("varID", ""), least, most, extrapolate, interpolate)


def _number(element: Element, attribute: str, default: Any = None) -> Any:
    text = element.get(attribute)
    if text is None:
        return default
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{attribute}={text!r} is not a number. Write it out in digits.") from None


def _ordered(variables: dict[str, DaveVariable]) -> dict[str, DaveVariable]:
    """The variables, each after what it needs."""
    order: dict[str, DaveVariable] = {}
    for start in variables:
        trail: dict[str, Iterator[str]] = {start: iter(variables[start].needs)} if start not in order else {}
        while trail:
            varID = next(reversed(trail))
            needed = next((name for name in trail[varID] if name not in order), None)
            if needed is None:
                order[varID] = variables[varID]
                del trail[varID]
            elif needed in trail:
                loop = [*trail][[*trail].index(needed) :]
                raise ValueError(f"calculations go round in a loop: {' needs '.join([*loop, needed])}.")
            elif needed not in variables:
                raise ValueError(f"variable {varID!r} needs {needed!r}, which is not defined{hint(needed, variables)}.")
            else:
                trail[needed] = iter(variables[needed].needs)
    return order


def _check_case(shot: Element, variables: dict[str, DaveVariable], units: dict[str, str]) -> CheckCase:
    with inside(f"check case {shot.get('name', '')!r}"):
        signals = {
            part: dict(_signals(shot.find(part), variables, units))
            for part in ("checkInputs", "internalValues", "checkOutputs")
        }
        inputs = {varID: value for varID, (value, _) in signals["checkInputs"].items()}
        return CheckCase(shot.get("name", ""), inputs, signals["internalValues"] | signals["checkOutputs"])


def _signals(
    part: Element | None, variables: dict[str, DaveVariable], units: dict[str, str]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The values and tolerances of signals, in the units of their variables, by varID."""
    known = _by_name(variables)
    for signal in [] if part is None else part.findall("signal"):
        texts = {child.tag: (child.text or "").strip() for child in signal}
        name = texts.get("varID") or texts.get("signalID") or texts.get("signalName") or ""
        with inside(f"signal {name!r}"):
            if name not in known:
                raise ValueError(f"there is no such variable{hint(name, known)}.")
            variable = variables[known[name]]
            try:
                value, tolerance = float(texts.get("signalValue", "")), float(texts.get("tol", "nan"))
            except ValueError:
                raise ValueError("its value and tolerance must be numbers.") from None
            unit = texts.get("signalUnits") or variable.unit
            scale = 1.0 if unit == variable.unit else _factor(unit, units) / variable.factor
        value, tolerance = value * scale, tolerance * scale
        yield variable.varID, (value, UNTOLD * max(1.0, abs(value)) if np.isnan(tolerance) else tolerance)
