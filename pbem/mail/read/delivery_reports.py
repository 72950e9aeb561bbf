"""Reports of mail servers and providers about one of our emails: bounces, delays and spam complaints.

Reports are read by their fields (RFC 3464, RFC 5965), and other forms by a library that knows them. The address to which a
report was sent tells which email it is about; a report itself is never believed on that. The words of a server are stored
without addresses and tokens. This module must never decide what to do about a report.
"""

import re
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from typing import Final

from pbem.mail.read.auto_replies import is_auto_reply, is_by_a_mail_server, subject
from pbem.mail.read.guarded import failures_in
from pbem.mail.read.inbound import parse, text_of
from pbem.mail.wire import redacted_line

LONGEST_ANSWER: Final = 200

_MOST_LINES: Final = 2000
"""Lines of a report that are read: twice our longest email, which some servers send back whole."""


class ReportKind(StrEnum):
    """The kinds of report."""

    FAILED = "failed"
    """The email will never arrive."""
    LATE = "late"
    """The email has not arrived yet, and the server keeps trying."""
    ARRIVED = "arrived"
    COMPLAINT = "complaint"
    """The reader marked the email as spam."""
    AWAY = "away"
    """The reader's program replied automatically."""
    OTHER = "other"
    """It is not about an email, or cannot be understood."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report: its kind, whether a failure is permanent, and the server's words."""

    kind: ReportKind
    permanent: bool = False
    answer: str = ""


# A report lists each recipient; ours has one. Of several, the worst counts.
_ACTIONS: Final = {"failed": ReportKind.FAILED, "delayed": ReportKind.LATE}
_ARRIVED: Final = frozenset({"delivered", "relayed", "expanded"})
_OWN_WORDS: Final = "a report in a server's own words"
_ANSWER: Final = re.compile(r"(?<![\w.])(?:[45]\d\d[ -])(?:[45]\.\d{1,3}\.\d{1,3}\b)?[^\n]*")
_DELAYED: Final = re.compile(r"\bdelayed\b|not yet delivered", re.IGNORECASE)
_ABUSE: Final = frozenset({"abuse", "fraud", "miscategorized", "not-spam", "opt-out", "virus", "other"})


def read_report(stored: bytes) -> Report:
    """The report in a stored email that came to a bounce address."""
    return parse_report(parse(b"\n".join(stored.split(b"\n", _MOST_LINES)[:_MOST_LINES])))


def parse_report(message: Message) -> Report:
    """The report in a message."""
    parts = list(message.walk())
    for part in parts:
        if part.get_content_type() == "message/feedback-report":
            return _complaint(part)
    for part in parts:
        if part.get_content_type() == "message/delivery-status":
            return _delivery(part)
    # Exim labels its reports as automatic replies.
    if is_auto_reply(message) and not is_by_a_mail_server(message):
        return Report(ReportKind.AWAY)
    return _other_form(message)


def _complaint(part: Message) -> Report:
    kind = _field(part, "Feedback-Type").lower()
    inner = part.get_payload()
    if not kind and isinstance(inner, list) and inner and isinstance(inner[0], Message):
        kind = _field(inner[0], "Feedback-Type").lower()
    if kind == "not-spam" or kind not in _ABUSE:
        return Report(ReportKind.OTHER)
    return Report(ReportKind.COMPLAINT, answer=f"reported as {kind}")


def _delivery(part: Message) -> Report:
    payload = part.get_payload()
    recipients = [each for each in payload if isinstance(each, Message)] if isinstance(payload, list) else []
    actions = {_field(each, "Action").lower(): each for each in reversed(recipients) if "Action" in each}
    for action, what in _ACTIONS.items():
        if action in actions:
            recipient = actions[action]
            status = _field(recipient, "Status").split(" ")[0]
            diagnosis = _field(recipient, "Diagnostic-Code").partition(";")[2].strip()
            answer = redacted_line(f"{status} {diagnosis}", LONGEST_ANSWER)
            return Report(what, permanent=what is ReportKind.FAILED and not status.startswith("4"), answer=answer)
    return Report(ReportKind.ARRIVED if actions.keys() & _ARRIVED else ReportKind.OTHER)


def _other_form(message: Message) -> Report:
    failures = failures_in(message)
    if failures is None:
        return Report(ReportKind.OTHER)
    temporary, permanent = failures
    if permanent or (not temporary and "X-Failed-Recipients" in message):
        answer = _server_answer(message)
        # A server that gives up after days repeats what it was told each time.
        return Report(ReportKind.FAILED, not answer.startswith("4"), answer or _OWN_WORDS)
    late = temporary or (is_by_a_mail_server(message) and _DELAYED.search(subject(message)))
    return Report(ReportKind.LATE, answer=_OWN_WORDS) if late else Report(ReportKind.OTHER)


def _server_answer(message: Message) -> str:
    """What the reader's mail server answered, as a report in plain text repeats it."""
    text = next((text_of(part) for part in message.walk() if part.get_content_type() == "text/plain"), "")
    found = _ANSWER.search(text)
    return redacted_line(found[0], LONGEST_ANSWER) if found else ""


def _field(part: Message, name: str) -> str:
    return " ".join(str(part.get(name, "")).split())
