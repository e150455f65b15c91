"""Equations of motion in symbols: the book's form, and the numbers of the compiled functions."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import kinematics

sympy = pytest.importorskip("sympy", reason="SymPy is not installed")


def rod(m: float) -> pt.Inertia:
    return pt.Inertia(m, (0, 0, -0.5), np.diag([m / 12, m / 12, 0.01]))


PENDULUM = pt.Mechanism([pt.Link("arm", rod(2.0), joint=pt.revolute((0, 1, 0)))])
DOUBLE = pt.Mechanism(
    [
        pt.Link("upper", rod(2.0), joint=pt.revolute((0, 1, 0))),
        pt.Link("lower", rod(1.0), "upper", pt.revolute((0, 1, 0)), pt.Pose(p=(0, 0, -1))),
    ]
)
TOP = pt.Mechanism([pt.Link("top", pt.Inertia(1.0, (0, 0, 0.2), np.diag([0.01, 0.01, 0.005])), joint=pt.spherical())])
SKEW = pt.Mechanism(
    [
        pt.Link("turret", rod(2.0), joint=pt.revolute((0, 0, 1))),
        pt.Link("boom", rod(1.0), "turret", pt.revolute((0.6, 0.8, 0)), pt.Pose(p=(0.1, 0.2, -1))),
        pt.Link("slide", rod(1.0), "boom", pt.prismatic((0, 0, 1))),
    ]
)
PUCK = pt.Inertia(1.0, (0.1, 0, 0), np.diag([0.1, 0.2, 0.3]))
PLANAR = pt.Mechanism([pt.Link("puck", PUCK, joint=pt.planar((0, 0, 1)))])
FREE = pt.Mechanism([pt.Link("body", pt.Inertia(1.0, (0.1, 0, 0.2), np.diag([0.1, 0.12, 0.13])), joint=pt.free())])


@pytest.mark.parametrize("mech", [PENDULUM, DOUBLE, TOP, SKEW, PLANAR, FREE], ids=lambda m: m.links[0].name)
def test_numbers_are_those_of_inverse_dynamics(mech):
    rng = np.random.default_rng(1)
    symbols = mech.equations()
    force = sympy.lambdify([symbols.q, symbols.v, symbols.vdot], symbols.forces)
    split = symbols.mass_matrix * sympy.Matrix(symbols.vdot) + symbols.bias
    linear = sympy.lambdify([symbols.q, symbols.v, symbols.vdot], split)
    for _ in range(5):
        q = kinematics.integrate(mech, mech.neutral(), rng.normal(size=mech.nv))
        v, a = rng.normal(size=(2, mech.nv))
        wanted = pt.inverse_dynamics(mech, q, v, a)
        np.testing.assert_allclose(force(q, v, a), wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(np.ravel(linear(q, v, a)), wanted, rtol=1e-12, atol=1e-12)


def test_the_pendulum_is_that_of_the_book():
    """(I + m c^2) qddot + m g c sin q = tau."""
    symbols = PENDULUM.equations()
    (q,), (a,) = symbols.q, symbols.vdot
    assert sympy.simplify(symbols.forces[0] - (sympy.Rational(2, 3) * a + sympy.Rational("9.81") * sympy.sin(q))) == 0
    assert str(symbols) == "2*a_arm/3 + 9.81*sin(q_arm) = tau_arm"


def test_the_double_pendulum_is_that_of_the_book():
    """M = [[I1 + I2 + 2 m2 l c2 cos q2, ...]], and the centrifugal terms that follow from it."""
    symbols = DOUBLE.equations()
    _, q2 = symbols.q
    v1, v2 = symbols.v
    third = sympy.Rational(1, 3)
    wanted = sympy.Matrix([[2 + sympy.cos(q2), third + sympy.cos(q2) / 2], [third + sympy.cos(q2) / 2, third]])
    assert sympy.simplify(symbols.mass_matrix - wanted) == sympy.zeros(2, 2)
    still = symbols.bias.subs(dict.fromkeys(symbols.q[:1], 0)).subs(sympy.Symbol("g"), 0)
    assert sympy.expand(still[1]).coeff(v1, 2) == sympy.sin(q2) / 2
    assert sympy.expand(still[0]).coeff(v1 * v2) == -sympy.sin(q2)


def test_latex_has_dots_for_rates_of_coordinates_only():
    assert r"\ddot{q}_{arm}" in PENDULUM.equations().latex()
    assert PENDULUM.equations()._repr_latex_().startswith(r"$\begin{aligned}")
    text = TOP.equations().latex()
    assert r"\dot{v}_{top 0}" in text
    assert r"\dot{q}" not in text


def test_links_whose_names_would_coincide_get_numbers():
    links = [pt.Link(name, rod(1.0), joint=pt.revolute((0, 1, 0))) for name in ("a b", "a_b")]
    assert [str(q) for q in pt.Mechanism(links).equations().q] == ["q_1", "q_2"]


def test_large_systems_and_loops_are_refused():
    chain = [pt.Link(f"l{k}", rod(1.0), f"l{k - 1}" if k else None, pt.revolute((0, 1, 0))) for k in range(7)]
    with pytest.raises(ValueError, match="at most 6 degrees of freedom"):
        pt.Mechanism(chain).equations()
