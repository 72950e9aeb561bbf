"""Emails as bytes: content put into templates, with headers.

Every kind of email is a folder of `templates/mail` with a `subject.txt` and a `body.jinja`, which is rendered twice, as text
and as HTML. The content comes from the services, and contains only what its reader may know; URLs of links contain
placeholders, never tokens. This module must never decide what a reader may know, and never send anything.
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
from pbem.mail.wire import MOST_HTML, Email, NamedAddress, serialise
from pbem.mail.write.faces import Piece
from pbem.mail.write.rendering import RenderedEmail, render_template
from pbem.tokens import Purpose

ANSWERS: Final = frozenset({"receipt", "invitation_receipt", "was_it_you"})
"""Kinds that answer an email, and must not be answered by a program in turn (RFC 3834)."""


@dataclass(frozen=True, slots=True)
class Letterhead:
    """The identity of this server in its emails. `replies` tells whether moves by reply are accepted."""

    site: str
    base_url: str
    domain: str
    sender: str = field(repr=False)
    contact: str = field(repr=False)
    replies: bool = False

    def url(self, purpose: Purpose, token: str, *more: str) -> str:
        """The URL of a link; each further part is one path segment."""
        return "/".join([self.base_url.rstrip("/"), purpose, token, *(quote(part, safe="") for part in more)])

    def rules(self, kind: str) -> str:
        return f"{self.base_url.rstrip('/')}/games/{quote(kind, safe='')}"


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of an email."""

    name: str
    address: str = field(repr=False)
    zone: ZoneInfo

    @property
    def called(self) -> str:
        """The salutation."""
        return self.name or _("Hi there")


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of the reader: as a command, with a note, as a link, and the pieces that are chosen."""

    command: str
    note: str
    url: str = field(repr=False)
    faces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """The place of an email in a thread. `game` is the public name of its table, `tournament` that of its tournament."""

    message_id: str
    game: str = ""
    title: str = ""
    answers: str = ""
    tournament: str = ""


@dataclass(frozen=True, slots=True)
class EmailContent:
    """The content of an email, before it is rendered.

    `words` are the variables of the template. `stop` and `reply` are tokens or placeholders; if empty, there is no such link.
    """

    kind: str
    reader: Reader
    thread: Thread
    date: datetime
    words: Mapping[str, object]
    stop: str = field(repr=False)
    reply: str = field(default="", repr=False)


def compose(letterhead: Letterhead, content: EmailContent) -> bytes:
    """The bytes of an email."""
    rendered = render(letterhead, content)
    return serialise(
        Email(
            sender=NamedAddress(letterhead.site, letterhead.sender),
            to=NamedAddress(content.reader.name, content.reader.address),
            subject=rendered.subject,
            date=content.date,
            message_id=content.thread.message_id,
            plain=_headers(letterhead, content),
            text=rendered.text,
            # Programs cut off long HTML; the text has everything too.
            html=rendered.html if len(rendered.html.encode()) <= MOST_HTML else "",
        )
    )


def render(letterhead: Letterhead, content: EmailContent) -> RenderedEmail:
    """The subject, text and HTML of an email."""
    common: dict[str, object] = {
        "site": letterhead.site,
        "home": letterhead.base_url,
        "contact": letterhead.contact,
        "replies": letterhead.replies and bool(content.reply),
        "reader": content.reader,
        "key": content.thread.game or content.thread.tournament,
    }
    if content.stop:
        common["stop"] = letterhead.url(Purpose.STOP, content.stop)
        common["call"] = letterhead.url(Purpose.STOP, content.stop, "call")
        if content.thread.game:
            common["stop_table"] = letterhead.url(Purpose.STOP, content.stop, content.thread.game)
    return render_template(content.kind, common | dict(content.words), content.reader.zone)


def message_id(letterhead: Letterhead, nonce: bytes, of: str) -> str:
    """A new Message-ID for an email about a table or a person, who is named by key.

    It is random, because a server restored from a backup gives the ids of its rows out again, and mail programs hide a
    second email with the same Message-ID.
    """
    return f"<m{nonce.hex()}.{of}@{letterhead.domain}>"


def _headers(letterhead: Letterhead, content: EmailContent) -> dict[str, str]:
    thread, host = content.thread, letterhead.domain
    headers = {
        "Auto-Submitted": "auto-replied" if content.kind in ANSWERS else "auto-generated",
        "X-Auto-Response-Suppress": "OOF, AutoReply",
        "Content-Language": speech.tag(),
        "Feedback-ID": f"{thread.game or 'house'}:{content.kind}:pbem:{_sender_id(host)}",
    }
    if thread.game or thread.tournament:
        # The root is never sent: it only keeps the emails of one table or tournament together.
        root = f"<{thread.game or thread.tournament}@{host}>"
        headers["In-Reply-To"] = thread.answers or root
        headers["References"] = f"{root} {thread.answers}" if thread.answers else root
        headers["List-Id"] = (
            f"<{thread.game}.games.{host}>" if thread.game else f"<{thread.tournament}.tournaments.{host}>"
        )
    if content.reply and letterhead.replies:
        headers["Reply-To"] = f"r+{content.reply}@{host}"
    if content.stop:
        # An email about a table unsubscribes from that table only.
        stop = letterhead.url(Purpose.STOP, content.stop, *filter(None, [thread.game]))
        headers["List-Unsubscribe"] = f"<{stop}>"
        if urlsplit(stop).scheme == "https":
            headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def _sender_id(host: str) -> str:
    """The name under which large receivers count complaints: at most fifteen characters, which a host may exceed."""
    return f"pbem-{hashlib.sha256(host.encode()).hexdigest()[:10]}"
