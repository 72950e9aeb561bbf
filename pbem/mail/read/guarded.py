"""What strangers wrote, read by libraries that may hang, fail or fill the memory: in a child process that may do so.

One child reads one email after another and is started again after one that it did not survive. Nothing of a server waits for
it longer than a few seconds, and an email that it cannot read has no lines and reports no failure.
"""

import atexit
import json
import logging
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import astuple
from email import message_from_bytes
from email.message import Message
from threading import Lock
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
LONGEST_WAIT: Final = 3 * MOST_SECONDS

_log = structlog.get_logger(__name__)


def read_html(texts: Sequence[str]) -> HtmlReply | None:
    """The reply in the texts of an email in HTML; None if they can't be read."""
    answer = _READER.ask({"html": list(texts)})
    return None if answer is None else HtmlReply(tuple(answer[0]), answer[1], answer[2], answer[3])


def failures_in(message: Message) -> tuple[bool, bool] | None:
    """Whether a report in a server's own words names temporary and permanent failures; None if it can't be read."""
    try:
        raw = message.as_bytes()
    except Exception:  # noqa: BLE001 - the library refuses to write some emails that it can parse
        return None
    answer = _READER.ask({"report": raw.decode("latin-1")})
    return None if answer is None else (answer[0], answer[1])


class _Reader:
    """The child process, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def ask(self, question: dict[str, Any]) -> list[Any] | None:
        """The child's answer; None if it has none or takes too much."""
        with self._lock:
            try:
                answer = self._exchange(json.dumps(question).encode() + b"\n")
            except (OSError, ValueError):
                self._end()
                answer = None
        if answer is None:
            _log.warning("email_not_understood")
        return answer

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _exchange(self, line: bytes) -> list[Any] | None:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], LONGEST_WAIT)[0]:
            raise TimeoutError
        answer: list[Any] | None = json.loads(self._process.stdout.readline())
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own module; what comes from elsewhere is only read
            child_process.command("pbem.mail.read.guarded"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_process.environment(),
            start_new_session=True,
        )

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_READER: Final = _Reader()
atexit.register(_READER.close)


def main() -> None:
    """Answer questions, one a line, with little time and memory for each."""
    child_process.limit(child_process.MEMORY, MOST_MEMORY)
    # The library logs at length which of its parsers it tries.
    logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL)
    for line in sys.stdin.buffer:
        # The signal ends this process, even within a search that does not return.
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        answer = json.dumps(_answer(json.loads(line)))
        answer = answer if len(answer) <= MOST_ANSWERED else "null"
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


def _answer(question: dict[str, Any]) -> object:
    try:
        if "html" in question:
            return astuple(html_reply.read_html(question["html"]))
        return [bool(found) for found in all_failures(message_from_bytes(question["report"].encode("latin-1")))]
    except Exception:  # noqa: BLE001 - libraries without bounds, for input from strangers
        return None


if __name__ == "__main__":
    main()
