"""Where keys stand in a TOML file."""

import tomllib
from pathlib import Path

import pytest

from poinsot.files.toml_lines import line_of, lines_of

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = '''title = "a # b [c]"   # comment [[x]]
gravity = [0,   # first
    0, -9.81]
[run]
duration = 3
"odd key".inner = 3
text = """
[no]
a = 1
"""
quoted = 'it = "x" ['
[[body]]
name = "a"
[[body.shape]]
kind = "box"
[[body.shape]]
kind = "sphere"
[body.inertia]
mass = 1
[[body]]
name = 'b'
joint = { kind = "revolute", axis = [
    1, 0, 0] }
[[body.shape]]
radius = 3'''


def test_every_key_has_its_line():
    tomllib.loads(TEXT)
    lines = lines_of(TEXT)
    assert lines["title",] == 1
    assert lines["gravity",] == 2
    assert lines["run", "duration"] == 5
    assert lines["run", "odd key", "inner"] == 6
    assert lines["run", "text"] == 7
    assert lines["run", "quoted"] == 11
    assert lines["body", 0] == 12
    assert lines["body", 0, "shape", 1, "kind"] == 17
    assert lines["body", 0, "inertia", "mass"] == 19
    assert lines["body", 1, "joint"] == 22
    assert lines["body", 1, "shape", 0, "radius"] == 25
    assert line_of(("body", 1, "joint", "axis", 2), lines) == 22
    assert line_of(("body", 1, "velocity"), lines) == 20
    assert line_of(("nothing",), lines) is None


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_lines_hold_the_keys_that_they_are_of(path):
    text = path.read_text()
    source = text.splitlines()
    for place, line in lines_of(text).items():
        names = [key for key in place if isinstance(key, str)]
        assert names[-1] in source[line - 1], place
