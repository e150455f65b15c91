"""Recipes for clusters, as far as one machine can tell: what they start is started here, with two workers."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import poinsot as pt

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")]

WORKERS, WAIT = 2, 90  # s


def swept(**options: Any) -> bytes:
    vary = {"ball.velocity[2]": pt.Normal(10.0, 1.0), "ball.velocity[0]": pt.Uniform(1.0, 5.0)}
    outputs = {"top": "max(ball.position.z)", "reach": "final(ball.position.x)"}
    options = {"samples": 6000, "chunk": 1024, "progress": False, **options}
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), velocity=(3.0, 0.0, 10.0))
    return pt.sweep_reduced(world, vary, 0.5, 0.05, outputs=outputs, **options).summary.to_bytes()


@contextlib.contextmanager
def started(*command: str, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """A process, which ends with all that it started."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, **(env or {})}, start_new_session=True, **quiet)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(WAIT)


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def dask(name: str, *arguments: str) -> tuple[str, ...]:
    return sys.executable, "-m", f"distributed.cli.{name.replace('-', '_')}", *arguments


def agrees(address: str) -> None:
    """As many workers come as were started, and together they find the same bits as one process."""
    with distributed.Client(address, timeout=WAIT) as client:
        client.wait_for_workers(WORKERS, timeout=WAIT)
    assert swept(engine="dask", scheduler=address) == swept()


def test_scheduler_and_workers_that_are_started_by_hand():
    (port,) = free_ports(1)
    address = f"tcp://127.0.0.1:{port}"
    with (
        started(*dask("dask-scheduler", "--port", str(port), "--dashboard-address", ":0")),
        started(
            *dask("dask-worker", address, "--nworkers", str(WORKERS), "--nthreads", "1", "--dashboard-address", ":0")
        ),
    ):
        agrees(address)


def test_job_script_that_goes_to_slurm(tmp_path):
    jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    with jobqueue.SLURMCluster(cores=1, processes=1, memory="2GB", walltime="02:00:00", interface="lo") as cluster:
        script = cluster.job_script()
        assert "#SBATCH -t 02:00:00" in script
        assert "--nthreads 1" in script
        with contextlib.ExitStack() as stack:
            for k in range(WORKERS):
                path = tmp_path / f"{k}.sh"
                path.write_text(script.replace("dummy-name", f"worker-{k}"))
                stack.enter_context(started("bash", str(path)))
            agrees(cluster.scheduler_address)


def test_jobs_that_a_queue_starts():
    local = pytest.importorskip("dask_jobqueue.local", reason="dask-jobqueue is not installed")
    with local.LocalCluster(cores=1, processes=1, memory="2GB", interface="lo") as cluster:
        cluster.scale(WORKERS)
        agrees(cluster.scheduler_address)


def test_commands_that_go_to_kubernetes():
    operator = pytest.importorskip("dask_kubernetes.operator", reason="dask-kubernetes is not installed")
    spec = operator.make_cluster_spec(
        name="flights", image="an-image", n_workers=WORKERS, worker_command="dask-worker --nthreads 1"
    )["spec"]
    scheduler, worker = (spec[role]["spec"]["containers"][0]["args"] for role in ("scheduler", "worker"))
    port, *others = free_ports(1 + WORKERS)
    with contextlib.ExitStack() as stack:
        more = ("--port", str(port), "--dashboard-address", ":0")
        stack.enter_context(started(*dask(*scheduler, *more)))
        for k, own in enumerate(others):
            named = [word.replace("$(DASK_WORKER_NAME)", f"worker-{k}") for word in worker]
            own_port = [str(own) if word == "8788" else word for word in named]
            assert "--nthreads" in own_port
            place = {"DASK_SCHEDULER_ADDRESS": f"tcp://127.0.0.1:{port}"}
            stack.enter_context(started(*dask(*own_port), env=place))
        agrees(f"tcp://127.0.0.1:{port}")
