"""A 7-joint arm, and longer ones: forward dynamics and steps, many at once, one at a time, one after the other."""

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import models
import poinsot.fuse as fuse
from case import Case, Contender, Measured, Work, best
from models import Link, arm

BATCH, LARGE_BATCH, STEPS = 4096, 131072, 1000
inputs = functools.cache(models.states)
Build = Callable[[Sequence[Link]], fuse.Kernel]


def instance(n: int = 7) -> list[np.ndarray]:
    return [x[0] for x in inputs(n, 1)]


# Kernels.
def dynamics(links: Sequence[Link]) -> fuse.Kernel:
    return fuse.kernel("(n),(n),(n)->(n)")(lambda q, qd, tau: models.forward_dynamics(links, q, qd, tau))


def euler(links: Sequence[Link]) -> fuse.Kernel:
    return fuse.kernel("(n),(n),(n)->(n),(n)")(lambda q, qd, tau: models.step(links, q, qd, tau))


def euler_loop(links: Sequence[Link]) -> fuse.Kernel:
    def steps(q: Any, qd: Any, tau: Any) -> Any:
        return fuse.fori_loop(STEPS, lambda i, state: models.step(links, *state, tau), (q, qd))

    return fuse.kernel("(n),(n),(n)->(n),(n)")(steps)


# Many at once.
def batch_first(build: Build, n: int = 7) -> Work:
    return partial(build(arm(n)), *inputs(n, BATCH))


def batch_last(build: Build, n: int = 7) -> Work:
    """Arrays of the same shape whose memory holds each component in one piece."""
    kernel, args = build(arm(n)), [np.asfortranarray(x) for x in inputs(n, BATCH)]
    out = tuple(np.empty((n, BATCH)).T for _ in range(kernel.ufunc(n=n).nout))
    return partial(kernel, *args, out=out if len(out) > 1 else out[0])


def pinocchio_loop(n: int = 7) -> Work:
    import pinocchio as pin

    model = models.to_pinocchio(arm(n))
    data, out = model.createData(), np.empty((BATCH, n))

    def work() -> np.ndarray:
        for i, state in enumerate(zip(*inputs(n, BATCH), strict=True)):
            out[i] = pin.aba(model, data, *state)
        return out

    return work


def pinocchio_pool(n: int = 7) -> Work:
    """The loop over the batch in C++, on memory in Eigen's own order."""
    import pinocchio as pin

    pool, args = pin.ModelPool(models.to_pinocchio(arm(n)), 1), [x.T for x in inputs(n, BATCH)]
    return lambda: pin.abaInParallel(1, pool, *args).T


def heyoka_dynamics(n: int = 7) -> Work:
    import heyoka as hy

    variables = np.array([hy.expression(f"x{i}") for i in range(3 * n)], object)
    results = models.forward_dynamics(arm(n), *variables.reshape(3, n), np=models.HeyokaNumPy())
    hy.llvm_state.set_diskcache_enabled(False)
    function = hy.cfunc(list(results), list(variables), compact_mode=False)
    args, out = np.ascontiguousarray(np.hstack(inputs(n, BATCH)).T), np.empty((n, BATCH))
    return lambda: function(args, out).T


def jax_dynamics(n: int = 7) -> Work:
    """On 6x6 matrices. (Unrolled to scalars, as the others have it, XLA does not finish compiling in 9 minutes.)"""
    import jax

    function = jax.vmap(partial(models.forward_dynamics, arm(n), np=jax.numpy), in_axes=1, out_axes=1)
    compiled, args = jax.jit(function), [jax.device_put(np.ascontiguousarray(x.T)) for x in inputs(n, BATCH)]
    return lambda: np.asarray(compiled(*args).block_until_ready()).T


def mujoco_loop() -> Work:
    import mujoco

    model = models.to_mujoco(arm(7))
    data, out = mujoco.MjData(model), (np.empty((BATCH, 7)), np.empty((BATCH, 7)))
    q, qd, tau = data.qpos, data.qvel, data.qfrc_applied

    def work() -> Any:
        for i, state in enumerate(zip(*inputs(7, BATCH), strict=True)):
            q[:], qd[:], tau[:] = state
            mujoco.mj_step(model, data)
            out[0][i], out[1][i] = q, qd
        return out

    return work


def mujoco_rollout() -> Work:
    import mujoco
    from mujoco.rollout import Rollout

    model, (q, qd, tau) = models.to_mujoco(arm(7)), inputs(7, BATCH)
    data = mujoco.MjData(model)
    start, state = np.hstack([np.zeros((BATCH, 1)), q, qd]), np.empty((BATCH, 1, 15))
    torques, rollout = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), Rollout(nthread=0)
    options = {"control": tau[:, None], "control_spec": torques, "state": state, "nstep": 1}

    def work() -> Any:
        rollout.rollout(model, data, start, **options)
        return state[:, 0, 1:8], state[:, 0, 8:]

    return work


def with_threads(count: int) -> Work:
    kernel, args = dynamics(arm(7)), inputs(7, LARGE_BATCH)

    def work() -> np.ndarray:
        fuse.set_threads(count)
        try:
            return kernel(*args)
        finally:
            fuse.set_threads(1)

    return work


# One at a time.
def one_call(**options: Any) -> Work:
    return partial(dynamics(arm(7)), *instance(), **options)


