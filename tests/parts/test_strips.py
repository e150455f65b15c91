"""Strips and their sections: thin aerofoil theory, stall, Mach number, flaps, wakes, typical sections on springs."""

import numpy as np
import pytest
from scipy.special import hankel2

import poinsot as pt
from poinsot.parts.strip import WAGNER, flap_derivatives
from poinsot.spatial import Pose
from poinsot.world import State

RHO = float(pt.US76().at(0.0).density)
R_WB = np.diag([1.0, -1.0, -1.0])  # aircraft axes, heading north, on flat ground
WING = pt.Inertia(20.0, (0, 0, 0), np.diag([4.0, 5.0, 9.0]))


def in_wind(strip, speed, joint, **start):
    """A body with one strip on a joint at rest, in a wind from the north."""
    world = pt.World((0, 0, 0), air=pt.US76(), wind=(-speed, 0, 0))
    world.add_body("wing", WING, joint=joint, placement=Pose(R=R_WB), **start).add(strip)
    return world


@pytest.mark.parametrize("seed", range(4))
def test_lift_and_drag_of_a_moving_strip(seed):
    """Against the formulas, in any motion: angle of attack at 3/4 chord, lift across the flow at 1/4, and damping."""
    rng = np.random.default_rng(seed)
    V, omega = np.array([50.0, 3.0, 4.0]) + rng.normal(size=3), rng.normal(size=3)
    p, c, width, twist = rng.normal(size=3), 1.3, 0.7, 0.1
    foil = pt.Section(lift_slope=5.5, zero_lift=-0.03, drag=0.01, induced=0.04, moment=-0.05)
    world = pt.World((0, 0, 0), air=pt.US76())
    strip = pt.Strip("s", point=p, chord=c, width=width, twist=twist, section=foil)
    world.add_body("a", WING, position=(0, 0, 0), v=np.concatenate([omega, V]), placement=Pose(R=R_WB)).add(strip)
    f, d = np.array([np.cos(twist), 0, -np.sin(twist)]), np.array([np.sin(twist), 0, np.cos(twist)])
    quarter, three = V + np.cross(omega, p), V + np.cross(omega, p - c / 2 * f)
    alpha = np.arctan2(three @ d, three @ f)
    flow = quarter - quarter[1] * np.array([0, 1, 0])
    density = world.scene().air("a", p).density
    q, across = 0.5 * density * (flow @ flow), np.cross([0, 1, 0], flow) / np.linalg.norm(flow)
    CL = 5.5 * (alpha + 0.03)
    force = q * c * width * (CL * across - (0.01 + 0.04 * CL**2) * flow / np.linalg.norm(flow))
    moment = -0.05 * q * c * c * width - np.pi / 16 * density * (flow @ f) * omega[1] * c**3 * width
    F = world.motion().effects["a.s"].wrenches["a"]
    np.testing.assert_allclose(F[3:], force, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(F[:3], np.cross(p, force) + [0, moment, 0], rtol=1e-11, atol=1e-9)


def test_pitch_damping_is_that_of_a_cambered_line():
    """In a steady circle the flow is curved: Cm about the quarter chord is -pi/8 q c/V (thin aerofoil theory)."""
    omega, c, V = 0.2, 1.0, 30.0
    world = pt.World((0, 0, 0), air=pt.US76())
    world.add_body("a", WING, v=(0, omega, 0, V, 0, -omega * c / 2), placement=Pose(R=R_WB)).add(pt.Strip("s", chord=c))
    effect = world.motion().effects["a.s"]
    assert abs(effect.shown["alpha"]) < 1e-15
    assert effect.wrenches["a"][1] == pytest.approx(-np.pi / 8 * omega * c / V * 0.5 * RHO * V**2 * c * c, rel=1e-6)


def test_stall_mach_number_and_polars():
    """Attached below the stall, a flat plate far beyond it, steeper near the speed of sound, or as in a table."""
    foil = pt.Section(drag=0.01, stall=0.26)
    CL, CD, Cm = foil.coefficients(np.array([0.1, 1.0, -1.0, np.pi / 2]), np.zeros(4))
    np.testing.assert_allclose(CL[0], 0.2 * np.pi, rtol=1e-2)
    np.testing.assert_allclose(CL[1:], [2 * np.sin(1) ** 2 * np.cos(1), -2 * np.sin(1) ** 2 * np.cos(1), 0], atol=1e-12)
    np.testing.assert_allclose(CD[1:], [0.01 + 2 * np.sin(1) ** 3] * 2 + [2.01], atol=1e-12)
    np.testing.assert_allclose(Cm[1:], [-(np.sin(1) ** 2) / 2, np.sin(1) ** 2 / 2, -0.5], atol=1e-12)
    fast = pt.Section(compressible=True, moment=-0.1).coefficients(np.array(0.1), np.array([0.6, 0.8, 2.0]))
    np.testing.assert_allclose(fast[0], 0.2 * np.pi / np.array([0.8, 0.6, 0.6]), rtol=1e-12)
    np.testing.assert_allclose(fast[2], -0.1 / np.array([0.8, 0.6, 0.6]), rtol=1e-12)
    table = pt.Table((np.array([-1.0, 1.0]), np.array([0.0, 1.0])), np.arange(12.0).reshape(2, 2, 3))
    np.testing.assert_allclose(pt.Section(polar=table).coefficients(np.array(0.0), np.array(0.5)), (4.5, 5.5, 6.5))
    own = pt.Section(polar=lambda alpha, mach: (alpha, mach, alpha * mach))
    np.testing.assert_allclose(own.coefficients(np.array(0.5), np.array(0.2)), (0.5, 0.2, 0.1))


def test_flaps_are_those_of_thin_aerofoil_theory():
    """Glauert's integrals of the camber line, by quadrature."""
    for share in (0.1, 0.25, 0.5, 1.0):
        theta = np.arccos(2 * share - 1)
        phi = np.linspace(theta, np.pi, 200001)
        slope = np.trapezoid(2 * (1 - np.cos(phi)), phi) / (2 * np.pi)  # of the angle of zero lift
        moment = -np.trapezoid(np.cos(2 * phi) - np.cos(phi), phi) / 2  # pi/4 (A2 - A1)
        np.testing.assert_allclose(flap_derivatives(share), (slope, moment), atol=1e-8)
    assert flap_derivatives(0.0) == (0.0, 0.0)


def test_the_wake_is_that_of_theodorsen():
    """C(k) = H1/(H1 + i H0) of Hankel functions, at all reduced frequencies; half of the lift comes at once."""
    k, (A, b) = np.logspace(-4, 3, 200), WAGNER
    ours = 1 - np.sum(A * 1j * k[:, None] / (1j * k[:, None] + b), axis=1)
    exact = hankel2(1, k) / (hankel2(1, k) + 1j * hankel2(0, k))
    assert np.abs(ours - exact).max() < 0.005
    assert A.sum() == pytest.approx(0.5, abs=1e-15)


SPEED, PERIOD, CHORD = 20.0, 0.25, 1.0


@pytest.mark.parametrize("motion", ["plunge", "pitch"])
def test_an_oscillating_strip_has_theodorsens_lift(motion):
    """Amplitude and phase of lift and moment about the joint, driven at a reduced frequency of 0.63."""
    joint = pt.prismatic((0, 0, 1)) if motion == "plunge" else pt.revolute((0, 1, 0))
    behind, lag = 0.1, 2e-4  # the joint is behind the quarter chord by 0.1 m
    strip = pt.Strip("s", point=(behind, 0, 0), chord=CHORD, width=1.0, unsteady="wagner", mass_lag=lag)
    world, size = in_wind(strip, SPEED, joint), 1e-3
    omega = 2 * np.pi / PERIOD
    world.drive("wing", lambda t: size * np.sin(omega * t))
    run = world.simulate(40 * PERIOD, PERIOD / 1200, every=PERIOD / 40, ledger=False, record=["wing.s.force"])
    t, f = run.time[-40:], run.data["wing.s.force"].values[-40:, 2]
    got = -2j * np.mean(f * np.exp(-1j * omega * t))  # the lift is the imaginary part of this times exp(i omega t)
    b, s = CHORD / 2, 1j * omega
    a = (0.25 + behind / CHORD - 0.5) * 2
    C = hankel2(1, omega * b / SPEED) / (hankel2(1, omega * b / SPEED) + 1j * hankel2(0, omega * b / SPEED))
    if motion == "plunge":
        want = np.pi * RHO * b * b * s * s + 2 * np.pi * RHO * SPEED * b * C * s
    else:
        want = np.pi * RHO * b * b * (SPEED * s - b * a * s * s)
        want = want + 2 * np.pi * RHO * SPEED * b * C * (SPEED + b * (0.5 - a) * s)
    assert abs(got - want * size) < 0.02 * abs(want * size)


def test_divergence_of_a_typical_section():
    """On a torsion spring K, a distance e behind the quarter chord, at q = K/(S e a): the spring is cancelled."""
    K, e, S, a = 900.0, 0.2, 0.6, 5.7
    V = np.sqrt(2 * K / (RHO * S * e * a))
    joint = pt.revolute((0, 1, 0), stiffness=K)
    strip = pt.Strip("s", point=(e, 0, 0), chord=1.0, width=S, section=pt.Section(lift_slope=a))
    for speed, stiffness in ((0.9 * V, 0.19), (V, 0.0), (1.1 * V, -0.21)):
        world = in_wind(strip, speed, joint)
        turned = [world.derivative(0.0, State(np.array([x]), np.zeros(1), np.zeros(0))).v[0] for x in (-1e-5, 1e-5)]
        assert (turned[0] - turned[1]) / 2e-5 * 5.0 / K == pytest.approx(stiffness, abs=2e-9)


def test_reversal_of_a_typical_section():
    """At q = -K tau/(S c dCm) the twist that a flap makes takes away all of its lift."""
    K, S, c, share, delta = 900.0, 0.6, 1.2, 0.3, 0.02
    tau, moment = flap_derivatives(share)
    V = np.sqrt(-2 * K * tau / (RHO * S * c * moment))
    foil = {"chord": c, "width": S / c, "flap": share}
    strip = pt.Strip("s", point=(0.2, 0, 0), deflection=pt.Input("flap"), **foil)
    world = in_wind(strip, V, pt.revolute((0, 1, 0), stiffness=K))
    world.add_input("flap", delta)
    motion = world.motion(State(np.array([-tau * delta]), np.zeros(1), np.zeros(0)))
    small = 1e-6  # the density falls by 3e-7 on the way up of the quarter chord
    assert abs(motion.vdot[0]) * 5.0 < small * K * tau * delta  # at rest in this twist
    assert abs(motion.effects["wing.s"].shown["lift"]) < 1e-9 * 0.5 * RHO * V**2 * S * tau * delta


def test_nothing_at_rest():
    """No airspeed: no force, and finite derivatives, with wake and stall."""
    strip = pt.Strip("s", unsteady="wagner", section=pt.Section(stall=0.3, compressible=True), flap=0.2, deflection=0.1)
    world = in_wind(strip, 0.0, pt.free())
    state = world.start()
    assert np.abs(world.derivative(0.0, state).v).max() == 0

    def f(v, parts):
        return world.derivative(0.0, State(state.q, v, parts)).v

    J = pt.jacobian(pt.kernel("(6),(5)->(6)")(f), (0, 1))(state.v, state.parts)
    assert all(np.all(np.isfinite(x)) for x in J)


def test_numbers_are_paths():
    world = in_wind(pt.Strip("s", twist=0.05), 30.0, pt.free())
    paths = {"wing.s.section.lift_slope", "wing.s.twist", "wing.s.chord", "wing.s.point", "wing.s.section.zero_lift"}
    assert paths <= set(world.paths())
    before = world.motion().effects["wing.s"].shown["lift"]
    world["wing.s.section.lift_slope"] = np.pi
    assert world.motion().effects["wing.s"].shown["lift"] == pytest.approx(before / 2, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chord": 0.0}, "chord of strip 's' must be above zero"),
        ({"width": np.nan}, "width of strip 's' must be finite"),
        ({"flap": 1.2}, "flap of strip 's' is its share of the chord"),
        ({"unsteady": "kuessner"}, "unsteady of strip 's' must be 'none' or 'wagner'"),
        ({"section": 5.7}, "section of strip 's' must be a pt.Section"),
        ({"up": (1, 0, 0)}, "forward and up of strip 's' are parallel"),
        ({"point": (0, 0)}, "point of strip 's' must be three numbers"),
        ({"mass_lag": 0.0}, "mass_lag of strip 's' must be above zero"),
    ],
)
def test_wrong_strips(options, words):
    with pytest.raises(ValueError, match=words):
        pt.Strip("s", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stall": -0.1}, "stall of a section must be above zero"),
        ({"drag": np.inf}, "drag of a section must be finite"),
        ({"polar": pt.Table(([0.0, 1.0],), np.zeros((2, 2)))}, r"1 axes and values of shape \(2,\)"),
        ({"polar": 3.0}, "polar of a section must be a table or a function"),
    ],
)
def test_wrong_sections(options, words):
    with pytest.raises(ValueError, match=words):
        pt.Section(**options)
