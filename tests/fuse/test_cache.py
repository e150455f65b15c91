"""Compiled code is kept on disk: whatever goes wrong there costs time, never a result."""

import gc
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from poinsot.fuse import kernel
from poinsot.fuse.llvm import jit, object_cache

CODE = """if True:
    import sys
    import numpy as np
    from poinsot.fuse import kernel
    for factor in map(float, sys.argv[1:]):
        k = kernel("(3)->(3)")(lambda v: factor * v + np.sin(v[0]))
        np.testing.assert_allclose(k(np.ones((5, 3))), factor + np.sin(1), rtol=1e-14)
    """


def sources(stderr):
    """Where the code of each kernel came from, as POINSOT_DEBUG=1 tells."""
    lines = [line for line in stderr.splitlines() if line.startswith("poinsot: ")]
    return ["cache" if ", cache in " in line else "compiled" if ", compiled in " in line else line for line in lines]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and reports about what comes from it."""
    monkeypatch.setenv("POINSOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("POINSOT_DEBUG", "1")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    jit._debug_folder.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def run(folder, capfd):
    """Make and call a new kernel: where its code came from."""

    def run(factor=3.0, dtype=np.float64):
        k = kernel("(3)->(3)")(lambda v: factor * v + np.sin(v[0]))
        np.testing.assert_allclose(k(np.ones((5, 3), dtype)), factor + np.sin(1), rtol=8 * np.finfo(dtype).eps)
        (source,) = sources(capfd.readouterr().err)
        del k
        gc.collect()  # so that the next one does not share its code
        return source

    return run


def test_the_second_process_reads_it(python, folder):
    assert sources(python(CODE, 3, 4).stderr) == ["compiled", "compiled"]
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}
    assert sources(python(CODE, 4, 3).stderr) == ["cache", "cache"]
    assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()} == before


def test_it_is_keyed_by_the_code(run, folder):
    assert [run(3), run(4), run(3), run(4), run(5)] == ["compiled", "compiled", "cache", "cache", "compiled"]
    assert len(list(folder.iterdir())) == 3


def test_precisions_are_kept_apart(run):
    assert [run(), run(dtype=np.float32), run(dtype=np.float32), run()] == ["compiled", "compiled", "cache", "cache"]


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "checksum only": lambda content: content[:32],
    "one bit": lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
    "wrong checksum": lambda content: bytes(32) + content[32:],
    "nonsense": lambda content: b"nonsense" * 1000,
    "longer": lambda content: content + b"x",
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_entries_are_replaced(how, run, folder):
    run()
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(DAMAGE[how](whole))
    assert run() == "compiled"
    assert [p.name for p in folder.iterdir()] == [entry.name]
    assert entry.read_bytes() == whole
    assert run() == "cache"


def test_a_folder_where_an_entry_should_be(run, folder):
    run()
    (entry,) = folder.iterdir()
    entry.unlink()
    entry.mkdir()
    assert run() == "compiled"
    assert [p.name for p in folder.iterdir()] == [entry.name], "nothing is left lying about"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("what", ["/dev/full", "/dev/zero", "a pipe"])
def test_an_entry_without_an_end_is_not_read(what, run, folder):
    """Reading a device or a pipe would never come back."""
    run()
    (entry,) = folder.iterdir()
    entry.unlink()
    os.mkfifo(entry) if what == "a pipe" else entry.symlink_to(what)
    assert run() == "compiled"
    assert entry.is_file()
    assert not entry.is_symlink()


@pytest.mark.parametrize("where", ["a file", "below a file", "/dev/null/poinsot", "/proc/poinsot"])
def test_a_folder_that_cannot_be_written_only_costs_time(where, run, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("not a folder")
    place = {"a file": path, "below a file": path / "deeper"}.get(where, where)
    monkeypatch.setenv("POINSOT_CACHE", str(place))
    assert [run(), run()] == ["compiled", "compiled"]
    assert path.read_text() == "not a folder"


@pytest.mark.parametrize("word", ["0", "off"])
def test_the_cache_can_be_switched_off(word, run, tmp_path, monkeypatch):
    monkeypatch.setenv("POINSOT_CACHE", word)
    assert [run(), run()] == ["compiled", "compiled"]
    assert not (tmp_path / word).exists()


def test_a_folder_below_home_by_default(monkeypatch, tmp_path):
    for name in ("POINSOT_CACHE", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert object_cache.cache_folder() == tmp_path / "xdg" / "poinsot"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert object_cache.cache_folder() == tmp_path / ".cache" / "poinsot"


def test_several_processes_at_once(folder, tmp_path):
    """They write the same entries at the same time; each gets the right results, and whole entries remain."""
    command = [sys.executable, "-c", CODE, "1", "2", "3", "4", "5"]
    processes = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate(timeout=100)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    entries = list(folder.iterdir())
    assert len(entries) == 5
    assert all(p.suffix == ".o" and object_cache.read(p.stem) is not None for p in entries)


def test_code_from_the_cache_gives_the_same_bits(folder, capfd, rng):
    make = lambda: kernel("(3)->(3)")(lambda v: np.exp(np.sin(v)) @ np.eye(3) * 1.25)  # noqa: E731
    x = rng.standard_normal((20, 3))
    np.testing.assert_array_equal(make()(x), make()(x))
    assert sources(capfd.readouterr().err) == ["compiled", "cache"]


def test_debug_shows_the_generated_code(run, folder, tmp_path, monkeypatch, capfd):
    run()
    (text,) = tmp_path.glob("poinsot-debug-*/*.ll")
    assert "define void @kernel" in text.read_text()
    monkeypatch.setenv("POINSOT_DEBUG", "0")
    kernel("()->()")(lambda x: 9 * x)(1.0)
    assert capfd.readouterr().err == ""


def test_a_folder_that_others_can_write_to_is_not_used(run, folder):
    """Its code would be executed."""
    assert [run(3), run(3)] == ["compiled", "cache"]
    folder.chmod(0o777)
    assert [run(4), run(4)] == ["compiled", "compiled"]
    folder.chmod(0o700)
    assert run(4) == "compiled"


def test_a_new_folder_is_private(run, folder):
    run(3)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_oldest_files_go_first(run, folder, monkeypatch):
    monkeypatch.setattr(object_cache, "SCAN_EVERY", 1)
    run(3)
    (first,) = folder.iterdir()
    os.utime(first, (0, 0))
    monkeypatch.setattr(object_cache, "LIMIT", int(2.5 * first.stat().st_size))
    run(4)
    run(5)
    run(6)
    assert not first.exists()
    assert sum(path.stat().st_size for path in folder.iterdir()) <= object_cache.LIMIT


def test_what_is_printed_for_debugging_goes_to_a_folder_of_the_process(run, folder):
    run(3)
    (own,) = folder.parent.glob("poinsot-debug-*")
    assert own.stat().st_mode & 0o777 == 0o700
    assert len(list(own.glob("*.ll"))) == 1
