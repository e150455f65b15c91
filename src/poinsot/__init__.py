"""Rigid-body dynamics as the text books write it, in plain NumPy, compiled into fused kernels.

What a user reaches from here is listed in `__init__.pyi`, and imported when it is first used: so `import poinsot` is
quick, and needs NumPy alone.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

from poinsot._version import __version__ as __version__


def _listed() -> dict[str, tuple[str, str]]:
    """Where each name comes from: a module and the name in it, as the list of imports in `__init__.pyi` says."""
    listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in listed.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: (str(node.module), alias.name) for node in imports for alias in node.names}


_WHERE = _listed()
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'poinsot' has no attribute {name!r}")
    module, own = _WHERE[name]
    value = (
        importlib.import_module(f"poinsot.{own}")
        if module == "poinsot"
        else getattr(importlib.import_module(module), own)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
