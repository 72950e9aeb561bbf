"""The local mailbox: where mails go on a server without a relay, so that a whole game can be played on one machine.

Each mail is a file of its own, written whole or not at all. The same mail sent twice is the same file, as a mail program
shows it once. Whoever may look at it may play for everybody: showing it to visitors is a setting for development.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parsedate_to_datetime
from itertools import islice
from pathlib import Path
from tempfile import mkstemp
from types import TracebackType
from typing import Final, Self

from pbem.domain.errors import NotFound
from pbem.mail.send.relay import Outcome, Parcel, Result
from pbem.mail.wire import html_of, parse, text_of

MOST_LISTED: Final = 200

_KEY: Final = re.compile(r"[0-9]{14}-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail in the mailbox. `key` names it in an address."""

    key: str
    to: str = field(repr=False)
    subject: str
    date: datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """One mail, opened: its headers in their order, its text, its HTML if it has any, and its bytes."""

    letter: Letter
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    text: str = field(repr=False)
    html: str = field(repr=False)
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answers to a mail, as our mail server would hand it to us."""

    sender: str = field(repr=False)
    recipient: str = field(repr=False)
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class LocalMailbox:
    """A folder of mails."""

    folder: Path

    def session(self) -> "LocalSession":
        """A batch of mails for this folder."""
        return LocalSession(self)

    def put(self, content: bytes) -> str:
        """Keep a mail; its key."""
        message = parse(content)
        sent = parsedate_to_datetime(str(message["date"]))
        key = f"{sent:%Y%m%d%H%M%S}-{hashlib.sha256(str(message['message-id']).encode()).hexdigest()[:16]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor, written = mkstemp(dir=self.folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            Path(written).replace(self._path(key))
        except BaseException:
            Path(written).unlink(missing_ok=True)
            raise
        return key

    def letters(self, to: str = "", most: int = MOST_LISTED) -> list[Letter]:
        """The mails, or those to one address, the newest first."""
        return list(islice(self._letters(to), most))

    def addresses(self) -> list[str]:
        """To whom there are mails."""
        return sorted({letter.to for letter in self._letters("")})

    def read(self, key: str) -> Opened:
        """One mail."""
        if not _KEY.fullmatch(key) or not self._path(key).is_file():
            raise NotFound("There is no such mail in the mailbox.")
        return opened(key, self._path(key).read_bytes())

    def _letters(self, to: str) -> Iterator[Letter]:
        if not self.folder.is_dir():
            return
        # Mails of one second come in the order of their writing, as far as the machine keeps it.
        files = (path for path in self.folder.iterdir() if _KEY.fullmatch(path.stem) and path.suffix == ".eml")
        for path in sorted(files, key=lambda path: (path.name[:14], path.stat().st_mtime_ns), reverse=True):
            letter = _letter(path.stem, path.read_bytes())
            if not to or letter.to == to:
                yield letter

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.eml"


def opened(key: str, content: bytes) -> Opened:
    """A mail of ours as a mail program takes it apart."""
    message = parse(content)
    headers = tuple((name, str(value)) for name, value in message.items())
    return Opened(_letter(key, content), headers, text_of(message), html_of(message), content)


def answer(opened: Opened, text: str, written_at: datetime, authserv_id: str) -> Answer:
    """An answer to a mail as mail programs write it, above what it answers, with our own mail server's word for its sender."""
    headers = dict(opened.headers)
    sender, recipient = opened.letter.to, headers["Reply-To"]
    message = EmailMessage(policy=SMTP)
    message["Authentication-Results"] = f"{authserv_id}; dmarc=pass header.from={sender.rpartition('@')[2]}"
    message["From"] = sender
    message["To"] = recipient
    message["Subject"] = f"Re: {opened.letter.subject.removeprefix('Re: ')}"
    message["Date"] = format_datetime(written_at)
    named = hashlib.sha256(f"{headers['Message-ID']} {written_at.isoformat()} {text}".encode()).hexdigest()[:32]
    message["Message-ID"] = f"<{named}@mailbox.invalid>"
    quoted = "\n".join(f"> {line}".rstrip() for line in opened.text.splitlines())
    message.set_content(f"{text}\n\nOn {opened.letter.date:%Y-%m-%d}, {headers['From']} wrote:\n{quoted}\n")
    return Answer(sender, recipient, message.as_bytes())


class LocalSession:
    """A batch of mails for a folder."""

    def __init__(self, mailbox: LocalMailbox) -> None:
        self._mailbox = mailbox

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def send(self, parcel: Parcel) -> Outcome:
        """Keep one mail."""
        try:
            self._mailbox.put(parcel.content)
        except OSError as error:
            return Outcome(Result.DOWN, f"{type(error).__name__}: the local mailbox cannot be written")
        return Outcome(Result.ACCEPTED, "kept in the local mailbox")


def _letter(key: str, content: bytes) -> Letter:
    message = parse(content)
    to = message["to"].addresses[0]
    return Letter(key, str(to.addr_spec), str(message["subject"]), parsedate_to_datetime(str(message["date"])))
