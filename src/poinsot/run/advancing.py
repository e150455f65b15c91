"""From one time to another: many steps of one instance, up to a number of them or to a condition."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.environment import TouchList
from poinsot.environment.spot_loop import looped
from poinsot.fuse import Kernel, fori_loop, in_memory, once
from poinsot.fuse.scan import scan
from poinsot.fuse.trace.purity import steady
from poinsot.integrate.embedded import flat
from poinsot.mechanism.stiff_rows import STRAIGHT
from poinsot.run.heap_steps import HeapState

if TYPE_CHECKING:
    from poinsot.run.compiled import CompiledSystem


def advanced(c: "CompiledSystem", x: Array, p: Array, t: Scalar, first: Scalar, h: Scalar, n: Scalar) -> Array:
    """x after n steps from number `first` on, counted from the time t: the times do not depend on how calls are cut."""
    if c.is_adaptive:
        return _marched(c, x, p, t + first * h, t + (first + n) * h, h)[0]
    step = c._make_step(p)
    start = _with_lists_in_memory(c, c._unflatten(x))
    return flat(fori_loop(n, lambda i, form: step(t + (first + i) * h, form, h), start))


def scanned(advance: Any, x: Array, p: Array, t: float, first: int, h: float, stride: int, count: int) -> Array:
    """x of a single world after each of `count` times `stride` steps, (count, nx)."""
    firsts = first + stride * np.arange(count)
    if isinstance(advance, Kernel):
        return cast(Array, scan(advance, x, p, t, firsts, h, stride, count=count))
    records = [x]
    for k in firsts:
        records.append(advance(records[-1], p, t, k, h, stride))
    return np.stack(records[1:])


def scanned_until(
    advance_until: Any, x: Array, p: Array, t: Any, first: Any, h: Any, n: float, through: float, count: int
) -> tuple[Array, Array, Array]:
    """What `advance_until` gives of a single world in `count` calls of n steps, each from where the one before came, by
    rows; those after the row in which the condition becomes true mean nothing."""
    firsts = first + n * np.arange(count)
    return cast(tuple[Array, Array, Array], scan(advance_until, x, p, t, firsts, h, n, through, count=count))


def _with_lists_in_memory(c: "CompiledSystem", form: Any) -> Any:
    """The form that is stepped, with those of its arrays in memory from the start that loops over contacts index: else
    the step is traced once to find that out, and then again."""
    elements = [element for _, element in c.system.description.acting()]
    lists, large = any(isinstance(element, TouchList) for element in elements), c.system.nv > STRAIGHT
    in_loop = bool(looped(elements)) or (lists and large)
    if not in_loop and not lists:
        return form
    y, *memory = form if c.outputs else (form,)
    if isinstance(y, HeapState):
        y = HeapState(in_memory(y.y))
        return (y, *memory) if c.outputs else y
    v = in_memory(y.state.v) if in_loop else y.state.v  # twists of free bodies are parts of it
    q = in_memory(y.state.q) if lists and large else y.state.q
    y = replace(y, state=replace(y.state, q=q, v=v, parts=in_memory(y.state.parts)))
    return (y, *memory) if c.outputs else y


def advanced_until(
    c: "CompiledSystem", x: Array, p: Array, t: Scalar, first: Scalar, h: Scalar, n: Scalar, through: Scalar
) -> tuple[Array, Array, Array]:
    """x before the condition becomes true, or after the step in which it does if `through` is 1; the time [s] before
    that step, and its length [s], 0 if the condition does not become true."""
    met = once(lambda t, x: is_met(c, t, c._from_stepped(x, p), p))  # apart: it changes no bit of the step
    if c.is_adaptive:
        stops = lambda t, form: met(t, flat(form)) & (through <= 0)  # noqa: E731
        x, begin, tried = _marched(c, x, p, t + first * h, t + (first + n) * h, h, stops)
        return x, begin, np.where((through > 0) & met(t + (first + n) * h, x), h, tried)
    step = c._make_step(p)

    def body(i: Scalar, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        x, made = carry
        new, ends = flat(step(t + (first + i) * h, c._unflatten(x), h)), t + (first + i + 1) * h
        true = met(ends, new)
        moves, goes_on = (made == i) & (~true | (through > 0)), (made == i) & ~true
        return np.where(moves, new, x), np.where(goes_on, made + 1.0, made)

    there, made = fori_loop(n, body, (x, np.zeros(())))
    return there, t + (first + made) * h, np.where(made < n, h, 0.0)


def is_met(c: "CompiledSystem", t: Scalar, y: Array, p: Array) -> Any:
    """Whether the condition is true; a number counts as true if it is positive."""
    assert c.until is not None
    context = c.context(p)
    scene, _ = c.system.scene(t, c.unpack(y).state, context.parameters, context.inputs_at(t))
    value = steady(c.until, t, scene, role="until")
    is_bool = np.dtype(getattr(value, "dtype", type(value))).kind == "b"
    return value if is_bool else value > 0


def _marched(
    c: "CompiledSystem", x: Array, p: Array, begin: Scalar, end: Scalar, h: Scalar, is_met: Any = None
) -> tuple[Array, Array, Array]:
    """x at the time `end`, in steps that the method chooses; if a condition is met on the way, x before the step in
    which that happens, its time [s] and the length of that step [s]."""
    assert c._scheme.march is not None
    form = c._unflatten(x)
    remembering = form if c.outputs else (form, np.zeros(0))
    remembering, t, tried = c._scheme.march(c.context(p), c.outputs, remembering, begin, end, h, is_met)
    return flat(remembering), t, tried
