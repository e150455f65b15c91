"""The result for one instance does not depend on the batch around it, its place or the threads: not in one bit."""

import numpy as np
import pytest
from fuse_models import articulated_body, random_chain
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.fuse import fori_loop, jacobian, jvp, kernel, once, set_threads, vjp
from poinsot.fuse.llvm import emission, module, target

WIDTH = target.host().vector_bytes // 8
LINKS = random_chain(3)


@kernel("(3)->(3)")
def dynamics(q):
    return articulated_body(LINKS, q, np.sin(q), np.exp(q))


@kernel("(3)->(3)")
def everything(v):
    """Elementary functions, also on their rare ways; loops of other lengths in every lane; memory; calls."""
    f = once(lambda a: np.tan(a) + np.log(np.abs(a) + 1e-3) ** 3 - np.cbrt(a))
    big = v[0] * 10.0 ** (9 * np.floor(3 * np.cos(v[1])))
    n = np.floor(np.abs(9 * np.sin(v[2]))).astype(int)

    def body(i, c):
        A, s = c
        A[i % 3] = f(s) + A[(i + n) % 3]
        return A, s * 0.7 + np.arctan2(A[i % 3], s)

    A, s = fori_loop(n, body, (v * 1, np.sin(big)))
    return A + s + np.hypot(big, v) ** 0.3 + np.exp(v) / (1 + np.exp(-v))


KERNELS = {"dynamics": dynamics, "jacobian": jacobian(dynamics), "everything": everything}
POOL = np.random.default_rng(7).uniform(0.5, 1, (64, 3)) * np.geomspace(1e-4, 5, 64)[:, None]


def bits(x):
    return np.ascontiguousarray(x).tobytes()


@pytest.fixture(scope="module", params=KERNELS)
def alone(request):
    """A kernel, and its result for each instance of the pool on its own."""
    k = KERNELS[request.param]
    return k, np.stack([k(v) for v in POOL])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_pool_has_distinct_finite_results(dtype):
    for k in KERNELS.values():
        result = k(POOL.astype(dtype))
        assert np.isfinite(result).all()
        assert len(np.unique(result.reshape(64, -1), axis=0)) > 50


@settings(max_examples=60)
@given(data=st.data())
def test_whatever_the_batch(alone, data):
    k, single = alone
    picked = data.draw(st.lists(st.integers(0, 63), min_size=1, max_size=3 * WIDTH + 2), label="instances")
    batch, want = POOL[picked], single[picked]
    order = data.draw(st.sampled_from(["C", "F"]), label="order")
    step = data.draw(st.sampled_from([1, 2, 3]), label="step")
    wide = np.zeros((step * len(picked), 3), order=order)
    wide[::step] = batch
    assert bits(k(wide[::step])) == bits(want)
    assert bits(k(wide[::step][::-1])) == bits(want[::-1])
    target = np.zeros((len(picked), 2, *want.shape[1:]), order=order)[:, 1]
    assert bits(k(batch, out=target)) == bits(want)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whatever_the_threads(name, dtype):
    """Large batches are cut into pieces, whose edges fall elsewhere for every number of threads."""
    k = KERNELS[name]
    operations = k.program().operations
    count = max(2000, 3 * 400_000 // operations) + 13
    picked = np.random.default_rng(1).integers(64, size=count)
    single = k(POOL.astype(dtype))[picked]
    batch = POOL[picked].astype(dtype)
    for threads in (1, 2, 3, 7):
        set_threads(threads)
        for array in (batch, np.asfortranarray(batch), batch.reshape(1, count, 3)):
            assert bits(k(array).reshape(single.shape)) == bits(single), threads


def test_float32_alone_and_together():
    for k in KERNELS.values():
        together = k(POOL.astype(np.float32))
        assert bits(np.stack([k(v) for v in POOL.astype(np.float32)])) == bits(together)


def test_from_one_process_to_the_next(python):
    code = """if True:
    import numpy as np
    from poinsot.fuse import kernel
    k = kernel("()->()")(lambda x: np.exp(np.sin(x)) / (1 + x * x))
    print(k(np.linspace(-3, 3, 50)).tobytes().hex())
    """
    assert python(code).stdout == python(code, POINSOT_THREADS="1").stdout


def fused_in_one_kernel(x):
    """The value needs 2 + x*x; its derivative needs x*x as well, so that the product is rounded on its own."""
    return np.arctan2(x, 2.0 + x * x)


def test_between_a_kernel_and_its_derivatives_only_fused_products_differ():
    """Rounding x*x changes the sum by u x^2 at most, hence the angle by less than u |x|/(2 + x^2); what follows is
    rounded as before. Without fused products there is no difference at all.
    """
    x = np.random.default_rng(4).normal(size=5000)

    def values(k):
        return k(x), jvp(k)(x, x)[0], vjp(k)(x, x)[0]

    fast, strict = (kernel("()->()", strict=how)(fused_in_one_kernel) for how in (False, True))
    for k in (strict, fast.to("numpy"), strict.to("numpy")):
        plain, *others = map(bits, values(k))
        assert all(other == plain for other in others)
    plain, *others = values(fast)
    assert any(bits(other) != bits(plain) for other in others)
    for other in others:
        assert np.all(np.abs(other - plain) <= 2.0**-53 * np.abs(x) / (2 + x * x) + 3 * np.spacing(np.abs(plain)))


@pytest.mark.parametrize("width", [16, 32, 64])
def test_whatever_the_vector_width(width, monkeypatch):
    """As on a processor with shorter or longer vectors."""
    host, want = target.host(), everything(POOL)
    monkeypatch.setattr(target, "host", lambda: host._replace(vector_bytes=width))
    assert bits(kernel("(3)->(3)")(everything.function)(POOL)) == bits(want)


@pytest.mark.parametrize("name", KERNELS)
def test_whatever_the_effort_of_the_compiler(name, monkeypatch):
    """Code that is used little is made in haste, where it is long, and without a plan of registers."""
    monkeypatch.setattr(emission, "LONG", 0)
    monkeypatch.setattr(module, "SHORT", 0)
    ours = KERNELS[name]
    made = {}
    for hasty in (False, True):
        k = kernel(ours.signature)(ours.function)
        program = k.specialise((3,))
        program.hasty = hasty
        made[hasty] = bits(program.f64(POOL)), program._machine_code(program._target(8))
    assert made[False][0] == made[True][0]
    assert made[False][1] is not made[True][1]


@pytest.mark.skipif(target.host().family != "x86", reason="names of x86 processors")
def test_on_a_processor_without_fused_multiply_add(python):
    """Where products and sums are not fused the last bits differ; elementary functions still call for exact fma."""
    code = """if True:
    import numpy as np
    from poinsot.fuse import kernel
    from poinsot.fuse.llvm import target
    target.host = lambda: target.Host("x86-64", "", 16, "x86")
    x = np.linspace(0.1, 3, 41)
    for name in "sin exp tanh cbrt arctan log1p".split():
        f = getattr(np, name)
        np.testing.assert_allclose(kernel("()->()")(lambda x: f(x * x + 1))(x), f(x * x + 1), rtol=3e-15, atol=3e-15)
    """
    python(code)
