"""The page and the replay in a real browser: they load, bodies move, pause holds, scrubbing shows the right pose."""

import socket
import threading
import time as clock
from typing import Any

import numpy as np
import pytest
import runs_to_show
from runs_to_show import eventually, typed

import poinsot as pt
from poinsot import show

POSE = """name => {
  const node = window.__viserMutable.nodeRefFromName[name];
  const q = node.quaternion;
  return [...node.position.toArray(), q.w, q.x, q.y, q.z];
}"""
VISIBLE = "name => { let n = window.__viserMutable.nodeRefFromName[name]; return n != null && n.visible }"
SINGLE = 2e-6  # browsers hold positions of about 1 m in single precision


def pose(page: Any, body: str = "lower") -> np.ndarray:
    return np.array(page.evaluate(POSE, f"/scene/bodies/{body}"))


def of_record(run: pt.Run, k: int, body: str = "lower") -> np.ndarray:
    one = run[body].isel(time=k)
    return np.concatenate([one.position.values, one.orientation.values])


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal poses, q and -q being one rotation."""
    return bool(np.allclose(a[:3], b[:3], atol=SINGLE) and np.isclose(abs(a[3:] @ b[3:]), 1.0, atol=SINGLE))


def holds(page: Any) -> bool:
    """Whether the pendulum, which is never at rest, does not move for a while: longer than any frame takes."""
    before = pose(page)
    clock.sleep(1.2)
    return same(before, pose(page))


def test_page(visit):
    """Bodies move; pause holds; scrubbing and stepping show the pose of that record; layers can be switched off."""
    run = runs_to_show.pendulum()
    with show.view(run, show=["bodies"], plots=["energy"], port=0, browser=False, block=False) as viewer:
        page = visit(viewer.url)
        first = pose(page)
        assert eventually(lambda: not same(pose(page), first))

        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Play").wait_for()
        assert eventually(lambda: holds(page))
        assert holds(page)

        field = page.locator("input[inputmode]").first  # the number beside the slider of the time
        assert typed(field, "1.21", lambda: same(pose(page), of_record(run, 60)))  # records are 20 ms apart
        page.get_by_role("button", name="forward", exact=True).click()
        assert eventually(lambda: same(pose(page), of_record(run, 61)))
        page.get_by_role("button", name="end", exact=True).click()
        assert eventually(lambda: same(pose(page), of_record(run, -1)))

        viewer.time = 0.4
        assert eventually(lambda: same(pose(page), of_record(run, 20)))
        page.get_by_label("bodies").click()
        assert eventually(lambda: not page.evaluate(VISIBLE, "/scene/bodies"))

        line = "() => Object.values(window.__viserTestpoints.uplots)[0].chart.data.map(x => Array.from(x))"
        time, energy, now = (np.array(x, dtype=float) for x in page.evaluate(line))
        assert np.allclose(energy, run.data["energy"].values)
        assert np.abs(time[np.isfinite(now)] - 0.4).max() < 0.021  # the line is at the time of the scene


@pytest.mark.slow
def test_camera_follows_and_rotates_with_a_body(visit):
    run = runs_to_show.pendulum()
    with show.view(
        run, show=["bodies"], follow="lower", attached=True, plots=[], port=0, browser=False, block=False
    ) as v:
        page = visit(v.url)
        v.time = 1.0
        in_scene = "() => window.__viserMutable.nodeRefFromName['/scene/bodies/lower'].matrixWorld.toArray()"
        start = None
        for t in (0.4, 1.0, 1.6):
            v.time = t
            k = round(t / 0.02)
            assert eventually(lambda k=k: same(pose(page), of_record(run, k)))
            clock.sleep(0.5)
            matrix = np.array(page.evaluate(in_scene))
            start = matrix if start is None else start
            assert np.allclose(matrix, start, atol=1e-4)  # it stays in place, and the world rotates


@pytest.mark.slow
def test_instances_of_a_batch(visit):
    run = runs_to_show.batch()
    with show.view(
        run, show=["bodies", "ghosts"], instance=1, ghosts=3, plots=[], port=0, browser=False, block=False
    ) as v:
        page = visit(v.url)
        v.time = 1.0
        ends = [
            np.concatenate([*(run["box"].isel(time=-1, batch=i)[n].values for n in ("position", "orientation"))])
            for i in range(5)
        ]
        assert eventually(lambda: same(pose(page, "box"), ends[1]))
        page.get_by_role("tab", name="batch").click()
        assert typed(page.get_by_label("instance"), "4", lambda: same(pose(page, "box"), ends[4]))


def test_replay_plays_from_disk_without_a_network(visit, tmp_path):
    run = runs_to_show.pendulum()
    path = run.to_html(tmp_path / "replay.html", fps=100)
    assert path.stat().st_size < 2e6
    page = visit(path.as_uri(), offline=True)
    first = pose(page)
    assert eventually(lambda: not same(pose(page), first))

    page.keyboard.press("Space")  # pause
    assert eventually(lambda: holds(page))
    assert holds(page)

    for t in ("1.3", "0.5"):  # forwards, and backwards
        page.locator("input").first.fill(t)
        page.locator("input").first.press("Enter")
        k = round(float(t) / 0.02)
        assert eventually(lambda k=k: same(pose(page), of_record(run, k)) or same(pose(page), of_record(run, k - 1)))


def test_live(visit):
    """It runs; a push moves a body; a slider changes a number; reset starts again."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(1.0, (0.4, 0.3, 0.2)))
    world.add_input("drive", 0.0)
    world.add_force("jet", "box", lambda t, scene: scene.input("drive") * np.array([0.0, 1.0, 0.0]))
    with show.live(world, free={"box.mass": (0.5, 4.0)}, show=["bodies"], port=0, browser=False, block=False) as live:
        page = visit(live.url)
        assert np.allclose(pose(page, "box")[:3], 0.0)
        page.get_by_role("tab", name="push").click()
        page.get_by_role("button", name="Push").click()
        assert eventually(lambda: pose(page, "box")[0] > 0.05)  # 3 m g for 0.15 s: 4.4 m/s along x
        assert np.allclose(pose(page, "box")[1:3], 0.0, atol=1e-9)

        page.get_by_role("tab", name="parameters").click()
        mass = page.locator("input[inputmode]").first
        assert typed(mass, "2", lambda: float(live.numbers["box.mass"]) == 2.0)
        live.set("drive", 6.0)
        page.get_by_role("button", name="Reset").click()
        assert eventually(lambda: abs(pose(page, "box")[0]) < 1e-9 and pose(page, "box")[1] > 0.1)
        t, y, _ = live.seen[-1]
        assert np.isclose(y[5], 0.5 * (6.0 / 2.0) * t * t, rtol=1e-9)  # q is a quaternion and x, y, z; 6 N move 2 kg


