"""The courses: every cell runs, prints what the page says and draws what it links; notebooks hold the same cells."""

import json
import re
import sys
from pathlib import Path

import pytest

from poinsot.cli import main
from poinsot.files.course_pages import cells, courses, notebook, title

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs" / "make"))

from courses import PICTURES, alike, executed  # noqa: E402

QUICK = ("featherstone", "lynch-park")  # in seconds; the others are slow tests
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in courses()]


def page_of(name: str) -> str:
    return courses()[name].read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_course_prints_and_draws_what_its_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for cell, printed, figures in executed(page_of(name), name):
        assert alike(printed, cell.output), f"{cell.text}\n{printed}"
        assert len(figures) == len(cell.pictures), cell.text


def test_there_are_ten():
    assert len(courses()) == 10


@pytest.mark.parametrize("name", courses())
def test_a_course_is_built_like_the_others(name):
    """It draws, asks three to five questions with hidden solutions that check themselves, and asserts what it says."""
    page = page_of(name)
    code = [cell for cell in cells(page) if cell.code]
    drawn = [file for cell in code for file in cell.pictures]
    assert drawn
    assert all((PICTURES / file).is_file() for file in drawn)
    exercises = len(re.findall(r"^### Exercise", page, re.MULTILINE))
    assert 3 <= exercises <= 5
    assert page.count("<details>") == page.count("</details>") == exercises
    assert sum(cell.solution and "assert" in cell.text for cell in code) >= exercises
    assert sum("assert" in cell.text for cell in code if not cell.solution) >= 3


def test_no_picture_is_left_over():
    linked = {file for name in courses() for cell in cells(page_of(name)) for file in cell.pictures}
    assert {path.name for path in PICTURES.glob("*.png")} == linked


def test_every_course_is_on_the_index():
    index = (ROOT / "docs" / "courses" / "index.md").read_text()
    assert [name for name in courses() if f"]({name}.md)" not in index] == []


@pytest.mark.parametrize("name", courses())
def test_a_notebook_has_the_cells_of_its_page(name):
    nbformat = pytest.importorskip("nbformat")
    made = notebook(page_of(name))
    nbformat.validate(nbformat.from_dict(made))
    code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert code == [cell.text.strip() for cell in cells(page_of(name)) if cell.code]
    folded = [bool(cell["metadata"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert folded == [cell.solution for cell in cells(page_of(name)) if cell.code]
    prose = "".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "markdown")
    assert "<details>" not in prose
    assert ".md)" not in prose
    assert ".png)" not in prose
    assert "```" not in prose


@pytest.mark.slow
def test_a_notebook_runs_in_jupyter(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book = nbformat.reads(json.dumps(notebook(page_of(QUICK[0]))), as_version=4)  # as Jupyter reads the file
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = {output.output_type for cell in book.cells if cell.cell_type == "code" for output in cell.outputs}
    assert "display_data" in kinds  # its pictures


def test_the_command_lists_and_writes_courses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["course"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in courses())
    assert main(["course", "peskin"]) == 0
    assert json.loads(Path("peskin.ipynb").read_text())["nbformat"] == 4
    assert main(["course", "peskin"]) == 2  # it is there already
    assert main(["course", "peskin", "--overwrite"]) == 0
    capsys.readouterr()
    assert main(["course", "peskim"]) == 2
    assert "there is no course 'peskim'; did you mean 'peskin'" in capsys.readouterr().err


def test_printed_numbers_are_compared_by_their_last_digit():
    assert alike("a 1.234  residual 2e-16\n", "a 1.235 residual 3.1e-17\n")
    assert not alike("a 1.234\n", "a 1.236\n")
    assert not alike("a 1.234\n", "b 1.234\n")
    assert not alike("1 2", "1")
    assert not alike("energy 1.0e-03\n", "energy 1.2e-03\n")


def test_titles():
    assert title("# A top\n\ntext") == "A top"
