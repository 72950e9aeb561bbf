"""The lines of a reply with their outcomes, as its row keeps them and its receipt shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MOST_SHOWN: Final = 3
"""Lines of prose that a receipt quotes if there was no command."""

LONGEST_SHOWN: Final = 200
"""Characters of a line or subject that a receipt quotes."""


class Outcome(StrEnum):
    """The outcomes of a line."""

    APPLIED = "applied"
    REFUSED = "refused"
    NOT_TRIED = "not_tried"


class Done(StrEnum):
    """The effects of a line that was applied; the receipt has a sentence for each."""

    PLAYED = "played"
    SEALED = "sealed"
    AGAIN = "again"
    ORDERED = "ordered"
    ORDER_DROPPED = "order_dropped"
    TAKEN_BACK = "taken_back"
    BACK_PROPOSED = "back_proposed"
    BACK_AGREED = "back_agreed"
    GONE_BACK = "gone_back"
    TALKED = "said"
    NOTED = "noted"
    GIVEN = "given"
    AWAY = "away"
    RESENT = "resent"
    NEW_LINKS = "new_links"
    NEW_SEAT_LINKS = "new_seat_links"
    STOPPED = "stopped"
    SWITCHED_ON = "switched_on"
    SWITCHED_OFF = "switched_off"
    SHOWN = "shown"
    TO_CONFIRM = "to_confirm"


CHANGE_THE_TABLE: Final = frozenset(
    {Done.PLAYED, Done.SEALED, Done.ORDERED, Done.ORDER_DROPPED, Done.TAKEN_BACK, Done.GONE_BACK}
)
CHANGE_NOTHING: Final = frozenset({Done.AGAIN, Done.RESENT, Done.SHOWN, Done.TO_CONFIRM})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a reply with its outcome, as the receipt shows it. `text` is the choice made, the message told, or why it was refused."""

    quoted: str
    outcome: Outcome
    done: Done | None = None
    text: str = ""

    def facts(self) -> dict[str, str | None]:
        """The line as stored, and as the template of the receipt reads it."""
        return {"said": self.quoted, "outcome": self.outcome, "done": self.done, "text": self.text}


def summary(outcomes: Sequence[Outcome]) -> str:
    """What became of the lines of a reply, in a few words."""
    if not outcomes:
        return "reply: no command"
    if Outcome.REFUSED in outcomes:
        return "reply: partly carried out" if Outcome.APPLIED in outcomes else "reply: refused"
    return "reply: carried out"
