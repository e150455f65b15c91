"""The equations of motion of small systems in symbols, from the same functions that are compiled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot.fuse import symbolic
from poinsot.mechanism import kinematics
from poinsot.mechanism.dynamics import inverse_dynamics
from poinsot.mechanism.model import Mechanism, coordinates

MOST = 6  # degrees of freedom; beyond, terms are counted in thousands
SIMPLE = (1, 2, 3, 4, 6, 8, 12)  # denominators that are shown; other fractions are shown in decimals


@dataclass(frozen=True, eq=False)
class MotionEquations:
    """M(q) vdot + bias(t, q, v) = tau, one equation per degree of freedom, as SymPy has them.

    `q`, `v`, `vdot`, `tau`, `free`: the symbols; `forces`: the expressions that equal tau (for a world, whose forces
    are all in them, zero). In a notebook it shows itself; `latex()` gives the text, `forces[k].subs(...)` the numbers.
    """

    q: tuple[Any, ...]
    v: tuple[Any, ...]
    vdot: tuple[Any, ...]
    tau: tuple[Any, ...]
    forces: tuple[Any, ...]
    free: dict[str, Any]
    rates: tuple[bool, ...]  # whether v[k] is the rate of a coordinate, shown with a dot

    @cached_property
    def mass_matrix(self) -> Any:
        """M (nv, nv), the coefficients of vdot."""
        sp = symbolic.sympy()
        return sp.Matrix([[sp.expand(force).coeff(a) for a in self.vdot] for force in self.forces])

    @cached_property
    def bias(self) -> Any:
        """The bias force (nv,), at zero acceleration: gravity, Coriolis and centrifugal terms, and forces."""
        sp = symbolic.sympy()
        still = dict.fromkeys(self.vdot, 0)
        return sp.Matrix([sp.expand(force).subs(still) for force in self.forces])

    def latex(self) -> str:
        """One line of LaTeX per equation, aligned."""
        sp, dots = symbolic.sympy(), self._dots()
        lines = []
        for k, force in enumerate(self.forces):
            terms = sp.collect(sp.expand(force), self.vdot)
            right = sp.latex(self.tau[k]) if self.tau else "0"
            lines.append(f"{sp.latex(_readable(terms), symbol_names=dots)} &= {right}")
        return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def __str__(self) -> str:
        right = [str(tau) for tau in self.tau] or ["0"] * len(self.forces)
        return "\n".join(f"{_readable(force)} = {tau}" for force, tau in zip(self.forces, right, strict=True))

    def _dots(self) -> dict[Any, str]:
        """How LaTeX writes the rates: with dots."""
        sp = symbolic.sympy()
        dotted = {}
        for v, a, is_rate in zip(self.v, self.vdot, self.rates, strict=True):
            index = sp.latex(v).partition("_")[2]
            dotted[v] = rf"\dot{{q}}_{index}" if is_rate else sp.latex(v)
            dotted[a] = rf"\ddot{{q}}_{index}" if is_rate else rf"\dot{{v}}_{index}"
        return dotted


def _readable(expression: Any) -> Any:
    """Fractions that are not simple as decimals of six digits."""
    sp = symbolic.sympy()
    simple = {n for n in expression.atoms(sp.Rational) if n.q in SIMPLE and abs(n.p) <= 100}
    return expression.xreplace({n: sp.Float(n, 6) for n in expression.atoms(sp.Rational) - simple if n.q > 1})


def symbols_of(mech: Mechanism) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Symbols q, v, vdot (a) and tau, named by the links; by numbers, if names would coincide."""
    sp = symbolic.sympy()

    def named(letter: str, of: str) -> list[Any]:
        ends = [f"{name}{place}".replace("[", "_").strip("]") for name, place in coordinates(mech, of)]
        ends = ["".join(c if c.isalnum() else "_" for c in end) for end in ends]
        ends = ends if len(set(ends)) == len(ends) else [str(k + 1) for k in range(len(ends))]
        return [sp.Symbol(f"{letter}_{end}", real=True) for end in ends]

    return named("q", "q"), named("v", "v"), named("a", "v"), named("tau", "v")


