"""The whole turn beside its bare parts: a move by its link, and the emails that it leads to, handed to a relay.

The bare parts are what is left without rules, tokens, templates and questions: the very rows that the turn wrote, sent to the
driver again in as many durable commits, and the very bytes, sent over one SMTP connection. Processor time of one process, on
SQLite, which works inside it.
"""

import os
import shutil
import smtplib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from sqlalchemy import event

from pbem.config.settings import Security, Smtp
from pbem.domain.choice_links import choice_segment
from pbem.mail.send.relay import Relay
from pbem.mail.send.smtp import Outcome, OutgoingEmail
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.play import by_link
from pbem.service.server import Server
from tests.bench.relay import relay
from tests.bench.tables import begin, crowd
from tests.mail.transports import InterceptingTransport, Send, StoringTransport
from tests.scale import many
from tests.service.outgoing.test_deliver import HEAD
from tests.service.running_game import RunningGame
from tests.web.browser import Links

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

ROUNDS = 7
TURNS = int(os.environ.get("PBEM_TEST_TURNS", "40"))

Note = Callable[[str, object], None]


@dataclass
class Written:
    """What turns have written: statements between commits, and emails."""

    commits: list[list[tuple[str, Any]]] = field(default_factory=list)
    emails: list[OutgoingEmail] = field(default_factory=list)


def test_a_whole_turn_is_measured_beside_its_bare_parts(tmp_path: Path, record_property: Note) -> None:
    base = tmp_path / "base.sqlite3"
    presses, now = prepared(base)
    with relay() as port:
        written = recorded(copied(base, "recorded"), now, presses, port)
        assert len(written.emails) >= TURNS
        shares = []
        for number in range(ROUNDS):
            whole = spent(lambda: turns(copied(base, "whole"), now, presses, port))
            bare = spent(lambda: again(copied(base, "bare"), written, port))
            shares.append(bare / whole)
            print(f"\nround {number}: the bare parts take {shares[-1]:.2f} of whole turns", end="")
    record_property("scale.turn", median(shares))
    record_property("scale.turn emails", len(written.emails) / TURNS)


def prepared(file: Path) -> tuple[list[tuple[str, str]], datetime]:
    """Games in which someone is asked and has the email, as links and choices, and the time by then."""
    server, clock = many.served(f"sqlite:///{file}", make=True)
    games = [RunningGame(server, begin(server, "templari", crowd(server, 3))) for _ in range(TURNS)]
    clock.advance(timedelta(minutes=2))
    while deliver(server, Post(HEAD, StoringTransport())).dealt_with:
        pass
    links, presses = Links(server), []
    for game in games:
        seat, decision = next(iter(game.asked().items()))
        presses.append((links.of(game, seat)[0], choice_segment(decision.default)))
    server.store.close()
    return presses, clock.now()


def copied(base: Path, name: str) -> Path:
    """A copy of the database, so that every run begins at the same."""
    file = base.with_name(f"{name}.sqlite3")
    for old in base.parent.glob(f"{file.name}*"):
        old.unlink()
    return Path(shutil.copy(base, file))


def spent(work: Callable[[], object]) -> float:
    """The processor time of this process for some work."""
    before = time.process_time()
    work()
    return time.process_time() - before


def turns(file: Path, now: datetime, presses: list[tuple[str, str]], port: int, hand: Any = None) -> None:
    """All turns, each with its emails."""
    server, clock = many.served(f"sqlite:///{file}")
    clock.set(now)
    to_relay = Relay(Smtp("127.0.0.1", Security.NONE, port, "", "", 5))
    post = Post(HEAD, InterceptingTransport(to_relay, hand) if hand else to_relay)
    if hand:
        hand.watch(server)
    for token, option in presses:
        server.run(by_link.move, token, option)
    clock.advance(timedelta(minutes=2))
    while deliver(server, post).dealt_with:
        pass
    server.store.close()


class _Recorder:
    """Notes what is written and sent, on the way."""

    def __init__(self) -> None:
        self.written, self._open = Written(), list[tuple[str, Any]]()

    def __call__(self, email: OutgoingEmail, send: Send) -> Outcome:
        self.written.emails.append(email)
        return send(email)

    def watch(self, server: Server) -> None:
        event.listen(server.store.engine, "before_cursor_execute", self._executed)
        event.listen(server.store.engine, "commit", self._committed)
        event.listen(server.store.engine, "rollback", lambda _connection: self._open.clear())

    def _executed(self, _c: Any, _cursor: Any, statement: str, values: Any, _context: Any, _many: bool) -> None:
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            self._open.append((statement, values))

    def _committed(self, _connection: Any) -> None:
        if self._open:
            self.written.commits.append(self._open)
        self._open = []


def recorded(file: Path, now: datetime, presses: list[tuple[str, str]], port: int) -> Written:
    """What the turns write and send."""
    recorder = _Recorder()
    turns(file, now, presses, port, recorder)
    return recorder.written


def again(file: Path, written: Written, port: int) -> None:
    """The same rows and the same bytes, with nothing around them."""
    with _connected(file) as connection:
        for commit in written.commits:
            connection.execute("BEGIN IMMEDIATE")
            for statement, values in commit:
                if isinstance(values, list):
                    connection.executemany(statement, values)
                else:
                    connection.execute(statement, values).fetchall()
            connection.execute("COMMIT")
    with smtplib.SMTP("127.0.0.1", port) as smtp:
        for email in written.emails:
            smtp.sendmail(email.sender, email.recipient, email.content)


@contextmanager
def _connected(file: Path) -> Iterator[Any]:
    """The driver's own connection, with the settings of a server."""
    server, _ = many.served(f"sqlite:///{file}")
    connection = server.store.engine.raw_connection()
    try:
        yield connection.driver_connection
    finally:
        connection.close()
        server.store.close()
