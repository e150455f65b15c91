"""Runs of nets: what `CompiledSystem` needs of a world that is a net, without writing out its masses and springs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, in_memory
from poinsot.fuse.kernels import Kernel
from poinsot.run.device_calls import OnDevice
from poinsot.run.ledger import SHARE, WIDTH
from poinsot.run.net_steps import NET_STEPS, Inflow, NetMotion
from poinsot.world.flat_values import unpack
from poinsot.world.nets import Net, forces, of_batch, started, stretch
from poinsot.world.system import System

WHOLE = 64  # numbers of an argument, from which on it stays in memory


@dataclass(frozen=True, eq=False)
class NetRun:
    """A net with a method of stepping and its ledger, if one is kept."""

    system: System
    net: Net
    method: str
    inflow: Inflow

    @classmethod
    def of(cls, system: System, method: str, keeps_ledger: bool) -> "NetRun | None":
        """The run of a system by a method; None if it is not a net, or the method not one of nets."""
        net = system.net
        return (
            None
            if net is None or method not in NET_STEPS
            else cls(system, net, method, Inflow.of(system, net, keeps_ledger))
        )

    def with_numbers(self, p: Array, numbers: Mapping[str, Array]) -> Net:
        """The net with the free numbers that are in parameters p (..., np)."""
        return of_batch(self.net, numbers, p.shape[:-1]) if numbers else self.net

    def start(self, p: Array, numbers: Mapping[str, Array]) -> Array:
        """y (..., ny) at the start, for parameters p (..., np) with these free numbers."""
        s = self.system
        y = np.zeros((*p.shape[:-1], s.nq + s.nv + len(self.inflow.indices)))
        y[..., : s.nq], y[..., s.nq : s.nq + s.nv] = started(self.net, s.description)
        for path, value in numbers.items():
            key, where = self.net.places[path]
            if key in ("position", "velocity"):
                part = y[..., : s.nq] if key == "position" else y[..., s.nq : s.nq + s.nv]
                part[..., *where] = value
        return y

    def advanced(self, x: Array, p: Array, shapes: Mapping[str, tuple[int, ...]], h: Scalar, n: Scalar) -> Array:
        """x after n steps of h, for parameters p that hold numbers of these shapes."""
        values = unpack(p, shapes)
        motion = NetMotion.of(self.net, self.inflow, {k: values[k] for k in self.net.places})
        step = NET_STEPS[self.method]
        y: Array = fori_loop(n, lambda _, y: step(motion, y, h), in_memory(x))
        return y

    def advancing(self, function: Callable[..., Array], signature: str, device: str) -> Callable[..., Any]:
        """The compiled function, with its arrays in memory.

        Each operation is rounded on its own, so that the ledger changes no bit of the motion.
        """
        kernel = Kernel(function, signature, strict=True, whole=WHOLE)
        return OnDevice(kernel) if device == "cuda" else kernel

    def conserved(self, y: Array, p: Array, numbers: Mapping[str, Array]) -> tuple[Array, Array]:
        """The conserved quantities (..., 8) and the gross amounts (..., 4), as `run.ledger` has them."""
        s, n = self.system, len(self.net)
        y = np.broadcast_to(y, (*np.broadcast_shapes(y.shape[:-1], p.shape[:-1]), y.shape[-1]))
        net = self.with_numbers(p, numbers)
        m, g = net.mass, net.gravity[..., None, :]
        x, v = (y[..., part].reshape(*y.shape[:-1], n, 3) for part in (slice(s.nq), slice(s.nq, s.nq + s.nv)))
        P, weight, distance = m[..., None] * v, np.linalg.norm(g, axis=-1), np.linalg.norm(x, axis=-1)
        L, kinetic, potential = np.cross(x, P), 0.5 * np.sum(P * v, axis=-1), -m * np.sum(x * g, axis=-1)
        stored = np.zeros(y.shape[:-1])
        for rows in net.springs:
            if rows.law is None:
                stretched = stretch(rows, y[..., : s.nq], y[..., s.nq : s.nq + s.nv])[0] - rows.numbers[..., 1, :]
                stored = stored + np.sum(0.5 * rows.numbers[..., 0, :] * stretched * stretched, axis=-1)
        energy = np.sum(kinetic + potential, axis=-1) + stored
        mass, size = np.broadcast_to(np.sum(m, axis=-1), energy.shape), np.linalg.norm(P, axis=-1)
        fallen = SHARE * m * np.sqrt(weight * distance)
        turning = np.linalg.norm(L, axis=-1) + distance * (SHARE * size + fallen)
        gross = np.sum(kinetic + np.abs(potential) + SHARE * m * weight * distance, axis=-1) + stored
        conserved = [mass[..., None], P.sum(axis=-2), L.sum(axis=-2), energy[..., None]]
        amounts = [mass, np.sum(size + fallen, axis=-1), np.sum(turning, axis=-1), gross]
        return np.concatenate(conserved, axis=-1), np.stack(amounts, axis=-1)

    def possible(self, count: int) -> Array:
        """Which entries of the flattened table of `count` sources and conserved quantities can differ from zero."""
        found = np.zeros(WIDTH * count, dtype=bool)
        found[Inflow.of(self.system, self.net, True).indices] = True
        return found

    def accelerations(self, y: Array, p: Array, numbers: Mapping[str, Array]) -> Array:
        """v' (..., nv)."""
        s = self.system
        net = self.with_numbers(p, numbers)
        F = forces(net, y[..., : s.nq], y[..., s.nq : s.nq + s.nv])
        a = F / net.mass[..., None] + net.gravity[..., None, :]
        return np.reshape(a, (*y.shape[:-1], s.nv))
