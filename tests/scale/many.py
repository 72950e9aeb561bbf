"""A server with as many running games as a measurement needs: a few that were really played, and copies of all their rows.

Moments of the past are spread into the past and deadlines into the future. The first games are the originals: they can be played,
opened and verified. The copies could be played too, but their logs were hashed under another key.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import func, select

from engine import registry
from pbem.domain.states import EmailStatus
from pbem.service.desk.statistics import _LINES_MARK
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.server import Server
from pbem.store.database import Tx
from pbem.store.schema import GAME, LEDGER, OUTBOX, TASK_PROGRESS
from tests.bench.tables import begin, crowd, server_on
from tests.fakes import FakeClock
from tests.mail.transports import StoringTransport
from tests.scale.copies import Copying, count, highest
from tests.service.outgoing.test_deliver import HEAD
from tests.service.running_game import RunningGame

START: Final = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SEATS: Final = 3
EMAILS: Final = 10
"""Finished emails of each game."""

WITH_BODY: Final = 100
"""One copy in this number has the bytes of its emails: no list and no tick reads them, and they would fill the disk."""

_OF_SUBJECT: Final = "CASE t.about WHEN 'table' THEN {game} ELSE {person} END"
"""The stride of what a word of the search is about."""

_COPYING: Final = Copying(
    tables=("person", "game", "player", "log", "deadline", "outbox", "ledger", "link", "view", "search_word"),
    different=frozenset({("person", "key"), ("person", "mailbox"), ("game", "key"), ("outbox", "message_id")}),
    values={
        ("search_word", "subject_id"): f"t.subject_id + s.n * {_OF_SUBJECT}",
        ("outbox", "body"): f"CASE WHEN s.n % {WITH_BODY} = 0 THEN t.body END",
    },
    conditions={"search_word": f"t.subject_id < {_OF_SUBJECT}"},
)


def served(url: str, *, make: bool = False) -> tuple[Server, FakeClock]:
    """A server on this database, with a clock of its own."""
    clock = FakeClock(START)
    return replace(server_on(url, make=make), clock=clock), clock


def originals(server: Server, clock: FakeClock, kinds: list[str] | None = None) -> list[int]:
    """A running game of each kind, whose emails are all sent: at least so many of each."""
    post = Post(HEAD, StoringTransport())
    found = [begin(server, kind, crowd(server, SEATS)) for kind in kinds or registry.names()]
    _send(server, clock, post)
    for game_id in found:
        running = RunningGame(server, game_id)
        while len(running.emails()) < EMAILS:
            seat, decision = next(iter(running.asked().items()))
            running.play(seat, decision.default)
            _send(server, clock, post)
    return found


def copy(server: Server, games: int) -> None:
    """Add copies until there are about so many games, and let the counting of activity begin now."""
    with server.store.read() as tx:
        here = count(tx, GAME)
    _COPYING.run(server, max(games // here - 1, 0))
    server.store.write(_count_from_now)


def _send(server: Server, clock: FakeClock, post: Post) -> None:
    clock.advance(timedelta(minutes=2))
    while deliver(server, post).dealt_with:
        pass


def _count_from_now(tx: Tx) -> None:
    tx.execute(TASK_PROGRESS.delete())
    tx.execute(TASK_PROGRESS.insert(), [{"task": _LINES_MARK, "last_id": highest(tx, LEDGER)}])


def finished(server: Server) -> int:
    """How many emails are finished."""
    with server.store.read() as tx:
        return int(
            tx.execute(select(func.count()).select_from(OUTBOX).where(OUTBOX.c.status == EmailStatus.SENT)).scalar_one()
        )
