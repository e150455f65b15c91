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
