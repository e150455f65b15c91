"""How fine the floats are that are computed with."""

from poinsot.fuse.math.arithmetic import Arithmetic, Vector


def spacing(m: Arithmetic, x: Vector) -> Vector:
    """The distance from x to the next float away from zero, with the sign of x: floats are in the order of their bits.

    Exact; positive for -0, NaN for infinities and NaN, as in NumPy.
    """
    x = m.where(x == 0.0, 0.0, x)  # -0 as well
    return m.from_bits(m.bits(x) + 1) - x
