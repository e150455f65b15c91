"""Scenarios that are wrong: what is said about each is what the page docs/scenario-errors.md says."""

import re
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot._errors import FieldError, UnknownNameError
from poinsot.files.problems import ScenarioError
from poinsot.files.scenario import load_scenario, parse_changes, read_scenario

PAGE = Path(__file__).parents[2] / "docs" / "scenario-errors.md"
CASES = re.findall(r"^## (.*?)\n```toml\n(.*?)\n?```\n```text\n(.*?)\n```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
BODY = pt.Inertia.box(1.0, (1, 2, 3))
RUN = "[run]\nduration = 1\n"
BOX = '[[body]]\nname = "box"\nshape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 1 }]\n'


def messages(text: str, **options: object) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        read_scenario(text, "x.toml", Path("nowhere"), **options)  # type: ignore[arg-type]
    return error.value.messages()


def test_the_page_has_many_cases():
    assert len(CASES) >= 70
    assert len({name for name, _, _ in CASES}) == len(CASES)


@pytest.mark.parametrize(("name", "text", "expected"), CASES, ids=[name for name, _, _ in CASES])
def test_the_message_is_exactly_this(name, text, expected):
    assert messages(text + "\n") == expected.splitlines()


def test_all_errors_come_at_once_in_the_order_of_the_file():
    text = """titel = "x"
[run]
duration = "3 kg"
[[body]]
name = "box"
shape = [{ kind = "box", size = [1, 2], mass = 1 }, { kind = "sphere", radius = -1, mass = 1 }]
[[force]]
name = "f"
body = "bux"
value = ["k", 0, 0]
[[spring]]
name = "f"
a = "box"
stiffness = "1 kg"
"""
    found = messages(text)
    lines = [int(re.match(r"x\.toml:(\d+):", m)[1]) for m in found]  # type: ignore[index]
    assert lines == sorted(lines)
    paths = [m.split(": ")[1].split(" = ")[0] for m in found]
    assert paths == [
        "titel", "run.duration", "body[0].shape[0].size", "force[0].value", "spring[0].name", "spring[0].stiffness",
    ]  # fmt: skip


def test_every_shape_of_a_body_is_looked_at():
    shapes = '[{ kind = "sphere", radius = -1, mass = 1 }, { kind = "cylinder", radius = 1, height = -2, mass = 1 }]'
    found = messages(RUN + f'[[body]]\nname = "box"\nshape = {shapes}\n')
    assert [m.split(": ")[1] for m in found] == ["body[0].shape[0].radius = -1", "body[0].shape[1].height = -2"]


@pytest.mark.parametrize(
    ("make", "field", "owner"),
    [
        (lambda: pt.Spring("s", "a", "b", stiffness=-1), "stiffness", ""),
        (lambda: pt.Contact("c", "a", slip=0.0), "slip", ""),
        (lambda: pt.Inertia(-1.0, np.zeros(3), np.eye(3)), "mass", ""),
        (lambda: pt.Inertia.box(1.0, (1, 1)), "size", ""),
        (lambda: pt.revolute((0, 0, 0)), "axis", ""),
        (lambda: pt.Link("arm", BODY, None, pt.revolute((0, 0, 1), armature=-1)), "joint.armature", "arm"),
        (lambda: pt.World().add_body("box", BODY, q=[1, 2]), "q", "box"),
        (lambda: pt.World().add_body("a.b", BODY), "name", ""),
    ],
)
def test_an_error_carries_the_field_that_it_is_about(make, field, owner):
    with pytest.raises(FieldError) as error:
        make()
    assert (error.value.field, error.value.owner) == (field, owner)


def test_an_error_of_the_whole_world_names_its_owner():
    world = pt.World()
    world.add_body("box", BODY)
    world.add(pt.Thruster("engine", "box", tank="tnk"))
    with pytest.raises(UnknownNameError, match="there is no element 'tnk'") as error:
        world.system()
    assert (error.value.name, error.value.owner) == ("tnk", "engine")


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"there is no file 'nothing\.toml'"):
        load_scenario("nothing.toml")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("run.duration=3 kg", 'x.toml:2: run.duration = "3 kg": that is a mass; expected a time [s], such as "20 ms".'),
        ("run.durration=3", "x.toml:1: run.durration: there is no such key; did you mean 'duration'?"),
        ("box.mas=3", "x.toml: box.mas = 3: there is no such number; did you mean 'box.mass'?"),
        ("box.mas='3 kg'", "x.toml: box.mas = \"3 kg\": there is no such number; did you mean 'box.mass'?"),
        ("box.mass=3 m", 'x.toml: box.mass = "3 m": that is a length; expected a mass [kg], such as "5 lb".'),
        ("box.velocity=[1, 2]", "x.toml:3: body[0].velocity = [1, 2]: expected a list of three numbers [m/s]."),
    ],
)
def test_a_wrong_change_is_told(change, expected):
    assert messages(RUN + BOX, changes=parse_changes([change])) == [expected]


def test_a_change_without_value_is_told():
    with pytest.raises(ValueError, match=r"expected path=value, such as run\.duration=5"):
        parse_changes(["run.duration"])
