"""Bounces: when an address counts as unreachable, and whether a refusal is about the address or about us.

A hard bounce scores two points and a soft one scores one. Each day counts once, by its worst bounce, so that a mailbox
broken for an afternoon is not taken for a dead address. Six points within thirty days make the address unreachable; a
spam complaint does so at once. A refusal that is about the sender says nothing about the address and scores nothing.

This module reads the answers of mail servers. It must never see an address.
"""

import re
from datetime import timedelta
from enum import StrEnum
from typing import Final

THRESHOLD: Final = 6
"""Points that make an address unreachable: three days with hard bounces, or six with soft ones."""

MEMORY: Final = timedelta(days=30)
"""How long a bounce counts, and the longest time we stop emailing an address: people repair their mailboxes."""

_ENHANCED: Final = re.compile(r"\b([245])\.(\d{1,3})\.(\d{1,3})\b")
_GONE_WITHOUT_ENHANCED: Final = ("550", "551", "553")
# Policy (5.7.x), and two that come from a wrong route or a message that is too large (RFC 3463).
_ABOUT_SENDER: Final = re.compile(r"\b5\.(?:7\.\d{1,3}|4\.4|3\.4)\b")
_BLAMES_SENDER: Final = re.compile(r"spam|polic|block|blacklist|reputation|denylist|banned", re.IGNORECASE)


class Bounce(StrEnum):
    """The kinds of bounce."""

    HARD = "hard"
    SOFT = "soft"
    COMPLAINT = "complaint"


POINTS: Final = {Bounce.HARD: 2, Bounce.SOFT: 1}
"""The points of a day, by its worst bounce."""


def is_about_sender(answer: str) -> bool:
    """Whether a refusal is about the sender (policy, reputation, a wrong route) and not about the recipient."""
    return not _has_status_gone(answer) and bool(_ABOUT_SENDER.search(answer) or _BLAMES_SENDER.search(answer))


def is_gone(answer: str) -> bool:
    """Whether a server's answer means that the address does not exist, rather than that it is full or busy."""
    return _has_status_gone(answer) or (not _ENHANCED.search(answer) and answer.startswith(_GONE_WITHOUT_ENHANCED))


def _has_status_gone(answer: str) -> bool:
    """Whether the enhanced status is about the recipient's address (5.1.x)."""
    status = _ENHANCED.search(answer)
    return status is not None and (status[1], status[2]) == ("5", "1")
