"""The examples: the command runs each of them for a short while, its ledger balances, and what it draws is recorded."""

import json

import pytest

from poinsot.cli import main
from poinsot.cli.finding import examples
from poinsot.files.scenario import load_scenario


@pytest.mark.parametrize("name", examples())
def test_example(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scenario = load_scenario(examples()[name])
    options = scenario.options
    assert scenario.title
    assert scenario.about
    duration = min(options["duration"], 300 * options["step"])
    assert (
        main(["run", name, "--json", "--set", f"run.duration={duration}", "--set", f"run.every={options['step']}"]) == 0
    )
    data = json.loads(capsys.readouterr().out)
    for quantity in ("mass", "momentum", "angular_momentum", "energy"):
        row = data["ledger"][quantity]
        scale = max(abs(row[key]) for key in ("initial", "final", "inflow"))
        assert row["residual"] <= 1e-6 * scale + 1e-9, quantity  # the error of the scheme, and rounding


@pytest.mark.parametrize("name", examples())
def test_what_an_example_draws_is_recorded(name):
    """It is an error of the file if it is not, as of any other."""
    scenario = load_scenario(examples()[name])
    assert scenario.title
    assert scenario.about
    assert scenario.show["draw"]
    with pytest.raises(ValueError, match="is not recorded"):
        load_scenario(examples()[name], {"show.draw": "nothing.at.all"})
