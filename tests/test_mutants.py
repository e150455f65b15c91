"""The tool behind `make mutants`: its mutations, and its verdicts on a toy module."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "mutants"
sys.path.insert(0, str(TOOL))

import mutations  # noqa: E402

forks = pytest.mark.skipif(sys.platform == "win32", reason="the tool forks processes")


def mutants_of(source):
    return {m.mutation for m in mutations.of_source("toy.py", source)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a + b", {"a + b -> a - b", "a + b -> a", "a + b -> b"}),
        ("a - b", {"a - b -> a + b", "a - b -> a", "a - b -> b - a"}),
        ("a * b", {"a * b -> a / b", "a * b -> b"}),
        ("0.5 * b", {"0.5 * b -> 0.5 / b", "0.5 -> 1.0", "0.5 -> 0.25"}),
        ("A.T @ b", {"A.T @ b -> b @ A.T", "A.T -> A"}),
        ("-a", {"-a -> a"}),
        ("x[0]", {"0 -> 1", "0 -> -1"}),
        ("a < b", {"a < b -> a > b"}),
        ("len(a) < b", {"len(a) < b -> len(a) <= b", "len(a) < b -> len(a) > b"}),
        ("zip(a, b, strict=True)", set()),
        ("np.cross(a, b)", {"np.cross(a, b) -> np.cross(b, a)"}),
        ("np.sin(a)", {"np.sin(a) -> np.cos(a)"}),
        ("min(a, b)", {"min(a, b) -> max(a, b)"}),
        ("q.inverse()", {"q.inverse() -> q"}),
        ("a if c else b", {"a if c else b -> b if c else a"}),
        ("a and b", {"a and b -> a or b"}),
    ],
)
def test_mutations_of_an_expression(code, expected):
    assert mutants_of(f"def f():\n    return {code}\n") == expected


def test_time_levels():
    source = "def step(t, y, h):\n    x = y.x + h * y.v\n    return f(t, y.x)\n"
    assert {"t -> t + h", "y.x -> x"} <= mutants_of(source)
    assert sum(m.mutation == "y.x -> x" for m in mutations.of_source("toy.py", source)) == 1  # not before x is known


def test_what_is_not_mutated():
    assert not mutants_of(
        'def f(a: "1 + 1" = None) -> None:\n    """1 + 1"""\n    assert a\n    raise E(f"{a + 1}", 2)\n'
    )


def test_a_mutated_tree_differs_in_one_place():
    source = "def f(a, b):\n    return a + b + a + b\n"
    for mutant in mutations.of_source("toy.py", source):
        scope = {}
        exec(compile(mutations.mutated_tree(source, mutant), "toy.py", "exec"), scope)
        assert scope["f"](1.0, 10.0) != 22.0


TOY = '''"""A lever."""

ARM = 2.0


def moment(force, arm=ARM):
    return arm * force


def larger(n, k):
    return n if n > k else k


def stuck(n):
    while n > 0:
        n = n - 1
    return n


def unseen(a):
    return -a
'''
TOY_TESTS = """
import pytest
from toy import lever

def test_moment():
    assert lever.moment(3.0) == 6.0

@pytest.mark.parametrize("a", [1.0, 2.0])
def test_larger(a):
    assert lever.larger(a, 1.5) == max(a, 1.5)

def test_stuck():
    assert lever.stuck(3) == 0
"""
EQUIVALENT = """
[[equivalent]]
file = "src/toy/lever.py"
function = "larger"
mutations = ["n > k -> n >= k", "n > k -> n == k"]
reason = "equal numbers"
"""


def run_tool(root, *options):
    command = [sys.executable, str(TOOL / "run.py"), "--root", str(root), "--sources", "src/toy", "--tests", "tests"]
    command += ["--equivalent", str(root / "equivalent.toml"), "--warm", "--jobs", "2", "--grace", "0.5", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@forks
def test_verdicts_on_a_toy(tmp_path):
    """Data at the top of a module, functions, endless loops; survivors; what is kept; entries that match nothing."""
    for name, text in {
        "src/toy/__init__.py": "",
        "src/toy/lever.py": TOY,
        "tests/test_lever.py": TOY_TESTS,
        "equivalent.toml": EQUIVALENT,
        "pytest.ini": "[pytest]\nmarkers = slow\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    code, text = run_tool(tmp_path)
    assert code == 1
    assert survivors(text) == ["src/toy/lever.py:21 unseen: -a -> a  (survived)"], text
    assert "| src/toy/lever.py | 16 | 14 | 1 | 1 | 93.3% |" in text
    assert "stale: src/toy/lever.py::larger::n > k -> n == k" in text

    test = "from toy import lever\n\ndef test_unseen():\n    assert lever.unseen(1.0) == -1.0\n"
    (tmp_path / "tests" / "test_unseen.py").write_text(test)
    (tmp_path / "equivalent.toml").write_text(EQUIVALENT.replace(', "n > k -> n == k"', ""))
    code, text = run_tool(tmp_path)
    assert "14 mutants are settled, 1 to try" in text
    assert code == 0, text
    assert not survivors(text)


def survivors(text):
    return [line for line in text.splitlines() if line.endswith(("(survived)", "(not covered)"))]
