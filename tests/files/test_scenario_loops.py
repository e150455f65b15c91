"""[[close]] in scenario files."""

import numpy as np
import pytest

import poinsot as pt
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
placement_b = { position = ["30 cm", 0, 0] }
RELATION
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
        ("", "give one of joint, on_line, on_plane, on_curve, distance, coupling, rolling"),
        ('on_line = [0, 0, 1]\ndistance = "1 m"', "give one of joint"),
        ("on_line = [0, 0, 0]", "zero vector"),
        ("on_lien = [0, 0, 1]", "did you mean 'on_line'"),
        ('distance = "-1 m"', "must be above zero"),
        ("on_line = [0, 0, 1]\nplacement_a = { position = [0, 5, 0] }", "cannot be closed.*'pin' is open by"),
        ("coupling = { ratio = 2, offset = 'x' }", "offset"),
        ("coupling = { ratio = 2, weights = { crank = 2 } }", "give one of ratio, weights, function"),
        ("coupling = { weights = { crnk = 2 } }", "'crnk', which is not a body.*crank"),
        ("rolling = { radius = 0 }", "must be above zero"),
        (
            "on_curve = { curve = '[s, 0]', span = [0, 1] }",
            r"numbers of shape \(3,\), not \(2,\)",
        ),
        ("on_line = [0, 0, 1]\n[[drive]]\nname = 'turn'\njoint = 'cranc'\nmotion = 't'", "no body 'cranc'.*crank"),
        ("on_line = [0, 0, 1]\n[[drive]]\nname = 'turn'\njoint = 'crank'\nmotion = 'x'", "drive.*motion"),
        (
            "on_line = [0, 0, 1]\n[[drive]]\nname = 'turn'\njoint = 'crank'\nmotion = '[t, t]'",
            r"must give numbers of shape",
        ),
        (
            "on_line = [0, 0, 1]\n[[close]]\nname = 'two'\na = 'pistn'\nb = 'rod'\non_plane = [0, 0, 1]",
            "no body 'pistn'.*piston",
        ),
    ],
)
def test_bad_loops(tmp_path, relation, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        scenario(tmp_path, relation)


def test_a_driven_crank(tmp_path):
    drive = "[[drive]]\nname = 'turn'\njoint = 'crank'\nmotion = '0.7 + 5 * t + sin(t)'"
    run = scenario(tmp_path, f"on_line = [0, 0, 1]\n{drive}").run()
    t, q = run.time, run.data.q.values
    np.testing.assert_allclose(q[:, 0], 0.7 + 5 * t + np.sin(t), rtol=0, atol=1e-13)
    assert "turn.force" in run.data


ROLLING = """
[[body]]
name = "ball"
position = [0, 0, 0.1]
velocity = [1, 0, 0]
shape = [{ kind = "sphere", radius = "10 cm", mass = "1 kg" }]
[[close]]
name = "floor"
a = "world"
b = "ball"
rolling = { radius = "10 cm" }
[[body]]
name = "bead"
position = [2, 0, 0.5]
shape = [{ kind = "sphere", radius = "1 cm", mass = "0.1 kg" }]
[[close]]
name = "wire"
a = "world"
b = "bead"
on_curve = { curve = "[2, s, 0.5 * cos(s)]", span = [-6, 6], samples = 40 }
[run]
duration = "0.2 s"
"""


def test_rolling_and_curves_are_read_saved_and_repeated(tmp_path):
    (tmp_path / "rolling.toml").write_text(ROLLING)
    run = load_scenario(tmp_path / "rolling.toml").run()
    ball, bead = run.data.position.values[-1]
    np.testing.assert_allclose(ball, (0.2 * 5 / 7, 0, 0.1), rtol=0, atol=1e-12)  # the start is put onto rolling
    assert bead[2] == pytest.approx(0.5 * np.cos(bead[1]), abs=1e-13)
    run.save(tmp_path / "run.nc")
    assert np.array_equal(pt.load_run(tmp_path / "run.nc").repeat().y, run.y)
