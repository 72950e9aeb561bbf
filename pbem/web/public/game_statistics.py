"""The statistics of a game, from its finished public games: players, length, seats, variants and bids."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from flask import Blueprint, Response

from engine.game import Game
from engine.options import Option
from pbem.domain.game_statistics import Span, Sums, What, median, numbers_of, of_what, seat_wins, spans
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.archive import game_statistics
from pbem.web import site
from pbem.web.bars import BarRow, Bars, bars_of_counts, share_text
from pbem.web.public.rules import game_called
from pbem.web.site import server

pages = Blueprint("game_statistics", __name__)

MOST_VALUES: Final = 8
"""Values of a variant with a row of their own, the most frequent."""


@pages.get("/games/<kind>/statistics")
def show(kind: str) -> Response:
    rules = game_called(kind)
    sums = server().read(game_statistics.sums_of, rules.slug)
    finished = sum(of_what(sums, What.PLAYERS).values())
    return site.page("game_statistics.html", game=rules, finished=finished, shown=list(_shown(rules, sums, finished)))


def _shown(rules: Game[Any], sums: Sums, finished: int) -> Iterator[Bars]:
    """All that there is to show, in order."""
    if not finished:
        return
    players = numbers_of(sums, What.PLAYERS)
    yield Bars(
        "players",
        _("Players"),
        _("Half of the games had %(number)s players or fewer.", number=median(players)),
        (_("Players"), _("Games"), _("Share")),
        bars_of_counts((str(number), count) for number, count in players.items()),
    )
    yield _length("turns", _("Length in turns"), _("Turns"), numbers_of(sums, What.TURNS))
    yield _length("days", _("Length in days"), _("Days"), numbers_of(sums, What.DAYS))
    yield _seats(sums)
    for option in rules.options:
        if values := _values(sums, option):
            yield _variant(rules, option, values)
    if bids := numbers_of(sums, What.BID):
        yield Bars(
            "bids",
            _("Bids"),
            _("The highest bid of each player in each auction. Half of them were %(bid)s or lower.", bid=median(bids)),
            (_("Bid"), _("Bids"), _("Share")),
            _rows(spans(bids)),
        )


def _length(name: str, title: str, unit: str, counts: Mapping[int, int]) -> Bars:
    half = median(counts)
    says = (
        _("Half of the games took %(number)s turns or fewer.", number=half)
        if name == "turns"
        else _("Half of the games took less than a day.")
        if half == 0
        else _("Half of the games took %(number)s full days or fewer.", number=half)
    )
    return Bars(name, title, says, (unit, _("Games"), _("Share")), _rows(spans(counts)))


def _rows(found: list[Span]) -> tuple[BarRow, ...]:
    return bars_of_counts((_range(each.low, each.high), each.count) for each in found)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _seats(sums: Sums) -> Bars:
    """Each seat's share of wins, marked where it would be if all seats were equally good."""
    seats = seat_wins(sums)
    unfair = [str(each.seat) for each in seats if each.clearly]
    longest = max((max(each.wins, each.fair) / each.games for each in seats), default=1)
    return Bars(
        "seats",
        _("Seats"),
        _(
            "Chance doesn't explain how often these seats win: %(seats)s. The line is a fair share.",
            seats=", ".join(unfair),
        )
        if unfair
        else _("No seat wins more or less than chance explains. The line is a fair share."),
        (_("Seat"), _("Games"), _("Won"), _("Fair")),
        tuple(
            BarRow(
                str(each.seat),
                (f"{each.games:,}", share_text(each.wins, each.games), share_text(each.fair, each.games)),
                round(100 * each.wins / each.games / longest, 1),
                round(100 * each.fair / each.games / longest, 1),
            )
            for each in seats
        ),
    )


def _values(sums: Sums, option: Option) -> list[tuple[str | int, int]]:
    """The values of an option that tables chose and that still exist, the most frequent first."""
    start = f"{option.name}="
    chosen = {
        value.removeprefix(start): n for value, n in of_what(sums, What.OPTION).items() if value.startswith(start)
    }
    typed = [(int(text) if isinstance(option.default, int) else text, count) for text, count in chosen.items()]
    return sorted((each for each in typed if option.fits(each[0])), key=lambda each: (-each[1], str(each[0])))


def _variant(rules: Game[Any], option: Option, values: list[tuple[str | int, int]]) -> Bars:
    teller = speech.teller(rules)
    rows = [(teller(option.words(value)), count) for value, count in values[:MOST_VALUES]]
    if rest := sum(count for _value, count in values[MOST_VALUES:]):
        rows.append((_("others"), rest))
    return Bars(
        f"option-{option.name}",
        teller(option.called),
        _("Most tables chose: %(value)s.", value=rows[0][0])
        if len(values) > 1
        else _("All tables chose: %(value)s.", value=rows[0][0]),
        (_("Value"), _("Games"), _("Share")),
        bars_of_counts(rows),
    )
