"""Files that ask for too much: an error that names the limit, at once."""

import time

import pytest

import poinsot as pt
from poinsot.files import ScenarioError, load_scenario, load_urdf, size_limits
from poinsot.files.expressions import Expression, Law
from poinsot.files.varied import varied

SOON = 2.0  # s, on a busy machine; each of these once took longer, or all of the memory

SCENARIO = """
[[body]]
name = "box"
shape = [{ kind = "box", mass = 1, size = [1, 1, 1] }]
[run]
duration = 1
"""


@pytest.fixture(autouse=True)
def soon():
    before = time.perf_counter()
    yield
    assert time.perf_counter() - before < SOON


def outer(axes):
    """A product of lists, each along an axis of its own: 2^axes numbers from few characters."""
    return "+".join("[" * (k + 1) + "1" + "]" * k + "," + "[" * k + "1" + "]" * (k + 1) for k in range(axes))


def test_formula_of_many_axes():
    law = Law(outer(30)[:1990].rsplit("+", 1)[0], ("x",))
    with pytest.raises(ValueError, match="at most 2 lists in one another"):
        law(1.0)
    assert Law("[[1, x], [2, 3]]", ("x",))(5.0).shape == (2, 2)


@pytest.mark.parametrize("brackets", ["()", "[]"])
def test_formula_of_many_brackets(brackets):
    with pytest.raises(ValueError, match="nested too deeply; the limit is 50"):
        Expression(70 * brackets[0] + "1" + 70 * brackets[1])
    with pytest.raises(ValueError, match="nested too deeply"):
        Expression("-" * 1900 + "1")


def test_comments_without_end(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("<robot name='a'>" + "<!--" * 100_000)
    with pytest.raises(ValueError, match="not well-formed XML"):
        load_urdf(path)


def test_robot_of_many_links(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("<robot name='a'>" + "".join(f"<link name='{k}'/>" for k in range(20_000)) + "</robot>")
    with pytest.raises(ValueError, match="it has 20,000 links; the limit is 2,000"):
        load_urdf(path)


@pytest.mark.parametrize("count", ["1000000000000", "9" * 5000, "²", "0"])
def test_sweep_of_many_values(count):
    world = pt.World()
    world.add_particle("p", 1.0)
    with pytest.raises(ValueError, match="is not a number of values from 1 to 10,000,000"):
        varied("p.mass", f"1:2:{count}", world.description)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("inputs.a = " + "[" * 30 + "1" + "]" * 30, "lists are nested too deeply; the limit is 8"),
        ("x = " + "[" * 70 + "]" * 70, "nested more than 50 deep"),
        ("x = " + "[" * 20_000, "nested more than 50 deep"),
        (".".join("a" * 3000) + " = 1", "nested more than 50 deep"),
        ("x = " + "9" * 5000, "not valid TOML"),
    ],
)
def test_scenario_of_many_brackets(tmp_path, line, message):
    path = tmp_path / "x.toml"
    path.write_text(line + SCENARIO)
    with pytest.raises(ScenarioError, match=message):
        load_scenario(path)


def test_large_files(tmp_path, monkeypatch):
    for name, load in (("SCENARIO_BYTES", load_scenario), ("ROBOT_BYTES", load_urdf)):
        monkeypatch.setattr(size_limits, name, 10)
        path = tmp_path / "x"
        path.write_text("a" * 1000)
        with pytest.raises(ValueError, match="the file has 1,000 bytes; the limit is 10"):
            load(path)
