"""Beams of rigid segments against Euler and Bernoulli, and against the elastica."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import eigh
from scipy.optimize import fsolve

import poinsot as pt

L, EI, GJ, MU = 3.0, 200.0, 150.0, 1.7  # m, N m^2, N m^2, kg/m
ROOTS = np.array([1.8751040687, 4.6940911330, 7.8547574382])  # of cos x cosh x = -1


def beam(n: int, **numbers: object) -> pt.Beam:
    return pt.Beam("b", **{"length": L, "EI": EI, "mass_per_length": MU, "n": n, "GJ": GJ, "polar": 1e-7, **numbers})


def frequencies(b: pt.Beam, axis: int) -> np.ndarray:
    """Frequencies [rad/s] of small vibrations about one axis of the joints of a cantilever."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_beam(b)
    M = pt.mass_matrix(world.mechanism, world.mechanism.neutral())
    K = np.array([flexure.stiffness[axis] for flexure in b.flexures()])
    own = np.arange(b.n) * 3 + axis
    return np.sqrt(eigh(np.diag(K), M[np.ix_(own, own)], eigvals_only=True))


def bent(b: pt.Beam, force: np.ndarray) -> np.ndarray:
    """The position (x, z) of the tip at rest under a force there, in the x-z plane."""
    world = pt.World(gravity=(0, 0, 0))
    tip = world.add_beam(b)[-1]
    end = b.place(b.length)[1]
    world.add_force("tip", tip, force, point=end)

    def state(theta: np.ndarray) -> pt.State:
        q = np.stack([np.cos(theta / 2), 0 * theta, np.sin(theta / 2), 0 * theta], axis=1)
        return pt.State(q.ravel(), np.zeros(3 * b.n), np.zeros(0))

    def unbalanced(theta: np.ndarray) -> np.ndarray:
        m = world.motion(state(theta))
        return pt.mass_matrix(m.scene.mechanism, m.scene.q)[1::3, 1::3] @ m.vdot[1::3]

    theta, _, found, _ = fsolve(unbalanced, np.full(b.n, -0.5 / b.n), full_output=True, xtol=1e-13)
    assert found == 1
    return world.scene(state(theta))[str(tip)].point(end)[[0, 2]]


@pytest.mark.parametrize(("n", "most"), [(4, (1e-4, 4e-3, 0.026)), (6, (3e-5, 7e-4, 5e-3)), (10, (1e-5, 2e-4, 2e-3))])
def test_bending_frequencies_converge(n, most):
    """First three, against Euler and Bernoulli: with 6 segments to 0.003, 0.07 and 0.5 %."""
    exact = ROOTS**2 * np.sqrt(EI / MU / L**4)
    assert np.all(np.abs(frequencies(beam(n), 1)[:3] / exact - 1) < most)


def test_torsion_frequency_converges():
    polar = 0.02
    exact = np.pi / (2 * L) * np.sqrt(GJ / polar)
    errors = np.array([abs(frequencies(beam(n, polar=polar), 0)[0] / exact - 1) for n in (6, 12, 24)])
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 1.9, atol=0.15)
    assert errors[0] < 0.0035


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_tip_deflection_is_exact(n):
    """P l^3/(3 EI) under a small force at the tip, whatever the number of segments."""
    assert bent(beam(n), np.array([0.0, 0.0, 1e-3]))[1] == pytest.approx(1e-3 * L**3 / (3 * EI), rel=1e-7)


@pytest.mark.parametrize("shape", [lambda x: 1 + 0 * x, lambda x: 1 - 0.25 * x, lambda x: np.where(x < 1.0, 1.0, 0.3)])
def test_quadrature_of_strain_energy(shape):
    """The compliances integrate x^m (l - x)^2/EI exactly up to the degree 2n - 1; all are positive, within the beam."""
    b = beam(4, EI=lambda x: EI * shape(x))
    x, K = b.joints, np.array([flexure.stiffness[1] for flexure in b.flexures()])
    assert np.all(np.diff([0.0, *x, L]) > 0)
    assert np.all(K > 0)
    for m in range(8):
        want = sum(quad(lambda s, m=m: s**m * (L - s) ** 2 / EI / shape(s), *ends)[0] for ends in ((0, 1), (1, L)))
        assert x**m * (L - x) ** 2 @ (1 / K) == pytest.approx(want, rel=2e-3 if shape(2.0) == 0.3 else 1e-10)


def test_place_of_a_point():
    """Every point of the axis lies on the segment that `place` names; a section off the axis shifts the centre."""
    b = beam(4, offset=(0.1, -0.2))
    world = pt.World()
    world.add_beam(b, placement=(0, 0, 5.0))
    scene = world.scene()
    for x in (0.0, 0.3, *b.joints, 2.9, L):
        name, point = b.place(x)
        np.testing.assert_allclose(scene[name].point(point), [x, 0, 5], atol=1e-13)
    np.testing.assert_allclose(scene["b2"].inertia.com[1:], (0.1, -0.2))
    with pytest.raises(ValueError, match="beam 'b' goes from 0 to 3 m"):
        b.place(3.1)


