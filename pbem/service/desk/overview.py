"""The desk's first page: tables that need someone, the server's health, and search results.

A list is a page of an index, so it costs the same among few tables or very many. No state, box or order is read here,
only what players of a table know of each other. An address is searched for exactly and is never part of a URL.

Which clock runs out next, or which email waits, may follow from who has answered. An organiser who plays is told none of
that about their own tables.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from engine import registry
from pbem.domain.acts import Actor, Role
from pbem.domain.errors import BadInput
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import clock_doubt
from pbem.service.clocks.clock_doubt import ClockDoubt
from pbem.service.outgoing import ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.people.addresses import normalised
from pbem.service.server import Server
from pbem.store import heartbeats, jobs, outages, overview, people, players as player_rows, received, search, statistics
from pbem.store.database import Tx
from pbem.store.heartbeats import HeartbeatRow
from pbem.store.jobs import Job
from pbem.store.outages import OutageRow
from pbem.store.overview import TROUBLES, Counts, TableRow
from pbem.store.received import ParkedRow

PAGE: Final = 40
"""Tables on one page."""

EMAILS: Final = 10
"""The most parked emails listed, of outgoing and of incoming ones."""

LATE: Final = timedelta(minutes=5)
"""A deadline expired for longer than this is overdue: workers look every few seconds."""

UNSEEN: Final = timedelta(minutes=2)
"""A worker not seen for this long is gone or hangs."""

STATUSES: Final = (
    TableStatus.PLAYING,
    TableStatus.OPEN,
    TableStatus.PLANNED,
    TableStatus.OVER,
    TableStatus.VOID,
    TableStatus.CLOSED,
    TableStatus.EXPIRED,
    TableStatus.FROZEN,
)


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Which tables to list: a person's, those matching words, in trouble or with a status; by default the urgent ones."""

    text: str = ""
    person_id: int | None = None
    trouble: str = ""
    status: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        for value, values in ((self.trouble, TROUBLES), (self.status, STATUSES), (self.kind, registry.names())):
            if value and value not in values:
                raise BadInput(
                    _("There is no list “%(value)s”.", value=value[:40]),
                    why=_("You can choose: %(list)s.", list=", ".join(values)),
                )


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table in a list, with its players and troubles."""

    row: TableRow
    players: tuple[str, ...]
    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Tables, and where the next page begins; empty on the last page."""

    tables: tuple[TableEntry, ...]
    after: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the desk's first page. `playing` is None until a worker has counted.

    `given_up` are parked emails about no table, and `unread` parked incoming ones.
    """

    now: datetime
    counts: Counts
    playing: int | None
    workers: tuple[HeartbeatRow, ...]
    outages: tuple[OutageRow, ...]
    doubt: ClockDoubt | None
    jobs: tuple[Job, ...]
    given_up: tuple[EmailHistory, ...]
    unread: tuple[ParkedRow, ...]
    page: Page

    @property
    def awake(self) -> tuple[HeartbeatRow, ...]:
        """The workers seen recently."""
        return tuple(worker for worker in self.workers if self.now - worker.beat_at < UNSEEN)


def summary(
    tx: Tx, server: Server, by: TableFilter, after: str = "", limit: int = PAGE, *, actor: Actor | None = None
) -> Overview:
    """The state of the server, and a page of tables, for an organiser or the command line."""
    now, reader = server.now(), reader_of(actor)
    return Overview(
        now,
        overview.counts(tx, now, now - LATE, reader=reader),
        statistics.latest(tx, "playing", (now - timedelta(days=1)).date()),
        tuple(heartbeats.all_workers(tx)),
        tuple(outages.newest(tx, 5)),
        clock_doubt.doubt(tx, now),
        tuple(jobs.newest(tx, 5)),
        tuple(ledger.given_up(tx, EMAILS)),
        tuple(received.parked(tx, EMAILS, reader=reader)),
        page_of(tx, by, now, after, limit, reader=reader),
    )


def reader_of(actor: Actor | None) -> int | None:
    """The person that an organiser is, who may play."""
    return None if actor is None or actor.role is not Role.ORGANISER else actor.person_id


def page_of(
    tx: Tx, by: TableFilter, now: datetime, after: str = "", limit: int = PAGE, *, reader: int | None = None
) -> Page:
    """A page of tables. Of a table where the reader sits or sat it says no more than a player knows."""
    rows = _rows(tx, by, now, after, limit + 1, reader)
    shown = rows[:limit]
    ids = [row.id for row in shown]
    wrong, due = overview.troubles_of(tx, shown, reader=reader), overview.next_due(tx, shown, reader=reader)
    seated = player_rows.of_games(tx, ids)
    tables = tuple(
        TableEntry(
            replace(row, due_at=due.get(row.id)),
            tuple(player.name for player in seated[row.id]),
            _troubles(row, due.get(row.id), wrong.get(row.id, set()), now),
        )
        for row in shown
    )
    return Page(tables, _key(by, shown[-1]) if len(rows) > limit else "")


def person_with(tx: Tx, server: Server, address: str) -> int | None:
    """The id of the person with exactly this address, if there is one."""
    person = people.by_mailbox(tx, normalised(address)[1])
    return None if person is None else person.id


def number_of(after: str) -> int | None:
    """The id a page begins below; None for the first page. Raises BadInput."""
    if not after:
        return None
    if not (after.isascii() and after.isdigit() and len(after) <= 12):
        raise _no_page()
    return int(after)


def _rows(tx: Tx, by: TableFilter, now: datetime, after: str, limit: int, reader: int | None) -> list[TableRow]:
    if by.text:
        by_key = [] if after else overview.by_key(tx, by.text.strip())
        return by_key or overview.with_numbers(tx, search.search(tx, "table", by.text, number_of(after), limit))
    if by.person_id is not None:
        return overview.of_person(tx, by.person_id, number_of(after), limit)
    if by.trouble == "overdue":
        return overview.urgent(tx, _moment(after), limit, now - LATE, reader=reader)
    if by.trouble:
        return overview.in_trouble(tx, by.trouble, number_of(after), limit, reader=reader)
    if by.status or by.kind:
        return overview.newest(tx, by.status or "playing", by.kind or None, _moment(after), limit)
    return overview.urgent(tx, _moment(after), limit, reader=reader)


def _key(by: TableFilter, last: TableRow) -> str:
    """Where the next page begins."""
    if by.text or by.person_id is not None or by.trouble not in ("", "overdue"):
        return f"{last.id}"
    newest = (by.status or by.kind) and not by.trouble
    moment = last.created_at if newest else last.due_at
    assert moment is not None
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%S.%f}_{last.id}"


def _moment(after: str) -> tuple[datetime, int] | None:
    if not after:
        return None
    written, _, number = after.partition("_")
    try:
        moment = datetime.strptime(written, "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)
    except ValueError:
        raise _no_page() from None
    table_id = number_of(number)
    if table_id is None:
        raise _no_page()
    return moment, table_id


def _no_page() -> BadInput:
    return BadInput(_("This list has no such page."), remedy=_("Start with the first page."))


def _troubles(row: TableRow, due_at: datetime | None, stored: set[str], now: datetime) -> tuple[str, ...]:
    """What is wrong at a table, in the order of `TROUBLES`."""
    playing = row.status == TableStatus.PLAYING
    by_row = {
        "frozen": row.status == TableStatus.FROZEN,
        "paused": playing and row.paused,
        "overdue": playing and due_at is not None and due_at < now - LATE,
    }
    return tuple(trouble for trouble in TROUBLES if trouble in stored or by_row.get(trouble, False))
