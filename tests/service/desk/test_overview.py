"""The overview of the desk: urgent tables, troubles and search; read from indexes, however many tables there are."""

from datetime import timedelta
from functools import partial
from itertools import product

import pytest
from sqlalchemy import event

from pbem.domain.acts import Actor, Role
from pbem.domain.errors import BadInput
from pbem.service.clocks import reachability
from pbem.service.clocks.outages import Worker, beat
from pbem.service.desk import overview, person as desk_person
from pbem.service.desk.acts.clocks import Pause
from pbem.service.desk.acts.emails import ResendOfNoTable, RetryIncoming
from pbem.service.desk.acts.people import Ban
from pbem.service.desk.overview import LATE, TableFilter
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import flaws, ledger, outbox, received
from pbem.store.overview import TROUBLES
from pbem.store.schema import METADATA
from tests.service import table_copies
from tests.service.actors import OLGA, moderate
from tests.service.database import queued_emails
from tests.service.inbox import Inbox

EVERY = (
    TableFilter(),
    *(TableFilter(trouble=trouble) for trouble in TROUBLES),
    TableFilter(status="over"),
    TableFilter(status="playing", kind="sun-bid"),
    TableFilter(text="copied pat"),
    TableFilter(text="copy7"),
    TableFilter(person_id=table_copies.FIRST + 1),
)
"""A list of each kind."""

MOST = 18
"""Statements of the page; signing in to the desk takes a few more."""


def listed(server, **filters):
    return [each.row.id for each in server.read(overview.summary, TableFilter(**filters)).page.tables]


def test_tables_are_listed_in_the_order_of_their_deadlines(server, table, time):
    slow, quick = table("sun-bid", 2, pace="3d"), table("sun-bid", 2, pace="1d")
    time.sends()
    assert listed(server) == [quick.id, slow.id]


def test_a_table_is_listed_once_however_many_seats_are_asked(server, table, time):
    game = table("bid", 3)
    time.sends()
    assert len(game.asked()) > 1
    assert listed(server) == [game.id]


def test_each_trouble_is_counted_listed_and_named(server, table, time):
    game = table("sun-bid", 2)
    time.sends()
    (seat,) = game.asked()
    assert not any(server.read(overview.summary, TableFilter()).page.tables[0].troubles)
    for trouble, happens in (
        ("paused", lambda: moderate(server, Pause(game.id))),
        ("unreachable", lambda: server.run(reachability.note_refusal, game.person_at(seat), "no such mailbox")),
        ("parked", lambda: server.store.write(lambda tx: outbox.change(tx, game.emails()[-1].id, status="parked"))),
        (
            "flawed",
            lambda: server.store.write(
                lambda tx: flaws.replace(tx, game.id, flaws.FlawRow(game.id, server.now(), 3, "x"))
            ),
        ),
    ):
        assert listed(server, trouble=trouble) == []
        happens()
        found = server.read(overview.summary, TableFilter(trouble=trouble))
        assert getattr(found.counts, trouble) == 1
        assert trouble in found.page.tables[0].troubles


def test_a_clock_that_nobody_acts_on_is_overdue_after_a_while(server, table, time):
    game = table("sun-bid", 2)
    time.sends()
    (seat,) = game.asked()
    time.passes_until(time.due(game, seat) + LATE)
    assert listed(server, trouble="overdue") == []
    time.passes(timedelta(seconds=1))
    assert listed(server, trouble="overdue") == [game.id]
    assert server.read(overview.summary, TableFilter()).counts.overdue == 1


def test_tables_are_found_by_title_key_and_players_and_by_nothing_else(server, table, person):
    game = table("sun-bid", 2, title="Élan vital on Fridays")
    other = server.run(joining.create_table, person("Zoe"), TableSettings("bid", 3, title="Monday")).game_id
    for text in ("friday", "elan", "FRI vit", "ann", "ben fridays", game.row().key):
        assert listed(server, text=text) == [game.id], text
    assert listed(server, text="zoe") == []
    server.run(joining.join, other, person("Zoe"))
    assert listed(server, text="zoe mon") == [other]
    for text in ("friday mon", "ann@example.org", "example", "%", "_", "'", "", "  "):
        assert game.id not in listed(server, text=text) or not text.strip(), text


def test_a_player_who_left_is_not_found(server, table, person):
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3, title="Monday")).game_id
    server.run(joining.join, waiting, person("Ben"))
    assert listed(server, text="ben") == [waiting]
    server.run(leaving.leave, waiting, person("Ben"))
    assert listed(server, text="ben") == []


def test_a_person_is_found_by_the_whole_address_only(server, person):
    ann = person("Ann")
    assert server.read(overview.person_with, " Ann@EXAMPLE.org ") == ann
    assert server.read(overview.person_with, "an@example.org") is None
    with pytest.raises(BadInput):
        server.read(overview.person_with, "ann")


