"""Contacts in a list of run-time length: as pair by pair, whatever the shapes; a list that is full ends the run."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.contact.grid import near_by_grid
from poinsot.contact.near_pairs import near_pairs
from poinsot.environment import TouchList

SOFT = pt.Material(2e4, 1.0, 0.5)
FINDERS = near_by_grid, near_pairs
INERTIAS = {
    "ball": pt.Inertia.sphere(1.0, 0.12),
    "capsule": pt.Inertia.capsule(1.0, 0.08, 0.1),
    "box": pt.Inertia.box(1.0, (0.2, 0.24, 0.16)),
}


def pile(kinds, capacity=None, listed=True):
    """Bodies that fall onto each other; as a list, or pair by pair."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_ground(surface=SOFT)
    rng = np.random.default_rng(3)
    names = [f"b{k}" for k in range(len(kinds))]
    for k, kind in enumerate(kinds):
        place = (*(0.05 * rng.normal(size=2)), 0.15 + 0.26 * k)
        world.add_body(names[k], INERTIAS[kind], position=place, angular_velocity=rng.normal(size=3))
    if listed:
        world.collide(names, surface=SOFT, capacity=capacity or 8)
    else:
        for k, a in enumerate(names):
            for b in names[k + 1 :]:
                world.collide(a, b, SOFT)
    return world


@pytest.mark.parametrize(
    "kinds", [("ball", "capsule", "ball"), pytest.param(("box", "box", "ball"), marks=pytest.mark.slow)]
)
def test_a_list_moves_bodies_as_pairs_do(kinds, monkeypatch):
    """To rounding, if the search reaches as far as that of pairs, which has no bound."""
    monkeypatch.setattr("poinsot.environment.touch_list.GAIN", 1e4)
    one, other = (
        pile(kinds, listed=listed).simulate(duration=0.24, step=2e-3, ledger=False).data.position.values
        for listed in (True, False)
    )
    assert np.abs(one[-1] - one[0]).max() > 0.1
    assert np.abs(one - other).max() < 1e-9


def test_the_ledger_of_a_list_closes_at_any_step():
    """What contacts take by damping and sliding, and what the step itself does, have rows of their own."""
    run = pile(("ball", "capsule", "ball")).simulate(0.24, 5e-3, every=0.08, ledger_tolerance=np.inf)
    assert np.all(run.ledger.relative_residual < 1e-12), run.ledger
    energy = dict(zip(run.ledger.sources, run.ledger.inflow[:, 7], strict=True))
    assert energy["contacts.damping"] < 0
    assert energy["contacts.sliding"] <= 0


def test_near_pairs_are_those_whose_balls_overlap():
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(9, 1)
    centres, radii = rng.uniform(size=(20, 9, 3)), rng.uniform(0.1, 0.3, size=9)
    found = pt.kernel("(9,3)->(),(36)")(lambda x: near_pairs((x, radii), first, second, 36))
    counts, lists = found(centres)
    for x, count, pairs in zip(centres, counts, lists, strict=True):
        gaps = np.linalg.norm(x[first] - x[second], axis=1)
        assert list(pairs[: int(count)]) == list(np.flatnonzero(gaps < radii[first] + radii[second]))


@pytest.mark.parametrize("spread", [0.4, 40.0])
def test_a_grid_finds_the_pairs_that_a_loop_over_all_finds(spread):
    """In the same order, of balls that differ, near and far from the origin, of pairs some of which never touch."""
    rng = np.random.default_rng(0)
    first, second = np.array(np.triu_indices(10, 1))[:, rng.random(45) < 0.8]
    centres = spread * rng.uniform(-1, 1, size=(40, 10, 3))
    centres[:, 5:] = centres[:, :5] + 0.2 * rng.normal(size=(40, 5, 3))
    radii = rng.uniform(0.05, 0.3, size=10)
    search = [pt.kernel("(10,3)->(),(30)")(lambda x, f=f: f((x, radii), first, second, 30)) for f in FINDERS]
    (counts, lists), (wanted, pairs) = (find(centres) for find in search)
    assert np.array_equal(counts, wanted)
    assert np.array_equal(lists, pairs)
    assert 2 < counts.mean() < 20
    alone = search[0](centres[3])
    assert np.array_equal(alone[0], counts[3])
    assert np.array_equal(alone[1], lists[3])


