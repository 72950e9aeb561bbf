"""Missed turns in a row: how many a table allows, as agreed at its start, and who is offered the seat then."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from pbem.domain.duration import HOUR
from pbem.domain.pace import Pace
from pbem.i18n.speech import gettext as _

# Anyone can miss one turn, and a limit of more than ten is no limit.
FEWEST, MOST = 2, 10

# A player who may miss more without losing anything isn't playing.
MOST_GRACE = 5

SECOND_CHANCES: Final = (0, 1, 4, 12, 24)
"""The hours for which a table may let players take back the move made for a missed turn; at 0, they can't."""

USUAL_SECOND_CHANCE: Final = 12


class Successor(StrEnum):
    """Who is offered the seat of a player who is gone."""

    SUBSTITUTE = "substitute"
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class Agreement:
    """After `limit` missed turns in a row, the seat is offered to `successor`."""

    limit: int
    successor: Successor

    def __post_init__(self) -> None:
        if not FEWEST <= self.limit <= MOST:
            raise ValueError(f"{self.limit} missed turns in a row are out of range")

    @classmethod
    def of_table(cls, limit: int, successor: str, *, private: bool) -> "Agreement":
        """What a table agreed. Strangers never join a private one, so a bot takes over there."""
        return cls(limit, Successor.BOT if private else Successor(successor))


def successor_after(in_a_row: int, agreement: Agreement) -> Successor | None:
    """The successor who is offered the seat after that many missed turns in a row; None while it is not offered."""
    return agreement.successor if in_a_row >= agreement.limit else None


def second_chance(hours: int, pace: Pace) -> timedelta:
    """How long after its deadline a missed turn can be taken back and played: no longer than a turn takes."""
    return min(hours * HOUR, pace.scale)


def grace_text(grace: int) -> str:
    """What a player reads about a missed turn that doesn't count."""
    return _("This one doesn't count: your first %(grace)s missed turns of this game only warn you.", grace=grace)


def warning(in_a_row: int, agreement: Agreement) -> str:
    """A warning for the player: what another missed turn leads to."""
    left = agreement.limit - in_a_row
    bot = agreement.successor is Successor.BOT
    if left <= 0:
        if bot:
            return _("A bot is now playing your seat. You can come back until the game ends.")
        return _("Your seat is being offered to substitutes. To keep it, make a move.")
    if left == 1:
        if bot:
            return _("If you miss this turn, a bot will take over your seat.")
        return _("If you miss this turn, your seat will be offered to a substitute.")
    if in_a_row == 0 and bot:
        return _("If you miss %(left)s turns in a row, a bot will take over your seat.", left=left)
    if in_a_row == 0:
        return _("If you miss %(left)s turns in a row, your seat will be offered to a substitute.", left=left)
    if bot:
        return _("If you miss %(left)s more turns in a row, a bot will take over your seat.", left=left)
    return _("If you miss %(left)s more turns in a row, your seat will be offered to a substitute.", left=left)
