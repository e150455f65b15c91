"""Equations of motion, written once for NumPy, heyoka's expressions and JAX, and ways to solve them.

Each way is a function (problem, tolerance, instances) -> work; the work returns the states (instances, n) in the end.
Problems that heyoka cannot solve, for want of implicit methods or because forces switch, are marked.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import poinsot as pt
import robots
from case import Work
from poinsot.integrate import embedded, rosenbrock, taylor_series
from poinsot.integrate.free_motion import free_motion
from poinsot.spatial import quaternion


@dataclass(frozen=True)
class Problem:
    """y' = rates(math, y), with `math` NumPy, heyoka or jax.numpy; where it starts, how starts differ, how long [s] it
    goes on; what is measured together by Taylor series; whether it is stiff, whether forces switch."""

    rates: Callable[[Any, Any], Sequence[Any]]
    start: tuple[float, ...]
    spread: float | tuple[float, ...]
    duration: float
    groups: tuple[slice, ...]
    stiff: bool = False
    switches: bool = False

    def starts(self, instances: int) -> np.ndarray:
        """(instances, n); the first is the start itself."""
        noise = np.random.default_rng(0).normal(size=(instances, len(self.start)))
        noise[0] = 0.0
        return np.array(self.start) * (1 + np.array(self.spread) * noise)


def double_pendulum(math: Any, y: Any) -> list[Any]:
    """Two rods of 1 m without mass, with 1 kg at the end of each; angles from below."""
    a, b, u, v = (y[k] for k in range(4))
    d = a - b
    s, c = math.sin(d), math.cos(d)
    below = 2.0 - c * c
    left = -2.0 * 9.81 * math.sin(a) - s * (v * v) + c * (9.81 * math.sin(b) - s * (u * u))
    right = 2.0 * (s * (u * u) - 9.81 * math.sin(b)) + c * (2.0 * 9.81 * math.sin(a) + s * (v * v))
    return [u, v, left / below, right / below]


MU, RADIUS, J2 = 3.986004418e14, 6.378137e6, 1.08263e-3  # of the Earth


def oblate(math: Any, y: Any) -> list[Any]:
    """An orbit about the Earth, flattened."""
    x, y_, z, u, v, w = (y[k] for k in range(6))
    r2 = x * x + y_ * y_ + z * z
    pull = -MU / (r2 * math.sqrt(r2))
    flat = 1.5 * J2 * RADIUS**2 / r2
    tilt = 5.0 * z * z / r2
    across = pull * (1.0 + flat * (1.0 - tilt))
    return [u, v, w, across * x, across * y_, pull * (1.0 + flat * (3.0 - tilt)) * z]


def _turns(q: Any, w: Any) -> list[Any]:
    """q' = q w / 2 for quaternions wxyz and angular velocities in the body."""
    return [
        0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]),
        0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]),
        0.5 * (q[0] * w[1] - q[1] * w[2] + q[3] * w[0]),
        0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]),
    ]


def _euler(I: Sequence[float], w: Any, torque: Sequence[Any]) -> list[Any]:
    return [
        (torque[0] + (I[1] - I[2]) * w[1] * w[2]) / I[0],
        (torque[1] + (I[2] - I[0]) * w[2] * w[0]) / I[1],
        (torque[2] + (I[0] - I[1]) * w[0] * w[1]) / I[2],
    ]


