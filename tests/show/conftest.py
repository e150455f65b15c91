"""A real browser, without a display."""

from typing import Any

import pytest

from poinsot.show.chromium import DRAWS, FLAGS, MESA, SWIFT, browser

READY = "window.poinsot?.player.drawn > 0"


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
            started = driver.chromium.launch(executable_path=path, args=[*FLAGS, *drawing])
            page = started.new_page()
            if page.evaluate(DRAWS):
                break
            started.close()
        page.close()
        yield started
        started.close()


@pytest.fixture
def visit(chromium):
    """Opens a page, small so that it is drawn fast; fails the test at its end if the page had an error."""
    context = chromium.new_context(viewport={"width": 480, "height": 420})
    errors: list[str] = []

    def open_page(url: str, offline: bool = False) -> Any:
        context.set_offline(offline)
        page = context.new_page()
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto(url)
        page.wait_for_function(READY, timeout=60_000)
        return page

    yield open_page
    context.close()
    assert errors == []
