"""Tests of the compiler never touch the user's cache, and share one that lasts as long as the session."""

import os
import subprocess
import sys

import numpy as np
import pytest

from poinsot import fuse


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    root = tmp_path_factory.getbasetemp()
    workers = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    before = os.environ.get("POINSOT_CACHE")
    os.environ["POINSOT_CACHE"] = str(workers / "kernels")
    yield
    os.environ.pop("POINSOT_CACHE") if before is None else os.environ.update(POINSOT_CACHE=before)


@pytest.fixture(autouse=True)
def _default_threads():
    yield
    fuse.set_threads(None)


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


@pytest.fixture
def python(tmp_path):
    """Run code in a fresh interpreter, with its own folder; warnings are errors there, too."""

    def run(code, *args, cache=None, check=True, **env):
        environment = {**os.environ, **env} | ({} if cache is None else {"POINSOT_CACHE": str(cache)})
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, *map(str, args)],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stderr
        return done

    return run
