"""Whether the desk's first page costs the same among a hundred thousand tables and a million rows of logs as among few.

The same requests go to two servers in turn, a small one and a large one, and their quickest times are compared; and the
plan of every statement is asked for, as the database makes it where there is much to read.
"""

import time

import pytest

from pbem import config
from pbem.service.desk import overview, statistics
from pbem.service.desk.acts.clocks import Pause
from pbem.store.database_copy import counts
from pbem.web.app import create_app
from tests.bench.tables import begin, crowd, server_on
from tests.service import table_copies
from tests.service.actors import moderate
from tests.service.desk.test_overview import EVERY, scans, statements_of
from tests.web.browser import Browser
from tests.web.desk_pages import at_the_desk

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

FEW, MANY = 1_000, 100_000
ROWS = 10
PAIRS = 15
MOST = 2.0

PAGES = (
    "/desk",
    "/desk?trouble=overdue",
    "/desk?trouble=paused",
    "/desk?trouble=unreachable",
    "/desk?status=playing&kind=bid",
    "/desk?status=over",
    "/desk?q=copy77",
    "/desk/activity",
    "/desk/mail",
    f"/desk/people/{table_copies.FIRST + 5}",
    "/desk/audit",
    "/desk/audit?act=rewind",
    "/desk/audit?by=organiser+Zoe",
    f"/desk/audit?table={table_copies.FIRST}",
)


def test_the_desk_among_a_hundred_thousand_tables_takes_at_most_twice_the_time_among_a_thousand(
    fresh_database, tmp_path, record_property
):
    browsers, settings, servers = {}, config.read({"PBEM_DATA_DIR": str(tmp_path / "data")}), []
    for games in (FEW, MANY):
        server = server_on(fresh_database(), make=True)
        servers.append(server)
        game_id = begin(server, "bid", crowd(server, 3))
        table_copies.copy(server, game_id, games, ROWS)
        moderate(server, Pause(game_id))
        table_copies.acts(server, 10 * games)
        table_copies.analyse(server)
        began = time.perf_counter()
        looks = 1 + sum(1 for _ in iter(lambda server=server: statistics.count(server), False))
        print(f"\n{games:,} tables: counted 30 days in {looks} looks, {time.perf_counter() - began:.1f} s", end="")
        browsers[games] = at_the_desk(Browser(create_app(server, settings)), server)
        if games == MANY:
            with server.store.read() as tx:
                rows = counts(tx)
            for each_filter in EVERY:
                asked = statements_of(
                    server, lambda each_filter=each_filter, server=server: server.read(overview.summary, each_filter)
                )
                read = {each for statement in asked for each in scans(server, *statement, as_planned=True)}
                # A table of a page or two is read quicker than its index, and PostgreSQL knows.
                assert {name for name in read if rows[name] > FEW} == set(), each_filter
    print()
    ratios = {}
    for page in PAGES:
        # The quickest of each says what it takes; the others say what else the machine was doing.
        pairs = [[_timed(browsers[games], page) for games in (FEW, MANY)] for _ in range(PAIRS)]
        few, much = (min(each) for each in zip(*pairs, strict=True))
        ratios[page] = much / few
        print(f"{page:32} {few * 1000:6.1f} ms and {much * 1000:6.1f} ms: {ratios[page]:.2f}")
    for server in servers:
        server.store.close()
    record_property("bench.desk", max(ratios.values()))
    assert all(ratio <= MOST for ratio in ratios.values())


def _timed(browser, page):
    began = time.perf_counter()
    shown = browser.open(page)
    spent = time.perf_counter() - began
    assert shown.status == 200
    return spent
