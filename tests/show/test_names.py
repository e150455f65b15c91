"""Names of bodies are text wherever they are shown: no markup, no script, no formula, no path."""

import xml.etree.ElementTree as ElementTree
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import poinsot as pt
from poinsot import show
from poinsot.show import replay

SCRIPT = "</title><script>hacked=1</script><img/src=x/onerror=hacked=1>"
FORMULA = r"$\frac$"  # an error, were it one of matplotlib's formulas
LINK = "![x](/etc/hostname)<b>*_`"
OTHER = "<i>&amp;</i>"
CHILD = "outer/inner"  # beside a body "outer"


def world_of(*names):
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    for k, name in enumerate(names):
        box = pt.Inertia.box(1.0, (0.4, 0.3, 0.2))
        world.add_body(name, box, placement=(1.0 + k, 0.0, 0.0), v=[0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    return world


def run_of(*names):
    return world_of(*names).simulate(1.0, 1e-2, every=0.1)


class Scripts(HTMLParser):
    """Counts the scripts of a page, and keeps its title."""

    def __init__(self):
        super().__init__()
        self.count, self.title, self.inside = 0, "", False

    def handle_starttag(self, tag, attrs):
        self.count, self.inside = self.count + (tag == "script"), tag == "title"

    def handle_data(self, data):
        self.title += data if self.inside else ""

    def handle_endtag(self, tag):
        self.inside = False


def test_the_title_of_a_replay_is_text():
    pages = [Scripts(), Scripts()]
    for page, name in zip(pages, (SCRIPT, "box"), strict=True):
        page.feed(replay.html(run_of(name), fps=5))
    assert pages[0].count == pages[1].count
    assert pages[0].title.startswith(f"Poinsot: {SCRIPT}")


def test_a_notebook_shows_text():
    text = run_of(SCRIPT)._repr_html_()
    assert text.count("<iframe") == 1
    assert "<script" not in text
    assert "hacked=1</script>" not in unescape(text).partition("<title>")[2].partition("</title>")[0]


def test_a_replay_runs_no_script_of_a_name(visit, tmp_path):
    page = visit(run_of(SCRIPT).to_html(tmp_path / "replay.html", show="+names").as_uri(), offline=True)
    assert SCRIPT in page.title()
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("img[src=x]").count() == 0


def test_the_page_runs_no_script_of_a_name(visit):
    run = run_of(SCRIPT, OTHER)
    with show.view(run, show="+names", plots=[("position", SCRIPT)], port=0, browser=False, block=False) as viewer:
        page = visit(viewer.url)
        page.get_by_text(f"position of {SCRIPT} [m]").first.wait_for(state="attached")
        assert page.locator("nav option").all_inner_texts()[:2] == [SCRIPT, OTHER]
        assert set(page.locator("nav option").all_inner_texts()[2:]) <= {"from …", f"from {SCRIPT}", f"from {OTHER}"}
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img[src=x]").count() == 0


def test_a_live_page_runs_no_script_of_a_name(visit):
    with show.live(world_of(SCRIPT), free=[f"{SCRIPT}.mass"], port=0, browser=False, block=False) as live:
        page = visit(live.url)
        page.get_by_text(f"{SCRIPT}.mass").first.wait_for(state="attached")
        live.page.do(lambda: live.page.stop_with(f"stopped: body {SCRIPT + LINK} diverges."))
        page.get_by_text(f"stopped: body {SCRIPT + LINK} diverges.").wait_for()
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img[src=x]").count() == 0


def test_bodies_of_similar_names_are_two(visit):
    run = run_of("outer", CHILD)
    with show.view(run, show=["bodies"], plots=[], port=0, browser=False, block=False) as viewer:
        page = visit(viewer.url)
        places = [page.evaluate("name => poinsot.pose(name)", name)[:3] for name in ("outer", CHILD)]
        assert np.isclose(np.linalg.norm(np.subtract(*places)), 1.0, atol=1e-5)


@pytest.mark.parametrize("name", [FORMULA, "<script>x</script>", "$x$", "_x", "a--b", "é&<"])
def test_names_in_plots_are_text(name, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    world = pt.World()
    rod = pt.Pose(p=(0.0, 0.0, -0.5)) @ pt.Inertia.capsule(1.0, 0.04, 0.92)
    for k, (body, parent) in enumerate(((name, None), ("lower", name))):
        world.add_body(body, rod, parent, pt.revolute((0.0, 1.0, 0.0)), placement=(0.0, 0.0, -k), q=[0.4])
    run = world.simulate(0.2, 1e-2)
    with matplotlib.rc_context({"svg.fonttype": "none", "text.usetex": False}):
        figure = run.plot("position", "phase", body=[name, "lower"], path=tmp_path / "x.svg")
    tree = ElementTree.parse(tmp_path / "x.svg")
    texts = {"".join(t.itertext()) for t in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert f"position of {name} [m]" in texts
    assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
    (legend,) = [ax.get_legend() for ax in figure.axes if ax.get_legend() and "phase" in ax.get_title(loc="left")]
    assert len(legend.get_texts()) == 2
    matplotlib.pyplot.close("all")
