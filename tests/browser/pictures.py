"""Pictures of every page, as wide as a phone, a tablet and a desktop, in light and dark mode.

`python -m tests.browser.pictures FOLDER [WORD ...]` takes pictures of all pages, or of those with one of these words in their
name, and puts the pictures of each page side by side on a sheet.
"""

import re
import sys
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser

from tests.browser.shown import Shown
from tests.browser.showroom import Showroom
from tests.chromium import running

WIDTHS: Final = (320, 768, 1280)
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

SHEET: Final = """<!doctype html><title>{name}</title><style>body {{ margin: 8px; background: #888; font: 12px sans-serif }}
div {{ display: flex; gap: 8px; align-items: flex-start }} img {{ max-height: 2400px }}</style><p>{name}</p><div>{pictures}</div>"""


def main() -> None:
    """Take the pictures."""
    folder, *words = sys.argv[1:]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with Showroom() as room, running() as chromium:
        pages = [page for page in room.pages() if not words or any(word in page.name for word in words)]
        for scheme in SCHEMES:
            for width in WIDTHS:
                _take(chromium, room, pages, target, width, scheme)
    for shown in pages:
        _sheet(target, shown)
    print(f"{len(pages)} pages are on sheets in {target}, one .html for each")


def _take(
    chromium: Browser, room: Showroom, pages: list[Shown], target: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, base_url=room.url, reduced_motion="reduce"
    )
    page = context.new_page()
    for shown in pages:
        room.open(shown, page)
        # A frame is not painted before it has been scrolled to.
        for frame in page.locator("iframe").all():
            frame.scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=target / _file(shown, width, scheme), full_page=True)
    context.close()


def _file(shown: Shown, width: int, scheme: str) -> str:
    return f"{_plain(shown.name)}-{width}-{scheme}.png"


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", name.lower())


def _sheet(target: Path, shown: Shown) -> None:
    pictures = "".join(f'<img src="{_file(shown, width, scheme)}">' for scheme in SCHEMES for width in WIDTHS)
    (target / f"{_plain(shown.name)}.html").write_text(SHEET.format(name=shown.name, pictures=pictures))


if __name__ == "__main__":
    main()
