"""Worlds stepped from outside: the bits of a run, states that can be saved and branched, and episodes."""

import pickle
import time
from typing import Any

import numpy as np
import pytest
import run_worlds

import poinsot as pt
from poinsot.fuse import kernels
from poinsot.run import stepper

PERIOD = 20


def cart_pole() -> pt.World:
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (0.3, 0.2, 0.1)), joint=pt.prismatic((1, 0, 0)))
    pole = pt.Pose(p=(0, 0, 0.5)) @ pt.Inertia.cylinder(0.1, 0.02, 1.0)
    world.add_body("pole", pole, parent="cart", joint=pt.revolute((0, 1, 0)), q=0.05)
    world.add_input("push", 0.0)
    world.add_motor("motor", "cart", pt.Input("push"))
    return world


def free_box() -> pt.World:
    """Free bodies are stepped as momenta."""
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(3, 0.2, 0.3))
    world.add_input("push", np.zeros(3))
    world.add_force("push_force", "box", pt.Input("push"), point=(0, 0.1, 0))
    return world


def breaking() -> pt.World:
    """A pendulum whose root gives way, and a force that depends on time."""
    world = run_worlds.breaking()
    world.add_input("wind", 0.0)
    world.add_force("gust", "rod", lambda t, scene: np.stack([scene.input("wind") * np.sin(5 * t), 0, 0]))
    return world


WORLDS = {"cart and pole": cart_pole, "free box": free_box, "breaking": breaking}


def fallen(t: Any, scene: Any) -> Any:
    return abs(scene.joint("pole")[0][0]) > 0.2


@pytest.mark.parametrize("name", WORLDS)
def test_bits_are_those_of_a_run_alone_and_in_a_batch(name):
    world, n, periods = WORLDS[name](), 5, 25
    (input_name,) = world.description.inputs
    core = np.shape(world.description.inputs[input_name])
    actions = 5 * np.random.default_rng(0).normal(size=(periods, n, *core))
    held = {input_name: (PERIOD * 1e-3 * np.arange(periods), actions)}
    runs = world.simulate(periods * PERIOD * 1e-3, batch=n, inputs=held)
    many = world.stepper(batch=n, control_period=PERIOD * 1e-3, threads=1)
    many.reset()
    for action in actions:
        seen = many.step(action.reshape(n, -1))
    bodies = runs.observed(["q", "v"]).isel(time=-1)
    np.testing.assert_array_equal(seen, np.concatenate([bodies.q, bodies.v], axis=-1))
    one = world.stepper(control_period=PERIOD * 1e-3)
    one.reset()
    for action in actions[:, 2]:
        alone = one.step(action.reshape(-1))
    np.testing.assert_array_equal(alone, seen[2])
    np.testing.assert_array_equal(one.state.x, many.state.x[2])
    assert one.time == runs.time[-1]


def test_observations_and_actions_are_labelled():
    world = free_box()
    world.add_input("unused", 1.0)

    def speed(t: Any, scene: Any) -> Any:
        return np.sqrt(scene["box"].velocity @ scene["box"].velocity)

    sim = world.stepper(batch=2, inputs=["push"], observe=["box.velocity", "box.position.z", "energy", speed])
    assert sim.action_labels == ("push[0]", "push[1]", "push[2]")
    assert sim.observation_labels == (
        "box.velocity.x", "box.velocity.y", "box.velocity.z", "box.position.z", "energy", "speed",
    )  # fmt: skip
    sim.reset()
    seen = sim.step(np.array([[0, 0, 2 * 9.81], [1.0, 0, 0]]))
    run = world.simulate(1e-3, inputs={"push": np.array([[0, 0, 2 * 9.81], [1.0, 0, 0]])}, batch=2)
    # Another kernel, which fuses products into sums: equal to rounding of 0.02 m/s.
    np.testing.assert_allclose(seen[:, :3], run.data.velocity.sel(body="box")[-1], rtol=1e-15, atol=1e-17)
    np.testing.assert_allclose(seen[:, 4], run.data.energy[-1], rtol=1e-15)
    np.testing.assert_allclose(seen[:, 5], np.linalg.norm(seen[:, :3], axis=1), rtol=1e-15)
    assert world.stepper(observe="box.angular_velocity").observation_labels[0] == "box.angular_velocity.x"
    assert world.stepper().observation_labels[:1] == ("box.q[0]",)


