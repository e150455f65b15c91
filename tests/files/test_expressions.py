"""Formulas: they compute what Python would, traced or not, and can do nothing else."""

import ast
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.files.expressions import FUNCTIONS, OF_BODIES, Expression, Law

NUMBERS = {"a": 1.5, "b": -0.25, "c": 3.0}


def scene() -> pt.Scene:
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(1, 2, 3), velocity=(0, 3, 4))
    joint = pt.revolute((0, 0, 1))
    world.add_body("arm", pt.Inertia.sphere(1.0, 0.1), joint=joint, q=[0.5], v=[2.0])
    world.add_input("throttle", 0.75)
    return world.scene()


def formulas() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["a", "b", "c", "t", "1", "2.5", "0.125", "pi"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
            st.builds("(-{})".format, inner),
            st.builds("({}) ** 2".format, inner),
            st.builds("({} if {} < {} else {})".format, inner, inner, inner, inner),
        ),
        max_leaves=12,
    )


@given(formulas(), st.floats(-3, 3))
def test_formulas_mean_what_python_means(text, t):
    try:
        expected = eval(text, {"__builtins__": {}, "pi": math.pi, "t": t, **NUMBERS})
    except (ZeroDivisionError, OverflowError):
        return
    with np.errstate(all="ignore"):
        found = Expression(text, NUMBERS)(t, scene())
    assert float(found) == pytest.approx(expected, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_the_same_traced(name):
    count = {"atan2": 2, "hypot": 2, "min": 3, "max": 3, "clip": 3, "where": 3}.get(name, 1)
    arguments = ", ".join(["0.3*t", "0.5", "0.75"][:count])
    text = {
        "where": "where(t < 1, 0.3*t, 2)",
        "dot": "dot([t, 1, 2], [3, t, 5])",
        "cross": "cross([t, 1, 2], [3, t, 5])[2]",
        "norm": "norm([t, 3, 4])",
        "interp": "interp(t, [0, 1, 2], [1, 3, 2])",
    }.get(name, f"{name}({arguments})")
    formula = Expression(text)
    kernel = pt.kernel("()->()")(lambda t: formula(t, None))  # type: ignore[arg-type]
    for t in (0.1, 0.9, 1.7):
        assert float(kernel(t)) == pytest.approx(float(formula(t, None)), rel=4e-16)  # type: ignore[arg-type]


def test_quantities_of_bodies_joints_and_inputs():
    here = scene()
    own = Expression("speed + altitude + mass", body="box")
    assert own(0.0, here) == 5.0 + 3.0 + 2.0
    other = Expression('norm(position("box") - position("arm")) + angle("arm") + rate("arm")')
    assert other(0.0, here) == pytest.approx(math.sqrt(14) + 2.5, rel=1e-15)
    assert Expression("2*throttle", inputs=("throttle",))(0.0, here) == 1.5
    assert sorted(set(other.bodies())) == ["arm", "box"]
    for name in OF_BODIES:
        assert np.shape(Expression(name, body="box")(0.0, here)) in ((), (3,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed.__class__", "'speed.__class__' is not allowed in a formula"),
        ("__import__('os').system('ls')", "there is no function"),
        ("(lambda: 1)()", "there is no function"),
        ("open('x')", "there is no function 'open'"),
        ("[i for i in t]", "is not allowed in a formula"),
        ("f'{t}'", "is not allowed in a formula"),
        ("'text'", "'text' is not allowed in a formula"),
        ("True", "True is not allowed in a formula"),
        ("1j", "1j is not allowed in a formula"),
        ("t := 3", "the formula cannot be parsed"),
        ("velocity[t]", "an index is a whole number"),
        ("velocity[0:2]", "an index is a whole number"),
        ("sin(t, out=t)", "functions take plain arguments only"),
        ("sin(*t)", "functions take plain arguments only"),
        ("sin(t, t)", "sin does not take 2 arguments"),
        ("norm()", "norm does not take 0 arguments"),
        ("sqrt", "sqrt is a function; it needs arguments"),
        ("speeed", "did you mean 'speed'?"),
        ("position(3)", 'write position("name")'),
        ("t < 1 is True", "is not allowed in a formula"),
        ("a @ b", "is not allowed in a formula"),
        ("a << 2", "is not allowed in a formula"),
        ("{}", "is not allowed in a formula"),
        ("[]", "is not allowed in a formula"),
        ("1e400", "a number in the formula is too large"),
        ("9" * 400, "a number in the formula is too large"),
        ("(" * 300 + "t" + ")" * 300, "the formula"),
        ("-" * 1900 + "t", "the formula"),
        ("t" + "+t" * 2000, "too long"),
        ("2 +", "the formula cannot be parsed"),
        ("\x00", "the formula cannot be parsed"),
    ],
)
def test_nothing_else_can_be_said(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Expression(text, NUMBERS, body="box")


NODES = [n for n in vars(ast).values() if isinstance(n, type) and issubclass(n, ast.expr) and n is not ast.expr]


def test_kinds_of_syntax_that_are_allowed():
    """A new kind of expression in Python is not let in by accident."""
    allowed = {
        "Constant",
        "Name",
        "Call",
        "Subscript",
        "BinOp",
        "UnaryOp",
        "BoolOp",
        "Compare",
        "IfExp",
        "List",
        "Tuple",
    }
    samples = {
        "Attribute": "a.__b", "Lambda": "(lambda: a)", "Dict": "{a: b}", "Set": "{a}", "ListComp": "[a for b in c]",
        "SetComp": "{a for b in c}", "DictComp": "{a: a for b in c}", "GeneratorExp": "(a for b in c)",
        "Await": "await a", "Yield": "(yield)", "YieldFrom": "(yield from a)", "JoinedStr": "f'{a}'",
        "FormattedValue": "f'{a}'", "Starred": "[*a]", "NamedExpr": "(a := b)", "Slice": "a[b:c]",
        "TemplateStr": "t'{a}'", "Interpolation": "t'{a}'",
    }  # fmt: skip
    assert {n.__name__ for n in NODES} <= allowed | set(samples) | {"Num", "Str", "Bytes", "NameConstant", "Ellipsis"}
    for text in samples.values():
        with pytest.raises(ValueError, match=r"formula|index"):
            Expression(text, NUMBERS)


def test_a_law_is_a_function_of_its_arguments():
    law = Law("k*max(length - rest, 0)**3", ("length", "rest"), {"k": 2.0})
    assert law(3.0, 1.0) == 16.0
    assert law(0.5, 1.0) == 0.0
    with pytest.raises(ValueError, match="'speed' is not defined here"):
        Law("speed", ("length",))
    with pytest.raises(ValueError, match="there is no function 'position'"):
        Law('position("box")', ("length",))


def test_a_force_as_a_formula_is_the_force_as_a_function():
    """The same bits, compiled, as the same force written in Python."""
    runs = []
    for force in (
        Expression("-0.5*rho*speed*velocity if t < 0.5 else [0, 0, 1]", {"rho": 1.2}, body="box"),
        lambda t, s: np.where(
            t < 0.5,
            -0.5 * 1.2 * np.sqrt(s["box"].twist[3:] @ s["box"].twist[3:]) * s["box"].velocity,
            np.array([0.0, 0.0, 1.0]),
        ),
    ):
        world = pt.World()
        world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), velocity=(1, 2, 3), angular_velocity=(1, 0, 2))
        world.add_force("f", "box", force)
        runs.append(world.simulate(1.0, 1e-2))
    assert np.array_equal(runs[0].y, runs[1].y)


def test_every_unknown_name_is_listed():
    with pytest.raises(ValueError, match=r"'k' is not defined.*there is no function 'sine'.*'speeed' is not defined"):
        Expression("-k * sine(t) * speeed + k", body="box")
