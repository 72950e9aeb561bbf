"""What a mail says: words and moments put into templates, with the headers that belong to them.

Every mail is one folder of `templates/mail` with a `subject.txt` and a `body.txt` of 72 columns, which hold loops and ifs
and nothing cleverer. The words come from the services, each already as its reader may hear it; addresses of links hold
placeholders, never tokens. This module must never decide what a reader may know, and never send anything.
"""

import hashlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Final
from urllib.parse import quote, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context

from pbem import paths
from pbem.domain.phrase import said
from pbem.links import Purpose
from pbem.mail.wire import Mail, Mailbox, one_line, serialise

WIDTH: Final = 72
LANGUAGE: Final = "en"
LONGEST_ASKED: Final = 90
"""Characters of the question that a subject repeats: what a list of mails shows."""

_ANSWERS: Final = frozenset({"receipt"})
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


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a mail is for."""

    name: str
    address: str = field(repr=False)
    zone: ZoneInfo

    @property
    def called(self) -> str:
        """What a mail says to its reader first."""
        return self.name or "Hello"


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
    subject, text = in_words(letterhead, mail)
    return serialise(
        Mail(
            sender=Mailbox(letterhead.site, letterhead.sender),
            to=Mailbox(mail.reader.name, mail.reader.address),
            subject=subject,
            date=mail.date,
            message_id=mail.thread.message_id,
            plain=_headers(letterhead, mail),
            text=text,
        )
    )


def in_words(letterhead: Letterhead, mail: Written) -> tuple[str, str]:
    """The subject and the text of a mail."""
    stop = letterhead.url(Purpose.STOP, mail.stop)
    common = {
        "site": letterhead.site,
        "home": letterhead.base_url,
        "contact": letterhead.contact,
        "replies": letterhead.replies and bool(mail.reply),
        "reader": mail.reader,
        "stop": stop,
        "call": f"{stop}/call",
    }
    context = common | dict(mail.words)
    environment = _templates()
    subject = environment.get_template(f"{mail.kind}/subject.txt").render(context)
    text = environment.get_template(f"{mail.kind}/body.txt").render(context)
    return one_line(subject), _tidy(text)


def message_id(letterhead: Letterhead, number: str, of: str) -> str:
    """The name of a mail, the same on every try: from its number, and from whose or which table's it is."""
    return f"<m{number}.{of}@{letterhead.domain}>"


def _headers(letterhead: Letterhead, mail: Written) -> dict[str, str]:
    thread, host = mail.thread, letterhead.domain
    headers = {
        "Auto-Submitted": "auto-replied" if mail.kind in _ANSWERS else "auto-generated",
        "X-Auto-Response-Suppress": "OOF, AutoReply",
        "Content-Language": LANGUAGE,
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
        stop = letterhead.url(Purpose.STOP, mail.stop)
        headers["List-Unsubscribe"] = f"<{stop}>"
        if urlsplit(stop).scheme == "https":
            headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def _sender_id(host: str) -> str:
    """By what name large receivers count complaints: theirs may have fifteen characters, and a host has more."""
    return f"pbem-{hashlib.sha256(host.encode()).hexdigest()[:10]}"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(paths.templates() / "mail"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["wrap"] = wrap
    environment.filters["short"] = _short
    environment.filters["listed"] = listed
    environment.filters["moment"] = _moment
    return environment


def wrap(text: str, first: str = "", rest: str = "") -> str:
    """A paragraph in lines that every mail program shows whole; long words, such as links, are not broken."""
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def listed(words: Sequence[str]) -> str:
    """`Ann, Ben and Cleo`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_ASKED else text[: LONGEST_ASKED - 1].rstrip(" ,.:;") + "…"


@pass_context
def _moment(context: Context, at: str | datetime) -> str:
    """A moment as its reader reads it."""
    reader: Reader = context["reader"]
    return said(at if isinstance(at, datetime) else datetime.fromisoformat(at), reader.zone)


def _tidy(text: str) -> str:
    """No blanks at the ends of lines, and never more than one empty line: what ifs that were not met leave behind."""
    lines: list[str] = []
    for line in text.splitlines():
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"
