"""What the desk shows first: which tables need somebody, whether the server works, and the tables that are looked for.

A list is a page of an index, so that it costs the same among few tables and among very many. Nothing here has seen a
state, a box or an order: only what the players of a table know of each other. An address is looked for exactly and is
never part of what is asked for in an address line.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from engine import game
from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.service.desk import jobs as desk_jobs
from pbem.service.outgoing import ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.people.addresses import normalised
from pbem.service.server import Server
from pbem.store import heartbeats, outages, overview, people, received, search, tally
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.heartbeats import BeatRow
from pbem.store.outages import OutageRow
from pbem.store.overview import TROUBLES, Counts, TableRow
from pbem.store.received import UnreadRow

PAGE: Final = 40
"""Tables on one page."""

MAILS: Final = 10
"""So many of the mails that were given up are listed, of those that leave and of those that came in."""

LATE: Final = timedelta(minutes=5)
"""A deadline that is over for longer than this should have been acted on: a worker looks every few seconds."""

SILENT: Final = timedelta(minutes=2)
"""A worker that has said nothing for so long is gone, or hangs."""

STATUSES: Final = ("playing", "open", "planned", "over", "void", "closed", "expired", "frozen")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables to list: those of a person, those with some words, those in trouble, those in a state, or the urgent."""

    text: str = ""
    person_id: int | None = None
    trouble: str = ""
    status: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        for value, known in ((self.trouble, TROUBLES), (self.status, STATUSES), (self.kind, game.names())):
            if value and value not in known:
                raise BadInput(
                    _("There is no list of “%(value)s”.", value=value[:40]),
                    why=_("There are: %(list)s.", list=", ".join(known)),
                )


@dataclass(frozen=True, slots=True)
class Listed:
    """A table in a list, with who plays there and what is wrong."""

    row: TableRow
    players: tuple[str, ...]
    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Some tables, and what to ask for the next page with; nothing if this is the last."""

    tables: tuple[Listed, ...]
    after: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything that the first page of the desk shows. `playing` was counted by a worker; nobody knows it before that.

    `given_up` are mails about no table, which no table's page has, and `unread` those that came in.
    """

    now: datetime
    counts: Counts
    playing: int | None
    workers: tuple[BeatRow, ...]
    outages: tuple[OutageRow, ...]
    jobs: tuple[desk_jobs.Job, ...]
    given_up: tuple[EmailHistory, ...]
    unread: tuple[UnreadRow, ...]
    page: Page

    @property
    def awake(self) -> tuple[BeatRow, ...]:
        """The workers that have said lately that they are there."""
        return tuple(worker for worker in self.workers if self.now - worker.beat_at < SILENT)


def look(tx: Tx, server: Server, wanted: Wanted, after: str = "", limit: int = PAGE) -> Overview:
    """The state of the house, and a page of the tables that are wanted."""
    now = server.now()
    return Overview(
        now,
        overview.counts(tx, now, now - LATE),
        tally.latest(tx, "playing", (now - timedelta(days=1)).date()),
        tuple(heartbeats.beats(tx)),
        tuple(outages.newest_outages(tx, 5)),
        tuple(desk_jobs.newest(tx)),
        tuple(ledger.given_up(tx, MAILS)),
        tuple(received.unread(tx, MAILS)),
        page_of(tx, wanted, now, after, limit),
    )


def page_of(tx: Tx, wanted: Wanted, now: datetime, after: str = "", limit: int = PAGE) -> Page:
    """A page of the tables that are wanted."""
    rows = _rows(tx, wanted, now, after, limit + 1)
    shown = rows[:limit]
    ids = [row.id for row in shown]
    wrong, due = overview.troubles_of(tx, shown), overview.next_due(tx, shown)
    seated = player_rows.of_games(tx, ids)
    tables = tuple(
        Listed(
            replace(row, due_at=due.get(row.id)),
            tuple(player.name for player in seated[row.id]),
            tuple(_troubles(row, due.get(row.id), wrong.get(row.id, set()), now)),
        )
        for row in shown
    )
    return Page(tables, _key(wanted, shown[-1]) if len(rows) > limit else "")


def person_with(tx: Tx, server: Server, address: str) -> int | None:
    """The number of the person with exactly this address, if it is known."""
    found = people.by_mailbox(tx, normalised(address)[1])
    return None if found is None else found.id


def number_of(after: str) -> int | None:
    """The number behind which a page begins; None for the first page."""
    if not after:
        return None
    if not (after.isascii() and after.isdigit() and len(after) <= 12):
        raise _no_page()
    return int(after)


def _rows(tx: Tx, wanted: Wanted, now: datetime, after: str, limit: int) -> list[TableRow]:
    if wanted.text:
        by_key = [] if after else overview.by_key(tx, wanted.text.strip())
        return by_key or overview.with_numbers(tx, search.search(tx, "table", wanted.text, number_of(after), limit))
    if wanted.person_id is not None:
        return overview.of_person(tx, wanted.person_id, number_of(after), limit)
    if wanted.trouble == "overdue":
        return overview.urgent(tx, _moment(after), limit, now - LATE)
    if wanted.trouble:
        return overview.in_trouble(tx, wanted.trouble, number_of(after), limit)
    if wanted.status or wanted.kind:
        return overview.newest(tx, wanted.status or "playing", wanted.kind or None, _moment(after), limit)
    return overview.urgent(tx, _moment(after), limit)


def _key(wanted: Wanted, last: TableRow) -> str:
    """Where the next page begins."""
    if wanted.text or wanted.person_id is not None or wanted.trouble not in ("", "overdue"):
        return f"{last.id}"
    newest = (wanted.status or wanted.kind) and not wanted.trouble
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
    found = number_of(number)
    if found is None:
        raise _no_page()
    return moment, found


def _no_page() -> BadInput:
    return BadInput(_("There is no such page of this list."), remedy=_("Please begin with its first page."))


def _troubles(row: TableRow, due_at: datetime | None, found: set[str], now: datetime) -> list[str]:
    """What is wrong at a table, in the order in which troubles are told."""
    wrong = set(found)
    if row.status == "frozen":
        wrong.add("frozen")
    if row.status == "playing" and row.paused:
        wrong.add("paused")
    if row.status == "playing" and due_at is not None and due_at < now - LATE:
        wrong.add("overdue")
    return [trouble for trouble in TROUBLES if trouble in wrong]