def test_actions_by_name_and_held():
    sim = cart_pole().stepper(batch=3, control_period=0.01)
    twin = sim.copy()
    sim.reset()
    twin.reset()
    np.testing.assert_array_equal(sim.step({"push": [1.0, 2.0, 3.0]}), twin.step(np.array([[1.0], [2.0], [3.0]])))
    np.testing.assert_array_equal(sim.step(), twin.step([[1], [2], [3]]))
    np.testing.assert_array_equal(sim.step({"push": 4.0}), twin.step(np.full((3, 1), 4.0)))


def test_a_world_without_inputs_is_stepped_without_actions():
    world = pt.World()
    world.add_particle("ball", 1.0, velocity=(0, 0, 3.0))
    sim = world.stepper(control_period=0.01)
    sim.reset()
    sim.step()
    np.testing.assert_array_equal(sim.step(np.zeros(0)), world.simulate(0.02).y[-1][:6])
    with pytest.raises(ValueError, match="no inputs to set"):
        sim.step([1.0])
    with pytest.raises(ValueError, match="nothing is observed"):
        world.stepper(observe=[])


def test_arrays_are_the_users_own():
    sim = cart_pole().stepper(batch=3)
    out = np.empty((3, 4))
    assert sim.reset(out=out) is out
    before = out.copy()
    assert sim.step(np.ones((3, 1)), out=out) is out
    assert not np.array_equal(out, before)
    new = sim.step(np.ones((3, 1)))
    assert new is not sim.step(np.ones((3, 1)))


def test_states_are_frozen_saved_restored_and_branched(monkeypatch):
    world = cart_pole()
    sim = world.stepper(batch=4, control_period=0.02, vary={"pole.mass": pt.Uniform(0.05, 0.2)}, seed=3)
    sim.reset()
    rng = np.random.default_rng(1)
    actions = rng.normal(size=(6, 4, 1))
    monkeypatch.setattr(kernels, "trace", None)  # nothing compiles after the first call
    sim.step(actions[0])
    kept = pickle.loads(pickle.dumps(sim.state))
    twin = sim.copy()
    ahead = [sim.step(action) for action in actions[1:]]
    assert not np.array_equal(sim.state.x, kept.x)
    np.testing.assert_array_equal(twin.state.x, kept.x)
    sim.state = kept
    np.testing.assert_array_equal([sim.step(action) for action in actions[1:]], ahead)
    np.testing.assert_array_equal([twin.step(action) for action in actions[1:]], ahead)
    with pytest.raises(ValueError, match="read-only"):
        sim.state.x[0, 0] = 1.0
    np.testing.assert_allclose(kept.time, 0.02, rtol=1e-15)


def test_a_run_and_a_stepper_hand_over_to_each_other():
    world = cart_pole()
    whole = world.simulate(0.2, ledger=False)
    sim = world.stepper(control_period=0.1)
    sim.state = world.simulate(0.1, ledger=False).end
    np.testing.assert_array_equal(sim.step(), np.concatenate([whole.data.q[-1], whole.data.v[-1]]))
    many = world.stepper(batch=3, control_period=0.1)
    many.state = world.simulate(0.1, ledger=False).end  # three branches of one state
    np.testing.assert_array_equal(many.step()[1], whole.y[-1])


@pytest.mark.parametrize("make", [cart_pole, free_box])
def test_a_run_goes_on_from_a_stepper(make):
    world = make()
    (name,) = world.description.inputs
    action = np.ones((2, np.size(world.description.inputs[name])))
    held = {name: action.reshape(2, *np.shape(world.description.inputs[name]))}
    sim = world.stepper(batch=2, control_period=0.05)
    sim.reset()
    sim.step(action)
    run = world.simulate(0.05, start=sim.end)
    np.testing.assert_array_equal(run.y[-1], world.simulate(0.1, batch=2, inputs=held).y[-1])
    assert run.time[0] == 0.05
    sim.reset(where=[True, False])
    with pytest.raises(ValueError, match="at different times"):
        _ = sim.end


# Episodes.


