"""What a mail says: words and moments put into templates, with the headers that belong to them.

Every mail is one folder of `templates/mail` with a `subject.txt` and a `body.jinja`, which is put into words twice, as text
and as HTML (`words`). What they tell comes from the services, each already as its reader may hear it; addresses of links
hold placeholders, never tokens. This module must never decide what a reader may know, and never send anything.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlsplit
from zoneinfo import ZoneInfo

from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.mail.wire import MOST_HTML, Mail, Mailbox, serialise
from pbem.mail.write.rendering import Said, rendered
from pbem.tokens import Purpose

_ANSWERS: Final = frozenset({"receipt", "was_it_you"})
"""Kinds that answer a mail, which no program may answer in its turn (RFC 3834)."""


@dataclass(frozen=True, slots=True)
class Letterhead:
    """How this server presents itself. `replies` says whether moves by reply are read."""

    site: str
    base_url: str
    domain: str
    sender: str = field(repr=False)
    contact: str = field(repr=False)
    replies: bool = False

    def url(self, purpose: Purpose, token: str, *more: str) -> str:
        """The address of a link; each further part is one word of it."""
        return "/".join([self.base_url.rstrip("/"), purpose, token, *(quote(part, safe="") for part in more)])

    def rules(self, kind: str) -> str:
        """The address of the rules of a game."""
        return f"{self.base_url.rstrip('/')}/games/{quote(kind, safe='')}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a mail is for."""

    name: str
    address: str = field(repr=False)
    zone: ZoneInfo

    @property
    def called(self) -> str:
        """What a mail says to its reader first."""
        return self.name or _("Hello")


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that the reader may do: as a command, with a remark, and as a link."""

    command: str
    note: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Thread:
    """Where a mail stands among others. `game` is the public name of the table it is about."""

    message_id: str
    game: str = ""
    title: str = ""
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """One mail, to be put into words and then on the wire.

    `words` are for the templates. `stop` and `reply` are tokens, or the placeholders that stand for them; a mail without
    one has no such link.
    """

    kind: str
    reader: Reader
    thread: Thread
    date: datetime
    words: Mapping[str, object]
    stop: str = field(repr=False)
    reply: str = field(default="", repr=False)


def compose(letterhead: Letterhead, mail: Written) -> bytes:
    """The bytes of a mail."""
    said = in_words(letterhead, mail)
    return serialise(
        Mail(
            sender=Mailbox(letterhead.site, letterhead.sender),
            to=Mailbox(mail.reader.name, mail.reader.address),
            subject=said.subject,
            date=mail.date,
            message_id=mail.thread.message_id,
            plain=_headers(letterhead, mail),
            text=said.text,
            # Programs cut long HTML; who has only the text misses nothing.
            html=said.html if len(said.html.encode()) <= MOST_HTML else "",
        )
    )


def in_words(letterhead: Letterhead, mail: Written) -> Said:
    """The subject of a mail, its text, and the same as HTML."""
    common: dict[str, object] = {
        "site": letterhead.site,
        "home": letterhead.base_url,
        "contact": letterhead.contact,
        "replies": letterhead.replies and bool(mail.reply),
        "reader": mail.reader,
        "key": mail.thread.game,
    }
    if mail.stop:
        common["stop"] = letterhead.url(Purpose.STOP, mail.stop)
        common["call"] = letterhead.url(Purpose.STOP, mail.stop, "call")
        if mail.thread.game:
            common["stop_table"] = letterhead.url(Purpose.STOP, mail.stop, mail.thread.game)
    return rendered(mail.kind, common | dict(mail.words), mail.reader.zone)


def message_id(letterhead: Letterhead, number: str, of: str) -> str:
    """The name of a mail, the same on every try: from its number, and from whose or which table's it is."""
    return f"<m{number}.{of}@{letterhead.domain}>"


def _headers(letterhead: Letterhead, mail: Written) -> dict[str, str]:
    thread, host = mail.thread, letterhead.domain
    headers = {
        "Auto-Submitted": "auto-replied" if mail.kind in _ANSWERS else "auto-generated",
        "X-Auto-Response-Suppress": "OOF, AutoReply",
        "Content-Language": speech.tag(),
        "Feedback-ID": f"{thread.game or 'house'}:{mail.kind}:pbem:{_sender_id(host)}",
    }
    if thread.game:
        # The root is never sent: it only holds the mails of one table together.
        root = f"<{thread.game}@{host}>"
        headers["In-Reply-To"] = thread.answers or root
        headers["References"] = f"{root} {thread.answers}" if thread.answers else root
        headers["List-Id"] = f"<{thread.game}.games.{host}>"
    if mail.reply and letterhead.replies:
        headers["Reply-To"] = f"r+{mail.reply}@{host}"
    if mail.stop:
        # A mail about a table stops those about that table, and leaves the others alone.
        stop = letterhead.url(Purpose.STOP, mail.stop, *filter(None, [thread.game]))
        headers["List-Unsubscribe"] = f"<{stop}>"
        if urlsplit(stop).scheme == "https":
            headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def _sender_id(host: str) -> str:
    """By what name large receivers count complaints: theirs may have fifteen characters, and a host has more."""
    return f"pbem-{hashlib.sha256(host.encode()).hexdigest()[:10]}"
