"""Controllers and other blocks: laws from signals to signals, continuous, or sampled with a zero-order hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, Value, called, freeze
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

TAKEN, GIVEN, WAITING = "taken", "given", "waiting"  # states of a sampled block beside its own

MOST_WAITING = 1000  # samples on their way to the outputs: each is a state

NUMBERS = (int, float, np.number)

Answer = tuple[Mapping[str, Array], Mapping[str, Array]]


@dataclass(frozen=True, eq=False)
class Block(Element):
    """A law from signals to signals, without a force of its own.

    Without `sample` it is continuous: its outputs follow from the signals of the same instant, and its states from
    their rates. With `sample` [s] it is evaluated at t = 0, sample, 2 sample, ..., and its outputs are held in between;
    the law gives the next values of its states. They appear `delay` [s] later; until then they have their first values.

    A kind of block says which states it has (`memory`), which outputs (`outputs_at_start`), and its law (`answer`).
    """

    structural: ClassVar[tuple[str, ...]] = ("sample", "delay")

    sample: Annotated[float | None, "s"] = field(default=None, kw_only=True)
    delay: Annotated[float, "s"] = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        require_timing(self)

    def memory_at_start(self) -> Mapping[str, Array]:
        """Its own states, with their initial values."""
        return {}

    def outputs_at_start(self) -> Mapping[str, Array]:
        """Its outputs, with their values before the first sample."""
        return {"out": np.zeros(())}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        """Its outputs; and the rates of its states, or, if it is sampled, their next values."""
        raise NotImplementedError

    @property
    def latches(self) -> bool:
        return self.sample is not None

    @property
    def waits(self) -> int:
        """The number of samples that are on their way to the outputs."""
        return 0 if self.sample is None else int(np.ceil(self.delay / self.sample * (1 - 1e-9)))

    def states(self) -> Mapping[str, Array]:
        states = dict(self.memory_at_start())
        if self.sample is None:
            return states
        outputs = self.outputs_at_start()
        states |= {name: value for name, value in outputs.items() if name not in states}
        if self.waits:
            states |= {f"{name}_{WAITING}": np.stack([value] * self.waits) for name, value in outputs.items()}
        return states | {TAKEN: np.zeros(())} | ({GIVEN: np.zeros(())} if self.waits else {})

    def effect(self, scene: Scene) -> Effect:
        if self.sample is not None:
            return Effect(power=np.zeros(()))
        own = {key: scene.states[f"{self.name}.{key}"] for key in self.memory_at_start()}
        outputs, rates = self.answer(scene, own)
        return Effect(power=np.zeros(()), rates=rates, shown={k: v for k, v in outputs.items() if k not in own})

    # As a sampled law.

    def is_due(self, t: Any, states: Mapping[str, Array]) -> Array:
        """Whether the next sample is to be taken at the time t [s]."""
        assert self.sample is not None
        return _reached(t, states[TAKEN] * self.sample, self.sample)

    def given(self, t: Any, states: Mapping[str, Array]) -> dict[str, Array]:
        """Its states after outputs appear whose delay is over."""
        if not self.waits:
            return dict(states)
        assert self.sample is not None
        after = self.delay - (self.waits - 1) * self.sample  # what is left of the delay at the last of the samples
        late = 0.0 if abs(after - self.sample) < 1e-9 * self.sample else after
        appears = _reached(t, states[GIVEN] * self.sample + late, self.sample)
        new = {k: np.where(appears, states[f"{k}_{WAITING}"][0], states[k]) for k in self.outputs_at_start()}
        return {**states, **new, GIVEN: states[GIVEN] + np.where(appears, 1.0, 0.0)}

    def sampled(self, scene: Scene, states: Mapping[str, Array]) -> dict[str, Array]:
        """Its states after a sample."""
        outputs, memory = self.answer(scene, {key: states[key] for key in self.memory_at_start()})
        new = {**states, **memory, TAKEN: states[TAKEN] + 1.0}
        if self.waits:
            waiting = {f"{k}_{WAITING}": v for k, v in outputs.items()}
            return new | {k: np.concatenate([states[k][1:], v[None]]) for k, v in waiting.items()}
        return new | {k: v for k, v in outputs.items() if k not in memory}

    def units(self) -> dict[str, str]:
        return {TAKEN: "1", GIVEN: "1"}


def _reached(t: Any, when: Any, sample: float) -> Array:
    """Whether the time t has reached an instant, up to rounding."""
    return as_array(t) >= when - 1e-9 * sample - 1e-14 * np.abs(t)


def require_timing(block: Block) -> None:
    """An error if the sample time or delay of a block is not one."""
    owner = f"{type(block).__name__} {block.name!r}"
    sample, delay = block.sample, block.delay
    if is_traced(sample, delay):
        raise FieldError(f"sample and delay of {owner} decide its form, and cannot be left free.", "sample")
    if sample is not None and not (isinstance(sample, NUMBERS) and 0 < sample < np.inf):
        raise FieldError(f"sample of {owner} must be a time above zero [s], or None, not {sample!r}.", "sample")
    if not (isinstance(delay, NUMBERS) and 0 <= delay < np.inf):
        raise FieldError(f"delay of {owner} must be zero or more [s], not {delay!r}.", "delay")
    if delay and sample is None:
        raise FieldError(f"{owner} has a delay of {delay:g} s, but no sample time; give it one.", "delay")
    if sample is not None and not delay <= MOST_WAITING * sample:
        raise FieldError(
            f"delay of {owner} is {delay:g} s, more than {MOST_WAITING} samples of {sample:g} s, which can be on their "
            "way at most.",
            "delay",
        )


@dataclass(frozen=True, eq=False, init=False)
class Controller(Block):
    """A law of one's own: plain NumPy, a function of the time [s], of `inputs` and of states, all by name.

        pt.Controller("autopilot", law, inputs={"theta": "wing.q[0]"}, outputs={"elevator": 0.0}, sample=0.01)

        def law(t, theta, integral):
            return -2.0 * theta - integral, {"integral": integral + 0.01 * theta}

    The law returns its output, or a dict of outputs; with states, a pair of that and a dict of the states' rates, or,
    if it is sampled, of their next values. `inputs`: signals by the names of the law's arguments, or anything that a
    force may be: a number, a `Tabulated`, an `Input`, a function (t, scene). `outputs`: names, or a dict with the
    values before the first sample, whose shapes they keep. `states`: a dict with their initial values. `sample` and
    `delay` [s] as in `Block`. An output that is a state has the state's name, and is known before the law is evaluated.
    """

    law: Callable[..., Any] = lambda t: 0.0
    inputs: Mapping[str, Value | str] = None  # type: ignore[assignment]
    outputs: Mapping[str, ArrayLike] = None  # type: ignore[assignment]
    memory: Mapping[str, ArrayLike] = None  # type: ignore[assignment]

    def __init__(
        self,
        name: str,
        law: Callable[..., Any],
        inputs: Mapping[str, Value | str] | None = None,
        outputs: Mapping[str, ArrayLike] | Sequence[str] | str = "out",
        sample: float | None = None,
        delay: float = 0.0,
        states: Mapping[str, ArrayLike] | None = None,
        memory: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """`states` is kept as `memory`: an element's own `states` has those of sampling as well."""
        names = (outputs,) if isinstance(outputs, str) else outputs
        shaped = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, 0.0)
        own = {**(memory or {}), **(states or {})}
        values = {"name": name, "law": law, "inputs": dict(inputs or {}), "outputs": shaped, "memory": own}
        for key, value in (values | {"sample": sample, "delay": delay}).items():
            object.__setattr__(self, key, value)
        freeze(self)
        self._require()

    def _require(self) -> None:
        owner = f"controller {self.name!r}"
        require_timing(self)
        if not callable(self.law):
            raise FieldError(f"law of {owner} must be a function, not {self.law!r}.", "law")
        if twice := set(self.inputs) & set(self.memory):
            raise FieldError(f"{owner} has both an input and a state called {min(twice)!r}; rename one.", "inputs")
        if not self.outputs:
            raise FieldError(f"{owner} has no output; name one.", "outputs")
        for key in {**self.inputs, **self.memory}:
            if key == "t":
                raise FieldError(f"'t' is the time; rename the input or state of {owner}.", "inputs")
        for key in (*self.outputs, *self.memory):
            if not str(key).isidentifier() or key in (TAKEN, GIVEN):
                raise FieldError(f"{key!r} cannot be the name of an output or state of {owner}.", "outputs")

    def memory_at_start(self) -> Mapping[str, Array]:
        return {key: as_array(value) for key, value in self.memory.items()}

    def outputs_at_start(self) -> Mapping[str, Array]:
        return {key: as_array(value) for key, value in self.outputs.items()}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        owner = f"controller {self.name!r}"
        values = {key: taken(x, scene, key, owner) for key, x in self.inputs.items()}
        result = self.law(scene.t, **values, **memory)
        outputs, new = result if self.memory else (result, {})
        if not isinstance(outputs, Mapping):
            own = [key for key in self.outputs if key not in self.memory]
            outputs = {own[0]: outputs} if len(own) == 1 else {}
        known = self.outputs_at_start()
        outputs = {k: memory[k] for k in known if k in memory} | outputs
        if self.sample is None:  # nothing is held, so outputs may have any shape
            known = {k: as_array(outputs.get(k, x)) for k, x in known.items()}
        return fitting(outputs, known, "output", owner), fitting(new, self.memory_at_start(), "state", owner)


def taken(value: Value | str, scene: Scene, key: str, owner: str) -> Array:
    """The value of an input, of any shape; a text is the name of a signal."""
    if isinstance(value, str):
        return scene.signal(value)
    return as_array(called(value, scene, key, owner) if callable(value) else value)


def fitting(given: Mapping[str, Any], known: Mapping[str, Array], what: str, owner: str) -> dict[str, Array]:
    """The outputs of a law, checked: all of these names, in their shapes."""
    for key in given:
        if key not in known:
            raise FieldError(f"the law of {owner} gives the {what} {key!r}, which it has not{hint(key, known)}.", "law")
    values = {}
    for key, first in known.items():
        if key not in given:
            raise FieldError(f"the law of {owner} does not give the {what} {key!r}.", "law")
        value = as_array(given[key])
        if np.shape(value) != np.shape(first):
            raise FieldError(
                f"the law of {owner} gives the {what} {key!r} with shape {np.shape(value)}; it has shape "
                f"{np.shape(first)}.",
                "law",
            )
        values[key] = value
    return values