@pytest.mark.parametrize(
    "table_filter",
    [TableFilter(), TableFilter(status="playing"), TableFilter(trouble="paused"), TableFilter(text="copied")],
)
def test_pages_follow_each_other_without_a_gap_and_without_a_table_twice(server, table, time, table_filter):
    game = table("sun-bid", 2)
    time.sends()
    table_copies.copy(server, game.id, 60, rows=1)
    whole = [each.row.id for each in server.read(overview.summary, table_filter, limit=100).page.tables]
    assert table_filter.trouble or len(whole) > 40
    found, after = [], ""
    while True:
        page = server.read(overview.summary, table_filter, after, limit=7).page
        found += [each.row.id for each in page.tables]
        if not (after := page.after):
            break
    assert found == whole


@pytest.mark.parametrize("after", ["x", "-1", "20261121T120000.000000", "1_2", "9" * 30])
def test_an_invalid_page_mark_is_refused(server, after):
    with pytest.raises(BadInput, match="no such page"):
        server.read(overview.summary, TableFilter(), after)


def test_the_state_of_the_server_is_shown(server, clock, table):
    assert not server.read(overview.summary, TableFilter()).awake
    server.run(beat, Worker("one", clock.now()))
    assert server.read(overview.summary, TableFilter()).awake
    table("sun-bid", 2)
    clock.advance(timedelta(minutes=10))
    found, emails = server.read(overview.summary, TableFilter()), queued_emails(server)
    assert not found.awake
    assert (found.counts.queued, found.counts.oldest) == (len(emails), min(email.due_at for email in emails))


def test_parked_emails_about_no_table_are_listed_with_the_error(server, table, person, time):
    game = table("sun-bid", 2)
    moderate(server, Ban(person("Ann")))
    email, about_table = queued_emails(server, kind="banned")[-1], game.emails()[-1]
    for row in (email, about_table):
        server.store.write(lambda tx, row=row: outbox.change(tx, row.id, status="parked"))
    server.store.write(lambda tx: ledger.note(tx, email.id, server.now(), "parked", "554 no"))
    box = Inbox(server, time.clock)
    box.takes(box.written(game, 0, "help"), box.reply_address(game, 0))
    server.store.write(lambda tx: received.change(tx, 1, status="parked"))
    found = server.read(overview.summary, TableFilter())
    assert (found.counts.given_up, found.counts.unread) == (2, 1)
    (given_up,) = found.given_up
    assert (given_up.outbox_id, given_up.person_id, given_up.lines[-1].detail) == (email.id, person("Ann"), "554 no")
    assert [each.id for each in found.unread] == [1]
    moderate(server, ResendOfNoTable(email.id))
    moderate(server, RetryIncoming(1))
    found = server.read(overview.summary, TableFilter())
    assert (found.given_up, found.unread) == ((), ())


@pytest.mark.slow
def test_the_overview_reads_no_table_as_a_whole_whatever_is_listed(server, table, time):
    game = table("sun-bid", 2)
    time.sends()
    table_copies.copy(server, game.id, 500, rows=3)
    table_copies.analyse(server)
    plays = Actor(Role.ORGANISER, "Pat", 2, person_id=table_copies.FIRST + 1)
    for table_filter, actor in product(EVERY, (OLGA, plays)):
        look = partial(server.read, overview.summary, table_filter, actor=actor)
        statements = statements_of(server, partial(look, look(limit=2).page.after))
        assert len(statements) <= MOST
        scanned = [each for statement, values in statements for each in scans(server, statement, values)]
        assert scanned == [], (table_filter, actor.name)
    for statement, values in statements_of(server, lambda: server.read(desk_person.profile, OLGA, plays.person_id)):
        assert scans(server, statement, values) == []


SMALL = {"heartbeat", "outage", "job", "flaw"}
"""Tables that have a few rows however many games there are."""


def statements_of(server, act):
    """The statements of an act, each with its values."""
    found = []

    def executed(_connection, _cursor, statement, values, _context, _many):
        if statement.startswith(("SELECT", "WITH")):
            found.append((statement, values))

    event.listen(server.store.engine, "before_cursor_execute", executed)
    try:
        act()
    finally:
        event.remove(server.store.engine, "before_cursor_execute", executed)
    return found


def scans(server, statement, values, *, as_planned=False):
    """The tables that a statement reads from one end to the other, by the plan of the database.

    PostgreSQL reads small tables as a whole because that is quicker; unless it is `as_planned`, it is told not to.
    """
    with server.store.engine.connect() as connection:
        if server.store.on_sqlite:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            # Selecting by status alone reads all open deadlines.
            whole = [row[3] for row in plan if row[3].startswith("SCAN ") or row[3].endswith("deadline_due (status=?)")]
            read = [says.split()[1] for says in whole]
        else:
            if not as_planned:
                connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            plan = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", values).scalar_one()
            read = [node["Relation Name"] for node in nodes(plan[0]["Plan"]) if node["Node Type"] == "Seq Scan"]
    return [name for name in read if name in METADATA.tables.keys() - SMALL]


def nodes(plan):
    """A plan and everything below it."""
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)
