"""What a receipt tells beside what became of each line: what is asked now, and what may be written.

The lines stand in the facts of the mail; the table is shown as it is when the receipt is written, by the view of its seat.
"""

from typing import Final

from engine import grammar, orders
from pbem.domain import speech
from pbem.domain.commands import USAGES
from pbem.mail.compose import Letterhead
from pbem.service import telling
from pbem.service.house import House
from pbem.service.looks import Look
from pbem.service.telling import Words

_NOTHING_ASKED: Final[Words] = {
    "asked": "",
    "until": None,
    "options": [],
    "usages": [],
    "orders": [],
    "silence": "",
    "warning": "",
}


def words(house: House, letterhead: Letterhead, look: Look, move: int) -> Words:
    """What the player is asked now, what may be written, and the rules; `move` is the row of the links to choices."""
    return {
        "now": look.window,
        "over": look.status != "playing",
        "sealed": look.sealed_words,
        "in_game": _in_game(look),
        "anywhere": USAGES,
        "passages": [speech.translated(passage) for passage in look.rules.rules.split("\n\n")],
    } | _asked(house, letterhead, look, move)


def _asked(house: House, letterhead: Letterhead, look: Look, move: int) -> Words:
    if look.decision is None:
        return _NOTHING_ASKED
    # The moment that the clock goes by now: what was promised in a mail before is never later.
    return telling.asked(house, letterhead, look, look.decision, move, None) | {
        "until": look.due_at or look.promised_at
    }


def _in_game(look: Look) -> list[str]:
    """How choices and orders are written in what is asked now."""
    if look.decision is None:
        return []
    return [*grammar.usages(look.decision), *orders.offered(look.decision)]
