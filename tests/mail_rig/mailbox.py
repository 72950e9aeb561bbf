"""A mailbox at example.net as its owner's mail program sees it, by IMAP alone."""

import imaplib
import re
from dataclasses import dataclass
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from functools import cached_property
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Received:
    """An email in a mailbox: its number there, and its bytes as delivered."""

    number: str
    content: bytes

    @cached_property
    def message(self) -> EmailMessage:
        """The parsed email."""
        message = BytesParser(policy=default).parsebytes(self.content)
        assert isinstance(message, EmailMessage)
        return message

    @cached_property
    def text(self) -> str:
        """Its plain text."""
        part = self.message.get_body(("plain",))
        assert part is not None
        return str(part.get_content())

    @cached_property
    def html(self) -> str:
        """Its HTML, or nothing."""
        part = self.message.get_body(("html",))
        return "" if part is None else str(part.get_content())

    def verdicts(self) -> dict[str, str]:
        """The results of the MX by method: `{"spf": "pass", "dkim": "pass", "dmarc": "pass"}`."""
        stamps = " ".join(" ".join(str(each).split()) for each in self.message.get_all("Authentication-Results", []))
        return dict(re.findall(r"\b(spf|dkim|dmarc)=(\w+)", stamps))


class Mailbox:
    """The inbox of a person. It is a context manager with one connection."""

    def __init__(self, port: int, name: str, password: str) -> None:
        self.name = name
        self.address = f"{name}@example.net"
        self._server = imaplib.IMAP4("127.0.0.1", port)
        self._server.login(name, password)
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.logout()

    def all(self) -> list[Received]:
        """All emails, oldest first."""
        return self._fetch(1)

    def new(self) -> list[Received]:
        """The emails that have arrived since the last call."""
        found = self._fetch(self._read + 1)
        self._read = max([self._read, *(int(each.number) for each in found)])
        return found

    def threads(self) -> list[set[str]]:
        """The emails grouped as a mail program shows them (RFC 5256, by references)."""
        self._count()
        _, (answer, *_) = self._server.thread("REFERENCES", "UTF-8", "ALL")
        return [set(re.findall(r"\d+", each)) for each in _top_level((answer or b"").decode())]

    def _fetch(self, first: int) -> list[Received]:
        if (last := self._count()) < first:
            return []
        _, answer = self._server.fetch(f"{first}:{last}", "(BODY.PEEK[])")
        return [Received(part[0].split()[0].decode(), part[1]) for part in answer if isinstance(part, tuple)]

    def _count(self) -> int:
        """The number of emails now."""
        _, (number, *_) = self._server.select("INBOX")
        return int(number or 0)


def _top_level(answer: str) -> list[str]:
    """The outermost brackets of an answer."""
    depth, start, found = 0, 0, []
    for at, character in enumerate(answer):
        if character == "(":
            start = at if depth == 0 else start
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                found.append(answer[start : at + 1])
    return found
