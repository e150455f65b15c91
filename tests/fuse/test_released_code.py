"""Machine code lives as long as something uses it: it is shared, released, and survives forks."""

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse.llvm import emission, jit
from poinsot.fuse.llvm.abi.inner_loop import kernel_module
from poinsot.fuse.llvm.target import this_machine

needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="memory maps are told by Linux alone")


def maps():
    return Path("/proc/self/maps").read_text().count("\n")


def scaled(factor):
    return pt.kernel("(3)->(3)")(lambda x: factor * np.sin(x))


def in_use():
    """Bytes that the C library has given out and not got back."""
    fields = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    kind = type("mallinfo2", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in fields]})
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        pytest.skip("the C library does not tell how much memory is in use")
    ask.restype = kind
    gc.collect()
    info = ask()
    return info.uordblks + info.hblkhd


def test_identical_code_is_shared():
    a, b = scaled(3.25), scaled(3.25)
    before = len(jit._loaded)
    a(np.ones(3))
    once = len(jit._loaded)
    b(np.ones(3))
    assert once == before + 1
    assert len(jit._loaded) == once


def test_code_that_nothing_uses_is_released():
    kernel = scaled(7.125)
    kernel(np.ones(3))
    gc.collect()  # of what other tests left
    before = len(jit._loaded)
    del kernel
    gc.collect()
    assert len(jit._loaded) == before - 1


def test_a_ufunc_keeps_its_code_without_the_kernel():
    ufunc = scaled(2.5).ufunc(**{})
    gc.collect()
    np.testing.assert_allclose(ufunc(np.ones(3)), 2.5 * np.sin(1.0))
    again = pickle.loads(pickle.dumps(ufunc))
    np.testing.assert_array_equal(again(np.ones(3)), ufunc(np.ones(3)))


def test_new_kernels_leave_no_memory_behind():
    """Not even the constants in their code: 30 different ones in each kernel would stay in LLVM's global context."""
    rng = np.random.default_rng(2)

    def work(count):
        for numbers in rng.uniform(1, 2, size=(count, 30)):
            pt.kernel("(30)->()")(lambda x, numbers=numbers: np.sum(numbers * (numbers**2 + x)))(np.ones(30))

    work(10)
    before = in_use()
    work(40)
    assert (in_use() - before) / 40 < 600  # bytes, against some kilobytes of constants


@needs_proc
def test_memory_maps_level_off():
    def work(count, first):
        for k in range(count):
            scaled(first + k / 1024)(np.ones(3))
        gc.collect()

    work(20, 10.0)
    before = maps()
    work(60, 20.0)
    assert maps() - before < 20


def test_running_out_of_memory_maps_is_an_error(monkeypatch):
    monkeypatch.setattr(jit, "MANY", 0)
    monkeypatch.setattr(jit, "MAPS", 10**9)
    with pytest.raises(MemoryError, match=r"memory maps .* Let go of kernels"):
        scaled(91.0)(np.ones(3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX's")
def test_a_fork_while_another_thread_compiles():
    code = """if True:
        import os, threading, time, warnings
        import numpy as np, poinsot as pt
        warnings.simplefilter("ignore")
        pt.kernel("()->()")(lambda x: x + 1.0)(1.0)
        def compile_many():
            for k in range(40):
                pt.kernel("(3)->(3)")(lambda x: (k + 0.5) * np.sin(x) + np.exp(x[0]))(np.ones(3))
        thread = threading.Thread(target=compile_many)
        thread.start()
        children = []
        for k in range(8):
            time.sleep(0.02)
            child = os.fork()
            if not child:
                pt.kernel("(3)->(3)")(lambda x: (k + 100.5) * np.cos(x))(np.ones(3))
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
        thread.join()
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX's")
def test_a_fork_while_code_is_made_ahead_of_its_use():
    """The child makes the code itself: it has no thread that would."""
    kernel = pt.kernel("(3)->(3)")(lambda x: 7.25 * np.sin(x) + np.exp(x[0]))
    kernel.program().begin(serial=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that threads and forks do not go together
        child = os.fork()
    if not child:
        os._exit(int(not np.all(np.isfinite(kernel(np.ones(3))))))
    assert os.waitpid(child, 0)[1] == 0
    assert np.all(np.isfinite(kernel(np.ones(3))))


def test_modules_emitted_side_by_side_are_the_same():
    texts = [
        kernel_module(p.graph, p.inputs, p.outputs, this_machine(8))
        for p in (scaled(k + 0.125).program() for k in range(4))
    ]
    one_by_one = [emission.object_file(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(emission.object_file, texts)) == one_by_one


def test_threads_compile_and_release_side_by_side():
    failures = []

    def work(seed):
        try:
            for k in range(15):
                factor = seed + k / 64
                np.testing.assert_allclose(scaled(factor)(np.ones(3)), factor * np.sin(1.0))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(100.0 + 10 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 120
    for thread in threads:
        thread.join(deadline - time.monotonic())
    assert failures == []


def test_the_code_of_a_world_is_released_with_it():
    def work(mass):
        world = pt.World()
        world.add_body("box", pt.Inertia.box(mass, (0.1, 0.2, 0.3)), angular_velocity=(0.1, 5.0, 0.1))
        world.simulate(0.01)
        gc.collect()
        return len(jit._loaded)

    work(1.0)
    assert work(1.5) <= work(1.25)
