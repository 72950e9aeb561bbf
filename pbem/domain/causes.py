"""Why a choice was made that no person made, and the words for it beside what happened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from engine.facts import Fact
from engine.tell import Teller, say
from pbem.i18n.speech import gettext as _, mark, translate


class Cause(StrEnum):
    """Why a choice was made that no person made."""

    CLOCK = "clock"
    ONLY = "only"
    """The table made the only possible choice."""
    ORDER = "order"
    BOT = "bot"


_WORDS: Final = {
    Cause.CLOCK: mark("time ran out"),
    Cause.ONLY: mark("no other choice"),
    Cause.ORDER: mark("standing order"),
    Cause.BOT: mark("bot"),
}


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """The facts that a reader saw in one turn, and why choices were made that no person made, by seat.

    `sealed` are the fingerprints of the choices in it that were sealed.
    """

    turn: int
    facts: tuple[Fact[Any], ...]
    causes: Mapping[int, Cause]
    sealed: tuple[str, ...] = ()


def tell_turn(turn: TurnFacts, teller: Teller, tell: Callable[[Fact[Any]], str | None] | None = None) -> list[str]:
    """The sentences of one turn; the first about a seat also says why its choice was made, if no person made it.

    Causes of seats that no sentence is about are added to the last sentence, with the names of all who share one. `tell` is
    used instead of the teller's own, where it remembers what it has told.
    """
    tell = tell or teller.tell
    left, remarks = dict(turn.causes), list[tuple[str, list[str]]]()
    for fact in turn.facts:
        if (sentence := tell(fact)) is not None:
            cause = left.pop(getattr(fact, "seat", -1), None)
            remarks.append((sentence, [] if cause is None else [translate(_WORDS[cause])]))
    if remarks:
        sharing = dict[Cause, tuple[int, ...]]()
        for seat, cause in sorted(left.items()):
            sharing[cause] = (*sharing.get(cause, ()), seat)
        remarks[-1][1].extend(
            f"{teller(say('{seats:seats}', seats=seats))}: {translate(_WORDS[cause])}"
            for cause, seats in sharing.items()
        )
    return [_with(sentence, "; ".join(why)) if why else sentence for sentence, why in remarks]


def _with(sentence: str, why: str) -> str:
    """A sentence with a remark in brackets, before its full stop if it has one."""
    stop = "." if sentence.endswith(".") else ""
    return _("%(sentence)s (%(why)s)", sentence=sentence.removesuffix("."), why=why) + stop
