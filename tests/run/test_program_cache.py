"""Traced programs are kept on disk by the content of what they were traced from: nothing else finds them again."""

import json
import os
import pickle
import time
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import poinsot as pt
from poinsot import _alone
from poinsot._alone import alone
from poinsot.fuse import kernels, program_cache
from poinsot.fuse.llvm import object_cache
from poinsot.fuse.plan.budget import GPU, tracing_for
from poinsot.mechanism import revolute
from poinsot.parts.loads import Signal
from poinsot.run import limits
from poinsot.run.compiled import CompiledSystem
from poinsot.spatial.inertia import Inertia


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, in a process that says that it runs the command alone."""
    monkeypatch.setenv("POINSOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_alone, "BEGAN", time.time_ns())
    program_cache._surroundings.cache_clear()
    with alone():
        yield tmp_path / "cache"
    program_cache._surroundings.cache_clear()


def pendulum(length=1.0, stiffness=3.0):
    world = pt.World()
    world.add_body("rod", Inertia.rod(1.0, length), None, revolute((0, 1, 0)), q=1.0)
    world.add_spring("band", "rod", "world", stiffness, 0.2, point_a=(0, 0, length), point_b=(0.3, 0, 1))
    return world


def simulated(world):
    run = world.simulate(0.1, 0.01)
    return run.y, run.ledger.relative_residual, run.columns["energy"].values


@pytest.fixture
def done(monkeypatch):
    """What is traced and written as text."""
    names = []

    def watch(name):
        function = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, lambda *args: names.append(name) or function(*args))

    watch("trace")
    watch("kernel_module")
    return names


def test_the_second_time_nothing_is_traced_and_the_bits_are_the_same(folder, done):
    first = simulated(pendulum())
    assert {*done} == {"trace", "kernel_module"}
    done.clear()
    for a, b in zip(first, simulated(pendulum()), strict=True):
        assert np.array_equal(a, b)
    assert done == []
    simulated(pendulum(length=1.1))
    assert {*done} == {"trace", "kernel_module"}


def test_outside_the_command_everything_is_traced(folder, done):
    simulated(pendulum())
    count = done.count("trace")
    with alone(False):
        assert program_cache.place_of("anything") is None
        simulated(pendulum())
    assert done.count("trace") == 2 * count


def key(world=None, free=(), **options):
    """The key of what is traced from a world and options."""
    known = {"method": "rk4", "functions": {}, "keeps_ledger": True, **options}
    return CompiledSystem((world or pendulum()).system(free), **known)._content


def test_whatever_a_program_depends_on_is_in_its_key(folder):
    table = pt.Table((np.linspace(0, 1, 3),), np.zeros(3))
    other = pt.Table((np.linspace(0, 1, 3),), np.array([0, 0, 1e-300]))
    named, longer = pendulum(), pendulum()
    named.add_body("free", Inertia.sphere(1.0, 0.1))
    longer.add_input("thrust", 0.0)
    keys = [
        key(), key(pendulum(stiffness=3.0000000000000004)), key(named), key(longer), key(free=("rod.mass",)),
        key(method="semi_implicit_euler"), key(keeps_ledger=False), key(tolerance=1e-9), key(device="cuda"),
        key(functions={"thrust": table}), key(functions={"thrust": other}), key(functions={"other": table}),
        key(functions={"thrust": Signal("law.out")}),
    ]  # fmt: skip
    with tracing_for(GPU[8]):
        keys.append(key())
    assert None not in keys
    assert len({*keys}) == len(keys)
    assert key() == keys[0]


def test_an_array_changed_in_place_is_another(folder):
    values = np.zeros(3)
    before = program_cache.place_of(values)
    values[1] = 1.0
    assert program_cache.place_of(values) != before
    values[1] = -0.0
    assert program_cache.place_of(values) != before  # to the bit


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1.0), (1, True), (0.0, -0.0), ("1", 1), ((1, 2), [1, 2]), ((1, (2,)), ((1, 2),)), (["a", "b"], ["ab"]),
     (np.float32(1), np.float64(1)), (np.zeros((2, 3)), np.zeros((3, 2))), (np.zeros(2, "i8"), np.zeros(2)),
     ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (None, "None"), (b"a", "a"), (slice, None)],
)  # fmt: skip
def test_what_differs_is_told_apart(folder, a, b):
    assert program_cache.place_of(a) != program_cache.place_of(b)


def test_source_versions_environment_and_processor_are_in_the_key(folder, monkeypatch, tmp_path):
    keys = [program_cache.place_of("x")]

    def again():
        program_cache._surroundings.cache_clear()
        keys.append(program_cache.place_of("x"))

    monkeypatch.setenv("POINSOT_OTHER", "1")
    again()
    monkeypatch.setattr(np, "__version__", "0.0")
    again()
    host = program_cache.target.host()
    monkeypatch.setattr(program_cache.target, "host", lambda: host._replace(features="+none"))
    again()
    names = _alone.source_files()
    changed = tmp_path / "ops.py"
    changed.write_bytes(b"# an edit\n")
    os.utime(changed, ns=(0, 0))
    monkeypatch.setattr(_alone, "BEGAN", time.time_ns() + 10**9)
    monkeypatch.setattr(program_cache, "source_files", lambda: [*names[:-1], str(changed)])
    again()
    assert None not in keys
    assert len({*keys}) == len(keys)


def test_source_that_changed_after_the_start_is_not_trusted(folder, monkeypatch):
    """What runs is then not what stands in the files."""
    place = program_cache.place_of("x")
    monkeypatch.setattr(_alone, "BEGAN", 0)
    program_cache.write(place, pt.kernel("()->()")(lambda x: x + 1).program())
    assert place is not None
    assert program_cache.read(place) is None
    program_cache._surroundings.cache_clear()
    assert program_cache.place_of("x") is None


@dataclass(frozen=True)
class Mine:
    x: float = 1.0


class Number(float):
    """A float of the user's, which may do anything."""


