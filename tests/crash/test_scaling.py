"""Four web servers and four workers on one PostgreSQL: no move is lost, no job is done twice, and nobody waits for ever."""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, text

from pbem.domain.delivery import Delivery, Way
from pbem.domain.states import EmailKind, JobStatus
from pbem.service.desk import jobs
from pbem.service.outgoing import preferences
from pbem.service.play.log import Kind
from pbem.store import jobs as job_rows
from pbem.store.database import Tx
from pbem.store.schema import OUTBOX, PLAYER
from tests.crash.conftest import Opened
from tests.crash.crowd import play, time_passing
from tests.crash.town import Town
from tests.mail.sink import Sink
from tests.service.actors import ROOT
from tests.service.running_game import RunningGame
from tests.waiting import until

pytestmark = [pytest.mark.slice(1 / 2), pytest.mark.slow, pytest.mark.postgresql, pytest.mark.timeout(3600)]

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PROCESSES = 4
"""Of each kind."""

MOVES = min(int(os.environ.get("PBEM_TEST_MOVES", "30")), 600)
"""More of them would only be more of the same."""

TABLES = max(4, MOVES // 10)
"""Enough, because a game is over after a while."""


@pytest.fixture
def town(database_url: str, sink: Sink, tmp_path: Path, opened: Opened) -> Iterator[Town]:
    """The server, with all its processes."""
    with opened(Town(database_url, sink, tmp_path, START)) as made:
        for what in ("web", "worker") * PROCESSES:
            made.add(what)
        yield made


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
    tables = [town.begin("sun-bid", 3, 0) for _ in range(TABLES * 3)]
    players = town.server.query(_players)
    for player in players:
        town.server.run(preferences.choose, player, Delivery(Way.DAILY), None, time(8))
    facts = {jobs.What.EXTEND: {"more": "1d"}, jobs.What.ANNOUNCE: {"text": "We rest on Sunday."}}
    begun = [town.server.run(jobs.begin, ROOT, what, given, "a reason", what) for what, given in facts.items()]
    with time_passing(town):
        for job in begun:
            until(partial(_is_done, town, job), "the job is done")
    for game_id in tables:
        assert [row.kind for row in RunningGame(town.server, game_id).log()].count(Kind.EXTENDED) == 1
    assert Counter(reader for reader, _ in _emails(town, EmailKind.ANNOUNCEMENT)) == Counter(players)
    for _ in range(2):
        until(town.all_is_sent, "all emails are sent")
        town.passes(timedelta(days=1))
        with time_passing(town):
            until(lambda: len(_emails(town, EmailKind.DIGEST)) >= len(players), "digests are gathered")
            until(town.workers_beat, "every worker beats")
    assert set(Counter(_emails(town, EmailKind.DIGEST)).values()) == {1}
    town.check()


def _is_done(town: Town, job: int) -> bool:
    return town.server.query(job_rows.read, job).status == JobStatus.DONE


def _players(tx: Tx) -> list[int]:
    return list(tx.execute(select(PLAYER.c.person_id).distinct()).scalars())


def _emails(town: Town, kind: EmailKind) -> list[tuple[int, object]]:
    """The readers of all emails of a kind, with the day of each."""
    with town.server.store.read() as tx:
        rows = tx.execute(select(OUTBOX.c.person_id, OUTBOX.c.queued_at).where(OUTBOX.c.kind == kind))
        return [(row.person_id, row.queued_at.date()) for row in rows]
