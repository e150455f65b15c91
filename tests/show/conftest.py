"""A real browser, without a display."""

from typing import Any

import pytest

from poinsot.show.chromium import DRAWS, FLAGS, MESA, SWIFT, browser

READY = "window.poinsot?.player.drawn > 0"
PATIENCE = 180_000  # ms: a machine may be busy; what is right comes at once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in the browser are tried again, up to twice: on a busy machine, pages are drawn and laid out late."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session")
def chromium():
    """Chromium, driven by Playwright."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    try:
        path = browser()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with playwright.sync_playwright() as driver:
        for drawing in (MESA, SWIFT):
            started = driver.chromium.launch(executable_path=path, args=[*FLAGS, *drawing], timeout=PATIENCE)
            page = opened(started)
            if page.evaluate(DRAWS):
                break
            started.close()
        else:
            pytest.skip(f"the browser {path} cannot draw in three dimensions")
        page.context.close()
        yield started
        started.close()


def opened(chromium: Any, **options: Any) -> Any:
    """An empty page that waits for a busy machine, in a context of its own with these options."""
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE)
    return context.new_page()


@pytest.fixture
def blank(chromium):
    """Makes empty pages, whose errors do not matter; they are closed at the end of the test."""
    pages: list[Any] = []

    def make(**options: Any) -> Any:
        pages.append(opened(chromium, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.context.close()


@pytest.fixture
def visit(chromium):
    """Opens a page, small so that it is drawn fast; fails the test at its end if the page had an error."""
    context = chromium.new_context(viewport={"width": 480, "height": 420})
    context.set_default_timeout(PATIENCE)
    errors: list[str] = []

    def open_page(url: str, offline: bool = False) -> Any:
        context.set_offline(offline)
        page = context.new_page()
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto(url)
        page.wait_for_function(READY)
        return page

    yield open_page
    context.close()
    assert errors == []
