"""poinsot doctor: what it finds, what it advises, how it ends; and what shells complete."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from poinsot.cli import doctor, hardware, main

ROOT = Path(__file__).parents[2]


def told(capsys, code: int = 0) -> dict[str, dict[str, str]]:
    """What the doctor finds, by topic."""
    assert main(["doctor", "--no-browser", "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["works"] == (code == 0)
    return {one["topic"]: one for one in report["checks"]}


def test_a_sound_machine(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("POINSOT_CACHE", str(tmp_path / "cache"))
    found = told(capsys)
    assert {found[topic]["state"] for topic in ("python", "packages", "compiler", "cache", "threads")} == {"ok"}
    assert all(one["state"] != "missing" or one["advice"] for one in found.values())
    assert set(doctor.EXTRAS) <= set(found)
    assert list((tmp_path / "cache").iterdir()) == [], "the trial entry is gone"


def test_the_report_for_people_fits_the_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["doctor", "--no-browser"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 60
    assert out.splitlines()[-1] == "All that plain runs need works."


def test_tables_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"]) - {"dev", "peers", "site", "bench", "docs", "coming-from"}
    assert extras == set(doctor.EXTRAS)
    assert {wanted.partition(">")[0] for wanted in project["dependencies"]} == set(doctor.NEEDED)


@pytest.mark.parametrize(
    ("value", "found"),
    [("off", "switched off"), ("/dev/null/x", "cannot be written"), ("open", "others may write")],
)
def test_a_cache_that_is_not_used_is_no_failure(value, found, capsys, monkeypatch, tmp_path):
    if value == "open":
        value = str(tmp_path / "open")
        Path(value).mkdir()
        Path(value).chmod(0o777)
    monkeypatch.setenv("POINSOT_CACHE", value)
    cache = told(capsys)["cache"]
    assert cache["state"] == "missing"
    assert found in cache["found"]
    assert cache["advice"]


def test_a_compiler_that_is_wrong_is_broken(capsys, monkeypatch):
    import poinsot.fuse

    monkeypatch.setattr(poinsot.fuse, "kernel", lambda signature: lambda function: lambda x: 1.001 * function(x))
    assert told(capsys, code=1)["compiler"]["state"] == "broken"


def test_a_package_that_does_not_import_is_broken(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    packages = told(capsys, code=1)["packages"]
    assert "h5netcdf (results in .nc files)" in packages["found"]
    assert packages["advice"] == "pip install --force-reinstall h5netcdf"


def test_threads_that_are_no_number_are_broken(capsys, monkeypatch):
    from poinsot.fuse import parallel

    monkeypatch.setenv("POINSOT_THREADS", "many")
    monkeypatch.setattr(parallel, "_threads", None)  # none were set before
    parallel._default_threads.cache_clear()
    assert "POINSOT_THREADS is 'many'" in told(capsys, code=1)["threads"]["found"]


def test_a_gpu_without_cupy_gets_advice(capsys, monkeypatch):
    monkeypatch.setattr(hardware, "gpus", lambda: ["NVIDIA H200"])
    monkeypatch.setitem(sys.modules, "cupy", None)
    gpu = told(capsys)["GPU"]
    assert gpu["found"] == "NVIDIA H200, but no CuPy"
    assert gpu["advice"] == "pip install 'poinsot[cuda]'"


def test_a_browser_that_is_not_there_gets_advice(monkeypatch):
    monkeypatch.setenv("POINSOT_BROWSER", "no-such-browser")
    found = doctor.browser()
    assert found.state == "missing"
    assert "POINSOT_BROWSER is 'no-such-browser'" in found.found


def completed(words: str, place: int) -> list[str]:
    """What bash is offered for these words."""
    environment = os.environ | {"COMP_WORDS": words, "COMP_CWORD": str(place), "_POINSOT_COMPLETE": "complete_bash"}
    command = [sys.executable, "-c", "from poinsot.cli import main; main()"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.split()


def test_a_shell_completes_commands_options_and_examples():
    assert completed("poinsot do", 1) == ["doctor"]
    assert completed("poinsot run --cam", 2) == ["--camera"]
    assert completed("poinsot run t-h", 2) == ["t-handle"]
