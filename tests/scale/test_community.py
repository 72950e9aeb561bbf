"""No page around the games, and no tick that rates, counts or writes the dump, takes more work the more games and people there are.

Counted, not timed: among few games and many, the steps of SQLite's programs; among as many as PBEM_TEST_GAMES says, beside ten thousand,
the statements and rows that PostgreSQL reads for each page, and the large tables that a plan reads from one end to the other.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from pbem.service.account import my_page, profiles, ratings as own_ratings
from pbem.service.archive import dump
from pbem.service.tables import group_page, hall, listing
from pbem.service.tournaments import calendar, rounds
from pbem.store import ratings as rating_rows
from pbem.web.tournaments import calendar as calendar_pages, public
from tests.scale import community, many, pages, work
from tests.scale.community import Community, Shares
from tests.scale.test_many import MORE
from tests.scale.test_scale import GAMES, whole_tables

FEW, MANY = 600, 2_400
SHARES = Shares(busiest=10, ended=5, current=10)

LIMITS = {
    (my_page, "MOST_OVER"): 5,
    (profiles, "MOST_GAMES"): 10,
    (profiles, "MOST_OPPONENTS"): 3,
    (own_ratings, "MOST_POINTS"): 5,
    (own_ratings, "MOST_EXPLAINED"): 3,
    (hall, "ON_A_PAGE"): 3,
    (listing, "MOST_SHOWN"): 3,
    (group_page, "MOST_READ"): 3,
    (calendar, "MOST"): 5,
    (calendar_pages, "MOST_WINNERS"): 5,
    (public, "_MOST_LISTED"): 5,
    (rating_rows, "AT_ONCE"): 10,
    (dump, "AT_ONCE"): 10,
}
"""How long lists may be. Few games fill those as well."""


FEW_GAMES = 10_000
SMALL = 10_000
"""Rows of a table that PostgreSQL may read as a whole, where a page needs hundreds of them."""

MOST_STATEMENTS = 25
MOST_ROWS = 20_000
"""For one page. Most are of the year's turns of the people at a table."""


@pytest.mark.slow
def test_no_page_or_tick_around_the_games_takes_more_steps_among_more_games_and_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for (module, name), limit in LIMITS.items():
        monkeypatch.setattr(module, name, limit)
    few, much = tmp_path / "few.sqlite3", tmp_path / "many.sqlite3"
    server, clock = many.served(f"sqlite:///{few}", make=True)
    played = community.found(server, clock, [pages.KIND])
    server.store.close()
    shutil.copy(few, much)
    steps, more = (_steps_among(file, times, clock.now(), played) for file, times in ((few, 1), (much, MANY // FEW)))
    assert sum(steps.values()) > 1_000
    grown = {name: (steps[name], more[name]) for name in steps if more[name] > steps[name] * MORE + 50}
    assert grown == {}


def _steps_among(file: Path, times: int, now: datetime, played: Community) -> dict[str, int]:
    server, clock = many.served(f"sqlite:///{file}")
    clock.set(now)
    # The person who has played most has as many games.
    shares = replace(SHARES, busiest=SHARES.busiest * times)
    community.copy(server, clock, played, FEW * times, shares)
    return work.count_steps(server, pages.pages(server, played, file.parent) | pages.ticks(server, played))


@pytest.mark.bench
@pytest.mark.timeout(24 * 3600)
@pytest.mark.parametrize("fresh_database", ["postgresql"], indirect=True)
def test_pages_around_the_games_read_as_little_among_many_people_and_games(
    fresh_database: Callable[[], str], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    read = {}
    for games in (FEW_GAMES, GAMES):
        server, clock = many.served(fresh_database(), make=True)
        played = community.found(server, clock)
        people = community.copy(server, clock, played, games, Shares())
        works = pages.pages(server, played, tmp_path) | pages.ticks(server, played)
        works["ticks: moving tournaments on"] = partial(rounds.advance_due, server)
        for name, do in works.items():
            do()
            with work.statements(server) as sent:
                do()
            read[name, games] = len(sent), work.rows_read(server, sent)
        scans = whole_tables(server, works, SMALL)
        record_property("community.games", community.finished(server))
        record_property("community.people", people)
        record_property("community.busiest", community.games_of(server, played.people[0]))
        server.store.close()
    for name in works:
        print(f"{name:45} {read[name, FEW_GAMES]} {read[name, GAMES]}")
    for kind in pages.KINDS:
        of_kind = [read[name, GAMES] for name in works if name.startswith(f"{kind}: ")]
        record_property(f"community.statements {kind}", max(statements for statements, _rows in of_kind))
        record_property(f"community.rows {kind}", max(rows for _statements, rows in of_kind))
    record_property("community.scans", len(scans))
    assert scans == set()
    assert {name: each for name, each in read.items() if each[0] > MOST_STATEMENTS or each[1] > MOST_ROWS} == {}
