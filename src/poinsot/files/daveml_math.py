"""Content MathML, as in the calculations of DAVE-ML: formulas become functions of plain NumPy that can be traced."""

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import pairwise
from typing import Any, TypeAlias
from xml.etree.ElementTree import Element

import numpy as np

from poinsot._hints import hint
from poinsot.files.size_limits import FORMULA_DEPTH

Formula: TypeAlias = Callable[[Mapping[str, Any]], Any]  # of the values of variables, by varID


def _fold(f: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *args: reduce(f, args)


def _chain(f: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A relation of two or more: a < b < c."""
    return lambda *args: reduce(np.logical_and, [f(a, b) for a, b in pairwise(args)])


# Each with the least and the greatest number of arguments.
MANY = 1000
OPERATORS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "plus": (_fold(np.add), 1, MANY),
    "times": (_fold(np.multiply), 1, MANY),
    "minus": (lambda a, *b: a - b[0] if b else -a, 1, 2),
    "divide": (np.true_divide, 2, 2),
    "power": (np.power, 2, 2),
    "rem": (np.fmod, 2, 2),
    "quotient": (lambda a, b: np.trunc(a / b), 2, 2),
    "max": (_fold(np.maximum), 1, MANY),
    "min": (_fold(np.minimum), 1, MANY),
    "and": (_fold(lambda a, b: np.logical_and(_truth(a), _truth(b))), 1, MANY),
    "or": (_fold(lambda a, b: np.logical_or(_truth(a), _truth(b))), 1, MANY),
    "xor": (_fold(lambda a, b: np.logical_xor(_truth(a), _truth(b))), 1, MANY),
    "not": (lambda a: np.logical_not(_truth(a)), 1, 1),
    **{
        name: (_chain(f), 2, MANY)
        for name, f in {
            "lt": np.less,
            "leq": np.less_equal,
            "gt": np.greater,
            "geq": np.greater_equal,
            "eq": np.equal,
            "neq": np.not_equal,
        }.items()
    },
    **{
        name: (f, 1, 1)
        for name, f in {
            "abs": np.abs,
            "exp": np.exp,
            "ln": np.log,
            "floor": np.floor,
            "ceiling": np.ceil,
            **{name: getattr(np, name) for name in "sin cos tan sinh cosh tanh arcsin arccos arctan".split()},
            **{f"arc{name}h": getattr(np, f"arc{name}h") for name in ("sin", "cos", "tan")},
            "sec": lambda x: 1 / np.cos(x),
            "csc": lambda x: 1 / np.sin(x),
            "cot": lambda x: 1 / np.tan(x),
        }.items()
    },
}
SYMBOLS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "atan2": (np.arctan2, 2, 2),
    "mod": (np.fmod, 2, 2),
    "sign": (np.sign, 1, 1),
    "trunc": (np.trunc, 1, 1),
}
CONSTANTS = {"pi": np.pi, "exponentiale": np.e, "true": True, "false": False, "infinity": np.inf, "notanumber": np.nan}


def formula(element: Element, needs: set[str], depth: int = 0) -> Formula:
    """The function that an element of MathML stands for; the varIDs that it reads are added to `needs`."""
    if depth > FORMULA_DEPTH:
        raise ValueError(f"the formula is nested more than {FORMULA_DEPTH} deep.")
    tag = element.tag
    if tag in CONSTANTS:
        return lambda values: CONSTANTS[tag]
    if tag == "cn":
        number = _number(element)
        return lambda values: number
    if tag == "ci":
        name = (element.text or "").strip()
        needs.add(name)
        return lambda values: values[name]
    if tag == "piecewise":
        return _piecewise(element, needs, depth + 1)
    if tag == "apply" and len(element):
        return _apply(element, needs, depth + 1)
    raise ValueError(f"MathML's <{tag}>{' without anything in it' * (tag == 'apply')} is not known here.")


def _apply(element: Element, needs: set[str], depth: int) -> Formula:
    head, *rest = element
    if not rest and head.tag in ("piecewise", "ci", "cn", "apply"):  # NASA's files wrap a piecewise so
        return formula(head, needs, depth)
    qualifiers = {child.tag: child for child in rest if child.tag in ("degree", "logbase")}
    arguments = [formula(child, needs, depth) for child in rest if child.tag not in qualifiers]
    extra = [formula(child[0], needs, depth) for child in qualifiers.values() if len(child)]
    operation, least, most = _operator(head)
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} or more" if most == MANY else f"{least} to {most}"
        raise ValueError(f"<{head.tag}> has {len(arguments)} arguments; it takes {wanted}.")
    return lambda values: operation(*(f(values) for f in (*arguments, *extra)))


def _operator(head: Element) -> tuple[Callable[..., Any], int, int]:
    if head.tag == "csymbol":
        name = (head.text or "").strip()
        if name not in SYMBOLS:
            raise ValueError(f"the csymbol {name!r} is not known{hint(name, SYMBOLS)}; there are {', '.join(SYMBOLS)}.")
        return SYMBOLS[name]
    if head.tag == "root":
        return (lambda x, n=2: np.sqrt(x) if isinstance(n, int) else np.power(x, 1 / n)), 1, 1
    if head.tag == "log":
        return (lambda x, base=10: np.log10(x) if isinstance(base, int) else np.log(x) / np.log(base)), 1, 1
    if head.tag not in OPERATORS:
        raise ValueError(f"MathML's <{head.tag}> is not known here{hint(head.tag, OPERATORS)}.")
    return OPERATORS[head.tag]


def _piecewise(element: Element, needs: set[str], depth: int) -> Formula:
    pieces, last = [], None
    for child in element:
        if child.tag == "piece" and len(child) == 2:
            value, condition = (formula(part, needs, depth) for part in child)
            pieces.append((condition, value))
        elif child.tag == "otherwise" and len(child) == 1 and last is None:
            last = formula(child[0], needs, depth)
        else:
            raise ValueError("<piecewise> holds pieces of a value and a condition, and at most one <otherwise>.")

    def evaluate(values: Mapping[str, Any]) -> Any:
        result: Any = np.nan if last is None else last(values)
        for condition, value in reversed(pieces):
            result = np.where(_truth(condition(values)), value(values), result)
        return result

    return evaluate


def _truth(x: Any) -> Any:
    return x if isinstance(x, bool | np.bool_) or (hasattr(x, "dtype") and x.dtype == np.bool_) else x != 0


def _number(element: Element) -> float:
    parts = [(element.text or "").strip(), *((child.tail or "").strip() for child in element if child.tag == "sep")]
    kind = element.get("type", "real")
    try:
        if kind == "e-notation" and len(parts) == 2:
            return float(f"{parts[0]}e{parts[1]}")
        if kind == "rational" and len(parts) == 2:
            return float(parts[0]) / float(parts[1])
        return float(parts[0])
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{' '.join(parts)!r} in <cn> is not a number.") from None
