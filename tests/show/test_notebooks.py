"""A run in a notebook: executed without a display, exported as a page, and looked at."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed: pip install nbclient nbconvert ipykernel")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient")
nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed: pip install nbconvert")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")

CELL = """
import poinsot as pt
world = pt.World()
world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 1))
run = world.simulate(0.4, 1e-2, every=0.05)
run
"""
BATCH = """
world.simulate(0.4, 1e-2, every=0.05, batch=5, vary={"ball.velocity": pt.Normal([1, 0, 0], 0.1)}, seed=1)
"""


@pytest.fixture(scope="module")
def notebook():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (CELL, BATCH)])
    nbclient.NotebookClient(book, timeout=300, startup_timeout=300, kernel_name="python3").execute()
    return book


def test_the_output_of_a_cell_is_a_replay_and_a_line_of_text(notebook):
    for cell in notebook.cells:
        (output,) = cell.outputs
        assert output["data"]["text/plain"].startswith("<Run")
        html = output["data"]["text/html"]
        assert html.count("<iframe") == 1
        assert len(html) < 1_500_000


def test_the_exported_page_plays_both_runs(notebook, blank, tmp_path, monkeypatch):
    shared = Path(nbconvert.__file__).parents[4] / "share/jupyter"  # where pip has put its templates
    monkeypatch.setenv("JUPYTER_PATH", str(shared))
    page_text, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    path = tmp_path / "notebook.html"
    path.write_text(page_text, encoding="utf-8")
    page = blank(viewport={"width": 900, "height": 900}, offline=True)
    errors: list[str] = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    frames = []
    for element in page.query_selector_all("iframe"):
        element.scroll_into_view_if_needed()
        frame = element.content_frame()
        frame.wait_for_function("window.poinsot?.player.drawn > 0")
        frames.append(frame)
        look = "poinsot.show(0.2); const g = poinsot.stage.renderer.getContext(), p = new Uint8Array(4 * 400);"
        look += " g.readPixels(g.drawingBufferWidth / 2 - 10 | 0, g.drawingBufferHeight / 2 - 10 | 0, 20, 20, g.RGBA,"
        look += " g.UNSIGNED_BYTE, p); return new Set(p).size;"
        assert frame.evaluate(f"() => {{ {look} }}") > 5  # something is drawn there
    assert len(frames) == 2
    assert [f.evaluate("poinsot.doc.batch?.count ?? 1") for f in frames] == [1, 5]
    assert errors == []
