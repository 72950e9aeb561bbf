"""Breaks what a worker does in several transactions at each of its calls to the database, and then lets it go on as a worker does.

A function of several transactions leaves something behind when it breaks: what it had committed. So it is not enough that
each transaction leaves nothing. The function is run again, as its caller does, and has to end where it ends when nothing
breaks: the same logs, tables, deadlines and emails, each email handed over once, but for those that were in flight.
"""

import copy
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Final

from pbem.mail.send.smtp import OutgoingEmail
from pbem.service.outgoing.deliver import TOGETHER, Post
from pbem.store.database import sqlite_module
from pbem.store.schema import METADATA, OUTBOX
from tests.fakes import SeededRandomness
from tests.faults.fail_at_n import BrokenCallError, break_at
from tests.service.clock import MINUTE
from tests.service.database import count_calls
from tests.twins.address_world import AddressWorld, kind_of

SLICE: Final = 2
"""The most calls of a task that a slice breaks: each is followed by several whole runs."""

REPEATED: Final = 8
"""How often a statement is broken that a task makes again and again, besides the last time: counting forty days takes 4,900 calls."""

Work = Callable[[], object]

_OTHERWISE: Final = {
    "attempts",
    "dump.number",
    "dump_part.number",
    "message_id",
    "extensions",
    "key",
    "lease_id",
    "nonce",
    "promised_at",
    "rank",
    "replaced",
    "seals",
    "seq",
    "used_until",
}
"""Columns that may differ: how often something was tried, when, and what was drawn for it."""

_PASSING: Final = {
    "domain_traffic",
    "audit_head",
    "heartbeat",
    "lease",
    "quota",
    "recording",
    "search_word",
    "tally",
    "task_progress",
    "view",
    "web_server",
}
"""Tables of what comes and goes, or is made from others."""