def _axes(q: Any) -> list[list[Any]]:
    """The rotation matrix of a quaternion, row by row."""
    a, b, c, d = (q[k] for k in range(4))
    return [
        [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
        [2.0 * (b * c + a * d), a * a - b * b + c * c - d * d, 2.0 * (c * d - a * b)],
        [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]


BRICK = (0.3, 0.6, 0.75)  # kg m^2


def free_top(math: Any, y: Any) -> list[Any]:
    """A brick that tumbles about its middle axis."""
    return [*_turns(y, y[4:7]), *_euler(BRICK, y[4:7], (0.0, 0.0, 0.0))]


def heavy_top(math: Any, y: Any) -> list[Any]:
    """The brick, 1 kg, held at a point, 0.2 m from its centre along z."""
    down = _axes(y)[2]  # the upward direction in the body
    torque = 1.0 * 9.81 * 0.2 * down[1], -1.0 * 9.81 * 0.2 * down[0], 0.0  # c x (-m g up)
    return [*_turns(y, y[4:7]), *_euler(BRICK, y[4:7], torque)]


CRAFT = (10.0, 12.0, 8.0)  # kg m^2, of 100 kg


def spacecraft(math: Any, y: Any) -> list[Any]:
    """A body about the Earth, a sphere, with the gradient of gravity (MacCullagh)."""
    q, p, w, v = y[0:4], y[4:7], y[7:10], y[10:13]
    R = _axes(q)
    r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
    r = math.sqrt(r2)
    u = [(R[0][k] * p[0] + R[1][k] * p[1] + R[2][k] * p[2]) / r for k in range(3)]  # away from the Earth, in the body
    Iu = [CRAFT[k] * u[k] for k in range(3)]
    uIu = u[0] * Iu[0] + u[1] * Iu[1] + u[2] * Iu[2]
    pull = -MU / r2 / 100.0
    f = [pull * (100.0 * u[k] + 1.5 / r2 * ((sum(CRAFT) - 5.0 * uIu) * u[k] + 2.0 * Iu[k])) for k in range(3)]
    about = 3.0 * MU / (r2 * r)
    torque = [about * (u[(k + 1) % 3] * Iu[(k + 2) % 3] - u[(k + 2) % 3] * Iu[(k + 1) % 3]) for k in range(3)]
    rises = [R[k][0] * f[0] + R[k][1] * f[1] + R[k][2] * f[2] for k in range(3)]
    return [*_turns(q, w), v[0], v[1], v[2], *_euler(CRAFT, w, torque), *rises]


SPRINGS = (
    ((0.3, 0.2, 0.1), (2.0, 0.0, 1.0)),
    ((-0.3, 0.2, -0.1), (-2.0, 1.0, 1.0)),
    ((0.0, -0.2, 0.1), (0.0, -2.0, 2.0)),
)


def loaded(math: Any, y: Any) -> list[Any]:
    """A body of 2 kg on three springs (80 N/m, 1.5 m), with weight, quadratic drag and a moment that slows its spin."""
    q, p, w, v = y[0:4], y[4:7], y[7:10], y[10:13]
    R = _axes(q)
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-6)
    force = [-0.3 * speed * v[k] - (19.62 if k == 2 else 0.0) for k in range(3)]
    torque = [-0.02 * w[k] for k in range(3)]
    for arm, anchor in SPRINGS:
        e = [R[k][0] * arm[0] + R[k][1] * arm[1] + R[k][2] * arm[2] for k in range(3)]
        d = [anchor[k] - p[k] - e[k] for k in range(3)]
        pull = 80.0 * (1.0 - 1.5 / math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]))
        F = [pull * d[k] for k in range(3)]
        force = [force[k] + F[k] for k in range(3)]
        f = [R[0][k] * F[0] + R[1][k] * F[1] + R[2][k] * F[2] for k in range(3)]
        torque = [torque[k] + arm[(k + 1) % 3] * f[(k + 2) % 3] - arm[(k + 2) % 3] * f[(k + 1) % 3] for k in range(3)]
    return [*_turns(q, w), v[0], v[1], v[2], *_euler(BRICK, w, torque), *(0.5 * force[k] for k in range(3))]


REST = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
STIFFNESS, DAMPING = np.array([60.0, 60, 60, 60, 25, 15, 5]), np.array([15.0, 15, 12, 12, 5, 4, 2])


@functools.cache
def _panda() -> Any:
    """(y (14,)) -> the accelerations (7,) of the arm under PD, as a kernel."""
    mech = robots.mechanism(robots.panda())

    def accelerations(y: np.ndarray) -> np.ndarray:
        q, v = y[:7], y[7:]
        return pt.forward_dynamics(mech, q, v, STIFFNESS * (REST - q) - DAMPING * v)

    return pt.kernel("(14)->(7)")(accelerations)


def panda(math: Any, y: Any) -> list[Any]:
    """Franka Emika's arm, driven to a pose by feedback. Others than NumPy replay our operations."""
    v = [y[7 + k] for k in range(7)]
    if math is np:
        return [*v, *_panda().function(y)] if pt.fuse.is_traced(y) else [*v, *_panda()(np.asarray(y))]
    return [*v, *replayed(_panda().program().graph, math, [y[k] for k in range(14)])]


