"""Sweeps that are reduced: the same bits however they are cut and whoever works, near what stored ones say."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from shutil import which

import numpy as np
import pytest

import cupy_on_host
import poinsot as pt
from poinsot.run import simulation
from poinsot.study import reduced
from poinsot.study.exact_sums import exact_sum, rounded
from poinsot.study.summaries import Summary

OUTPUTS = {"top": "max(ball.position.z)", "reach": "final(ball.position.x)"}
VARY = {"ball.velocity[2]": pt.Normal(10.0, 1.0), "ball.velocity[0]": pt.Uniform(1.0, 5.0)}


@pytest.fixture(scope="module")
def world():
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), velocity=(3.0, 0.0, 10.0))
    return world


def swept(world, folder, **options):
    options = {"samples": 5000, "chunk": 2048, "seed": 3, **options}
    return pt.sweep_reduced(world, VARY, 0.5, 0.05, outputs=OUTPUTS, save=folder, progress=False, **options)


def test_exact_sums():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000) * 10.0 ** rng.integers(-300, 300, 2000)
    both = np.concatenate([x, -x, [5e-324, 1e308, -1e308]])
    assert rounded(exact_sum(both)) == 5e-324
    assert exact_sum(x) == exact_sum(x[:700]) + exact_sum(x[700:][::-1])
    assert rounded(exact_sum(np.full(10, 0.1))) == 1.0
    assert exact_sum(np.zeros(0)) == 0
    many = rng.normal(size=2**18 + 100)
    assert rounded(exact_sum(many)) == math.fsum(many)
    largest = np.full(2**18, np.nextafter(2.0, 0.0))  # all bits of all mantissas
    assert exact_sum(np.append(largest, -largest[:-1])) == exact_sum(largest[:1])


def test_summaries_against_numpy():
    rng = np.random.default_rng(1)
    x, y = rng.normal(3.0, 2.0, 20_000), rng.lognormal(size=20_000)
    edges = np.linspace(-3, 9, 13)
    total = Summary(("x", "y"), {"x": edges})
    for first in (15_000, 0, 5_000, 10_000):
        part = Summary(("x", "y"), {"x": edges})
        part.add({"x": x[first : first + 5000], "y": y[first : first + 5000]}, first)
        total.merge(Summary.from_bytes(part.to_bytes()))
    np.testing.assert_allclose([total.mean("x"), total.mean("y")], [x.mean(), y.mean()], rtol=1e-14)
    np.testing.assert_allclose(total.covariance(), np.cov(x, y), rtol=1e-12)
    shares = [0.001, 0.05, 0.5, 0.95, 0.999]
    for name, values in (("x", x), ("y", y)):
        np.testing.assert_allclose(total.quantile(name, shares), np.quantile(values, shares), rtol=1e-3, atol=1e-3)
        ranks = np.searchsorted(np.sort(values), total.quantile(name, shares)) / len(values)
        np.testing.assert_allclose(ranks, shares, atol=2e-4)
        assert total.quantile(name, 0.5) == total.quantile(name, [0.5])[0]
    for bad in (-0.1, 50, np.nan, [0.5, 95.0]):
        with pytest.raises(ValueError, match="shares are between 0 and 1"):
            total.quantile("x", bad)
    with pytest.raises(ValueError, match="no outcome 'z'"):
        total.std("z")
    np.testing.assert_array_equal(total.counts["x"][1:-1], np.histogram(x, edges)[0])
    assert total.least["x"][0] == (x.min(), int(np.argmin(x)))
    assert total.most["y"][0] == (y.max(), int(np.argmax(y)))


def test_the_same_bits_for_any_chunks(world, tmp_path):
    whole = swept(world, tmp_path / "a", chunk=8192)
    cut = swept(world, tmp_path / "b", chunk=1024)
    assert whole.summary.to_bytes() == cut.summary.to_bytes()
    top = cut.extremes("top")["most"][0]
    vz = top["numbers"]["ball.velocity[2]"]
    run = world.simulate(0.5, 0.05, batch=1, outputs=OUTPUTS, vary={k: [float(x)] for k, x in top["numbers"].items()})
    assert float(run.outputs.top[0]) == top["value"]
    assert vz > 12.5
    assert abs(cut.summary.mean("reach") - 1.5) < 0.05


@pytest.mark.parametrize("engine", ["local", pytest.param("dask", marks=pytest.mark.slow)])
def test_without_a_folder(world, tmp_path, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    kept, gone = swept(world, tmp_path / "a"), swept(world, None, engine=engine)
    assert gone.summary.to_bytes() == kept.summary.to_bytes()
    assert gone.extremes("top") == kept.extremes("top")


def test_ctrl_c_keeps_no_half_chunk(world, tmp_path, monkeypatch):
    want = swept(world, tmp_path / "a", samples=3000, chunk=1024).summary.to_bytes()
    real, calls = simulation.Simulation._call, []

    def pressed(self, most):
        calls.append(self)
        if len(calls) > 1:
            os.kill(os.getpid(), signal.SIGINT)
        real(self, min(most, 4))

    monkeypatch.setattr(simulation.Simulation, "_call", pressed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            swept(world, tmp_path / "b", samples=3000, chunk=1024)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list((tmp_path / "b").glob("chunk-*"))
    monkeypatch.undo()
    assert swept(world, tmp_path / "b", samples=3000, chunk=1024).summary.to_bytes() == want


@pytest.fixture(scope="module")
def large(world):
    """A sweep of 10^5 instances, reduced, and the same instances stored."""
    done = swept(world, None, samples=100_000, chunk=16 * 1024)
    numbers = done.job.numbers(0, 100_000)
    run = world.simulate(0.5, 0.05, vary=numbers, outputs=OUTPUTS, ledger=False, every=0.5)
    return done.summary, {name: run.outputs[name].values for name in OUTPUTS}


def test_quantiles_of_many_are_those_of_stored_ones(large):
    """Within 2^-16, relatively, of the values on either side of the share; far within 1e-3."""
    summary, stored = large
    shares = np.array([0.0, 1e-4, 0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1 - 1e-4, 1.0])
    for name, values in stored.items():
        found = summary.quantile(name, shares)
        low, high = (np.quantile(values, shares, method=way) for way in ("lower", "higher"))
        assert np.all(found >= low - 2.0**-16 * np.abs(low))
        assert np.all(found <= high + 2.0**-16 * np.abs(high))
        np.testing.assert_allclose(found[2:-2], np.quantile(values, shares[2:-2]), rtol=1e-3)
        np.testing.assert_allclose(
            [summary.mean(name), summary.std(name)], [values.mean(), values.std(ddof=1)], rtol=1e-12
        )


def test_it_resumes_and_knows_its_own(world, tmp_path):
    want = swept(world, tmp_path / "a").summary.to_bytes()
    (tmp_path / "a" / "chunk-00000001.json").unlink()
    kept = (tmp_path / "a" / "chunk-00000000.json").stat().st_mtime_ns
    assert swept(world, tmp_path / "a").summary.to_bytes() == want
    assert (tmp_path / "a" / "chunk-00000000.json").stat().st_mtime_ns == kept
    with pytest.raises(FileExistsError, match="holds another sweep"):
        swept(world, tmp_path / "a", seed=4)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    with pytest.raises(FileExistsError, match="is not a sweep"):
        swept(world, tmp_path / "mine", fresh=True)


@pytest.mark.skipif(which("g++") is None, reason="the stand-in for a GPU needs g++")
def test_on_the_gpu(world, tmp_path, monkeypatch):
    """With kernels of CUDA C++ that are compiled for the host: what the processor finds, also with a condition."""
    options = {"until": lambda t, scene: scene["ball"].velocity[2] < 6.0, "samples": 1500, "chunk": 1024}
    here = swept(world, None, **options).summary
    monkeypatch.setitem(sys.modules, "cupy", cupy_on_host.module())
    there = swept(world, None, device="cuda", **options).summary
    assert there.n == 1500
    for name in OUTPUTS:
        np.testing.assert_allclose([there.mean(name), there.std(name)], [here.mean(name), here.std(name)], rtol=1e-11)


ALONE = """
import sys
sys.path[:0] = [{tests!r}, {benchmarks!r}]
import cupy_on_host
sys.modules["cupy"] = cupy_on_host.module()
KNOWN = {{*sys.stdlib_module_names, "numpy", "poinsot", "rocket_flights", "cuda_on_host"}}
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in KNOWN: raise ImportError(name + " is not installed here")
sys.meta_path.insert(0, Nothing())
import rocket_flights
sys.argv = ["rocket_flights.py", "200", "--device", "cuda", "--chunk", "1024", "--processes", "1", "--stored", "200"]
rocket_flights.main()
"""


@pytest.mark.slow
@pytest.mark.skipif(which("g++") is None, reason="the stand-in for a GPU needs g++")
def test_rocket_flights_need_numpy_and_cupy_alone():
    root = Path(__file__).parents[2]
    code = ALONE.format(tests=str(root / "tests"), benchmarks=str(root / "benchmarks"))
    path = {**os.environ, "PYTHONPATH": str(root / "src")}
    alone, usual = (
        subprocess.run(
            [sys.executable, *args], capture_output=True, text=True, check=True, env=path
        ).stdout.splitlines()
        for args in (["-c", code], [str(root / "benchmarks" / "rocket_flights.py"), "200"])
    )
    assert alone[0].startswith("200 flights")
    assert "0 broke down" in alone[0]
    assert alone[1:5] == usual[1:5]  # apogee, places and ellipse, to a centimetre


@pytest.mark.slow
def test_rocket_flights_by_processes_go_on(tmp_path):
    """Stopped by its time and called again, by two processes: what one process says, without a pause."""
    root, kept = Path(__file__).parents[2], str(tmp_path / "flights.json")

    def fly(*options):
        command = [sys.executable, root / "benchmarks" / "rocket_flights.py", "5000", *options]
        path = {**os.environ, "PYTHONPATH": str(root / "src")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=path)
        return done.stdout.splitlines(), done.stderr

    two = ["--chunk", "1024", "--processes", "2", "--save", kept]
    assert "no chunk was done in that time" in fly(*two, "--minutes", "0.001")[1]
    done = fly(*two, "--minutes", "0.3")[0]
    if "of 5 chunks are done" in done[0]:
        done = fly(*two)[0]
    assert done[1:5] == fly()[0][1:5]
    assert "holds other flights" in fly(*two, "--tolerance", "1e-5")[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": 0}, "samples=0 must be a whole number"),
        ({"chunk": 1000}, "blocks of 1024"),
        ({"engine": "slurm"}, "must be 'local' or 'dask'"),
        ({"histograms": {"top": [2, 1]}}, "edges that increase"),
    ],
)
def test_what_cannot_be(world, tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        swept(world, tmp_path / "a", **change)


def test_a_worker_is_killed(world, tmp_path, monkeypatch):
    """On Dask: a worker is killed in the middle of the work, and those that are left merge the chunks, some together;
    the bits are the same."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(reduced, "TOGETHER", 3)
    options = {"samples": 16_000, "chunk": 1024}
    want = swept(world, tmp_path / "local", **options).summary.to_bytes()
    killed = []

    def kill(pids):
        while len(list((tmp_path / "dask").glob("chunk-*.json"))) < 2:
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(len(list((tmp_path / "dask").glob("chunk-*.json"))))

    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        killer = threading.Thread(target=kill, args=(list(client.run(os.getpid).values()),))
        killer.start()
        found = swept(world, tmp_path / "dask", engine="dask", scheduler=client, **options).summary.to_bytes()
        killer.join()
    assert 2 <= killed[0] < 16
    assert found == want


def test_on_a_server_like_s3(world, tmp_path):
    """A server that speaks S3, started from the package moto: the same bits as in a folder."""
    server = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    pytest.importorskip("s3fs")
    s3 = server.ThreadedMotoServer(port=0)
    s3.start()
    try:
        host, port = s3.get_host_and_port()
        options = {"key": "a", "secret": "b", "client_kwargs": {"endpoint_url": f"http://{host}:{port}"}}
        client = boto3.client(
            "s3", endpoint_url=f"http://{host}:{port}", aws_access_key_id="a", aws_secret_access_key="b",
            region_name="us-east-1",
        )  # fmt: skip
        client.create_bucket(Bucket="flights")
        want = swept(world, tmp_path / "local").summary.to_bytes()
        for _ in range(2):  # the second finds all of it done
            assert swept(world, "s3://flights/balls", storage=options).summary.to_bytes() == want
    finally:
        s3.stop()
