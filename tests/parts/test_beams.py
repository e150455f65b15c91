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
    end = (b.length / b.n, 0.0, 0.0)
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


def test_bending_frequencies_converge():
    """First three, with the second order, and to 0.4 % with 40 segments."""
    exact = ROOTS**2 * np.sqrt(EI / MU / L**4)
    errors = np.array([np.abs(frequencies(beam(n), 1)[:3] / exact - 1) for n in (10, 20, 40)])
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.12)
    assert errors[-1].max() < 4e-3
    np.testing.assert_allclose(frequencies(beam(5), 1)[0], exact[0], rtol=0.02)


def test_torsion_frequency_converges():
    polar = 0.02
    exact = np.pi / (2 * L) * np.sqrt(GJ / polar)
    errors = np.array([abs(frequencies(beam(n, polar=polar), 0)[0] / exact - 1) for n in (5, 10, 20)])
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.05)
    assert errors[0] < 0.005


def test_tip_deflection_is_that_of_the_trapezoidal_rule():
    """P l^3/(3 EI) (1 + 1/(2 n^2)) under a small force at the tip."""
    for n in (3, 5, 8):
        z = bent(beam(n), np.array([0.0, 0.0, 1e-3]))[1]
        assert z == pytest.approx(1e-3 * L**3 / (3 * EI) * (1 + 0.5 / n**2), rel=1e-7)


def test_tapered_beam():
    """Mass, centre and deflection, integral of P (l - x)^2/EI, of a tapered beam."""
    stiff, heavy = (lambda x: EI * (1 - 0.25 * x) ** 3), (lambda x: MU * (1 - 0.2 * x))
    b = beam(20, EI=stiff, mass_per_length=heavy)
    links = b.links()
    total = sum((pt.Pose(p=(k * L / 20, 0, 0)) @ link.inertia for k, link in enumerate(links)), 0)
    assert total.mass == pytest.approx(quad(heavy, 0, L)[0], rel=1e-13)
    assert total.com[0] == pytest.approx(quad(lambda x: x * heavy(x), 0, L)[0] / total.mass, rel=1e-13)
    exact = quad(lambda x: 1e-3 * (L - x) ** 2 / stiff(x), 0, L)[0]
    assert bent(b, np.array([0.0, 0.0, 1e-3]))[1] == pytest.approx(exact, rel=3e-3)


@pytest.mark.parametrize(("load", "u", "w"), [(1, 0.05643, 0.30172), (2, 0.16064, 0.49346), (5, 0.38763, 0.71379)])
def test_elastica(load, u, w):
    """A cantilever under P l^2/EI at its tip, bent far: Mattiasson, Int. J. Numer. Methods Eng. 17 (1981), table I."""
    errors = []
    for n in (8, 16):
        x, z = bent(beam(n), np.array([0.0, 0.0, load * EI / L**2]))
        errors.append(max(abs((L - x) / L - u), abs(z / L - w)))
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


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
    """Its joints rotate by M l/(n EI), that at the root by half of it, with M = q (l - x)^2/2 of its own weight q."""
    world = pt.World(gravity=(0, 0, -0.5))
    world.add_beam(beam(5, GJ=None, damping=0.05))
    run = world.simulate(20.0, 1e-3)
    joints = np.arange(4) * L / 5
    turns = MU * 0.5 * (L - joints) ** 2 / 2 * (L / 5) / EI * np.array([0.5, 1, 1, 1])
    assert run["b4"].position.values[-1, 2] == pytest.approx(-turns @ (0.8 * L - joints), rel=2e-3)
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
