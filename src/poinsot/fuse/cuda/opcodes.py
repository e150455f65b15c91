"""The CUDA C++ expression of each operation, and the functions that it needs."""

# {a}, {b}, {c} are the arguments, T the float type.
EXPRESSIONS: dict[str, str] = {
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul": "{a} * {b}",
    "div": "quotient({a}, {b})",
    "neg": "-{a}",
    "fma": "fma({a}, {b}, {c})",
    "less": "{a} < {b}",
    "less_equal": "{a} <= {b}",
    "equal": "{a} == {b}",
    "not_equal": "{a} != {b}",
    "and": "{a} && {b}",
    "or": "{a} || {b}",
    "xor": "{a} != {b}",
    "not": "!{a}",
    "where": "{a} ? {b} : {c}",
    "minimum": "least({a}, {b})",
    "maximum": "greatest({a}, {b})",
    "floordiv": "floordiv({a}, {b})",
    "modulo": "modulo({a}, {b})",
    "bit_and": "{a} & {b}",
    "bit_or": "{a} | {b}",
    "bit_xor": "{a} ^ {b}",
    "shift_left": "{a} << {b}",
    "shift_right": "{a} >> {b}",
    "to_float": "(T){a}",
    "to_int": "(int){a}",
    "to_uint": "(unsigned int)(long long){a}",
    "truth": "{a} != 0",
    "power": "pow({a}, {b})",
    "arctan2": "atan2({a}, {b})",
    "hypot": "hypot({a}, {b})",
    "logaddexp": "greatest({a}, {b}) + log1p(exp({a} == {b} ? (T)0 : -absolute({a} - {b})))",
    "copysign": "copysign({a}, {b})",
    "abs": "absolute({a})",
    "spacing": "spacing({a})",
    "sqrt": "root({a})",
    "held": "{a}",
    **{op: f"{op}({{a}})" for op in (
        "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh floor rint trunc"
    ).split()},
    **{f"arc{op}": f"a{op}({{a}})" for op in "sin cos tan sinh cosh tanh".split()},
}  # fmt: skip

# Their replacements with `fast`, in float32: approximate, but good to about 1e-6.
FAST: dict[str, str] = {
    "div": "__fdividef({a}, {b})",
    "sin": "__sinf({a})",
    "cos": "__cosf({a})",
    "exp": "__expf({a})",
    "log": "__logf({a})",
}