def test_draws_are_reproducible_for_each_instance():
    world, vary = cart_pole(), {"pole.q[0]": pt.Normal(0.0, 0.1), "pole.mass": pt.Uniform(0.1, 0.2)}
    sim = world.stepper(batch=6, vary=vary, seed=5)
    first = sim.reset()
    run = world.simulate(1e-3, batch=6, vary=vary, seed=5)
    np.testing.assert_array_equal(first, np.concatenate([run.data.q[0], run.data.v[0]], axis=-1))
    second = sim.reset()
    assert not np.any(second[:, 1] == first[:, 1])
    np.testing.assert_array_equal(sim.reset(seed=5), first)
    some = np.array([True, False, True, False, False, False])
    np.testing.assert_array_equal(sim.reset(where=some), np.where(some[:, None], second, first))
    fewer = world.stepper(batch=3, vary=vary, seed=5)
    np.testing.assert_array_equal(fewer.reset(), first[:3])
    np.testing.assert_array_equal(fewer.reset(), second[:3])
    alone = world.stepper(vary=vary, seed=5)
    np.testing.assert_array_equal(alone.reset(), first[0])
    np.testing.assert_array_equal(alone.reset(), second[0])


@pytest.mark.parametrize("random", [False, True])
def test_episodes_follow_each_other_inside_the_kernel(random):
    """The same as a stepper whose instances are reset one by one, from outside."""
    world = cart_pole()
    vary = {"pole.q[0]": pt.Normal(0.0, 0.05)} if random else {"pole.q[0]": [0.05, 0.1, -0.15, 0.19]}
    options: dict[str, Any] = {"batch": 4, "control_period": 0.02, "until": fallen, "duration": 0.5, "vary": vary}
    auto, manual = world.stepper(autoreset=True, **options), world.stepper(**options)
    np.testing.assert_array_equal(auto.reset(), manual.reset())
    rng, ends, over = np.random.default_rng(2), np.zeros(4), set()
    for _ in range(80):
        action = 20 * rng.normal(size=(4, 1))
        seen, wanted = auto.step(action), manual.step(action)
        done = manual.done
        np.testing.assert_array_equal(auto.done, done)
        np.testing.assert_array_equal(auto.truncated, manual.truncated)
        np.testing.assert_array_equal(auto.terminated, manual.terminated)
        np.testing.assert_array_equal(auto.last_observation, wanted)
        over |= {"time" for _ in range(manual.truncated.sum())} | {"condition" for _ in range(manual.terminated.sum())}
        if np.any(done):
            wanted = manual.reset(where=done)
        np.testing.assert_array_equal(seen, wanted)
        np.testing.assert_array_equal(auto.time, manual.time)
        ends += done
    assert ends.sum() > 8
    assert over == {"time", "condition"}
    np.testing.assert_array_equal(auto.state.episodes, ends)
    np.testing.assert_array_equal(auto.state.p, manual.state.p)


def test_an_episode_of_one_world_resets_itself():
    sim = cart_pole().stepper(control_period=0.02, until=fallen, autoreset=True)
    start = sim.reset()
    seen = [sim.step([50.0]) for _ in range(12)]
    assert any(np.array_equal(one, start) for one in seen)


def test_what_breaks_down_stays_where_it_was():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("rocket", 1.0, velocity=(1.0, 0, 0))
    world.add_input("rate", 0.0)
    world.add_force("thrust", "rocket", lambda t, scene: scene.input("rate") * scene["rocket"].velocity ** 3)
    sim = world.stepper(batch=2, control_period=0.1, method="rk4", observe="rocket.velocity.x")
    sim.reset()
    seen = sim.step([[0.0], [1e3]])
    np.testing.assert_array_equal(seen, [[1.0], [1.0]])
    np.testing.assert_array_equal(sim.broken, [False, True])
    np.testing.assert_array_equal(sim.done, [False, True])


def test_threads_and_numbers_of_instances_change_no_bit():
    world = cart_pole()
    rng = np.random.default_rng(0)
    vary = {"pole.q[0]": 0.1 * rng.normal(size=300)}
    actions = rng.normal(size=(3, 300, 1))
    seen = []
    for threads in (1, 2, None):
        sim = world.stepper(vary=vary, control_period=0.02, threads=threads)
        assert sim.batch == 300
        sim.reset()
        seen.append([sim.step(action) for action in actions])
    np.testing.assert_array_equal(seen[1], seen[0])
    np.testing.assert_array_equal(seen[2], seen[0])


