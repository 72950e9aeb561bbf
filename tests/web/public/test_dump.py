"""The nightly file of games on the site: whole or in part, once for who has it, and the handbook's own reader reads it."""

import gzip
import hashlib
import re
import subprocess
import sys
from datetime import timedelta

import pytest

from pbem import paths
from pbem.service.archive import dump
from tests.web.browser import HOST

ADDRESS = "/data/games.jsonl.gz"


@pytest.fixture
def finished(table):
    game = table("bid", 3, options={"max_auctions": 1})
    list(game.play_defaults())
    return game


@pytest.fixture
def made(server, finished, clock, monkeypatch):
    """The bytes of a file of several parts."""
    monkeypatch.setattr(dump, "AT_ONCE", 1)
    clock.advance(timedelta(days=1))
    dump.make_nightly(server, lambda: True)
    return b"".join(part for part, _games in dump.parts(server, server.now()))


def test_it_is_sent_whole_and_once(browser, made, server):
    answer = get(browser, ADDRESS)
    assert (answer.status_code, answer.mimetype, answer.data) == (200, "application/gzip", made)
    assert answer.headers["ETag"] == f'"{hashlib.sha256(made).hexdigest()}"'
    assert answer.headers["Last-Modified"].startswith("Sun, 22 Nov 2026")
    assert answer.headers["Content-Length"] == str(len(made))
    for header in ("ETag", "Last-Modified"):
        asking = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}[header]
        again = get(browser, ADDRESS, **{asking: answer.headers[header]})
        assert (again.status_code, again.data) == (304, b"")
    checksum = get(browser, f"{ADDRESS}.sha256").data.decode()
    assert checksum == f"{hashlib.sha256(made).hexdigest()}  games.jsonl.gz\n"


def test_a_broken_download_goes_on_where_it_broke(browser, made):
    for first, last in ((0, 0), (5, 9), (len(made) // 2, len(made) - 1), (len(made) - 1, len(made) - 1)):
        answer = get(browser, ADDRESS, Range=f"bytes={first}-{last}")
        assert (answer.status_code, answer.data) == (206, made[first : last + 1])
        assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{len(made)}"
    assert get(browser, ADDRESS, Range=f"bytes={len(made)}-").status_code == 416
    assert get(browser, ADDRESS, Range="bytes=3-", **{"If-Range": '"another"'}).data == made


def test_one_who_is_reading_reads_on_when_there_is_a_new_one(browser, made, server, clock, table):
    answer = browser.client.get(ADDRESS, base_url=HOST, buffered=False)
    list(table("bid", 3, options={"max_auctions": 1}).play_defaults())
    clock.advance(timedelta(days=1))
    assert dump.make_nightly(server, lambda: True)
    assert answer.data == made
    assert get(browser, ADDRESS).data != made


def test_there_is_none_before_the_first_night(browser):
    for address in (ADDRESS, f"{ADDRESS}.sha256"):
        assert browser.open(address).status == 404
        assert "It's made every night." in browser.open(address).text


def test_the_example_of_the_handbook_reads_it_and_checks_its_checksum(site, made, finished):
    text = (paths.handbook() / "open-data.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert "https://games.example.org" in code
    run = [sys.executable, "-c", code.replace("https://games.example.org", site)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    winners = len(finished.ranking()[0].seats)
    assert done.stdout == f"1 games\nothers {winners}\n"
    assert gzip.decompress(made)


def get(browser, address, **headers):
    return browser.client.get(address, headers=headers, base_url=HOST)
