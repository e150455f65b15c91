"""The package as a whole: light to import, honest about what is missing."""

import ast
import functools
import inspect
import re
import subprocess
import sys
import tomllib
import warnings
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
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = content["project"]
    assert project["dynamic"] == ["version"]
    assert content["tool"]["hatch"]["version"]["path"] == "src/poinsot/_version.py", "the version stands in one place"
    assert f"version: {pt.__version__}\n" in (ROOT / "CITATION.cff").read_text(), "and in the citation"
    assert {"view", "cuda", "robots", "cluster", "learn", "torch", "jax", "dev"} <= set(
        project["optional-dependencies"]
    )


def test_public_names_exist_and_are_documented():
    """Their public methods and properties too, by a docstring of their own or of what they override."""
    for name in pt.__all__:
        thing = getattr(pt, name)
        assert thing.__doc__, name
        for member in (
            vars(thing).keys() - vars(thing).get("__dataclass_fields__", {}) if inspect.isclass(thing) else ()
        ):
            if not member.startswith("_") and callable_or_property(inspect.getattr_static(thing, member)):
                family = (vars(base).get(member) for base in thing.__mro__)
                assert any(one is not None and one.__doc__ for one in family), f"{name}.{member}"


def callable_or_property(member):
    return inspect.isroutine(member) or isinstance(member, (property, functools.cached_property))


def test_no_syntax_is_newer_than_the_oldest_python():
    """Every source compiles with the grammar of the oldest Python that the metadata admits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = tuple(map(int, project["requires-python"].removeprefix(">=").split(".")))
    for folder in ("src", "tests", "examples", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=oldest)
    with pytest.raises(SyntaxError):
        ast.parse("type Number = int", feature_version=(3, 11))  # such syntax is noticed, also by a newer Python


# Of the standard library, what came after Python 3.11.
NEWER = {
    "itertools": {"batched"},
    "typing": {"override", "TypeAliasType", "TypeIs", "ReadOnly", "NoDefault"},
    "warnings": {"deprecated"},
    "copy": {"replace"},
    "collections.abc": {"Buffer"},
    "pathlib": {"UnsupportedOperation"},
    "math": {"sumprod", "fma"},
    "functools": {"Placeholder"},
}


def test_nothing_of_the_library_is_newer_than_the_oldest_python():
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                new = NEWER.get(node.module or "", set()) & {alias.name for alias in node.names}
                found += [f"{path.name}: {node.module}.{name}" for name in new]
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.attr in NEWER.get(node.value.id, ())
            ):
                found.append(f"{path.name}: {node.value.id}.{node.attr}")
    assert found == []


def _packages(names: list[str], extras: dict[str, list[str]]) -> set[str]:
    """The packages that requirements bring by themselves, those of Poinsot's own extras included."""
    brought = set()
    for name in names:
        if own := re.match(r"poinsot\[(.*)\]", name):
            for extra in own[1].split(","):
                brought |= _packages(extras[extra], extras)
        else:
            brought.add(re.split(r"[\[>=; ]", name)[0])
    return brought


def test_an_error_names_an_extra_that_brings_the_package():
    """Each `require(module, extra, purpose)` in the source: the extra exists and its list holds the package; ""
    is a plain installation."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    plain = _packages(project["dependencies"], extras) | {"pandas"}  # which xarray brings
    called = {"PIL": "pillow", "cupy": "cupy-cuda13x"}  # packages with another name than their module
    wrong, seen = [], 0
    for path in (ROOT / "src").rglob("*.py"):
        for module, extra in re.findall(r"require\(f?\"([\w.{}]+)\", \"(\w*)\"", path.read_text(encoding="utf-8")):
            seen += 1
            package = module.split(".")[0]
            if called.get(package, package) not in plain | _packages(extras.get(extra, []), extras):
                wrong.append(f"{path.name}: {module} is not in the extra {extra!r}")
    assert wrong == []
    assert seen > 40


@pytest.mark.parametrize("module", ["matplotlib", "zarr", "scipy", "PIL", "sympy"])
def test_no_module_imports_an_optional_package_by_itself(module):
    """They go through `_optional.require`, whose error names the extra."""
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [path.name for name in names if name.split(".")[0] == module]
    assert found == []


def test_a_plain_install_runs_an_example(tmp_path):
    """The command with only the packages of a plain install; what needs more says so before any work."""
    code = f"""
import os, sys
os.chdir({str(tmp_path)!r})
for name in ('matplotlib', 'PIL', 'zarr', 'scipy', 'trimesh', 'pyarrow', 'numcodecs', 'dask'):
    sys.modules[name] = None  # as if it were not installed
from poinsot.cli import main
assert main(['run', 't-handle', '--set', 'run.duration=1']) == 0
assert sorted(os.listdir('results')) == ['t-handle.html', 't-handle.nc']
assert main(['info', 'results/t-handle.nc']) == 0
for arguments in (['run', 't-handle', '--plot'], ['sweep', 'rocket'], ['plot', 'results/t-handle.nc']):
    assert main(arguments) == 2
assert sorted(os.listdir('results')) == ['t-handle.html', 't-handle.nc']
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pip install 'poinsot[view]'") == 2
    assert done.stderr.count("pip install 'poinsot[zarr]'") == 1


def stated_pythons() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [re.search(r":: (3\.\d+)$", line) for line in project["classifiers"]]
    return [match[1] for match in found if match]


def test_the_pythons_of_the_metadata_are_those_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pythons, workflow = stated_pythons(), (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", workflow)[1]) == pythons
    assert project["project"]["requires-python"] == f">={pythons[0]}"
    assert project["tool"]["mypy"]["python_version"] == pythons[0]
    assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / "docs" / "installing.md").read_text()


def test_no_syntax_that_newer_pythons_warn_of():
    """`return`, `break` and `continue` that leave `finally` (3.14), and escapes that are none (3.12)."""
    for path in (
        path for room in ("src", "examples", "benchmarks", "tools", "fuzz") for path in (ROOT / room).rglob("*.py")
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(path.read_text(), str(path))
        for block in (node.finalbody for node in ast.walk(tree) if isinstance(node, ast.Try)):
            leaving = [node for part in block for node in ast.walk(part) if isinstance(node, LEAVING)]
            assert not leaving, f"{path}:{leaving[0].lineno}"


LEAVING = (ast.Return, ast.Break, ast.Continue)


@pytest.mark.slow
def test_types_hold_for_the_newest_python(tmp_path):
    """Whatever its standard library has lost or deprecated is an error."""
    pytest.importorskip("mypy")
    words = [
        "--python-version",
        stated_pythons()[-1],
        "--enable-error-code",
        "deprecated",
        "--cache-dir",
        str(tmp_path),
    ]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