def test_tapered_beam():
    """Mass, centre and deflection, integral of P (l - x)^2/EI, of a tapered beam."""
    stiff, heavy = (lambda x: EI * (1 - 0.25 * x) ** 3), (lambda x: MU * (1 - 0.2 * x))
    b = beam(20, EI=stiff, mass_per_length=heavy)
    links = b.links()
    total = sum((pt.Pose(p=(x, 0, 0)) @ link.inertia for x, link in zip(b.joints, links, strict=True)), 0)
    assert total.mass == pytest.approx(quad(heavy, 0, L)[0], rel=1e-13)
    assert total.com[0] == pytest.approx(quad(lambda x: x * heavy(x), 0, L)[0] / total.mass, rel=1e-13)
    exact = quad(lambda x: 1e-3 * (L - x) ** 2 / stiff(x), 0, L)[0]
    assert bent(b, np.array([0.0, 0.0, 1e-3]))[1] == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(("load", "u", "w"), [(1, 0.05643, 0.30172), (2, 0.16064, 0.49346), (5, 0.38763, 0.71379)])
def test_elastica(load, u, w):
    """A cantilever under P l^2/EI at its tip, bent far: Mattiasson, Int. J. Numer. Methods Eng. 17 (1981), table I."""
    for n, most in ((6, 4e-3), (12, 1e-3)):
        x, z = bent(beam(n), np.array([0.0, 0.0, load * EI / L**2]))
        assert max(abs((L - x) / L - u), abs(z / L - w)) < most


def test_energy_is_conserved_in_large_motion():
    """A soft beam, stiffer to the side, falls and is thrown sideways: the springs are gradients at any angle."""
    world = pt.World()
    tip = world.add_beam(beam(3, polar=0.05, EI=10.0, EI_side=25.0, GJ=8.0))[-1]
    world.add_force(
        "throw", tip, pt.Tabulated([0.0, 0.1, 0.2], [[0, 20.0, 0], [0, 20.0, 0], [0, 0, 0]]), point=(1, 0, 0.2)
    )
    run = world.simulate(2.0, 2.5e-4)
    assert np.abs(run.data["b0_flexure.bent"]).max() > 1.0
    assert np.abs(run.data["b0_flexure.bent"][:, 0]).max() > 0.2
    assert run.ledger.relative_residual.max() < 1e-9


def test_damped_beam_without_torsion_comes_to_rest():
    """Under its own weight q the tip sinks by q l^4/(8 EI)."""
    world = pt.World(gravity=(0, 0, -0.5))
    b = beam(5, GJ=None, damping=0.05)
    world.add_beam(b)
    run = world.simulate(20.0, 1e-3)
    end = pt.Pose.from_quaternion(run["b4"].orientation.values[-1], run["b4"].position.values[-1])
    assert (end @ b.place(L)[1])[2] == pytest.approx(-MU * 0.5 * L**4 / (8 * EI), rel=2e-3)
    assert np.abs(run["b4"].velocity.values[-1]).max() < 1e-4
    assert run.ledger.relative_residual.max() < 1e-7  # the fast modes die out in a few steps


def test_tanks_and_pumps_along_a_wing():
    world = pt.World(gravity=(0, 0, 0))
    hub = world.add_body("hub", pt.Inertia.box(20.0, (1, 1, 0.3)), angular_velocity=(0.1, 0.2, 0.5))
    wing = world.add_beam(beam(3, polar=0.05), hub, placement=(0.5, 0, 0))
    wing[0].add(pt.Tank("fuel", contents=1.0, position=(0.5, 0, 0)))
    wing[2].add(pt.Tank("fuel", contents=2.0, position=(0.5, 0, 0)))
    world.add(pt.Flow("pump", source="b2.fuel", to="b0.fuel", rate=pt.pulse(1.0, 0.1, 0.6)))
    run = world.simulate(1.0, 2e-4)
    assert run.data["b0.fuel.contents"].values[-1] == pytest.approx(2.0, abs=1e-6)
    assert run.ledger.relative_residual[:3].max() < 1e-10


def test_batch_over_stiffness_gives_the_same_bits_as_single_runs():
    world = pt.World()
    world.add_beam(beam(3, polar=0.05))
    K = np.array([[150.0, 100.0, 100.0], [200.0, 300.0, 400.0]])
    batch = world.simulate(0.2, 1e-3, vary={"b1_flexure.stiffness": K})
    for k in range(2):
        one = world.simulate(0.2, 1e-3, vary={"b1_flexure.stiffness": K[k]}, ledger=False)
        np.testing.assert_array_equal(batch.y[-1, k], one.y[-1])


def test_errors_name_the_beam():
    with pytest.raises(ValueError, match="EI of beam 'b' must be above zero"):
        beam(3, EI=lambda x: 1.0 - x)
    with pytest.raises(ValueError, match="beam 'b' needs a length above zero"):
        beam(0)
    with pytest.raises(ValueError, match="polar of beam 'b' must be above zero"):
        beam(3, polar=0.0)