def test_a_heap_by_a_grid_is_that_by_all_pairs(monkeypatch):
    """To the last bit."""
    runs = []
    for many in (1, 10**9):
        monkeypatch.setattr("poinsot.contact.near_pairs.MANY", many)
        runs.append(pile(("ball", "capsule", "ball")).simulate(0.24, 2e-3, every=0.08, ledger=False).y)
    assert np.array_equal(*runs)


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_full_list_ends_the_run_and_names_the_pair():
    world = pile(("ball", "ball", "ball", "ball"), capacity=1)
    run = world.simulate(duration=1.0, step=2e-3, ledger=False)
    assert run.stop.reason == "capacity"
    assert "the list 'contacts' was full: it has room for 1 patches, and that of b" in run.stop.text
    assert 0 < run.stop.time < 1.0
    assert np.all(np.isfinite(run.y))
    runs = world.simulate(duration=1.0, step=2e-3, ledger=False, batch=2)
    assert runs.stop.reason == "capacity"
    assert set(runs.stop.notes) == {0, 1}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_too_many_pairs_that_are_near_end_the_run_as_well():
    """Long bars beside each other: no two touch, but the balls that hold them all do."""
    world = pt.World(gravity=(0, 0, 0))
    for k in range(12):
        world.add_body(f"b{k}", pt.Inertia.box(1.0, (2.0, 0.01, 0.01)), position=(0, 0.05 * k, 0))
    world.collide(surface=SOFT, capacity=1)
    run = world.simulate(0.01, 2e-3, ledger=False)
    assert run.stop.reason == "capacity"
    assert "that of b" in run.stop.text


@pytest.mark.slow
def test_the_places_of_a_list_have_no_error():
    """What is said of a step is said of bodies: a place may hold another pair with another step."""
    found = pile(("ball", "ball", "ball")).check_step(2e-3, duration=0.3)
    assert "contacts." not in str(found).split("An elastic blow")[0], found


@pytest.mark.parametrize("push", [50.0, 5000.0])
def test_what_was_not_seen_coming_is_told(push):
    """A ball that is pushed over a gap in one step: by 5000 N faster than anything that the search allows for."""
    world = pt.World(gravity=(0, 0, 0))
    for k in range(2):
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(0.203 * k, 0, 0))
    world.collide(["b0", "b1"], surface=SOFT, capacity=2)
    world.add_force("push", "b0", (push, 0, 0))
    run = world.simulate(0.06, 2e-3, every=2e-3, ledger=False)
    late = run.data["contacts.late"].values
    assert run.data["contacts.depth"].values.max() > 1e-3
    assert late.max() == (0.0 if push < 100 else pytest.approx(0.017, abs=1e-3))


def test_many_pairs_share_a_list():
    world = pt.World()
    for k in range(8):
        world.add_body(f"b{k}", pt.Inertia.sphere(1.0, 0.1), position=(k, 0, 0))
    world.ignore("b0", "b1")
    world.collide()
    contacts = world.description.elements["contacts"]
    assert isinstance(contacts, TouchList)
    assert len(contacts.pairs) == 27
    assert contacts.capacity == 24  # three for each shape
    world.ignore("b2", "b3")
    assert len(world.description.elements["contacts"].pairs) == 26
    with pytest.raises(ValueError, match=r"capacity of a list of contacts must be a whole number, 1 or more, not 0"):
        world.collide(["b0", "b1"], ["b2"], capacity=0)


def test_a_loop_of_run_time_length_is_differentiated_in_reverse():
    power = pt.kernel("(),()->()")(lambda x, n: pt.fori_loop(n.astype(int), lambda _, y: y * x, 1.0, most=6))
    for n in (0.0, 3.0, 9.0):
        assert power(1.5, n) == pytest.approx(1.5 ** min(n, 6))
        assert pt.vjp(power, wrt=0)(1.5, n, 1.0)[1] == pytest.approx(min(n, 6) * 1.5 ** (min(n, 6) - 1))
