"""Bounces: when an address counts as one that no mail reaches, and whose fault a refusal is.

A mail that came back for good counts two points, one that came back for now counts one, and a day counts once, by the
worst of it: a mailbox that is broken for an afternoon is no dead address. Six points within thirty days are enough. Who
calls a mail of ours spam wants none, so that counts at once. A refusal that is about the sender says nothing of the
address: somebody else has to mend it.

This module reads what mail servers say and knows no addresses; what follows for clocks is `service.stops`' business.
"""

import re
from datetime import timedelta
from enum import StrEnum
from typing import Final

THRESHOLD: Final = 6
"""Points: three days on which mails came back for good, or six on which they came back for now."""

MEMORY: Final = timedelta(days=30)
"""So long a bounce counts, and so long at most an address is left alone: people mend their mailboxes."""

_ENHANCED: Final = re.compile(r"\b([245])\.(\d{1,3})\.(\d{1,3})\b")
_GONE_WITHOUT_MORE: Final = ("550", "551", "553")
# Policy (5.7.x), and two that come from a wrong route or a message that is too large (RFC 3463).
_ABOUT_SENDER: Final = re.compile(r"\b5\.(?:7\.\d{1,3}|4\.4|3\.4)\b")
_BLAMES_SENDER: Final = re.compile(r"spam|polic|block|blacklist|reputation|denylist|banned", re.IGNORECASE)


class Bounce(StrEnum):
    """What came back."""

    HARD = "hard"
    SOFT = "soft"
    COMPLAINT = "complaint"


POINTS: Final = {Bounce.HARD: 2, Bounce.SOFT: 1}
"""What a day counts on which this was the worst."""


def is_about_sender(said: str) -> bool:
    """Whether a refusal is in truth one of the sender: policy, reputation, a wrong route, and no fault of the reader's."""
    return not _says_gone(said) and bool(_ABOUT_SENDER.search(said) or _BLAMES_SENDER.search(said))


def is_gone(said: str) -> bool:
    """Whether a server says that there is no such address, and not only that it takes nothing at present."""
    return _says_gone(said) or (not _ENHANCED.search(said) and said.startswith(_GONE_WITHOUT_MORE))


def _says_gone(said: str) -> bool:
    """Whether its enhanced status is one of the addressee's (5.1.x), which leaves nothing to guess."""
    status = _ENHANCED.search(said)
    return status is not None and (status[1], status[2]) == ("5", "1")
