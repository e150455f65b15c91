"""Wings of strips: on rigid bodies, and on beams whose bending and twist change the lift; the Goland wing."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.spatial import Pose, quaternion
from poinsot.world import State

RHO = float(pt.US76().at(0.0).density)
R_WB = np.diag([1.0, -1.0, -1.0])  # aircraft axes, heading north, on flat ground
TO_THE_RIGHT = R_WB @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # a beam along the right wing
SPEED, CHORD = 40.0, 0.8


def on_beam(n=3, speed=SPEED, beam=None, **options):
    """A beam from the world's origin to the right, with a wing on it, in a wind from the north."""
    world = pt.World((0, 0, 0), air=pt.US76(), wind=(-speed, 0, 0))
    beam = beam or pt.Beam("w", 3.0, EI=2e4, GJ=1e4, mass_per_length=5.0, polar=0.2, n=n)
    world.add_beam(beam, placement=Pose(R=TO_THE_RIGHT))
    world.add(pt.Wing("wing", beam=beam, **{"chord": CHORD, **options}))
    return world, beam


def test_bending_and_twist_are_used_for_the_aerodynamic_forces():
    """A segment bent by 0.2 rad and twisted by 0.1 rad: its lift is that of 0.1 rad, and leans inwards by 0.2 rad.

    De Nivelle, section 2, point 1: "use the bending of the wings to compute aerodynamic forces more accurately".
    """
    world, beam = on_beam()
    bend, twist = quaternion.exp(np.array([0.0, 0.2, 0.0])), quaternion.exp(np.array([0.1, 0.0, 0.0]))
    straight = np.array([1.0, 0, 0, 0])
    q = np.concatenate([straight, straight, quaternion.product(bend, twist)])
    motion = world.motion(State(q, np.zeros(9), np.zeros(0)))
    lift, alpha = (motion.effects["wing"].shown[key] for key in ("lift", "alpha"))
    area = CHORD * np.diff(beam.ends)
    panel = world.description.elements["wing"].panels()[2]
    density = world.scene(State(q, np.zeros(9), np.zeros(0))).air("w2", panel.p).density
    np.testing.assert_allclose(alpha, [0.0, 0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(
        lift, [0, 0, 0.5 * density * SPEED**2 * area[2] * 2 * np.pi * 0.1], rtol=1e-13, atol=1e-12
    )
    f = motion["w2"].pose.R @ motion.effects["wing"].wrenches["w2"][3:]  # world: north, west, up
    np.testing.assert_allclose(f / lift[2], [0, np.sin(0.2), np.cos(0.2)], atol=1e-12)


def test_rates_of_bending_damp():
    """A segment that moves down at w meets the angle of attack atan(w/V)."""
    world, _ = on_beam()
    v = np.zeros(9)
    v[1] = -0.5  # the whole wing turns about its first joint, tip down
    state = State(world.start().q, v, np.zeros(0))
    alpha, beam = world.motion(state).effects["wing"].shown["alpha"], world.description.elements["wing"].beam
    arm = 0.5 * (beam.ends[1:] + beam.ends[:-1]) - beam.joints[0]
    np.testing.assert_allclose(alpha, np.arctan(0.5 * arm / SPEED), rtol=1e-12)


def rigid(state=None, **options):
    world = pt.World((0, 0, 0), air=pt.US76())
    part = pt.Wing("wing", **{"half_span": 5.0, "chord": (1.5, 0.9), "strips": 6, **options})
    v = (0, 0, 0, SPEED, 0, 2.0) if state is None else state
    inertia = pt.Inertia(500.0, (0, 0, 0), np.diag([900.0, 800.0, 1600.0]))
    world.add_body("plane", inertia, placement=Pose(R=R_WB), v=v).add(part)
    effect = world.motion().effects["plane.wing"]
    return effect.wrenches["plane"], effect.shown, part


def test_a_straight_wing_lifts_as_its_area():
    """q S a alpha, of all strips; a tapered one by the chord at the middle of each strip."""
    F, shown, _ = rigid(side="both")
    area, q = 2 * 5.0 * 1.2, 0.5 * RHO * (SPEED**2 + 4.0)
    assert shown["lift"].sum() == pytest.approx(q * area * 2 * np.pi * np.arctan(0.05), rel=1e-6)
    np.testing.assert_allclose(F[[0, 2, 4]], 0.0, atol=1e-9 * abs(F[5]))
    right, left = (rigid(side=side)[0] for side in ("right", "left"))
    np.testing.assert_allclose(right + left, F, rtol=1e-12, atol=1e-9)
    assert right[0] < 0 < left[0]


def test_sweep_takes_the_cosine_of_the_lift():
    """Simple sweep theory: strips across the line feel V cos(sweep), so lift and slope fall by its cosine."""
    v, angle = (0, 0, 0, SPEED, 0, 0.01), np.radians(30)
    level, swept = (rigid(v, sweep=x, chord=1.2)[1]["lift"].sum() for x in (0.0, angle))
    assert swept / level == pytest.approx(np.cos(angle), rel=1e-6)
    _, _, part = rigid(v, sweep=angle, chord=1.2)
    tips = [panel.p for panel in part.panels()]
    assert tips[5][0] == pytest.approx(-np.tan(angle) * tips[5][1], rel=1e-12)
    assert np.sum([panel.chord * panel.width for panel in part.panels()]) == pytest.approx(12.0)


def test_dihedral_rolls_out_of_a_sideslip():
    """Slipping to the right, the right wing meets the air from below: it rolls to the left."""
    slip = (0, 0, 0, SPEED, 4.0, 0)
    assert rigid(slip, dihedral=0.1)[0][0] < -100 < 100 < rigid(slip, dihedral=-0.1)[0][0]
    assert abs(rigid(slip)[0][0]) < 1e-9


def test_ailerons_roll_and_flaps_lift():
    """Trailing edge down on the right and up on the left; only where the aileron is."""
    level, on = (0, 0, 0, SPEED, 0, 0), {"flap": 0.25, "deflection": 0.1, "chord": 1.2}
    F, shown, _ = rigid(level, **on, aileron=(0.5, 1.0))
    assert np.all(shown["lift"][:3] == 0)
    assert np.all(shown["lift"][3:6] > 0)
    np.testing.assert_allclose(shown["lift"][6:], -shown["lift"][:6], rtol=1e-12, atol=1e-9)
    assert F[0] < -100
    assert abs(F[5]) < 1e-9
    assert rigid(level, **on, together=True)[0][5] < -100  # up
    part = rigid(level, **on, aileron=(0.25, 1.0))[1]["lift"]
    assert part[1] == pytest.approx(part[2] / 2, rel=1e-12)  # the aileron begins in the middle of the second strip


def test_roll_damping_is_that_of_strip_theory():
    """-q S a p b^2/(12 V) of a straight wing without taper, at a small rate, b being the whole span."""
    p, n = 1e-3, 40
    F = rigid((p, 0, 0, SPEED, 0, 0), chord=1.2, strips=n)[0]
    exact = -0.5 * RHO * SPEED * 12.0 * 2 * np.pi * p * 100.0 / 12
    assert F[0] == pytest.approx(exact, rel=1 / (2 * n) ** 2 * 1.01 + 1e-6)


# The Goland wing: Goland, J. Appl. Mech. 12 (1945). The exact solution of Goland and Luke, J. Appl. Mech. 15 (1948), by
# strip theory with Theodorsen's function in air of sea level, has its flutter at 137.2 m/s and 70.7 rad/s.
SPAN, C = 6.096, 1.8288  # m
GOLAND = {"EI": 9.77e6, "EI_side": 9.77e8, "GJ": 0.987e6, "mass_per_length": 35.71, "offset": (0.1 * C, 0.0)}
POLAR = 8.64 - 35.71 * (0.1 * C) ** 2  # kg m; 8.64 about the elastic axis


@pytest.fixture(scope="module")
def goland():
    """A(V) of small motions about rest at an airspeed [m/s]."""
    beam = pt.Beam("w", SPAN, n=6, polar=POLAR, **GOLAND)
    world, _ = on_beam(beam=beam, chord=C, axis=0.33, unsteady="wagner", mass_lag=2e-4)
    system, start = world.system(["air.winds[0].velocity"]), world.start()
    nv, size = system.nv, 2 * system.nv + system.ns

    @pt.kernel(f"({size}),()->({size})")
    def rate(x, V):
        now = State(kinematics.integrate(system.mechanism, start.q, x[:nv]), x[nv : 2 * nv], x[2 * nv :])
        change = system.derivative(0.0, now, {"air.winds[0].velocity": np.stack([-V, 0 * V, 0 * V])})
        return np.concatenate([now.v, change.v, change.parts])

    h = 1e-6 * np.eye(size)
    return lambda V: ((rate(h, V) - rate(-h, V)) / 2e-6).T


def test_goland_wing_flutters(goland):
    """Damped below, growing above: speed and frequency within 2 % of the published ones."""
    speeds = np.linspace(125.0, 145.0, 5)
    least = []
    for V in speeds:
        values = np.linalg.eigvals(goland(V))
        values = values[(values.imag > 20) & (values.imag < 150)]
        least.append(values[np.argmax(values.real)])
    least = np.array(least)
    assert np.all(np.diff(least.real) > 0)
    speed = np.interp(0.0, least.real, speeds)
    assert speed == pytest.approx(137.2, rel=0.02)
    assert np.interp(speed, speeds, least.imag) == pytest.approx(70.7, rel=0.02)


def test_goland_wing_diverges(goland):
    """At q = (pi/2)^2 GJ/(span^2 c e a), of a uniform wing: 252.3 m/s."""
    e = (0.33 - 0.25) * C
    exact = np.sqrt(2 * (np.pi / 2) ** 2 * GOLAND["GJ"] / (SPAN**2 * C * e * 2 * np.pi) / RHO)
    assert exact == pytest.approx(252.3, rel=1e-3)
    signs = [np.linalg.slogdet(goland(V))[0] for V in (0.99 * exact, 1.003 * exact)]
    assert signs[0] == -signs[1]


@pytest.mark.slow
def test_a_glider_with_flexible_wings_books_its_energy():
    """Wings that bend, in a gust: the ledger closes, the air's work included."""
    world = pt.World(air=pt.US76(), wind=pt.Gust((0, 0, -5.0), rise=0.5, start=0.2))
    hull = pt.Inertia(200.0, (0.1, 0, 0), np.diag([150.0, 600.0, 650.0]))
    world.add_body("hull", hull, start=pt.Start(altitude=500.0, airspeed=30.0))
    for name, yaw in (("right", np.pi / 2), ("left", -np.pi / 2)):
        beam = pt.Beam(name, 6.0, EI=3e4, EI_side=3e5, GJ=2e4, mass_per_length=4.0, polar=0.3, n=3, damping=0.005)
        world.add_beam(beam, "hull", Pose.from_euler((0, 0, yaw)))
        foil = pt.Section(zero_lift=-0.05, drag=0.01, induced=0.01, stall=0.25)
        world.add(pt.Wing(f"{name}_wing", beam=beam, chord=0.8, section=foil, forward=(0, -np.sign(yaw), 0)))
    world.add(pt.Wing("tail", body="hull", half_span=1.2, chord=0.6, strips=2, position=(-4.0, 0, 0), twist=-0.02))
    run = world.simulate(1.5, 5e-4, every=0.05)
    assert run.ledger.relative_residual.max() < 1e-8
    assert np.abs(run.data["right0_flexure.bent"]).max() > 0.02
    np.testing.assert_allclose(run.data["right_wing.lift"], run.data["left_wing.lift"], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"half_span": None}, "needs its half_span"),
        ({"strips": 0}, "strips of wing 'wing' must be a whole number"),
        ({"side": "up"}, "side of wing 'wing' must be one of"),
        ({"aileron": (0.8, 0.5)}, "aileron of wing 'wing' goes from"),
        ({"chord": (1, 2, 3)}, "chord of wing 'wing' must be a number"),
        ({"chord": -1.0}, "chord of wing 'wing' must be above zero"),
        ({"beam": "w"}, "beam of wing 'wing' must be a pt.Beam"),
        ({"twist": np.inf}, "twist of wing 'wing' must be finite"),
    ],
)
def test_wrong_wings(options, words):
    with pytest.raises(ValueError, match=words):
        pt.Wing("wing", **{"half_span": 1.0, **options})


