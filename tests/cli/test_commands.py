"""The command line: what each command does, its exit code, and what it writes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest

import poinsot as pt
from poinsot.cli import main
from poinsot.cli.commands import COMMANDS
from poinsot.cli.finding import examples
from poinsot.cli.templates import TEMPLATES
from poinsot.files.written import fitting_names
from poinsot.show.document import ledger_rows

SPIN = """
title = "Spin"
[run]
duration = 0.5
step = 0.01
[show]
draw = "box.position.z"
[[body]]
name = "box"
velocity = [1, 0, 2]
angular_velocity = [1, 5, 0]
shape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 2 }]
[sweep]
samples = 20
[sweep.vary]
"box.mass" = "normal(2 kg, 0.1 kg)"
"box.velocity[2]" = "1:3:3"
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test in a folder of its own, with a scenario, on a screen of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "spin.toml").write_text(SPIN)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command prints; its exit code must be this one."""
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    return captured.err if code == 2 else captured.out


# run


def test_the_default_is_the_t_handle_that_flips(capsys, here):
    out = said(capsys, "run", "--no-html")
    assert re.search(r"It flipped 6 times, every 10\.\d+ s", out)
    assert "●" in out
    run = pt.load_run(here / "results" / "t-handle.nc")
    assert np.all(run.ledger.relative_residual < 1e-12)  # rounding of 60,000 steps


def test_run_writes_results_and_tells_where(capsys, here):
    out = said(capsys, "run", "spin.toml", "--out", "x.nc", "--plot", "--no-html")
    assert "results  x.nc" in out
    assert "picture  x.png" in out
    assert (here / "x.png").stat().st_size > 10_000
    assert "angular momentum" in out
    assert pt.load_run("x.nc").time[-1] == 0.5


def test_run_writes_a_replay(capsys, here):
    assert "replay   results/spin.html" in said(capsys, "run", "spin.toml", "--html")
    assert (here / "results" / "spin.html").stat().st_size > 100_000


def test_cameras_are_checked_before_anything_runs(capsys, here):
    for command in (("run", "spin.toml"), ("run", "spin.toml", "--set", "show.camera=chse")):
        code = main([*command, "--camera", "chse box"] if len(command) == 2 else list(command))
        assert code == 2
        assert "did you mean 'chase'" in capsys.readouterr().err
        assert not (here / "results").exists()
    assert "replay" in said(capsys, "run", "spin.toml", "--html", "--camera", "orbit box")
    assert '"kind":"orbit","body":0' in (here / "results" / "spin.html").read_text(encoding="utf-8")


def test_numbers_can_be_set(capsys):
    said(
        capsys, "run", "spin.toml", "-q", "--set", "run.duration=200 ms", "--set", "box.mass=3 kg", "--set", "gravity=0"
    )
    run = pt.load_run("results/spin.nc")
    assert run.time[-1] == 0.2
    assert run.world["box.mass"] == 3.0
    assert run.data.velocity.values[-1, 0, 2] == pytest.approx(2.0, rel=1e-14)


def test_quiet_prints_names_alone(capsys):
    assert said(capsys, "run", "spin.toml", "--quiet") == "results/spin.nc\n"


def test_json_is_one_object(capsys):
    data = json.loads(said(capsys, "run", "spin.toml", "--json"))
    assert data["stop"]["reason"] == "duration"
    assert data["ledger"]["mass"]["initial"] == 2.0
    z = data["final"]["box"]["position"][2]
    assert z == pytest.approx(2 * 0.5 - 9.81 * 0.125, rel=1e-12)
    assert pt.load_run(data["results"]).data.position.values[-1, 0, 2] == z


def test_a_run_that_breaks_ends_with_1(capsys, here):
    (here / "wild.toml").write_text(
        SPIN.partition("[sweep]")[0] + '[[body.force]]\nname = "f"\nvalue = "1e3*velocity*speed**3"\n'
    )
    out = said(capsys, "run", "wild.toml", code=1)
    assert re.search(r"The run ended: .* became (nan|inf|-inf) at t = ", out)


def test_a_limit_that_is_passed_ends_with_1(capsys, here):
    (here / "limit.toml").write_text(
        SPIN.partition("[sweep]")[0]
        + '[[body]]\nname = "arm"\nparent = "box"\nplacement = [0.2, 0, 0]\n'
        + 'shape = [{ kind = "sphere", radius = 0.1, mass = 1 }]\n[[cut]]\nname = "root"\nbody = "arm"\n'
        + '[[limit]]\nname = "weld"\ncut = "root"\nbody = "arm"\nshear = "0.1 N"\naxial = "1 N"\n'
    )
    assert "weld" in said(capsys, "run", "limit.toml", code=1)


def test_a_condition_ends_a_run_with_0(capsys):
    out = said(capsys, "run", "spin.toml", "--set", "run.until=altitude < 0", "--no-html")
    assert "The run ended: the condition was met at t = 0.4077" in out  # 2 v/g


def test_wrong_input_ends_with_2_and_tells_all(capsys, here):
    (here / "bad.toml").write_text(SPIN.replace("mass = 2", "mass = -2").replace("duration", "durration"))
    err = said(capsys, "run", "bad.toml", code=2)
    assert len(err.splitlines()) == 3
    assert "bad.toml:4: run.durration: there is no such key; did you mean 'duration'?" in err
    assert not (here / "results").exists()


def test_errors_as_json(capsys):
    assert main(["run", "spin.toml", "--json", "--set", "run.step=3 kg"]) == 2
    [message] = json.loads(capsys.readouterr().out)["errors"]
    assert message.endswith('run.step = "3 kg": that is a mass; expected a time [s], such as "20 ms".')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nothing.toml"), "there is no file 'nothing.toml', nor an example of that name"),
        (("run", "t-handel"), "did you mean 't-handle'?"),
        (("run", "spin.toml", "--set", "run.duration"), "expected path=value"),
        (("run", "spin.toml", "--out", "no/x.nc"), "the folder 'no' does not exist"),
        (("run", "spin.toml", "--out", "x.txt"), "a run is stored as .nc (NetCDF) or .zarr"),
        (("info", "nothing.nc"), "there is no file 'nothing.nc'"),
        (("info", "spin.toml"), "a run is stored as"),
        (("plot", "nothing.nc"), "there is no file"),
        (("convert", "nothing.nc", "x.csv"), "there is no file"),
        (("convert", "spin.toml", "x.csv"), "cannot be converted to"),
        (("new", "x", "--kind", "rokcet"), "did you mean 'rocket'?"),
        (("new", "spin"), "'spin.toml' already exists"),
        (("sweep", "spin.toml", "--vary", "box.mass=1:2"), "expected"),
        (("sweep", "spin.toml", "--engine", "spark"), "engine must be one of local, dask"),
        (("sweep", "spin.toml", "--device", "gpu"), "device must be 'cpu' or 'cuda', not 'gpu'"),
        (("examples", "nothing"), "nor an example of that name"),
        (("swim",), "No such command 'swim'"),
        (("run", "--fast"), "No such option"),
    ],
)  # fmt: skip
def test_wrong_use_is_told(arguments, message, capsys):
    assert message in said(capsys, *arguments, code=2).replace("\n", " ")


# check, new, examples, schema


def test_check_shows_the_system(capsys):
    out = said(capsys, "check", "spin.toml")
    assert "box  free, 2 kg" in out
    assert "a step of 0.01 s is fine" in " ".join(out.split())
    data = json.loads(said(capsys, "check", "spin.toml", "--json"))
    assert data["bodies"] == ["box"]
    assert data["step"]["fine"] is True


def test_check_tells_of_a_long_step(capsys):
    out = said(capsys, "check", "double-pendulum", "--set", "run.step=0.05", code=1)
    assert "a step of 0.05 s is far too long" in out
    assert "try 0.005 s" in out


@pytest.mark.parametrize("kind", TEMPLATES)
def test_every_template_can_be_run(kind, capsys):
    assert said(capsys, "new", "mine", "--kind", kind, "-q") == "mine.toml\n"
    said(capsys, "run", "mine.toml", "-q", "--set", "run.duration=0.05")
    lines = Path("mine.toml").read_text().splitlines()
    assert sum("#" in line for line in lines) >= 3


def test_examples_are_listed_and_copied(capsys, here):
    assert said(capsys, "examples", "-q").split() == list(examples())
    assert all(name in said(capsys, "examples") for name in examples()), "a list for people is whole, too"
    assert len(examples()) >= 12
    said(capsys, "examples", "robot-arm", "--copy")
    assert (here / "arm.urdf").is_file()
    said(capsys, "run", "robot-arm.toml", "-q", "--set", "run.duration=0.01")


def test_schema(capsys, here):
    assert json.loads(said(capsys, "schema"))["title"] == "Scenario"
    said(capsys, "schema", "--out", "s.json")
    assert "spring" in json.loads((here / "s.json").read_text())["properties"]


# results


def test_info_plot_and_convert(capsys, here):
    said(capsys, "run", "spin.toml", "-q")
    out = said(capsys, "info", "results/spin.nc")
    assert "51 records" in out
    assert "angular_velocity" in out
    assert json.loads(said(capsys, "info", "results/spin.nc", "--json"))["records"] == 51
    said(capsys, "plot", "results/spin.nc", "box.position", "box.angular_velocity.x", "energy", "--out", "p.png")
    assert (here / "p.png").stat().st_size > 10_000
    said(capsys, "convert", "results/spin.nc", "spin.csv")
    head, first, *_ = (here / "spin.csv").read_text().splitlines()
    assert head.startswith("time [s],box.position.x [m]")
    assert first.startswith("0.0,0.0")
    said(capsys, "convert", "results/spin.nc", "spin.zarr")
    assert np.array_equal(pt.load_run("spin.zarr").y, pt.load_run("results/spin.nc").y)


def test_plots_of_margins_and_polhodes(capsys, here):
    said(capsys, "run", "breaking-wing", "-q", "--set", "run.duration=0.1")
    said(capsys, "plot", "results/breaking-wing.nc", "margins", "polhode", "--out", "p.png")
    assert (here / "p.png").stat().st_size > 10_000
    said(capsys, "run", "spin.toml", "-q")
    assert "this world has no limits" in said(capsys, "plot", "results/spin.nc", "margins", code=2)


def test_convert_a_robot(capsys, here):
    source = examples()["robot-arm"].with_name("arm.urdf")
    said(capsys, "convert", str(source), "arm.toml", "-q")
    said(capsys, "run", "arm.toml", "-q", "--set", "run.duration=0.05")
    assert pt.load_run("results/arm.nc").world.mechanism.nv == 3


def test_a_run_needs_no_sweeps(here):
    """Nor the packages that sweeps need: Zarr, Dask."""
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('zarr', 'dask', 'distributed')))\n"  # as if not installed
        "from poinsot.cli import main; code = main(['run', 'spin.toml', '--no-html']); print(code, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == "0"
    assert not {"poinsot.study.sweeps", "poinsot.study.swept", "poinsot.show.quantiles"} & set(modules)


def test_help_loads_no_physics():
    program = "import sys; from poinsot.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.splitlines()[-1].split() if name.startswith("poinsot.")}
    assert {name for name in rooms if not name.startswith("_")} == {"cli"}


# sweep, bench


def test_sweep(capsys, here):
    out = said(capsys, "sweep", "spin.toml", "--samples", "10")
    assert "30 of 30 runs over box.mass, box.velocity[2]" in " ".join(out.split())
    assert (here / "results" / "spin-sweep.png").stat().st_size > 10_000
    found = pt.load_sweep("results/spin.zarr")
    assert np.allclose(found.at_end("box.position.z"), 0.5 * found.varied["box.velocity[2]"] - 9.81 * 0.125, atol=1e-12)
    data = json.loads(said(capsys, "sweep", "spin.toml", "--samples", "10", "--json"))  # all of it is there
    assert data["done"] == 30
    assert data["statistics"]["box.position.z"]["mean"] == pytest.approx(
        np.mean(found.at_end("box.position.z")), rel=1e-15
    )
    assert data["influences"]["box.position.z"]["box.velocity[2]"] > 0.9
    assert "30 of 30 runs" in said(capsys, "info", "results/spin.zarr")
    said(capsys, "convert", "results/spin.zarr", "mc.csv")
    table = pandas.read_csv("mc.csv")
    last = table[table["time [s]"] == table["time [s]"].max()]
    assert np.allclose(last["box.position.z [m]"], found.at_end("box.position.z"), rtol=1e-15)
    assert np.allclose(last["box.mass"], found.varied["box.mass"], rtol=1e-15)
    assert list(last["batch"]) == list(range(30))
    said(capsys, "convert", "results/spin.zarr", "mc.parquet")
    same = pandas.read_parquet("mc.parquet")
    assert list(same.columns) == list(table.columns)
    assert np.array_equal(same.to_numpy(), table.to_numpy())
    said(capsys, "plot", "results/spin.zarr", "box.velocity.z", "--out", "q.png")
    assert (here / "q.png").is_file()


def test_a_sweep_that_is_reduced(capsys, here):
    """Moments and quantiles of a throw whose height is known; the same command goes on, another is refused."""
    fixed = SPIN.replace('"1:3:3"', '"uniform(1, 3)"') + '[outputs]\nz = "final(position[2])"\n'
    (here / "throw.toml").write_text(fixed)
    command = ("sweep", "throw.toml", "--reduce", "--samples", "3000")
    out = " ".join(said(capsys, *command).split())
    assert "3,000 runs over box.mass, box.velocity[2]" in out
    assert "mean std least 5 % 50 % 95 % most" in out
    told = json.loads((here / "results" / "throw-reduced" / "summary.json").read_text())
    of = told["statistics"]["z"]
    assert (told["runs"], told["finite"], told["broken"]) == (3000, 3000, 0)
    middle = 0.5 * 2.0 - 9.81 * 0.125  # of a number spread evenly over 1 m
    assert of["mean"] == pytest.approx(middle, abs=4 * 0.2887 / np.sqrt(3000))
    assert of["std"] == pytest.approx(0.2887, rel=0.03)
    assert of["5 %"] == pytest.approx(middle - 0.45, abs=0.03)
    assert told["covariance"][0][0] == pytest.approx(of["std"] ** 2, rel=1e-12)
    highest = told["extremes"]["z"]["most"][0]
    assert highest["value"] == pytest.approx(0.5 * highest["numbers"]["box.velocity[2]"] - 9.81 * 0.125, abs=1e-12)
    (here / "results" / "throw-reduced" / "chunk-00000001.json").unlink()  # as if it had been stopped
    again = json.loads(said(capsys, *command, "--json"))
    assert again["statistics"] == told["statistics"]
    assert "holds another sweep" in said(capsys, *command, "--seed", "1", code=2)
    assert "3,000 runs" in said(capsys, *command, "--seed", "1", "--fresh")
    assert "only outputs are kept; did you mean 'z'" in said(capsys, *command, "--what", "zz", code=2)
    assert "give a table [outputs]" in said(capsys, "sweep", "spin.toml", "--reduce", code=2)
    ranges = (*command, "--vary", "box.velocity[2]=1:3:3")
    assert "draws all numbers" in said(capsys, *ranges, "--fresh", code=2)
    assert "chunk=5 must be a whole number of blocks" in said(capsys, *command, "--chunk", "5", code=2)


def test_a_sweep_is_viewed_as_a_page(capsys, here, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    (here / "spin.toml").write_text(SPIN.replace('name = "box"', 'name = "<b>box"').replace("box.", "<b>box."))
    said(capsys, "sweep", "spin.toml", "--samples", "5", "--no-plot", "--quiet")
    assert "spin-sweep.html" in said(capsys, "view", "results/spin.zarr")
    assert opened == [(here / "results" / "spin-sweep.html").as_uri()]
    said(capsys, "view", "results/spin.zarr")
    assert opened[1].endswith("/spin-sweep-2.html")
    said(capsys, "view", "results/spin.zarr", "--html", "page.html")
    assert len(opened) == 2
    page = (here / "page.html").read_text()
    mean = pt.load_sweep("results/spin.zarr").statistics("<b>box.position.z")["mean"]
    assert f"<td>{mean:.4g}</td>" in page
    assert "15 of 15 instances" in page
    assert page.count("<svg") == 2
    assert "<b>" not in page
    assert "&lt;b&gt;box.position.z" in page


def test_a_sweep_without_positions_is_plotted(capsys, here):
    said(capsys, "sweep", "spin.toml", "--samples", "2", "--set", 'sweep.record=["velocity"]')
    assert (here / "results" / "spin-sweep.png").stat().st_size > 10_000
    out = said(capsys, "sweep", "spin.toml", "--samples", "2", "--set", 'sweep.record=["posiion"]', code=2)
    assert "did you mean 'position'" in out.replace("\n", " ")


def test_a_sweep_on_the_gpu_needs_one(capsys, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # as if it were not installed
    out = said(capsys, "sweep", "spin.toml", "--device", "cuda", code=2)
    assert "needs the package 'cupy': pip install 'poinsot[cuda]'" in out.replace("\n", " ")
    runtime = SimpleNamespace(CUDARuntimeError=RuntimeError, getDeviceCount=lambda: 0)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))  # or without a GPU
    out = said(capsys, "sweep", "spin.toml", "--device", "cuda", code=2)
    assert "error: --device cuda: no GPU was found" in out.replace("\n", " ")
    assert not list((here / "results").glob("*.zarr"))  # nothing was begun


def test_a_sweep_names_its_device(capsys, monkeypatch):
    given: list[Any] = []

    def swept(*_: Any, **options: Any) -> None:
        given.append(options.get("device"))
        raise KeyboardInterrupt

    monkeypatch.setattr("poinsot.study.sweeps.sweep", swept)
    monkeypatch.setattr("poinsot.fuse.cuda.launch.cupy", lambda: None)
    for device in ((), ("--device", "cpu"), ("--device", "cuda")):
        said(capsys, "sweep", "spin.toml", *device, code=1)
    assert given == [None, None, "cuda"]


@pytest.mark.slow
def test_a_sweep_that_was_killed_goes_on(capsys, here):
    arguments = [
        "sweep",
        "spin.toml",
        "--samples",
        "4000",
        "--chunk",
        "500",
        "--set",
        "run.step=1e-4",
        "--no-plot",
        "-q",
    ]
    child = subprocess.Popen([sys.executable, "-m", "poinsot.cli", *arguments])
    marks = here / "results" / "spin.zarr" / "done"
    while not list(marks.glob("[0-9]*")) and child.poll() is None:
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    kept = pt.load_sweep("results/spin.zarr")
    assert 0 < kept.done < kept.n
    said(capsys, *arguments)
    whole = pt.load_sweep("results/spin.zarr")
    assert whole.done == whole.n == 12_000
    assert np.isfinite(whole.data.position.values).all()


def test_a_sweep_that_is_interrupted_says_so(capsys, monkeypatch):
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("poinsot.study.sweeps.work", interrupted)
    assert main(["sweep", "spin.toml"]) == 1
    assert "the same command continues from there" in " ".join(capsys.readouterr().err.split())


def test_view_waits_for_the_viewer(capsys, monkeypatch):
    seen: list[str] = []

    class Viewer:
        def wait(self) -> None:
            seen.append("waited")

    monkeypatch.setattr(pt.Run, "view", lambda run, **_: seen.append(f"{len(run.time)} records") or Viewer())
    said(capsys, "run", "spin.toml", "-q", "--view")
    said(capsys, "view", "results/spin.nc")
    assert seen == ["51 records", "waited"] * 2


def test_view_writes_one_file(capsys):
    said(capsys, "run", "spin.toml", "-q", "--no-html")
    said(capsys, "view", "results/spin.nc", "--html", "replay.html")
    assert "<html" in Path("replay.html").read_text(encoding="utf-8")[:2000].lower()


JET = """
[run]
duration = 1
step = 0.01
[inputs]
throttle = 0
[[body]]
name = "box"
shape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 2 }]
[[force]]
name = "jet"
body = "box"
value = "[0, 0, 30*throttle]"
"""


def test_what_was_flown_is_kept_and_runs_again(capsys, monkeypatch):
    """A key is held for 0.2 s; the inputs are kept as a table, and `run --flight` and `convert` take them."""

    def held(flight):
        flight.page.ask(lambda: flight.stick.press(["KeyW"]))
        for _ in range(20):
            flight.page.ask(flight.page.loop.step)
        flight.page.close()
        ends.append(flight.sim.end.y)

    ends: list[Any] = []
    monkeypatch.setattr("poinsot.show.Flight.wait", held)
    Path("jet.toml").write_text(JET)
    fly = ("fly", "jet.toml", "--no-browser", "--port", "0", "--save")
    out = said(capsys, *fly, "flight.csv")
    assert "Run it again with: poinsot run jet.toml --flight flight.csv" in out
    assert "flown, 20 changes" in out
    said(capsys, "run", "jet.toml", "--flight", "flight.csv", "-q", "--no-html")
    assert np.array_equal(pt.load_run("results/jet.nc").y[-1][: len(ends[0])], ends[0])
    said(capsys, "sweep", "jet.toml", "--flight", "flight.csv", "--vary", "box.mass=1:3:3", "-q", "--no-plot")
    said(capsys, *fly, "flown.nc", "-q")
    assert np.array_equal(pt.load_run("flown.nc").y[-1][: len(ends[1])], ends[1])
    said(capsys, "convert", "flown.nc", "flown.csv")
    assert "flight.csv" in said(capsys, *fly, "flight.csv", code=2)  # it exists
    assert "is kept as .csv, .nc, .zarr" in said(capsys, *fly, "flight.txt", code=2)
    Path("spin2.toml").write_text(SPIN)
    assert "no input that a pilot could move" in said(capsys, "fly", "spin2.toml", "--no-browser", code=2)


def test_live_gives_the_world_and_its_free_numbers(capsys, monkeypatch):
    seen: dict[str, Any] = {}
    monkeypatch.setattr("poinsot.show.live", lambda world, **options: seen.update(options, world=world))
    said(capsys, "run", "spin.toml", "--live", "--free", "box.mass")
    assert isinstance(seen["world"], pt.World)
    assert seen["free"] == ["box.mass"]
    assert seen["block"]
    assert not Path("results").exists()


def test_bench(capsys):
    data = json.loads(said(capsys, "bench", "spin.toml", "--batch", "8", "--json"))
    assert all(row["steps_per_s"] > 1e4 for row in data["measured"])


# Screens


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_an_example_and_fits(command, capsys):
    out = said(capsys, *([command] if command else []), "--help")
    assert f"Example: poinsot {command}".strip() in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("example", ["t-handle", "robot-arm", "fuel-transfer"])
def test_screens_fit(example, columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    out = said(capsys, "run", example, "--no-html", "--set", "run.duration=5")
    main(["check", example])
    out += capsys.readouterr().out
    out += said(capsys, "info", f"results/{example}.nc")
    assert max(map(len, out.splitlines())) <= columns


def test_no_colours_where_there_is_no_terminal(capsys):
    assert "\x1b" not in said(capsys, "run", "spin.toml", "--no-html")


def test_version(capsys):
    first, *machine = said(capsys, "--version").splitlines()
    assert first == f"poinsot {pt.__version__}"
    told = dict(line.split(maxsplit=1) for line in machine)
    assert list(told) == ["python", "processor", "vectors", "threads", "GPU"]
    assert told["threads"] == str(pt.fuse.threads())
    assert f"{pt.fuse.llvm.target.host().vector_bytes // 8} doubles" in told["vectors"]


def test_the_shell_command_and_its_exit_code(here):
    command = [sys.executable, "-m", "poinsot.cli", "run", "nothing.toml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no file 'nothing.toml'")


def test_a_run_does_not_overwrite_the_one_before(here, capsys):
    assert said(capsys, "run", "spin.toml", "--quiet") == "results/spin.nc\n"
    first = (here / "results" / "spin.nc").read_bytes()
    changed = ("run", "spin.toml", "--quiet", "--set", "run.duration=0.1")
    assert said(capsys, *changed) == "results/spin-2.nc\n"
    assert said(capsys, *changed) == "results/spin-3.nc\n"
    assert (here / "results" / "spin.nc").read_bytes() == first
    assert said(capsys, *changed, "--overwrite") == "results/spin.nc\n"
    assert (here / "results" / "spin.nc").read_bytes() != first


def test_nothing_is_replaced_without_leave(here, capsys, tmp_path):
    """A file given by name must not exist, and is refused before any work; a name by default takes a number."""
    said(capsys, "run", "spin.toml", "--quiet", "--out", "a.nc")
    (here / "robot.urdf").write_text("<robot name='r'><link name='l'/></robot>")
    mine = b"mine"
    for name in ("x.nc", "x.png", "x.html", "x.csv", "x.toml", "x.json", "a.png", "arm.urdf"):
        (here / name).write_bytes(mine)
    commands = [
        ("run", "spin.toml", "--out", "x.nc"),
        ("run", "spin.toml", "--out", "y.nc", "--plot"),
        ("run", "spin.toml", "--out", "z.nc", "--html"),
        ("plot", "a.nc", "--out", "x.png"),
        ("view", "a.nc", "--html", "x.html"),
        ("convert", "a.nc", "x.csv"),
        ("convert", "a.nc", "x.nc"),
        ("convert", "robot.urdf", "x.toml"),
        ("schema", "--out", "x.json"),
    ]
    (here / "y.png").write_bytes(mine)
    (here / "z.html").write_bytes(mine)
    for command in commands:
        error = said(capsys, *command, code=2).replace("\n", " ")
        assert re.search(r"'[xyz]\.\w+' already exists; choose another name, or replace it with --overwrite", error)
    assert "already exists; move it first" in said(capsys, "examples", "robot-arm", "--copy", code=2)
    assert not (here / "robot-arm.toml").exists()
    assert said(capsys, "plot", "a.nc", "--quiet") == "a-2.png\n"
    for path in here.glob("[xyz].*"):
        assert path.read_bytes() == mine
    assert (here / "a.png").read_bytes() == (here / "arm.urdf").read_bytes() == mine
    said(capsys, "convert", "a.nc", "x.csv", "--force", "--quiet")
    said(capsys, "plot", "a.nc", "--out", "x.png", "--overwrite", "--quiet")
    assert mine not in ((here / "x.csv").read_bytes(), (here / "x.png").read_bytes())


def test_a_ledger_that_does_not_close_is_told_by_the_exit_code(capsys, here):
    coarse = ("--set", "run.method='euler'", "--set", "run.step='50 ms'")
    out = said(capsys, "run", "spin.toml", "--no-html", *coarse, code=1)
    assert "The ledger does not close" in out


ROBOT = """<robot name="r"><link name="base"/><link name="world"/>
<link name="upper arm.1"><inertial><mass value="1"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.01"/></inertial></link>
<joint name="f" type="fixed"><parent link="base"/><child link="world"/></joint>
<joint name="j" type="revolute"><parent link="world"/><child link="upper arm.1"/><axis xyz="0 0 1"/>
<limit lower="0.5" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_a_converted_robot_is_the_robot(capsys, here):
    """Names that do not fit are changed, what was mended is told even if quiet, limits act, and it can be run."""
    for name in ("r.urdf", "r.URDF", "r.xml"):
        (here / name).write_text(ROBOT)
        assert main(["convert", name, f"{name}.toml", "--quiet"]) == 0
        captured = capsys.readouterr()
        assert captured.out == f"{name}.toml\n"
        assert "link 'upper arm.1': principal moments 0.001, 0.001, 0.01 kg m^2; now principal" in captured.err
        assert "link 'upper arm.1' is now 'upper_arm_1'" in captured.err
        assert "link 'world' is now 'world1'" in captured.err
    world = pt.load_scenario("r.xml.toml").world
    assert list(world.description.bodies) == ["base", "world1", "upper_arm_1"]
    with pytest.warns(UserWarning, match="were mended"):
        mech = pt.load_urdf("r.urdf")
    other = pt.World(gravity=mech.gravity)
    other.add_mechanism(fitting_names(mech)[0])
    assert np.array_equal(world.simulate(0.1).y, other.simulate(0.1).y)
    assert world.description.bodies["upper_arm_1"].q == 0.5
    assert "no body has these mass properties" in said(
        capsys, "convert", "r.urdf", "e.toml", "--repair", "error", code=2
    ).replace("\n", " ")
    said(capsys, "convert", "r.urdf", "n.toml", "--repair", "never")
    assert 'check = "never"' in (here / "n.toml").read_text()
    assert "must be one of 'warn'" in said(capsys, "convert", "r.urdf", "m.toml", "--repair", "maybe", code=2)


