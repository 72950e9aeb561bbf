"""The local mailbox: a folder of emails for a server without a relay, so that a whole game can be played on one machine.

Each email is a file, written whole or not at all. The same email sent twice is one file, just as a mail program shows it
once. Its readers can play for everyone, so showing it to visitors is a setting for development.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parsedate_to_datetime
from itertools import islice
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from pbem.domain.errors import NotFound
from pbem.mail.send.smtp import Outcome, OutgoingEmail, Result
from pbem.mail.wire import html_of, parse, text_of

MOST_LISTED: Final = 200

_KEY: Final = re.compile(r"[0-9]{14}-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class MailboxEntry:
    """An email in the list of a mailbox. `key` names it in a URL."""

    key: str
    to: str = field(repr=False)
    subject: str
    date: datetime


@dataclass(frozen=True, slots=True)
class MailboxEmail:
    """An email of the mailbox: its headers in order, its text, its HTML if it has any, and its bytes."""

    entry: MailboxEntry
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    text: str = field(repr=False)
    html: str = field(repr=False)
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class LocalReply:
    """A reply to an email, in the form in which our mail server would deliver it."""

    sender: str = field(repr=False)
    recipient: str = field(repr=False)
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class LocalMailbox:
    """A folder of emails."""

    folder: Path

    def session(self) -> AbstractContextManager["LocalMailbox"]:
        """A batch of emails for this folder."""
        return nullcontext(self)

    def send(self, email: OutgoingEmail) -> Outcome:
        """Store one email that is sent."""
        try:
            self.put(email.content)
        except OSError as error:
            return Outcome(Result.DOWN, f"{type(error).__name__}: the local mailbox can't be written")
        return Outcome(Result.ACCEPTED, "stored in the local mailbox")

    def put(self, content: bytes) -> str:
        """Store an email and return its key."""
        message = parse(content)
        sent = parsedate_to_datetime(str(message["date"]))
        key = f"{sent:%Y%m%d%H%M%S}-{hashlib.sha256(str(message['message-id']).encode()).hexdigest()[:16]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = mkstemp(dir=self.folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            Path(temporary).replace(self._path(key))
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return key

    def entries(self, to: str = "", most: int = MOST_LISTED, skipped: int = 0) -> list[MailboxEntry]:
        """The emails, or those to one address, newest first, without the first ones if some are skipped."""
        return list(islice(self._entries(to), skipped, skipped + most))

    def addresses(self) -> list[str]:
        """The addresses that have emails."""
        return sorted({entry.to for entry in self._entries("")})

    def read(self, key: str) -> MailboxEmail:
        """The email with that key. Raises NotFound."""
        if not _KEY.fullmatch(key) or not self._path(key).is_file():
            raise NotFound("There is no such email in the mailbox.")
        return parse_email(key, self._path(key).read_bytes())

    def _entries(self, to: str) -> Iterator[MailboxEntry]:
        if not self.folder.is_dir():
            return
        # Emails of one second are in the order in which they were written, as far as the file system knows it.
        files = (path for path in self.folder.iterdir() if _KEY.fullmatch(path.stem) and path.suffix == ".eml")
        for path in sorted(files, key=lambda path: (path.name[:14], path.stat().st_mtime_ns), reverse=True):
            entry = _entry(path.stem, path.read_bytes())
            if not to or entry.to == to:
                yield entry

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.eml"


def parse_email(key: str, content: bytes) -> MailboxEmail:
    """One of our emails, parsed as a mail program does."""
    message = parse(content)
    headers = tuple((name, str(value)) for name, value in message.items())
    return MailboxEmail(_entry(key, content), headers, text_of(message), html_of(message), content)


def reply_to(email: MailboxEmail, text: str, written_at: datetime, authserv_id: str) -> LocalReply:
    """A reply to an email as mail programs write it, above the quoted email, with our mail server's result for its sender."""
    headers = dict(email.headers)
    sender, recipient = email.entry.to, headers["Reply-To"]
    message = EmailMessage(policy=SMTP)
    message["Authentication-Results"] = f"{authserv_id}; dmarc=pass header.from={sender.rpartition('@')[2]}"
    message["From"] = sender
    message["To"] = recipient
    message["Subject"] = f"Re: {email.entry.subject.removeprefix('Re: ')}"
    message["Date"] = format_datetime(written_at)
    digest = hashlib.sha256(f"{headers['Message-ID']} {written_at.isoformat()} {text}".encode()).hexdigest()[:32]
    message["Message-ID"] = f"<{digest}@mailbox.invalid>"
    quoted = "\n".join(f"> {line}".rstrip() for line in email.text.splitlines())
    message.set_content(f"{text}\n\nOn {email.entry.date:%Y-%m-%d}, {headers['From']} wrote:\n{quoted}\n")
    return LocalReply(sender, recipient, message.as_bytes())


def _entry(key: str, content: bytes) -> MailboxEntry:
    message = parse(content)
    to = message["to"].addresses[0]
    return MailboxEntry(key, str(to.addr_spec), str(message["subject"]), parsedate_to_datetime(str(message["date"])))