def test_a_busy_port_is_skipped_and_closing_leaves_nothing():
    run, before = runs_to_show.pendulum(), set(threading.enumerate())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        viewer = show.view(run, show=["bodies"], plots=[], port=port, browser=False, block=False)
        own = viewer.page.server.get_port()
        assert own != port
        assert viewer.page.server.get_host() == "127.0.0.1"
        with socket.create_connection(("127.0.0.1", own), timeout=5):
            pass
        viewer.close()
        viewer.close()  # a second time has no effect
    assert eventually(lambda: not any(t.is_alive() for t in set(threading.enumerate()) - before), 10.0)
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", own)) != 0


def test_waiting_ends_when_the_page_is_closed(chromium, monkeypatch):
    monkeypatch.setattr("poinsot.show.page.GRACE", 0.3)
    with show.view(runs_to_show.pendulum(), show=["bodies"], plots=[], port=0, browser=False, block=False) as viewer:
        waiting = threading.Thread(target=viewer.wait)
        waiting.start()
        clock.sleep(0.6)
        assert waiting.is_alive()  # no page was opened yet
        page = chromium.new_page()
        page.goto(viewer.url)
        assert eventually(lambda: len(viewer.page.server.get_clients()) > 0)
        page.close()
        waiting.join(20.0)
        assert not waiting.is_alive()