# Sine and cosine of one angle at once: subtracting multiples of pi/2, in three parts, leaves at most pi/4, for
# polynomials. Three parts are not enough beyond 1e5; such angles are first reduced by CUDA's own functions. `size` is
# an integer that grows with the angle's magnitude.
TURN = {
    False: """
__device__ __noinline__ float near(float x) { return atan2f(sinf(x), cosf(x)); }
__device__ __forceinline__ int size(float x) { return __float_as_int(x) & 0x7fffffff; }
__device__ __forceinline__ void turn(float x, float& s, float& c) {
  float j = fmaf(x, 0x1.45f306p-1f, 0x1.8p23f);
  const int k = __float_as_int(j);
  j -= 0x1.8p23f;
  float r = fmaf(j, -0x1.921fb0p+0f, x);
  r = fmaf(j, -0x1.5110b4p-22f, r);
  r = fmaf(j, -0x1.846988p-48f, r);
  const float z = r * r;
  const float a = fmaf(fmaf(-0x1.9943f2p-13f, z, 0x1.11073cp-7f), z, -0x1.555546p-3f);
  const float b = fmaf(fmaf(0x1.99eb9cp-16f, z, -0x1.6c0c34p-10f), z, 0x1.55554ap-5f);
  const float p = fmaf(a, r * z, r), q = fmaf(b, z * z, fmaf(z, -0.5f, 1.0f));
  s = __int_as_float(__float_as_int(k & 1 ? q : p) ^ (k << 30 & 0x80000000));
  c = __int_as_float(__float_as_int(k & 1 ? p : q) ^ ((k + 1) << 30 & 0x80000000));
}
""",
    True: """
__device__ __noinline__ double near(double x) { return atan2(sin(x), cos(x)); }
__device__ __forceinline__ int size(double x) { return __double2hiint(x) & 0x7fffffff; }
__device__ __forceinline__ void turn(double x, double& s, double& c) {
  double j = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  const int k = __double2loint(j);
  j -= 0x1.8p52;
  double r = fma(j, -0x1.921fb544p+0, x);
  r = fma(j, -0x1.0b4611a6p-34, r);
  r = fma(j, -0x1.3198a2e037073p-69, r);
  const double z = r * r;
  double a = fma(fma(0x1.5d8fd1fd19ccdp-33, z, -0x1.ae5e5a9291f5dp-26), z, 0x1.71de3567d48a1p-19);
  a = fma(fma(fma(a, z, -0x1.a01a019bfdf03p-13), z, 0x1.111111110f7d0p-7), z, -0x1.5555555555548p-3);
  double b = fma(fma(-0x1.8fa49a0861a9bp-37, z, 0x1.1ee9d7b4e3f05p-29), z, -0x1.27e4f7eac4bc6p-22);
  b = fma(fma(fma(b, z, 0x1.a01a019c844f5p-16), z, -0x1.6c16c16c14f91p-10), z, 0x1.555555555554bp-5);
  const double p = fma(a, r * z, r), q = fma(b, z * z, fma(z, -0.5, 1.0));
  s = k & 1 ? q : p;
  c = k & 1 ? p : q;
  s = __hiloint2double(__double2hiint(s) ^ (k << 30 & 0x80000000), __double2loint(s));
  c = __hiloint2double(__double2hiint(c) ^ ((k + 1) << 30 & 0x80000000), __double2loint(c));
}
""",
}

# Newton steps on the approximate instruction; where that gives 0 or infinity, it is right already.
# Numbers whose reciprocal would not be a normal number count as 0 or infinite.
RECIPROCAL = {
    False: """
__device__ __forceinline__ float reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  const float e = fmaf(-x, r, 1.0f);
  return fabsf(e) < 1.0f ? fmaf(r, e, r) : r;
}
""",
    True: """
__device__ __forceinline__ double reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  double e = fma(-x, r, 1.0);
  const bool fine = fabs(e) < 1.0;
  e = fma(e, e, e);
  const double t = fma(r, e, r);
  e = fma(-x, t, 1.0);
  return fine ? fma(t, e, t) : r;
}
""",
}

PRELUDE = """
template <class U> __device__ U absolute(U a) { return a < 0 ? -a : a + (U)0; }
__device__ T least(T a, T b) { return a != a || a < b ? a : b; }
__device__ T spacing(T a) {
  const T b = a + copysign((T)1 + absolute(a), a + (T)0);
  return (sizeof(T) == 4 ? (T)nextafterf((float)a, (float)b) : (T)nextafter((double)a, (double)b)) - a;
}
__device__ T greatest(T a, T b) { return a != a || a > b ? a : b; }
__device__ int least(int a, int b) { return min(a, b); }
__device__ int greatest(int a, int b) { return max(a, b); }
__device__ int modulo(int a, int b) { int r = b ? a % b : 0; return r && (r ^ b) < 0 ? r + b : r; }
__device__ int floordiv(int a, int b) { return b ? (a - modulo(a, b)) / b : 0; }
"""

# For programs with unsigned integers.
UNSIGNED = """
__device__ unsigned int least(unsigned int a, unsigned int b) { return min(a, b); }
__device__ unsigned int greatest(unsigned int a, unsigned int b) { return max(a, b); }
__device__ unsigned int modulo(unsigned int a, unsigned int b) { return b ? a % b : 0; }
__device__ unsigned int floordiv(unsigned int a, unsigned int b) { return b ? a / b : 0; }
"""
