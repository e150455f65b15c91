"""The texts' own schemes on worlds: their order, what they conserve, and the same steps as for one body."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.body.exact import FreeTop
from poinsot.body.forces import AppliedForce, total, weight
from poinsot.integrate import single
from poinsot.run import METHODS
from poinsot.spatial import quaternion, rotation

TEXTS = ("peskin", "five-step", "five-step, moving reference", "momentum-matrix")
BRICK = pt.Inertia(2.0, (0.02, -0.03, 0.01), np.array([[0.03, 0.004, 0.0], [0.004, 0.04, -0.002], [0.0, -0.002, 0.02]]))
coarse = pytest.mark.filterwarnings("ignore::poinsot.run.ledger.LedgerWarning")


def system(gravity=(0, 0, -9.81)):
    """Two bodies and two particles on springs, one of them damped; the first is pushed by the wind."""
    world = pt.World(gravity=gravity)
    world.add_body("a", BRICK, position=(0, 0, 1), velocity=(0.3, 0, 0), angular_velocity=(1, 2, 3))
    world.add_body("b", pt.Inertia.box(1.0, (0.3, 0.2, 0.1)), position=(0.8, 0, 1), angular_velocity=(0, 0.5, -1))
    for k in (0, 1):
        world.add_particle(f"p{k}", 0.4, (0.4, 0.5 - k, 1.2), (0, 0, 0.2 * k))
        world.add_spring(f"left{k}", "a", f"p{k}", 20.0, 0.5, 0.2, point_a=(0.1, 0.1, 0))
        world.add_spring(f"right{k}", f"p{k}", "b", 15.0, 0.6, point_b=(-0.1, 0, 0.05))
    return world


def end(world, method, step, duration=0.4):
    """The state in the end, quaternions with w > 0."""
    y = world.simulate(duration, step, method=method, every=duration, ledger=False).y[-1].copy()
    for first in (0, 7):
        y[first : first + 4] *= np.sign(y[first])
    return y


@pytest.mark.parametrize("method", TEXTS)
def test_order(method):
    world, order = system(), METHODS[method].order
    world.add_force("wind", "a", lambda t, scene: np.stack([np.sin(20 * t), 0.0, 0.3]), point=(0, 0.1, 0))
    fine = end(world, "rk4", 5e-4)
    errors = [np.abs(end(world, method, h) - fine).max() for h in {1: (5e-4, 2.5e-4), 4: (2e-2, 1e-2)}[order]]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)
    assert errors[1] < {1: 2e-2, 4: 1e-4}[order]


@coarse
@pytest.mark.parametrize("method", TEXTS)
def test_one_body_of_a_world_is_the_body_alone(method):
    """The same functions make the steps, so only rounding differs."""
    force, spin = np.array([3.0, -2.0, 1.0]), np.array([1.0, 2.0, 3.0])
    q0 = quaternion.normalize(np.array([1.0, 0.2, -0.3, 0.5]))
    world = pt.World()
    world.add_body("a", BRICK, position=(1, 2, 3), orientation=q0, velocity=(0.3, 0, 0.1), angular_velocity=spin)
    world.add_force("f", "a", force, point=(0.1, 0.2, 0.3))
    run = world.simulate(0.5, 1e-3, method=method, every=0.1)
    X = pt.Pose(quaternion.to_matrix(q0), (1, 2, 3))
    load = total([AppliedForce(force, (0.1, 0.2, 0.3)), weight(BRICK)])
    V = np.concatenate([spin, X.R.T @ (0.3, 0, 0.1)])
    alone = single.simulate(BRICK, X, V, load, method, 0.5, 1e-3, records=5)
    for name in ("position", "velocity", "angular_velocity"):
        np.testing.assert_allclose(run["a"][name], getattr(alone, name), rtol=0, atol=1e-12)
    R, expected = (quaternion.to_matrix(q) for q in (np.asarray(run["a"].orientation), alone.orientation))
    np.testing.assert_allclose(R, expected, rtol=0, atol=1e-12)


@coarse
@pytest.mark.parametrize(("method", "tolerance"), [*((name, 2e-3) for name in TEXTS[:3]), ("momentum-matrix", 1e-9)])
def test_free_top(method, tolerance):
    inertia, spin = pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), np.array([1.0, 0.2, 2.0])
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", inertia, angular_velocity=spin)
    run = world.simulate(1.0, 1e-3, method=method, every=0.1)
    top = FreeTop(inertia, np.array([1.0, 0, 0, 0]), spin)
    R, exact = (quaternion.to_matrix(q) for q in (np.asarray(run["a"].orientation), top.orientation(run.time)))
    np.testing.assert_allclose(R, exact, rtol=0, atol=tolerance)


@coarse
@pytest.mark.parametrize("method", ["peskin", "five-step, moving reference", "momentum-matrix"])
def test_momentum_is_kept(method):
    """In world axes only outer forces change P, to rounding; Peskin keeps the angular momentum, too."""
    run = system(gravity=(0, 0, 0)).simulate(2.0, 5e-3, method=method)
    residual = run.ledger.relative_residual
    assert residual[1] < 1e-13
    assert residual[2] < {"peskin": 1e-14, "five-step, moving reference": 0.1, "momentum-matrix": 1e-6}[method]
    momentum = np.asarray(run.data.momentum)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=1e-13)


def test_peskin_with_tracked_points():
    """(37) to (41) in NumPy as the text has them, with the point where the spring acts tracked, (38)."""
    k, rest, dt, point, anchor = 30.0, 0.4, 1e-3, np.array([0.1, 0.1, 0.0]), np.array([0.5, 0.2, 0.3])
    spin = np.array([1.0, 2.0, 3.0])
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", BRICK, velocity=(0.3, 0, 0), angular_velocity=spin)
    world.add_particle("p", 0.4, anchor)
    world.add_spring("s", "a", "p", k, rest, point_a=point)
    run = world.simulate(0.3, dt, method="peskin", every=0.3, ledger=False)
    X_cm, U_cm, I = BRICK.com.copy(), np.array([0.3, 0, 0]) + np.cross(spin, BRICK.com), BRICK.moment
    L, X, x, v = I @ spin, point - BRICK.com, anchor.copy(), np.zeros(3)
    for _ in range(300):
        R = rotation.exact(np.linalg.solve(I, L), dt)
        X, I, X_cm, x = R @ X, R @ I @ R.T, X_cm + dt * U_cm, x + dt * v
        line = x - X_cm - X
        F = k * (1 - rest / np.linalg.norm(line)) * line
        U_cm, L, v = U_cm + dt / BRICK.mass * F, L + dt * np.cross(X, F), v - dt / 0.4 * F
    np.testing.assert_allclose(run["p"].position[-1], x, rtol=0, atol=1e-12)
    R = quaternion.to_matrix(np.asarray(run["a"].orientation[-1]))
    np.testing.assert_allclose(run["a"].position[-1] + R @ BRICK.com, X_cm, rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ (point - BRICK.com), X, rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ (BRICK.moment @ np.asarray(run["a"].angular_velocity[-1])), L, rtol=0, atol=1e-12)


@coarse
def test_when_forces_are_evaluated():
    """Peskin takes them at t + dt, de Nivelle at t; with velocities before the kick."""
    world, dt, n = pt.World(gravity=(0, 0, 0)), 0.1, 10
    world.add_particle("p", 2.0)
    world.add_body("b", pt.Inertia.sphere(2.0, 0.1))
    for name in ("p", "b"):
        world.add_force(f"f{name}", name, lambda t, scene: np.stack([np.exp(t), 0.0, 0.0]))
    for method, times in {"peskin": dt * np.arange(1, n + 1), "five-step": dt * np.arange(n)}.items():
        run = world.simulate(n * dt, dt, method=method, every=n * dt)
        for name in ("p", "b"):
            assert run[name].velocity[-1, 0] == pytest.approx(dt / 2.0 * np.exp(times).sum(), rel=1e-13)


@coarse
@pytest.mark.parametrize("method", ["peskin", "momentum-matrix"])
def test_masses_may_vary(method):
    world, masses = pt.World(), np.array([1.0, 3.0])
    world.add_body("a", BRICK, angular_velocity=(1, 2, 3))
    world.add_particle("p", 0.4, (0.5, 0.2, 0.3))
    world.add_spring("s", "a", "p", 30.0, 0.4, point_a=(0.1, 0.1, 0))
    many = world.simulate(0.1, 1e-3, method=method, vary={"a.mass": masses, "p.mass": masses / 4}, every=0.1)
    world["a.mass"], world["p.mass"] = masses[1], masses[1] / 4
    one = world.simulate(0.1, 1e-3, method=method, every=0.1, ledger=False)
    np.testing.assert_allclose(many.y[-1, 1], one.y[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", [*TEXTS, "splitting4"])
def test_what_they_cannot_step(method):
    def refusal(world):
        with pytest.raises(ValueError, match=f"method '{method}' is for free bodies and particles") as error:
            world.simulate(0.1, method=method)
        return str(error.value)

    world = system()
    world.add_body("arm", BRICK, "a", pt.revolute((0, 0, 1)))
    assert "body 'arm' hangs on 'a' by a revolute joint. Take 'rk4'." in refusal(world)
    world = system()
    world.add_body("c", BRICK).add(pt.Tank("tank", contents=1.0))
    assert "'c.tank.contents' is the state of a part" in refusal(world)
    world = pt.World()
    world.add_body("c", BRICK, joint=pt.free(damping=0.1))
    assert "the joint of body 'c' has a spring, friction or armature" in refusal(world)


SCENARIO = """
[run]
duration = "1 s"
step = "1 ms"
method = "{method}"

[[body]]
name = "box"
shape = [{{ kind = "box", size = [0.1, 0.2, 0.3], mass = "2 kg" }}]
angular_velocity = [1, 2, 3]

[[body]]
name = "other"
shape = [{{ kind = "sphere", radius = "0.1 m", mass = "1 kg" }}]
position = [0.6, 0, 0]

[[spring]]
name = "rope"
a = "box"
b = "other"
stiffness = "40 N/m"
rest_length = "50 cm"
"""

JOINT = """
[[body]]
name = "arm"
parent = "box"
shape = [{ kind = "sphere", radius = "0.1 m", mass = "1 kg" }]
joint = { kind = "revolute", axis = [0, 0, 1] }
"""


@coarse
@pytest.mark.parametrize("method", ["peskin", "five-step"])
def test_from_a_scenario_file(method, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(SCENARIO.format(method=method))
    run = pt.load_scenario(path).run()
    assert run.settings["method"] == method
    path.write_text(SCENARIO.format(method=method) + JOINT)
    with pytest.raises(ValueError, match=r"method.*body 'arm' hangs on 'box' by a revolute joint"):
        pt.load_scenario(path)
