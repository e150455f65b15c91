"""Environments: Gymnasium's own checks, the stepper behind them, the three ways to begin the next episode."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
from learn_worlds import BOUNDS, TASK, cart_pole, fallen, upright

import poinsot as pt
from poinsot import learn
from poinsot.fuse import kernels

gymnasium = pytest.importorskip("gymnasium", reason="the extra 'learn' is not installed")


@pytest.fixture(scope="module")
def world():
    return cart_pole()


def actions_for(env: Any, count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-10, 10, size=(count, *env.action_space.shape))


@pytest.mark.parametrize("scaled", [False, True])
def test_gymnasiums_checker_passes(world, scaled):
    from gymnasium.utils.env_checker import check_env

    env = learn.Env(world, scaled=scaled, **TASK)
    with warnings.catch_warnings():
        if not scaled:
            warnings.filterwarnings("ignore", ".*we recommend using a symmetric and normalized space")
        check_env(env, skip_render_check=True)
    assert isinstance(env, gymnasium.Env)


def test_spaces_follow_from_inputs_and_quantities(world):
    env = learn.VectorEnv(world, batch=3, **TASK)
    assert isinstance(env, gymnasium.vector.VectorEnv)
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    assert env.single_action_space == gymnasium.spaces.Box(-10.0, 10.0, (1,), np.float32)
    assert env.single_observation_space.high.tolist() == [10, 100, 10, 100]
    assert env.observation_space.shape == (3, 4)
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space
    observation, reward, *_ = env.step(env.action_space.sample())
    assert observation in env.observation_space
    assert reward.shape == (3,)
    assert reward.dtype == np.float64
    wide = learn.Env(world, dtype=np.float64)
    assert wide.action_space.low[0] == -np.inf
    assert wide.observation_space.dtype == np.float64
    assert learn.Env(world, scaled=True, **TASK).action_space.high.tolist() == [1.0]


def test_bounds_of_an_actuator_and_signals():
    world = pt.World()
    world.add_body("cart", pt.Inertia.sphere(1.0, 0.1), joint=pt.prismatic((1, 0, 0)))
    world.add_input("command", 0.0)
    world.add(pt.Actuator("servo", pt.Input("command"), low=-2.0, high=3.0))
    world.add_motor("push", "cart", pt.Signal("servo.out"))
    env = learn.Env(world, observation={"cart.q": 1.0, pt.Signal("servo.out"): (-2, 3)}, reward="cart.velocity.x")
    assert (env.action_space.low, env.action_space.high) == ([-2.0], [3.0])
    assert env.sim.observation_labels == ("cart.q", "servo.out", "cart.velocity.x")
    env.reset(seed=0)
    _, reward, *_ = env.step([10.0])  # clipped
    assert env.sim.state.p[-1] == 3.0
    assert reward == env.sim.last_observation[2] > 0.0


def test_steps_are_those_of_the_stepper(world):
    """Observations, rewards and ends, in float64, are the bits of a stepper that resets itself."""
    env = learn.VectorEnv(world, batch=5, dtype=np.float64, **TASK)
    sim = world.stepper(
        batch=5, observe=[*BOUNDS, upright], vary=TASK["vary"], until=fallen, duration=0.6, control_period=0.02,
        autoreset=True,
    )  # fmt: skip
    observation, info = env.reset(seed=7)
    np.testing.assert_array_equal(observation, sim.reset(seed=7)[:, :4])
    assert info["time"].tolist() == [0.0] * 5
    ends = np.zeros(2)
    for action in actions_for(env, 60):
        observation, reward, terminated, truncated, info = env.step(action)
        seen = sim.step(action)
        np.testing.assert_array_equal(observation, seen[:, :4])
        np.testing.assert_array_equal(reward, sim.last_observation[:, 4])
        np.testing.assert_array_equal(terminated, sim.terminated)
        np.testing.assert_array_equal(truncated, sim.truncated)
        if np.any(sim.done):
            np.testing.assert_array_equal(info["_final_obs"], sim.done)
            np.testing.assert_array_equal(info["final_obs"], sim.last_observation[:, :4])
            assert np.all(info["final_info"]["time"][sim.done] > 0)
            assert np.all(info["time"][sim.done] == 0)
        ends += terminated.sum(), truncated.sum()
    assert np.all(ends > 0)


def test_the_three_ways_to_begin_the_next_episode_agree(world):
    """The sequences of episodes of each instance are the same; only the steps at which they begin differ."""
    seen = {}
    for mode in ("SAME_STEP", "NEXT_STEP", "DISABLED"):
        env = learn.VectorEnv(world, batch=3, autoreset=mode, **TASK)
        observation, _ = env.reset(seed=3)
        episodes: list[list[Any]] = [[[o]] for o in observation]
        over = np.zeros(3, dtype=bool)
        for _ in range(70):
            observation, reward, terminated, truncated, info = env.step(np.full((3, 1), 2.0))
            began, last = over & (mode == "NEXT_STEP"), info.get("final_obs", observation)
            over = terminated | truncated
            assert not np.any(over & began)
            assert np.all(reward[began] == 0.0)
            for k in range(3):
                if began[k]:
                    episodes[k].append([observation[k]])
                    continue
                episodes[k][-1].append(last[k] if over[k] else observation[k])
            if mode == "DISABLED" and np.any(over):
                observation, _ = env.reset(options={"reset_mask": over})
            for k in np.flatnonzero(over) if mode != "NEXT_STEP" else ():
                episodes[k].append([observation[k]])
        seen[mode] = episodes
    for mode in ("NEXT_STEP", "DISABLED"):
        for mine, others in zip(seen["SAME_STEP"], seen[mode], strict=True):
            assert len(mine) > 2
            assert len(others) > 2
            for one, other in zip(mine[:-2], others, strict=False):
                np.testing.assert_array_equal(one, other)


def test_seeds_repeat_episodes_alone_and_in_a_batch(world):
    many, one = learn.VectorEnv(world, batch=4, **TASK), learn.Env(world, **TASK)
    first, _ = many.reset(seed=11)
    np.testing.assert_array_equal(one.reset(seed=11)[0], first[0])
    second, _ = many.reset()
    np.testing.assert_array_equal(one.reset()[0], second[0])
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(many.reset(seed=11)[0], first)
    fresh = learn.Env(world, **TASK).reset()[0], learn.Env(world, **TASK).reset()[0]
    assert not np.array_equal(*fresh)  # without a seed, each begins elsewhere


def cosine(seen: Any, action: Any) -> Any:
    return np.cos(seen[2]) - 1e-2 * action[0] ** 2


def cosines(seen: Any, action: Any) -> Any:
    if np.any(np.isnan(seen[:, 2])):  # cannot be traced
        return np.zeros(len(seen))
    return np.cos(seen[:, 2]) - 1e-2 * action[:, 0] ** 2


def test_rewards_and_conditions_of_observations(world, monkeypatch):
    """Of the scene, of one observation, of the batch: the same; the first two are compiled, before the first step."""
    options = TASK | {"dtype": np.float64}
    envs = [
        learn.VectorEnv(world, batch=3, **options),
        learn.VectorEnv(world, batch=3, **options | {"reward": cosine, "done": lambda seen: abs(seen[2]) - 0.2}),
        learn.VectorEnv(world, batch=3, **options | {"reward": cosines, "done": lambda seen: abs(seen[:, 2]) > 0.2}),
    ]
    assert envs[1]._played._reward.compiled
    assert not envs[2]._played._reward.compiled
    for env in envs:
        env.reset(seed=2)
    monkeypatch.setattr(kernels, "trace", None)  # nothing compiles after this
    ends = 0
    for action in actions_for(envs[0], 40):
        first, *others = [env.step(action) for env in envs]
        for other in others:
            np.testing.assert_allclose(other[1], first[1], rtol=0, atol=1e-15)
            for mine, its in zip((first[0], *first[2:4]), (other[0], *other[2:4]), strict=True):
                np.testing.assert_array_equal(mine, its)
        ends += first[2].sum()
    assert ends > 0


def test_info_and_breaking_down():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("rocket", 1.0, velocity=(1.0, 0, 0))
    world.add_input("rate", 0.0)
    world.add_force("thrust", "rocket", lambda t, scene: scene.input("rate") * scene["rocket"].velocity ** 3)
    env = learn.VectorEnv(
        world, batch=2, control_period=0.1, method="rk4", observation="rocket.velocity.x", info=["energy"]
    )
    _, info = env.reset(seed=0)
    assert info["energy"].tolist() == [0.5, 0.5]
    observation, _, terminated, truncated, info = env.step([[0.0], [1e3]])
    assert observation.tolist() == [[1.0], [1.0]]
    assert (terminated.tolist(), truncated.tolist()) == ([False, False], [False, True])
    assert info["broken"].tolist() == [False, True]


@pytest.mark.parametrize(
    "reward", [lambda t, scene: np.sqrt(0.5 - scene["ball"].velocity[0]), lambda seen: np.log(0.5 - seen[0])]
)
def test_rewards_that_are_not_finite_are_named(reward):
    """Of the scene, and of what is observed; in a batch the instance is named, and when."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 2.0)
    world.add_input("push", 0.0)
    world.add_force("motor", "ball", lambda t, scene: scene.input("push") * np.array([1.0, 0.0, 0.0]))
    task = {"control_period": 1.0, "step": 1.0, "observation": "ball.velocity.x", "reward": reward}
    many, alone = learn.VectorEnv(world, batch=2, **task), learn.Env(world, **task)
    many.reset(seed=0), alone.reset(seed=0)
    with np.errstate(all="ignore"):
        with pytest.raises(ValueError, match=r"the reward of instance 1 is nan at t = 1 s.*finite wherever"):
            many.step([[0.0], [2.0]])
        with pytest.raises(ValueError, match=r"the reward is nan at t = 1 s"):
            alone.step([2.0])


