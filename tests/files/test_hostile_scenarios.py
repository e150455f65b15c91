"""Scenarios with values that nobody writes: each is a problem with its place, never a traceback."""

import pytest

from poinsot.files import ScenarioError
from poinsot.files.scenario import read_scenario

RUN = "[run]\nduration = 1\n"
BOX = '[[body]]\nname = "box"\nshape = [{ kind = "box", mass = 1, size = [1, 1, 1] }]\n'
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 {}\nf 1 3 4\nf 1 2 4\nf 2 3 4\n"


def body(shape):
    return f'[[body]]\nname = "box"\nshape = [{{ mass = 1, {shape} }}]\n'


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOX.replace("mass = 1", "mass = 1" + "0" * 400) + RUN, r"mass = 10.*the number is too large"),
        ("[constants]\na = 1" + "0" * 400 + "\n" + BOX + RUN, r"constants\.a = 10.*the number is too large"),
        (BOX + "parent = { a = 1 }\n" + RUN, r"body\[0\]\.parent.*: expected the name of a body"),
        (BOX + "parent = [1]\n" + RUN, r"body\[0\]\.parent.*: expected the name of a body"),
        (BOX + "[run]\nduration = 5e-324\n", r"run\.step: a duration of .*a step is at least 1e-100 s"),
        (BOX + "[run]\nduration = 1\nstep = 5e-324\n", r"run\.step = .*a step is at least 1e-100 s"),
        (BOX + "[run]\nduration = 1e300\n", r"run\.step: .*a run has at most 1e\+12 steps"),
        (body('kind = "sphere", radius = 1e-200') + RUN, r"radius = 1e-200: .*must be from 1e-50 to 1e\+50 m"),
        (body('kind = "cone", radius = 5e-324, height = 1') + RUN, r"radius = 5e-324: .*must be from 1e-50"),
        (body('kind = "box", size = [1e200, 1, 1]') + RUN, r"size = .*must be from 1e-50 to 1e\+50 m"),
        (
            BOX.replace("mass = 1", "mass = 1e300").replace(
                "}]", "}, { kind = 'rod', mass = 1e300, length = 1, position = [1e49, 0, 0] }]"
            )
            + RUN,
            r"body\[0\]: moment must be finite",
        ),
        (body('kind = "mesh", file = "mesh.obj"') + RUN, r"shape\[0\]: mesh file .*names a vertex that does not exist"),
        (body(f'kind = "mesh", file = "{"a" * 5000}"') + RUN, r"there is no file"),
        (
            BOX + RUN + '[sweep]\nrecord = ["posiion"]\nvary = { "box.mass" = "1:2:3" }\n',
            r"sweep\.record = .*'position'",
        ),
        (
            '[[beam]]\nname = "b"\nlength = 1\nEI = 1\nmass_per_length = 1\nn = 1000000000\n' + RUN,
            r"n = 1000000000: expected a whole number from 1 to 1,000",
        ),
    ],
)
def test_values_that_nobody_writes(tmp_path, text, message):
    (tmp_path / "mesh.obj").write_text(OBJ.format("9" * 20))
    with pytest.raises(ScenarioError, match=message):
        read_scenario(text, "x.toml", tmp_path)


def test_a_file_that_is_not_text(tmp_path):
    from poinsot.files import load_scenario

    (tmp_path / "x.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(ScenarioError, match="the file is not UTF-8: byte 9 is 0xff"):
        load_scenario(tmp_path / "x.toml")
