"""The ledger of heaps, in loops over bodies: what is conserved, what flows in, and what the step itself adds.

It is that of `run.ledger` and `run.step_errors`. In world axes about the centres of mass, coordinates move on with the
velocities at the end, so that weight adds nothing of its own, and the inertia of a body turns with it: left are

    energy            -h^2 a M a/2 - h (omega x I omega) . omega_1, and what contacts state themselves; and h^2 Q a by
                       forces Q on bodies one by one, which are those at the start,
    angular momentum   R_1 I_B omega_1 - R_0 I_B omega_1 - h omega x I omega, of each body.

What the rest of the world adds is as in any world.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.listed_contacts import ListedContacts, ListOutcome, force_now
from poinsot.contact.pressing import Books
from poinsot.environment import TouchList
from poinsot.fuse import fori_loop, in_memory
from poinsot.run import ledger
from poinsot.run.heaps import Heap, HeapMotion, rest_context
from poinsot.run.step_context import StepContext
from poinsot.run.step_errors import held_beside_tangent, step_error
from poinsot.spatial import motion
from poinsot.world import Motion


def quantities(context: StepContext, t: Scalar, y: Array) -> tuple[Array, Array]:
    """The conserved quantities and gross amounts (12,), and the inflow per second (8 n,) of n sources, of a flat
    state."""
    heap = Heap.of(context, t, in_memory(y), 0.0)
    return amounts(heap), np.ravel(rates_now(heap))


def amounts(heap: Heap) -> Array:
    """The conserved quantities (8,) and the gross amounts (4,)."""
    bodies, g = heap.bodies, heap.gravity
    weight = np.sqrt(g @ g)

    def add(k: Any, sums: tuple[Array, ...]) -> tuple[Array, ...]:
        mass, P, L, energy, momentum, turning, gross = sums
        m, V, x = np.asarray(bodies.mass)[k], bodies.V[k], bodies.x[k] + bodies.about
        p, own, distance = m * V[3:], bodies.I[k] @ V[:3], np.sqrt(x @ x)
        moment = np.cross(x, p) + own
        kinetic, potential = 0.5 * (V[:3] @ own + p @ V[3:]), -m * (g @ x)
        length, fallen = np.sqrt(p @ p), ledger.SHARE * m * np.sqrt(weight * distance)
        return (
            mass + m,
            P + p,
            L + moment,
            energy + kinetic + potential,
            momentum + length + fallen,
            turning + np.sqrt(moment @ moment) + distance * (ledger.SHARE * length + fallen),
            gross + kinetic + np.abs(potential) + ledger.SHARE * m * weight * distance,
        )

    none = np.zeros(())
    start = (none, np.zeros(3), np.zeros(3), none, none, none, none)
    mass, P, L, energy, momentum, turning, gross = fori_loop(len(bodies), add, start)
    stored = sum((e.at_instant(contacts)[0] for e, contacts in heap.lists.values()), np.zeros(()))
    last = [energy + stored, mass, momentum, turning, gross + stored]
    own = np.concatenate([np.stack([mass]), P, L, np.stack(last)])
    if heap.rest is None:
        return own
    effects = {name: heap.rest.effect(name) for name in heap.rest.elements}
    rest = ledger.conserved_quantities(heap.rest, effects), ledger.gross_amounts(heap.rest, effects)
    return own + np.concatenate(rest)


def inflow_rates(heap: Heap, books: Mapping[str, Books], pushed: Mapping[str, Array], moved: Motion | None) -> Array:
    """(n, 8): the inflow per second through each of the sources, given the powers of the lists, their wrenches
    (m + 1, 6) about the point that all is taken about, and the motion of the rest."""
    rates = {name: np.zeros(ledger.WIDTH) for name in ledger.sources(heap.crowd.system)}
    if moved is not None and heap.crowd.rest is not None:
        rates |= dict(zip(ledger.sources(heap.crowd.rest), ledger.inflow_rates(heap.crowd.rest, moved), strict=True))
    rates["gravity"] = rates["gravity"] + _weight(heap)
    rates |= {name: rates[name] + _one_by_one(heap, name) for name in heap.acting}
    for name, (element, _) in heap.lists.items():
        shares, F = books[name].shares(element.turning), pushed[name][len(heap)]
        inflow = -np.concatenate([F[:3] + np.cross(heap.bodies.about, F[3:]), F[3:]])
        power = books[name].power - sum(shares.values(), np.zeros(()))
        rates[name] = _rate(np.zeros(6) if element.internal else inflow, power)
        rates |= {f"{name}.{row}": _rate(np.zeros(6), shares[row]) for row in element.rows}
    return np.stack([*rates.values()])


def rates_now(heap: Heap) -> Array:
    """The inflow per second (n, 8) at an instant, without a step."""
    books = {name: element.at_instant(contacts)[1] for name, (element, contacts) in heap.lists.items()}
    pushed = {name: e.gathered(contacts, _grip(e, contacts), len(heap)) for name, (e, contacts) in heap.lists.items()}
    moved = None
    if heap.rest is not None and heap.crowd.rest is not None:
        moved = heap.crowd.rest.solved(heap.rest)
        moved = replace(moved, wrenches=heap.on_rest(pushed, moved.wrenches))
    return inflow_rates(heap, books, pushed, moved)


def _grip(element: TouchList, contacts: ListedContacts) -> Any:
    return lambda k: force_now(contacts, element.law, k)


def inflow_over(context: StepContext, heap: Heap, h: Scalar, did: HeapMotion, end: Heap) -> Array:
    """The inflow over a step h, and what the step itself adds, (k,) at the indices that are kept."""
    books = {name: outcome.books for name, outcome in did.outcomes.items()}
    rates = np.ravel(inflow_rates(heap, books, did.pushed, did.rest))
    kept = np.concatenate([rates, np.zeros(ledger.WIDTH)])[context.inflow_indices]
    own = _own(heap, did.a, h, did.outcomes, end)
    rest = rest_context(context)
    if rest is not None and did.rest is not None and did.joints is not None and end.rest is not None:
        own = own + step_error(did.rest, did.joints, h, end.rest) + held_beside_tangent(rest, did.rest, h, end.rest)
    inflow: Array = h * kept + context.numerical(own)
    return inflow


def _own(heap: Heap, a: Array, h: Scalar, did: Mapping[str, ListOutcome], end: Heap) -> Array:
    """The contribution of the step itself (8,), from free bodies and lists."""
    bodies = heap.bodies

    def add(k: Any, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        turned, energy = sums
        spin, then = heap.spin(k), end.bodies.R[k].T @ end.bodies.V[k, :3]
        L = bodies.moment_in_body(k) @ then
        w = bodies.R[k] @ then
        lost = 0.5 * h * h * (a[k] @ bodies.inertia_times(a[k], k)) + h * (spin @ w)
        for name in heap.acting:  # these entered their power at the velocities of the start
            lost = lost - h * h * (bodies.wrench_at_centre(heap.own_wrench(name, k), k) @ a[k])
        return turned + end.bodies.R[k] @ L - bodies.R[k] @ L - h * spin, energy - lost

    turned, energy = fori_loop(len(bodies), add, (np.zeros(3), np.zeros(())))
    for name, (element, contacts) in end.lists.items():
        stored = element.at_instant(contacts)[0]
        energy = energy + h * did[name].books.numerical + stored - did[name].after
    return np.concatenate([np.zeros(4), turned, np.stack([energy])])


def _weight(heap: Heap) -> Array:
    """The inflow by gravity (8,)."""
    bodies, g = heap.bodies, heap.gravity

    def add(k: Any, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        m = np.asarray(bodies.mass)[k]
        return sums[0] + m, sums[1] + m * (bodies.x[k] + bodies.about)

    mass, at = fori_loop(len(bodies), add, (np.zeros(()), np.zeros(3)))
    return _rate(np.concatenate([np.cross(at, g), mass * g]), np.zeros(()))


def _one_by_one(heap: Heap, name: str) -> Array:
    """The inflow (8,) by an element that acts on free bodies one by one."""

    def add(k: Any, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        F, (X, V) = heap.own_wrench(name, k), heap.bodies.state(k)
        return sums[0] + motion.wrench_in_frame(X, F), sums[1] + F @ V

    F, power = fori_loop(len(heap.bodies), add, (np.zeros(6), np.zeros(())))
    return _rate(np.zeros(6) if heap.scene.elements[name].internal else F, power)


def _rate(F: Array, power: Any) -> Array:
    """Momentum, angular momentum and energy per second, given the wrench about the world's origin."""
    return np.concatenate([np.zeros(1), F[3:], F[:3], np.reshape(power, (1,))])
