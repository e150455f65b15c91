"""The command line."""

import re

import pytest

from poinsot import cli


def test_run_shows_flips_and_what_was_conserved(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run"]) == 0
    out = capsys.readouterr().out
    flips = re.search(r"flipped (\d+) times, every ([\d.]+) s", out)
    assert flips is not None
    assert int(flips[1]) == 6
    changes = {row[0]: float(row[1]) for row in re.findall(r"^(energy|angular momentum|\|q\|).*?(\S+)$", out, re.M)}
    assert changes["energy"] < 1e-12
    assert changes["angular momentum"] < 1e-14
    assert changes["|q|"] < 1e-15


def test_bad_command_gets_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["fly"])
    assert stop.value.code == 2
    assert "invalid choice: 'fly'" in capsys.readouterr().err
