"""Optional packages: imported where they are used, with an error that names the extra to install."""

import importlib
from types import ModuleType
from typing import Any


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra of Poinsot brings it; "" for what a plain installation brings."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        fix = f"'poinsot[{extra}]'" if extra else "poinsot"
        raise ImportError(f"{purpose} needs the package '{package}': pip install {fix}") from error


def base(module: str, name: str) -> Any:
    """A class of an optional package to derive from; `object` where the package is missing."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return object
