"""The page of each game's seat as a screen reader tells it: headings, lists, tables, fields and buttons in their order.

The texts are kept in the folder `reading_order`, so that a change of the order is read in review.
`python -m tests.browser.reading_order` writes them again.
"""

import tempfile
from datetime import date
from pathlib import Path
from typing import Final

from flask import Flask
from playwright.sync_api import Page

from engine import registry
from pbem import config
from pbem.service.server import Server
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from tests.bot_games import positions
from tests.browser.seat_pages import seat_page
from tests.chromium import running
from tests.fakes import FakeClock, SeededRandomness
from tests.service.conftest import START
from tests.web.applications import application

FOLDER: Final = Path(__file__).with_name("reading_order")


def file_of(kind: str) -> Path:
    """The file with the text of a game."""
    return FOLDER / f"{kind}.txt"


def read_aloud(app: Flask, page: Page, kind: str) -> str:
    """The text of a seat in the middle of a game."""
    page.set_content(seat_page(app, positions(kind, registry.load(kind).seats[0])[1]))
    return page.locator("main").aria_snapshot() + "\n"


def main() -> None:
    """Write the texts of all games."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running() as chromium:
        store = Store(f"sqlite:///{Path(folder) / 'pbem.sqlite3'}")
        keys = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
        server = Server(store, FakeClock(START), SeededRandomness(7), keys)
        app, page = application(server, config.read({"PBEM_DATA_DIR": folder})), chromium.new_page()
        for kind in registry.names():
            file_of(kind).write_text(read_aloud(app, page, kind), encoding="utf-8")
        store.close()


if __name__ == "__main__":
    main()
