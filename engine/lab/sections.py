"""The sections of the report: each a table, what it says, and perhaps a chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.lab.figures import Figure, difference, mean, share, spread
from engine.lab.games import Record

MOST_BARS: Final = 16
"""Bars of a chart of amounts; more are put together."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart: its label, its length, and an interval if it has one."""

    label: str
    length: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart. `line` is a length to compare with, such as a fair share; `unit` follows the numbers."""

    title: str
    bars: tuple[Bar, ...]
    line: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: a heading, a sentence on how to read it, a table, and charts."""

    title: str
    says: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    charts: tuple[Chart, ...] = ()


def sections(records: Sequence[Record], compared: Mapping[str, Sequence[Record]]) -> Iterator[Section]:
    """Yield the sections of a report. `compared` are the games of each variant, by its name."""
    yield _seats(records)
    yield _length(records)
    yield _ends(records)
    yield _leads(records)
    yield _verbs(records)
    yield from _amounts(records)
    if compared:
        yield _options(records, compared)


def _seats(records: Sequence[Record]) -> Section:
    seats = range(len(records[0].scores))
    wins = [share([record.shares[seat] for record in records]) for seat in seats]
    scores = [mean([record.scores[seat] for record in records]) for seat in seats]
    rows = ((str(seat + 1), wins[seat].as_share(), scores[seat].as_number()) for seat in seats)
    bars = tuple(_in_per_cent(str(seat + 1), wins[seat]) for seat in seats)
    return Section(
        "Seats",
        f"All seats have the same bot, so each should win {100 / len(seats):.1f} %. Ties are shared.",
        ("Seat", "Wins", "Score"),
        tuple(rows),
        (Chart("Wins by seat", bars, 100 / len(seats), " %"),),
    )


def _length(records: Sequence[Record]) -> Section:
    players = len(records[0].scores)
    counted = (
        ("Turns", [record.turns for record in records]),
        ("Auctions", [record.auctions for record in records]),
        ("Decisions per player", [round(record.decisions.total() / players) for record in records]),
    )
    # A game whose facts tell of no auctions has none to count.
    rows = ((name, mean(many).as_number(), *map(str, spread(many))) for name, many in counted if any(many))
    return Section(
        "Length",
        "A tenth, a half and nine tenths of all games are no longer than the last three columns say.",
        ("", "Mean", "10 %", "50 %", "90 %"),
        tuple(rows),
        (Chart("Turns", _histogram(Counter(record.turns for record in records))),),
    )


def _ends(records: Sequence[Record]) -> Section:
    margins = [record.margin for record in records]
    low, middle, high = spread(margins)
    rows = (
        ("Shared first places", share([len(record.winners) > 1 for record in records]).as_share()),
        ("Winner's lead", mean(margins).as_number()),
        ("Winner's lead (10, 50 and 90 %)", f"{low}, {middle}, {high}"),
        ("Winning score", mean([max(record.scores) for record in records]).as_number()),
    )
    chart = Chart("Winner's lead over the best other score", _histogram(Counter(margins)))
    return Section("Closeness", "How close games end.", ("", ""), rows, (chart,))


def _leads(records: Sequence[Record]) -> Section:
    rows = []
    for name, quarter in (("A quarter", 1), ("Half", 2), ("Three quarters", 3)):
        at = [(record, len(record.leads) * quarter // 4) for record in records]
        alone = [(record, min(record.leads[turn])) for record, turn in at if len(record.leads[turn]) == 1]
        behind = [bool(record.winners & record.last[turn] - record.leads[turn]) for record, turn in at]
        wins = share([record.shares[leader] for record, leader in alone])
        one_leads = share([len(record.leads[turn]) == 1 for record, turn in at])
        rows.append((name, *(each.as_share() for each in (one_leads, wins, share(behind)))))
    return Section(
        "Comebacks",
        "Who led after a part of the turns, by the true scores at that moment, and who won.",
        ("Turns played", "One seat leads", "That seat wins", "A last seat wins"),
        tuple(rows),
    )


def _verbs(records: Sequence[Record]) -> Section:
    rows = []
    for verb in sorted({verb for record in records for _, verb in record.offered}):
        chosen, offered = _total(records, "chosen", verb), _total(records, "offered", verb)
        won, lost = _uses(records, verb)
        more = difference(mean(won), mean(lost)).as_number()
        per_game = f"{chosen / len(records):.1f}"
        rows.append((verb, per_game, f"{100 * chosen / offered:.0f} %", mean(won).as_number(), more))
    return Section(
        "Choices",
        "How often each is chosen. A choice pays, or goes with what pays, if winners choose it more often than others.",
        ("Choice", "Per game", "When offered", "By a winner", "More than by others"),
        tuple(rows),
    )


def _amounts(records: Sequence[Record]) -> Iterator[Section]:
    counted: dict[tuple[str, str], Counter[int]] = {}
    winners: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for record in records:
        for (seat, verb, blank, amount), many in record.amounts.items():
            counted.setdefault((verb, blank), Counter())[amount] += many
            sides = winners.setdefault((verb, blank), ([], []))
            sides[seat not in record.winners].extend([float(amount)] * many)
    for (verb, blank), amounts in sorted(counted.items()):
        won, lost = (mean(side) for side in winners[verb, blank])
        low, middle, high = spread(amounts.elements())
        rows = (
            ("Winners", won.as_number()),
            ("Others", lost.as_number()),
            ("10, 50 and 90 %", f"{low}, {middle}, {high}"),
        )
        chart = Chart(f"{verb}: {blank}", _histogram(amounts))
        yield Section(f"Amounts: {verb}, {blank}", "Every choice counts.", ("", blank), rows, (chart,))


def _options(records: Sequence[Record], compared: Mapping[str, Sequence[Record]]) -> Section:
    rows = []
    for name, played in {"as above": records, **compared}.items():
        first = share([record.shares[0] for record in played])
        half = [(record, record.leads[len(record.leads) // 2]) for record in played]
        wins = share([record.shares[min(leads)] for record, leads in half if len(leads) == 1])
        turns, margin = (mean([getattr(record, each) for record in played]) for each in ("turns", "margin"))
        rows.append((name, turns.as_number(), margin.as_number(), first.as_share(), wins.as_share()))
    return Section(
        "Options",
        "The same figures with one option changed.",
        ("Option", "Turns", "Winner's lead", "Seat 1 wins", "Leader at half-time wins"),
        tuple(rows),
    )


def _total(records: Sequence[Record], what: str, verb: str) -> int:
    return sum(many for record in records for (_, name), many in getattr(record, what).items() if name == verb)


def _uses(records: Sequence[Record], verb: str) -> tuple[list[float], list[float]]:
    """How often winners chose a verb in a game, and how often others did."""
    sides: tuple[list[float], list[float]] = [], []
    for record in records:
        for seat in range(len(record.scores)):
            sides[seat not in record.winners].append(float(record.chosen[seat, verb]))
    return sides


def _histogram(counted: Counter[int]) -> tuple[Bar, ...]:
    """How often each number came up; of many numbers, those side by side are put together."""
    if not counted:
        return ()
    low, high = min(counted), max(counted)
    width = -(-(high - low + 1) // MOST_BARS)
    bars = []
    for start in range(low, high + 1, width):
        end = start + width - 1
        label = str(start) if width == 1 else f"{start} to {end}"
        bars.append(Bar(label, float(sum(many for number, many in counted.items() if start <= number <= end))))
    return tuple(bars)


def _in_per_cent(label: str, figure: Figure) -> Bar:
    return Bar(label, 100 * figure.value, 100 * figure.low, 100 * figure.high)
