"""What mail servers and providers report about a mail of ours: that it failed or is late, or that its reader calls it spam.

A report is read by its fields (RFC 3464, RFC 5965). Servers that write their own sort of report are left to a library that
knows them. Whose report it is says the address that it came to; nothing in a report is believed about that. What a server
said is told without addresses and tokens. This module must never decide what follows.
"""

import logging
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from typing import Final

from flufl.bounce import all_failures

from pbem.mail.read.automatic import is_answer
from pbem.tokens import redact

LONGEST_SAID: Final = 200

# The library tells at length which of its readers it tries.
logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL)


class Report(StrEnum):
    """What a mail that came back to the sender says."""

    FAILED = "failed"
    """It will never arrive."""
    LATE = "late"
    """It has not arrived yet, and the server goes on trying."""
    ARRIVED = "arrived"
    COMPLAINT = "complaint"
    """Its reader calls it spam."""
    AWAY = "away"
    """Its reader's program answered by itself."""
    OTHER = "other"
    """It says nothing of a mail, or nothing that can be understood."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A report: what it says, for now or for good, and in the words of whoever said it."""

    what: Report
    for_good: bool = False
    said: str = ""


# A report names each reader; ours has one. Of several, what is worst is what happened.
_ACTIONS: Final = {"failed": Report.FAILED, "delayed": Report.LATE}
_ARRIVED: Final = frozenset({"delivered", "relayed", "expanded"})
_ABUSE: Final = frozenset({"abuse", "fraud", "miscategorized", "not-spam", "opt-out", "virus", "other"})


def report_of(mail: Message) -> Reported:
    """What a mail says that came to the address mails of ours come back to."""
    parts = list(mail.walk())
    for part in parts:
        if part.get_content_type() == "message/feedback-report":
            return _complaint(part)
    for part in parts:
        if part.get_content_type() == "message/delivery-status":
            return _delivery(part)
    if is_answer(mail):
        return Reported(Report.AWAY)
    return _in_other_words(mail)


def _complaint(part: Message) -> Reported:
    kind = _field(part, "Feedback-Type").lower()
    inner = part.get_payload()
    if not kind and isinstance(inner, list) and inner and isinstance(inner[0], Message):
        kind = _field(inner[0], "Feedback-Type").lower()
    if kind == "not-spam" or kind not in _ABUSE:
        return Reported(Report.OTHER)
    return Reported(Report.COMPLAINT, said=f"reported as {kind}")


def _delivery(part: Message) -> Reported:
    payload = part.get_payload()
    readers = [each for each in payload if isinstance(each, Message)] if isinstance(payload, list) else []
    actions = {_field(each, "Action").lower(): each for each in reversed(readers) if "Action" in each}
    for action, what in _ACTIONS.items():
        if action in actions:
            reader = actions[action]
            status = _field(reader, "Status").split(" ")[0]
            said = _said(f"{status} {_field(reader, 'Diagnostic-Code').partition(';')[2].strip()}")
            return Reported(what, for_good=what is Report.FAILED and not status.startswith("4"), said=said)
    return Reported(Report.ARRIVED if actions.keys() & _ARRIVED else Report.OTHER)


def _in_other_words(mail: Message) -> Reported:
    try:
        for_now, for_good = all_failures(mail)
    except Exception:  # noqa: BLE001 - readers of what no standard describes, and strangers write what they read
        return Reported(Report.OTHER)
    if for_good:
        return Reported(Report.FAILED, for_good=True, said="a report in a server's own words")
    return Reported(
        Report.LATE if for_now else Report.OTHER, said="a report in a server's own words" if for_now else ""
    )


def _field(part: Message, name: str) -> str:
    return " ".join(str(part.get(name, "")).split())


def _said(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return redact(line)[:LONGEST_SAID]
