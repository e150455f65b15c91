"""Formulas in scenario files: a small language of arithmetic, without access to anything else.

    -0.5 * rho * Cd * A * speed**2          numbers, constants of the scenario, + - * / // % **, brackets
    [0, 0, -9.81 * mass]                    vectors, and entries of them: velocity[2]
    thrust if t < 3 else 0                  choices, comparisons, and, or, not
    sin(2*pi*t), min(a, b), norm(velocity)  functions of the table below
    speed, altitude, position("box")        quantities of the body that it acts on, or of another, by name
    mach, alpha, dynamic_pressure           the air that it meets
    roll, pitch, heading, latitude          how it lies, and where on the Earth it is
    CL(alpha, mach)                         tables of the scenario
    gyro.out[2], signal("wheel-1.out")      signals, by name
    altitude > 3000 m                       numbers with units

A formula is parsed, checked against these tables, and evaluated node by node: no attributes, no other calls, no code.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import accumulate
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.environment.air_mass import earth_of, height
from poinsot.environment.airspeed import AIR_QUANTITIES
from poinsot.files.size_limits import FORMULA_AXES, FORMULA_DEPTH, FORMULA_LENGTH
from poinsot.files.units import to_si
from poinsot.fuse import Table
from poinsot.parts import BodyState, Scene
from poinsot.parts.whereabouts import WHEREABOUTS
from poinsot.spatial.arrays import as_array

CONSTANTS = {"pi": np.pi}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log,
    "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign, "hypot": np.hypot,
    "min": lambda *x: reduce(np.minimum, x), "max": lambda *x: reduce(np.maximum, x),
    "clip": np.clip, "where": np.where,
    "dot": lambda a, b: a @ b, "cross": np.cross, "norm": lambda a: np.sqrt(a @ a),
    "interp": lambda x, xs, ys: np.interp(x, np.asarray(xs), np.asarray(ys)),
}  # fmt: skip

COUNTS = {"clip": (3,), "where": (3,), "dot": (2,), "cross": (2,), "norm": (1,), "interp": (3,)}

# Quantities of a body: of the one that the formula acts on, `position`; of another, `position("box")`.
OF_BODIES: dict[str, Callable[[BodyState], Array]] = {
    "position": lambda b: b.position,
    "velocity": lambda b: b.velocity,
    "speed": lambda b: np.sqrt(b.twist[3:] @ b.twist[3:]),
    "body_velocity": lambda b: b.twist[3:],
    "angular_velocity": lambda b: b.angular_velocity,
    "spin": lambda b: np.sqrt(b.twist[:3] @ b.twist[:3]),
    "x_axis": lambda b: b.pose.R[:, 0],
    "y_axis": lambda b: b.pose.R[:, 1],
    "z_axis": lambda b: b.pose.R[:, 2],
    "mass": lambda b: np.zeros(()) if b.inertia is None else as_array(b.inertia.mass),
    "momentum": lambda b: b.momentum,
    "kinetic_energy": lambda b: b.kinetic_energy,
}

# Where a body is in the world: above the ground, or above the figure of the Earth.
OF_PLACES: dict[str, Callable[[Scene, BodyState], Any]] = {
    "altitude": lambda scene, b: height(earth_of(scene), b.position),
}

# What follows from the accelerations of a body, at its origin; not for forces, on which these depend.
OF_MOTIONS: dict[str, Callable[[Scene, str], Any]] = {
    "specific_force": Scene.specific_force,
    "load_factor": Scene.load_factor,
}

# Coordinates and velocities of the joint of a body, numbers if it has one degree of freedom.
OF_JOINTS: dict[str, int] = {"angle": 0, "rate": 1}

# The state of a part, by its full name: state("plane.left.contents"); any signal: signal("law.out"), or law.out.
OF_STATES = ("state", "signal")

# A number with a unit, in which words are joined by one space or by "/" alone: 20 N m, 3 m/s, 9.81 m/s^2.
WORD = r"(?!(?:if|else|and|or|not|in|is)\b)[^\W\d_]+(?:\^-?\d+)?(?![\w(\[.])"
WITH_UNIT = re.compile(rf"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?) +({WORD}(?:[ /]{WORD})*)")

# The air that the origin of a body meets, as in `scene.air`; constants and inputs of the same names come first.
OF_AIR: dict[str, Callable[[Any], Any]] = {
    **{name: attrgetter(name) for name in AIR_QUANTITIES if name != "altitude"},
    "air_velocity": attrgetter("velocity"),
    "rates": attrgetter("rates"),
}

# How a body lies against north-east-down, and where on the Earth it is; constants and inputs come first here too.
OF_FLIGHT = WHEREABOUTS
YIELDING = (*OF_AIR, *OF_FLIGHT)

OF_ALL = (*OF_BODIES, *OF_PLACES, *OF_MOTIONS, *OF_JOINTS)  # bodies that exist in every world have these
RESERVED = ("t", *CONSTANTS, *FUNCTIONS, *OF_ALL, *OF_STATES)

OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide, ast.Pow: np.power,
    ast.Mod: np.remainder, ast.FloorDiv: np.floor_divide, ast.USub: np.negative, ast.UAdd: np.positive,
    ast.Not: np.logical_not, ast.And: np.logical_and, ast.Or: np.logical_or, ast.Lt: np.less, ast.LtE: np.less_equal,
    ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Eq: np.equal, ast.NotEq: np.not_equal,
}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """A formula as a function (t, scene), with constants by name, and the body whose quantities it uses."""

    text: str
    constants: Mapping[str, float] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    body: str = ""
    tables: Mapping[str, Table] | None = field(default=None, metadata={"described": "if given"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        names = ("t", *self.constants, *self.inputs)
        _check_all(self.tree, Words(names, bool(self.body), tables=self.tables or {}))

    @cached_property
    def tree(self) -> ast.expr:
        """Its syntax tree."""
        return rewritten(parse(self.text), Dotted())

    def __call__(self, t: Any, scene: Scene) -> Any:
        def look(name: str) -> Any:
            if name in self.inputs:
                return scene.input(name)
            if self.tables and name in self.tables:
                return self.tables[name]
            return {"t": t, **self.constants}[name] if name in ("t", *self.constants) else ask(name, self.body)

        def ask(name: str, owner: str) -> Any:
            return _quantity(name, owner, scene)

        return _value(self.tree, look, ask)

    def bodies(self) -> Iterable[str]:
        """The names of the bodies and joints that it refers to."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _called(node) in (*OF_ALL, *YIELDING):
                yield node.args[0].value  # type: ignore[attr-defined]

    def asks_air(self) -> str:
        """The first quantity of the air that it needs; "" if it needs none."""
        names = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        return next((name for name in OF_AIR if name in names - {*self.constants, *self.inputs}), "")

    def __hash__(self) -> int:
        return hash((self.text, tuple(self.constants.items()), self.inputs, self.body, *(self.tables or {}).items()))