Digest = dict[str, Counter[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class _State:
    """Where a world stands, to go back there."""

    database: Any
    now: datetime
    drawn: object
    post: Post
    sent: tuple[OutgoingEmail, ...]


class WholeRuns:
    """Runs a worker's tasks in a world, and breaks each first: at all calls, or at a slice of those that no task has made yet."""

    def __init__(self, world: AddressWorld, *, all_calls: bool) -> None:
        assert isinstance(world.server.randomness, SeededRandomness)
        self.broken = 0
        self.names: set[str] = set()
        """The tasks that were broken."""
        self._world, self._all = world, all_calls
        self._known: set[tuple[str, ...]] = set()
        self._randomness = world.server.randomness

    def run(self, name: str, work: Work) -> None:
        """Run it unbroken, after trying what becomes of it if it breaks."""
        start = self._state()
        with count_calls(self._world.server.store) as made:
            work()
        end, calls = self._state(), len(made)
        if calls and self._is_new(tuple(dict.fromkeys(made))):
            self._goes_on(work)
            expected = self._digest(start)
            for n in _worth_breaking(made) if self._all else range(1, calls + 1, 1 + calls // SLICE):
                self._go_to(start)
                with count_calls(self._world.server.store, break_at(n)), suppress(BrokenCallError):
                    work()
                self._goes_on(work)
                self._compare(f"{name}, broken at call {n} ({made[n - 1][:60]!r})", self._digest(start), expected)
                self.broken += 1
            self.names.add(name)
        self._go_to(end)

    def _is_new(self, calls: tuple[str, ...]) -> bool:
        """Whether no task has made these calls yet, however often a loop went round."""
        found = calls in self._known and not self._all
        self._known.add(calls)
        return not found

    def _goes_on(self, work: Work) -> None:
        """Run it again as a worker does: at once, and when what it had claimed is free again."""
        for pause in (0, 6, 6, 31):
            self._world.clock.advance(pause * MINUTE)
            work()

    def _state(self) -> _State:
        saved = sqlite_module().connect(":memory:")
        self._connection().backup(saved)
        world = self._world
        return _State(saved, world.clock.now(), self._randomness.state, _copied(world.post), tuple(world.sent.emails))

    def _go_to(self, state: _State) -> None:
        state.database.backup(self._connection())
        world, post = self._world, _copied(state.post)
        world.clock.set(state.now)
        self._randomness.state = state.drawn
        for each in fields(Post):
            setattr(world.post, each.name, getattr(post, each.name))
        world.sent.emails[:] = state.sent

    def _connection(self) -> Any:
        return self._world.server.store.engine.raw_connection().driver_connection

    def _digest(self, start: _State) -> Digest:
        """What must be the same, however often something broke: all rows but for moments and what is drawn, and the emails."""
        found = {name: Counter(_rows(self._connection(), name)) for name in METADATA.tables if name not in _PASSING}
        emails = self._world.sent.emails[len(start.sent) :]
        by_name = {_message_id(email): email for email in emails}
        twice = Counter(_message_id(email) for email in emails)
        repeated = [name for name, times in twice.items() if times > 1]
        assert max(twice.values(), default=0) <= 2, "an email was handed over three times"
        assert len(repeated) <= TOGETHER, "more emails were repeated than were in flight"
        assert all(by_name[_message_id(email)].content == email.content for email in emails), "a repeated email differs"
        found["emails"] = Counter((email.recipient, kind_of(email.content)) for email in by_name.values())
        return found

    @staticmethod
    def _compare(where: str, here: Digest, expected: Digest) -> None:
        for name, rows in expected.items():
            more, less = here[name] - rows, rows - here[name]
            assert not more, f"{where}: {name} has besides {list(more)[:3]}, and lacks {list(less)[:3]}"
            assert not less, f"{where}: {name} lacks {list(less)[:3]}"


def _worth_breaking(made: Sequence[str]) -> list[int]:
    """The numbers of all calls, but of a statement that is made very often only those of the first times and the last."""
    places = defaultdict[str, list[int]](list)
    for number, statement in enumerate(made, 1):
        places[statement].append(number)
    return sorted({number for each in places.values() for number in (*each[:REPEATED], each[-1])})


def _copied(post: Post) -> Post:
    """What a process remembers of its sending; its transport, its limits and its signal to stop stay what they are."""
    shared = {"letterhead", "transport", "stopping", "throttle", "signer"}
    other = copy.copy(post)
    for each in fields(Post):
        if each.name not in shared:
            setattr(other, each.name, copy.copy(getattr(post, each.name)))
    return other


def _message_id(email: OutgoingEmail) -> bytes:
    (found,) = re.findall(rb"^Message-ID:\s*(\S+)\r$", email.content, re.MULTILINE | re.IGNORECASE)
    return bytes(found)


def _rows(connection: Any, name: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a table without what may differ; an email is named by what it is about."""
    table = METADATA.tables[name]
    names = [
        column.name
        for column in table.c
        if column.type.python_type not in (datetime, date, bytes)
        and not _OTHERWISE & {column.name, f"{name}.{column.name}"}
        and not (column.primary_key and column.autoincrement is True)
    ]
    columns = ", ".join(f'"{column}"' for column in names) or "1"
    emails = _emails(connection) if "outbox_id" in names else {}
    found = [
        tuple(
            emails.get(value) if column == "outbox_id" else _plain(value)
            for column, value in zip(names, row, strict=True)
        )
        for row in connection.execute(f'SELECT {columns} FROM "{name}"')
    ]
    # The ledger says how often something was tried.
    yield from {*found} if name == "ledger" else found


def _emails(connection: Any) -> dict[int, tuple[Any, ...]]:
    about = "id, person_id, game_id, turn, seat, kind"
    return {number: tuple(about) for number, *about in connection.execute(f"SELECT {about} FROM {OUTBOX.name}")}


_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.]+(?:\+00:00)?|[0-9a-f]{16,64}")


def _plain(value: Any) -> Any:
    """A value without the moments and random names in it."""
    return _MOMENT.sub("…", value) if isinstance(value, str) else value
