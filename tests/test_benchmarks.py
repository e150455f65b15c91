"""The history of benchmarks: what has become slower is told, and noise of the machine is not taken for it."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from case import Case, Contender  # noqa: E402
from compare import BenchRun, Figure, append, changes, read, report, slower, sources  # noqa: E402
from page import OTHER, page_of  # noqa: E402


def run(commit, machine="EPYC", clock="wall", quick=False, **figures):
    """A run with a figure per contender; None: it failed. Those in capitals are peers."""
    rows = tuple(
        Figure("arm", name, name.isupper(), "s", best, best, 0.5, "" if best else "WRONG: error 1.0e+00")
        for name, best in figures.items()
    )
    return BenchRun(commit, "2026-01-01 12:00:00", machine, clock, quick, "0.10", rows)


def ratios(*runs):
    return {change.now.contender: change.ratio for change in changes(runs)}


def names(*runs, factor=1.25):
    return [change.now.contender for change in slower(changes(runs), factor)]


def test_rows_that_became_slower_the_worst_first():
    before, now = run("a", one=1.0, two=2.0, three=3.0, four=4.0), run("b", one=1.2, two=2.8, three=6.0, four=1.0)
    assert names(before, now) == ["three", "two"]
    assert names(before, now, factor=1.1) == ["three", "two", "one"]
    assert names(before, now, factor=2.0) == []  # not more than twice
    assert ratios(before, now) == pytest.approx({"one": 1.2, "two": 1.4, "three": 2.0, "four": 0.25})


@pytest.mark.parametrize("other", [{"machine": "M1"}, {"clock": "processor"}, {"quick": True}])
def test_other_machines_and_clocks_are_not_compared(other):
    assert ratios(run("a", one=1.0, **other), run("b", one=9.0)) == {}
    assert ratios(run("a", one=3.0), run("b", one=1.0, **other), run("c", one=9.0)) == {"one": 3.0}


def test_a_second_run_does_not_hide_a_slower_commit():
    """It is compared with the other commit again; and a busy machine does not make a slow row of a fast one."""
    assert ratios(run("a", one=1.0), run("b", one=2.0), run("b", one=2.1)) == {"one": 2.0}
    assert ratios(run("a", one=1.0), run("b", one=1.0), run("b", one=7.0)) == {"one": 1.0}
    assert ratios(run("a", one=5.0), run("a", one=1.0), run("b", one=2.0)) == {"one": 2.0}
    assert ratios(run("a", one=1.0), run("b", one=4.0), run("c", one=4.0)) == {"one": 1.0}  # the last one before


def test_each_row_looks_for_its_own_last_figure():
    """Runs of some cases alone, or with a failure, leave the others to runs before them."""
    runs = run("a", one=1.0, two=1.0, three=1.0), run("b", one=2.0, two=None), run("c", one=2.0, two=3.0, new=1.0)
    assert ratios(*runs) == {"one": 1.0, "two": 3.0}


def test_a_row_without_figure_any_more_is_told():
    runs = run("a", one=1.0, two=None), run("b", one=None, two=None)
    assert names(*runs) == ["one"]
    assert "| arm | one | 1 s | WRONG: error 1.0e+00 |  | a |" in "\n".join(report(runs, 1.25))


def test_the_report_tells_how_the_peers_changed():
    text = "\n".join(report([run("a", one=1.0, PIN=1.0, JAX=2.0), run("b", one=1.5, PIN=1.4, JAX=3.2)], 1.25))
    assert "3 of 3 rows are slower by more than 1.25 x." in text
    assert "The rows of the peers take 1.50 x what they took (median of 2)." in text
    assert "| arm | one | 1 s | 1.5 s | 1.50 | a |" in text
    assert "| arm | JAX (a peer) | 2 s | 3.2 s | 1.60 | a |" in text
    for runs in ([], [run("a", one=1.0)]):
        assert "Nothing to compare with" in "\n".join(report(runs, 1.25))


def test_the_file_gives_back_what_was_appended(tmp_path):
    path, runs = tmp_path / "new" / "history.jsonl", [run("a", one=1 / 3, PIN=None), run("b+12345678", one=2.0)]
    for entry in runs:
        append(path, entry)
    assert read(path) == runs
    with path.open("a") as file:
        file.write('{"sources": "c", "rows": []\n')
    with pytest.raises(ValueError, match=r"line 3 of .*history.jsonl is not a run .*; remove that line"):
        read(path)


def compared(*words):
    return subprocess.run([sys.executable, BENCHMARKS / "compare.py", *words], capture_output=True, text=True)


def test_the_command_fails_if_rows_of_ours_are_slower(tmp_path):
    path = tmp_path / "history.jsonl"
    assert f"there is no {path}: `make bench` writes it" in compared(path).stderr
    append(path, run("a", one=1.0, PIN=1.0))
    assert compared(path).returncode == 0
    append(path, run("b", one=1.1, PIN=3.0))
    assert compared(path).returncode == 0
    done = compared(path, "--factor", "1.05")
    assert done.returncode == 1
    assert "2 of 2 rows are slower by more than 1.05 x." in done.stdout
    assert "it must be 1 or more" in compared(path, "--factor", "0.5").stderr


def test_sources_are_the_commit_and_what_was_changed_since(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    assert sources(tmp_path / "nowhere") == "unknown"
    git("init", "-q")
    (tmp_path / "f.py").write_text("1\n")
    git("add", "f.py")
    git("-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "first")
    commit = sources(tmp_path)
    assert len(commit) == 12
    seen = {commit}
    for text in ("2\n", "3\n"):
        (tmp_path / "f.py").write_text(text)
        assert sources(tmp_path).startswith(f"{commit}+")
        seen.add(sources(tmp_path))
    assert len(seen) == 3
    (tmp_path / "f.py").write_text("1\n")
    assert sources(tmp_path) == commit


def test_the_page_itself_is_no_source(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "docs").mkdir()
    (tmp_path / "benchmarks").mkdir()
    for text in ("old", "new"):
        for name in ("benchmarks.md", "index.md"):
            (tmp_path / "docs" / name).write_text(text)
        if text == "old":
            git("add", ".")
            git("-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "first")
    assert "+" in sources(tmp_path / "benchmarks")
    git("checkout", "docs/index.md")
    assert "+" not in sources(tmp_path / "benchmarks")


@pytest.mark.slow
def test_a_quick_run_is_recorded(tmp_path):
    path = tmp_path / "history.jsonl"
    words = ["--quick", "--history", path, "operations"]
    done = subprocess.run([sys.executable, BENCHMARKS / "run.py", *words], capture_output=True, text=True, check=True)
    (entry,) = read(path)
    assert entry.quick
    assert entry.machine.split(", ", 1)[1].split(";")[0] in done.stdout
    for row in entry.rows:
        assert row.case == "operations"
        assert row.trouble or row.best == row.median > 0  # counts, the same each time


def case(name, *contenders, unit="s"):
    made = tuple(Contender(word, lambda: list, peer=word.lower() if word.isupper() else "") for word in contenders)
    return Case(name, f"the work of {name}", made, expected=list, tolerance=1.0, unit=unit)


def rows_of(page):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]


def page_with(cases, *runs):
    """The page, and the cells of its tables."""
    page = page_of(runs, cases)
    return page, [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]


RUN = run("a", one=2e-6, two=3e-6, PIN=8e-6, MUJOCO=1e-6, JAX=None)
ARM = case("arm", "one", "two", "PIN", "MUJOCO", "JAX", "DRAKE")


def test_the_page_tells_wins_losses_and_what_is_missing():
    page, cells = page_with([ARM, case("never measured", "one")], RUN)
    assert ["`arm`: the work of arm", "one", "2 us", "1", "500 ms", ""] in cells
    assert ["", "two", "3 us", "1.5", "500 ms", ""] in cells
    assert ["", "PIN", "8 us", "4", "500 ms", ""] in cells
    assert ["", "MUJOCO", "1 us", "**0.5**", "500 ms", ""] in cells
    assert ["", "JAX", "WRONG: error 1.0e+00", "", "", ""] in cells
    assert ["", "DRAKE", "not installed", "", "", ""] in cells
    assert "- Of 2 rows of peers, ours is better in 1; the median ratio is 2.25." in page
    assert "- **Peers are better in 1**: `arm` (MUJOCO) 0.5." in page
    assert "- No figure, or a wrong result: `arm` (JAX): WRONG: error 1.0e+00." in page
    assert "- Not installed: drake." in page
    assert "1 of 2 cases" in page
    assert "never measured" not in page


def test_a_page_is_made_of_several_runs_of_the_same_sources():
    runs = [run("a", one=1.0, PIN=9.0), run("b", one=4.0, PIN=8.0), run("b", machine="M1", one=1.0), run("b", one=2.0)]
    _, cells = page_with([ARM], *runs)
    assert ["", "PIN", "8 s", "4", "500 ms", ""] in cells  # neither the older sources nor the other machine


@pytest.mark.parametrize(
    ("changed", "told"),
    [({}, ""), ({"quick": True}, "few rounds"), ({"load": "6.20"}, "other work (load 6.2)"), ({"load": "unknown"}, "")],
)
def test_a_page_of_a_busy_machine_says_so(changed, told):
    page, _ = page_with([ARM], replace(run("a", one=1.0), **changed))
    assert ("**Rough figures" in page) == bool(told)
    assert told in page


def test_every_case_has_a_section_and_every_peer_a_word():
    pytest.importorskip("mujoco")
    words = [sys.executable, "-c", "import run, page; [print(page.section(c.name), page.side(k.name), sep='|') "
             "for c in run.all_cases() for k in c.contenders if k.peer and c.name != 'installed-size']"]  # fmt: skip
    done = subprocess.run(words, cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    rows = [line.split("|") for line in done.stdout.splitlines()]
    assert len(rows) > 100
    assert [row for row in rows if row[0] == OTHER or not row[1]] == []
