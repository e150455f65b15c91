"""The examples of learning: they run, and what they learn is a skill."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt

pytest.importorskip("gymnasium", reason="the extra 'learn' is not installed")
torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "learn"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(EXAMPLES) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("name", ["swing_up", "attitude"])
def test_a_few_updates_of_ppo(example, name):
    task, ppo = example(name), example("ppo")
    agent, curve = ppo.train(task.environment(32), ppo.Settings(steps=32 * 100 * 2, horizon=100), report=print)
    assert np.all(np.isfinite(curve))
    returns = ppo.evaluate(task.environment(4), agent)
    assert returns.shape == (4,)
    assert np.all(np.isfinite(returns))


@pytest.mark.slow
def test_the_attitude_is_learnt(example):
    task, ppo = example("attitude"), example("ppo")
    agent, curve = ppo.train(task.environment(64), ppo.Settings(steps=400_000))
    assert curve[-1, 1] > curve[0, 1] + 10.0
    assert np.degrees(task.final_errors(agent).max()) < 3.0


@pytest.mark.slow
def test_the_trajectory_ends_upright(example):
    _, seen, losses = example("trajectory").optimise(report=print)
    assert losses[-1] < 0.01 * losses[0]
    assert np.cos(seen[-1, 2]) > 1 - 1e-4
    assert abs(seen[-1, 3]) < 0.05


# Learning by derivatives, of a block that is to come to rest in the middle of a rail.


def block():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("block", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((1, 0, 0)))
    world.add_input("push", 0.0)
    world.add_input("fault", 0.0)
    world.add_motor("motor", "block", pt.Input("push"))
    burst = lambda t, scene: np.array([1.0, 0.0, 0.0]) * (np.sqrt(1.0 - scene.input("fault")) - 1.0)  # noqa: E731
    world.add_force("burst", "block", burst)
    return world


def place(t, scene):
    return np.concatenate(scene.joint("block"))


def nearness(t, scene):
    (x,), (v,) = scene.joint("block")
    return 1.0 - x**2 - 0.1 * v**2


def blocks(short_horizon, reward=nearness, **vary):
    far = lambda t, scene: abs(scene.joint("block")[0][0]) > 2.0  # noqa: E731
    vary = {"block.q[0]": pt.Uniform(-0.7, 0.7), "block.v[0]": pt.Uniform(-0.7, 0.7)} | vary
    return short_horizon.game(
        block(), ["push"], place, reward, far, 2.0, batch=32, step=0.05, control_period=0.05, vary=vary, method="rk4"
    )


@pytest.fixture
def short(example):
    return example("short_horizon")


def test_derivatives_of_a_roll_out(short):
    """Of the return of a horizon, by the weights of the policy, against differences."""
    settings = short.Settings(worlds=16, horizon=8, width=8)
    game = blocks(short)
    torch.manual_seed(0)
    agent = short.Agent(2, 1, settings)
    weights = agent.policy()[0]

    def gained():
        torch.manual_seed(1)
        return short.roll_out(short.Worlds(game, settings), agent, agent.value, settings)[0]

    (slope,) = torch.autograd.grad(gained(), weights)
    change = torch.randn(weights.shape, generator=torch.Generator().manual_seed(2))
    ends = []
    with torch.no_grad():
        for sign in (1, -2):
            weights += sign * 0.05 * change
            ends.append(gained().item())
    difference = (ends[0] - ends[1]) / 0.1
    assert abs(difference) > 1e-3
    assert abs((slope * change).sum().item() - difference) < 0.02 * abs(difference)


def test_a_few_updates_by_derivatives(short):
    """They improve the return of fresh episodes, and give the same bits when they are repeated."""
    settings = short.Settings(steps=60 * 32 * 10, worlds=32, horizon=10, width=16, life=40, rate=1e-2)
    game = blocks(short)
    torch.manual_seed(settings.seed)
    before = short.evaluate(game, short.Agent(2, 1, settings), episodes=32)
    (one, curve), (other, again) = (short.train(game, settings, print, every=12) for _ in range(2))
    assert len(curve) == 5
    np.testing.assert_array_equal(curve[:, [0, 2]], again[:, [0, 2]])
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
    after = short.evaluate(game, one, episodes=32)
    assert after.mean() > before.mean() + 5.0
    assert after.mean() > by_hand(game.starts(1000)[2].double().numpy()).mean() - 0.2


def by_hand(start):
    """The returns (n,) of feedback with two gains, on the exact motion."""
    (x, v), h, total = start.T, 0.05, 0.0
    for _ in range(40):
        a = np.clip(-4.0 * x - 2.5 * v, -1.0, 1.0)
        x, v = x + h * v + 0.5 * h**2 * a, v + h * a
        total = total + 1.0 - x**2 - 0.1 * v**2
    return total


def test_rewards_that_are_not_finite_end_the_learning(short):
    settings = short.Settings(steps=640, worlds=16, horizon=4, width=8)
    undefined = lambda t, scene: np.sqrt(0.5 - scene.joint("block")[0][0])  # noqa: E731
    with pytest.raises(ValueError, match=r"the reward of world \d+ is nan"):
        short.train(blocks(short, undefined), settings)
    with pytest.raises(ValueError, match="32 starts, too few for 64 worlds"):
        short.train(blocks(short), short.Settings(worlds=64))
    with pytest.raises(ValueError, match="10 steps are less than one update takes, 64"):
        short.train(blocks(short), short.Settings(worlds=16, horizon=4, steps=10))


def test_worlds_that_break_down_are_counted_and_begin_anew(short):
    settings, told = short.Settings(steps=16 * 4 * 2, worlds=16, horizon=4, width=8), []
    agent, curve = short.train(
        blocks(short, fault=lambda generator, n: 2.0 * (np.arange(n) == 3)), settings, told.append
    )
    assert "worlds broke down" in told[-1]
    assert np.all(np.isfinite(curve))
    assert all(torch.isfinite(w).all() for w in agent.parameters())


@pytest.mark.slow
def test_a_quadruped_learns_to_walk(example):
    """It does as it is told, in episodes that it has not seen, and with physics that also holds for finer steps."""
    walk, short_horizon = example("walk"), example("short_horizon")
    task, agent, curve = walk.learn(steps=450_000)
    returns = short_horizon.evaluate(task, agent)
    assert curve[0, 2] < 500.0
    assert returns.mean() > 900.0  # 1250 at most
    assert np.mean(returns < 500.0) < 0.05  # few fall
    for step, method in ((walk.STEP, walk.METHOD), (walk.STEP / 4, "implicit")):
        run = walk.play(agent, {0.0: (0.0, 0.0), 1.0: (1.0, 0.0)}, 4.0, step, method)
        found = walk.gait(run, 2.0, 4.0)
        assert abs(found["speed [m/s]"] - 1.0) < 0.15
        assert found["largest torque [N m]"] <= walk.MOTOR["limit"]
        assert found["largest share of friction"] <= 1.0 + 1e-9
        assert run.ledger.relative_residual.max() < 1e-9
        assert run.ledger.share_of("numerical")[3] < 0.0  # the step takes energy
        assert run.ledger.initial[0] == pytest.approx(walk.MASS)
