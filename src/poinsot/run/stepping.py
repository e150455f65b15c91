"""Time stepping of worlds: a table of methods, each with the function that makes a step."""

from poinsot._hints import hint
from poinsot.integrate import embedded, rosenbrock, schemes
from poinsot.integrate.free_motion import free_motion
from poinsot.integrate.splitting import free_rotation
from poinsot.run.adaptive_steps import adaptive_runge_kutta
from poinsot.run.general_steps import runge_kutta, semi_implicit_euler
from poinsot.run.implicit_steps import implicit
from poinsot.run.midpoint_steps import implicit_midpoint
from poinsot.run.momentum_steps import coupled, splitting
from poinsot.run.rosenbrock_steps import adaptive_rosenbrock, fixed_rosenbrock
from poinsot.run.step_context import Method
from poinsot.run.taylor_steps import taylor
from poinsot.run.text_schemes import five_step, matrix_rk4, peskin
from poinsot.world import System
from poinsot.world.system import system_of

METHODS: dict[str, Method] = {
    "euler": runge_kutta(schemes.EULER),
    "midpoint": runge_kutta(schemes.MIDPOINT),
    "rk4": runge_kutta(schemes.RK4),
    "semi-implicit euler": semi_implicit_euler(),
    "implicit midpoint": implicit_midpoint(),
    "implicit": implicit(),
    "implicit, one iteration": implicit(1),
    "adaptive": adaptive_runge_kutta(embedded.DOP853),
    "adaptive5": adaptive_runge_kutta(embedded.DOPRI5),
    "rosenbrock": adaptive_rosenbrock(rosenbrock.RODAS4),
    "rosenbrock2": fixed_rosenbrock(rosenbrock.ROS2),
    "taylor": taylor(),
    "splitting": splitting(2, free_rotation),
    "splitting4": splitting(4, free_rotation),
    "poinsot": splitting(2, free_motion),
    "poinsot4": splitting(4, free_motion),
    # the schemes of the texts, for free bodies and particles
    "peskin": peskin(),
    "five-step": five_step(),
    "five-step, moving reference": five_step(moving_reference=True),
    "momentum-matrix": matrix_rk4(),
}


def choose_method(name: str | None, system: System) -> str:
    """The method of this name, checked; by default a conserving one for free bodies, the implicit one where something
    touches, and RK4 otherwise."""
    if name is None and system.needs_implicit:
        name = "implicit"
    if name is None and system.net is not None:
        return "splitting4"
    if name is None:
        return "rk4" if coupled(system) else "splitting4"
    if name not in METHODS:
        raise ValueError(f"method {name!r} is unknown{hint(name, METHODS)}; there are {', '.join(METHODS)}.")
    if reason := METHODS[name].unsuited(system):
        raise ValueError(f"method {name!r} {reason}")
    return name


def chooses_steps(name: str | None) -> bool:
    """Whether the method of this name, if it is given, chooses its steps itself."""
    return name in METHODS and METHODS[name].march is not None


def another_method(name: str, system: System) -> str:
    """The note that a method was chosen because of the numbers that vary, and which; "" if it is the usual one."""
    usual = choose_method(None, system_of(system.description, ()))
    if name == usual:
        return ""
    varying = [path for path in system.free if choose_method(None, system_of(system.description, (path,))) != usual]
    what = f"{', '.join(map(repr, varying))} {'vary' if len(varying) > 1 else 'varies'}"
    return f"method {name!r} instead of {usual!r}, because {what}, which {usual!r} cannot leave free."
