"""Aerodynamic coefficients of a whole aircraft: functions, tables, constants, derivatives, or a DAVE-ML model."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Table, is_traced
from poinsot.fuse.trace.purity import steady
from poinsot.parts.element import Dynamics, Effect, Element, Value, called, require_finite, require_points
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

AeroAxes: TypeAlias = Literal["body", "stability", "wind"]

ALONG_FLOW = {"CD": (0, -1.0), "CY": (1, 1.0), "CL": (2, -1.0)}
FORCES: dict[str, dict[str, tuple[int, float]]] = {  # axis and sign of each force coefficient
    "body": {"CX": (0, 1.0), "CY": (1, 1.0), "CZ": (2, 1.0), "CA": (0, -1.0), "CN": (2, -1.0)},
    "stability": ALONG_FLOW,
    "wind": ALONG_FLOW,
}
MOMENTS = {"Cl": 0, "Cm": 1, "Cn": 2}
AIR = (
    "alpha", "beta", "mach", "airspeed", "dynamic_pressure", "impact_pressure", "equivalent_airspeed",
    "calibrated_airspeed", "altitude", "geopotential_altitude", "pressure_altitude", "density_altitude", "density",
    "pressure", "temperature", "speed_of_sound", "reynolds_per_metre",
)  # fmt: skip
RATES = ("p", "q", "r")
HATS = {"p": "p_hat", "q": "q_hat", "r": "r_hat", "adot": "alpha_dot_hat"}  # what a derivative is multiplied by
VARIABLES = (*AIR, *RATES, *HATS.values(), "alpha_dot", "t", "scene")
SLOW = 1e-3  # [m/s]: the least airspeed by which rates are divided

# The names of the standard ANSI/AIAA S-119, and others in use, for our own.
DAVE_INPUTS = {
    "trueAirspeed": "airspeed", "equivalentAirspeed": "equivalent_airspeed", "angleOfAttack": "alpha",
    "angleOfSideslip": "beta", "mach": "mach", "machNumber": "mach", "altitudeMsl": "altitude",
    "dynamicPressure": "dynamic_pressure", "bodyAngularRate_Roll": "p", "bodyAngularRate_Pitch": "q",
    "bodyAngularRate_Yaw": "r", "angleOfAttackRate": "alpha_dot",
}  # fmt: skip
DAVE_OUTPUTS = {
    "CX": ("aeroBodyForceCoefficient_X",),
    "CY": ("aeroBodyForceCoefficient_Y", "sideforceCoefficient"),
    "CZ": ("aeroBodyForceCoefficient_Z",),
    "CL": ("totalCoefficientOfLift", "liftCoefficient"),
    "CD": ("totalCoefficientOfDrag", "dragCoefficient"),
    "Cl": ("aeroBodyMomentCoefficient_Roll", "rollingMomentCoefficient"),
    "Cm": ("aeroBodyMomentCoefficient_Pitch", "pitchingMomentCoefficient"),
    "Cn": ("aeroBodyMomentCoefficient_Yaw", "yawingMomentCoefficient"),
    "area": ("referenceWingArea", "referenceArea"),
    "span": ("referenceWingSpan", "lateralReferencelength", "lateralReferenceLength"),
    "chord": ("referenceWingChord", "longitudinalReferenceLength"),
}


@dataclass(frozen=True, eq=False)
class Aero(Element):
    """Forces and moments of the air on a body, by coefficients about the point `position` (3,) [m] of the body:

        F = q S (CX, CY, CZ),   M = q S (b Cl, c Cm, b Cn),   q = rho V^2/2,   S: area, b: span, c: chord

    The body's axes are those of an aircraft: x forward, y right, z down. `axes`: of the forces. In "body" axes they are
    CX, CY, CZ, or CA = -CX and CN = -CZ; in "stability" and "wind" axes CD, CY, CL: drag, side force, lift. Moments are
    in `moment_axes`: roll to the right, nose up, nose to the right.

    coefficients: a dict. "CL", or "CL0": a coefficient. "CLq", or "CL_q": a derivative by a dimensionless rate, one of
    p b/2V, q c/2V, r b/2V and, as "CLadot", alpha' c/2V. "CL_alpha", "CL_elevator": a derivative by a variable or an
    input. All that belong to a coefficient are summed. Each is a number; a function whose arguments have the names of
    variables and inputs, as `lambda alpha, elevator: ...`; or a table with the names of its axes, as
    (table, "alpha", "mach"). Several outputs of a table or function go to a key such as "CL, CD". Instead of a dict: a
    function that gives a dict; or a model of `pt.load_daveml`, whose inputs and outputs with names of the
    standard S-119 are known, and whose area, span and chord are taken if they are not given.

    Variables: all quantities of `pt.AirData` at `position`, or at the centre of mass (`air_at`="com"); p, q, r [rad/s]
    relative to the air; p_hat, q_hat, r_hat, alpha_dot_hat, dimensionless as above; alpha_dot [rad/s]; t, scene.
    `inputs`: more of them by name: signals, numbers, `Input`s, functions (t, scene); for a model the names are its own.
    `outputs`: names of a model's outputs by ours, {"CL": "lift"}.

    alpha' follows from accelerations, which the force itself decides. So it is a state of the element, "alpha_dot",
    that follows the true one with the time constant `alpha_lag` [s], in air that does not accelerate. At rest
    all forces are zero, and their derivatives finite. Etkin and Reid, Dynamics of Flight, chapter 4; Stevens, Lewis
    and Johnson, Aircraft Control and Simulation, section 2.3.
    """

    body: str = ""
    coefficients: Any = None
    area: Annotated[float | None, "m^2"] = None
    span: Annotated[float | None, "m"] = None
    chord: Annotated[float | None, "m"] = None
    position: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    axes: AeroAxes = "body"
    moment_axes: AeroAxes = "body"
    inputs: Mapping[str, Value | str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    air_at: Literal["position", "com"] = "position"
    alpha_lag: Annotated[float, "s"] = 0.02

    tabled: ClassVar[tuple[str, ...]] = ("coefficients", "inputs")

    def __post_init__(self) -> None:
        owner = f"aero {self.name!r}"
        require_points(owner, position=self.position)
        for key, known in (("axes", FORCES), ("moment_axes", FORCES), ("air_at", ("position", "com"))):
            if getattr(self, key) not in known:
                words = f"{key} of {owner} must be one of {', '.join(known)}, not {getattr(self, key)!r}."
                raise FieldError(words, key)
        for key in ("area", "span", "chord", "alpha_lag"):
            _require_positive(owner, key, getattr(self, key))
        if isinstance(self.coefficients, Mapping) and self.coefficients:
            for name, value in self.coefficients.items():
                _check_coefficient(self, owner, str(name), value)
        elif not callable(self.coefficients):
            words = f"coefficients of {owner} must be a dict such as {{'CL': ...}}, a function or a DAVE-ML model"
            raise FieldError(f"{words}, not {self.coefficients!r}.", "coefficients")
        self._check_lengths(owner)
        self._check_needs(owner)

    def _check_lengths(self, owner: str) -> None:
        """An error if a length is needed that neither the element nor its model gives."""
        asked = {} if not isinstance(self.coefficients, Mapping) else self._parsed
        bases = {base for base, _, _ in asked.values()}
        needed = {"area": True, "span": bases & {"Cl", "Cn"}, "chord": "Cm" in bases}
        hats = {"area": set(), "span": {"p_hat", "r_hat"}, "chord": {"q_hat", "alpha_dot_hat"}}
        for key, why in needed.items():
            given = getattr(self, key) is not None
            if not given and (hats[key] & self.needs or (why and key not in self._model_outputs)):
                raise FieldError(f"{owner} needs its {key}.", key)

    def _check_needs(self, owner: str) -> None:
        known = (*VARIABLES, *self.inputs)
        for name in self.needs:
            if name not in known:
                words = f"{owner} asks for {name!r}, which is neither a variable nor an input{hint(name, known)}"
                raise FieldError(f"{words}; give it in inputs={{{name!r}: ...}}.", "coefficients")
        if self._model is not None:
            for name in self.inputs:
                if name not in self._model.inputs:
                    near = hint(name, self._model.inputs)
                    raise FieldError(f"{owner}: its model has no input {name!r}{near}.", "inputs")

    # What the coefficients are made of.

    @cached_property
    def _model(self) -> Any:
        """The DAVE-ML model, if there is one: a function that knows its inputs and outputs by name."""
        known = all(isinstance(getattr(self.coefficients, key, None), Mapping) for key in ("inputs", "outputs"))
        return self.coefficients if known and callable(self.coefficients) else None

    @cached_property
    def _model_outputs(self) -> dict[str, str]:
        """The model's names for our coefficients and lengths."""
        if self._model is None:
            return {}
        named = {ours: next((n for n in names if n in self._model.outputs), "") for ours, names in DAVE_OUTPUTS.items()}
        for ours, name in self.outputs.items():
            if name not in self._model.outputs:
                near = hint(name, self._model.outputs)
                raise FieldError(f"aero {self.name!r}: its model has no output {name!r}{near}.", "outputs")
            named[ours] = name
        return {ours: name for ours, name in named.items() if name}

    @cached_property
    def _parsed(self) -> dict[str, tuple[str, str, str]]:
        """The keys of the dict, each entry of "CL, CD" by itself: coefficient, variable of a derivative, whole key."""
        keys = [(one.strip(), str(key)) for key in self.coefficients for one in str(key).split(",")]
        return {one: (*_parse(one, FORCES[self.axes]), whole) for one, whole in keys}

    @cached_property
    def needs(self) -> set[str]:
        """The names of the variables and inputs that the coefficients depend on."""
        if self._model is not None:
            given = [self.inputs.get(n, DAVE_INPUTS.get(n, "")) for n in self._model.inputs]
            return {n for n in given if isinstance(n, str) and n in VARIABLES}
        if not isinstance(self.coefficients, Mapping):
            return set(_arguments(self.coefficients))
        names = {variable for _, variable, _ in self._parsed.values() if variable}
        return names.union(*(_names(value) for value in self.coefficients.values()))

    @property
    def _has_alpha_dot(self) -> bool:
        return bool({"alpha_dot", "alpha_dot_hat"} & self.needs)

    # At one instant.

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def states(self) -> Mapping[str, Array]:
        return {"alpha_dot": np.zeros(())} if self._has_alpha_dot else {}

    def effect(self, scene: Scene) -> Effect:
        at = as_array(self.position) if self.air_at == "position" else as_array(scene[self.body].inertia.com)  # type: ignore[union-attr]
        air = scene.air(self.body, self.position if self.air_at == "position" else at)
        C, (S, b, c) = self._coefficients(scene, air)
        f = air.dynamic_pressure * S * (_axes(self.axes, air) @ _stacked(C, FORCES[self.axes]))
        about = np.stack([b * C.get("Cl", 0.0 * S), c * C.get("Cm", 0.0 * S), b * C.get("Cn", 0.0 * S)])
        m = air.dynamic_pressure * S * (_axes(self.moment_axes, air) @ about)
        rates: dict[str, Any] = {}
        if self._has_alpha_dot:
            x = scene.states[f"{self.name}.alpha_dot"]
            rates["alpha_dot"] = lambda motion: (_alpha_dot(motion, self.body, at, air) - x) / self.alpha_lag
        wrench = np.concatenate([m + np.cross(as_array(self.position), f), f])
        return Effect({self.body: wrench}, rates=rates, shown={"force": f, "moment": m, **C})

    def _coefficients(self, scene: Scene, air: Any) -> tuple[dict[str, Array], tuple[Array, Array, Array]]:
        """The coefficients by name, and area, span and chord."""
        lengths = [getattr(self, key) for key in ("area", "span", "chord")]
        if self._model is not None:
            given = self._of_model(scene, air)
            lengths = [
                given.get(key, 0.0) if x is None else x for key, x in zip(get_args(_Lengths), lengths, strict=True)
            ]
            parts = [(key, given[key]) for key in given if key not in get_args(_Lengths)]
        elif isinstance(self.coefficients, Mapping):
            parts = self._of_dict(scene, air)
        else:
            parts = list(self._called(self.coefficients, scene, air).items())
        C: dict[str, Array] = {}
        for key, value in parts:
            base = _parse(key, FORCES[self.axes])[0]
            C[base] = C[base] + value if base in C else as_array(value)
        S, b, c = (as_array(0.0 if x is None else x) for x in lengths)
        return C, (S, b, c)

    def _of_model(self, scene: Scene, air: Any) -> dict[str, Array]:
        given = {}
        for name in self._model.inputs:
            if name in self.inputs:
                given[name] = self._input(name, scene, air)
            elif name in DAVE_INPUTS:
                given[name] = self._variable(DAVE_INPUTS[name], scene, air)
        values = self._model(**given)
        return {ours: values[name] for ours, name in self._model_outputs.items() if ours in _wanted(self.axes)}

    def _of_dict(self, scene: Scene, air: Any) -> list[tuple[str, Array]]:
        values = {key: self._value(value, scene, air) for key, value in self.coefficients.items()}
        parts = []
        for key, (base, variable, whole) in self._parsed.items():
            value, entries = values[whole], [one.strip() for one in whole.split(",")]
            value = value if len(entries) == 1 else value[entries.index(key)]
            parts.append((base, value * self._variable(variable, scene, air) if variable else value))
        return parts

    def _value(self, value: Any, scene: Scene, air: Any) -> Any:
        if isinstance(value, tuple) and value and isinstance(value[0], Table):
            return value[0](*(self._variable(name, scene, air) for name in value[1:]))
        return self._called(value, scene, air) if callable(value) else value

    def _called(self, function: Callable[..., Any], scene: Scene, air: Any) -> Any:
        values = [self._variable(name, scene, air) for name in _arguments(function)]
        return steady(function, *values, role=f"coefficients of aero {self.name!r}")

    def _input(self, name: str, scene: Scene, air: Any) -> Any:
        value = self.inputs[name]
        if isinstance(value, str):
            return self._variable(value, scene, air) if value in VARIABLES else scene.signal(value)
        return as_array(called(value, scene, "inputs", f"aero {self.name!r}") if callable(value) else value)

    def _variable(self, name: str, scene: Scene, air: Any) -> Any:
        """A variable or input by its name."""
        if name in self.inputs and self._model is None:
            return self._input(name, scene, air)
        if name in RATES:
            return air.rates[RATES.index(name)]
        if name in HATS.values():
            length = self.chord if name in ("q_hat", "alpha_dot_hat") else self.span
            return self._variable(name.removesuffix("_hat"), scene, air) * length / (2 * np.maximum(air.airspeed, SLOW))
        if name == "alpha_dot":
            return scene.states[f"{self.name}.alpha_dot"]
        return scene if name == "scene" else scene.t if name == "t" else getattr(air, name)

    def units(self) -> dict[str, str]:
        return {"force": "N", "moment": "N m", "alpha_dot": "rad/s"} | dict.fromkeys(_wanted(self.axes), "1")


