"""Limits in time: what is dated in the future, by a clock that was set back, uses up none of them."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Date, select

from pbem import store as store_package
from pbem.service.alarms import AlarmKind, raise_alarm
from pbem.service.desk import alarm_emails
from pbem.service.tables import talk
from pbem.store import clock_steps, limits, queries
from pbem.store.schema import CALL, METADATA
from pbem.store.types import Moment
from tests.migrations.filled import fill
from tests.service.actors import add_organiser
from tests.service.clock import DAY, HOUR, MINUTE

MODULES = sorted(Path(store_package.__file__).parent.glob("*.py"))

UNLIMITED = {
    "alarms": {"alarm.at"},  # what is told late is told at once
    "blocks": {"ban.until"},  # a ban has an end
    "clock_steps": {"outage.start_at", "person.digest_on"},  # what is brought back
    "deadlines": {"deadline.due_at"},  # a given time with an end
    "feeds": {"deadline.due_at", "game.ended_at"},  # lists
    "gauges": {"heartbeat.beat_at"},  # a number shown
    "jobs": {"outbox.due_at"},  # a list that an organiser sees
    "outages": {"outage.end_at"},  # times, which end
    "overview": {"deadline.due_at"},  # a page of a list
    "pauses": {"pause.end_at"},
    "preferences": {"outbox.due_at"},  # what waits
    "rate_limits": {"quota.used_until"},  # a share has an end, which a step brings back
    "received": {"received_count.day"},  # numbers shown
    "reliability": {
        "game.started_at",
        "deadline.asked_at",
        "offer.offered_at",
        "outage.end_at",
        "outage.applied_at",
    },  # numbers shown
    "sessions": {"session.made_at"},  # a browser stays signed in; a step brings its age back
    "statistics": {"log.at", "tally.day"},  # numbers shown
    "strangers": {"join_request.created_at", "outbox.queued_at"},  # what keeps a row from being deleted
    "tables": {"game.expires_at"},  # what is moved
    "traffic": {"domain_traffic.day"},  # numbers shown
    "vacations": {"vacation.end_at"},
    "views": {"game.ended_at", "log.at"},  # what is stored to save time
}
"""Comparisons with a moment that are no limits, by module, with the reason."""


AGES = {
    "alarms": {"alarm.at", "alarm.emailed_at"},
    "channels": {"channel.made_at", "game.ended_at"},
    "deadlines": {"deadline.accepted_at", "unreachable.start_at"},
    "feeds": {"log.at"},
    "guests": {"person.created_at"},
    "heartbeats": {"heartbeat.beat_at"},
    "outages": {"outage.start_at"},
    "overview": {"game.created_at"},
    "preferences": {"person.digest_on"},  # brought back as a day
    "public_games": {"game.ended_at"},
    "reachability": {"bounce.day", "unreachable.start_at"},
    "received": {"received.received_at", "received_count.day"},
    "reliability": {"outage.start_at"},
    "sessions": {"session.made_at"},
    "statistics": {"deadline.asked_at", "log.at", "tally.day"},
    "strangers": {"join_request.created_at", "person.created_at"},
    # An invitation gives the day on which it ends, and the host has named the day of the start.
    "tables": {"game.created_at", "game.expires_at", "game.starts_at"},
    # Everyone was told the day on which sign-up or a round ends.
    "tournaments": {"tournament.closes_at", "tournament.created_at", "tournament.due_at"},
    "traffic": {"domain_traffic.day"},
    "web_servers": {"web_server.beat_at"},
}
"""Comparisons with a moment that nothing waits for: what came earlier, or is old enough to be deleted, by module."""


MOMENTS = {
    str(column) for table in METADATA.tables.values() for column in table.c if isinstance(column.type, Moment | Date)
}


def compared(module, *how):
    """The columns of moments that a module compares in one of these ways, but for those of `limits.within`."""
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Compare(
                left=ast.Attribute(value=ast.Attribute(value=ast.Name(id=table), attr="c"), attr=name), ops=[kind]
            ) if isinstance(kind, how) and f"{table.lower()}.{name}" in MOMENTS:
                yield f"{table.lower()}.{name}"


def test_every_limit_in_time_has_an_end():
    found = {module.stem: set(compared(module, ast.Gt, ast.GtE)) for module in MODULES if module.stem != "limits"}
    assert {name: columns for name, columns in found.items() if columns} == UNLIMITED


def test_everything_that_waits_for_a_moment_is_brought_back():
    brought_back = {str(column) for column, _conditions in (*clock_steps.WAITS, *clock_steps.LEASES)}
    found = {module.stem: set(compared(module, ast.Lt, ast.LtE)) - brought_back for module in MODULES}
    assert {name: columns for name, columns in found.items() if columns} == AGES


@pytest.fixture
def row_at(store):
    """One row in every table, and the moment in all of them."""
    fill(store)
    with store.read() as tx:
        return tx.execute(select(CALL.c.at)).scalar_one()


@pytest.mark.parametrize("column", [*limits.COUNTED, *limits.HASHED], ids=str)
def test_rows_from_the_future_are_not_counted(store, row_at, column):
    def counted(age):
        with store.read() as tx:
            return queries.count(tx, column.table, limits.within(column, limits.last(HOUR, row_at + age))) == 1

    assert counted(timedelta(0))
    assert counted(59 * MINUTE)
    assert not counted(HOUR)
    assert counted(-MINUTE / 3), "the clocks of two machines may differ"
    assert not counted(-MINUTE)


def test_a_step_back_lets_everything_that_is_counted_keep_its_age(store, row_at):
    unconditional = [column for column, conditions in limits.COUNTED.items() if not conditions]
    assert len(unconditional) > 5
    store.write(lambda tx: clock_steps.bring_back(tx, row_at - 4 * HOUR, 5 * HOUR, MINUTE))
    with store.read() as tx:
        after = {column: tx.execute(select(column)).scalar_one() for column in unconditional}
    assert set(after.values()) == {row_at - 5 * HOUR}


def test_nobody_is_kept_from_talking_by_lines_from_the_future(server, clock, table):
    game = table("sun-bid", 2)
    clock.advance(5 * HOUR)
    for number in range(talk.LINES_AN_HOUR):
        server.run(talk.say, game.id, 0, game.person_at(0), f"line {number}")
    # It was set back while no worker ran.
    clock.set(clock.now() - 5 * HOUR)
    server.run(talk.say, game.id, 0, game.person_at(0), "I am back.")


def test_an_alarm_from_the_future_is_told_now(server, clock):
    add_organiser(server, "Olga")
    clock.advance(40 * DAY)
    server.store.write(lambda tx: raise_alarm(tx, server, AlarmKind.RELAY, "The relay is away."))
    clock.set(clock.now() - 40 * DAY)
    assert alarm_emails.send(server) == 1