def replayed(graph: Any, math: Any, y: Sequence[Any]) -> list[Any]:
    """The outputs of straight-line code by the operations of another library."""
    rules = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
        "neg": lambda a: -a, "sin": math.sin, "cos": math.cos, "sqrt": math.sqrt,
    }  # fmt: skip
    values = dict(zip(graph.params, y, strict=True))
    for node in graph.live():
        if node not in values:
            values[node] = node.data if node.op == "const" else rules[node.op](*(values[arg] for arg in node.args))
    return [values[node] for node in graph.outputs]


def bouncing(math: Any, y: Any) -> list[Any]:
    """A ball of 1 kg on an elastic floor of 10 kN/m: contact takes some 31 ms, a flight 0.6 s and more."""
    return [y[1], math.where(y[0] < 0.0, -1e4 * y[0], 0.0 * y[0]) - 9.81]


NODES = 16


@functools.cache
def _beam() -> np.ndarray:
    """K (n, n) [1/s^2] of a cantilever of n equal segments on hinges; 1 Hz, and up to some 300 times that."""
    bend = np.zeros((NODES, NODES + 2))  # curvatures at the nodes, from the deflections; clamped at the wall
    for k in range(NODES):
        bend[k, k : k + 3] = 1.0, -2.0, 1.0
    B = bend[:, 2:].copy()
    K = B.T @ B
    return K * (2 * np.pi) ** 2 / np.linalg.eigvalsh(K)[0]


BEAM_DAMPING = 0.05  # s, times K: 16 % of the critical damping at 1 Hz


def beam(math: Any, y: Any) -> list[Any]:
    """A beam with stiffness and damping, let go from a bent shape."""
    K, n = _beam(), NODES
    x = [y[k] + BEAM_DAMPING * y[n + k] for k in range(n)]
    pull = [sum(float(K[i, j]) * x[j] for j in range(n) if K[i, j]) for i in range(n)]
    return [*(y[n + k] for k in range(n)), *(-f for f in pull)]


def _bent() -> tuple[float, ...]:
    return (*np.linalg.solve(_beam(), np.eye(NODES)[-1] * 50.0).tolist(), *[0.0] * NODES)


_q, _spin = (1.0, 0.0, 0.0, 0.0), (1.9, 6.3, 1.9)
PROBLEMS = {
    "free top": Problem(free_top, (*_q, *_spin), 0.01, 10.0, (slice(0, 4), slice(4, 7))),
    "heavy top": Problem(heavy_top, (*_q, 0.5, 0.8, 12.0), 0.01, 10.0, (slice(0, 4), slice(4, 7))),
    "loaded body": Problem(
        loaded, (*_q, 0.1, 0.2, 0.3, 1.0, 2.0, -1.0, 0.5, -0.2, 0.3), 0.01, 5.0,
        (slice(0, 4), slice(4, 7), slice(7, 10), slice(10, 13)),
    ),
    "double pendulum": Problem(double_pendulum, (2.0, 1.0, 0.5, -0.3), 0.01, 5.0, (slice(0, 2), slice(2, 4))),
    "Panda under PD": Problem(
        panda, (0.3, 0.2, -0.4, -1.6, 0.3, 1.0, 0.2, *[0.1] * 7), 0.01, 2.0, (slice(0, 7), slice(7, 14))
    ),
    "orbit": Problem(
        oblate, (6.778e6, 1e3, -2e3, 100.0, 4.7e3, 6.0e3), 1e-3, 55_000.0, (slice(0, 3), slice(3, 6))
    ),
    "spacecraft": Problem(
        spacecraft, (*_q, 7.0e6, 1e4, -2e4, 0.03, 0.05, -0.02, 10.0, 6.0e3, 4.0e3), (*[0.0] * 4, *[1e-3] * 9), 6000.0,
        (slice(0, 4), slice(4, 7), slice(7, 10), slice(10, 13)),
    ),
    "bouncing ball": Problem(bouncing, (0.5, 0.3), 0.01, 3.0, (slice(0, 1), slice(1, 2)), switches=True),
    "stiff beam": Problem(beam, _bent(), 0.01, 2.0, (slice(0, NODES), slice(NODES, 2 * NODES)), stiff=True),
}  # fmt: skip


def _started(problem: Problem, instances: int) -> np.ndarray:
    return np.asfortranarray(problem.starts(instances)) if instances > 1 else problem.starts(1)[0]


def _solved(kernel: Any, problem: Problem, instances: int) -> Work:
    times, y = np.array([0.0, problem.duration]), _started(problem, instances)
    return lambda: np.atleast_2d(kernel(times, y)[..., 1, :])


