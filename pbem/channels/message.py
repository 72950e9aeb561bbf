"""What the senders take and return: a message, where it goes, and what became of it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from pbem.channels.client import Answer

GONE: Final = frozenset({401, 403, 404, 410})
"""Answers that mean that the service takes no more of our messages."""

_REFERENCE: Final = re.compile(r"[\w$:.+=-]{1,255}", re.ASCII)
_LONGEST_WAIT: Final = timedelta(hours=1)


class Result(StrEnum):
    """The results of sending a message: a service that is gone gets no more; later, it is tried again."""

    ACCEPTED = "accepted"
    GONE = "gone"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a message, in words without any secret.

    `reference` is the service's name for an accepted one, by which it can be edited; `wait` is how long it wants to be left alone.
    """

    result: Result
    says: str
    reference: str = ""
    wait: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `id` is the same on every try; `facts` are for programs, `url` leads to the table."""

    id: str
    kind: str
    at: datetime
    title: str
    text: str
    url: str = field(default="", repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def plain(self) -> str:
        """All of it as plain text."""
        return "\n".join(part for part in (self.title, self.text, self.url) if part)


def judged(answer: Answer, reference: str = "") -> Sent:
    """What an answer means, by its status alone: a text could repeat the request, and so a secret."""
    says = f"it answered {answer.status}"
    if answer.status // 100 == 2:
        return Sent(Result.ACCEPTED, says, reference)
    if answer.status // 100 == 3:
        return Sent(Result.GONE, f"{says}, which leads elsewhere")
    if answer.status in GONE:
        return Sent(Result.GONE, says)
    seconds = answer.headers.get("retry-after", "")
    wait = timedelta(seconds=int(seconds)) if re.fullmatch(r"[0-9]{1,6}", seconds) else timedelta(0)
    return Sent(Result.LATER, says, wait=min(wait, _LONGEST_WAIT))


def member(answer: Answer, *path: str) -> str:
    """A name or number somewhere in an answer in JSON; empty if it is not there, or nothing that can be in a path."""
    try:
        found: Any = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return text if _REFERENCE.fullmatch(text) else ""
