"""Counting what happens, for the charts of the desk: a worker does it, a little at a time, and no move waits for it.

    moves, bots, orders, time_outs   choices of people, of bots, by standing orders, by the clock
    people, people_day               different people who decided something, in an hour and in a day
    within_1h ... later              choices of people by how long after the question they came
    mail_sent, mail_postponed ...    what became of mails
    playing                          tables that were being played when the hour was counted last

An hour is counted again as long as it lasts and a little longer, so that nothing is missed that was written late; lines of
the ledger are counted once each. Nothing is counted from which somebody could be known.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile
from typing import Final

from pbem.service.play.move import IN_PERSON, By
from pbem.service.server import Server
from pbem.store import overview, tally
from pbem.store.database import Tx

DAYS: Final = 30
HOURS: Final = 48
"""So far back the charts show."""

KEPT: Final = timedelta(days=400)
"""A year can be compared with the one before."""

ANSWERED: Final = (
    ("within_1h", timedelta(hours=1)),
    ("within_6h", timedelta(hours=6)),
    ("within_1d", timedelta(days=1)),
    ("within_3d", timedelta(days=3)),
    ("later", timedelta.max),
)
"""Into which of these an answer falls by the time it took."""

MAILS: Final = {
    "accepted": "mail_sent",
    "postponed": "mail_postponed",
    "superseded": "mail_superseded",
    "undeliverable": "mail_failed",
    "bounced": "mail_failed",
    "complained": "mail_failed",
    "parked": "mail_failed",
}
"""As what a line of the ledger is counted, if it is."""

_LATE: Final = timedelta(minutes=5)
"""By then every transaction has ended that took its moment before."""

_LINES: Final = 2000
_HOURS_AT_ONCE: Final = 12
_HOUR: Final = timedelta(hours=1)
_HOURS_MARK: Final = "tally hours"
_LINES_MARK: Final = "tally mails"
_BY: Final = {By.BOT: "bots", By.ORDER: "orders", By.CLOCK: "time_outs"}


@dataclass(frozen=True, slots=True)
class Activity:
    """How often things happened, span by span: the days or hours, and for each kind as many numbers as there are spans."""

    hourly: bool
    spans: tuple[datetime, ...]
    numbers: dict[str, tuple[int, ...]]

    def of(self, kind: str) -> tuple[int, ...]:
        """The numbers of one kind; nothing was counted where there are none."""
        return self.numbers.get(kind, (0,) * len(self.spans))


def count(server: Server) -> bool:
    """Count what has happened since the last time, as far as one look goes; whether there is more."""
    hours = server.store.write(lambda tx: _count_hours(tx, server.now()))
    lines = server.store.write(lambda tx: _count_lines(tx, server.now()))
    return hours or lines


def tidy(tx: Tx, server: Server) -> None:
    """Drop counts that nobody looks at any more."""
    tally.forget_before(tx, (server.now() - KEPT).date())


def activity(tx: Tx, server: Server, *, hourly: bool) -> Activity:
    """What happened in the last days, or in the last hours."""
    return _activity(tx, server.now(), hourly=hourly)


def _activity(tx: Tx, now: datetime, *, hourly: bool) -> Activity:
    if hourly:
        this = _hour_of(now)
        spans = tuple(this - _HOUR * back for back in reversed(range(HOURS)))
        by_hour = tally.by_hour(tx, spans[0])
        found = {(span, kind): count for (day, hour, kind), count in by_hour.items() for span in [_moment(day, hour)]}
    else:
        spans = tuple(_moment(now.date() - timedelta(days=back), 0) for back in reversed(range(DAYS)))
        by_day = tally.by_day(tx, spans[0].date())
        found = {(_moment(day, 0), kind): count for (day, kind), count in by_day.items()}
    kinds = {kind for _, kind in found}
    return Activity(
        hourly, spans, {kind: tuple(found.get((span, kind), 0) for span in spans) for kind in sorted(kinds)}
    )


def _count_hours(tx: Tx, now: datetime) -> bool:
    mark, this = tally.lock_mark(tx, _HOURS_MARK), _hour_of(now)
    # Before the first count, as far back as the charts reach.
    last = datetime.fromtimestamp(mark * _HOUR.total_seconds(), UTC) if mark else this - timedelta(days=DAYS)
    first = min(last, _hour_of(now - _LATE))
    hours = [first + _HOUR * each for each in range(_HOURS_AT_ONCE) if first + _HOUR * each <= this]
    for hour in hours:
        tally.put(tx, hour, _counted(tx, hour))
        if hour > last:
            before = hour - _HOUR
            midnight = before.replace(hour=0)
            tally.put(tx, midnight, {"people_day": tally.active(tx, midnight, hour, tuple(IN_PERSON))})
    if hours and hours[-1] == this:
        tally.put(tx, this, {"playing": overview.count_playing(tx)})
    if hours:
        tally.set_mark(tx, _HOURS_MARK, int(hours[-1].timestamp() // _HOUR.total_seconds()))
    return bool(hours) and hours[-1] < this


def _counted(tx: Tx, hour: datetime) -> dict[str, int]:
    """What happened at the tables in one hour; a kind that was counted before is there, if only as nothing."""
    counts = Counter(dict.fromkeys(("moves", "people", *_BY.values(), *(kind for kind, _ in ANSWERED)), 0))
    people = set()
    for each in tally.decided(tx, hour, hour + _HOUR):
        if each.by in IN_PERSON:
            counts["moves"] += 1
            people.add(each.person_id)
            if each.asked_at is not None:
                took = each.at - each.asked_at
                counts[next(kind for kind, longest in ANSWERED if took <= longest)] += 1
        elif (kind := _BY.get(By(each.by))) is not None:
            counts[kind] += 1
    counts["people"] = len(people)
    return dict(counts)


def _count_lines(tx: Tx, now: datetime) -> bool:
    mark = tally.lock_mark(tx, _LINES_MARK)
    lines = tally.noted(tx, mark, _LINES)
    # A line with a lower number may still be on its way into the table as long as it is young.
    old = list(takewhile(lambda line: line.at <= now - _LATE, lines))
    counts: dict[datetime, Counter[str]] = {}
    for line in old:
        if (kind := MAILS.get(line.what)) is not None:
            counts.setdefault(_hour_of(line.at), Counter())[kind] += 1
    for hour, found in counts.items():
        tally.add(tx, hour, found)
    if old:
        tally.set_mark(tx, _LINES_MARK, old[-1].id)
    return len(old) == _LINES


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _moment(day: date, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)
