"""The package as a whole: light to import, honest about what is missing."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import poinsot as pt
from poinsot import _optional

ROOT = Path(__file__).parent.parent


def python(code: str) -> str:
    """Run code in a fresh interpreter."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_needs_numpy_alone():
    out = python(
        "import sys\n"
        "class Nothing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        known = name.split('.')[0] in sys.stdlib_module_names or name.split('.')[0] in ('numpy', 'poinsot')\n"
        "        if not known: raise ImportError(name + ' is not installed here')\n"
        "sys.meta_path.insert(0, Nothing())\n"
        "import poinsot; print(poinsot.__version__)\n"
    )
    assert out.strip() == pt.__version__


def test_import_takes_less_than_300_ms():
    code = "import time; t = time.perf_counter(); import poinsot; print(time.perf_counter() - t)"
    assert min(float(python(code)) for _ in range(5)) < 0.3


def test_a_missing_package_names_its_extra():
    with pytest.raises(ImportError, match=re.escape("pip install 'poinsot[view]'")):
        _optional.require("no_such_package", "view", "The viewer")


def test_extras_and_version_match_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == pt.__version__
    assert {"view", "cuda", "robots", "cluster", "learn", "torch", "jax", "dev"} <= set(
        project["optional-dependencies"]
    )


def test_public_names_exist_and_are_documented():
    for name in pt.__all__:
        assert getattr(pt, name).__doc__, name