@dataclass(frozen=True)
class Law:
    """A formula as a function of its own arguments: a spring's tension of (length, rate, ...), a beam's EI of x."""

    text: str
    arguments: tuple[str, ...]
    constants: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, Table] | None = field(default=None, metadata={"described": "if given"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", tuple(self.arguments))
        words = Words((*self.arguments, *self.constants), False, quantities=False, tables=self.tables or {})
        _check_all(self.tree, words)

    @cached_property
    def tree(self) -> ast.expr:
        """Its syntax tree."""
        return parse(self.text)

    def __call__(self, *values: Any) -> Any:
        known = {**self.constants, **(self.tables or {}), **dict(zip(self.arguments, values, strict=True))}
        return _value(self.tree, known.__getitem__, _nothing)

    def __hash__(self) -> int:
        return hash((self.text, self.arguments, tuple(self.constants.items()), *(self.tables or {}).items()))


@dataclass(frozen=True)
class FormulaLaw:
    """The law of a controller as formulas: its outputs, and the rates or next values of its states, by name."""

    outputs: Mapping[str, Law]
    updates: Mapping[str, Law] = field(default_factory=dict)

    def __call__(self, t: Any, /, **values: Any) -> Any:
        outputs, updates = (
            {key: f(*({"t": t, **values}[name] for name in f.arguments)) for key, f in laws.items()}
            for laws in (self.outputs, self.updates)
        )
        return (outputs, updates) if updates else outputs

    def __hash__(self) -> int:
        return hash((*self.outputs.items(), *self.updates.items()))


def rewritten(tree: ast.expr, transformer: ast.NodeTransformer) -> ast.expr:
    """The tree as a transformer makes it."""
    try:
        new: ast.expr = transformer.visit(tree)
    except RecursionError:
        raise ValueError("the operators of the formula are nested too deeply; use fewer") from None
    return new


class Dotted(ast.NodeTransformer):
    """Names with dots are signals: law.out is signal("law.out")."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = ast.unparse(node)
        if not re.fullmatch(r"[^\W\d_]\w*(\.[^\W\d_]\w*)+", name):
            return node
        call = ast.Call(ast.Name("signal", ast.Load()), [ast.Constant(name)], [])
        return ast.copy_location(ast.fix_missing_locations(ast.copy_location(call, node)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(argument) for argument in node.args]
        return node


@dataclass(frozen=True)
class Words:
    """The words that a formula may use: names, tables, and quantities of bodies; without brackets, of its own body."""

    names: tuple[str, ...]
    has_body: bool
    quantities: bool = True
    tables: Mapping[str, Table] = field(default_factory=dict)


def parse(text: str) -> ast.expr:
    """The syntax tree of a formula, or an error that says where it cannot be parsed."""
    if len(text) > FORMULA_LENGTH:
        raise ValueError(f"a formula of {len(text)} characters is too long; the limit is {FORMULA_LENGTH}")
    if _depth(text) > FORMULA_DEPTH:
        raise ValueError(f"the brackets of the formula are nested too deeply; the limit is {FORMULA_DEPTH}")
    plain = WITH_UNIT.sub(lambda found: repr(to_si(f"{found[1]} {found[2]}")), text.strip())
    try:
        return ast.parse(plain.replace("\n", " "), mode="eval").body  # it may go over several lines
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None)
        raise ValueError(f"the formula cannot be parsed{f', near column {column}' if column else ''}") from None


def _depth(text: str) -> int:
    """How deeply brackets are nested."""
    steps = [(c in "([{") - (c in ")]}") for c in text]
    return max(accumulate(steps), default=0)


# The check: every node belongs to the language, every name is known.


def _check_all(tree: ast.expr, words: Words) -> None:
    """An error about the first part that does not belong to the language, or one that lists every unknown name."""
    try:
        check(tree, words)
    except RecursionError:
        raise ValueError("the operators of the formula are nested too deeply; use fewer") from None
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    named.sort(key=lambda node: (node.lineno, node.col_offset))
    faults = [(_fault_of_call if id(node) in calls else _fault_of_name)(node.id, words) for node in named]
    if any(faults):
        raise ValueError("; ".join(dict.fromkeys(filter(None, faults))))


def check(node: ast.AST, words: Words) -> None:
    """An error if anything in a formula does not belong to the language."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (bool, complex)) or not isinstance(node.value, (int, float)):
            raise ValueError(f"{node.value!r} is not allowed in a formula")
        if not abs(node.value) < 1e300:
            raise ValueError("a number in the formula is too large")
    elif isinstance(node, ast.Name):
        pass  # names are checked all at once
    elif isinstance(node, ast.Call):
        _check_call(node, words)
    elif isinstance(node, ast.Subscript):
        if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int)):
            raise ValueError(f"{ast.unparse(node)}: an index is a whole number, as in velocity[2]")
        check(node.value, words)
    else:
        for part in _parts(node):
            check(part, words)


