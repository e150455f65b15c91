"""Packages whose names are listed in `__init__.pyi`, and imported when they are first used."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def listed(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package: the imports in its list say where each name comes from."""
    where = modules(file)

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = where[name]
        is_module = module == package
        value = importlib.import_module(f"{module}.{name}" if is_module else module)
        value = value if is_module else getattr(value, name)
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where})

    return get, names, sorted(where)


def modules(file: str) -> dict[str, str]:
    """The module that each name in the list of a package comes from; a module itself comes from the package."""
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
