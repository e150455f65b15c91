"""The words of LLVM's text: each compiled to machine code, and compared with Python."""

import ctypes
from collections.abc import Callable
from math import gcd

import pytest

from poinsot.fuse.llvm import jit
from poinsot.fuse.llvm.emitter import Emitter, LoopHead, literal_vector

PAIRS = [(1, 1), (2, 7), (9, 6), (12, 18), (35, 64)]


def compiled(write: Callable[[Emitter], str]) -> Callable[[int, int], int]:
    """A function of two integers, %a and %b, from the words that compute its result."""
    f = Emitter({})
    result = write(f)
    head = "define i64 @kernel(i64 %a, i64 %b) {"
    text = "\n".join([*f.declarations.values(), head, "start:", *f.lines, f"  ret i64 {result}", "}"])
    code = jit.compile_module(text, "words")
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(code.address)
    return lambda a, b, _kept=code: function(a, b)


def larger(f: Emitter) -> str:
    place = f.alloca("i64", 8)
    with f.when(f.icmp("sgt", "%a", "%b")) as otherwise:
        f.store("i64", "%a", place)
        otherwise()
        f.store("i64", "%b", place)
    return f.load("i64", place)


def at_least_ten(f: Emitter) -> str:
    """One choice within the other, and choices without another side."""
    place = f.alloca("i64", 8)
    f.store("i64", "%a", place)
    with f.when(f.icmp("slt", "%a", 10)):
        f.store("i64", "10", place)
        with f.unless(f.icmp("slt", "%b", 10)):
            f.store("i64", "%b", place)
    return f.load("i64", place)


def table_of_products(f: Emitter) -> str:
    """The sum of (i + 1)(j + 1) over i below a and j below b."""
    place = f.alloca("i64", 8)
    f.store("i64", "0", place)
    with f.repeat("%a") as i, f.repeat("%b") as j:
        product = f.mul(f.add(i, 1), f.add(j, 1))
        f.store("i64", f.add(f.load("i64", place), product), place)
    return f.load("i64", place)


def common_divisor(f: Emitter) -> str:
    """Euclid's algorithm: two values that one iteration hands to the next."""
    head = LoopHead(f, "euclid")
    a, b = head.carry("i64", "%a"), head.carry("i64", "%b")
    remainder = f.sub(a, f.mul(f.udiv(a, b), b))
    head.close(b, remainder)
    f.branch(f.icmp("ne", remainder, 0), head.label, "done")
    f.label("done")
    return b


def lanes(f: Emitter) -> str:
    """a + b, a + b + 1, a + b + 2, a + b + 3 in the lanes of a vector; the second half of them, summed."""
    vector = f.add(f.splat(f.add("%a", "%b"), "i64", 4), literal_vector("i64", range(4)), "<4 x i64>")
    half = f.shuffle(vector, "poison", "<4 x i64>", [2, 3])
    return f.intrinsic("i64", "vector.reduce.add.v2i64", ("<2 x i64>", half))


WORDS = {
    larger: max,
    at_least_ten: lambda a, b: max(10, b) if a < 10 else a,
    table_of_products: lambda a, b: a * (a + 1) * b * (b + 1) // 4,
    common_divisor: gcd,
    lanes: lambda a, b: 2 * (a + b) + 5,
}


@pytest.mark.parametrize("write", WORDS)
def test_words_mean_what_they_say(write):
    function = compiled(write)
    assert [function(a, b) for a, b in PAIRS] == [WORDS[write](a, b) for a, b in PAIRS]


def test_a_function_from_outside_is_declared_once():
    f = Emitter({})
    for _ in range(2):
        f.intrinsic("i64", "smax.i64", ("i64", "%a"), ("i64", 3))
    assert f.declarations == {"@llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)"}
    assert [line.strip() for line in f.lines] == [
        f"%v{k} = call i64 @llvm.smax.i64(i64 %a, i64 3)" for k in (1, 2)
    ]  # fmt: skip