def _traced(problem: Problem) -> Callable[[Any, Any], Any]:
    return lambda t, y: np.stack(problem.rates(np, y))


def ours(name: str, tolerance: float, instances: int = 1) -> Work:
    """Taylor series."""
    problem = PROBLEMS[name]
    return _solved(taylor_series.solution(_traced(problem), tolerance, problem.groups), problem, instances)


def ours_adaptive(name: str, tolerance: float, instances: int = 1) -> Work:
    """DOP853."""
    problem = PROBLEMS[name]
    return _solved(embedded.solution(_traced(problem), embedded.DOP853, tolerance), problem, instances)


def ours_free(name: str, tolerance: float, instances: int = 1) -> Work:
    """The known motion of a free body; steps of 0.6 rad at the least tolerance, and up to 1.5 rad."""
    assert name == "free top"
    problem, moments = PROBLEMS[name], np.array(BRICK)
    h = float(np.interp(np.log10(tolerance), (-13, -3), (0.6, 1.5))) / float(np.linalg.norm(_spin))
    steps = int(np.ceil(problem.duration / h))

    def solved(times: np.ndarray, y: np.ndarray) -> np.ndarray:
        size = np.sqrt(y[:4] @ y[:4])
        q, h = y[:4] / size, (times[1] - times[0]) / steps
        L = quaternion.rotate(q, moments * y[4:])
        q = pt.fori_loop(steps, lambda _, q: free_motion(q, L, moments, h), q)
        w = quaternion.rotate(quaternion.conjugate(q), L) / moments
        return np.stack([y, np.concatenate([size * q, w])])

    return _solved(pt.fuse.Kernel(solved, "(2),(7)->(2,7)"), problem, instances)


def ours_stiff(name: str, tolerance: float, instances: int = 1) -> Work:
    """RODAS."""
    problem = PROBLEMS[name]
    return _solved(embedded.solution(_traced(problem), rosenbrock.RODAS4, tolerance), problem, instances)


def ours_world(name: str, tolerance: float, instances: int = 1) -> Work:
    """A world of a spacecraft, by method="adaptive"."""
    assert name == "spacecraft"
    problem = PROBLEMS[name]
    world = pt.World(gravity=pt.CentralGravity(mu=MU))
    world.add_body("craft", pt.Inertia(100.0, np.zeros(3), np.diag(CRAFT)), position=problem.start[4:7])
    y = problem.starts(instances)
    names = {"position": slice(4, 7), "angular_velocity": slice(7, 10), "velocity": slice(10, 13)}
    vary = {f"craft.{key}": y[:, place] for key, place in names.items()}
    options = {"every": problem.duration, "method": "adaptive", "tolerance": tolerance, "ledger": False}

    def work() -> np.ndarray:
        data = world.simulate(problem.duration, vary=vary, batch=instances, progress=False, **options).data
        kinds = ("orientation", "position", "angular_velocity", "velocity")
        return np.concatenate([data[kind].values[-1, :, 0] for kind in kinds], axis=-1)

    return work


def heyoka(name: str, tolerance: float, instances: int = 1) -> Work:
    """Several instances side by side in its batch mode."""
    import heyoka as hy

    problem = PROBLEMS[name]
    names = hy.make_vars(*(f"y{k}" for k in range(len(problem.start))))
    system = list(zip(names, problem.rates(hy, names), strict=True))
    y0 = problem.starts(instances).T.copy() if instances > 1 else problem.starts(1)[0]
    make = hy.taylor_adaptive_batch if instances > 1 else hy.taylor_adaptive
    solver = make(system, y0.copy(), tol=tolerance, compact_mode=name.startswith("Panda"))

    def work() -> np.ndarray:
        solver.set_time(0.0) if instances > 1 else setattr(solver, "time", 0.0)
        solver.state[:] = y0
        solver.propagate_until(problem.duration)
        return np.atleast_2d(solver.state.T.copy())

    return work


