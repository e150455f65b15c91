"""Names that can be typed, seen and written; and numbers without a minus in front of nothing."""

import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as pt
from poinsot.cli.screen import short
from poinsot.files.written import toml
from poinsot.run.ledger import Ledger

BALL = pt.Inertia.sphere(1.0, 0.1)


@pytest.mark.parametrize(
    "c", "\0\a\x1b\x7f\x85\xad\u200b\u200e\u202e\u2028\u2066\ufeff\ud800\ue000", ids=lambda c: hex(ord(c))
)
def test_what_cannot_be_seen_is_not_a_name(c):
    world = pt.World()
    for name in (c, f"a{c}b"):
        with pytest.raises(ValueError, match=r"cannot be the name of a body: it (contains U\+|needs one or more)"):
            world.add_body(name, BALL)
    world.add_body("ball", BALL)
    with pytest.raises(ValueError, match="cannot be the name of an element"):
        world.add_force(f"push{c}", "ball", (1, 0, 0))
    assert list(world.description.bodies) == ["ball"]


@pytest.mark.parametrize("name", ["ball", "Kugel_ß", "ボール", "мяч", "b-1", "<b>", "a/b", "é", "😀"])
def test_what_can_be_seen_is_a_name(name):
    world = pt.World()
    world.add_body(name, BALL)
    assert world[f"{name}.mass"] == 1.0


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_is_written_as_toml(text):
    assert tomllib.loads(f"x = {toml(text)}")["x"] == text


def test_halves_of_characters_become_question_marks():
    assert tomllib.loads(f"x = {toml('a' + chr(0xDCFF) + chr(0x7F))}")["x"] == "a?\x7f"


def test_there_is_no_negative_nothing():
    zero = np.full(8, -0.0)
    ledger = Ledger(("push",), zero, zero, zero[None], None)
    assert "-0" not in ledger.table().replace("e-0", "")
    assert short(-0.0) == "0"
