"""Machine code for processors that need not be here: LLVM takes the text, and all arithmetic is in full vectors."""

import contextlib
import re
import struct
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from fuse_models import articulated_body, random_chain

from poinsot.fuse import fori_loop, kernel
from poinsot.fuse.llvm import emission, target
from poinsot.fuse.llvm.abi.inner_loop import kernel_module
from poinsot.fuse.llvm.target import Host

llvm = pytest.importorskip("llvmlite.binding")

LINUX, ARM, APPLE = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-apple-macosx"
LINKS = random_chain(3)
ONE_BY_ONE = {"fma", "floor", "rint", "trunc", "ceil"}  # what SSE2 lacks, and the C library does, a lane at a time


class Processor(NamedTuple):
    triple: str
    host: Host
    register: str  # of full width, in assembly
    machine: int  # the number of its kind in an ELF file


PROCESSORS = {
    "SSE2": Processor(LINUX, Host("x86-64", "", 16, "x86"), "xmm", 62),
    "AVX": Processor(LINUX, Host("sandybridge", "", 32, "x86"), "ymm", 62),
    "AVX2": Processor(LINUX, Host("haswell", "", 32, "x86"), "ymm", 62),
    "AVX-512": Processor(LINUX, Host("skylake-avx512", "", 64, "x86"), "zmm", 62),
    "NEON": Processor(ARM, Host("generic", "", 16, "arm"), "v", 183),
    "NEON, Apple": Processor(APPLE, Host("apple-m1", "", 16, "arm"), "v", 0),
}
FUSED = ("AVX2", "AVX-512", "NEON", "NEON, Apple")  # multiply and add in one instruction


def chosen(x, y):
    """Elementary functions, a choice, and rounding."""
    return np.where(x > y, np.exp(-x) * np.floor(4 * y), np.sqrt(x) + np.sin(y)) + np.arctan2(x, y)


def summed(v):
    return fori_loop(20, lambda i, c: np.sin(c) / 2 + v[0] * v[i % 3], v[1])


KERNELS = {
    "cross": (kernel("(3),(3)->(3),()")(lambda a, b: (np.cross(a, b), a @ b)), [(3,), (3,)]),
    "dynamics": (kernel("(3),(3),(3)->(3)")(lambda q, v, t: articulated_body(LINKS, q, v, t)), [(3,)] * 3),
    "chosen": (kernel("(),()->()")(chosen), [(), ()]),
    "loop": (kernel("(3)->()")(summed), [(3,)]),
}


@pytest.fixture(params=PROCESSORS)
def processor(request, monkeypatch):
    """One of them, which the compiler takes for this machine's."""
    monkeypatch.setattr(target, "host", lambda: PROCESSORS[request.param].host)
    return request.param


