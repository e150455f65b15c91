"""The map from the texts to the code: every number is there once, all that it names exists, citations lead back."""

import ast
import importlib.util
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import poinsot

ROOT = Path(__file__).parents[1]
SOURCE = Path(poinsot.__file__).parent


def _script():
    spec = importlib.util.spec_from_file_location("make_equations", ROOT / "docs" / "make" / "equations.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _script()
TEXTS = {text.name: text for text in make.texts()}

# What is numbered in the texts, counted in the texts themselves. Peskin has no (31) to (36).
NUMBERED = {
    "Peskin": [f"({k})" for k in (*range(1, 31), *range(37, 63))],
    "Notes": [],
    "Lynch & Park": ["figure 8.5", "theorem 8.1", "definition 8.1", "definition 8.2"],
    "de Nivelle": [
        *(f"({k})" for k in range(1, 9)),
        *(f"definition {k}" for k in ("3.1", "3.2", "3.3", "3.5", "3.6", "4.1")),
        *(f"theorem {k}" for k in ("3.4", "3.7", "3.8", "3.9", "3.10")),
    ],
    "Featherstone": [f"({k})" for k in range(1, 27)],
}
STEPS = [f"4.3, step {k}" for k in range(1, 6)]  # of de Nivelle's procedure


def labels_of(text):
    return [label for row in text.rows for label in make.labels(row.place)]


def test_the_page_is_what_the_data_makes():
    page = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    assert page == make.page(), "run python docs/make/equations.py"


@pytest.mark.parametrize("name", NUMBERED)
def test_every_number_is_there_once_and_in_order(name):
    numbered = [label for label in labels_of(TEXTS[name]) if re.match(r"\(|def|the|fig", label)]
    assert sorted(numbered) == sorted(NUMBERED[name])
    equations = [int(label[1:-1]) for label in numbered if label.startswith("(")]
    assert equations == sorted(equations)
    places = [row.place for row in TEXTS[name].rows]
    assert len(places) == len(set(places))


def test_all_five_texts_and_all_steps_are_there():
    assert list(TEXTS) == list(NUMBERED)
    places = [row.place for row in TEXTS["de Nivelle"].rows]
    assert [place for place in places if place in STEPS] == STEPS
    for name, sections in (("Lynch & Park", ("2.1", "2.2", "2.3")), ("de Nivelle", ("2", "3.1", "4.2", "4.3"))):
        assert {f"section {section}" for section in sections} <= set(labels_of(TEXTS[name]))


def test_every_function_exists():
    for text in TEXTS.values():
        for row in text.rows:
            for name in row.functions:
                _, thing = make.resolve(name)
                assert inspect.ismodule(thing) or callable(thing) or isinstance(thing, property), name


@cache
def functions_in(file):
    return {node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_test_exists():
    for text in TEXTS.values():
        for row in text.rows:
            assert row.tests
            for file, name in row.tests:
                assert name.startswith("test_")
                assert name in functions_in(file), f"{text.name} {row.place}: {file} has no {name}"


def test_no_test_of_a_text_is_forgotten():
    """The files in tests/texts go through the texts, so the map names every test in them."""
    named = {test for text in TEXTS.values() for row in text.rows for test in row.tests}
    for path in (ROOT / "tests" / "texts").glob("test_*.py"):
        file = path.relative_to(ROOT).as_posix()
        assert {name for name in functions_in(file) if name.startswith("test_")} == {n for f, n in named if f == file}


def test_every_erratum_is_in_the_map():
    found = {name for text in TEXTS.values() for row in text.rows for name in row.errata}
    pages = {"test_the_page_names_every_test_and_no_other"}
    assert found == {n for n in functions_in("tests/test_errata.py") if n.startswith("test_")} - pages


@cache
def anchors(page):
    """The headings of a page, as links to them are written."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_and_heading_exists():
    for text in TEXTS.values():
        for row in text.rows:
            page, _, anchor = row.page.partition("#")
            assert not anchor or anchor in anchors(page), f"{text.name} {row.place}: {row.page}"


# Citations: a docstring that names an equation of a text is found in the row of that equation.

REF = r"(?:\(\d\d?\)|(?:definition|def\.|theorem|figure|sections?|p\.) \d+(?:\.\d+)?)"
CITED = re.compile(rf"(Peskin|[Dd]e Nivelle|Lynch & Park),? (?:equations )?({REF}(?:(?:, | and | to |-){REF})*)")
BARE = {"poinsot.mechanism.two_body": "Featherstone", "poinsot.body.lab": "Peskin"}  # (n) is a number of that text


def docstrings():
    """(full name, docstring) of every module, class and function of the source."""
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["poinsot", *path.relative_to(SOURCE).with_suffix("").parts]
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        stack = [(module, ast.parse(path.read_text()))]
        while stack:
            name, node = stack.pop()
            if text := ast.get_docstring(node):
                yield module, name, " ".join(text.split())
            for child in node.body:
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    stack.append((f"{name}.{child.name}", child))


def cited_labels(references):
    """ "(4), (5)" and "(30) to (62)" as lists of labels; "section 2.2 and definition 3.1" likewise."""
    groups = []
    for reference in re.findall(rf"\(\d\d?\)(?:(?:-| to )\(\d\d?\))?|{REF}", references):
        words = reference.replace("def.", "definition").replace("sections", "section")
        groups.append(make.labels(words))
    return groups


@cache
def citations():
    """(module, full name, text, a group of labels) of every citation in a docstring."""
    return list(_citations())


def _citations():
    for module, name, text in docstrings():
        for author, references in CITED.findall(text):
            for group in cited_labels(references):
                yield module, name, author.replace("De", "de"), group
        if module in BARE:
            for group in cited_labels(" ".join(re.findall(r"\(\d\d?\)(?:(?:-| to )\(\d\d?\))?", text))):
                yield module, name, BARE[module], group


def is_named(label, text, module, name):
    """Whether a row with this label names the thing, something inside of it, or what it is inside of."""
    private = name.rsplit(".", 1)[-1].startswith("_")
    for row in TEXTS[text].rows:
        if label in make.labels(row.place):
            for function in row.functions:
                full = make.resolve(function)[0]
                if full == name or full.startswith(f"{name}.") or name.startswith(f"{full}."):
                    return True
                if private and full.startswith(f"{module}."):
                    return True
    return False


def test_citations_are_found():
    cited = {(text, label) for _, _, text, group in citations() for label in group}
    assert {("Peskin", "(52)"), ("de Nivelle", "theorem 3.10"), ("Lynch & Park", "definition 8.1")} <= cited
    assert {("Featherstone", "(26)"), ("de Nivelle", "section 4.3"), ("Peskin", "p. 9")} <= cited
    assert len(citations()) > 80


def test_every_citation_leads_back():
    """Each label that a function cites; of a range that a module cites, at least one."""
    lost = []
    for module, name, text, group in citations():
        found = [is_named(label, text, module, name) for label in group]
        if not (any(found) if name == module else all(found)):
            lost.append(f"{name} cites {text} {group}, but the row of docs/equations.toml does not name it")
    assert lost == []
