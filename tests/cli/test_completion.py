"""What the Tab key gives in a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poinsot.cli import completion, main

ASK = """
source ./script
COMP_WORDS=(poinsot {words}) COMP_CWORD={last}
_poinsot_completion poinsot
echo "${{COMPREPLY[@]}}"
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def made(*names):
    for name in names:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()


def test_scenarios_are_examples_and_files():
    made("t-mine.toml", "t-notes.txt", "t-folder/deep.toml")
    assert completion.scenario_names("t-") == ["t-handle", "t-folder/", "t-mine.toml"]
    assert completion.scenario_names("t-folder/") == ["t-folder/deep.toml"]
    assert completion.scenario_names("nowhere/") == []


def test_results_are_files_and_stores():
    made("t.nc", "t.toml", "t.csv", "t.zarr/zarr.json", "t-other/t.nc")
    assert completion.result_names("t") == ["t-other/", "t.nc", "t.zarr"]
    assert completion.drawn_names("t-") == ["t-handle", "t-other/"]
    assert completion.drawn_names("t.") == ["t.nc", "t.toml", "t.zarr"]


def test_courses_and_templates_have_their_names():
    assert completion.course_names("pe") == ["peskin"]
    assert completion.template_names("p") == ["pendulum"]
    assert completion.example_names("two") == ["two-stage-rocket"]


def test_the_script_for_a_shell_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # the tests may run under no shell
    assert main(["--show-completion", "bash"]) == 0
    assert "_POINSOT_COMPLETE=complete_bash" in capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "answer"),
    [("ru", "run"), ("run t-h", "t-handle"), ("course pe", "peskin"), ("new x --kind pe", "pendulum")],
)
def test_bash_completes(words, answer, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    main(["--show-completion", "bash"])
    Path("script").write_text(capsys.readouterr().out)
    command = tmp_path / "bin" / "poinsot"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m poinsot.cli "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    ask = ASK.format(words=words, last=len(words.split()))
    shell = subprocess.run(["bash", "-c", ask], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert shell.stdout.split() == [answer], shell.stderr