def test_a_period_can_be_differentiated():
    """Forward and reverse derivatives of the kernel against differences."""
    sim = cart_pole().stepper(control_period=5e-3)
    sim.reset()
    state = sim.state
    arguments = (state.x, state.p, 0.0, 0.0, np.array([2.0]), 1e-3)

    def loss(x: Any, action: Any) -> float:
        return float(np.sum(sim.kernel(x, *arguments[1:4], action, 1e-3)[1] * [1, 2, 3, 4]))

    weights = (np.zeros(4), np.array([1.0, 2, 3, 4]), 0.0)
    *_, by_x, by_action = pt.vjp(sim.kernel, wrt=(0, 4))(*arguments, *weights)
    e = 1e-6
    differences = [(loss(state.x + e * d, [2.0]) - loss(state.x - e * d, [2.0])) / (2 * e) for d in np.eye(4)]
    np.testing.assert_allclose(by_x, differences, rtol=1e-7)
    np.testing.assert_allclose(by_action[0], (loss(state.x, [2 + e]) - loss(state.x, [2 - e])) / (2 * e), rtol=1e-7)


def test_a_step_of_one_instance_is_cheap():
    """Beyond its physics some 10 us; the bound here leaves room for a busy machine."""
    sim = cart_pole().stepper(control_period=1e-3)
    sim.reset()
    action, out = np.array([1.0]), np.empty(4)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(100):
            sim.step(action, out=out)
        times.append((time.perf_counter() - started) / 100)
    assert min(times) < 60e-6


# Bad input.


def test_a_period_that_does_not_fit_the_step_is_refused_with_the_nearest():
    world = cart_pole()
    with pytest.raises(ValueError, match=r"control_period of 0\.0207 s is not a multiple.* the nearest is 0\.021 s"):
        world.stepper(step=1e-3, control_period=0.0207)
    with pytest.raises(ValueError, match=r"nearest is 0\.001 s"):
        world.stepper(step=1e-3, control_period=1e-5)
    with pytest.raises(ValueError, match="control_period must be a positive number"):
        world.stepper(control_period=-1.0)


def test_a_sample_that_does_not_fit_the_step_is_refused_with_the_nearest(noisy):
    with pytest.raises(ValueError, match=r"sample of Sensor 'gyro' is 0\.02 s, .* the nearest is 0\.018 s"):
        noisy.stepper(step=6e-3)


def test_actions_that_are_wrong_are_named_and_nothing_steps():
    sim = cart_pole().stepper(batch=3)
    sim.reset()
    sim.step(np.ones((3, 1)))
    before = sim.state
    bad = np.ones((3, 1))
    bad[1] = np.nan
    for action, match in (
        (bad, "the action push of instance 1 is nan. Nothing was stepped"),
        (np.ones((2, 1)), r"shape \(3, 1\), for push; not \(2, 1\). Nothing was stepped"),
        (np.ones(3), r"not \(3,\)"),
        ({"pull": 1.0}, "'pull' is not an input of this stepper"),
        ({"pus": 1.0}, "did you mean 'push'"),
        ({"push": [1.0, 2.0]}, r"input 'push' takes values of shape \(3,\), or \(\) for all"),
        ({"push": np.inf}, "push of instance 0 is inf"),
        ("push", "an action must be real numbers, not 'push'. Nothing was stepped"),
        (np.ones((3, 1), complex), "an action must be real numbers"),
        ({"push": ["a", "b", "c"]}, "input 'push' must be real numbers"),
        (lambda t: t, "an action must be real numbers"),
        ([[1.0], [2.0, 3.0], [4.0]], "an action must be real numbers"),
    ):
        with pytest.raises(ValueError, match=match):
            sim.step(action)
        np.testing.assert_array_equal(sim.state.x, before.x)
        np.testing.assert_array_equal(sim.state.p, before.p)
        assert sim.time[0] == before.time[0]
    sim.step()  # goes on with the action that was held


