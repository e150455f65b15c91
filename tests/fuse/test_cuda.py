"""The CUDA source, without a GPU: its operations, and its results when compiled as C++ for the host."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import poinsot as pt
from cuda_on_host import run_on_host, source_of
from poinsot.fuse.cuda.constants import Tables
from poinsot.fuse.cuda.opcodes import EXPRESSIONS
from poinsot.fuse.cuda.translation import kernel_source
from poinsot.fuse.graph.ops import OPS
from poinsot.fuse.plan.budget import GPU, PROCESSOR, budget
from sparing import few

table = np.array([0.5, -1.0, 2.0, 0.25, 3.0])


def everything(x, y, n):
    """Loops in loops, arrays in memory, calls, tables, conditions and most functions."""
    inner = pt.once(lambda a, b: np.stack([np.sin(a) * b, np.where(a > b, a, np.hypot(a, b))]))

    def step(i, carry):
        z, w = carry
        z[i] = z[i - 1] + table[i] * w
        u = inner(z[i], w)
        total = pt.fori_loop(3, lambda j, s: s + j * np.arctan2(u[0], 1 + w * w), 0.0 * w)
        return z, np.clip(np.tanh(u[1]) + total, -1.0, 2.0)

    z, w = pt.fori_loop(5, step, (x, y))
    rest = pt.fori_loop(n, lambda i, s: 0.5 * s + np.mod(s, 0.7) + np.sqrt(np.abs(s)), w)
    return z, np.stack([w, rest, np.minimum(x[0], y), np.maximum(x[1], np.exp(-y * y)), np.sign(x[2]), np.floor(3 * y)])


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize("derived", [lambda f: f, lambda f: pt.vjp(f, wrt=(0, 1))], ids=["values", "vjp"])
def test_loops_that_stop_by_a_condition(derived, tmp_path):
    """Arrays that an instance writes only in part, loops in such loops, and work that is skipped."""

    def program(x, y):
        def write(carry):
            k, a = carry
            return k + 1, _with(a, k, np.sin(a[k]) + y)

        _, z = pt.while_loop(lambda c: c[0] < 3 + np.sign(y).astype(int), write, (np.array(0), x), 6)
        w = pt.while_loop(lambda c: c < 3, lambda c: c + 0.2 + pt.when(c > y, lambda d: 0.1 * d, c) ** 2, y * y, 30)
        return z + pt.fori_loop(2, lambda i, s: pt.while_loop(lambda c: c > i, lambda c: 0.5 * c, s, 4), w)

    kernel = derived(pt.kernel("(6),()->(6)")(program))
    rng = np.random.default_rng(0)
    shapes = [(50, 6), (50,), (50, 6)][: len(kernel.signature.split("->")[0].split("),("))]
    args = tuple(rng.standard_normal(shape) for shape in shapes)
    expected = kernel.to("numpy")(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for result, wanted in zip(run_on_host(kernel.program(), tmp_path, *args), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-13)


def test_work_that_is_skipped_is_no_loop():
    """`pt.when` is a loop of one iteration on a processor."""
    graph = pt.kernel("()->()")(lambda x: pt.when(x > 1, lambda y: np.sin(y), x)).program().graph
    text = kernel_source(graph, [1], [1], True).text
    assert graph.count()["loop"] == 1
    body = text[text.index("__global__") :]
    assert "for (" not in body
    assert body.count("if (v") == 1


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_the_source_computes_what_the_reference_computes(tmp_path):
    kernel = pt.kernel("(5),(),()->(5),(6)")(everything)
    rng = np.random.default_rng(0)
    args = (rng.standard_normal((50, 5)), rng.standard_normal(50), rng.integers(0, 5, 50).astype(float))
    expected = kernel.to("numpy")(*args)
    for result, wanted in zip(run_on_host(kernel.program(), tmp_path, *args), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_arrays_in_shared_memory_and_loops_over_elements(tmp_path):
    """A recursion over a carried array, in place, then elementwise work on it, and an argument read in place."""

    def function(x, y):
        def step(_, carry):
            x, z = carry
            z = pt.fori_loop(11, lambda i, z: _with(z, i + 1, np.sin(z[i]) + y[i]), np.concatenate([x[:1], x]))
            return x + 0.5 * z[1:] * z[:-1], 2.0 - z[1:]

        return pt.fori_loop(3, step, (x, x))

    kernel = pt.kernel("(11),(12)->(11),(11)")(function)
    args = np.random.default_rng(0).standard_normal((20, 11)), np.random.default_rng(1).standard_normal((20, 12))
    expected = kernel.to("numpy")(*args)
    program = kernel.program()
    for result, wanted in zip(run_on_host(program, tmp_path, *args), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-13, atol=1e-13)
    text = source_of(program)
    assert "mine[" in text
    assert "in1[(" in text
    assert text.count("for (int k = 0; k < 11; k++)") == 2  # the argument into shared memory, and the result out of it


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_the_results_of_an_iteration_replace_a_dead_carry(tmp_path):
    """An array made anew of what is carried, beside one that takes the old one's place and a number of it."""

    def function(x, y, n):
        def step(i, carry):
            x, y, s = carry
            return np.stack([y[8 - k] + s * x[np.minimum(i + k, 8)] for k in range(9)]), x, x[0] - y[np.minimum(i, 8)]

        return pt.fori_loop(n, step, (x, y, 0.5))

    kernel = pt.kernel("(9),(9),()->(9),(9),()")(function)
    args = *np.random.default_rng(0).uniform(-1, 1, (2, 5, 9)), np.arange(5.0)
    for result, wanted in zip(run_on_host(kernel.program(), tmp_path, *args), kernel.to("numpy")(*args), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("float64", [True, False])
def test_where_tables_are_stored(float64):
    """In constant memory as far as its cache reaches, beyond in rows in shared memory, if they are not too many."""
    size = 8 if float64 else 4

    def text(length: int) -> str:
        tables = Tables(float64)
        names = [tables.name(tuple(float(k + i) for i in range(length)), "f") for k in range(5)]
        assert names == [tables.name(tuple(float(k + i) for i in range(length)), "f") for k in range(5)]
        tables.name((1, 2), "i")
        return "\n".join(tables.declarations())

    few, many, most = text(1600 // (5 * size)), text(2400 // (5 * size)), text(32000 // (5 * size))
    assert few.count("__constant__ const T") == most.count("__constant__ const T") == 5
    assert "__constant__ const T" not in many
    assert "#define table4(k) pool[0 + (k) * 8 + 4]" in many
    assert "__constant__ const int" in many


numbers = np.random.default_rng(4).uniform(-1, 1, (3, 300))
back = np.arange(300)[::-1].copy()
READ = {"": [2, 1, 4], "old": [2, 1, 3], "twice": [2, 1, 4]}  # x and v; kept; gains, and x and v for what follows


def there_and_back(x, v, h, steps, kind=""):
    """Steps of three sweeps over arrays that do not fit into shared memory, as over the bodies of a long chain."""

    def step(_, state):
        x, v = state

        def out(i, carry):
            c, kept = carry
            c = np.sin(0.5 * c + numbers[0][i] * x[i])
            kept[i] = c + v[i]
            return c, kept

        def home(k, carry):
            c, gains = carry
            i = 299 - k
            c = 0.5 * c + kept[i] * numbers[1][i]
            gains[i] = np.stack([c, 1 / (2 + c * c)])
            return c, gains

        def onward(i, carry):
            c, a = carry
            c = gains[i, 0] - gains[i, 1] * c * numbers[2][i]
            a[i] = c
            return c, a

        _, kept = pt.fori_loop(300, out, (0.0 * h, np.empty(300)))
        _, gains = pt.fori_loop(300, home, (0.0 * h, np.empty((300, 2))))
        _, a = pt.fori_loop(300, onward, (h, np.empty(300)))
        new = v + h * a
        if kind == "old":  # what was there before the step is needed after it, in another order
            return x + h * v[back], new
        return x + h * new, new + a if kind == "twice" else new

    return pt.fori_loop(steps, step, (x, v))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize(
    ("kind", "float64"),
    few(
        [(kind, float64) for kind in ("", "old", "twice") for float64 in (True, False)],
        {("", False), ("old", True), ("twice", False)},
    ),
)
def test_what_streams_through_memory(tmp_path, kind, float64):
    """Numbers are prefetched, arrays that follow from a loop are fused into it, and tables are packed."""
    kernel = pt.kernel("(300),(300),(),()->(300),(300)")(lambda *x: there_and_back(*x, kind))
    rng = np.random.default_rng(0)
    args = *rng.uniform(-1, 1, (2, 5, 300)), rng.uniform(0.01, 0.1, 5), np.arange(5.0)
    tolerance = 1e-13 if float64 else 1e-5
    expected = kernel.to("numpy")(*args)
    results = run_on_host(kernel.program(), tmp_path, *args, float64=float64)
    for f, e in zip(results, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=tolerance, atol=tolerance)
    text = source_of(kernel.program(), float64)
    assert re.search(r"__launch_bounds__\(\d+, \d+\)", text)
    loops = re.split(r"#pragma unroll \d+\n +for \(int v", text)[2:]  # after that over the steps
    assert [len(re.findall(r"min\(v\d+ \+ [14], 300 - 1\)", loop)) for loop in loops][:3] == READ[kind]
    assert re.search(r"#define table\d+\(k\) pool\[", text)
    arrays = re.findall(r" T v\d+\[300\];", text)  # x and v, kept; the new ones where the old ones are not needed
    assert len(arrays) == {"": 3, "old": 4, "twice": 3}[kind]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize("float64", [True, False])
def test_reciprocals(tmp_path, float64):
    """To one unit in the last place, where the result is a normal number; with signs and zeros as they should be."""
    kernel = pt.kernel("()->()")(lambda x: 1 / x)
    rng = np.random.default_rng(0)
    dtype = np.float64 if float64 else np.float32
    x = (rng.choice([-1, 1], 1000) * 2.0 ** rng.uniform(-100, 100, 1000)).astype(dtype)
    (result,) = run_on_host(kernel.program(), tmp_path, x, float64=float64)
    assert np.abs((result - 1 / x) / np.spacing(np.abs(1 / x))).max() <= 1.0
    ends = np.array([np.inf, -np.inf, 0.0, -0.0, np.nan], dtype)
    (result,) = run_on_host(kernel.program(), tmp_path, ends, float64=float64)
    np.testing.assert_array_equal(result, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize("float64", [True, False])
def test_sums_of_exponentials(tmp_path, float64):
    """As NumPy's, with infinities and NaN, and far from overflow."""
    kernel = pt.kernel("(),()->()")(np.logaddexp)
    values = [0.0, 1.0, -2.5, 80.0, -80.0, 1e30, -1e30, np.inf, -np.inf, np.nan]
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    (result,) = run_on_host(kernel.program(), tmp_path, x, y, float64=float64)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(result, np.logaddexp(x, y), rtol=1e-15 if float64 else 1e-6)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_far_angles_beside_near_ones(tmp_path):
    """One test finds that some angle is far; the others, and what is not a number, come out as ever."""
    kernel = pt.kernel("(4)->(4)")(lambda x: np.cos(x + 0.5))
    x = np.array([[1.0, 3e7, -2.0, 1e5], [0.1, 0.2, 0.3, 0.4], [np.nan, 1.0, np.inf, -1e300]])
    (result,) = run_on_host(kernel.program(), tmp_path, x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(result, np.cos(x + 0.5), rtol=0, atol=1e-15)
    assert source_of(kernel.program()).count("if (max(") == 1


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_results_that_are_all_the_same(tmp_path):
    kernel = pt.kernel("()->(9),(9)")(lambda x: (np.stack([2 * x] * 9), np.zeros(9)))
    twice, zeros = run_on_host(kernel.program(), tmp_path, np.array([1.5, -1.0]))
    np.testing.assert_array_equal(twice, [[3.0] * 9, [-2.0] * 9])
    np.testing.assert_array_equal(zeros, np.zeros((2, 9)))


def test_long_blocks_are_assembled_in_order():
    """Where there are no loops: in float32, and in float64 if it is long."""

    def options(n: int, float64: bool, fast: bool = False) -> tuple[str, ...]:
        program = pt.kernel("()->()")(lambda x: x if not n else sum((x + k) * (x - k) for k in range(n))).program()
        return kernel_source(program.graph, [1], [1], float64, fast).options

    assert options(10, False) == options(2000, True) == options(2000, False, True) == ("--ptxas-options=-O1",)
    assert options(10, True) == options(10, False, True) == ()


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_a_function_that_is_called_in_one_place_is_written_there(tmp_path):
    """Also in a loop, with an array that it takes from outside; those that are called in two places are functions."""

    def program(x, y):
        alone, often = pt.once(lambda a, i: np.sin(a) + x[i]), pt.once(lambda a: 0.5 * a + y)
        return pt.fori_loop(5, lambda i, c: often(alone(c, i)), y) + often(y)

    kernel = pt.kernel("(5),()->()")(program)
    args = np.random.default_rng(0).standard_normal((20, 5)), np.random.default_rng(1).standard_normal(20)
    (result,) = run_on_host(kernel.program(), tmp_path, *args)
    np.testing.assert_allclose(result, kernel.to("numpy")(*args), rtol=1e-13, atol=1e-13)
    text = source_of(kernel.program())
    assert text.count("void function") == 1
    assert text.count("turn(") == source_of(pt.kernel("()->()")(np.sin).program()).count("turn(")


def test_only_what_was_never_set_is_not_copied():
    """An array full of NaN is a value, `np.empty` is not."""

    def text(array):
        fill = pt.kernel("(9)->(9)")(lambda x: pt.fori_loop(9, lambda i, y: _with(y, i, x[i]), array()))
        return source_of(fill.program())

    assert 'nan("")' in text(lambda: np.full(9, np.nan))
    assert 'nan("")' not in text(lambda: np.empty(9))


def _with(array, i, value):
    array[i] = value
    return array


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_sine_and_cosine(tmp_path):
    """To two units in the last place, for small angles and large ones, near multiples of pi/2, and beyond 1e5."""
    kernel = pt.kernel("()->(2)")(lambda x: np.stack([np.sin(x), np.cos(x)]))
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-10, 10, 1000), rng.uniform(-1e5, 1e5, 1000), np.arange(-500, 500) * np.pi / 2])
    (result,) = run_on_host(kernel.program(), tmp_path, x)
    exact = np.stack([np.sin(x), np.cos(x)], axis=1)
    assert np.abs((result - exact) / np.spacing(np.abs(exact))).max() <= 2.0
    far = rng.uniform(1e5, 1e9, 100)
    (result,) = run_on_host(kernel.program(), tmp_path, far)
    np.testing.assert_allclose(result, np.stack([np.sin(far), np.cos(far)], axis=1), rtol=0, atol=1e-15)


def test_the_gpu_has_a_budget_of_its_own():
    """A kernel asks for it as it is traced; the processor's program stays as it is."""
    kernel = pt.kernel("()->()")(lambda x: x * budget().straight_line)
    on_gpu = kernel.gpu_program((), dtype=np.float32).graph
    assert on_gpu is not kernel.program().graph
    assert {n.data for n in on_gpu.live() if n.op == "const"} == {float(GPU[4].straight_line)}
    assert kernel(1.0) == PROCESSOR.straight_line


def test_every_operation_has_an_expression():
    """All but those on bits, which only the elementary functions of the processor use."""
    assert set(OPS) - set(EXPRESSIONS) == {"bits", "from_bits", "shift_right_logical"}


def test_one_line_for_each_operation():
    """The cross product: six loads, nine operations, three stores."""
    text = source_of(pt.kernel("(3),(3)->(3)")(np.cross).program())
    body = text[text.index("__global__") :]
    assert len(re.findall(r"const T v\d+ = in", body)) == 6
    assert len(re.findall(r"const T v\d+ = v\d+ [-*] v\d+;", body)) == 9
    assert len(re.findall(r"out0\[", body)) == 3


def test_precision_and_fast_functions():
    kernel = pt.kernel("()->()")(lambda x: np.sin(x) / 3.0)
    double, single, fast = (
        source_of(kernel.program(), f, q) for f, q in ((True, False), (False, False), (False, True))
    )
    assert "typedef double T;" in double
    assert "typedef float T;" in single
    assert "__sinf" not in single
    assert "turn(" in single
    assert "__sinf" in fast
    assert "__fdividef" in fast


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc, CUDA's compiler")
@pytest.mark.parametrize("float64", [True, False])
def test_nvcc_accepts_the_source(tmp_path, float64):
    kernel = pt.kernel("(5),(),()->(5),(6)")(everything)
    (tmp_path / "k.cu").write_text(source_of(kernel.program(), float64))
    command = ["nvcc", "-arch=sm_90", "-std=c++17", "-cubin", "-o", tmp_path / "k.cubin", tmp_path / "k.cu"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_no_gpu_gives_a_clear_error(python):
    done = python(
        "import sys; sys.modules['cupy'] = None\n"
        "import poinsot as pt\n"
        "k = pt.kernel('()->()')(lambda x: x + 1)\n"
        "try: k.to('cuda')\n"
        "except ImportError as error: print(error)\n"
        "print(k(1.0))\n"
    )
    assert "pip install 'poinsot[cuda]'" in done.stdout
    assert "2.0" in done.stdout
