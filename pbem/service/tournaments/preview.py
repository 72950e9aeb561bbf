"""What a host's act would do: it is done in a transaction that is rolled back, and compared with what was before.

A preview names nobody who was only invited: whose an address is, and who has asked to sign up, is not the host's to know.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Concatenate

from pbem.domain.errors import Stale
from pbem.domain.states import EntrantStatus
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.service.tournaments import reading
from pbem.service.tournaments.reading import Ranked, TournamentPage
from pbem.store import queued_emails, tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow, RoundTableRow, TournamentRow

HostAct = Callable[Concatenate[Tx, Server, int, int, ...], object]
"""What a host does: given a tournament, the host, and what else it needs."""


@dataclass(frozen=True, slots=True)
class MovedDate:
    """A date before and after; None where there is none."""

    name: str
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What an act would change.

    `readers` are the names of those who take part and get an email, each once for every email; `moved` are the dates that change;
    `comes` and `goes` name those who get a place or lose theirs. `standings` and `seeds` are those after it, where they change.
    """

    mark: str
    status: str
    readers: tuple[str, ...] = ()
    moved: tuple[MovedDate, ...] = ()
    comes: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    standings: tuple[Ranked, ...] = ()
    seeds: tuple[str, ...] = ()


def preview(tx: Tx, server: Server, act: HostAct, tournament_id: int, host_id: int, *given: object) -> Preview:
    """Do an act and say what it has changed: only for a dry run. Raises what the act raises."""
    row = tournaments.lock(tx, tournament_id)
    before, newest, mark = reading.page_of(tx, row), queued_emails.newest_id(tx), _mark(tx, row)
    act(tx, server, tournament_id, host_id, *given)
    after = reading.page_of(tx, tournaments.read(tx, tournament_id))
    names = {each.person_id: each.name for each in before.entrants if each.person_id is not None}
    emails = queued_emails.after(tx, newest, (), names)
    had, has = _present(before), _present(after)
    return Preview(
        mark=mark,
        status=after.summary.status,
        readers=tuple(names[email.person_id] for email in emails),
        moved=tuple(_moved(row, after.summary.row)),
        comes=tuple(name for number, name in has.items() if number not in had),
        goes=tuple(name for number, name in had.items() if number not in has),
        seeds=tuple(each.name for each in after.seeded) if row.seeds != after.summary.row.seeds else (),
        standings=after.standings if _order(before) != _order(after) else (),
    )


def perform(tx: Tx, server: Server, act: HostAct, tournament_id: int, host_id: int, mark: str, *given: object) -> None:
    """Do an act. Raises Stale if the tournament isn't as it was in the preview with this mark; and what the act raises.

    So the same button pressed twice does it once.
    """
    row = tournaments.lock(tx, tournament_id)
    if mark and mark != _mark(tx, row):
        raise Stale(_("The tournament has changed since the preview."), remedy=_("Nothing changed. Look at it again."))
    act(tx, server, tournament_id, host_id, *given)


def _present(page: TournamentPage) -> Mapping[int, str]:
    """The names of those who are in, by number."""
    return {each.number: each.name for each in page.entrants if each.status == EntrantStatus.IN}


def _moved(before: TournamentRow, after: TournamentRow) -> list[MovedDate]:
    """The dates that have moved."""
    dates = (
        (_("Sign-up ends"), before.closes_at, after.closes_at),
        (_("This round ends"), before.due_at, after.due_at),
    )
    return [MovedDate(name, was, now) for name, was, now in dates if was != now]


def _order(page: TournamentPage) -> list[tuple[object, ...]]:
    """The standings, as far as a reader sees a difference."""
    return [(each.number, each.standing.place, each.standing.points) for each in page.standings]


def _mark(tx: Tx, row: TournamentRow) -> str:
    """What the tournament is now, as a hash: all that an act may change, or depend on."""
    entrants: Sequence[EntrantRow] = tournaments.entrants(tx, row.id)
    tables: Sequence[RoundTableRow] = tournaments.tables(tx, row.id)
    now = (
        (row.status, row.seeds, row.paused_at, row.round, row.closes_at, row.due_at),
        [(each.number, each.status, each.until) for each in entrants],
        [(each.round, each.number, each.places, each.corrections) for each in tables],
    )
    return sha256(repr(now).encode()).hexdigest()
