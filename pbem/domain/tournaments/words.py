"""Tournaments in words: formats, points and tie-breaks."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from pbem.domain.tournaments.plan import Plan
from pbem.i18n.speech import gettext as _, mark, ngettext, translate

_NAMES: Final[Mapping[str, str]] = {
    "swiss": mark("Swiss"),
    "pods": mark("Groups and finals"),
    "knockout": mark("Knockout"),
    "league": mark("League"),
}
_PARTS: Final = {
    Fraction(1, 2): "½",
    Fraction(1, 3): "⅓",
    Fraction(2, 3): "⅔",
    Fraction(1, 4): "¼",
    Fraction(3, 4): "¾",
}


_TIE_BREAKS: Final[Mapping[str, tuple[str, str]]] = {
    "opponents": (mark("Opponents' points"), mark("the higher mean of the points of the opponents they met")),
    "wins": (mark("First places"), mark("more first places; one shared by two counts half")),
    "head_to_head": (
        mark("Head to head"),
        mark("more often ahead of the others who are level, if all of them have met"),
    ),
    "later_rounds": (mark("Late points"), mark("more points won late: those of round 3 count three times, and so on")),
    "places": (mark("Opponents beaten"), mark("the higher sum of the shares of opponents beaten at their tables")),
    "lots": (mark("Lots"), mark("drawn from the public number")),
}


def tie_break_name(name: str) -> str:
    """The name of a tie-break."""
    return translate(_TIE_BREAKS[name][0])


def tie_break_text(name: str) -> str:
    """Who is ahead by a tie-break, in a few words."""
    return translate(_TIE_BREAKS[name][1])


def format_name(name: str) -> str:
    """The name of a format."""
    return translate(_NAMES[name])


def format_text(plan: Plan, rounds: int) -> str:
    """How a tournament is played, in a sentence."""
    match plan.format:
        case "swiss":
            return ngettext(
                "Swiss: one round, at tables of players with about the same points",
                "Swiss: %(num)s rounds, each with new opponents who have about the same points",
                rounds,
            )
        case "pods":
            return ngettext(
                "Groups and finals: everyone meets everyone in their group, and the best one goes on",
                "Groups and finals: everyone meets everyone in their group, and the best %(num)s go on",
                plan.advance,
            )
        case "knockout":
            return ngettext(
                "Knockout: the best player at each table goes on",
                "Knockout: the best %(num)s at each table go on",
                plan.advance,
            )
        case _league:
            return _("League: everyone meets everyone in their division")


def points_text(points: Fraction) -> str:
    """Points, the usual fractions as one sign."""
    whole, part = divmod(points, 1)
    if not part:
        return f"{whole}"
    sign = _PARTS.get(part)
    return f"{float(points):.2f}" if sign is None else f"{whole or ''}{sign}"
