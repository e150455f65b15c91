"""Quotients and square roots in CUDA C++, in float64 without branches.

CUDA's own test for rare arguments, and call a function for them. Nothing is moved across such a test, so each waits for
its own arithmetic alone, and so does all that is around it; these are part of one long block.

A last step with the exact remainder makes them as good as rounded once. Quotients by numbers whose reciprocal is not a
normal number are infinite or zero, and so small are roots of numbers that are not normal themselves.
"""

from poinsot.fuse.graph.nodes import Node

NORMAL = 2.0**1000  # divisors between this and its inverse have a normal reciprocal

OWN = """
__device__ __forceinline__ double quotient(double a, double b, double r) {
  const double q = a * r, e = fma(-b, q, a);
  return fabs(e) < 0x1p1023 ? fma(e, r, q) : q;
}
__device__ __forceinline__ double quotient(double a, double b) { return quotient(a, b, reciprocal(b)); }
__device__ __forceinline__ double root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double e = fma(-(x * r), r, 1.0);
  r = fma(r * e, fma(e, 0.375, 0.5), r);
  const double g = x * r, y = fma(fma(-g, g, x), 0.5 * r, g);
  const double rare = x < 0.0 ? __hiloint2double(0x7ff80000, 0) : x;
  return (unsigned)(__double2hiint(x) - 0x00100000) < 0x7fe00000u ? y : rare;
}
"""

# CUDA's own: in float32, where they are short, and for strict kernels.
GIVEN = """
__device__ __forceinline__ T quotient(T a, T b) { return a / b; }
__device__ __forceinline__ T root(T x) { return sqrt(x); }
"""


def functions(float64: bool, strict: bool) -> str:
    """The text of `quotient` and `root`."""
    return GIVEN if strict or not float64 else OWN


def has_reciprocal(divisor: Node) -> bool:
    """Whether a divisor is known, and so is its reciprocal."""
    return divisor.op == "const" and 1 / NORMAL < abs(divisor.data) < NORMAL
