"""Outputs of runs as formulas: "max(altitude)", "time(rocket.position.z < 0)", "rms(angle("arm"))".

The outer function is one of `KINDS`; inside of it stands a formula of the usual language, which may also use quantities
by the names of their records: rocket.velocity.x, arm.q, rocket.grain.contents, energy.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from poinsot._hints import hint
from poinsot._memo import memo
from poinsot._signatures import misfit
from poinsot.environment.airspeed import AIR_QUANTITIES
from poinsot.environment.orbit_quantities import ORBIT_QUANTITIES
from poinsot.files.expressions import OF_ALL, RESERVED, YIELDING, Words, _check_all, _quantity, _value, parse
from poinsot.run.measured import Measurement, measurement
from poinsot.run.observe import OBSERVABLES
from poinsot.run.output_kinds import KINDS, Output, checked
from poinsot.world import Motion, System

EXPECTED = f"{', '.join(KINDS)} of a formula, such as max(altitude)"


@dataclass(frozen=True)
class OutcomeFormula:
    """The text of an output, and the constants of its scenario that it uses."""

    text: str
    constants: Mapping[str, float] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.text, tuple(self.constants.items())))


def read_outputs(system: System, outputs: Mapping[str, Any]) -> tuple[Output, ...]:
    """Outputs by name, checked: each a text, a function (t, scene), of which the final value counts, or a pair of a
    kind and a function: ("max", function)."""
    return checked(system, [_read(system, name, value) for name, value in outputs.items()])


def _read(system: System, name: str, value: Any) -> Output:
    taken = {*OBSERVABLES} - {*AIR_QUANTITIES, *ORBIT_QUANTITIES, *YIELDING}
    if not isinstance(name, str) or not name.isidentifier() or name in taken:
        raise ValueError(f"output {name!r}: a name has letters, digits and _ only, and is not that of a record.")
    if isinstance(value, str):
        value = OutcomeFormula(value)
    if isinstance(value, OutcomeFormula):
        try:
            return _bound(system, name, value)
        except ValueError as error:
            raise ValueError(f"output {name!r}: {value.text!r}: {str(error).rstrip('.')}.") from None
    kind, function = value if isinstance(value, (tuple, list)) and len(value) == 2 else ("final", value)
    if not callable(function):
        raise ValueError(f"output {name!r} is {value!r}; expected {EXPECTED}, or a function (t, scene).")
    if wrong := misfit(function, "t", "scene"):
        raise ValueError(f"output {name!r} is {wrong}.")
    return _called(system, name, kind, function)


@memo
def _called(system: System, name: str, kind: str, function: Callable[..., Any]) -> Output:
    """An output of a function, made once, so that it compiles once."""
    text = f"{kind}({getattr(function, '__name__', 'function')})"
    return Output(name, kind, lambda t, motion: function(t, motion.scene), text, unit="s" if kind == "time" else "")


@memo
def _bound(system: System, name: str, formula: OutcomeFormula) -> Output:
    """An output of a formula about the quantities of a system."""
    outer = parse(formula.text)
    if not isinstance(outer, ast.Call) or not isinstance(outer.func, ast.Name) or len(outer.args) != 1:
        raise ValueError(f"expected {EXPECTED}")
    kind = outer.func.id
    if kind not in KINDS:
        raise ValueError(f"there is no {kind!r}{hint(kind, KINDS)}; expected {EXPECTED}")
    bodies = [link.name for link in system.bodies.links]
    body = bodies[0] if len(bodies) == 1 else ""
    words = ("t", *formula.constants, *system.inputs)
    recorded = _Recorded(system, (*words, *RESERVED, *YIELDING), {})
    tree = recorded.visit(outer.args[0])
    _check_all(tree, Words((*words, *recorded.found), bool(body)))
    _require_bodies(tree, bodies)

    def of(t: Any, motion: Motion) -> Any:
        known = {"t": t, **formula.constants}

        def look(word: str) -> Any:
            if word in recorded.found:
                numbers = recorded.found[word].of(motion)
                return numbers[0] if len(recorded.found[word].labels) == 1 else numbers
            if word in system.inputs:
                return motion.scene.input(word)
            return known[word] if word in known else ask(word, body)

        def ask(word: str, owner: str) -> Any:
            return _quantity(word, owner, motion.scene)

        return _value(tree, look, ask)

    return Output(name, kind, of, formula.text, formula, "s" if kind == "time" else _unit(outer.args[0]))


def _unit(inner: ast.expr) -> str:
    """The unit of a formula that is one quantity, or an entry, the size or the norm of one; else ""."""
    while isinstance(inner, ast.Subscript) or (
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in ("abs", "norm")
    ):
        inner = inner.value if isinstance(inner, ast.Subscript) else inner.args[0]
    names = [name for name in ast.unparse(inner).split(".") if name in OBSERVABLES]
    unit = OBSERVABLES[names[0]].unit if len(names) == 1 and isinstance(inner, (ast.Name, ast.Attribute)) else ""
    return "" if "," in unit or unit == "1" else unit


def _require_bodies(tree: ast.AST, bodies: list[str]) -> None:
    """An error if a formula asks for a body that does not exist."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in (*OF_ALL, *YIELDING):
            name = node.args[0].value  # type: ignore[attr-defined]
            if name not in bodies:
                raise ValueError(f"there is no body {name!r}{hint(name, bodies)}")


class _Recorded(ast.NodeTransformer):
    """Puts words in the place of quantities with the names of records, and finds what they mean."""

    def __init__(self, system: System, words: tuple[str, ...], found: dict[str, Measurement]) -> None:
        self.system, self.words, self.found = system, words, found

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._word(node, ast.unparse(node))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """box.q[3] is one number of a record, if box.q is a name with dots; else an entry of a vector."""
        if isinstance(node.value, ast.Attribute):
            return self._word(node, ast.unparse(node))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._word(node, node.id) if node.id in OBSERVABLES and node.id not in self.words else node

    def _word(self, node: ast.expr, name: str) -> ast.Name:
        word = f"_{len(self.found)}"
        self.found[word] = measurement(self.system, [name])
        return ast.copy_location(ast.Name(word, ast.Load()), node)
