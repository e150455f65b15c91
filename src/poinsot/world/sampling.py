"""Sampled laws in a world: sorted by the signals that they take, and evaluated only when they are due."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import FieldError, about
from poinsot._types import Array, Scalar
from poinsot.control.controller import Block
from poinsot.fuse import fori_loop
from poinsot.parts import Scene
from poinsot.world.description import own_states

if TYPE_CHECKING:
    from poinsot.world.instants import State
    from poinsot.world.system import System


def require_one_writer(scene: Scene) -> None:
    """An error if two elements, or an element and an input, show a signal of the same name."""
    writers = dict.fromkeys(scene.inputs, "the input")
    for name, element in scene.elements.items():
        for key in {**element.states(), **scene.effect(name).shown}:
            full, kind = f"{name}.{key}", f"{type(element).__name__} {name!r}"
            if full in writers:
                raise FieldError(
                    f"{writers[full]} and {kind} both write the signal {full!r}; rename one.", "name", name
                )
            writers[full] = kind


def order(scene: Scene) -> tuple[str, ...]:
    """The names of the sampled blocks, each after those whose outputs it takes at the same instant."""
    blocks = {name: e for name, e in scene.elements.items() if isinstance(e, Block) and e.sample is not None}
    takes = {name: _takes(scene, name, blocks) for name in blocks}
    done: dict[str, None] = {}

    def visit(name: str, chain: tuple[str, ...]) -> None:
        for signal, source in takes[name].items():
            if signal in chain:
                links = " -> ".join([signal, *chain[: chain.index(signal) : -1], signal])
                raise FieldError(f"{links} are sampled without a delay between them: give one a delay.", "delay", name)
            if source not in done:
                visit(source, (*chain, signal))
        done[name] = None

    for name in blocks:
        if name not in done:
            visit(name, ())
    return tuple(done)


def _takes(scene: Scene, name: str, blocks: Mapping[str, Block]) -> dict[str, str]:
    """The outputs of other sampled blocks that the law of a block takes, and the blocks, except those with a delay.

    Its own outputs are those that it holds, from the sample before.
    """
    now = replace(scene)
    with about(name):
        blocks[name].sampled(now, own_states(scene.states, name))
    takes: dict[str, str] = {}
    for signal in now.asked:
        source, _, key = signal.rpartition(".")
        if source in blocks and source != name and not blocks[source].waits:
            takes |= {signal: source} if key in blocks[source].outputs_at_start() else {}
    return takes


def settled(
    system: "System", t: Scalar, state: "State", parameters: Mapping[str, Any] | None, inputs: Mapping[str, Any] | None
) -> dict[str, Array]:
    """The states of all parts after a step that ended at the time t [s]: samples are taken where they are due.

    What happens at that instant is noticed after that.
    """
    scene, _ = system.scene(t, state, parameters, inputs)
    states = dict(scene.states)
    blocks: dict[str, Any] = {name: scene.elements[name] for name in system.sampled}
    for name, block in blocks.items():
        states |= _named(name, block.given(t, own_states(states, name)))
    for name, block in blocks.items():
        own, now = own_states(states, name), replace(scene, states=dict(states))

        def take(_: Any, own: dict[str, Array], block: Block = block, now: Scene = now) -> dict[str, Array]:
            return block.sampled(now, own)

        states |= _named(name, fori_loop(np.where(block.is_due(t, own), 1, 0), take, own))
    for name in system.events:
        event: Any = scene.elements[name]
        states |= _named(name, event.noticed(replace(scene, states=dict(states)), own_states(states, name)))
    return states


def _named(owner: str, own: Mapping[str, Array]) -> dict[str, Array]:
    return {f"{owner}.{key}": value for key, value in own.items()}


def require_whole_steps(system: "System", step: float) -> None:
    """An error if a sample time or a delay is not a whole number of steps [s]."""
    for name in system.sampled:
        block: Any = system.description.elements[name]
        for field in ("sample", "delay"):
            time = getattr(block, field)
            count = time / step
            if abs(count - round(count)) > 1e-6 * max(count, 1.0) or (time > 0 and round(count) < 1):
                n = max(1, round(count))
                raise FieldError(
                    f"{field} of {type(block).__name__} {name!r} is {time:g} s, which is not a whole number of steps "
                    f"of {step:g} s; the nearest is {n * step:g} s, or take a step of {time / n:g} s.",
                    field,
                    name,
                )