@cache
def compiled(name: str, processor: str, itemsize: int) -> tuple[str, str, bytes]:
    """LLVM's text, assembly and object file of a kernel, made as `emission` makes them."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple, host = PROCESSORS[processor][:2]
    try:
        kind = llvm.Target.from_triple(triple)
    except RuntimeError as error:
        pytest.skip(f"this llvmlite makes no code for {triple}: {error}")
    program = KERNELS[name][0].program()
    text = kernel_module(program.graph, program.inputs, program.outputs, target.this_machine(itemsize))
    machine = kind.create_target_machine(
        cpu=host.name, features=host.features, opt=2, reloc="pic", codemodel="jitdefault", jit=True
    )
    with (
        contextlib.closing(llvm.context.create_context()) as context,
        contextlib.closing(llvm.parse_assembly(text, context)) as module,
        emission.as_written(),
    ):
        module.verify()
        return text, machine.emit_assembly(module), machine.emit_object(module)


def arithmetic(assembly: str, processor: str) -> Counter[tuple[str, str]]:
    """How often a product, quotient, ... is computed in registers of a kind, or in "one" lane alone."""
    found: Counter[tuple[str, str]] = Counter()
    if PROCESSORS[processor].host.family == "arm":
        for word, register in re.findall(
            r"^\s+f(mul|nmul|add|sub|div|sqrt|ml[as])(?:\.\w+)?\s+([vds])", assembly, re.M
        ):
            found[{"mla": "fma", "mls": "fma"}.get(word, word), register if register == "v" else "one"] += 1
        found["fma", "one"] += len(re.findall(r"^\s+fn?m(?:add|sub)\s", assembly, re.M))
        return +found
    words = r"^\s+v?(mul|add|sub|div|sqrt|fn?m(?:add|sub)\d+)([ps])[sd]\s.*%([xyz]mm)"
    for word, packed, register in re.findall(words, assembly, re.M):
        found["fma" if word[0] == "f" else word, register if packed == "p" else "one"] += 1
    return found


def undefined(content: bytes) -> set[str]:
    """The names that an ELF object file of 64 bits wants from elsewhere."""
    start, size, count = *struct.unpack_from("<Q", content, 40), *struct.unpack_from("<HH", content, 58)
    headers = [struct.unpack_from("<IIQQQQII", content, start + size * k) for k in range(count)]
    names = set()
    for _, kind, _, _, offset, length, link, _ in headers:
        for at in range(offset, offset + length, 24) if kind == 2 else ():  # the table of symbols
            name, _, _, section = struct.unpack_from("<IBBH", content, at)
            begin = headers[link][4] + name
            names.add(content[begin : content.index(b"\0", begin)].decode() if section == 0 else "")
    return names - {"", "_GLOBAL_OFFSET_TABLE_"}


@pytest.mark.parametrize("itemsize", [8, 4])
@pytest.mark.parametrize("name", KERNELS)
def test_all_arithmetic_is_in_full_vectors(name, itemsize, processor):
    """But for one quotient, 0/0, which raises the flag for a NaN. Nothing needs a register that is not there."""
    _, assembly, _ = compiled(name, processor, itemsize)
    register = PROCESSORS[processor].register
    found = arithmetic(assembly, processor)
    halves = sum(found.pop((word, "xmm"), 0) for word in ("mul", "add", "sub")) if processor == "AVX" else 0
    assert {key: n for key, n in found.items() if key[1] != register} == {("div", "one"): 1}
    assert halves * 10 < sum(found.values())  # AVX has integers in halves, and LLVM computes in halves what meets them
    assert found["mul", register] + found["fma", register] > 0
    wider = {"xmm": r"%[yz]mm", "ymm": r"%zmm", "v": r"\bz\d+\.[ds]\b"}.get(register)
    assert not (wider and re.search(wider, assembly))


@pytest.mark.parametrize("itemsize", [8, 4])
@pytest.mark.parametrize("name", KERNELS)
def test_no_quotient_or_root_is_added_or_lost(name, itemsize, processor):
    """As many in machine code as in LLVM's text, in which they are words."""
    text, assembly, _ = compiled(name, processor, itemsize)
    found, register = arithmetic(assembly, processor), PROCESSORS[processor].register
    assert found["div", register] == len(re.findall(r"= fdiv [a-z ]*<", text))
    assert found["sqrt", register] == len(re.findall(r"= (?:tail )?call [a-z ]*<[^@]*@llvm\.sqrt\.", text))


@pytest.mark.parametrize("itemsize", [8, 4])
def test_products_of_cross_and_dot(itemsize, processor):
    """Six and three; five of them are fused with the sum that they go into, where the processor can."""
    found = arithmetic(compiled("cross", processor, itemsize)[1], processor)
    register, fused = PROCESSORS[processor].register, 5 if processor in FUSED else 0
    assert (found["mul", register], found["fma", register]) == (9 - fused, fused)


@pytest.mark.parametrize("itemsize", [8, 4])
@pytest.mark.parametrize("name", KERNELS)
def test_nothing_is_wanted_from_elsewhere(name, itemsize, processor):
    """But for functions of the C library, where the processor is older than their instructions."""
    _, assembly, content = compiled(name, processor, itemsize)
    if processor == "NEON, Apple":
        assert content.startswith(b"\xcf\xfa\xed\xfe")  # Mach-O, 64 bits
        called = set(re.findall(r"^\s+bl\s+(\w+)", assembly, re.M))
        assert all(f"\n{function}:" in assembly for function in called)
        return
    assert content.startswith(b"\x7fELF")
    assert struct.unpack_from("<H", content, 18)[0] == PROCESSORS[processor].machine
    lacking = {"SSE2": ONE_BY_ONE, "AVX": {"fma"}}.get(processor, set())
    assert undefined(content) <= {word + "f" * (itemsize == 4) for word in lacking}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_older_vectors_compute_the_same(name, dtype, processor, rng):
    """Code for older processors runs on newer ones of the family: the numbers are those of NumPy, up to rounding."""
    needed = {"SSE2": "sse2", "AVX": "avx", "AVX2": "avx2", "AVX-512": "avx512dq"}.get(processor, "neon")
    if not llvm.get_host_cpu_features().get(needed):
        pytest.skip(f"this processor has no {needed}")
    k, shapes = KERNELS[name]
    again = kernel(k.signature)(k.function)  # compiled anew
    args = [rng.uniform(0.2, 1.5, (37, *shape)).astype(dtype) for shape in shapes]
    results, expected = again(*args), k.to("numpy")(*(a.astype(float) for a in args))
    pairs = zip(results, expected, strict=True) if isinstance(results, tuple) else [(results, expected)]
    for got, want in pairs:
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=500 * np.finfo(dtype).eps * np.abs(want).max())
