// Vectors and quaternions wxyz, in double precision.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = a => Math.hypot(...a);
const unit = a => times(1 / (size(a) || 1), a);
const across = (a, n) => minus(a, times(dot(a, n), n)); // the part of a normal to n
const perpendicular = n => unit(across(Math.abs(n[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], n));

function rotated(q, v) {
  const [w, x, y, z] = q;
  const u = [x, y, z];
  const t = times(2, cross(u, v));
  return add(v, add(times(w, t), cross(u, t)));
}

const conjugate = q => [q[0], -q[1], -q[2], -q[3]];
const between = (x, low, high) => Math.min(high, Math.max(low, x));