def test_names_that_do_not_exist_are_refused():
    world = cart_pole()
    with pytest.raises(ValueError, match="no input 'puh'; did you mean 'push'"):
        world.stepper(inputs=["puh"])
    with pytest.raises(ValueError, match="named twice"):
        world.stepper(inputs=["push", "push"])
    with pytest.raises(ValueError, match=r"no quantity 'pole\.positio'; did you mean"):
        world.stepper(observe=["pole.positio"])
    with pytest.raises(ValueError, match="a function of the scene gives numbers"):
        world.stepper(observe=lambda t, scene: np.eye(3))
    with pytest.raises(ValueError, match="device must be"):
        world.stepper(device="gpu")
    with pytest.raises(TypeError, match="perod"):
        world.stepper(perod=1.0)


def test_states_of_other_worlds_and_closed_steppers_are_refused():
    world, other = cart_pole(), free_box()
    sim, box = world.stepper(batch=2), other.stepper()
    box.reset()
    with pytest.raises(ValueError, match="nothing was started yet"):
        sim.step(np.ones((2, 1)))
    with pytest.raises(ValueError, match="nothing was started yet"):
        _ = sim.state
    sim.reset()
    with pytest.raises(ValueError, match="another world: body 'box' is missing"):
        sim.state = box.state
    with pytest.raises(TypeError, match="a state is needed"):
        sim.state = np.zeros(4)
    with pytest.raises(ValueError, match="one of 2 instances, but the stepper has 3"):
        world.stepper(batch=3).state = sim.state
    with pytest.raises(ValueError, match=r"steps of 0\.001 s; this stepper uses 'rk4' and 0\.002 s"):
        world.stepper(batch=2, step=2e-3).state = sim.state
    with pytest.raises(ValueError, match=r"where must be a mask of \(2,\) booleans"):
        sim.reset(where=[1, 0])
    with pytest.raises(ValueError, match="a seed is for all instances"):
        sim.reset(seed=1, where=[True, False])
    with sim:
        pass
    with pytest.raises(ValueError, match="was closed"):
        sim.step(np.ones((2, 1)))
    with pytest.raises(ValueError, match="was closed"):
        sim.reset()


