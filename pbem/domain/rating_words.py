"""Ratings in words: the number with its uncertainty, and why a game changed it."""

from collections.abc import Collection

from pbem.domain.ratings import Change, Rating
from pbem.i18n.speech import gettext as _, ngettext


def rating_text(rating: Rating) -> str:
    """A rating with its uncertainty, such as `1512 ± 90`; with a question mark while it's provisional."""
    return f"{rating.shown}{'?' if rating.provisional else ''} ± {rating.uncertainty}"


def gain_text(change: Change) -> str:
    """What a game changed: `+14`, `−9` or `±0`."""
    return f"{'+' if change.gain > 0 else '−' if change.gain < 0 else '±'}{abs(change.gain)}"


def why(own: Change, all_changes: Collection[Change], ranks: Collection[tuple[str, int]], seats: int) -> str:
    """Why a game changed a rating: the players before and behind, and how they were rated. It names nobody.

    `all_changes` are those of all players it counted for, in the same kind of rating; `ranks` are their ranks, of a level of bots
    one for each seat.
    """
    rank = next(rank for player, rank in ranks if player == own.player)
    if rank > seats:
        return _("you left the game, which counts as last place")
    higher_by = {each.player: each.before.shown - own.before.shown for each in all_changes}
    behind = [higher_by[player] for player, other in ranks if other > rank]
    ahead = [higher_by[player] for player, other in ranks if other < rank]
    higher_behind, lower_ahead = sum(each > 0 for each in behind), sum(each < 0 for each in ahead)
    if own.gain > 0 and higher_behind:
        return ngettext(
            "you finished ahead of one player rated higher",
            "you finished ahead of %(num)s players rated higher",
            higher_behind,
        )
    if own.gain > 0 and behind:
        return ngettext("you finished ahead of one player", "you finished ahead of %(num)s players", len(behind))
    if own.gain < 0 and lower_ahead:
        return ngettext(
            "one player rated lower finished ahead of you",
            "%(num)s players rated lower finished ahead of you",
            lower_ahead,
        )
    if own.gain < 0 and ahead:
        return ngettext("one player finished ahead of you", "%(num)s players finished ahead of you", len(ahead))
    if own.gain > 0:
        return _("you tied with players rated higher")
    if own.gain < 0:
        return _("you tied with players rated lower")
    return _("you finished where your rating predicted")
