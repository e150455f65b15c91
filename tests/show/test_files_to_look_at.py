"""Files: replays, images and animations, complete or not there at all."""

from io import BytesIO
from typing import Any

import numpy as np
import pytest
import runs_to_show

import poinsot as pt
from poinsot import _atomic as atomic
from poinsot.show import chromium, headless, replay
from poinsot.show.web_server import PageServer


def image(path: Any) -> Any:
    return pytest.importorskip("PIL.Image").open(path)


@pytest.fixture(scope="module")
def has_browser():
    try:
        chromium.browser()
    except FileNotFoundError as error:
        pytest.skip(str(error))


def test_snapshot(tmp_path, has_browser):
    """Two times give two images of the requested size; the same time gives the same image."""
    run = runs_to_show.pendulum()
    picture = replay.picture_of(run)
    with headless.studio(run, picture, np.arange(101), (200, 150), ("bodies",), camera=(0.0, -1.0, 0.0)) as room:
        first, later, again = (np.asarray(image(BytesIO(room.shot(t))).convert("RGB")) for t in (0.0, 1.2, 0.0))
    assert first.shape == (150, 200, 3)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, later)
    dark = np.argwhere(first.min(axis=2) < 130)  # where there is something
    assert len(dark) > 50
    # Seen from -y, x is to the right.
    middle = dark[:, 1].mean() - 100
    assert np.sign(middle) == np.sign((picture.records.centres[0, 0, :, 0] - picture.centre[0]).mean())


def test_snapshot_and_animation_files(tmp_path, has_browser):
    run = runs_to_show.pendulum()
    path = run.snapshot(tmp_path / "x.png", time=1.0, camera=(1.0, 0.0, 0.0), show=["bodies"], size=(120, 80))
    with image(path) as still:
        assert still.size == (120, 80)
    film = run.animate(tmp_path / "x.gif", show=["bodies"], size=(100, 60), fps=2, end=2.0)
    with image(film) as gif:
        assert gif.n_frames == 5
        assert gif.size == (100, 60)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.gif", "x.png"]


def test_errors_before_any_work(tmp_path, monkeypatch):
    run = runs_to_show.pendulum()
    with pytest.raises(ValueError, match=r"must end in \.png"):
        run.snapshot(tmp_path / "x.jpg")
    with pytest.raises(ValueError, match="time must be within the run, 0 to 2 s, not 3"):
        run.snapshot(tmp_path / "x.png", time=3)
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        run.to_html(tmp_path / "nowhere" / "x.html")
    with pytest.raises(ValueError, match="fewer than two records"):
        run.animate(tmp_path / "x.gif", start=1.99)
    monkeypatch.setenv("POINSOT_BROWSER", "no-such-browser")
    with pytest.raises(FileNotFoundError, match="POINSOT_BROWSER is 'no-such-browser'"):
        run.snapshot(tmp_path / "x.png")
    monkeypatch.delenv("POINSOT_BROWSER")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(chromium, "BROWSERS", ("chromium",))
    with pytest.raises(FileNotFoundError, match="apt install chromium"):
        run.snapshot(tmp_path / "x.png")
    with pytest.raises(FileNotFoundError, match="needs the program ffmpeg"):
        run.animate(tmp_path / "x.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_ends_at_once_is_told_with_its_own_words(tmp_path, monkeypatch):
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\necho libnss3.so is missing >&2\nexit 127\n")
    program.chmod(0o755)
    monkeypatch.setenv("POINSOT_BROWSER", str(program))
    with pytest.raises(RuntimeError, match=r"with exit code 127: libnss3\.so is missing\. Try another one"):
        runs_to_show.pendulum().snapshot(tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == [program]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "x.html"
    atomic.write_bytes(path, b"old")

    def fails(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(atomic.os, "fsync", fails)
    with pytest.raises(OSError, match="no space left"):
        atomic.write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_replay_is_one_file_with_everything_in_it():
    page = replay.html(runs_to_show.handle(), show="+poinsot", fps=10)
    assert "<title>Poinsot: handle</title>" in page
    for outside in ('src="http', "src='http", 'href="http', "@import", 'src="/', 'href="/'):
        assert outside not in page
    assert len(page) < 8e5


def test_same_run_same_page():
    assert replay.html(runs_to_show.pendulum(), fps=5) == replay.html(runs_to_show.pendulum(), fps=5)


def test_notebook():
    text = runs_to_show.pendulum()._repr_html_()
    assert text is not None
    assert text.startswith("<p>&lt;Run: 101 records")
    assert 'srcdoc="&lt;!doctype html&gt;' in text


def test_the_server_prints_nothing(capsys):
    server = PageServer({}, port=0)
    assert server.url.startswith("http://127.0.0.1:")
    server.close()
    assert capsys.readouterr().out == ""


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_a_run_that_diverged_is_shown_up_to_its_last_finite_state(tmp_path, has_browser):
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("box", pt.Inertia.box(1.0, (1, 1, 1)), velocity=(1, 0, 0))
    world.add_force("blow", "box", lambda t, scene: np.stack([np.where(t > 0.5, np.inf, 0.0), 0.0, 0.0]))
    run = world.simulate(1.0, 1e-2, every=0.1, ledger=False)
    assert run.stop.reason == "broken"
    text = run.to_html(tmp_path / "broken.html").read_text()
    assert "NaN" not in text.split("application/json")[1].split("</script>")[0]
    assert "the run ended" in text
    assert run.snapshot(tmp_path / "broken.png", size=(120, 90)).stat().st_size > 500
