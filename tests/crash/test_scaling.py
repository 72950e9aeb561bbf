"""Four web servers and four workers on one PostgreSQL: no move is lost, no job is done twice, and nobody waits for ever."""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text

from pbem.domain.delivery import Delivery, Way
from pbem.domain.states import EmailKind, JobStatus
from pbem.service.desk import jobs
from pbem.service.outgoing import preferences
from pbem.service.people import addresses
from pbem.store import jobs as job_rows
from pbem.store.schema import OUTBOX
from tests.crash.crowd import play, time_passing
from tests.crash.town import Town
from tests.mail.sink import Sink
from tests.service.actors import ROOT
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgresql, pytest.mark.timeout(3600)]

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PROCESSES = 4
"""Of each kind."""

MOVES = int(os.environ.get("PBEM_TEST_MOVES", "60"))
TABLES = 6
CROWD = 30
"""People who only read what everyone is told."""


@pytest.fixture
def town(database_url: str, sink: Sink, tmp_path: Path) -> Iterator[Town]:
    """The server, with all its processes."""
    made = Town(database_url, sink, tmp_path, START)
    for what in ("web", "worker") * PROCESSES:
        made.add(what)
    yield made
    made.close()


def test_four_of_each_process_lose_no_move_and_double_none(town: Town) -> None:
    for number in range(TABLES):
        town.begin("bid" if number % 2 else "sun-bid", 3, number % 3)
    play(town, MOVES)
    town.check()
    assert [part.process.poll() for part in town.parts] == [None] * len(town.parts)
    with town.server.store.read() as tx:
        deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert tx.execute(text(deadlocks)).scalar_one() == 0


def test_four_workers_do_each_job_once(town: Town) -> None:
    game_id = town.begin("sun-bid", 3, 0)
    people = [
        town.server.run(addresses.confirm, town.server.run(addresses.register, f"reader{number}@example.org").id).id
        for number in range(CROWD)
    ]
    with town.server.store.read() as tx:
        players = list(
            tx.execute(text("SELECT person_id FROM player WHERE game_id = :game"), {"game": game_id}).scalars()
        )
    for player in players:
        town.server.run(preferences.choose, player, Delivery(Way.DAILY), None, time(8))
    what = jobs.What.ANNOUNCE, {"text": "We rest on Sunday."}, "People should know.", "a key"
    job = town.server.run(jobs.begin, ROOT, *what)
    with time_passing(town):
        until(lambda: town.server.query(job_rows.read, job).status == JobStatus.DONE, "everyone is told")
    for _ in range(3):
        town.passes(timedelta(days=1))
        with time_passing(town):
            until(town.workers_beat, "every worker beats")
    with time_passing(town):
        until(lambda: _emails(town, EmailKind.DIGEST), "a digest is gathered")
    told = Counter(person for person, _ in _emails(town, EmailKind.ANNOUNCEMENT))
    assert told == Counter([*people, *players])
    digests = Counter(_emails(town, EmailKind.DIGEST))
    assert set(digests.values()) == {1}
    town.check()


def _emails(town: Town, kind: EmailKind) -> list[tuple[int, object]]:
    """The readers of all emails of a kind, with the day of each."""
    with town.server.store.read() as tx:
        rows = tx.execute(select(OUTBOX.c.person_id, OUTBOX.c.queued_at).where(OUTBOX.c.kind == kind))
        return [(row.person_id, row.queued_at.date()) for row in rows]