@pytest.fixture(scope="module")
def noisy():
    """A gyro at rest, whose noise is observed, and pushed by what it reads."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("craft", pt.Inertia.sphere(mass=1.0, radius=0.1))
    world.add_input("push", 0.0)
    world.add(pt.Sensor("gyro", "gyro", "craft", sample=0.02, noise=1e-3, random_walk=1e-4))
    world.add_torque("torque", "craft", lambda t, scene: scene.signal("gyro.out") * 1e-3 * (1 + scene.signal("push")))
    return world


def noisy_stepper(world, batch, **options):
    sim = world.stepper(
        batch=batch,
        step=0.01,
        control_period=0.02,
        observe=["gyro.out", "craft.angular_velocity"],
        duration=0.1,
        **options,
    )
    return sim, sim.reset(seed=5)


def test_noise_differs_between_instances_and_is_that_of_runs(noisy):
    """The same bits alone, in a batch, and in world.simulate with the same seed; other ones in every instance."""
    sim, first = noisy_stepper(noisy, 3)
    seen = np.array([first, sim.step(), sim.step()])
    assert len(np.unique(seen[0, :, :3])) == 9
    run = noisy.simulate(0.04, 0.01, batch=3, seed=5, every=0.02)
    np.testing.assert_array_equal(seen[:, :, :3], run.data["gyro.out"].values)
    np.testing.assert_array_equal(seen[1:, :, 3:], run.data.angular_velocity.values[1:, :, 0])
    one, start = noisy_stepper(noisy, None)
    np.testing.assert_array_equal([start, one.step(), one.step()], seen[:, 0])
    shared, _ = noisy_stepper(noisy, 3, threads=2)
    np.testing.assert_array_equal(shared.step(), seen[1])
    again = sim.copy()
    np.testing.assert_array_equal(sim.step(), again.step())


def test_noise_differs_between_episodes(noisy):
    sim, first = noisy_stepper(noisy, 2, autoreset=True)
    for _ in range(5):
        second = sim.step()
    assert np.all(sim.done)
    assert not np.any(second[:, :3] == first[:, :3])
    by_hand, _ = noisy_stepper(noisy, 2)
    np.testing.assert_array_equal(by_hand.reset(), second)
    np.testing.assert_array_equal(by_hand.reset(seed=5), first)
    np.testing.assert_array_equal(by_hand.reset(where=np.array([True, False]))[1], first[1])


class Foreign:
    """An array of another library, which is known by dlpack alone: NumPy must not see it as a sequence or an array."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice:
    """An array as CuPy's, without a GPU: it does what those can, and is never converted to NumPy by itself."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return self.array

    def item(self):
        return self.array.item()

    def max(self):
        return OnDevice(np.asarray(self.array.max()))

    def copy(self):
        return OnDevice(self.array.copy())

    def reshape(self, shape):
        return OnDevice(self.array.reshape(shape))

    def __float__(self):
        return float(self.array)

    def __len__(self):
        return len(self.array)

    def __getitem__(self, key):
        return OnDevice(self.array[_plain(key)])

    def __setitem__(self, key, value):
        self.array[_plain(key)] = value.array if isinstance(value, OnDevice) else float(value)

    def __add__(self, other):
        return OnDevice(self.array + getattr(other, "array", other))

    def __mul__(self, other):
        return OnDevice(self.array * getattr(other, "array", other))

    def __gt__(self, other):
        return OnDevice(self.array > other)


def _plain(key):
    if isinstance(key, tuple):
        return tuple(map(_plain, key))
    assert not isinstance(key, np.ndarray)  # indices are on the device as well
    return key.array if isinstance(key, OnDevice) else key


class Library:
    """As much of CuPy as a stepper needs."""

    ndarray = OnDevice

    @staticmethod
    def zeros(shape):
        return OnDevice(np.zeros(shape))

    @staticmethod
    def asarray(x, dtype=None):
        return OnDevice(np.asarray(x.array if isinstance(x, OnDevice) else x, dtype=dtype))

    @staticmethod
    def moveaxis(x, a, b):
        return OnDevice(np.moveaxis(x.array, a, b))

    @staticmethod
    def broadcast_to(x, shape):
        return OnDevice(np.broadcast_to(x.array, shape))

    @staticmethod
    def from_dlpack(x):
        return OnDevice(np.from_dlpack(x))


def test_arrays_of_other_libraries_are_taken_by_dlpack(noisy):
    sim, _ = noisy_stepper(noisy, 2)
    twin = sim.copy()
    out = np.zeros((2, 6))
    foreign = Foreign(out)
    assert sim.step(Foreign(np.ones((2, 1))), out=foreign) is foreign
    np.testing.assert_array_equal(out, twin.step(np.ones((2, 1))))
    np.testing.assert_array_equal(sim.reset(where=Foreign(np.array([True, False]))), twin.reset(where=[True, False]))
    with pytest.raises(ValueError, match=r"out must be an array of shape \(2, 6\), not \(2, 5\)"):
        sim.step(np.ones((2, 1)), out=np.zeros((2, 5)))


def test_a_stepper_never_converts_arrays_on_a_device_by_itself(noisy, monkeypatch):
    """The way that arrays of a GPU take, with the kernel of the processor: nothing leaves the device unasked."""
    on_cpu, first = noisy_stepper(noisy, 2, autoreset=True)

    def on_device(kernel, options, n):
        call = plain(kernel, options, n)[1]
        return Library, lambda *args, out: call(*(a.array for a in args), out=tuple(a.array for a in out))

    plain = stepper._callable
    monkeypatch.setattr(stepper, "_callable", on_device)
    sim, start = noisy_stepper(noisy, 2, autoreset=True)
    np.testing.assert_array_equal(start.get(), first)
    for k in range(7):  # beyond the end of an episode
        action = np.full((2, 1), 0.1 * k)
        given = [OnDevice(action), Foreign(action), {"push": OnDevice(action[:, 0])}][k % 3]
        np.testing.assert_array_equal(sim.step(given).get(), on_cpu.step(action))
    np.testing.assert_array_equal(sim.reset(where=sim.time > 0.03).get(), on_cpu.reset(where=on_cpu.time > 0.03))
    sim.state = on_cpu.state
    np.testing.assert_array_equal(sim.step().get(), on_cpu.step())
    with pytest.raises(ValueError, match="the action push of instance 1 is nan"):
        sim.step(OnDevice(np.array([[0.0], [np.nan]])))
