"""Contact in scenario files: surfaces, grounds and pairs, and what is told of wrong ones."""

import numpy as np
import pytest

from poinsot.files import load_scenario

TEXT = """
title = "two boxes"
[[surface]]
name = "wood"
stiffness = "100 N/mm"
friction = 0.6
[[ground]]
name = "ground"
surface = "wood"
height = "1 cm"
ignored = ["top"]
[[body]]
name = "bottom"
position = [0, 0, "6 cm"]
[[body.shape]]
kind = "box"
mass = "1 kg"
size = ["20 cm", "20 cm", "10 cm"]
[[body]]
name = "top"
position = [0, 0, "16 cm"]
[[body.shape]]
kind = "box"
mass = "1 kg"
size = ["20 cm", "20 cm", "10 cm"]
[[pair]]
a = "top"
b = "bottom"
surface = "wood"
[run]
duration = "1 s"
step = "5 ms"
"""


def scenario(tmp_path, text):
    path = tmp_path / "a.toml"
    path.write_text(text)
    return load_scenario(path)


def test_a_scenario_with_contact(tmp_path):
    world = scenario(tmp_path, TEXT).world
    assert [name for name in world.description.elements if "-" in name] == ["bottom-ground", "top-bottom"]
    assert world["ground.height"] == pytest.approx(0.01)
    assert world["top-bottom.stiffness"] == world["bottom-ground.stiffness"] == 1e5
    assert world["top-bottom.friction"] == 0.6
    scene = world.scene()
    assert np.allclose(scene.ground(np.array([0, 0, 1.0])).clearance, 0.99)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('surface = "wood"\nheight', 'surface = "wod"\nheight', "there is no surface 'wod'; did you mean 'wood'"),
        ('ignored = ["top"]', 'ignored = ["tob"]', "there is no body 'tob'; did you mean 'top'"),
        ('b = "bottom"', 'b = "botom"', "there is no body or ground 'botom'; did you mean 'bottom'"),
        ('stiffness = "100 N/mm"', 'stiffness = "100 N"', "stiffness"),
        ("friction = 0.6", "friction = -0.6", "friction of a material must be zero or more"),
        ('height = "1 cm"', "normal = [0, 0, 0]", "normal of ground 'ground' must not be zero"),
    ],
)
def test_what_is_told(tmp_path, old, new, told):
    with pytest.raises(ValueError, match=told):
        scenario(tmp_path, TEXT.replace(old, new))


def test_grounds_by_formulas_pairs_of_all_and_shapes_that_do_not_touch(tmp_path):
    text = TEXT.replace('height = "1 cm"\nignored = ["top"]', 'distance = "1 - sqrt(x**2 + y**2 + (z - 1)**2)"')
    text = text.replace('surface = "wood"\n[run]', "[run]").replace('a = "top"\nb = "bottom"', "")
    text = text.replace("friction = 0.6", 'friction = 0.6\ntorsion = "1 mm"\nrolling = "0.5 mm"')
    text = text.replace(
        '[[body]]\nname = "top"',
        '[[body.shape]]\nkind = "sphere"\nradius = 1\nmass = 1\ncollide = false\n[[body]]\nname = "top"',
    )
    world = scenario(tmp_path, text).world
    assert "bottom-top" in world.description.elements
    assert world["bottom-ground.torsion"] == pytest.approx(1e-3)
    assert world.description.elements["bottom-ground"].count == 8
    there = world.scene().ground(np.array([0.3, 0, 1.0]))
    assert there.clearance == pytest.approx(0.7)
    assert there.normal == pytest.approx([-1, 0, 0], abs=1e-9)
    hills = scenario(tmp_path, TEXT.replace('height = "1 cm"', 'heights = "0.1*sin(x)"')).world
    assert hills.scene().ground(np.array([0.5, 0, 1.0])).normal[0] < 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('a = "top"\nb = "bottom"', 'a = "top"', "give both a and b"),
        ('a = "top"\nb = "bottom"', 'a = "top"\nb = "bottom"\nbodies = ["top"]', "give either a and b, or bodies"),
        ('a = "top"\nb = "bottom"', 'bodies = ["tp"]', "there is no body 'tp'"),
        ('height = "1 cm"', 'distance = "q + 1"', "'q' is not defined here"),
        ('b = "bottom"', 'b = "bottom"\ncapacity = 5', "two bodies have no list whose capacity could be given"),
        ('a = "top"\nb = "bottom"', 'bodies = ["top"]', "collide needs two bodies, or a list of them"),
        ('b = "bottom"', 'b = "botom"', r'b = "botom": there is no body or ground'),
        ('a = "top"\nb = "bottom"', "capacity = 0", "must be at least 1|from 1|not 0|above 0"),
        ('height = "1 cm"', "capacity = 2.5", "whole number"),
        ("friction = 0.6", "friction = -1", "friction of a material must be zero or more"),
    ],
)
def test_what_is_told_of_wrong_grounds_and_pairs(tmp_path, old, new, told):
    with pytest.raises(ValueError, match=told):
        scenario(tmp_path, TEXT.replace(old, new))


def test_grounds_and_pairs_do_not_complain_of_a_surface_that_is_wrong_itself(tmp_path):
    with pytest.raises(ValueError, match="stiffness of a material must be zero or more") as told:
        scenario(tmp_path, TEXT.replace('stiffness = "100 N/mm"', "stiffness = -5"))
    assert "there is no surface" not in str(told.value)
