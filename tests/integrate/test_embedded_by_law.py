"""Embedded Runge-Kutta methods: the order conditions of every rooted tree, and how a march places its steps."""

from functools import cache
from itertools import combinations_with_replacement, pairwise
from math import prod

import numpy as np
import pytest

from poinsot.integrate import schemes
from poinsot.integrate.embedded import DOP853, DOPRI5, Embedded, March, first_step, flat, march


@cache
def trees(nodes):
    """All rooted trees with so many nodes, each as the sorted tuple of the branches at its root."""
    return [()] if nodes == 1 else sorted({tuple(sorted(f)) for f in forests(nodes - 1, nodes - 1)})


def forests(nodes, largest):
    """All sets of trees with so many nodes together, none larger than `largest`."""
    if nodes == 0:
        yield ()
        return
    for size in range(min(nodes, largest), 0, -1):
        for count in range(1, nodes // size + 1):
            for chosen in combinations_with_replacement(trees(size), count):
                for rest in forests(nodes - size * count, size - 1):
                    yield (*chosen, *rest)


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    """gamma of Butcher: the size of the tree, times the densities of its branches."""
    return size(tree) * prod(map(density, tree))


def weight(tree, a):
    """Phi_i of Butcher for each stage i."""
    return prod((a @ weight(branch, a) for branch in tree), start=np.ones(len(a)))


def matrix(tableau):
    a = np.zeros((len(tableau.b),) * 2)
    for i, row in enumerate(tableau.a):
        a[i, :i] = row
    return a


def defects(tableau, weights, nodes):
    """What the conditions b Phi(tree) = 1/gamma(tree) miss, for all trees of so many nodes."""
    a = matrix(tableau)
    return np.array([np.dot(weights, weight(tree, a)) - 1 / density(tree) for tree in trees(nodes)])


METHODS = {name: getattr(schemes, name) for name in "EULER MIDPOINT HEUN3 RK4".split()}
METHODS |= {"DOPRI5": DOPRI5.tableau, "DOP853": DOP853.tableau}
ORDERS = {"EULER": 1, "MIDPOINT": 2, "HEUN3": 3, "RK4": 4, "DOPRI5": 5, "DOP853": 8}


def test_rooted_trees():
    """As many as there are: Hairer, Norsett and Wanner I, table II.2.3."""
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert sum(1 / density(t) for t in trees(4)) == pytest.approx(1 / 4 + 1 / 8 + 1 / 12 + 1 / 24)


@pytest.mark.parametrize("name", METHODS)
def test_every_condition_up_to_the_order_and_not_beyond(name):
    tableau = METHODS[name]
    assert tableau.order == ORDERS[name]
    for nodes in range(1, tableau.order + 1):
        np.testing.assert_allclose(defects(tableau, tableau.b, nodes), 0.0, atol=2e-14)
    assert np.abs(defects(tableau, tableau.b, tableau.order + 1)).max() > 1e-6


@pytest.mark.parametrize(("method", "orders"), [(DOPRI5, (4,)), (DOP853, (5, 3))], ids=["order 5", "order 8"])
def test_every_condition_of_the_method_inside(method, orders):
    """Weights less those of an error estimate are again a method, of a lower order."""
    for errors, order in zip(method.errors, orders, strict=True):
        inside = np.subtract(method.tableau.b, errors)
        for nodes in range(1, order + 1):
            np.testing.assert_allclose(defects(method.tableau, inside, nodes), 0.0, atol=2e-14)
        assert np.abs(defects(method.tableau, inside, order + 1)).max() > 1e-6


def test_the_last_stage_of_order_5_is_the_first_of_the_next_step():
    assert DOPRI5.tableau.a[-1] == DOPRI5.tableau.b[:-1]
    assert DOPRI5.tableau.b[-1] == 0.0
    assert DOPRI5.errors[0][-1] == pytest.approx(-1 / 40)  # the scale of the estimate, which no condition fixes


@pytest.mark.parametrize("method", [DOPRI5, DOP853], ids=["order 5", "order 8"])
def test_stages_see_their_own_time(method):
    """y' = n t^(n - 1) is a quadrature: exact up to the order, from any time on, and so is the estimate of zero."""
    t, h = 1.3, 0.7
    lowest = {5: 4, 8: 3}[method.tableau.order]
    for n in range(1, method.tableau.order + 1):
        new, estimates = method.step(lambda t, y, n=n: n * t ** (n - 1) + 0 * y, t, np.array([2.0]), h)
        np.testing.assert_allclose(new, 2.0 + (t + h) ** n - t**n, rtol=1e-13)
        if n <= lowest:
            np.testing.assert_allclose(estimates, 0.0, atol=2e-14 * n * (t + h) ** n)


def test_the_norm_of_an_error():
    """One estimate: its root mean square times |h|; two: e5^2 / sqrt(e5^2 + 0.01 e3^2), so that a small e5 by chance is
    not trusted where e3 is large. Hairer, Norsett and Wanner I, (II.10.17)."""
    a, b = np.array([3.0, -4.0, 12.0]), np.array([20.0, 10.0, -5.0])
    mean = [np.mean(a**2), np.mean(b**2)]
    for h in (0.1, -0.1):
        assert DOPRI5.norm([a], h) == pytest.approx(0.1 * np.sqrt(mean[0]), rel=1e-14)
        assert DOP853.norm([a, b], h) == pytest.approx(0.1 * mean[0] / np.sqrt(mean[0] + 0.01 * mean[1]), rel=1e-14)
    assert DOP853.norm([0 * a, 0 * b], 0.1) == 0.0


# The march. An `attempt` here notes its calls; its error is what the test says.


def marching(error, t0=0.0, h=1.0, end=10.0, power=5, before=1.0, **options):
    """The calls (t, h, error) of a march from t0, and where it ended; what is stepped counts the accepted steps."""
    calls = []

    def attempt(t, now, step):
        calls.append((float(t), float(step), float(error(float(t), float(step)))))
        return now + 1.0, np.array(calls[-1][2])

    zero, false = np.zeros(()), np.zeros((), bool)
    start = March(zero + t0, zero, zero + h, zero + before, zero - 7.0, false, false)
    return calls, march(attempt, power, start, end, **options)


def accepted(calls):
    return [c for c in calls if c[2] <= 1.0]


@pytest.mark.parametrize("t0", [0.0, -3.0, 0.1])
@pytest.mark.parametrize("power", [5, 8])
def test_accepted_steps_cover_the_time_and_end_at_its_end(t0, power):
    """Each starts where the one before ended; an attempt with too large an error is repeated from there, shorter."""
    calls, at = marching(lambda t, h: (h / (0.3 + 0.2 * np.sin(t))) ** power, t0, end=t0 + 7.3, power=power)
    assert at.t == t0 + 7.3
    assert not at.met
    assert not at.failed
    assert at.now == len(accepted(calls)) < len(calls)
    for (t, h, error), (following, shorter, _) in pairwise(calls):
        if error <= 1:
            assert following == pytest.approx(t + h, abs=1e-13)
        else:
            assert following == t
            assert shorter < h
    assert sum(h for _, h, _ in accepted(calls)) == pytest.approx(7.3, rel=1e-13)


def test_the_longest_step_and_the_steps_before_the_end():
    """Without errors the steps grow up to the longest; what is left is two equal steps rather than a very short one."""
    calls, at = marching(lambda t, h: 1e-9, h=0.5, end=10.0, longest=1.5)
    steps = [h for _, h, _ in calls]
    assert steps[0] == 0.5
    assert max(steps) == 1.5
    assert steps[-1] == pytest.approx(steps[-2], rel=1e-13)
    assert at.t == 10.0
    for wanted, made in ((4.0, [4.0, 3.0, 3.0]), (5.0, [5.0, 5.0]), (6.0, [5.0, 5.0]), (10.0, [10.0]), (12.0, [10.0])):
        assert [h for _, h, _ in marching(lambda t, h: 1.0, h=wanted, before=1e9, longest=wanted)[0]] == made


def test_a_step_that_was_cut_short_does_not_shorten_those_after_the_end():
    """The step to go on with is the one that was wanted before the end came in the way."""
    _, at = marching(lambda t, h: 0.9, h=40.0, end=10.0)
    assert at.h == 40.0
    _, small = marching(lambda t, h: 1e-12, h=12.0, end=10.0)
    assert small.h == pytest.approx(60.0)  # but longer, if the error says so
    _, uncut = marching(lambda t, h: 0.9, h=10.0, end=10.0)
    assert uncut.h < 10.0


def test_a_condition_stops_before_the_step_that_leads_there():
    """Time, state, wanted step and remembered error stay as before that step; its length is kept."""
    calls, at = marching(
        lambda t, h: 0.9 / (1 + t), h=0.75, end=10.0, longest=0.5, is_met=lambda t, now: (t > 2.0) & (now > 0)
    )
    assert at.met
    assert not at.failed
    last = calls[-1]
    assert at.t == last[0] <= 2.0 < last[0] + last[1]
    assert at.now == len(calls) - 1
    assert at.tried == last[1]
    assert at.error == calls[-2][2] != last[2]
    assert at.h > last[1] == 0.5  # as long as the error would have let it be
    _, never = marching(lambda t, h: 0.5, h=0.75, end=10.0, is_met=lambda t, now: t > 10.0)
    assert not never.met
    assert never.tried == -7.0
    assert never.t == 10.0


def test_a_condition_is_asked_of_accepted_steps_alone():
    calls, at = marching(lambda t, h: 2.0 if h > 0.1 else 0.5, h=1.0, end=1.0, is_met=lambda t, now: t > 0.5)
    assert at.met
    assert len(calls) > 2
    assert at.t <= 0.5 < at.t + at.tried
    assert at.tried <= 0.1


def test_what_is_settled():
    """settled(t, now, h, new) after accepted steps only, with the state before and after."""
    seen = []

    def settled(t, now, h, new):
        seen.append((float(t), float(h)))
        return new + (100.0 if new - now == 1.0 else np.nan), h

    calls, at = marching(lambda t, h: 2.0 if h > 0.4 else 0.5, h=1.0, end=1.0, settled=settled)
    assert len(seen) < len(calls)
    assert seen == [(t, h) for t, h, _ in accepted(calls)]
    assert at.now == 101.0 * len(seen)


@pytest.mark.parametrize(("t0", "wall"), [(0.0, 0.0), (0.0, 1.0), (3.0, 1.0), (-3.0, 1.0)])
def test_a_march_fails_where_no_step_will_do(t0, wall):
    """Where a step has too large an error, and the next, a fifth of it, would be about the rounding of the time."""
    calls, at = marching(lambda t, h: np.inf if t + h > t0 + wall or wall == 0 else 1e-3, t0, h=0.6, end=t0 + 2.0)
    assert at.failed
    assert not at.met
    assert at.t <= t0 + wall
    assert at.t == pytest.approx(t0 + wall, abs=1e-13)
    rounding = 4e-16 * abs(at.t) + 1e-300
    assert rounding < calls[-1][1] <= 5.001 * rounding


@pytest.mark.parametrize(("h", "error"), [(1e-13, 0.99), (1e-17, 0.99), (np.nan, np.nan), (np.inf, np.nan), (0.0, 2.0)])
@pytest.mark.parametrize("limit", [None, np.inf])
def test_a_march_fails_where_its_steps_no_longer_grow(h, error, limit):
    """Steps that are accepted, but so short that the time stands still; and steps that are no numbers."""
    calls, at = marching(lambda t, h: error, 3.0, h=h, end=4.0, limit=limit, tries=10_000)
    assert at.failed
    assert at.t < 4.0
    assert len(calls) < 2000


def test_steps_grow_from_a_first_one_below_the_rounding_of_the_time():
    _, at = marching(lambda t, h: 1e-9, 1e6, h=1e-15, end=1e6 + 1.0)
    assert at.t == 1e6 + 1.0
    assert not at.failed


@pytest.mark.parametrize("end", [4.0, 4.3])
def test_steps_beyond_the_end_need_no_forces_there(end):
    """Where there are none beyond t = 4 s, the last step leads to the end, not beyond; a later end is not reached."""
    _, at = marching(lambda t, h: 1e-3 if t + h <= 4.0 else np.nan, 1.0, h=0.1, end=end, limit=np.inf)
    assert bool(at.failed) == (end > 4.0)
    assert at.t == pytest.approx(4.0, abs=1e-13)
    if end == 4.0:
        assert at.t == 4.0


@pytest.mark.parametrize("d0", [0.0, 0.9e-5, 1.1e-5, 3e-5])
@pytest.mark.parametrize("d1", [0.9e-5, 1.1e-5, 3e-5])
def test_the_first_step_of_small_numbers(d0, d1):
    """Below 1e-5 of what is tolerated, a state or its rate says nothing: 1e-6 s, and a hundred times of it at most."""
    tolerated = np.array([0.1, 7.0])
    y, slope = (np.sqrt(2) * d * tolerated * [0.6, -0.8] for d in (d0, d1))
    h = first_step(lambda s: slope, y, tolerated, 5)
    guess = 0.01 * d0 / d1 if min(d0, d1) > 1e-5 else 1e-6
    assert h == pytest.approx(min(100 * guess, (0.01 / d1) ** (1 / 5)), rel=1e-12)


def test_a_state_in_one_row():
    """All its arrays, in their order, each row after row."""
    np.testing.assert_array_equal(flat({"a": np.array(1.0), "b": np.array([[2.0, 3.0], [4.0, 5.0]])}), [1, 2, 3, 4, 5])


def test_one_estimate_is_enough():
    """A method of one's own: Heun's second order with Euler's first inside."""
    heun = Embedded(schemes.Tableau(2, ((), (1.0,)), (0.5, 0.5)), ((-0.5, 0.5),), 2)
    new, (estimate,) = heun.step(lambda t, y: t * y, 1.0, np.array([2.0]), 0.1)
    k1, k2 = 2.0, 1.1 * 2.2
    np.testing.assert_allclose(new, 2.0 + 0.05 * (k1 + k2), rtol=1e-15)
    np.testing.assert_allclose(estimate, 0.5 * (k2 - k1), rtol=1e-14)
