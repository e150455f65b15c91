"""How long pictures take: a still, a frame of a film at 1280 x 720, a scene of 1000 arms, a key until its picture;
also in processor time, and beside it the floor: what the same page costs with nothing in it.

python benchmarks/pictures.py
"""

import os
import tempfile
import time as clock
import warnings
from pathlib import Path

import numpy as np

import poinsot as pt
from poinsot.show.chromium import Tab, tab

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZE = (1280, 720)
DRAW = """(() => {{ const s = poinsot.stage, g = s.renderer.getContext(), p = new Uint8Array(4);
for (let i = 0; i < {n}; i++) {{ s.draw(1 + 0.01 * i); g.readPixels(0, 0, 1, 1, g.RGBA, g.UNSIGNED_BYTE, p); }}
return s.renderer.info.render.triangles; }})()"""

EMPTY = "for (const layer of Object.values(poinsot.stage.layers)) layer.group.visible = false"


def used(pid: int) -> float:
    """Processor seconds of a process and all below it."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields[int(path.parent.name)] = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
    own = {pid}
    for _ in range(8):
        own |= {p for p, f in fields.items() if int(f[1]) in own}
    ticks = sum(int(fields[p][11]) + int(fields[p][12]) for p in own if p in fields)
    return ticks / os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Processor seconds of this process and of those that it started and that have ended."""
    return float(sum(os.times()[:4]))


def drawn(page: Tab, count: int = 12) -> tuple[float, float, int]:
    """Wall and processor seconds per picture, the best of three turns, and the triangles in it."""
    pid, turns = page.pipe.process.pid, []
    triangles = int(page.evaluate(DRAW.format(n=2)))
    for _ in range(3):
        wall, before = clock.perf_counter(), used(pid)
        page.evaluate(DRAW.format(n=count))
        turns.append(((clock.perf_counter() - wall) / count, (used(pid) - before) / count))
    return min(t[0] for t in turns), min(t[1] for t in turns), triangles


def arms(count: int = 1000) -> pt.Run:
    """Copies of the robot arm of the examples, with their elbows at different angles."""
    world = pt.load_scenario(EXAMPLES / "robot-arm.toml").world
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (count, 1))
    return world.simulate(3.96, 1e-3, every=0.066, batch=count, vary={"turret.q": q}, ledger=False)


def keys(count: int = 20) -> None:
    """The time from a key to its picture in a flight, and what a picture of it costs alone."""
    scenario = pt.load_scenario(EXAMPLES / "circuit.toml")
    options = {"port": 0, "browser": False, "block": False}
    with scenario.world.fly(step=scenario.options["step"], **scenario.fly, **options) as flight, tab() as page:
        size = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.call("Page.navigate", url=flight.url)
        page.wait("window.poinsot?.player.drawn > 30")
        for k in range(2 * count):
            kind = "keyUp" if k % 2 else "keyDown"
            page.call("Input.dispatchKeyEvent", type=kind, code="ArrowLeft", key="ArrowLeft")
            clock.sleep(0.1)
        late = np.sort(page.evaluate("poinsot.rates().latencies"))
        flight.page.ask(lambda: setattr(flight.page.loop, "paused", True))
        whole = drawn(page)
        page.evaluate(EMPTY)
        floor = drawn(page)
    print(
        f"a key to its picture: {np.median(late):.1f} ms (median of {len(late)}), {late[0]:.1f} ms at best", flush=True
    )
    print("a picture of that page: {:.4f} s, {:.4f} s of processor time".format(*whole))
    print("floor: the same without things in it: {:.4f} s, {:.4f} s of processor time".format(*floor), flush=True)


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = pt.load_scenario(EXAMPLES / "fighter.toml").run(progress=False)
    with tempfile.TemporaryDirectory() as folder:
        stills, films = [], []
        for _ in range(3):
            start = clock.perf_counter(), spent()
            run.snapshot(Path(folder) / "still.png", 8.5, size=SIZE)
            stills.append((clock.perf_counter() - start[0], spent() - start[1]))
        print("a still: {:.2f} s, {:.2f} s of processor time".format(*np.min(stills, axis=0)), flush=True)
        for frames in (5, 45):
            start = clock.perf_counter(), spent()
            run.animate(Path(folder) / "film.gif", size=SIZE, fps=10, speed=1.0, end=frames / 10, progress=False)
            films.append((clock.perf_counter() - start[0], spent() - start[1]))
        each = np.diff(films, axis=0)[0] / 40
        print("a frame of a film: {:.3f} s, {:.3f} s of processor time".format(*each), flush=True)
        path = arms().to_html(Path(folder) / "arms.html", ghosts=999, side_by_side=1.2, plots=[])
        with tab() as page:
            page.open(path, *SIZE)
            page.wait("window.poinsot?.player.drawn > 0")
            page.evaluate("poinsot.player.playing = false")
            wall, used_up, triangles = drawn(page)
            page.evaluate(EMPTY)
            floor = drawn(page)
        print(f"1000 arms, {triangles} triangles: {wall:.3f} s per picture, {used_up:.3f} s of processor time")
        print("floor: an empty page of that size: {:.3f} s, {:.3f} s of processor time".format(*floor), flush=True)
        keys()
        print(f"the machine's load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