_Lengths = Literal["area", "span", "chord"]


def _wanted(axes: str) -> tuple[str, ...]:
    return (*FORCES[axes], *MOMENTS, *get_args(_Lengths))


def _stacked(C: Mapping[str, Array], axes: Mapping[str, tuple[int, float]]) -> Array:
    """The force coefficients (3,)."""
    total: list[Any] = [0.0, 0.0, 0.0]
    for name, (k, sign) in axes.items():
        total[k] = total[k] + sign * C[name] if name in C else total[k]
    return as_array(np.stack([as_array(x) for x in total]))


def _axes(axes: str, air: Any) -> Array:
    """R (3, 3) from these axes to the body's."""
    return np.eye(3) if axes == "body" else air.wind_axes if axes == "wind" else air.stability_axes


def _alpha_dot(motion: Dynamics, body: str, r: Array, air: Any) -> Array:
    """alpha' = (u w' - w u')/(u^2 + w^2) [rad/s] of the point r; 0 at rest. The air does not accelerate."""
    V, A = motion.scene[body].twist, motion.acceleration(body)
    u, _, w = air.velocity
    moved = V[3:] + np.cross(V[:3], r) - air.velocity  # of the air, in body axes
    change = A[3:] + np.cross(A[:3], r) + np.cross(V[:3], moved)
    square = u * u + w * w
    moving = square > SLOW**2
    return np.where(moving, (u * change[2] - w * change[0]) / np.where(moving, square, 1.0), 0.0)