def test_a_wing_on_a_beam_is_swept_by_the_beam():
    with pytest.raises(ValueError, match="the beam's placement has its sweep"):
        pt.Wing("wing", beam=pt.Beam("w", 1.0, 1.0, 1.0), sweep=0.3)


def test_the_aileron_of_a_wing_on_a_beam_turns_by_its_command():
    """A beam carries one wing, a right one: no sign changes."""
    _, beam = on_beam()
    wing = pt.Wing("other", beam=beam, chord=CHORD, aileron=(beam.ends[1] / beam.length, 1.0))
    assert [panel.deflection for panel in wing.panels(0.1)] == pytest.approx([0.0, 0.1, 0.1])


@pytest.mark.parametrize(("side", "signs"), [("right", [1]), ("left", [-1]), ("both", [1, -1])])
def test_ailerons_of_the_two_sides_turn_against_each_other(side, signs):
    wing = pt.Wing("wing", "plane", half_span=2.0, chord=CHORD, side=side, strips=2)
    panels = wing.panels(0.1)
    assert [panel.deflection for panel in panels] == pytest.approx([0.1 * sign for sign in signs for _ in range(2)])
    assert [panel.p[1] for panel in panels] == pytest.approx([sign * y for sign in signs for y in (0.5, 1.5)])