def one_call_overhead() -> Work:
    kernel = dynamics(arm(7))
    one, many = partial(kernel, *instance()), partial(kernel, *inputs(7, BATCH))
    return Measured(one, lambda: best(one, 5) - best(many, 5) / BATCH)


def one_call_pinocchio() -> Work:
    import pinocchio as pin

    model = models.to_pinocchio(arm(7))
    return partial(pin.aba, model, model.createData(), *instance())


# One after the other.
def start(batch: int) -> Sequence[np.ndarray]:
    return inputs(7, batch) if batch > 1 else instance()


def one_loop(batch: int) -> Work:
    return partial(euler_loop(arm(7)), *start(batch))


def many_calls(batch: int) -> Work:
    kernel = euler(arm(7))

    def work() -> Any:
        q, qd, tau = start(batch)
        for _ in range(STEPS):
            q, qd = kernel(q, qd, tau)
        return q, qd

    return work


def mujoco_steps() -> Work:
    import mujoco

    model = models.to_mujoco(arm(7))
    data = mujoco.MjData(model)

    def work() -> Any:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = instance()
        mujoco.mj_step(model, data, STEPS)
        return data.qpos.copy(), data.qvel.copy()

    return work


def reference_steps(batch: int) -> Any:
    q, qd, tau = inputs(7, batch)
    for _ in range(STEPS):
        q, qd = models.reference_step(arm(7), q, qd, tau)
    return (q, qd) if batch > 1 else (q[0], qd[0])


CASES = (
    *(
        Case(
            name=f"dynamics{n}",
            what=f"Articulated-body forward dynamics of a {n}-joint arm, float64, batch {BATCH} first; per instance",
            items=BATCH,
            contenders=(
                Contender("poinsot", partial(batch_first, dynamics, n)),
                Contender("poinsot, batch last", partial(batch_last, dynamics, n)),
                Contender("pin.aba in a Python loop", partial(pinocchio_loop, n), loop_target, "pinocchio"),
                Contender("pin.abaInParallel, one thread", partial(pinocchio_pool, n), pool_target, "pinocchio"),
            ),
            expected=lambda n=n: models.reference_dynamics(arm(n), *inputs(n, BATCH)),
            tolerance=1e-10,
        )
        for n, loop_target, pool_target in ((7, ">= 20 x", ">= 10 x"), (30, "", ""))
    ),
    *(
        Case(
            name=f"dynamics{n}-last",
            what=f"Articulated-body forward dynamics of a {n}-joint arm, float64, batch {BATCH} last; per instance",
            items=BATCH,
            contenders=(
                Contender("poinsot", partial(batch_last, dynamics, n)),
                Contender("heyoka", partial(heyoka_dynamics, n), "", "heyoka", apart=True),
                *([Contender("JAX", jax_dynamics, "", "jax", apart=True)] if n == 7 else []),
            ),
            expected=lambda n=n: models.reference_dynamics(arm(n), *inputs(n, BATCH)),
            tolerance=1e-10,
        )
        for n in (7, 30)
    ),
    Case(
        name="step7",
        what=f"A semi-implicit Euler step of a 7-joint arm, float64, batch {BATCH}; per instance",
        items=BATCH,
        contenders=(
            Contender("poinsot, batch first", partial(batch_first, euler)),
            Contender("poinsot, batch last", partial(batch_last, euler)),
            Contender("mj_step in a Python loop", mujoco_loop, ">= 25 x", "mujoco"),
            Contender("mujoco.rollout, one thread", mujoco_rollout, "", "mujoco"),
        ),
        expected=lambda: models.reference_step(arm(7), *inputs(7, BATCH)),
        tolerance=1e-10,
    ),
    Case(
        name="threads",
        what=f"Forward dynamics of a 7-joint arm, batch {LARGE_BATCH}; per instance",
        items=LARGE_BATCH,
        contenders=(
            Contender("two threads", partial(with_threads, 2)),
            Contender("one thread", partial(with_threads, 1), ">= 1.8 x"),
        ),
        expected=lambda: models.reference_dynamics(arm(7), *inputs(7, LARGE_BATCH)),
        tolerance=1e-10,
    ),
    Case(
        name="one-call",
        what="Forward dynamics of a 7-joint arm, one instance a call",
        contenders=(
            Contender("poinsot", one_call),
            Contender("poinsot, less what an instance takes in a batch", one_call_overhead, "<= 3 us"),
            Contender("poinsot, out=", partial(one_call, out=np.empty(7))),
            Contender("pin.aba", one_call_pinocchio, "", "pinocchio"),
        ),
        expected=lambda: models.reference_dynamics(arm(7), *inputs(7, 1))[0],
        tolerance=1e-10,
    ),
    *(
        Case(
            name=f"loop-{batch}",
            what=f"{STEPS} semi-implicit Euler steps of a 7-joint arm, batch {batch}; per step and instance",
            items=STEPS * batch,
            contenders=(
                Contender("poinsot, fori_loop in one call", partial(one_loop, batch)),
                Contender(f"poinsot, {STEPS} calls", partial(many_calls, batch)),
                *([Contender("mj_step(nstep=)", mujoco_steps, "", "mujoco")] if batch == 1 else []),
            ),
            expected=partial(reference_steps, batch),
            tolerance=1e-8,
        )
        for batch in (1, 512)
    ),
)
