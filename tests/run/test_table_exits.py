"""Look-ups beyond the grids of tables are counted and reported after the run."""

import numpy as np
import pytest

import poinsot as pt

CM = pt.Table(([0.0, 1.0],), [0.0, 2.0], name="Cm", labels=["height"])


def falling(table=CM, **world):
    built = pt.World(**world)
    built.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 5.0))
    built.add_force("lift", "ball", lambda t, s: np.stack([0 * t, 0 * t, table(s["ball"].position[2])]))
    return built


@pytest.fixture(scope="module")
def runs():
    starts = np.array([[0, 0, 5.0], [0, 0, 0.9], [0, 0, 9.0]])
    return falling().simulate(0.4, 0.01, every=0.01, batch=3, vary={"ball.position": starts})


def test_time_and_farthest_value_are_reported(runs):
    """Instances 0 and 2 are above 1 m all the time; number 1 is below 1 m, and leaves at the lower end in the end."""
    (left,) = runs.table_exits
    assert (left.table, left.axis, left.ends) == ("Cm", "height", (0.0, 1.0))
    assert left.time == pytest.approx(0.4)
    assert left.farthest == pytest.approx(9.0)
    assert left.share == pytest.approx(2 / 3)
    assert "height left 'Cm', 0 to 1, for 0.4 s, up to 9, in 66.7 % of the instances" in str(runs.table_exits)


def test_the_time_is_that_of_the_flight():
    """A fall from 5 m to 1 m takes sqrt(2 (5 - 1)/g'), the lift of the clamped table being 2 N."""
    run = falling().simulate(1.1, 0.01)
    (left,) = run.table_exits
    assert left.time == pytest.approx(np.sqrt(2 * 4.0 / (9.81 - 2.0)), abs=0.01)


def test_nothing_is_reported_of_tables_that_cannot_be_left_or_were_not():
    wide = pt.Table(([0.0, 10.0],), [0.0, 2.0], name="wide")
    around = pt.Table(([0.0, 1.0],), [2.0, 2.0], outside="periodic", name="around")
    nameless = pt.Table(([0.0, 1.0],), [0.0, 2.0])
    for table in (around, nameless):
        assert falling(table).simulate(0.1, 0.01).table_exits == ()
    run = falling(wide).simulate(0.1, 0.01)
    assert not run.table_exits
    assert str(run.table_exits) == ""


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
