"""Modes: of the fighter, of a glider with bending wings against a beam's eigenvalue problem and strip theory."""

import numpy as np
import pytest
from study_worlds import fighter

import poinsot as pt
from poinsot.study.linear import Linear
from poinsot.study.mode_table import modes_of

R_WB = np.diag([1.0, -1.0, -1.0])  # aircraft axes, heading north, on flat ground


@pytest.fixture(scope="module")
def level():
    return fighter().trim("level", hold={"airspeed": 153.0, "altitude": 0.0})


def test_fighter_has_the_modes_of_an_aircraft(level):
    """The eigenvalues are those of difference quotients of the motion itself, in other coordinates."""
    modes = fighter().linearise(level).modes()
    assert {"phugoid", "short period", "Dutch roll", "roll", "spiral", "heading", "altitude"} <= set(modes.names)
    np.testing.assert_allclose(modes.participation.sum(axis=1), 1.0)
    assert 1.8 < abs(modes["short period"]) < 2.0  # Stevens, Lewis and Johnson, example 3.8: 2.0 rad/s at 0.30 c
    assert modes.damping[modes.names.index("phugoid")] == pytest.approx(0.1, abs=0.03)
    assert np.sqrt(2) * 9.81 / 153.0 == pytest.approx(abs(modes["phugoid"]), rel=0.2)  # Lanchester
    by_air = fighter().linearise(level, states="uvw")
    assert by_air.states[:3] == ("u", "v", "w")
    np.testing.assert_allclose(by_air.eigenvalues(), fighter().linearise(level).eigenvalues(), atol=1e-9)
    assert "short period" in str(modes)
    assert modes.data.participation.dims == ("mode", "state")


def test_a_disturbance_follows_the_linear_model(level):
    """After a small change of alpha and q, the states after a second are expm(A t) x, to second order."""
    from scipy.linalg import expm

    world, linear = fighter(), fighter().linearise(level)
    coordinates = world.linearise(level, outputs=("f16.airspeed", "f16.alpha"))
    assert coordinates.outputs == ("f16.airspeed", "f16.alpha")
    x, ends = np.zeros(len(linear.states)), []
    x[linear.states.index("q")] = 1e-5
    for sign in (1, -1):
        v = level.state.v.copy()
        v[1] += sign * x[linear.states.index("q")]
        y = np.concatenate([level.state.q, v, level.state.parts])
        start = level.run_state
        moved = type(start)(
            start.layout, 0.01, 0.0, 0, np.concatenate([y, start.y[len(y) :]]), start.x, start.p, start.times
        )
        run = world.simulate(1.0, 0.01, start=moved, method="midpoint", record=["airspeed", "alpha"], ledger=False)
        ends.append([run.data.airspeed.values[-1, 0], run.data.alpha.values[-1, 0]])
    want = coordinates.C @ expm(linear.A * 1.0) @ x
    np.testing.assert_allclose((np.array(ends[0]) - ends[1]) / 2, want, rtol=2e-4)


def test_many_at_once_are_each_alone():
    world = fighter()
    trims = world.trim("level", vary={"airspeed": [140.0, 200.0], "altitude": [0.0, 3000.0]})
    both = world.linearise(trims)
    assert both.A.shape == (2, 11, 11)
    assert [len(m) for m in both.modes()] == [len(both[0].modes()), len(both[1].modes())]
    alone = world.linearise(world.trim("level", hold={"airspeed": 200.0, "altitude": 3000.0}))
    np.testing.assert_allclose(both[1].A, alone.A, atol=1e-9)
    np.testing.assert_allclose(both[1].B, alone.B, atol=1e-9)
    with pytest.raises(TypeError, match="no instances"):
        alone[0]
    with pytest.raises(ValueError, match=r"states='body' must be"):
        world.linearise(trims, states="body")
    with pytest.raises(ValueError, match=r"did you mean 'airspeed'"):
        world.linearise(trims, outputs=("f16.airsped",))


def test_the_model_goes_to_python_control(level):
    linear = fighter().linearise(level, outputs=("f16.load_factor",))
    system = linear.to_control()
    omega = np.array([0.3, 2.0, 11.0])
    theirs = np.array([system(1j * w)[0, 1] for w in omega])
    np.testing.assert_allclose(linear.response(omega, "f16.load_factor", "elevator"), theirs, rtol=1e-9)
    assert system.state_labels[-1] == "f16_engine_power"
    with pytest.raises(ValueError, match=r"did you mean 'elevator'"):
        linear.response(omega, "f16.load_factor", "elevater")


