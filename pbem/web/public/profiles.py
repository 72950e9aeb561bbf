"""The profile of a player, for those who may see it: games, places, seats, opponents, choices, ratings.

For everyone else it's the same page as for an address that there never was.
"""

from collections.abc import Mapping
from typing import Final

from flask import Blueprint, Response, url_for

from engine.result import ordinal
from pbem.domain.player_record import LEFT, Record, by_kind, by_seat, record
from pbem.domain.rating_words import rating_text
from pbem.i18n.speech import capital, gettext as _, render, translate
from pbem.service.account import profiles
from pbem.service.account.profiles import MOST_GAMES, Profile
from pbem.service.play.rules import title_of
from pbem.web import site
from pbem.web.bars import BarRow, Bars, bars_of_counts, share_text
from pbem.web.people import session_cookie
from pbem.web.site import server

pages = Blueprint("profiles", __name__)

MOST_CHOICES: Final = 8
"""Kinds of choices in one game with a row of their own, the most frequent."""


@pages.get("/players/<key>")
def show(key: str) -> Response:
    """A profile. Raises NotFound where there is none that this reader may see."""
    found = server().read(profiles.profile, session_cookie.reader(), key)
    whole, kinds = record(found.played), by_kind(found.played)
    response = site.page(
        "profile.html",
        name=found.name,
        whole=whole,
        cut=whole.games == MOST_GAMES,
        in_time=found.in_time,
        ratings=[(title_of(kind), rating_text(rating)) for kind, rating in found.ratings],
        shown=_shown(found, whole, kinds),
        records=[(title_of(kind), each) for kind, each in kinds.items()],
    )
    # Its owner can hide it at any time.
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _shown(found: Profile, whole: Record, kinds: Mapping[str, Record]) -> list[Bars]:
    if not whole.games:
        return []
    return [
        _wins("kinds", _("Games"), _("Game"), {title_of(kind): each for kind, each in kinds.items()}),
        Bars(
            "ranks",
            _("Finishes"),
            _("How often they finished where."),
            (_("Finish"), _("Games"), _("Share")),
            bars_of_counts(
                (capital(render(ordinal(rank))) if rank else _("Left early"), whole.ranks[rank])
                for rank in sorted(whole.ranks, key=lambda rank: (rank == LEFT, rank))
            ),
        ),
        _wins("seats", _("Seats"), _("Seat"), {str(seat + 1): each for seat, each in by_seat(found.played).items()}),
        *([_opponents(found)] if found.others.games or found.against else []),
        *(_choices(kind, each) for kind, each in kinds.items() if each.choices),
    ]


def _wins(name: str, title: str, head: str, records: Mapping[str, Record]) -> Bars:
    """Shares of wins, marked where they would be if everyone were equally good."""
    longest = max(max(each.wins, each.fair) / each.games for each in records.values())
    return Bars(
        name,
        title,
        _("Wins, ties for first among them. The line is an equal share."),
        (head, _("Games"), _("Won")),
        tuple(
            BarRow(
                words,
                (f"{each.games:,}", share_text(each.wins, each.games)),
                round(100 * each.wins / each.games / longest, 1),
                round(100 * each.fair / each.games / longest, 1),
            )
            for words, each in records.items()
        ),
    )


def _opponents(found: Profile) -> Bars:
    rows = [
        BarRow(
            each.name or _("Others"),
            (f"{each.games:,}", share_text(each.ahead, each.games), share_text(each.level, each.games)),
            round(100 * each.ahead / each.games, 1),
            50.0,
            url_for(".show", key=each.key) if each.key else "",
        )
        for each in (*found.against, found.others)
        if each.games
    ]
    return Bars(
        "opponents",
        _("Against people"),
        _("How often they finished ahead. The line is one half. Others show you no profile."),
        (_("Opponent"), _("Games"), _("Ahead"), _("Level")),
        tuple(rows),
    )


def _choices(kind: str, of_kind: Record) -> Bars:
    most = sorted(of_kind.choices.items(), key=lambda each: (-each[1], each[0]))
    rows = [(capital(translate(verb)), count) for verb, count in most[:MOST_CHOICES]]
    if rest := sum(count for _verb, count in most[MOST_CHOICES:]):
        rows.append((_("Others"), rest))
    return Bars(
        f"choices-{kind}",
        _("Moves in %(game)s", game=title_of(kind)),
        _("What they chose themselves, in games they played from start to end."),
        (_("Move"), _("Times"), _("Share")),
        bars_of_counts(rows),
    )
