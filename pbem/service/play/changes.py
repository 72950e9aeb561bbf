"""How often a player may think again: each time adds a row to the log, and perhaps an email to the player.

Only the player's own changes since the last turn that stands are counted, so a refusal tells nobody anything of others.
"""

from typing import Final

from pbem.domain.errors import TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.play.log import Kind, json_body_of
from pbem.store import log
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST: Final = 50
"""Choices that a seat seals, takes back or leaves as standing orders between two turns."""

_OWN: Final = frozenset({Kind.SEALED, Kind.WITHDRAWN, Kind.UNDONE, Kind.ORDER})
_BY_PROGRAMS: Final = frozenset({"clock", "bot", "order", "table"})


def must_be_few(tx: Tx, row: GameRow, seat: int, undone_from: int | None = None) -> None:
    """Raise TooMany if a seat's player has thought again too often since the last turn that stands; with `undone_from`, since
    the last one before that turn."""
    if _count(tx, row, seat, undone_from) >= MOST:
        raise TooMany(
            _("You've changed your mind %(most)s times since the last turn.", most=MOST),
            why=_("More isn't possible in one turn."),
            remedy=_("Nothing changed: your choice stands."),
        )


def _count(tx: Tx, row: GameRow, seat: int, undone_from: int | None) -> int:
    found = 0
    for each in log.chain_back(tx, row.id, row.key, (*_OWN, Kind.ENTRY, Kind.REWOUND, Kind.SEATED)):
        if each.kind == Kind.REWOUND or (each.kind, each.seat) == (Kind.SEATED, seat):
            break
        if each.kind == Kind.ENTRY and (undone_from is None or json_body_of(each)["turn"] < undone_from):
            break
        if each.kind == Kind.UNDONE:
            undone_from = json_body_of(each)["from"]
        found += each.seat == seat and each.kind in _OWN and each.by not in _BY_PROGRAMS
    return found
