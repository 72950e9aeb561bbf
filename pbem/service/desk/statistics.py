"""Counting what happens, for the desk's charts. A worker counts, a little at a time; no move waits for it.

The kinds: `moves`, `bots`, `orders` and `time_outs` are choices by people, bots, standing orders and the clock;
`people` and `people_day` are different people who decided in an hour or day; `within_1h` to `later` are people's
choices by response time; `mail_sent` and others are outcomes of emails; `playing` is the number of running tables.

An hour is counted again until a little after its end, so that late rows are not missed; lines of the ledger are counted
once each. Nothing counted can identify a person.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise, takewhile
from typing import Final

from pbem.domain.states import EmailStatus
from pbem.service.clocks import outages
from pbem.service.play.move import IN_PERSON, Actor
from pbem.service.server import Server
from pbem.store import overview, statistics, task_progress
from pbem.store.database import Tx

DAYS: Final = 30
HOURS: Final = 48
"""How far back the charts show."""

RETENTION: Final = timedelta(days=400)
"""So that a year can be compared with the one before."""

ANSWERED: Final = (
    ("within_1h", timedelta(hours=1)),
    ("within_6h", timedelta(hours=6)),
    ("within_1d", timedelta(days=1)),
    ("within_3d", timedelta(days=3)),
    ("later", timedelta.max),
)
"""Kinds of choices by response time."""

LEDGER_KINDS: Final = {
    "accepted": "mail_sent",
    "postponed": "mail_postponed",
    EmailStatus.SUPERSEDED: "mail_superseded",
    EmailStatus.UNDELIVERABLE: "mail_failed",
    "bounced": "mail_failed",
    "complained": "mail_failed",
    EmailStatus.PARKED: "mail_failed",
}
"""The kind that a line of the ledger is counted as."""

_LATE: Final = timedelta(minutes=5)
"""After this, every transaction that took an earlier moment has ended."""

_LINES: Final = 2000
_HOURS_AT_ONCE: Final = 12
_HOUR: Final = timedelta(hours=1)
_HOURS_MARK: Final = "tally hours"
_LINES_MARK: Final = "tally emails"
_BY: Final = {Actor.BOT: "bots", Actor.ORDER: "orders", Actor.CLOCK: "time_outs"}


@dataclass(frozen=True, slots=True)
class Activity:
    """Counts by kind, each with one number per span; the spans are days or hours."""

    hourly: bool
    spans: tuple[datetime, ...]
    numbers: dict[str, tuple[int, ...]]

    def of(self, kind: str) -> tuple[int, ...]:
        """The numbers of a kind; zeroes if it was never counted."""
        return self.numbers.get(kind, (0,) * len(self.spans))


def count(server: Server) -> bool:
    """Count a batch of what has happened since the last call; whether there is more."""
    hours = server.store.write(lambda tx: _count_hours(tx, server.now()))
    lines = server.store.write(lambda tx: _count_lines(tx, server.now()))
    return hours or lines


def tidy(tx: Tx, server: Server) -> None:
    """Drop counts that are too old to be shown."""
    statistics.forget_before(tx, outages.ago(tx, server, RETENTION).date())


def activity(tx: Tx, server: Server, *, hourly: bool) -> Activity:
    """The counts of the last days or hours."""
    now = server.now()
    if hourly:
        spans = tuple(_hour_of(now) - _HOUR * back for back in reversed(range(HOURS)))
        counts = statistics.by_hour(tx, spans[0])
    else:
        spans = tuple(_moment(now.date() - timedelta(days=back), 0) for back in reversed(range(DAYS)))
        counts = {(day, 0, kind): count for (day, kind), count in statistics.by_day(tx, spans[0].date()).items()}
    by_span = {(_moment(day, hour), kind): count for (day, hour, kind), count in counts.items()}
    kinds = sorted({kind for _, kind in by_span})
    return Activity(hourly, spans, {kind: tuple(by_span.get((span, kind), 0) for span in spans) for kind in kinds})


def _count_hours(tx: Tx, now: datetime) -> bool:
    mark, this = task_progress.lock(tx, _HOURS_MARK), _hour_of(now)
    # The first count goes back as far as the charts.
    last = _moment_of(mark) if mark else _next_busy(tx, this - timedelta(days=DAYS), this)
    hours = [min(last, _hour_of(now - _LATE))]
    while hours[-1] < this and len(hours) < _HOURS_AT_ONCE:
        hours.append(_next_busy(tx, hours[-1] + _HOUR, this))
    for hour in hours:
        statistics.put(tx, hour, _count_hour(tx, hour))
    for before, hour in pairwise(hours):
        if hour > last:
            midnight, end = before.replace(hour=0), before + _HOUR
            people = statistics.count_active_people(tx, midnight, end, tuple(IN_PERSON))
            statistics.put(tx, midnight, {"people_day": people})
    if hours[-1] == this and (last < this or not mark):
        # Once an hour, because all of them are counted.
        statistics.put(tx, this, {"playing": overview.count_playing(tx)})
    task_progress.put(tx, _HOURS_MARK, int(hours[-1].timestamp() // _HOUR.total_seconds()))
    return hours[-1] < this


def _next_busy(tx: Tx, since: datetime, this: datetime) -> datetime:
    """The hour of the first decision since a moment, or this hour if there was none before it."""
    found = statistics.first_decision(tx, since, this)
    return this if found is None else _hour_of(found)


def _count_hour(tx: Tx, hour: datetime) -> dict[str, int]:
    """The counts of one hour. Every kind is in it, so that a recount can set it to zero."""
    counts = Counter(dict.fromkeys(("moves", "people", *_BY.values(), *(kind for kind, _ in ANSWERED)), 0))
    people = set()
    for decision in statistics.decisions(tx, hour, hour + _HOUR):
        if decision.by in IN_PERSON:
            counts["moves"] += 1
            people.add(decision.person_id)
            if decision.asked_at is not None:
                took = decision.at - decision.asked_at
                counts[next(kind for kind, longest in ANSWERED if took <= longest)] += 1
        elif (kind := _BY.get(Actor(decision.by))) is not None:
            counts[kind] += 1
    counts["people"] = len(people)
    return dict(counts)


def _count_lines(tx: Tx, now: datetime) -> bool:
    mark = task_progress.lock(tx, _LINES_MARK)
    lines = statistics.next_lines(tx, mark, _LINES)
    # While a line is recent, another transaction may still insert one with a lower id.
    old = list(takewhile(lambda line: not _is_recent(line.at, now), lines))
    counts: dict[datetime, Counter[str]] = {}
    for line in old:
        if (kind := LEDGER_KINDS.get(line.what)) is not None:
            counts.setdefault(_hour_of(line.at), Counter())[kind] += 1
    for hour, by_kind in counts.items():
        statistics.add(tx, hour, by_kind)
    if old:
        task_progress.put(tx, _LINES_MARK, old[-1].id)
    return len(old) == _LINES


def _is_recent(moment: datetime, now: datetime) -> bool:
    # Far ahead, it's not recent: the clock was set back since.
    return now - _LATE < moment <= now + _LATE


def _moment_of(mark: int) -> datetime:
    return datetime.fromtimestamp(mark * _HOUR.total_seconds(), UTC)


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _moment(day: date, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)
