"""What strangers wrote, read by libraries that may hang, fail or fill the memory: in a child process that may do so.

One child reads one email after another and is started again after one that it did not survive. An email that it cannot read with
a little work and memory has no lines and reports no failure. Where the machine left it no time, that's no fault of the email's,
which can be read again.
"""

import atexit
import json
import logging
from collections.abc import Sequence
from dataclasses import astuple
from email import message_from_bytes
from email.message import Message
from typing import Any, Final

import structlog
from flufl.bounce import all_failures

from pbem import child_process
from pbem.mail.read import html_reply
from pbem.mail.read.html_reply import HtmlReply

MOST_SECONDS: Final = 2
"""Seconds of CPU for one email; an ordinary one takes some milliseconds."""

MOST_MEMORY: Final = 2**29
MOST_ANSWERED: Final = 2**20
LONGEST_WAIT: Final = 30.0
"""Seconds to wait for a child that works for so little: the machine may be busy, and at first it has libraries to load."""

_log = structlog.get_logger(__name__)


def read_html(texts: Sequence[str]) -> HtmlReply | None:
    """The reply in the texts of an email in HTML; None if they can't be read. Raises Interrupted."""
    answer = _ask({"html": list(texts)})
    return None if answer is None else HtmlReply(tuple(answer[0]), answer[1], answer[2], answer[3])


def failures_in(message: Message) -> tuple[bool, bool] | None:
    """Whether a report in a server's own words names temporary and permanent failures; None if it can't be read.

    Raises Interrupted.
    """
    try:
        raw = message.as_bytes()
    except Exception:  # noqa: BLE001 - the library refuses to write some emails that it can parse
        return None
    answer = _ask({"report": raw.decode("latin-1")})
    return None if answer is None else (answer[0], answer[1])


def _ask(question: dict[str, Any]) -> list[Any] | None:
    """The child's answer; None if it has none or takes too much. Raises Interrupted."""
    answer: list[Any] | None
    try:
        answer = _READER.ask(question)
    except child_process.Interrupted:
        raise
    except child_process.Failed:
        answer = None
    if answer is None:
        _log.warning("email_not_understood")
    return answer


def give_up() -> None:
    """Read nothing more: this process is told to stop."""
    _READER.close()


_READER: Final = child_process.Child("pbem.mail.read.guarded", LONGEST_WAIT)
atexit.register(give_up)


def main() -> None:
    """Answer questions with little time and memory for each."""
    child_process.limit(child_process.MEMORY, MOST_MEMORY)
    # The library logs at length which of its parsers it tries.
    logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL)
    child_process.answer_lines(_short_answer, MOST_SECONDS)


def _short_answer(question: dict[str, Any]) -> object:
    answer = _answer(question)
    return answer if len(json.dumps(answer)) <= MOST_ANSWERED else None


def _answer(question: dict[str, Any]) -> object:
    try:
        if "html" in question:
            return astuple(html_reply.read_html(question["html"]))
        return [bool(found) for found in all_failures(message_from_bytes(question["report"].encode("latin-1")))]
    except Exception:  # noqa: BLE001 - libraries without bounds, for input from strangers
        return None


if __name__ == "__main__":
    main()
