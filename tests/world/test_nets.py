"""Nets in loops against the same worlds written out, against `particles`, against laws, and against SciPy."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

import poinsot as pt
import poinsot.particles as pp
from poinsot.run.net_steps import NET_STEPS
from poinsot.world import nets

G = (0.3, 0.0, -9.81)


def mesh(m: int, seed: int = 0, damping: float = 0.05) -> tuple[pt.Particles, pt.Springs]:
    """m x m masses 0.1 m apart with springs along rows, columns and diagonals; all numbers differ."""
    rng = np.random.default_rng(seed)
    k = np.arange(m * m).reshape(m, m)
    sides = [(k[:-1], k[1:]), (k[:, :-1], k[:, 1:]), (k[:-1, :-1], k[1:, 1:]), (k[1:, :-1], k[:-1, 1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in sides])
    at = np.stack([*np.meshgrid(0.1 * np.arange(m), 0.1 * np.arange(m), indexing="ij"), np.zeros((m, m))], axis=-1)
    x = at.reshape(-1, 3) + 0.01 * rng.standard_normal((m * m, 3))
    particles = pt.Particles(rng.uniform(0.01, 0.02, m * m), x, 0.1 * rng.standard_normal(x.shape))
    e = len(pairs)
    numbers = rng.uniform(50, 200, e), rng.uniform(0.05, 0.15, e), damping * rng.uniform(0, 1, e)
    return particles, pt.Springs(pairs, *numbers)


def hung(m: int, **options) -> pt.World:
    """The mesh on springs to points at rest, one of which has a law of its own."""
    world = pt.World(gravity=G)
    world.add_particles("net", *mesh(m, **options))
    world.add_spring("hook", "net0", "world", 80.0, 0.1, 0.02, point_b=(-0.1, 0.0, 0.2))
    world.add_spring("peg", "world", "net3", 60.0, 0.05, 0.0, point_a=(0.3, 0.1, 0.2))
    law = {"tension": lambda length, rate, k, rest, c: k * (length - rest) ** 2 + c * rate}
    world.add_spring("band", "net2", "world", 300.0, 0.05, 0.01, point_b=(0.1, 0.4, 0.2), **law)
    return world


@pytest.fixture
def in_loops(monkeypatch):
    """Worlds of few springs as nets, or not."""

    def choose(yes: bool) -> None:
        monkeypatch.setattr(nets, "LEAST", 1 if yes else 10**9)

    return choose


def both(in_loops, make, **options):
    """A world simulated in loops, and written out."""
    runs = []
    for yes in (True, False):
        in_loops(yes)
        runs.append(make().simulate(progress=False, **options))
        assert (runs[-1].compiled.net is not None) == yes
    return runs


@pytest.mark.parametrize("method", [None, "rk4", "splitting", "semi-implicit euler"])
def test_loops_do_what_written_out_code_does(in_loops, method):
    options = {"duration": 0.02, "step": 1e-3, "every": 5e-3, "method": method, "ledger_tolerance": np.inf}
    loops, written = both(in_loops, lambda: hung(2), **options)
    assert loops.settings["method"] == written.settings["method"]
    n = loops.compiled.n_state
    np.testing.assert_allclose(loops.y[..., :n], written.y[..., :n], rtol=0, atol=5e-14)
    for name in ("initial", "final", "inflow", "gross"):
        a, b = getattr(loops.ledger, name), getattr(written.ledger, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)
    assert loops.ledger.sources == written.ledger.sources
    assert np.array_equal(loops.compiled.is_conserved, written.compiled.is_conserved)


def test_all_methods_of_nets_are_those_of_worlds(in_loops):
    assert set(NET_STEPS) == {
        "euler", "midpoint", "rk4", "semi-implicit euler", "splitting", "splitting4", "poinsot", "poinsot4",
    }  # fmt: skip
    for method in ("euler", "midpoint"):
        options = {"duration": 5e-3, "step": 1e-3, "method": method, "ledger": False}
        loops, written = both(in_loops, lambda: hung(2), **options)
        np.testing.assert_allclose(loops.y, written.y, rtol=0, atol=1e-14)


def test_records_are_the_same(in_loops):
    names = [
        "position", "orientation", "velocity", "angular_velocity", "q", "v", "energy", "kinetic_energy", "momentum",
        "angular_momentum", "body_momentum", "body_angular_momentum", "body_kinetic_energy", "acceleration",
        "hook.length", "peg.tension", "net_spring3.length", "net_spring3.tension",
    ]  # fmt: skip
    loops, written = both(in_loops, lambda: hung(2), duration=4e-3, step=1e-3, every=2e-3, record=names)
    for name in names:
        a, b = loops.data[name], written.data[name]
        assert (a.dims, a.attrs["units"]) == (b.dims, b.attrs["units"])
        scale = np.abs(b.values).max() + 1.0
        np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-13 * scale, err_msg=name)
    rest = loops.observed(["reaction"])["reaction"].values  # found body by body
    np.testing.assert_allclose(rest, written.observed(["reaction"])["reaction"].values, rtol=0, atol=1e-12)


def test_numbers_vary_by_their_names(in_loops):
    rng = np.random.default_rng(5)
    shapes = {
        "net_spring1.stiffness": (), "net_spring4.damping": (), "net_spring2.rest_length": (), "hook.point_b": (3,),
        "peg.point_a[2]": (), "net3.mass": (), "net1.position": (3,), "net2.velocity[0]": (), "gravity": (3,),
    }  # fmt: skip
    vary = {path: rng.uniform(0.05, 0.2, (5, *shape)) for path, shape in shapes.items()}
    options = {"duration": 3e-3, "step": 1e-3, "vary": vary, "batch": 5, "ledger": True, "ledger_tolerance": np.inf}
    loops, written = both(in_loops, lambda: hung(2), **options)
    np.testing.assert_allclose(loops.data["position"], written.data["position"], rtol=0, atol=1e-14)
    np.testing.assert_allclose(loops.data["energy"], written.data["energy"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(loops.ledger.inflow, written.ledger.inflow, rtol=0, atol=1e-14)
    in_loops(True)
    world = hung(2)
    assert world.simulate(1e-3, progress=False, free=["net_spring1.point_a"]).compiled.net is None  # of no bare mass


def test_a_batch_gives_the_bits_of_single_runs(in_loops):
    in_loops(True)
    world, stiffness = hung(3), np.linspace(50.0, 90.0, 11)
    many = world.simulate(
        5e-3, 1e-3, progress=False, ledger=True, vary={"net_spring7.stiffness": stiffness}, ledger_tolerance=np.inf
    )
    for k in (0, 7, 10):
        world["net_spring7.stiffness"] = stiffness[k]
        one = world.simulate(5e-3, 1e-3, progress=False, ledger_tolerance=np.inf)
        np.testing.assert_array_equal(many.y[-1, k], one.y[-1])
    off = world.simulate(5e-3, 1e-3, progress=False, ledger=False)
    n = off.compiled.n_state
    np.testing.assert_array_equal(off.y[-1, :n], one.y[-1, :n])  # whether there is a ledger or not


@pytest.fixture(scope="module")
def large():
    """A free net of some hundred masses, above the number from which on nets are in loops."""
    particles, springs = mesh(14, seed=2)
    world = pt.World(gravity=(0, 0, 0))
    world.add_particles("net", particles, springs)
    return world, particles, springs


def test_momentum_energy_and_order(large):
    world, _, springs = large
    assert len(springs) > nets.LEAST
    run = world.simulate(0.02, 2e-4, every=5e-3, progress=False)
    assert run.compiled.net is not None
    assert run.settings["method"] == "splitting4"
    assert np.all(run.ledger.relative_residual[:3] < 1e-14)
    assert run.ledger.relative_residual[3] < 1e-7
    assert np.all(run.ledger.inflow[..., 7] <= 0)  # dampers only take
    ends = [world.simulate(0.02, h, progress=False, ledger=False).y[-1] for h in (4e-4, 2e-4, 1e-4)]
    first, second = (np.abs(a - b).max() for a, b in pairwise(ends))
    assert 12 < first / second < 20  # of fourth order


def test_the_particles_of_their_own_module_move_alike(large):
    _, particles, springs = large
    still = pt.Springs(springs.pairs, springs.stiffness, springs.rest_length)
    other = pt.World(gravity=G)
    other.add_particles("net", particles, still)
    run = other.simulate(0.02, 1e-4, method="splitting", progress=False, ledger=False, every=0.02)
    track = pp.simulate(particles, still, step=1e-4, steps=200, gravity=G, every=200)  # velocity Verlet as well
    np.testing.assert_allclose(run.data["position"].values, track.particles.positions, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.data["velocity"].values, track.particles.velocities, rtol=0, atol=1e-11)


def test_scipy_agrees(large):
    from scipy.integrate import solve_ivp

    world, particles, springs = large
    n = len(particles)

    def rate(_, y):
        o = pt.Particles(particles.masses, *y.reshape(2, n, 3))
        return np.concatenate([y[3 * n :], (pp.spring_forces(o, springs) / particles.masses[:, None]).ravel()])

    y0 = np.concatenate([particles.positions.ravel(), particles.velocities.ravel()])
    exact = solve_ivp(rate, (0, 4e-3), y0, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    y = world.simulate(4e-3, 1e-5, method="rk4", progress=False, ledger=False).y[-1]
    np.testing.assert_allclose(y, exact, rtol=0, atol=1e-10)


def test_a_net_is_ready_soon_and_its_code_does_not_grow(large):
    sizes = []
    for m in (14, 24):
        world = pt.World()
        world.add_particles("net", *mesh(m))
        run = world.simulate(1e-4, 1e-4, progress=False)
        sizes.append(run.compiled.advance.program().operations)
    assert sizes[0] == sizes[1] < 400


def test_masses_at_one_place_and_numbers_that_are_none(in_loops):
    in_loops(True)
    world = pt.World(gravity=(0, 0, 0))
    at_one = pt.Particles(np.ones(3), np.zeros((3, 3)))
    world.add_particles("p", at_one, pt.Springs([(0, 1), (1, 2)], 10.0, 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = world.simulate(0.01, 1e-3, progress=False)
    assert np.all(run.y[-1][:18] == 0)  # no direction, no force
    with pytest.raises(ValueError, match="joins mass 1 to itself"):
        pt.Springs([(1, 1)], 10.0, 0.1)
    with pytest.raises(ValueError, match="there is a body called 'p0' already"):
        world.add_particles("p", at_one)
    assert len(world.description.bodies) == 3
    with pytest.raises(ValueError, match="called 'p_spring1' already"):
        world.add_body("p_spring1", pt.Inertia.sphere(1.0, 0.1))
    with pytest.raises(ValueError, match="stiffness of spring 1 is nan"):
        pt.Springs([(0, 1), (1, 2)], [1.0, np.nan], 0.1)
    with pytest.raises(ValueError, match="cannot be the name"):
        pt.World().add_particles("a.b", at_one)
    world.add_spring("wild", "p0", "world", 1.0, tension=lambda length, *_: 1.0 / length)
    with pytest.raises(ValueError, match="wild"):
        world.simulate(0.01, progress=False)


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_net_that_breaks_says_when_and_what(in_loops):
    in_loops(True)
    run = hung(2).simulate(3.0, 0.05, method="rk4", progress=False, ledger=False)
    assert run.stop.reason == "broken"
    assert "of body 'net" in str(run.stop)


def test_the_ledger_of_many_springs_is_a_short_table(large):
    world, _, springs = large
    run = world.simulate(1e-3, 1e-4, progress=False)
    lines = str(run.ledger).splitlines()
    assert len(lines) < 60
    assert any(f"{len(springs) - 40} others" in line for line in lines)
    shown = run.ledger.largest_inflows()
    np.testing.assert_allclose(sum(row for _, row in shown), run.ledger.inflow.sum(axis=0), rtol=1e-12, atol=1e-18)


def test_linear_models_are_those_of_written_out_code(in_loops):
    models = []
    for yes in (True, False):
        in_loops(yes)
        world = hung(2)
        world.add_input("unused", 1.0)
        models.append(world.linearise())
        assert (world.system().net is not None) == yes
    loops, written = models
    for name in ("A", "B", "C", "D", "drift"):
        a, b = getattr(loops, name), getattr(written, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * (1 + np.abs(b).max(initial=0)), err_msg=name)
    assert (loops.states, loops.inputs, loops.outputs) == (written.states, written.inputs, written.outputs)


def test_frequencies_are_those_of_the_stiffness_matrix(large):
    _, particles, springs = large
    still = pt.Springs(springs.pairs, springs.stiffness, pp.lengths(particles, springs))
    world = pt.World(gravity=(0, 0, 0))
    world.add_particles("net", pt.Particles(particles.masses, particles.positions), still)
    A = world.linearise().A
    n, root = len(A) // 2, np.sqrt(np.repeat(particles.masses, 3))
    squares = np.linalg.eigvalsh(-A[n:, :n] * (root[:, None] / root))  # M^-1/2 K M^-1/2 is symmetric
    expected = pp.natural_frequencies(particles, still) ** 2
    np.testing.assert_allclose(squares, expected, rtol=0, atol=1e-9 * expected[-1])


def test_masses_at_one_place_have_no_linear_model(in_loops):
    in_loops(True)
    world = pt.World()
    world.add_particles("p", pt.Particles(np.ones(2), np.zeros((2, 3))), pt.Springs([(0, 1)], 10.0, 0.1))
    with pytest.raises(ValueError, match="spring 'p_spring0' has no derivative"):
        world.linearise()


def test_steppers_saved_runs_and_continued_ones(in_loops, tmp_path):
    in_loops(True)
    world = hung(3)
    run = world.simulate(0.02, 1e-3, every=0.01, progress=False, ledger_tolerance=np.inf)
    sim = world.stepper(step=1e-3, control_period=0.01, observe=["position"])
    sim.reset()
    sim.step()
    assert sim.compiled.net is not None
    np.testing.assert_allclose(sim.step(), run.data["position"].values[-1].ravel(), rtol=0, atol=1e-15)
    half = world.simulate(0.01, 1e-3, every=0.01, progress=False, ledger_tolerance=np.inf)
    np.testing.assert_array_equal(half.continue_(0.01).y[-1], run.y[-1])
    np.testing.assert_array_equal(run.repeat(progress=False).y, run.y)
    run.save(tmp_path / "net.nc")
    np.testing.assert_array_equal(pt.load_run(tmp_path / "net.nc").data["position"], run.data["position"])


def test_floats_of_32_bits_and_the_text_for_the_gpu(in_loops, tmp_path):
    from cuda_on_host import run_on_host

    in_loops(True)
    compiled = hung(3).simulate(1e-3, 1e-3, progress=False, ledger_tolerance=np.inf).compiled
    p = compiled.parameters({}, {})
    y, kernel = np.stack([compiled.start(p), compiled.start(p) * 1.001]), compiled.advance
    full = (y, np.stack([p, p]), np.zeros(2), np.zeros(2), np.full(2, 1e-3), np.full(2, 5.0))
    expected = kernel(*full)
    np.testing.assert_allclose(kernel(*(a.astype(np.float32) for a in full)), expected, rtol=0, atol=2e-5)
    (host,) = run_on_host(kernel.program(), tmp_path, *full)
    np.testing.assert_allclose(host, expected, rtol=0, atol=1e-14)


def test_a_net_is_drawn(large, tmp_path):
    world, particles, _ = large
    run = world.simulate(2e-3, 1e-3, every=1e-3, progress=False, ledger_tolerance=np.inf)
    page = run.to_html(tmp_path / "net.html")
    assert page.stat().st_size < 2e6
    from poinsot.show.records import records_of

    records = records_of(run)
    np.testing.assert_array_equal(records.positions[:, 0], run.data["position"])
    np.testing.assert_array_equal(records.velocities[:, 0], run.data["velocity"])
    assert records.wxyz.shape == (len(run.time), 1, len(particles), 4)
