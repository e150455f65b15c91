"""The examples of learning: they run, and what they learn is a skill."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the extra 'learn' is not installed")
pytest.importorskip("torch", reason="the extra 'torch' is not installed")

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
