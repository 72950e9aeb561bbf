"""What happens in tournaments, and when: sign-up opens and ends, rounds begin and end, someone wins.

It follows from the tournaments and the games of their tables alone, and everyone may know all of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pbem.domain.states import TournamentStatus
from pbem.service.server import Server
from pbem.service.tournaments import admission, reading
from pbem.service.tournaments.reading import TournamentSummary
from pbem.store import tournaments
from pbem.store.database import Tx

MOST: Final = 100
"""Tournaments in the calendar and the feeds of all, the newest."""


class What(StrEnum):
    """What happens in a tournament."""

    OPENED = "opened"
    CLOSES = "closes"
    BEGINS = "begins"
    ENDS = "ends"
    OVER = "over"
    CALLED_OFF = "called off"


@dataclass(frozen=True, slots=True)
class Event:
    """What happens in a tournament at a moment; `round` is the number of a round, 0 for all else."""

    at: datetime
    what: What
    summary: TournamentSummary
    round: int = 0


@dataclass(frozen=True, slots=True)
class Period:
    """A round, or with number 0 the sign-up, as a calendar shows it. `revision` rises whenever the end moves."""

    summary: TournamentSummary
    round: int
    start: datetime
    end: datetime
    revision: int
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class _Dates:
    """A tournament with its rounds: the number of each, when it began, and when it ended if it has."""

    summary: TournamentSummary
    rounds: list[tuple[int, datetime, datetime | None]]


_SETTLED: Final = 10**8
"""Added to the revision of a period that is over: more minutes than any lasts."""


def events(tx: Tx, server: Server, key: str = "") -> list[Event]:
    """What happens in one tournament, or in the newest ones, in its order. Raises NotFound."""
    found = [event for dates in _dates(tx, key) for event in _events(dates)]
    return sorted(found, key=lambda event: (event.at, event.summary.row.key, event.round, event.what))


def periods(tx: Tx, server: Server, key: str = "") -> list[Period]:
    """The sign-up and the rounds of one tournament, or of the newest ones. Raises NotFound."""
    return [period for dates in _dates(tx, key) for period in _periods(dates)]


def winners(tx: Tx, server: Server, limit: int) -> tuple[TournamentSummary, ...]:
    """Tournaments that are over, the newest first."""
    return reading.listed(tx, server, TournamentStatus.OVER, limit)


def _dates(tx: Tx, key: str) -> list[_Dates]:
    rows = [tournaments.by_key(tx, key)] if key else tournaments.listed(tx, None, None, MOST)
    for row in rows:
        admission.must_see(tx, row, None)
    times = tournaments.round_times(tx, [row.id for row in rows])
    return [_Dates(summary, times[summary.row.id]) for summary in reading.summaries(tx, rows)]


def _events(dates: _Dates) -> Iterator[Event]:
    summary = dates.summary
    row = summary.row
    yield Event(row.created_at, What.OPENED, summary)
    if dates.rounds or row.status == TournamentStatus.OPEN:
        yield Event(row.closes_at, What.CLOSES, summary)
    for number, start, ended_at in dates.rounds:
        yield Event(start, What.BEGINS, summary, number)
        end = ended_at or (summary.late_at if number == row.round else None)
        # The end of the last round is that of the tournament.
        if end is not None and (row.ended_at is None or number < row.round):
            yield Event(end, What.ENDS, summary, number)
    if row.ended_at is not None:
        yield Event(row.ended_at, What.OVER if row.status == TournamentStatus.OVER else What.CALLED_OFF, summary)


def _periods(dates: _Dates) -> Iterator[Period]:
    summary = dates.summary
    row = summary.row
    called_off = row.status == TournamentStatus.CALLED_OFF
    yield _period(summary, 0, row.created_at, row.closes_at, cancelled=called_off and not dates.rounds)
    for number, start, ended_at in dates.rounds:
        if ended_at is not None:
            yield _period(summary, number, start, ended_at, settled=True)
        else:
            due_at = row.due_at or start + timedelta(days=row.round_days)
            yield _period(summary, number, start, max(start, due_at), cancelled=called_off)


def _period(
    summary: TournamentSummary,
    number: int,
    start: datetime,
    end: datetime,
    *,
    settled: bool = False,
    cancelled: bool = False,
) -> Period:
    minutes = (end - start) // timedelta(minutes=1)
    revision = minutes + (_SETTLED if settled or cancelled else 0)
    return Period(summary, number, start, end, revision, cancelled)
