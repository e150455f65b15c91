"""Look-ups beyond the grids of tables are counted and reported after the run."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.run.table_exits import Tally

CM = pt.Table(([0.0, 1.0],), [0.0, 2.0], name="Cm", labels=["height"])


WIDE = pt.Table(([-10.0, 10.0],), [0.0, 0.0], name="wide")
AROUND = pt.Table(([0.0, 1.0],), [0.0, 0.0], outside="periodic", name="around")
NAMELESS = pt.Table(([0.0, 1.0],), [0.0, 0.0])


@pytest.fixture(scope="module")
def runs():
    """Three balls that fall, from 5, 0.9 and 9 m, with a lift that is looked up in all these tables."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 5.0))

    def lift(t, scene):
        z = scene["ball"].position[2]
        return np.stack([0 * t, 0 * t, CM(z) + WIDE(z) + AROUND(z) + NAMELESS(z)])

    world.add_force("lift", "ball", lift)
    starts = np.array([[0, 0, 5.0], [0, 0, 0.9], [0, 0, 9.0]])
    return world.simulate(0.4, 0.01, every=0.01, batch=3, vary={"ball.position": starts})


def test_time_and_farthest_value_are_reported(runs):
    """Of the one table that has a name and was left: by the balls 0 and 2, which stay above 1 m."""
    (left,) = runs.table_exits
    assert (left.table, left.axis, left.ends) == ("Cm", "height", (0.0, 1.0))
    assert left.time == pytest.approx(0.4)
    assert left.farthest == pytest.approx(9.0)
    assert left.share == pytest.approx(2 / 3)
    assert str(runs.table_exits) == "height left 'Cm', 0 to 1, for 0.4 s, up to 9, in 66.7 % of the instances"


def test_times_are_sums_of_spans():
    """A value that is out at two of five uneven records counts for half of the spans beside them."""
    time, x = np.array([0.0, 1.0, 3.0, 4.0, 6.0]), np.array([0.5, 2.0, -3.0, 0.2, 0.3])
    spans = np.gradient(time)
    spans[[0, -1]] *= 0.5
    tally = Tally.of([("Cm", CM, 0)], 1)
    tally.add(x[:, None, None], spans[:, None])
    (left,) = tally.exits()
    assert (left.time, left.farthest, left.share) == (pytest.approx(spans[1] + spans[2]), -3.0, 1.0)


@pytest.fixture(scope="module")
def thrown():
    """A ball that is thrown up from 0.5 m and is above 1 m for a while, between two records."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.5), velocity=(0, 0, 4.0))
    world.add_force(
        "lift", "ball", lambda t, scene: np.stack([0 * t, 0 * t, 0 * t + 0 * CM(scene["ball"].position[2])])
    )
    return world


@pytest.mark.parametrize("options", [{"every": 0.7}, {"every": 0.1}, {"every": 0.01}, {"batch": 2}])
def test_every_step_counts_wherever_records_are(thrown, options):
    """z = 0.5 + 4 t - g t^2/2 is above 1 m for 2 sqrt(16 - g)/g, and at most at 0.5 + 8/g."""
    (left,) = thrown.simulate(0.7, 0.01, **options).table_exits
    assert left.time == pytest.approx(2 * np.sqrt(16 - 9.81) / 9.81, abs=0.01)
    assert left.farthest == pytest.approx(0.5 + 8 / 9.81, abs=9.81 * 0.005**2 / 2)


def test_what_comes_after_the_end_does_not_count(thrown):
    """Up to a condition, within a step; and of a batch, in which each instance ends at its own time."""
    until = lambda t, scene: scene["ball"].position[2] > 1.2  # noqa: E731
    (left,) = thrown.simulate(0.7, 0.01, every=0.7, until=until).table_exits
    assert left.farthest == pytest.approx(1.2, abs=0.04)
    speeds = np.array([[0, 0, 4.0], [0, 0, 2.8], [0, 0, 6.0]])
    runs = thrown.simulate(0.7, 0.01, batch=3, vary={"ball.velocity": speeds}, until=until)
    (left,) = runs.table_exits
    assert left.farthest == pytest.approx(1.2, abs=0.06)
    assert left.share == pytest.approx(2 / 3)
    assert left.time < 0.1


def test_adaptive_steps_are_judged_at_the_records(thrown):
    (left,) = thrown.simulate(0.7, 0.01, every=0.1, method="adaptive").table_exits
    assert left.time == pytest.approx(0.5)


def test_tables_of_parts_are_named_by_their_fields():
    deck = pt.Table(([0.0, 0.3], [0.0, 2e3]), np.full((2, 2), 10.0), labels=["mach", "altitude"])
    world = pt.World(air=pt.US76())
    body = world.add_body("plane", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 2500.0), orientation=(0, 1, 0, 0))
    body.add(pt.Jet("engine", thrust=deck, throttle=0.5))
    (left,) = world.simulate(0.1, 0.01).table_exits
    assert (left.table, left.axis) == ("plane.engine.thrust", "altitude")


def test_labels_are_one_per_axis():
    with pytest.raises(ValueError, match="its 1 axes need one each"):
        pt.Table(([0.0, 1.0],), [0.0, 2.0], labels="x")
