"""A stepper against the wall clock, which is a fake one here: what is due, what is dropped, and the same bits again."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import poinsot as pt


@dataclass
class Wall:
    """A clock that moves when one sleeps, or when work is done that takes `cost` seconds."""

    now: float = 100.0
    cost: float = 0.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


@pytest.fixture(scope="module")
def world():
    world = pt.World()
    arm = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.cylinder(mass=1.0, radius=0.05, height=1.0)
    world.add_body("arm", arm, joint=pt.revolute((0, 1, 0)), q=0.5)
    world.add_input("torque", 0.0)
    world.add_motor("motor", "arm", pt.Input("torque"))
    return world


def stepper(world, **options):
    sim = world.stepper(control_period=0.01, **options)
    sim.reset()
    return sim


def made(world, wall, **options):
    return pt.LiveRun(stepper(world), clock=wall.clock, sleep=wall.sleep, **options)


@pytest.mark.parametrize("speed", [0.1, 1.0, 4.0])
def test_simulated_time_follows_the_clock(world, speed):
    wall, frames = Wall(), []
    loop = made(
        world, wall, speed=speed, on_frame=lambda frame: frames.append((wall.now, float(frame.time))), rate=50.0
    )
    record = loop.run(0.5)
    assert loop.count == len(record.actions) == 50
    assert loop.sim.time == pytest.approx(0.5)
    assert wall.now - 100.0 == pytest.approx(0.5 / speed, rel=0.05)
    walls, times = np.transpose(frames)
    assert np.all(np.abs(times - speed * (walls - 100.0)) <= 0.01 + speed / 50.0)
    assert np.min(np.diff(walls)) >= 1 / 50.0 - 1e-9
    assert record.dropped == 0.0
    assert np.all(np.abs(record.read_at - np.arange(1, 51) * 0.01 / speed) <= 0.021)


def test_inputs_come_from_outside_and_a_record_replays_to_the_same_bits(world):
    wall, rng, seen = Wall(), np.random.default_rng(3), []

    def inputs(observation):
        wall.now += rng.uniform(0, 0.02)  # a hand that is not steady
        return None if rng.uniform() < 0.3 else [rng.normal() - observation[0]]

    loop = made(world, wall, inputs=inputs, on_frame=lambda frame: seen.append(frame.observation))
    record = pickle.loads(pickle.dumps(loop.run(0.6)))
    again = list(record.replay(stepper(world)))
    np.testing.assert_array_equal(again[-1], loop.sim.observation)
    assert all(any(np.array_equal(x, y) for y in again) for x in seen[1:])
    held = {"torque": (0.01 * np.arange(60), record.actions[:, 0])}
    run = world.simulate(0.6, inputs=held)
    np.testing.assert_array_equal(again[-1], run.y[-1][:2])


def test_late_periods_are_caught_up(world):
    wall = Wall()
    loop = made(world, wall)
    wall.now += 0.1
    assert loop.advance() == 10
    assert loop.advance() == 0
    wall.now += 0.015
    assert loop.advance() == 1
    wall.now += 0.005
    assert loop.advance() == 1
    assert loop.frame.late == pytest.approx(0.0, abs=1e-9)


def test_physics_that_is_too_slow_drops_time_with_one_notice(world):
    wall = Wall(cost=0.03)  # three times as long as the period
    loop = made(world, wall, inputs=lambda seen: wall.sleep(wall.cost), most_late=0.1)
    with pytest.warns(pt.BehindWarning, match=r"more than 0\.1 s behind the clock") as notices:
        record = loop.run(0.5)
    assert len(notices) == 1
    assert len(record.actions) == 50  # fixed steps, none left out
    elapsed = wall.now - 100.0
    assert elapsed == pytest.approx(1.5, rel=0.1)
    assert 0.5 + record.dropped == pytest.approx(elapsed, abs=0.15)
    np.testing.assert_array_equal(list(record.replay(stepper(world)))[-1], loop.sim.observation)


def test_pause_single_steps_and_changes_of_speed(world):
    wall = Wall()
    loop = made(world, wall)
    loop.paused = True
    wall.now += 50.0
    assert loop.advance() == 0
    loop.step()
    assert loop.count == 1
    loop.paused = False
    assert loop.advance() == 0  # the pause is not made up for
    loop.speed = 0.1
    wall.now += 0.2
    assert loop.advance() == 2
    loop.speed = 2.0
    wall.now += 0.1
    assert loop.advance() == 20


def test_it_stops_when_asked(world):
    wall = Wall()
    loop = made(world, wall, on_frame=lambda frame: frame.count < 20)
    assert 20 <= len(loop.run().actions) <= 22
    loop = made(world, wall, inputs=lambda seen: loop.stop())
    assert len(loop.run().actions) == 1

    def tired(seen):
        if loop.count == 7:
            raise KeyboardInterrupt
        return None

    loop = made(world, wall, inputs=tired)
    assert len(loop.run().actions) == 7


def test_a_reset_begins_a_new_record(world):
    wall = Wall()
    loop = made(world, wall)
    loop.run(0.1)
    start = loop.reset(seed=4)
    assert loop.count == len(loop.record.actions) == 0
    np.testing.assert_array_equal(start, loop.sim.observation)
    assert loop.run(0.05).start.seed == 4


def test_batches_and_worlds_without_inputs(world):
    wall = Wall()
    many = stepper(world, batch=3)
    record = pt.live(many, lambda seen: seen[:, :1], 0.1, clock=wall.clock, sleep=wall.sleep)
    assert record.actions.shape == (10, 3, 1)
    still = pt.World()
    still.add_particle("ball", 1.0)
    sim = stepper(still)
    record = pt.live(sim, duration=0.05, clock=wall.clock, sleep=wall.sleep)
    assert record.actions.shape == (5, 0)
    np.testing.assert_array_equal(list(record.replay(stepper(still)))[-1], sim.observation)


def test_what_is_done_before_a_period_can_pause_it_or_start_anew(world):
    """After a pause nothing moves any more; after a start anew the first period is the first of the record."""
    wall, done = Wall(), []
    loop = made(world, wall, before=lambda: done.pop()() if done else None)
    wall.now += 0.1
    assert loop.advance() == 10
    done.append(lambda: setattr(loop, "paused", True))
    wall.now += 0.1
    assert loop.advance() == 0
    assert loop.count == 10
    loop.paused = False
    start = loop.record.start
    done.append(lambda: loop.go_on_from(start))
    wall.now += 0.1
    assert loop.advance() == 0
    assert loop.count == 0
    wall.now += 0.1
    assert loop.advance() == len(loop.record.actions) == 10


def test_the_real_clock(world):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.BehindWarning)  # a busy machine
        assert len(pt.live(stepper(world), duration=0.05, speed=5.0).actions) == 5


def test_bad_input(world):
    sim = stepper(world)
    for options, match in (
        ({"speed": 0.0}, "speed must be a positive number, not 0.0"),
        ({"speed": np.nan}, "speed must be a positive number, not nan"),
        ({"rate": "fast"}, "rate must be a positive number, not 'fast'"),
        ({"most_late": -1}, "most_late must be a positive number"),
        ({"duration": np.inf}, "duration must be a positive number"),
    ):
        with pytest.raises(ValueError, match=match):
            pt.live(sim, **options)
    with pytest.raises(TypeError, match=r"inputs must be a function, not 3\.0"):
        pt.live(sim, 3.0)
    with pytest.raises(ValueError, match="nothing was started yet"):
        pt.live(world.stepper())
    wall = Wall()
    loop = made(world, wall, inputs=lambda seen: [np.nan])
    with pytest.raises(ValueError, match=r"the action torque is nan\. Nothing was stepped"):
        loop.run(1.0)
    assert loop.count == len(loop.record.actions) == 0
    loop.speed = -1.0
    wall.now += 1.0
    with pytest.raises(ValueError, match=r"speed must be a positive number, not -1\.0"):
        loop.advance()
