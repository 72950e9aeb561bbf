"""The browser of all tests and pictures: Debian's Chromium, with no window and with nothing of anybody's in it."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.conftest import find_tool


@contextmanager
def running() -> Iterator[Browser]:
    """Start it, and end it. Playwright allows one at a time in a process."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=find_tool("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()
