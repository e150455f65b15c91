"""The compiler is light: it imports fast, with NumPy alone, and works (slowly) without llvmlite."""

import sys

import pytest

BLOCKED = "import sys; sys.modules.update(dict.fromkeys({names!r}))\n"
OPTIONAL = ["llvmlite", "scipy", "xarray", "dask", "cupy", "matplotlib", "hypothesis", "trimesh"]


def test_import_needs_numpy_alone(python):
    python(BLOCKED.format(names=OPTIONAL) + "import poinsot.fuse")


def test_import_loads_nothing_heavy(python):
    loaded = python("import sys, poinsot.fuse; print(*{name.split('.')[0] for name in sys.modules})").stdout.split()
    assert not set(loaded) & set(OPTIONAL)


def test_import_is_fast(python):
    """NumPy's own import included, in processor time, in the best of several tries."""
    code = "import time; t = time.process_time(); import poinsot.fuse; print(time.process_time() - t)"
    assert min(float(python(code).stdout) for _ in range(4)) < 0.3


WITHOUT_LLVM = """
import warnings
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as caught:
    import numpy as np
    from poinsot.fuse import Table, fori_loop, gradient, jacobian, kernel
    first = kernel("(3),(3)->(3),()")(lambda a, b: (np.cross(a, b), a @ b))
    a, b = np.arange(6.0).reshape(2, 3), np.ones(3)
    cross, dot = first(a, b)
    np.testing.assert_allclose(cross, np.cross(a, b))
    np.testing.assert_allclose(dot, a @ b)
    first(a, b)
    assert first(a.astype(np.float32), b.astype(np.float32))[1].dtype == np.float32
    second = kernel("()->()")(lambda x: fori_loop(3, lambda i, c: c * np.sin(x), x))
    np.testing.assert_allclose(second(b), np.sin(b) ** 3)
    out = np.empty(3)
    assert second(b, out=out) is out and np.allclose(out, np.sin(b) ** 3)
    np.testing.assert_allclose(gradient(second)(b), np.sin(b) ** 3 + 3 * np.sin(b) ** 2 * np.cos(b))
    np.testing.assert_allclose(kernel("()->()")(Table([0.0, 1.0], [1.0, 3.0]))(0.5), 2.0)
    second.to("numpy")(b)
print(*(f"{w.category.__name__}: {w.message} @ {w.filename}" for w in caught), sep="\\n")
"""


def test_without_llvmlite_kernels_are_interpreted(python):
    """With one warning, which says what to do and points at the caller."""
    told = python(BLOCKED.format(names=["llvmlite"]) + WITHOUT_LLVM).stdout.strip().splitlines()
    assert len(told) == 1, told
    assert told[0].startswith("RuntimeWarning: llvmlite is not installed")
    assert "pip install llvmlite" in told[0]
    assert told[0].endswith("@ <string>")


def test_asking_for_the_interpreter_needs_no_llvmlite(python):
    code = "from poinsot.fuse import kernel\nprint(kernel('()->()')(lambda x: 2 * x).to('numpy')(21.0))"
    assert float(python(BLOCKED.format(names=["llvmlite"]) + code).stdout) == 42  # and warnings are errors there


@pytest.mark.skipif(sys.platform == "win32", reason="environment variables of other processes")
@pytest.mark.parametrize("value", ["", "1", "3"])
def test_number_of_threads_from_the_environment(value, python):
    told = int(python("from poinsot.fuse import threads; print(threads())", POINSOT_THREADS=value or "0").stdout)
    assert told == int(value) if value else told >= 1


@pytest.mark.parametrize("value", ["many", "-1", "1.5"])
def test_a_wrong_number_of_threads_in_the_environment_is_named(value, monkeypatch):
    from poinsot.fuse import parallel

    monkeypatch.setenv("POINSOT_THREADS", value)
    with pytest.raises(ValueError, match=f"POINSOT_THREADS is '{value}'"):
        parallel._default_threads.__wrapped__()


def test_number_of_threads_is_checked():
    from poinsot.fuse import set_threads, threads

    set_threads(5)
    assert threads() == 5
    with pytest.raises(ValueError, match="at least 1, not 0"):
        set_threads(0)
    set_threads(None)
    assert threads() >= 1


def test_modules_that_are_imported_while_tracing_get_plain_arrays(python):
    """Names of the package are imported when first used, and that may be in a traced function."""
    code = (
        "import numpy as np, poinsot as pt\n"
        "rotated = pt.kernel('(3),(3)->(3)')(lambda phi, x: pt.spatial.rotation.exp(phi) @ x)\n"
        "got = rotated([0.0, 0.0, np.pi / 2], [1.0, 0.0, 0.0])\n"
        "assert np.allclose(got, [0, 1, 0]), got\n"
        "assert type(pt.spatial.rotation.E) is np.ndarray\n"
    )
    python(code)
