"""Regenerate the tables of `poinsot.fuse.math`: minimax polynomials and split constants, from mpmath alone.

    python tools/fit_elementary.py          write src/poinsot/fuse/math/coefficients.py and print the errors
    python tools/fit_elementary.py --check  only compare with the file that is there

A polynomial is fitted by Remez exchange on a Chebyshev grid (Muller, Elementary Functions, 3rd ed., section 3.5).
Coefficients are rounded to the machine format one after the other, lowest degree first, and the rest is fitted again
after each rounding, so that the others compensate the rounding of each. The error quoted is that of the rounded
polynomial, relative to the function which it builds, evaluated exactly.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath as mp

mp.mp.dps = 60
TARGET = Path(__file__).parents[1] / "src" / "poinsot" / "fuse" / "math" / "coefficients.py"


class Fit(NamedTuple):
    """f(t) ~ sum c_k t^k on (low, high), with |error| * weight(t) minimal."""

    name: str
    meaning: str
    f: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    low: Any
    high: Any
    terms: tuple[int, int]  # how many coefficients in float64 and in float32


def round64(x: Any) -> Any:
    return mp.mpf(float(x))


def round32(x: Any) -> Any:
    """Nearest float32, by the machine's own conversion of the nearest double (double rounding is harmless here)."""
    return mp.mpf(struct.unpack("<f", struct.pack("<f", float(x)))[0])


def polynomial(c: list[Any], t: Any) -> Any:
    value = mp.mpf(0)
    for ck in reversed(c):
        value = value * t + ck
    return value