def _parts(node: ast.AST) -> list[ast.expr]:
    """The operands of an operator."""
    match node:
        case ast.BinOp(op=op, left=a, right=b) if type(op) in OPERATORS:
            return [a, b]
        case ast.UnaryOp(op=op, operand=a) if type(op) in OPERATORS:
            return [a]
        case ast.BoolOp(values=values):
            return values
        case ast.Compare(left=a, ops=ops, comparators=others) if all(type(op) in OPERATORS for op in ops):
            return [a, *others]
        case ast.IfExp(test=a, body=b, orelse=c):
            return [a, b, c]
        case ast.List(elts=values) | ast.Tuple(elts=values) if values:
            return values
    raise ValueError(f"{ast.unparse(node)!r} is not allowed in a formula")


def _fault_of_name(name: str, words: Words) -> str:
    """Why a name cannot stand in a formula; "" if it can."""
    known = (*words.names, *CONSTANTS)
    if name in known:
        return ""
    if words.quantities and name in (*OF_ALL, *YIELDING):
        return "" if words.has_body else f'{name!r} of which body? Write {name}("name")'
    if name in FUNCTIONS or name in OF_STATES or name in words.tables:
        return f"{name} is a function; it needs arguments in brackets"
    near = hint(name, (*known, *((*RESERVED, *YIELDING) if words.quantities else FUNCTIONS), *words.tables))
    return f"{name!r} is not defined here{near or '; define it under [constants]'}"


