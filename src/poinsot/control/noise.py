"""Reproducible noise: random numbers as a function of a key and a counter, in plain NumPy, on arrays and in kernels.

The generator is Threefry-2x32 with 20 rounds: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
3", SC 11 (2011). It has no state, so a number does not depend on what was drawn before it, nor on the batch, the thread
or the machine. It only adds, rotates and compares bits of uint32, which is exact everywhere: the bits are the same in
float64 and float32, on the processor and on the GPU, and the numbers made of them are the same to rounding.

A key is made of a path and a seed and the number of the instance (`key`); the counter is the number of the sample.
"""

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

from poinsot.fuse import is_traced

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_PARITY = np.uint32(0x1BD11BDA)


class Key(NamedTuple):
    """The key that tells one source of noise from all others: two uint32, or two arrays of them."""

    first: Any
    second: Any


def key(path: str, seed: Any = 0, instance: Any = 0) -> Key:
    """The key of the source of noise at a path, such as "imu.gyro", in one instance of a world with this seed.

    Any other path, seed or instance gives a key without relation to this one. `seed` and `instance` are whole numbers
    from 0 to 2^32 - 1, arrays of them, or traced numbers: inputs of a kernel.
    """
    if not isinstance(path, str):
        raise TypeError(f"the path of a source of noise is a text such as 'imu.gyro', not {path!r}")
    digest = hashlib.blake2b(path.encode(), digest_size=8).digest()
    own = Key(*np.frombuffer(digest, "<u4").astype(np.uint32))
    return Key(*_threefry(own, _words(seed, "seed"), _words(instance, "instance")))


def bits(key: Key, counter: Any, block: Any = 0) -> tuple[Any, Any]:
    """Two uint32 of random bits, for a counter and the number of a block: what one call of the generator gives.

    Counter and block are whole numbers from 0 to 2^32 - 1, or arrays of them; traced ones are taken modulo 2^32.
    """
    if not isinstance(key, tuple) or len(key) != 2:
        raise TypeError(f"{key!r} is not a key; make one with pt.noise.key('imu.gyro', seed)")
    return _threefry(key, _words(counter, "counter"), _words(block, "block"))


def _threefry(key: tuple[Any, Any], x: Any, y: Any) -> tuple[Any, Any]:
    """Threefry-2x32-20: the counter (x, y), mixed in 20 rounds, with a word of the key added after every fourth."""
    with np.errstate(over="ignore"):  # NumPy warns where single numbers wrap around
        k = (*key, key[0] ^ key[1] ^ _PARITY)
        x, y = x + k[0], y + k[1]
        for r in range(20):
            x = x + y
            y = (y << _ROTATIONS[r % 8] | y >> 32 - _ROTATIONS[r % 8]) ^ x
            if r % 4 == 3:
                s = r // 4 + 1
                x, y = x + k[s % 3], y + (k[(s + 1) % 3] + np.uint32(s))
    return x, y


def uniform(key: Key, counter: Any, size: int | None = None) -> Any:
    """Numbers between 0 and 1, evenly distributed: (w + 1/2) 2^-32 for a word w of random bits; never 0.

    `size`: how many independent ones, along a new last axis, for the channels of one sample; without it, one number,
    which is the first of them. In float32 a number above 1 - 2^-25 rounds to 1.
    """
    return _listed([u for pair in _pairs(key, counter, size) for u in map(_unit, pair)], size)


def normal(key: Key, counter: Any, size: int | None = None) -> Any:
    """Numbers of a normal distribution with mean 0 and deviation 1, independent of each other; `size` as in `uniform`.

    Box and Muller, Ann. Math. Stat. 29 (1958): r = sqrt(-2 ln u), (r cos a, r sin a) for u and a / (2 pi) uniform. With
    32 bits each, |x| is at most 6.8.
    """
    return _listed([x for pair in _pairs(key, counter, size) for x in _normals(*pair)], size)


def _normals(u: Any, a: Any) -> tuple[Any, Any]:
    """Two normal numbers from two words."""
    # ln u near u = 1 from 1 - u, so that no digits are lost in float32.
    r = np.sqrt(-2.0 * np.where(u < 2**31, np.log(_unit(u)), np.log1p(-_unit(~u))))
    # The angle: two bits for the quadrant, the others for the angle within it.
    angle = (a & 0x3FFFFFFF) * (math.pi / 2**31) + math.pi / 2**32
    x, y = r * np.cos(angle), r * np.sin(angle)
    return np.where(a >> 31 == 0, x, -x), np.where(a >> 30 & 1 == 0, y, -y)


def _unit(word: Any) -> Any:
    return word * 2.0**-32 + 2.0**-33


def _pairs(key: Key, counter: Any, size: int | None) -> list[tuple[Any, Any]]:
    if size is not None and not (isinstance(size, (int, np.integer)) and size >= 0):
        raise ValueError(f"size is {size!r}; it is the number of random numbers per sample, 0 or more, or None")
    return [bits(key, counter, block) for block in range(((size or 1) + 1) // 2)]


def _listed(numbers: list[Any], size: int | None) -> Any:
    return numbers[0] if size is None else np.stack(numbers, axis=-1)[..., :size]


def _words(x: Any, name: str) -> Any:
    """A whole number as uint32."""
    if is_traced(x):
        return x.astype(np.uint32)
    values = np.asanyarray(x)
    if values.dtype.kind not in "fiub" or not np.all((values >= 0) & (values < 2.0**32) & (values == np.trunc(values))):
        raise ValueError(f"{name} is {x}; it must be a whole number from 0 to 2^32 - 1")
    return values.astype(np.uint32)[()]