def scipy(name: str, tolerance: float, instances: int = 1) -> Work:
    """One after the other, by DOP853, or Radau where it is stiff; the rates by Python's mathematics, of the Panda and
    the beam by a kernel of ours."""
    import math

    from scipy.integrate import solve_ivp

    problem = PROBLEMS[name]
    options = {"method": "Radau" if problem.stiff else "DOP853", "rtol": max(tolerance, 2.3e-14), "atol": tolerance}
    plain = pt.kernel(f"({len(problem.start)})->({len(problem.start)})")(lambda y: np.stack(problem.rates(np, y)))
    compiled = len(problem.start) > 13
    scalar = type("Mathematics", (), {"where": staticmethod(lambda c, a, b: a if c else b), **vars(math)})

    def rates(t: float, y: np.ndarray) -> Any:
        return plain(y) if compiled else problem.rates(scalar, y.tolist())

    def work() -> np.ndarray:
        ends = [solve_ivp(rates, (0, problem.duration), y, **options).y[:, -1] for y in problem.starts(instances)]
        return np.array(ends)

    return work


def diffrax(name: str, tolerance: float, instances: int = 1) -> Work:
    """Dopri8, or Kvaerno5 where it is stiff, with PID control; side by side by vmap."""
    import jax.numpy as jnp

    problem, solve = PROBLEMS[name], _diffrax_solver(name, instances > 1)
    y = jnp.asarray(problem.starts(instances) if instances > 1 else problem.starts(1)[0])
    return lambda: np.atleast_2d(np.asarray(solve(y, tolerance)))


@functools.cache
def _diffrax_solver(name: str, many: bool) -> Any:
    """(y, tolerance) -> y in the end, compiled once for all tolerances."""
    import diffrax as dx
    import jax
    import jax.numpy as jnp

    problem = PROBLEMS[name]
    term = dx.ODETerm(lambda t, y, args: jnp.stack(problem.rates(jnp, y)))
    method = dx.Kvaerno5() if problem.stiff else dx.Dopri8()

    def one(y: Any, tolerance: Any) -> Any:
        control = dx.PIDController(rtol=tolerance, atol=tolerance)
        options = {"t0": 0.0, "t1": problem.duration, "dt0": None, "y0": y, "max_steps": None}
        return dx.diffeqsolve(term, method, stepsize_controller=control, **options).ys[-1]

    return jax.jit(jax.vmap(one, (0, None)) if many else one)


@functools.cache
def expected(name: str, instances: int = 1) -> np.ndarray:
    """By SciPy's DOP853 at its least tolerance, good to about 1e-12; of what switches or is stiff, in closed form."""
    from scipy.integrate import solve_ivp

    problem = PROBLEMS[name]
    starts = problem.starts(instances)
    if name in _EXACT:
        return np.array([_EXACT[name](y, problem.duration) for y in starts])
    options = {"method": "DOP853", "rtol": 2.3e-14, "atol": 1e-15, "t_eval": (problem.duration,)}
    rates = lambda t, y: np.asarray(problem.rates(np, y))  # noqa: E731
    return np.array([solve_ivp(rates, (0, problem.duration), y, **options).y[:, 0] for y in starts])


def _bounced(y: np.ndarray, duration: float) -> np.ndarray:
    """Parabolas, and in the floor z = -g/k + A cos(w t) + B sin(w t), from zero to zero in 2 (pi - atan2(v w, g))/w."""
    g, w, t = 9.81, 100.0, 0.0
    z, v = y
    flight = (v + np.sqrt(v * v + 2 * g * z)) / g
    while t + flight < duration:
        t, v = t + flight, v - g * flight  # it lands, with v < 0
        inside = 2 * (np.pi - np.arctan2(-v * w, g)) / w
        if t + inside > duration:
            s, low = duration - t, g / w**2
            return np.array([
                low * np.cos(w * s) + v / w * np.sin(w * s) - low, v * np.cos(w * s) - low * w * np.sin(w * s)
            ])  # fmt: skip
        t, z, v = t + inside, 0.0, -v
        flight = 2 * v / g
    s = duration - t
    return np.array([z + v * s - 0.5 * g * s * s, v - g * s])


def _swung(y: np.ndarray, duration: float) -> np.ndarray:
    """exp(A t) y, by the modes of the beam."""
    squares, modes = np.linalg.eigh(_beam())
    a, b = (modes.T @ part for part in np.split(y, 2))
    half = 0.5 * BEAM_DAMPING * squares
    fast = -half - np.sqrt((half**2 - squares).astype(complex))
    slow = squares / fast
    c, d = (b - fast * a) / (slow - fast), (slow * a - b) / (slow - fast)
    c, d = c * np.exp(slow * duration), d * np.exp(fast * duration)
    return np.concatenate([modes @ (c + d).real, modes @ (slow * c + fast * d).real])


_EXACT = {"bouncing ball": _bounced, "stiff beam": _swung}
