"""Screenshots of all emails: `.venv/bin/python -m tests.mail.pictures DIR [GAME ...]`.

For each game, or those named, the longest email of each kind and of each notice: on a phone, on a desk, in dark mode, and as
`w3m` prints it. They are for people to look at; the checks are in `test_screens.py`.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser

from engine import registry
from tests.chromium import running
from tests.conftest import find_tool
from tests.mail.kinds import NAMES, emails_of, kind_of
from tests.mail.sink import ReceivedEmail

SCREENS = {"phone": (320, 640, "light"), "desk": (900, 700, "light"), "dark": (375, 700, "dark")}

OF_THE_GAME = frozenset({"turn", "reminder", "result", "receipt", "digest", "seated", "substitute"})
"""The kinds that show the table, or say what happened there; the others are the same for all games."""


def chosen(game: str, names: tuple[str, ...] = NAMES) -> dict[str, ReceivedEmail]:
    """The longest email of each kind, and of each notice."""
    found: dict[str, ReceivedEmail] = {}
    for email in emails_of(game, names):
        kind = kind_of(email.message)
        if kind == "notice":
            kind += "-" + "-".join(str(email.message["Subject"]).partition(")")[2].split()[-3:]).strip(":")
        if kind not in found or len(email.content) > len(found[kind].content):
            found[kind] = email
    return found


def shoot(browser: Browser, folder: Path, game: str) -> Iterator[str]:
    """Take the screenshots of one game, and yield their names."""
    for kind, email in chosen(game).items():
        name = f"{game}-{kind}"
        (folder / f"{name}.eml").write_bytes(email.content)
        page = folder / f"{name}.html"
        page.write_text(email.html)
        for screen, (width, height, scheme) in SCREENS.items():
            view = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                java_script_enabled=False,
            )
            view.goto(page.as_uri())
            view.screenshot(path=folder / f"{name}-{screen}.png", full_page=True)
            view.close()
        w3m = find_tool("w3m")
        if w3m is not None:
            printed = subprocess.run(
                [w3m, "-dump", "-cols", "72", str(page)], capture_output=True, text=True, check=True
            )
            (folder / f"{name}-w3m.txt").write_text(printed.stdout)
        yield name


def main(folder: Path, games: list[str]) -> None:
    """Take all screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    with running() as browser:
        for game in games or registry.names():
            for name in shoot(browser, folder, game):
                print(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