def remez(t: list[Any], f: list[Any], w: list[Any], first: int, n: int) -> list[Any]:
    """Coefficients of t^first .. t^(first+n-1) that minimise max w |f - p| over the grid t."""
    size = len(t)
    nodes = [(size - 1) * i // n for i in range(n + 1)]  # even steps on a Chebyshev grid
    for _ in range(12):
        rows = [[t[i] ** (first + k) for k in range(n)] + [(-1) ** j / w[i]] for j, i in enumerate(nodes)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f[i] for i in nodes]))
        c = [solution[k] for k in range(n)]
        error = [w[i] * (f[i] - t[i] ** first * polynomial(c, t[i])) for i in range(size)]
        peaks: list[int] = []  # one extremum for each run of equal sign
        for i in range(size):
            if peaks and (error[i] > 0) == (error[peaks[-1]] > 0):
                if abs(error[i]) > abs(error[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > n + 1:  # drop the weaker end, which keeps the signs alternating
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        if len(peaks) <= n:  # the exchange has reached the noise of the grid
            break
        worst, level = max(abs(e) for e in error), abs(solution[n])
        nodes = peaks
        if worst < level * mp.mpf("1.001"):
            break
    return c


def fit(job: Fit, n: int, rounding: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """Rounded coefficients and their error."""
    size = 24 * n + 40
    middle, half = (mp.mpf(job.high) + job.low) / 2, (mp.mpf(job.high) - job.low) / 2
    t = [middle - half * mp.cos(mp.pi * (i + mp.mpf("0.5")) / size) for i in range(size)]
    exact = [job.f(ti) for ti in t]
    w = [job.weight(ti) for ti in t]
    rest, c = list(exact), []
    best = remez(t, rest, w, 0, n)
    if job.low < 0:  # powers of t are not a Chebyshev system about 0; here the factor t^2 makes the rounding harmless
        c = [rounding(ck) for ck in best]
    while len(c) < n:
        c.append(rounding(best[0]))
        rest = [r - c[-1] * ti ** (len(c) - 1) for r, ti in zip(rest, t, strict=True)]
        best = remez(t, rest, w, len(c), n - len(c)) if len(c) < n else best
    return c, max(abs(wi * (fi - polynomial(c, ti))) for wi, fi, ti in zip(w, exact, t, strict=True))


def odd(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """f(x) = x + x z p(z), z = x^2: the function p."""
    return lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


quarter = (mp.pi / 4 * mp.mpf("1.00001")) ** 2
half_ln2 = mp.log(2) / 2 * mp.mpf("1.00001")
log_range = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.00001")) ** 2

# name, what it builds, function to fit, weight, interval, number of coefficients in float64 and float32
FITS = [
    Fit("SIN", "sin x = x + x z p(z), z = x^2, |x| <= pi/4", odd(mp.sin), lambda z: z, 0, quarter, (6, 3)),
    Fit(
        "COS",
        "cos x = 1 - z/2 + z^2 p(z), z = x^2, |x| <= pi/4",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2 / mp.cos(mp.sqrt(z)),
        0,
        quarter,
        (6, 3),
    ),
    Fit(
        "ARCTAN",
        "arctan x = x + x z p(z), z = x^2, |x| <= 1",
        odd(mp.atan),
        lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z)),
        0,
        1,
        (20, 9),
    ),
    Fit("ARCSIN", "arcsin x = x + x z p(z), z = x^2, |x| <= 1/2", odd(mp.asin), lambda z: z, 0, 0.25, (12, 5)),
    Fit(
        "EXP",
        "exp x = 1 + x + x^2 p(x), |x| <= ln(2)/2",
        lambda x: (mp.exp(x) - 1 - x) / x**2,
        lambda x: x**2 / mp.exp(x),
        -half_ln2,
        half_ln2,
        (10, 5),
    ),
    Fit(
        "EXPM1",
        "expm1 x = x + x^2 p(x), |x| <= ln(2)/2",
        lambda x: (mp.expm1(x) - x) / x**2,
        lambda x: abs(x**2 / mp.expm1(x)),
        -half_ln2,
        half_ln2,
        (10, 5),
    ),
    Fit(
        "COSH",
        "cosh x = 1 + z p(z), z = x^2, |x| <= ln(2)/2",
        lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z,
        lambda z: z,
        0,
        half_ln2**2,
        (5, 3),
    ),
    Fit("SINH", "sinh x = x + x z p(z), z = x^2, |x| <= ln(2)/2", odd(mp.sinh), lambda z: z, 0, half_ln2**2, (5, 3)),
    Fit(
        "LOG",
        "log((1 + s)/(1 - s)) = 2 s + s z p(z), z = s^2, |s| <= (sqrt(2) - 1)/(sqrt(2) + 1)",
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
        lambda z: z / 2,
        0,
        log_range,
        (7, 3),
    ),
    Fit(
        "LOG_LONG",
        "atanh s = s + s z/3 + s z^2 p(z), z = s^2, |s| <= (sqrt(2) - 1)/(sqrt(2) + 1)",
        lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1 - z / 3) / z**2,
        lambda z: z**2,
        0,
        log_range,
        (8, 3),
    ),
    Fit(
        "INVERSE_CBRT",
        "x^(-1/3), 1 <= x <= 2",
        lambda x: x ** (-mp.mpf(1) / 3),
        lambda x: x ** (mp.mpf(1) / 3),
        1,
        2,
        (6, 4),
    ),
]


def chop(x: Any, bits: int) -> Any:
    """x rounded to a number of significant bits."""
    scale = mp.mpf(2) ** (bits - 1 - mp.floor(mp.log(abs(x), 2)))
    return mp.nint(x * scale) / scale


def split(x: Any, *bits: int) -> list[Any]:
    """x as a sum of parts with these numbers of bits, each the rounding of the remainder after those before it."""
    parts = []
    for b in bits:
        parts.append(chop(x, b))
        x = x - parts[-1]
    return parts


def digits(x: Any, bits: int, count: int) -> list[Any]:
    """The first digits of 0 < x < 1 in base 2^bits."""
    result = []
    for _ in range(count):
        x = x * mp.mpf(2) ** bits
        result.append(mp.floor(x))
        x -= result[-1]
    return result


def constants() -> list[tuple[str, str, list[Any], list[Any]]]:
    """name, meaning, float64 parts, float32 parts"""
    with mp.workdps(450):
        pi, ln2, ln10 = +mp.pi, mp.log(2), mp.log(10)
        third = mp.mpf(1) / 3
        return [
            (
                "PI_2_STEPS",
                "pi/2 in three parts; n < 2^20 times the second is exact in float64",
                split(pi / 2, 53, 33, 53),
                split(pi / 2, 24, 24, 24),
            ),
            ("PI_2", "pi/2 in two parts", split(pi / 2, 53, 53), split(pi / 2, 24, 24)),
            ("TWO_OVER_PI", "2/pi, rounded", split(2 / pi, 53), split(2 / pi, 24)),
            (
                "TWO_OVER_PI_DIGITS",
                "2/pi in base 2^53 (float64) or 2^24 (float32), as far as the largest argument needs",
                digits(2 / pi, 53, 23),
                digits(2 / pi, 24, 9),
            ),
            ("LN2", "ln 2 in two parts", split(ln2, 53, 53), split(ln2, 24, 24)),
            ("LOG2_E", "1/ln 2 in two parts", split(1 / ln2, 53, 53), split(1 / ln2, 24, 24)),
            ("LOG10_E", "1/ln 10 in two parts", split(1 / ln10, 53, 53), split(1 / ln10, 24, 24)),
            (
                "LOG10_2",
                "log10 2 in two parts; an exponent times the first is exact",
                split(ln2 / ln10, 42, 53),
                split(ln2 / ln10, 15, 24),
            ),
            ("THIRD", "1/3 in two parts", split(third, 53, 53), split(third, 24, 24)),
        ]


def literal(values: list[Any], single: bool) -> str:
    """A tuple of decimal literals: 17 digits at most in float64, 9 in float32, each reads back as the same number."""
    text = [f"{float(v):.9g}" if single else repr(float(v)) for v in values]
    text = [t if any(mark in t for mark in ".en") else t + ".0" for t in text]
    lines, line = [], "        "
    for item in text:
        if len(line) + len(item) + 2 > 120:
            lines.append(line.rstrip())
            line = "        "
        line += item + ", "
    return "    (\n" + "\n".join([*lines, line.rstrip()]) + "\n    ),"


def generate() -> str:
    out = [
        '"""Polynomials and split constants of the elementary functions: generated by `tools/fit_elementary.py`."""',
        "",
        "# fmt: off",
        "from __future__ import annotations",
        "",
        "from typing import NamedTuple",
        "",
        "",
        "class Coefficients(NamedTuple):",
        '    """The same thing for both precisions: coefficients, lowest degree first, or the parts of a constant."""',
        "",
        "    float64: tuple[float, ...]",
        "    float32: tuple[float, ...]",
        "",
    ]
    for job in FITS:
        (c64, e64), (c32, e32) = fit(job, job.terms[0], round64), fit(job, job.terms[1], round32)
        error = f"relative error 2^{float(mp.log(e64, 2)):.1f} and 2^{float(mp.log(e32, 2)):.1f}"
        print(f"{job.name:14s} {job.terms[0]:3d} and {job.terms[1]} terms: {error}", file=sys.stderr)
        out += ["", f"# {job.meaning}:", f"# {error}", f"{job.name} = Coefficients("]
        out += [literal(c64, False), literal(c32, True), ")"]
    for name, meaning, parts64, parts32 in constants():
        out += ["", f"# {meaning}", f"{name} = Coefficients(", literal(parts64, False), literal(parts32, True), ")"]
    return "\n".join(out) + "\n"


def main() -> int:
    text = generate()
    if "--check" in sys.argv:
        same = TARGET.read_text() == text
        print("up to date" if same else f"{TARGET} differs from what the fits give", file=sys.stderr)
        return 0 if same else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
