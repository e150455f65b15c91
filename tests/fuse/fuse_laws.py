"""The law that most tests of the compiler state: a kernel gives what NumPy gives, on either back end."""

import numpy as np

from poinsot.fuse import Kernel, kernel, signature
from poinsot.fuse.graph.verify import verify

# NumPy's elementary functions and ours may differ by an ulp or two each, and fused multiply-adds round once less.
ROUNDING = 2e-14


def random_arguments(text, rng, batch=(7,)):
    """Normal numbers of the shapes that a signature without named dimensions asks for."""
    return [rng.standard_normal(batch + core) for core in signature.parse(text)[0]]


def every_backend(k: Kernel, *args):
    """The results on each back end, as tuples; the graph is verified on the way."""
    for backend in ("numpy", "llvm"):
        results = k.to(backend)(*args)
        yield backend, results if isinstance(results, tuple) else (results,)
    for program in k._programs.values():
        verify(program.graph)


def agrees(function, text, *args, rtol=ROUNDING):
    """The function compiled gives what it gives when NumPy runs it instance by instance."""
    k = kernel(text)(function)
    want = np.vectorize(function, signature=text, otypes=[float] * len(signature.parse(text)[1]))(*args)
    want = want if isinstance(want, tuple) else (want,)
    for backend, got in every_backend(k, *args):
        for g, w in zip(got, want, strict=True):
            assert g.shape == w.shape
            scale = np.abs(w[np.isfinite(w)]).max(initial=1e-300)
            np.testing.assert_allclose(g, w, rtol=rtol, atol=rtol * scale, err_msg=backend)
    return k
