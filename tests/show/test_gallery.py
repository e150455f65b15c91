"""Every example by default: what moves is large, in the middle, over a level horizon, and in the gallery."""

import warnings

import numpy as np
import pytest
from runs_to_show import EXAMPLES, drawn_anew

import poinsot as pt

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.toml"))
QUICK = ("fighter", "propeller-plane", "rocket", "robot-arm", "spinning-book", "t-handle", "tumbling-box")
DOCS = EXAMPLES.parent / "docs"
# How large the body that is followed is, or all of it, by the height of the picture; where right is, and up.
SEEN = """() => {
  const { stage } = poinsot, k = stage.eye.spec.body, { view } = stage, all = stage.eye.spec.kind === "fixed";
  const far = Math.hypot(...view.target.map((x, j) => x - view.eye[j]));
  const radius = all ? stage.doc.size : stage.doc.bodies[k].radius;
  const share = 2 * radius / (far * 2 * Math.tan(stage.doc.fov * Math.PI / 360));
  return { share, right: view.right, up: view.up };
}"""
HEAVIEST = 150_000  # bytes of a picture


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES])
def test_an_example_fills_the_picture_and_stays_in_its_middle(name, visit, tmp_path):
    scenario = pt.load_scenario(EXAMPLES / f"{name}.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wing is meant to break
        run = scenario.run(progress=False)
    show = scenario.show
    layers, camera, around = (show.get(key) for key in ("layers", "camera", "surroundings"))
    path = run.to_html(tmp_path / "run.html", show=layers, camera=camera, surroundings=around, plots=[])
    page = visit(path.as_uri(), offline=True)
    assert drawn_anew(page)
    width, height = page.evaluate("[poinsot.stage.host.clientWidth, poinsot.stage.host.clientHeight]")
    follows = page.evaluate("poinsot.stage.eye.spec.kind") != "fixed"
    name_of_body = page.evaluate("poinsot.doc.bodies[poinsot.stage.eye.spec.body].name")
    for t in np.linspace(run.time[0], run.time[-1], 9):
        page.evaluate(f"poinsot.show({t})")
        seen = page.evaluate(SEEN)
        assert seen["share"] > 0.1
        assert abs(np.dot(seen["right"], seen["up"])) < 1e-9  # the horizon is level
        if follows:
            x, y = page.evaluate("body => poinsot.where(body)", name_of_body)
            assert width / 3 < x < 2 * width / 3
            assert height / 3 < y < 2 * height / 3


def test_the_gallery_has_every_example_and_light_pictures():
    text = (DOCS / "gallery.md").read_text()
    for name in NAMES:
        assert f"(../examples/{name}.toml)" in text
        assert f"(pictures/gallery-{name}.png)" in text
    for path in [*DOCS.glob("pictures/gallery-*.png"), *DOCS.glob("pictures/view-*.png")]:
        assert path.stat().st_size < HEAVIEST, path.name
