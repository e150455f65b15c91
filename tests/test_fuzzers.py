"""The fuzzers themselves work: their samples are good files, and a trial of each passes."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import poinsot as pt

FUZZ = Path(__file__).parents[1] / "fuzz"


@pytest.fixture
def fuzzers(monkeypatch):
    """Their folder, as `make fuzz` sees it."""
    monkeypatch.syspath_prepend(str(FUZZ))
    yield
    for name in [n for n, m in sys.modules.items() if str(getattr(m, "__file__", "")).startswith(str(FUZZ))]:
        del sys.modules[name]


@pytest.mark.usefixtures("fuzzers")
def test_samples_are_good_files(tmp_path):
    from samples import SAMPLES

    for sample in SAMPLES.values():
        path = tmp_path / sample.file
        path.write_text(sample.text)
        assert sample.read(path) is not None


@pytest.mark.usefixtures("fuzzers")
@pytest.mark.parametrize(("name", "trials"), [("programs", 3), ("layouts", 20), ("texts", 40)])
def test_trials_pass(name, trials):
    module = __import__(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(trials):
            module.trial(np.random.default_rng(number))


@pytest.mark.usefixtures("fuzzers")
@pytest.mark.parametrize("number", [29322202833745, 29322202834647])
def test_last_digits_are_no_findings(number):
    """A product that only one of two kernels fuses; a jump that the last digit of `expm1` decides."""
    import programs

    programs.trial(np.random.default_rng(number))


@pytest.mark.usefixtures("fuzzers")
def test_at_a_jump_both_sides_are_possible_and_nothing_between():
    import programs

    table, x = programs.SMOOTH | programs.ROUGH, np.array([0.5, 1.5, 0.3])
    possible = programs.rounded_otherwise([("rint", (0,))], table, x, x)
    for end in (-0.5, 0.5):
        assert np.all(np.any(np.abs(possible[:, :2] - end) < 1e-14, axis=0))
    assert np.all(np.abs(np.abs(possible[:, :2]) - 0.5) < 1e-14)
    np.testing.assert_allclose(possible[:, 2], -0.3, rtol=4e-15)


@pytest.mark.usefixtures("fuzzers")
@pytest.mark.parametrize(
    ("name", "faulty"),
    [
        ("rint", lambda a: np.floor(a + 0.5) - a + 1e-9),
        ("remainder", lambda a, b: np.fmod(a, 0.5 + np.abs(b))),
        ("sin", lambda a: np.sin(a) * (1 + 1e-9)),
    ],
)
def test_faults_in_a_function_are_findings(monkeypatch, name, faulty):
    """Of ten programs that use it, at least one tells."""
    import programs
    from trial import Finding

    right, told, tried, number = programs.evaluate, 0, 0, 0

    def evaluate(program, table, a, b):
        compiled = not isinstance(a, np.ndarray)
        return right(program, table | ({name: (table[name][0], faulty)} if compiled else {}), a, b)

    monkeypatch.setattr(programs, "evaluate", evaluate)
    while tried < 10 and not told:
        number += 1
        program = programs.random_program(np.random.default_rng(number), programs.SMOOTH | programs.ROUGH)
        if name in [step for step, _ in program]:
            tried += 1
            try:
                programs.values_agree(np.random.default_rng(number))
            except Finding:
                told += 1
    assert told


def small(fault=0.0, in_lists=0.0):
    """Balls that touch, one of them on a spring; `fault`: a force [N] along x, whichever way the world is turned;
    `in_lists`: how much stiffer touches are in a list."""
    from scenery import Scenery

    def draw(rng, X, listed=None):
        s = Scenery(rng, X, pt.World(gravity=X.R @ (0.0, 0.0, -5.0)), listed=bool(listed), step=1e-3)
        for k in range(2):
            s.add_free(f"ball{k}", pt.Inertia.sphere(1.0, 0.1), np.array([0.2 * k, 0.0, 0.0]), size=0.0)
        s.world.add_spring("spring", "ball0", "world", 500.0, 0.0, 0.1, (0, 0, 0), X @ (1.0, 0.3, 0.4))
        law = pt.Material(2e3 * (1.0 + in_lists * s.listed), 0.1, 0.5)
        s.world.collide(s.names, surface=law, **({"capacity": 1} if s.listed else {}))
        if fault:
            s.world.add_force("fault", "ball0", (fault, 0.0, 0.0))
        s.method = "implicit"
        return s

    return draw


def told(law, draw):
    """Whether a law finds something in this world."""
    import worlds
    from trial import Finding

    tried = worlds.first_runs(draw, np.random.default_rng(3))
    try:
        getattr(worlds, law)(tried)
    except Finding:
        return True
    return False


@pytest.mark.usefixtures("fuzzers")
def test_worlds_of_all_kinds_can_be_drawn_anywhere_and_are_the_same():
    from scenery import KINDS

    for draw in KINDS.values():
        for number in range(3):
            here, there = (draw(np.random.default_rng(number), X) for X in (pt.Pose(), pt.Pose.exp(np.arange(6) / 3)))
            elements = [list(s.world.description.elements) for s in (here, there)]
            assert elements[0] == elements[1]
            assert here.names == there.names


@pytest.mark.usefixtures("fuzzers")
@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_trials_of_worlds_pass(number):
    import worlds

    worlds.trial(np.random.default_rng(number))


@pytest.mark.slow
@pytest.mark.usefixtures("fuzzers")
@pytest.mark.parametrize(
    ("law", "fault"),
    [("turns_along", {"fault": 1e-6}), ("parted_alike", {"in_lists": 1e-6})],
)
def test_worlds_that_break_a_symmetry_are_findings(law, fault):
    """A force of a millionth along an axis of the computer's; a contact that is harder in a list by a millionth."""
    assert not told(law, small())
    assert told(law, small(**fault))


@pytest.mark.slow
@pytest.mark.usefixtures("fuzzers")
@pytest.mark.parametrize("law", ["ledger_balances", "interpreted_alike", "stepper_agrees", "goes_on", "slopes_agree"])
def test_faults_of_worlds_are_findings(monkeypatch, law):
    import worlds

    plain = pt.Spring.effect

    def leaking(self, scene):
        effect = plain(self, scene)
        return replace(effect, stored=1.0001 * effect.stored)

    def off(function, by):
        return lambda *args, **more: function(*args, **more) + by

    draw = small()
    if law == "ledger_balances":
        monkeypatch.setattr(pt.Spring, "effect", leaking)
    elif law == "slopes_agree":
        A = pt.World.linearise
        monkeypatch.setattr(pt.World, "linearise", lambda *a, **k: replace(linear := A(*a, **k), A=1.001 * linear.A))
    elif law == "interpreted_alike":
        first = worlds.first_runs(draw, np.random.default_rng(3)).run.compiled
        to = type(first.advance).to
        monkeypatch.setattr(type(first.advance), "to", lambda self, name: off(to(self, name), 1e-6))
    elif law == "stepper_agrees":
        monkeypatch.setattr(pt.WorldStepper, "state", property(lambda self: SimpleNamespace(x=1e-16)))
    else:
        monkeypatch.setattr(pt.Run, "continue_", lambda self, duration: self)
    assert told(law, draw)
