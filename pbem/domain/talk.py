"""A line of table talk, as a player of the table hears it, and the seats it mentions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Line:
    """One line of talk. `text` is None if it was redacted, `author` the former player of the seat who said it, if one did.

    `person_id` is the former player's, if they are still known.
    """

    seq: int
    seat: int
    at: datetime
    text: str | None
    author: str | None = None
    person_id: int | None = None

    @property
    def earlier(self) -> bool:
        """Whether the seat has changed hands since."""
        return self.author is not None

    def who(self, name: str) -> str:
        """The author's name, given that of the seat's present player."""
        return name if self.author is None else self.author


def mentioned(text: str, names: Mapping[int, str]) -> set[int]:
    """The seats that a message mentions as `@name`, in capitals or not; of two names that fit, the longer one is meant."""
    longest_first = sorted(names, key=lambda seat: -len(names[seat]))
    found = set()
    for seat in longest_first:
        text, times = re.subn(rf"(?<!\w)@{re.escape(names[seat])}(?!\w)", " ", text, flags=re.IGNORECASE)
        if times:
            found.add(seat)
    return found