def test_wrappers_of_gymnasium_work(world):
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(learn.VectorEnv(world, batch=2, **TASK))
    env.reset(seed=1)
    lengths = []
    for action in actions_for(env, 60):
        *_, info = env.step(action)
        lengths += info["episode"]["l"][info["_episode"]].tolist() if "episode" in info else []
    assert len(lengths) > 1
    assert max(lengths) <= 30
    env.close()


def test_wrong_actions_are_named_and_nothing_steps(world):
    env = learn.VectorEnv(world, batch=3, **TASK)
    with pytest.raises(ValueError, match="call reset"):
        env.step(np.zeros((3, 1)))
    env.reset(seed=0)
    before = env.sim.state
    bad = np.zeros((3, 1))
    bad[2] = np.nan
    for action, match in (
        (bad, "the action push of instance 2 is nan. Nothing was stepped"),
        (np.full((3, 1), np.inf), "push of instance 0 is inf"),
        (np.zeros((3, 2)), r"shape \(3, 1\), for push; not \(3, 2\). Nothing was stepped"),
        (0.0, r"not \(\)"),
        ("left", "is not an array of real numbers. Nothing was stepped"),
        ([[1.0], [1.0, 2.0], [1.0]], "is not an array of real numbers"),
        (1j * np.zeros((3, 1)), "is not an array of real numbers"),
        (None, "is not an array of real numbers"),
    ):
        with pytest.raises(ValueError, match=match):
            env.step(action)
        np.testing.assert_array_equal(env.sim.state.x, before.x)
    env.step(np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"action": ["puh"]}, "no input 'puh'; did you mean 'push'"),
        ({"observation": ["pole.positio"]}, r"no quantity 'pole\.positio'; did you mean"),
        ({"observation": [pt.Signal("pole.qq")]}, r"pole\.qq"),
        ({"action": {"push": (3, 1)}}, r"bounds of 'push' are \(3, 1\); give \(low, high\) with low below high"),
        ({"action": {"push": (0, np.nan)}}, "bounds of 'push'"),
        ({"action": {"push": "10"}}, "bounds of 'push' are '10'"),
        ({"action": {"push": (1, 2, 3)}}, "bounds of 'push'"),
        ({"action": ["push"], "scaled": True}, "scaled actions need bounds"),
        ({"reward": "pole.position"}, "has 3 numbers; it must be one"),
        ({"reward": lambda seen: seen}, "reward can neither be traced .* nor called on the batch"),
        ({"done": 3.0}, "done must be a quantity or a function, not 3.0"),
        ({"observation": []}, "nothing is observed"),
        ({"vary": {"pole.mass": [0.1, 0.2, 0.3]}}, "varies over 3 values, but the batch has 2"),
        ({"dtype": np.int32}, "dtype must be float32 or float64"),
        ({"autoreset": "LATER"}, "autoreset must be one of SAME_STEP"),
        ({"batch": 0}, "batch must be a whole number, one or more"),
        ({"time_limit": 0.0105}, "duration of 0.0105 s is not a multiple"),
        ({"vary": {"pole.mas": pt.Uniform(1, 2)}}, "mas"),
    ],
)
def test_bad_tasks_are_refused(world, change, match):
    with pytest.raises((LookupError, TypeError, ValueError), match=match):
        learn.VectorEnv(world, **({"batch": 2} | TASK | change))


def test_other_bad_input(world):
    with pytest.raises(TypeError, match="rewrd"):
        learn.Env(world, rewrd=upright)
    with pytest.raises(TypeError, match="needs a world"):
        learn.Env("world")
    still = pt.World()
    still.add_particle("ball", 1.0)
    with pytest.raises(ValueError, match="a task needs an action"):
        learn.Env(still)
    with pytest.raises(ValueError, match="values for 2 instances; an Env has one"):
        learn.Env(world, vary={"pole.mass": [0.1, 0.2]})
    env = learn.VectorEnv(world, batch=2, **TASK)
    with pytest.raises(ValueError, match="one seed"):
        env.reset(seed=[1, 2])
    with pytest.raises(TypeError, match="options must be a dict"):
        env.reset(options=[1])
    env.reset(seed=1)
    with pytest.raises(ValueError, match="where must be a mask"):
        env.reset(options={"reset_mask": [1, 0]})


def test_the_missing_package_is_named(world, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gymnasium", None)
    monkeypatch.setitem(__import__("sys").modules, "gymnasium.vector", None)
    for make in (learn.Env, learn.VectorEnv):
        with pytest.raises(ImportError, match=re.escape("pip install 'poinsot[learn]'")):
            make(world, **TASK)
