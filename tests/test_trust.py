"""The promises of docs/trust.md: each names tests, and those exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "trust.md").read_text()
TESTS = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_the_test_of_a_promise_exists(path, name):
    tree = ast.parse((ROOT / path).read_text())
    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_promise_has_a_test():
    for table in PAGE.split("| promise | shown by |\n")[1:]:
        for row in table.partition("\n\n")[0].splitlines()[1:]:
            assert re.search(r"`tests/[\w/]+\.py::test_\w+`", row), row
