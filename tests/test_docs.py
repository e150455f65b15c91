"""The documents: their examples run, their links lead somewhere."""

import base64
import io
import re
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
# Blocks that compare with one of these are run where it is installed.
PEERS = ("mujoco", "pinocchio", "pydrake", "jsbsim", "rocketpy", "Basilisk", "modern_robotics")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name != "courses"], ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    """Every ```python block of a page runs, top to bottom, in one namespace; up to a package that is not installed.

    tests/test_courses.py runs those of the courses.
    """
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        for package in re.findall(r"^import (torch|jax)$|^from poinsot.(learn) import", block, re.MULTILINE):
            name = "".join(package).replace("learn", "gymnasium")
            pytest.importorskip(name, reason=f"{name} is not installed")
        peers = re.findall(rf"^(?:import|from) ({'|'.join(PEERS)})", block, re.MULTILINE)
        if any(find_spec(name) is None for name in peers):
            continue
        exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("peer", PEERS)
def test_blocks_of_peers_are_run(peer):
    """Each has its blocks, which the test above runs; one that is not installed is listed among the skipped tests."""
    pages = [page.name for page in PAGES if re.search(rf"^(?:import|from) {peer}\b", page.read_text(), re.MULTILINE)]
    assert "coming-from.md" in pages
    if find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed: its blocks in {', '.join(pages)} are not run")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_find_them(page):
    missing = []
    for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        target = page.parent / link if link else page
        if target.suffix == ".md" and target.exists() and anchor not in anchors(target):
            missing.append(f"{link}#{anchor}")
    assert missing == []


def anchors(page):
    """The names of the headings of a page as links have them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.strip()).replace(" ", "-") for heading in plain}


def test_files_named_in_documents_exist():
    """`tests/...`, `docs/...` and the like in back quotes are files of this project."""
    missing = []
    for page in PAGES:
        for name in re.findall(r"`((?:tests|docs|src|benchmarks|tools)/[\w./-]+\.\w+)(?:::\w+)?`", page.read_text()):
            if not (ROOT / name).exists():
                missing.append(f"{page.name}: {name}")
    assert missing == []


def test_modules_named_in_documents_exist():
    """`fuse/graph/nodes.py` and the like in back quotes are modules of the package."""
    source, missing = ROOT / "src" / "poinsot", []
    rooms = "|".join(path.name for path in source.iterdir() if path.is_dir())
    for page in PAGES:
        for name in re.findall(rf"`((?:{rooms})/[\w/]+\.py)`", page.read_text()):
            if not (source / name).exists():
                missing.append(f"{page.name}: {name}")
    assert missing == []


def test_the_font_of_equations_has_their_characters():
    """docs/_static/math-font.css holds every character of every equation of the pages, bold and italic ones too."""
    convert = pytest.importorskip("latex2mathml.converter").convert
    TTFont = pytest.importorskip("fontTools.ttLib").TTFont
    data = re.search(r"base64,([\w+/=]+)", (ROOT / "docs/_static/math-font.css").read_text())
    assert data
    font = TTFont(io.BytesIO(base64.b64decode(data[1])))
    assert "MATH" in font
    known = font.getBestCmap()
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.DOTALL):
            shown = unescape(re.sub(r"<[^>]+>", "", convert(block or inline)))
            characters = {*shown, *map(italic, shown)} - set("\n\u2061\u2062\u2063\u2064")
            assert {c for c in characters if ord(c) not in known} == set(), (page.name, block or inline)


def italic(letter):
    """The italic letter that a browser shows for a variable of one letter."""
    if letter == "h":
        return "\u210e"
    for first, last, start in (("a", "z", 0x1D44E), ("A", "Z", 0x1D434), ("α", "ω", 0x1D6FC), ("Α", "Ω", 0x1D6E2)):  # noqa: RUF001
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter
