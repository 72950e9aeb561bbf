"""Keyboard shortcuts: those of the pages are those of the handbook, and no page has one twice."""

import re
from collections import Counter
from pathlib import Path

from tests.web.browser import Links

TEMPLATES = Path("templates/web")
HANDBOOK = Path("pbem/handbook/pages.md")


def keys_in(source: str) -> list[str]:
    return re.findall(r'accesskey="(.)"', source)


def test_the_handbook_names_the_keys_that_pages_have():
    used = {key for file in TEMPLATES.rglob("*.html") for key in keys_in(file.read_text(encoding="utf-8"))}
    section = HANDBOOK.read_text(encoding="utf-8").partition("## Keyboard shortcuts")[2].partition("\n## ")[0]
    named = re.findall(r"^\| ((?:[A-Z](?:, )?)+) \|", section, re.MULTILINE)
    assert sorted(used) == sorted(key.lower() for each in named for key in each.split(", "))


def test_no_page_has_a_key_twice(browser, sign_in, table, server):
    game = table("templari", 3)
    waiting = table("bid", 3)
    seat = next(iter(game.asked()))
    _, token = Links(server).of(game, seat)
    sign_in(waiting.person_at(0))
    for address, expected in (("/", "agh"), ("/my", "agh"), (f"/s/{token}", "aghmoprt")):
        found = Counter(keys_in(browser.open(address).source))
        assert set(expected) <= set(found), address
        assert max(found.values()) == 1, (address, found)
