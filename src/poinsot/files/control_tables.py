"""The tables [[controller]], [[lqr]] and [[event]]: laws and events as formulas. Blocks have the keys of their classes.

[[controller]]                                          [[event]]
name = "law"                                            name = "high"
inputs = { x = "cart.q[0]", v = "cart.v[0]" }           when = "altitude > 3000 m"
states = { integral = 0 }                               then = { set = { throttle = 0 } }
outputs = { force = "-3*x - 2*v - integral" }
next = { integral = "integral + 0.1*x" }
sample = "100 ms"
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from poinsot._errors import FieldError, about
from poinsot._hints import hint
from poinsot._types import Array
from poinsot.control import Controller, Release, StateFeedback, When, lqr
from poinsot.control.sensor_kinds import SENSORS
from poinsot.files import computed, readers
from poinsot.files.expressions import FUNCTIONS, OF_ALL, OF_STATES, YIELDING, FormulaLaw, Law, parse, rewritten
from poinsot.files.readers import Context, KeyType, ScenarioTable
from poinsot.files.shape_tables import table
from poinsot.parts import Signal, SolidMotor, Thruster
from poinsot.world import State, World

FORMULAS: Any = Annotated[dict[str, readers.text("a formula")], Field(description="a table of formulas")]  # type: ignore[misc]
NUMBERS: Any = Annotated[dict[str, readers.array()], Field(description="a table of numbers")]  # type: ignore[misc]
VALUES: Any = Annotated[dict[str, computed.value()], Field(description="a table of signals and formulas")]  # type: ignore[misc]

LawTable = table(
    "LawTable",
    "A law of one's own: outputs, and the next values or rates of states, as formulas of signals.",
    {"name": readers.name("law"), "outputs": FORMULAS},
    inputs=VALUES,
    states=NUMBERS,
    next=FORMULAS,
    rates=FORMULAS,
    start=NUMBERS,
    sample=readers.number("s", positive=True),
    delay=readers.number("s"),
)
RegulatorTable = table(
    "RegulatorTable",
    "State feedback of all joints with the least cost, x^T Q x + u^T R u, about a position of rest.",
    {"name": readers.name("balance"), "Q": readers.array(), "R": readers.array()},
    target=readers.array("rad", "m"),
    limit=readers.array(),
    sample=readers.number("s", positive=True),
    delay=readers.number("s"),
)
ReleaseTable = table(
    "ReleaseTable",
    "A joint that comes loose, and the springs that push the body off.",
    {"body": readers.text("the name of a body")},
    stiffness=readers.number("N/m"),
    stroke=readers.number("m"),
    axis=readers.vector("1"),
    points=readers.array("m", shape=(None, 3)),
)
OutcomeTable = table(
    "OutcomeTable",
    "The consequences of an event.",
    {},
    set=NUMBERS,
    release=readers.wrapped(ReleaseTable, "body", str),
    ignite=readers.text("the name of a thruster or solid motor"),
    stop=readers.flag(),
)
THEN = '"stop", or a table { set, release, ignite, stop }'


def _outcome(value: Any) -> Any:
    if not isinstance(value, dict) and value != "stop":
        raise readers.problem(f"expected {THEN}")
    return {"stop": True} if value == "stop" else value


EventTable = table(
    "EventTable",
    "What happens once, when a condition becomes true.",
    {"name": readers.name("apogee"), "when": computed.condition()},
    then=Annotated[OutcomeTable, BeforeValidator(_outcome), Field(description=THEN)],
    body=readers.text("the name of the body that formulas are about"),
)
MODELS: dict[str, type[ScenarioTable]] = {"controller": LawTable, "lqr": RegulatorTable, "event": EventTable}


# Sensors, whose errors are in the units of what they measure.

ERRORS = {"bias": "{}", "noise": "{}/Hz^0.5", "random_walk": "{}/s^0.5", "quantum": "{}", "limit": "{}"}


def error_of_sensor(key: str) -> KeyType:
    """A number that describes the errors of a sensor, or three, in units that its `kind` decides."""

    def validate(value: object, info: ValidationInfo) -> Any:
        kind = SENSORS[info.data["kind"] or "gyro"] if "kind" in info.data else None  # None: it is another problem
        units = [ERRORS[key].format(unit) for unit in (kind.error_unit.split(", ") if kind and kind.error_unit else ())]
        try:
            return readers.array_of(value, units)
        except ValueError as error:
            raise readers.problem(str(error).rstrip(".")) from None

    schema = WithJsonSchema({"anyOf": [*readers.NUMBER_OR_TEXT, {"type": "array"}]})
    return Annotated[Any, BeforeValidator(validate), schema, Field(description="a number, or a list of them")]


# The keys of blocks that are not read by the types of their fields.
KEYS: dict[str, dict[str, KeyType]] = {
    "sensor": {"kind": readers.choice(*SENSORS), **{key: error_of_sensor(key) for key in ERRORS}}
}


# Laws.


def add_law(world: World, read: ScenarioTable, context: Context) -> None:
    """Add a controller whose law is made of formulas."""
    entries = read.entries()
    right, wrong = ("next", "rates") if "sample" in entries else ("rates", "next")
    if wrong in entries:
        time = "a sample time" if right == "next" else "no sample time"
        what = "next values" if right == "next" else "rates"
        raise FieldError(f"a law with {time} gives the {what} of its states; write {right} = {{ ... }}", wrong)
    states, inputs = entries.get("states", {}), dict(entries.get("inputs", {}))
    updates = entries.get(right, {})
    for name in {**states, **updates}:
        if name not in updates:
            raise FieldError(f"the state {name!r} has no formula under {right}", "states")
        if name not in states:
            raise FieldError(f"there is no state {name!r}{hint(name, states) or '; define it under states'}", right)
    found = _Quantities(inputs, states, context)
    laws = [_formulas(found, key, texts) for key, texts in (("outputs", entries["outputs"]), (right, updates))]
    outputs = {name: np.zeros(_shape(text)) for name, text in entries["outputs"].items()} | entries.get("start", {})
    options = {key: entries[key] for key in ("sample", "delay") if key in entries}
    world.add(Controller(entries["name"], FormulaLaw(*laws), found.inputs, outputs, states=states, **options))


def _formulas(found: "_Quantities", key: str, texts: Mapping[str, str]) -> dict[str, Law]:
    laws = {}
    for name, text in texts.items():
        with about(field=f"{key}.{name}"):
            tree = rewritten(parse(text), found)
            arguments = ("t", *found.inputs, *found.states)
            known = computed.constants_in(text, found.context), computed.tables_in(text, found.context)
            laws[name] = Law(ast.unparse(tree), arguments, *known)
    used = ("t", *found.inputs, *found.states)
    return {name: replace(law, arguments=used) for name, law in laws.items()}


def _shape(text: str) -> tuple[int, ...]:
    """The shape of what a formula gives, as far as its text tells."""
    tree = parse(text)
    return (len(tree.elts),) if isinstance(tree, (ast.List, ast.Tuple)) else ()


class _Quantities(ast.NodeTransformer):
    """Puts names in the place of signals, inputs of the world and quantities of bodies; they are inputs of the law."""

    def __init__(self, inputs: dict[str, Any], states: Mapping[str, Any], context: Context) -> None:
        self.inputs, self.states, self.context, self.found = inputs, states, context, {}  # type: ignore[var-annotated]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        text = ast.unparse(node)
        return self._input(text) if re.fullmatch(r"[^\W\d_]\w*(\.[^\W\d_]\w*)+", text) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in (*OF_ALL, *YIELDING, *OF_STATES):
            return self._input(ast.unparse(node))
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        own = {*self.inputs, *self.states, *self.context.constants, *FUNCTIONS}
        known = {*self.context.inputs, *OF_ALL, *YIELDING}
        return self._input(node.id) if node.id in known - own else node

    def _input(self, text: str) -> ast.expr:
        if text not in self.found:
            name = self.found[text] = f"signal{len(self.found)}"
            self.inputs[name] = computed.value_in(text, (), self.context)
        return ast.Name(self.found[text], ast.Load())


def add_regulator(world: World, read: ScenarioTable, context: Context) -> None:
    """Add the state feedback with the least cost; its output is an input of the world to find what it does."""
    entries = read.entries()
    name, Q, R = entries["name"], _square(entries["Q"], "Q"), _square(entries["R"], "R")
    out = f"{name}.out"
    from poinsot.study.linear import linearise

    description = world.description
    probe = World.of(replace(description, inputs={**description.inputs, out: np.zeros(len(R))}))
    system = probe.system()
    mech, n = system.mechanism, 2 * system.nv
    if system.nq != system.nv:
        raise ValueError("it takes joints with angles and lengths as coordinates; a free or spherical one has others")
    if len(Q) != n:
        raise FieldError(f"the joints have {n} states, coordinates and velocities; expected {n} numbers", "Q")
    target = np.concatenate([np.zeros(system.nv) + entries.get("target", 0.0), np.zeros(system.nv)])
    at = State(target[: system.nv], target[system.nv :], probe.start().parts)
    linear = linearise(probe, at)
    if np.abs(linear.drift[:n]).max() > 1e-6:
        raise FieldError(f"the target is no position of rest: it accelerates by {linear.drift[n // 2 : n]}", "target")
    columns = [k for k, entry in enumerate(linear.inputs) if entry.startswith(f"{out}[")]
    gain = lqr((linear.A[:n, :n], linear.B[:n, columns]), Q, R, entries.get("sample"))
    joints = tuple(link.name for link in mech.links if link.joint.nv)
    options = {key: entries[key] for key in ("limit", "sample", "delay") if key in entries}
    world.add(StateFeedback(name, joints, gain, target, **options))


def _square(x: Any, key: str) -> Array:
    """A matrix, or a diagonal one from a number or a list."""
    matrix = np.asarray(x if np.ndim(x) == 2 else np.diag(np.atleast_1d(x)))
    if matrix.shape[0] != matrix.shape[1]:
        raise FieldError("expected a number, a list of them for the diagonal, or a square matrix", key)
    return matrix


# Events.


def add_event(world: World, read: ScenarioTable, context: Context) -> None:
    """Add an event, and tell the thruster that it ignites."""
    entries = read.entries()
    then: dict[str, Any] = entries["then"].entries() if entries.get("then") is not None else {}
    outcomes: list[Any] = [dict(then["set"])] if then.get("set") else []
    for name in then.get("set", {}):
        if name not in context.inputs:
            near = hint(name, context.inputs) or "; define it under [inputs]"
            raise FieldError(f"there is no input {name!r}{near}", "then.set")
    if "release" in then:
        with about(field="then.release"):
            outcomes.append(_release(world, then["release"].entries()))
    outcomes += ["stop"] * then.get("stop", False)
    world.add(When(entries["name"], entries["when"], outcomes or None))
    if "ignite" in then:
        _ignite(world, then["ignite"], entries["name"])


def _release(world: World, numbers: dict[str, Any]) -> Release:
    bodies = world.description.bodies
    if numbers["body"] not in bodies:
        raise ValueError(f"there is no body {numbers['body']!r}{hint(numbers['body'], bodies)}")
    return Release(**numbers)


def _ignite(world: World, name: str, event: str) -> None:
    """The world, with an element whose clock starts at an event."""
    description = world.description
    able = [key for key, e in description.elements.items() if isinstance(e, (SolidMotor, Thruster))]
    if name not in able:
        listed = hint(name, able) or (f"; there are {', '.join(able)}" if able else "; there is none at all")
        raise FieldError(f"there is no thruster or motor {name!r}{listed}", "then.ignite")
    engine: Any = description.elements[name]
    lit = replace(engine, ignition=event if isinstance(engine, Thruster) else Signal(f"{event}.happened"))
    world.description = replace(description, elements={**description.elements, name: lit})


ADDED: dict[str, Callable[[World, ScenarioTable, Context], None]] = {
    "event": add_event,
    "controller": add_law,
    "lqr": add_regulator,
}
