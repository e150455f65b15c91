"""The fuzzers themselves work: their samples are good files, and a trial of each passes."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

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
@pytest.mark.parametrize(("name", "trials"), [("programs", 3), ("layouts", 20), ("texts", 40), ("worlds", 1)])
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
