"""[[close]] in scenario files."""

import numpy as np
import pytest

from poinsot.files import load_scenario

CRANK = """
gravity = [0, -9.81, 0]
[[body]]
name = "crank"
joint = { kind = "revolute", axis = [0, 0, 1] }
q = "40 deg"
v = "50 rpm"
[[body.shape]]
kind = "cylinder"
radius = "12 cm"
height = "5 cm"
mass = "2 kg"
[[body]]
name = "rod"
parent = "crank"
joint = { kind = "revolute", axis = [0, 0, 1] }
placement = { position = ["10 cm", 0, 0] }
q = -1
[[body.shape]]
kind = "rod"
length = "30 cm"
mass = "0.5 kg"
axis = [1, 0, 0]
position = ["15 cm", 0, 0]
[[body]]
name = "piston"
joint = { kind = "prismatic", axis = [1, 0, 0] }
q = 0.3
[[body.shape]]
kind = "box"
size = [0.05, 0.05, 0.05]
mass = 0.3
[[close]]
name = "pin"
a = "piston"
b = "rod"
RELATION
placement_b = { position = ["30 cm", 0, 0] }
[run]
duration = "0.2 s"
"""


def scenario(tmp_path, relation):
    path = tmp_path / "crank.toml"
    path.write_text(CRANK.replace("RELATION", relation))
    return load_scenario(path)


@pytest.mark.parametrize(
    "relation",
    ["on_line = [0, 0, 1]", 'joint = { kind = "spherical" }', 'joint = { kind = "revolute", axis = [0, 0, 1] }'],
)
def test_a_slider_crank(tmp_path, relation):
    run = scenario(tmp_path, relation).run()
    crank, piston, _ = run.data.q.values[-1]  # bodies on the world come first
    assert piston == pytest.approx(0.1 * np.cos(crank) + np.sqrt(0.09 - 0.01 * np.sin(crank) ** 2), abs=1e-13)


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("", "give one of joint, on_line, on_plane, distance, coupling"),
        ('on_line = [0, 0, 1]\ndistance = "1 m"', "give one of joint"),
        ("on_line = [0, 0, 0]", "zero vector"),
        ("on_lien = [0, 0, 1]", "did you mean 'on_line'"),
        ('distance = "-1 m"', "must be above zero"),
        ("on_line = [0, 0, 1]\nplacement_a = { position = [0, 5, 0] }", "cannot be closed.*'pin' is open by"),
        ("coupling = { ratio = 2, offset = 'x' }", "offset"),
        (
            "on_line = [0, 0, 1]\n[[close]]\nname = 'two'\na = 'pistn'\nb = 'rod'\non_plane = [0, 0, 1]",
            "no body 'pistn'.*piston",
        ),
    ],
)
def test_bad_loops(tmp_path, relation, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        scenario(tmp_path, relation)
