"""Whether a queued email is still worth sending, and if not, why: the reason is noted in its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pbem.domain.states import EmailKind, TableStatus

ASKING: Final = frozenset({EmailKind.TURN, EmailKind.REMINDER})
"""Kinds that ask for a decision: worth nothing once it is made."""

ANSWERED: Final = "the seat has answered"
"""The reason for an email that asks, although its turn is still open for others."""

_BEFORE_THE_START: Final = frozenset({EmailKind.INVITATION, EmailKind.JOINED, EmailKind.DECLINED, EmailKind.LEFT})
_WITHOUT_TABLE: Final[Mapping[str, str]] = {
    EmailKind.DIGEST: "all its games are over",
    EmailKind.CONFIRM: "the address is confirmed",
    EmailKind.GROUP_INVITATION: "the invitation is no longer open",
    EmailKind.SIGN_UP: "sign-up is over",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What an email is about, as it is now.

    `status` and `turn` are those of its table, if it is about one. `plays` is whether its reader still plays the seat it is
    about, None if it is about none; `asked`, whether that seat has a decision to make now. `settled` means that nothing is
    left to say: the address is confirmed, the offer, sign-up or proposal is over, the games of a digest have ended, or a newer email says it.
    """

    status: str | None = None
    turn: int | None = None
    plays: bool | None = None
    asked: bool = False
    settled: bool = False


def why_outdated(kind: str, turn: int | None, subject: Subject) -> str | None:
    """The reason why an email of this kind, about this turn, is not worth sending; None if it is."""
    if subject.status is None:
        return _WITHOUT_TABLE.get(kind) if subject.settled else None
    if kind in _BEFORE_THE_START and subject.status != TableStatus.OPEN:
        return "the table is no longer open"
    if kind == EmailKind.SUBSTITUTE:
        on_offer = subject.status == TableStatus.PLAYING and not subject.settled
        return None if on_offer else "the seat is no longer on offer"
    if subject.plays is None:
        return None
    if not subject.plays:
        return "someone else plays the seat now"
    if kind in ASKING or (kind == EmailKind.NOTICE and turn is not None):
        return _why_answered(turn, subject)
    if kind == EmailKind.BACK_PROPOSED:
        return "the game has moved on, or nobody proposes that any more" if subject.settled else None
    if kind == EmailKind.SEALED:
        return _why_unsealed(turn, subject)
    return None


def _why_answered(turn: int | None, subject: Subject) -> str | None:
    if subject.status != TableStatus.PLAYING:
        return "the game has ended"
    if subject.turn != turn:
        return "the game has moved on"
    return None if subject.asked else ANSWERED


def _why_unsealed(turn: int | None, subject: Subject) -> str | None:
    if subject.turn != turn:
        return "the game has moved on"
    return "the choice was changed or taken back" if subject.settled or subject.asked else None