def derived(
    mech: Mechanism,
    function: Callable[..., Any],
    free: dict[str, Any],
    time: Sequence[Any] = (),
    with_tau: bool = True,
) -> MotionEquations:
    """Equations from a function (q, v, vdot, *time, *free) whose results equal tau, or zero."""
    if mech.nv > MOST:
        raise ValueError(f"{mech}: equations in symbols are for at most {MOST} degrees of freedom.")
    q, v, a, tau = symbols_of(mech)
    taken = {str(symbol) for symbol in (*q, *v, *a, *tau, *time)}
    for path, symbols in free.items():
        if clash := taken & {str(symbol) for symbol in np.ravel(symbols)}:
            raise ValueError(f"the symbol of {path!r}, {min(clash)}, has another meaning: leave it out of free.")
    results = symbolic.expressions(function, q, v, a, *time, *free.values())
    lengths = [
        sum(x**2 for x in q[where][:4])
        for link, where in zip(mech.links, mech.q_slices, strict=True)
        if link.joint.type.attitude
    ]
    forces = tuple(_simplified(result, lengths, a) for result in results)
    return MotionEquations(tuple(q), tuple(v), tuple(a), tuple(tau) if with_tau else (), forces, free, _rates(mech))


def _rates(mech: Mechanism) -> tuple[bool, ...]:
    """Which velocities are rates of the coordinates with the same name: so for any q and v."""
    rng = np.random.default_rng(1)
    q = kinematics.integrate(mech, mech.neutral(), rng.normal(size=mech.nv))
    v = rng.normal(size=mech.nv)
    rate = kinematics.position_rate(mech, q, v)
    same = []
    for where_q, where_v in zip(mech.q_slices, mech.v_slices, strict=True):
        equal = where_q.stop - where_q.start == where_v.stop - where_v.start
        same += [equal and bool(rate[where_q][k] == v[where_v][k]) for k in range(where_v.stop - where_v.start)]
    return tuple(same)


def _simplified(expression: Any, lengths: Sequence[Any], vdot: Sequence[Any]) -> Any:
    """Products of sines and cosines as sums, in which all that cancels has cancelled; quaternions of length one."""
    sp = symbolic.sympy()
    as_sums = require("sympy.simplify.fu", "symbolic", symbolic.PURPOSE).TR8
    ones = {sp.sqrt(length): sp.Integer(1) for length in lengths} | {length: sp.Integer(1) for length in lengths}
    expression = sp.expand(sp.expand(expression.xreplace(ones)).xreplace(ones))
    expression = sp.expand(as_sums(expression)) if expression.has(sp.sin, sp.cos) else expression
    for length in lengths:
        last = sorted(length.free_symbols, key=str)[0]
        expression = sp.expand(sp.rem(expression, length - 1, last)) if expression.is_polynomial(last) else expression
    expression = sp.Add(*(_over_factors(term) for term in sp.Add.make_args(expression)))
    sums = {n: symbolic.number(float(n)) for n in expression.atoms(sp.Rational) if n.q > symbolic.LARGEST}
    return sp.collect(expression.xreplace(sums), vdot)


def _over_factors(term: Any) -> Any:
    """A term whose denominator, if it is a sum, is a product again: r^3, not r x^2 + r y^2 + r z^2."""
    sp = symbolic.sympy()
    above, below = sp.fraction(term)
    return above / sp.factor(below) if below.is_Add else term


def equations(mech: Mechanism) -> MotionEquations:
    """The equations of motion of a tree of at most six degrees of freedom: tau(q, v, vdot), by Newton and Euler."""
    if mech.closures:
        raise ValueError(f"{mech} has loops: equations in symbols are for trees.")
    return derived(mech, lambda q, v, a: inverse_dynamics(mech, q, v, a), {})
