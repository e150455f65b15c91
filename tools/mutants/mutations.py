"""Systematic mutants of numerical code: each is one small slip that a person could have made.

A rule takes a node of the syntax tree and yields nodes that could stand in its place. `of_source` applies all rules to
all nodes of a module; `mutated_tree` makes the module with one of the replacements in it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

PAIRS = "sin cos, sinh cosh, arcsin arccos, min max, minimum maximum, argmin argmax, any all, floor ceil, zeros ones"
PAIRS += ", ad ad_dual, derivative derivative_world, integrate integrate_world"
TWINS = {a: b for pair in PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
DROPPED_CALLS = set("abs sqrt transpose conjugate inverse reversed skew negative normalize copy".split())
FIXED_ORDER = set("zip isinstance issubclass getattr hasattr setattr print replace __setattr__".split())
FIXED_ORDER |= set("min max minimum maximum hypot swapaxes array_equal allclose isclose is_traced".split())  # symmetric
STEPS = ("h", "dt", "step")  # names of the step in time
LATER = ("_new", "_after", "_next")  # ends of names that hold a value after the step
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
}
FLIPPED |= {b: a for a, b in FLIPPED.items()}
WITH_EQUALITY: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.Gt: ast.GtE}
WITH_EQUALITY |= {b: a for a, b in WITH_EQUALITY.items()}
COUNTS = {"len", "ndim", "shape", "size", "nv", "nq", "i", "j", "k", "n", "p", "parent", "order", "steps"}
SILENT = {"strict", "repr", "eq"}  # arguments that only ask for a check, or for a text
LIMITS = {10.0**-n for n in range(9, 301)}  # beside rounding or zero: twice or half of one serves as well
OPPOSITE: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}


@dataclass(frozen=True)
class Scope:
    """Where a node stands: the function's qualified name, whether the code runs only when a function is called, the
    names of the function and those it has assigned above the node, the lines of the statement, and whether it is the
    condition of an error."""

    function: str = ""
    is_deferred: bool = False
    names: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    lines: tuple[int, int] = (1, 1)
    is_check: bool = False


@dataclass(frozen=True)
class Mutant:
    """One replacement in a module: `node` counts the nodes of the tree, `choice` the replacements of that node."""

    path: str
    function: str
    mutation: str  # before -> after, as source text
    occurrence: int  # among the same mutations in the same function
    lines: tuple[int, int]
    statement: tuple[int, int]
    node: int
    choice: int
    is_deferred: bool

    @property
    def key(self) -> str:
        """A name that stays when lines move."""
        return f"{self.path}::{self.function}::{self.mutation}::{self.occurrence}"


def operators(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Signs, products for quotients, dropped terms and factors, operands the other way around."""
    if isinstance(node, ast.BinOp) and not _is_text(node):
        if opposite := OPPOSITE.get(type(node.op)):
            yield ast.BinOp(node.left, opposite(), node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            yield node.left
        if isinstance(node.op, ast.Add) or (isinstance(node.op, ast.Mult) and not isinstance(node.left, ast.Constant)):
            yield node.right
        if isinstance(node.op, ast.Sub | ast.MatMult):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.AugAssign) and (opposite := OPPOSITE.get(type(node.op))):
        yield ast.AugAssign(node.target, opposite(), node.value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand


def conditions(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Comparisons flipped; with or without equality, of counts and in checks (of other numbers it makes no difference,
    nor with a small limit, which no number meets exactly); and for or; the branches exchanged."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind = type(node.ops[0])
        others = [FLIPPED[kind]]
        if kind in WITH_EQUALITY and (scope.is_check or _names(node) & COUNTS) and not _has_small_limit(node):
            others.append(WITH_EQUALITY[kind])
        yield from (ast.Compare(node.left, [other()], node.comparators) for other in others)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.If) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def constants(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Indices and other integers one off, factors doubled or halved; not powers of ten that are limits."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value not in LIMITS:
        yield from (
            (ast.Constant(2 * node.value), ast.Constant(0.5 * node.value)) if node.value else (ast.Constant(1.0),)
        )


def calls(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Arguments exchanged, a function's twin instead of it, a function or a call left out."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in FIXED_ORDER and not any(isinstance(a, ast.Starred) for a in node.args):
        for i in range(len(node.args) - 1):
            yield ast.Call(
                node.func, [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]], node.keywords
            )
    if twin := TWINS.get(name):
        is_method = isinstance(node.func, ast.Attribute)
        func = ast.Attribute(node.func.value, twin, ast.Load()) if is_method else ast.Name(twin, ast.Load())  # type: ignore[attr-defined]
        yield ast.Call(func, node.args, node.keywords)
    if name in DROPPED_CALLS and not node.keywords:
        if len(node.args) == 1:
            yield node.args[0]
        elif not node.args and isinstance(node.func, ast.Attribute):
            yield node.func.value


def transposes(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """A transpose left out."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT") and isinstance(node.ctx, ast.Load):
        yield node.value


def time_levels(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """The time at the end of the step, and values after the step, for those before it, and the other way around."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id == "t":
            yield from (_sum("t", step) for step in STEPS if step in scope.names)
        for end in LATER:
            if (other := node.id + end) in scope.assigned or (other := node.id.removesuffix(end)) in scope.names:
                yield from [ast.Name(other, ast.Load())] if other != node.id else []
    elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "self") not in ("self", "np"):
        yield from [ast.Name(node.attr, ast.Load())] if node.attr in scope.assigned else []


def _is_text(node: ast.BinOp) -> bool:
    ends = (node.left, node.right)
    return any(isinstance(e, ast.JoinedStr) or isinstance(getattr(e, "value", None), str) for e in ends) or any(
        isinstance(e, ast.BinOp) and _is_text(e) for e in ends
    )


def _has_small_limit(node: ast.Compare) -> bool:
    values = [getattr(side, "value", None) for side in (node.left, *node.comparators)]
    return any(isinstance(value, float) and 0.0 < value <= 1e-5 for value in values)


def _names(node: ast.AST) -> set[str]:
    return {getattr(inner, "id", getattr(inner, "attr", "")) for inner in ast.walk(node)}


def _sum(t: str, h: str) -> ast.BinOp:
    return ast.BinOp(ast.Name(t, ast.Load()), ast.Add(), ast.Name(h, ast.Load()))


RULES: tuple[Callable[[ast.AST, Scope], Iterator[ast.AST]], ...] = (
    operators,
    conditions,
    constants,
    calls,
    transposes,
    time_levels,
)


def of_source(path: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its nodes; those that compile to the same code as the module are left
    out."""
    found: list[Mutant] = []
    seen: dict[tuple[str, str], int] = {}
    for number, (node, scope) in enumerate(_nodes(ast.parse(source), Scope())):
        before = _text(node)
        for choice, other in enumerate(_replacements(node, scope)):
            mutation = f"{before} -> {_text(other)}"
            if _text(other) == before:
                continue
            occurrence = seen[scope.function, mutation] = seen.get((scope.function, mutation), -1) + 1
            lines = _lines(node)
            place = (scope.function, mutation, occurrence, lines, scope.lines)
            found.append(Mutant(path, *place, number, choice, scope.is_deferred))
    return found


def mutated_tree(source: str, mutant: Mutant) -> ast.Module:
    """The module with one replacement in it."""
    tree = ast.parse(source)
    node, scope = next(found for i, found in enumerate(_nodes(tree, Scope())) if i == mutant.node)
    other = copy.deepcopy(_replacements(node, scope)[mutant.choice])
    for inner in ast.walk(other):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, field, other)
            elif isinstance(value, list):
                value[:] = [other if item is node else item for item in value]
    return ast.fix_missing_locations(tree)


def _replacements(node: ast.AST, scope: Scope) -> list[ast.AST]:
    return [other for rule in RULES for other in rule(node, scope)]


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))


def _lines(node: ast.AST) -> tuple[int, int]:
    """First and last line; of a statement that contains others only its head."""
    first = getattr(node, "lineno", 1)
    if isinstance(node, ast.If | ast.For | ast.While | ast.With):
        return first, max(first, node.body[0].lineno - 1)
    return first, getattr(node, "end_lineno", None) or first


def _nodes(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    """All nodes that are worth a mutant, with their scopes: no annotations, messages, assertions or text forms."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.arg) or getattr(node, "arg", None) in SILENT:
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        yield from _definition(node, scope)
        return
    if isinstance(node, ast.AnnAssign):
        yield from _nodes(node.value, replace(scope, lines=_lines(node))) if node.value is not None else ()
        return
    if isinstance(node, ast.stmt):
        scope = replace(scope, lines=_lines(node))
    yield node, scope
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            scope = replace(scope, assigned=scope.assigned | _assigned_above(node, child), is_check=False)
        elif isinstance(node, ast.If):
            scope = replace(scope, is_check=isinstance(node.body[0], ast.Raise))
        yield from _nodes(child, scope)


def _definition(node: ast.FunctionDef | ast.ClassDef | ast.Lambda, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    """Defaults and decorators run where the definition stands, the body when it is called."""
    name = getattr(node, "name", "<lambda>")
    inner = replace(scope, function=f"{scope.function}.{name}" if scope.function else name)
    if isinstance(node, ast.ClassDef):
        for statement in node.body:
            yield from _nodes(statement, inner)
        return
    if name in ("__repr__", "__str__", "_repr_html_"):
        return
    for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
        yield from _nodes(default, inner)
    names = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]} | scope.names
    inner = replace(inner, is_deferred=True, names=frozenset(names), assigned=frozenset())
    for statement in node.body if isinstance(node.body, list) else [node.body]:
        yield from _nodes(statement, inner)
        new = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        inner = replace(inner, names=inner.names | new, assigned=inner.assigned | new)


def _assigned_above(block: ast.AST, child: ast.stmt) -> frozenset[str]:
    """What the statements of a block before `child` assign."""
    above = [s for s in ast.iter_child_nodes(block) if isinstance(s, ast.stmt) and s.lineno < child.lineno]
    stores = (n for s in above for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return frozenset(n.id for n in stores)
