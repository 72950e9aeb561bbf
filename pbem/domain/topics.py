"""Topics: the kinds of emails that a person can switch off, beside choosing when emails come.

A topic changes emails and never time: the clock of a turn runs whether or not there is an email about it. This module must
never read a person's settings.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from pbem.domain.states import EmailKind


class Topic(StrEnum):
    """What emails can be about, as far as their reader can switch them off."""

    TURNS = "turns"
    REMINDERS = "reminders"
    TALK = "talk"
    INVITATIONS = "invitations"
    RESULTS = "results"
    PLAYERS = "players"


USUAL: Final = frozenset(Topic) - {Topic.TALK}
"""The topics of a new person. Talk stands in the next email anyway."""

_OF_KIND: Final = {
    EmailKind.TURN: Topic.TURNS,
    EmailKind.REMINDER: Topic.REMINDERS,
    EmailKind.MENTION: Topic.TALK,
    EmailKind.INVITATION: Topic.INVITATIONS,
    EmailKind.GROUP_INVITATION: Topic.INVITATIONS,
    EmailKind.SIGN_UP: Topic.INVITATIONS,
    EmailKind.TOURNAMENT: Topic.RESULTS,
    EmailKind.RESULT: Topic.RESULTS,
    EmailKind.VOIDED: Topic.RESULTS,
    EmailKind.DECLINED: Topic.PLAYERS,
    EmailKind.LEFT: Topic.PLAYERS,
}
_OF_NOTICE: Final = {"substitute_plays": Topic.PLAYERS, "player_back": Topic.PLAYERS}


def topic_of(kind: str, what: str = "") -> Topic | None:
    """The topic of an email, a notice by `what` it is about; None for what cannot be switched off."""
    return _OF_NOTICE.get(what) if kind == EmailKind.NOTICE else _OF_KIND.get(EmailKind(kind))


def topics_text(topics: Collection[Topic]) -> str:
    """Topics as they are stored."""
    return " ".join(topic for topic in Topic if topic in topics)


def read_topics(text: str) -> frozenset[Topic]:
    """Stored topics. Raises ValueError."""
    return frozenset(map(Topic, text.split()))