@dataclass(frozen=True)
class Lookalike:
    """A class that says that it is Poinsot's."""


Lookalike.__module__ = "poinsot.parts.loads"


def test_what_cannot_be_told_is_not_kept(folder):
    cyclic = []
    cyclic.append(cyclic)
    hidden = Signal("a.b")
    object.__setattr__(hidden, "more", 1.0)
    foreign = [
        lambda t: t, partial(lambda t, x: t, x=1), Mine(), Mine, Number(1), Lookalike(), object(), cyclic, hidden,
        np.array([None]), np.random.default_rng(0), json.dumps, np.sin, np.ma.masked_array([1.0]), {"x": Mine()},
        iter([1]), pt.kernel("()->()")(lambda x: x),
    ]  # fmt: skip
    assert [program_cache.place_of(x) for x in foreign] == [None] * len(foreign)


def test_functions_of_ours_are_told_with_what_they_hold(folder):
    system = pendulum().system()
    stop = [limits.until(system, condition) for condition in (None, lambda t, scene: t > 1)]
    assert stop[0] is None
    assert program_cache.place_of(stop[1]) is None

    def held(x):
        return program_cache.place_of(partial(limits.until, x))

    assert held(1.0) is not None
    assert held(1.0) == held(1.0) != held(2.0)
    assert held(lambda t: t) is None


def test_a_world_with_a_function_of_the_users_is_traced(folder):
    world = pendulum()
    world.add_force("wind", "rod", lambda t, body: (0.0, 0.0, t))
    assert key(world) is None
    assert key() is not None


@pytest.mark.parametrize("content", [b"", b"x", None])
def test_damaged_entries_are_traced_again(folder, content):
    first = simulated(pendulum())
    for entry in folder.iterdir():
        whole = entry.read_bytes()
        entry.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert np.array_equal(first[0], simulated(pendulum())[0])


def test_a_pickled_kernel_leaves_its_place_behind(folder):
    """It may be unpickled on another machine, or by a process that has other code."""
    advance = CompiledSystem(pendulum().system(), "rk4", {}, True).advance
    assert advance.program().place is not None
    assert pickle.loads(pickle.dumps(advance)).program().place is None


def test_an_entry_of_another_kind_is_ignored(folder):
    place = program_cache.place_of("x")
    object_cache.write(program_cache._file("program", place), b"not a pickle")
    assert program_cache.read(place) is None


def test_what_warns_as_it_is_traced_warns_the_next_time_too(folder):
    world = pendulum()

    def warned():
        compiled = CompiledSystem(world.system(), "rk4", {}, False)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            compiled.compile(noted, "()->()", name="noted")
        return {str(w.message) for w in said}

    def noted(x):
        warnings.warn("look out", stacklevel=1)
        return x + 1

    assert warned() == warned() == {"look out"}


def test_a_kept_program_makes_the_same_code(folder, monkeypatch):
    """Should the machine code be lost and the program be there."""
    compiled = CompiledSystem(pendulum().system(), "rk4", {}, True)
    texts = []
    write = kernels.kernel_module
    monkeypatch.setattr(kernels, "kernel_module", lambda *args: texts.append(write(*args)) or texts[-1])
    compiled.advance.ufunc()
    for entry in folder.iterdir():
        if object_cache.read(entry.stem)[:4] == b"\x7fELF" or len(object_cache.read(entry.stem)) == 64:
            entry.unlink()
    again = CompiledSystem(pendulum().system(), "rk4", {}, True)
    again.advance.ufunc()
    assert len(texts) == 2
    assert texts[0] == texts[1]