def _check_call(node: ast.Call, words: Words) -> None:
    name = _called(node)
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise ValueError(f"{ast.unparse(node)!r}: functions take plain arguments only")
    if name in FUNCTIONS:
        for argument in node.args:
            check(argument, words)
        _check_count(node, name)
    elif name in words.tables:
        for argument in node.args:
            check(argument, words)
        if len(node.args) != (n := len(words.tables[name].axes)):
            raise ValueError(f"{ast.unparse(node)!r}: the table {name} has {n} ax{'i' if n == 1 else 'e'}s")
    elif words.quantities and name in (*OF_ALL, *YIELDING, *OF_STATES):
        if len(node.args) != 1 or not (isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)):
            raise ValueError(f'{ast.unparse(node)!r}: write {name}("name")')
    elif not isinstance(node.func, ast.Name):
        raise ValueError(_fault_of_call(name, words))


def _fault_of_call(name: str, words: Words) -> str:
    """Why a formula cannot call this function; "" if it can."""
    known = (*FUNCTIONS, *words.tables, *((*OF_ALL, *YIELDING, *OF_STATES) if words.quantities else ()))
    return "" if name in known else f"there is no function {name!r}{hint(name, (*RESERVED, *words.tables))}"


def _check_count(node: ast.Call, name: str) -> None:
    function, count = FUNCTIONS[name], len(node.args)
    if isinstance(function, np.ufunc):
        fits = count == function.nin
    else:
        fits = count in COUNTS[name] if name in COUNTS else count > 0
    if not fits:
        raise ValueError(f"{ast.unparse(node)!r}: {name} does not take {count} argument{'s' * (count != 1)}")


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)


# Evaluation.

Look: TypeAlias = Callable[[str], Any]
Ask: TypeAlias = Callable[[str, str], Any]


def _value(node: ast.AST, look: Look, ask: Ask) -> Any:
    """The value of a node, from those of its parts; `look` gives names, `ask` the quantities of bodies."""
    match node:
        case ast.Constant(value=value):
            return np.float64(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else look(name)
        case ast.Call(args=arguments):
            name = _called(node)
            if len(arguments) == 1 and isinstance(getattr(arguments[0], "value", None), str):
                return ask(name, arguments[0].value)  # type: ignore[attr-defined]
            function = FUNCTIONS[name] if name in FUNCTIONS else look(name)
            return function(*(_value(argument, look, ask) for argument in arguments))
        case ast.Subscript(value=whole, slice=ast.Constant(value=k)):
            return _entry(_value(whole, look, ask), k, node)  # type: ignore[arg-type]
        case ast.BinOp(op=ast.Pow(), left=a, right=ast.Constant(value=int(k))) if k <= 16:
            return _value(a, look, ask) ** k  # whole powers are products
    parts = [_value(part, look, ask) for part in _parts(node)]
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return OPERATORS[type(op)](*parts)
        case ast.BoolOp(op=op):
            return reduce(OPERATORS[type(op)], parts)
        case ast.Compare(ops=ops):
            pairs = zip(ops, parts[:-1], parts[1:], strict=True)
            return reduce(np.logical_and, [OPERATORS[type(op)](a, b) for op, a, b in pairs])
        case ast.IfExp():
            return np.where(*parts)
    arrays = [as_array(part) for part in parts]
    if max(array.ndim for array in arrays) >= FORMULA_AXES:
        raise ValueError(f"a formula makes numbers, vectors and matrices: at most {FORMULA_AXES} lists in one another")
    return np.stack(arrays)


def _entry(whole: Any, k: int, node: ast.AST) -> Any:
    if np.ndim(whole) == 0 or not -len(whole) <= k < len(whole):
        raise ValueError(f"{ast.unparse(node)}: there is no such entry in an array of shape {np.shape(whole)}")
    return whole[k]


def _quantity(name: str, owner: str, scene: Scene) -> Any:
    if name == "signal":
        return scene.signal(owner)
    if name in OF_STATES:
        if owner not in scene.states:
            raise ValueError(f"there is no state {owner!r}{hint(owner, scene.states)}")
        return scene.states[owner]
    if name in OF_BODIES:
        return OF_BODIES[name](scene[owner])
    if name in OF_PLACES:
        return OF_PLACES[name](scene, scene[owner])
    if name in OF_MOTIONS:
        return OF_MOTIONS[name](scene, owner)
    if name in OF_AIR:
        return OF_AIR[name](scene.air(owner))
    if name in OF_FLIGHT:
        return OF_FLIGHT[name](scene, owner)
    x = scene.joint(owner)[OF_JOINTS[name]]
    return x[0] if np.shape(x) == (1,) else x


def _nothing(name: str, owner: str) -> Any:
    raise ValueError(f"{name}({owner!r}) is not defined here")