def test_plots_draw_into_given_axes(level):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    linear = fighter().linearise(level)
    figure, axes = plt.subplots(2, 1)
    assert linear.bode("alpha", "elevator", ax=axes) is figure
    line = axes[0].lines[0]
    assert line.get_ydata()[300] == pytest.approx(
        20 * np.log10(abs(linear.response(line.get_xdata()[300:301], "alpha", "elevator")[0]))
    )
    with pytest.raises(ValueError, match="1 axes are given for 2 panels"):
        linear.bode("alpha", "elevator", ax=axes[0])
    linear.root_locus()
    plt.close("all")


def test_a_root_locus_and_a_flutter_diagram_follow_each_mode():
    """Two oscillators whose frequencies cross, one of which loses its damping at 60 m/s: each line is one of them."""
    import matplotlib.pyplot as plt

    speeds = np.linspace(20.0, 100.0, 41)
    sigma, omega = np.stack([0.05 * (speeds - 60.0), np.full(41, -1.0)]), np.stack([2 + 0.1 * speeds, 0 * speeds + 8])
    A = np.zeros((41, 4, 4))
    for k in range(2):
        i, j = 2 * k, 2 * k + 1
        A[:, i, i] = A[:, j, j] = sigma[k]
        A[:, i, j], A[:, j, i] = omega[k], -omega[k]
    linear = Linear(A, np.zeros((41, 4, 0)), np.zeros((41, 4)), ("a", "b", "c", "d"), ())
    figure, (damping, frequency) = plt.subplots(2, 1)
    assert linear.flutter(speeds, ax=(damping, frequency)) is figure
    assert (damping.get_ylabel(), frequency.get_ylabel()) == ("damping ratio", "frequency [rad/s]")
    ratio = -sigma / np.hypot(sigma, omega)
    for lines, wanted in ((damping.lines[1:], ratio), (frequency.lines, omega)):
        drawn = sorted((line.get_ydata() for line in lines), key=lambda y: y[0])
        np.testing.assert_allclose(drawn, sorted(wanted, key=lambda y: y[0]), atol=1e-12)
    _, plane = plt.subplots()
    linear.root_locus(speeds, label="speed [m/s]", ax=plane)
    dots = np.sort_complex(np.asarray(plane.collections[0].get_offsets()) @ [1, 1j])
    np.testing.assert_allclose(dots, np.sort_complex(np.concatenate([sigma + 1j * omega, sigma - 1j * omega]).ravel()))
    assert plane.get_xlabel() == "real part [1/s]"
    assert "speed [m/s]" in [ax.get_ylabel() for ax in plane.figure.axes]
    with pytest.raises(ValueError, match="2 speeds for 41 linear models"):
        linear.flutter([1.0, 2.0])
    plt.close("all")


# A glider whose wings bend.

SPAN, SEGMENTS, CHORD, SPEED, SLOPE = 7.0, 5, 0.9, 35.0, 5.5


def glider(speed, heave_only):
    """A hull with two bending wings, in a wind of this speed from ahead, or in a vacuum; free, or only up and down."""
    air = {} if speed is None else {"air": pt.US76(), "wind": (-speed, 0, 0)}
    world = pt.World((0, 0, 0), **air)
    hull = {"joint": pt.prismatic((0, 0, 1))} if heave_only else {}
    turned = pt.Pose(R=R_WB)
    world.add_body("hull", pt.Inertia.box(250.0, (5.0, 0.7, 0.8)), placement=turned, **hull)
    beams = []
    for name, side in (("left", -1.0), ("right", 1.0)):
        beam = pt.Beam(
            name, SPAN, EI=lambda x: 6e4 * (1 - 0.1 * x), GJ=1e6, EI_side=6e7, mass_per_length=lambda x: 9 - 0.8 * x,
            polar=0.3, n=SEGMENTS,
        )  # fmt: skip
        world.add_beam(beam, "hull", pt.Pose.from_euler([0, 0, side * np.pi / 2], p=(0, 0.35 * side, 0)))
        if speed is not None:
            forward = (0, -side, 0)
            section = pt.Section(lift_slope=SLOPE)
            world.add(pt.Wing(f"{name}_strips", beam=beam, chord=CHORD, section=section, forward=forward, axis=0.25))
        beams.append(beam)
    return world, beams[0]