@pytest.mark.parametrize("notes", ["{bad", "[1]", '{"kind": "sweep"}', "\0"])
def test_a_folder_that_is_not_a_result_is_told_by_name(capsys, here, notes):
    (here / "d.zarr").mkdir()
    (here / "d.zarr" / ".zattrs").write_text(notes)
    for command in (("info", "d.zarr"), ("plot", "d.zarr"), ("view", "d.zarr"), ("convert", "d.zarr", "d.csv")):
        assert "d.zarr' is not a run saved by Poinsot" in said(capsys, *command, code=2).replace("\n", " ")


def test_a_quantity_that_is_misspelt_fails_before_the_sweep(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "rocket", "--samples", "2", "--what", "rocket.position.zz", "--out", "some.zarr"]) == 2
    assert "'rocket.position.zz' was not recorded; did you mean 'rocket.position.z'?" in capsys.readouterr().err
    assert not (tmp_path / "some.zarr").exists()


def test_a_file_that_is_misspelt_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    for name in ("results/rocket.nc", "results/mc.zarr", "arm.urdf", "wing.toml"):
        (tmp_path / name).write_text("")
    for command, near in (
        (("info", "results/rokcet.nc"), "results/rocket.nc"),
        (("view", "results/rokcet.nc"), "results/rocket.nc"),
        (("convert", "results/rokcet.nc", "a.csv"), "results/rocket.nc"),
        (("info", "results/mcc.zarr"), "results/mc.zarr"),
        (("convert", "amr.urdf", "a.toml"), "arm.urdf"),
        (("run", "wnig.toml"), "wing.toml"),
    ):
        assert main(list(command)) == 2
        assert f"did you mean '{near}'?" in capsys.readouterr().err


def test_the_ledger_has_signs_and_adds_up(capsys, tmp_path):
    """Mass that is lost and energy that is taken are negative, for people, scripts and in the replay."""
    changes = ["--set", "run.duration=1", "--out", "x.nc"]
    table = said(capsys, "run", "rocket", *changes, "--no-html")
    initial, final, inflow, _ = (float(x) for x in re.search(r"\n mass +(.+?) +kg", table)[1].split())
    assert inflow < 0
    assert abs(initial + inflow - final) < 1e-4
    kept = json.loads(said(capsys, "info", "x.nc", "--json"))["ledger"]
    for name in ("mass", "energy"):
        row = kept[name]
        assert row["initial"] + row["inflow"] + row["residual"] == pytest.approx(row["final"], rel=1e-14)
    world = pt.World()
    world.add_body("stone", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, -5.0), velocity=(1.0, 0, 0))
    world.add_force("drag", "stone", lambda t, scene: -scene["stone"].velocity)
    *_, energy = ledger_rows(world.simulate(0.1, 1e-2), 0)["rows"]
    assert [float(x) < 0 for x in energy[1:4]] == [True, True, True]
