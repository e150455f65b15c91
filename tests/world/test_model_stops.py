"""The limits of a robot's joints act in a world."""

import numpy as np
import pytest
from world_models import close, rod

import poinsot as pt
from poinsot.world.model_stops import FREQUENCY


def arm(lower=-0.5, upper=0.5):
    """A pendulum about y with limits, and an elbow without."""
    upper_arm = pt.Link("upper", rod(1, 0.5), None, pt.revolute((0, 1, 0), lower=lower, upper=upper))
    lower_arm = pt.Link("lower", rod(0.5, 0.4), "upper", pt.revolute((0, 1, 0)), pt.Pose(p=(0, 0, -0.5)))
    return pt.Mechanism((upper_arm, lower_arm))


def added(mechanism, **options):
    world = pt.World()
    world.add_mechanism(mechanism, **options)
    return world


def test_limits_hold():
    """It swings against the stop and comes back, the ledger adds up, and it rests against it under its weight."""
    world = added(arm(), v=(5.0, 0.0))
    assert list(world.description.elements) == ["upper.stop"]
    run = world.simulate(1.0, 1e-3)
    q = run.data.q.sel(coordinate="upper")
    assert 0.5 < q.max() < 0.55
    assert run.ledger.relative_residual.max() < 5e-4
    free = added(arm(), v=(5.0, 0.0), limits=False).simulate(1.0, 1e-3)
    assert free.data.q.sel(coordinate="upper").max() > 0.7


def test_nothing_changes_within_the_limits():
    with_stops = added(arm(), q=(0.1, 0.2)).simulate(0.5, 1e-3, method="rk4")
    without = added(arm(), q=(0.1, 0.2), limits=False).simulate(0.5, 1e-3, method="rk4")
    close(with_stops.data.q, without.data.q, 1e-12)


def test_stops_are_as_stiff_as_the_inertia_asks_for():
    mech = arm()
    M = pt.mass_matrix(mech, np.zeros(2))
    k = added(mech).description.elements["upper.stop"].stiffness
    close(k, FREQUENCY**2 / np.linalg.inv(M)[0, 0], 1e-9)


def test_starts_within_its_limits():
    """By default; a start beyond them that is asked for is said."""
    close(added(arm(0.2, 0.5)).start().q, [0.2, 0.0], 1e-15)
    with pytest.warns(UserWarning, match=r"beyond their limits, .*'upper' at \[0\.7\], not within -0\.5 and 0\.5\."):
        added(arm(), q=(0.7, 0.0))
    close(added(arm(0.2, 0.5), limits=False).start().q, [0.0, 0.0], 1e-15)


def test_names_with_a_prefix():
    world = added(arm(), prefix="left_")
    world.add_mechanism(arm(), prefix="right_")
    assert set(world.description.elements) == {"left_upper.stop", "right_upper.stop"}


@pytest.mark.parametrize("word", ["limits", "motors"])
def test_they_are_on_or_off(word):
    with pytest.raises(ValueError, match=f"{word} must be True or False, not 'of'"):
        added(arm(), **{word: "of"})
