"""The browser of all tests and screenshots: Debian's Chromium, headless, with an empty profile."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.conftest import find_tool


@contextmanager
def running() -> Iterator[Browser]:
    """The browser, started and then closed. Playwright allows one at a time in a process."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=find_tool("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()