def _parse(key: str, forces: Mapping[str, Any]) -> tuple[str, str]:
    """The coefficient and the variable, if any, of a key: "Cmq" is ("Cm", "q_hat"), "CL_alpha" ("CL", "alpha")."""
    match = re.fullmatch(rf"({'|'.join((*forces, *MOMENTS))})(?:0|_?({'|'.join(HATS)})|_(\w+))?", key)
    if match is None:
        return "", ""
    base, rate, variable = match.groups()
    return base, HATS[rate] if rate else variable or ""


def _check_coefficient(aero: Aero, owner: str, key: str, value: Any) -> None:
    forces = FORCES[aero.axes]
    for one in key.split(","):
        if not _parse(one.strip(), forces)[0]:
            known = (*forces, *MOMENTS)
            words = f"coefficients of {owner}: {one.strip()!r} is not one in {aero.axes} axes{hint(one.strip(), known)}"
            raise FieldError(
                f"{words}; there are {', '.join(known)}, and derivatives such as 'Cmq', 'CY_beta'.", "coefficients"
            )
    if isinstance(value, Table) or (isinstance(value, tuple) and value and isinstance(value[0], Table)):
        table, *names = value if isinstance(value, tuple) else (value,)
        if len(names) != len(table.axes):
            words = f"coefficients of {owner}: the table of {key!r} has {len(table.axes)} axes; name them"
            raise FieldError(f"{words}, as in (table, 'alpha', 'mach').", "coefficients")
        if table.shape != (() if "," not in key else (len(key.split(",")),)):
            words = f"coefficients of {owner}: the table of {key!r} gives values of shape {table.shape}"
            raise FieldError(f"{words}, but the key names {len(key.split(','))}.", "coefficients")
    elif not callable(value):
        shape = () if "," not in key else (len(key.split(",")),)
        if isinstance(value, str) or np.shape(value) != shape:
            words = f"coefficients of {owner}: {key!r} must be a number, a function or (table, 'alpha', ...)"
            raise FieldError(f"{words}, not {value!r}.", "coefficients")
        require_finite(f"{key} of {owner}", coefficients=value)


def _names(value: Any) -> tuple[str, ...]:
    """The names of what a coefficient depends on."""
    if isinstance(value, tuple) and value and isinstance(value[0], Table):
        return tuple(map(str, value[1:]))
    return _arguments(value) if callable(value) else ()


def _arguments(function: Any) -> tuple[str, ...]:
    """The names of the arguments of a function that have no default."""
    if (own := getattr(function, "arguments", None)) is not None:
        return tuple(own)
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        words = f"{function!r} does not tell the names of its arguments; write it as lambda alpha: ..."
        raise FieldError(words, "coefficients") from None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in known if p.default is p.empty and p.kind in by_place)


def _require_positive(owner: str, key: str, value: Any) -> None:
    """An error if a number that is given is not above zero."""
    if value is None or is_traced(value):
        return
    require_finite(owner, **{key: value})
    if np.shape(value) != () or not float(value) > 0:
        raise FieldError(f"{key} of {owner} must be a number above zero, not {value!r}.", key)