def beam_matrices(beam, hull):
    """M, K of hull and wings that move up together: z of the hull and the slopes of the joints, by the integrals
    int m phi_i phi_j dx of the shapes phi_0 = 1, phi_k = max(x - x_k, 0), on each rigid segment."""
    x_k, ends, n = beam.joints, beam.ends, beam.n
    nodes, weights = np.polynomial.legendre.leggauss(12)
    M, K, w = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)), []
    for k in range(n):
        half = 0.5 * (ends[k + 1] - ends[k])
        x, dx = 0.5 * (ends[k + 1] + ends[k]) + half * nodes, half * weights
        shapes = np.stack([np.ones_like(x), *(np.where(j <= k, x - x_k[j], 0.0) for j in range(n))])
        M += 2 * np.einsum("ix,jx,x->ij", shapes, shapes, dx * (9 - 0.8 * x))
        EI, side = 6e4 * (1 - 0.1 * x), 6e7
        turning = np.array([0.0, *(1.0 * (j <= k) for j in range(n))])
        M += 2 * np.outer(turning, turning) * (dx @ (0.3 * EI / (EI + side)))
        middle = 0.5 * (ends[k + 1] + ends[k])
        w.append((np.array([1.0, *(middle - x_k[j] if j <= k else 0.0 for j in range(n))]), 2 * half))
    M[0, 0] += hull
    K[1:, 1:] = np.diag([2 * flexure.stiffness[1] for flexure in beam.flexures()])
    return M, K, w


def test_bending_wings_have_the_frequencies_of_a_beam():
    world, beam = glider(None, heave_only=True)
    M, K, _ = beam_matrices(beam, 250.0)
    want = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[1:])
    modes = world.linearise().modes()
    both = np.sort([abs(modes.eigenvalues[k]) for k, name in enumerate(modes.names) if name.startswith("bending")])
    for frequency in want[:3]:
        assert np.min(np.abs(both / frequency - 1)) < 1e-6
    # Euler and Bernoulli: a clamped uniform beam has 1.8751^2 sqrt(EI/(m l^4)).
    uniform = pt.Beam("beam", 3.0, EI=5e3, mass_per_length=2.0, n=6)
    clamped = pt.World((0, 0, 0))
    clamped.add_beam(uniform)
    first = np.abs(clamped.linearise().eigenvalues()).min()
    np.testing.assert_allclose(first, 1.8751041**2 * np.sqrt(5e3 / (2.0 * 3.0**4)), rtol=1e-3)


def test_bending_wings_are_damped_as_strip_theory_says():
    """Lift 0.5 rho V c a (w_wind - z') on each strip: M z'' + D z' + K z = 0 with D = 0.5 rho V c a sum w phi phi^T."""
    world, beam = glider(SPEED, heave_only=True)
    M, K, strips = beam_matrices(beam, 250.0)
    rho = float(pt.US76().at(0.0).density)
    D = sum(2 * 0.5 * rho * SPEED * CHORD * SLOPE * width * np.outer(phi, phi) for phi, width in strips)
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    want = np.linalg.eigvals(A)
    want = want[(want.imag > 0) & (np.abs(want) < 300)]
    found = world.linearise().eigenvalues()
    assert len(want) >= 2
    for value in want:
        assert np.min(np.abs(found - value)) < 1e-6 * abs(value)


def test_modes_of_a_free_glider_are_named():
    world, _ = glider(None, heave_only=False)
    names = world.linearise().modes().names
    assert {"bending 1", "bending 2", "twist 1"} <= set(names)


def test_modes_of_matrices_with_known_ones():
    A = np.array([[0.0, 1.0, 0.0], [-4.0, -0.4, 0.0], [0.0, 0.0, 0.5]])
    modes = modes_of(A, ("x", "v", "z"), {})
    np.testing.assert_allclose(modes.eigenvalues, [0.5, -0.2 + 1j * np.sqrt(4 - 0.04)])
    np.testing.assert_allclose(modes.frequency, [0.5, 2.0])
    np.testing.assert_allclose(modes.damping, [-1.0, 0.1])
    np.testing.assert_allclose(modes.time_to_half, np.log(2) / np.array([-0.5, 0.2]))
    np.testing.assert_allclose(modes.participation[0], [0, 0, 1], atol=1e-15)
