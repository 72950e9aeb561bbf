"""A mail that came in: which address of ours it was for, and what of it is kept.

Strangers write these bytes. They are counted before anybody parses them, because the standard library copes with what is
broken but not with what has no end. What is kept are headers, texts and the reports of mail servers; what is attached is
never opened, and wherever a token could stand there are asterisks instead.

This module must never decide what follows from a mail.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from typing import Final

from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.tokens import Purpose

Incoming = Message
"""A mail that came in, for whoever hands it on and does not look into it."""

COMPLAINTS: Final = "complaints"
"""The local part to which providers send reports of "this is spam"."""

MOST_HEADER_LINES: Final = 1000
"""Large providers write two hundred; a mail that went in circles has more."""

MOST_BOUNDARIES: Final = 20
"""So often the word stands in a mail: the parser compares each line with each boundary of the parts around it."""

MOST_PARTS: Final = 100
DEEPEST: Final = 10
"""Parts within parts. A forwarded mail with a picture in its signature has four."""

LONGEST_STRUCTURE: Final = 2000
"""Characters of one header about a part: the library takes minutes to tell many parameters apart."""

LONGEST_TEXT: Final = 256 * 1024
"""Characters of one text; a reply quotes a mail of ours of at most 60 KB."""

LONGEST_MESSAGE_ID: Final = 250

_ADDRESS: Final = re.compile(r"<?([a-z])\+([a-z2-7]{33})@([a-z0-9.-]+?)\.?>?", re.IGNORECASE | re.ASCII)
_RETURNS: Final = re.compile(rb"\bb\+([a-z2-7]{33})@", re.IGNORECASE)
_MOST_RETURNS: Final = 10
_TOKEN: Final = re.compile(rb"[A-Za-z2-7]{33,}")
_STRUCTURE: Final = re.compile(rb"^content-[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE)
_SPACED_FROM: Final = re.compile(rb"^from[ \t]+:", re.IGNORECASE | re.MULTILINE)
_MESSAGE_ID: Final = re.compile(r"<[!-;=?-~]+@[!-;=?-~]+>", re.ASCII)
_KIND: Final = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+", re.ASCII)
_PLAIN_WORD: Final = re.compile(r"[a-z]+", re.ASCII | re.IGNORECASE)
_SIGNALS: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
_BREAK: Final = re.compile(r"\s*[\r\n]+\s*")
_FOLD: Final = "\n "
_TEXTS: Final = frozenset({"text/plain", "text/html"})
_REPORTS: Final = frozenset({"message/delivery-status", "message/feedback-report"})


@dataclass(frozen=True, slots=True)
class Addressed:
    """An address of ours: what the token in it is for, and the token; no token for complaints."""

    purpose: Purpose
    token: str


def addressed(recipient: str, domain: str) -> Addressed | None:
    """Which address of ours this is, in whatever case it came back; None if it is none."""
    found = _ADDRESS.fullmatch(recipient.strip())
    if found is None or found[3].lower() != domain.lower():
        return None
    try:
        return Addressed(Purpose(found[1].lower()), found[2].lower())
    except ValueError:
        return None


def takes_complaints(recipient: str, domain: str) -> bool:
    """Whether an address is the one for reports of spam."""
    return recipient.strip("<> ").rstrip(".").lower() == f"{COMPLAINTS}@{domain.lower()}"


def returns_named(raw: bytes) -> list[str]:
    """The tokens of our envelope senders that stand in a mail, as reports quote them."""
    return [token.decode().lower() for token in _RETURNS.findall(raw)[:_MOST_RETURNS]]


def fingerprint(raw: bytes, recipient: str) -> bytes:
    """What a mail to one recipient is known by, however often it is handed in."""
    name = name_of(raw)
    named = f"{name}\n{recipient}".encode() if name else raw + b"\n" + recipient.encode()
    return hashlib.sha256(named).digest()


def name_of(raw: bytes) -> str:
    """What a mail calls itself, before anything else is read of it."""
    return message_id(BytesParser(policy=compat32).parsebytes(_split(raw)[0], headersonly=True))


def message_id(message: Message) -> str:
    """The name of a mail, as far as it has a proper one."""
    found = _MESSAGE_ID.fullmatch(" ".join(str(message.get("Message-ID", "")).split()))
    return found[0] if found and len(found[0]) <= LONGEST_MESSAGE_ID else ""


def fit_to_keep(raw: bytes, envelope_from: str, name: str = "") -> bytes:
    """The mail as it may be stored: with its envelope sender on top, without attachments and tokens.

    Its name stays what it is, though in some programs it looks as if a token stood in it; whoever gives it knows better.
    Refused if the mail has more of something than any that people write.
    """
    message = _parsed(raw)
    _must_be_few(message)
    sender = envelope_from if len(envelope_from) <= 320 and envelope_from.isprintable() else "unreadable"
    lines = [f"Return-Path: <{sender.strip('<> ')}>", *_headers(message), *_written(message)]
    kept = "\n".join(lines).encode("utf-8", "surrogateescape")
    return _TOKEN.sub(lambda found: found[0] if found[0] in name.encode() else b"***", kept)


def read(kept: bytes) -> Message:
    """A mail that was kept."""
    return BytesParser(policy=compat32).parsebytes(kept)


def words_of(part: Message) -> str:
    """The text of a part, with marks in the place of what cannot be read."""
    written = b""
    try:
        payload = part.get_payload(decode=True)
        written = payload if isinstance(payload, bytes) else b""
        charset = part.get_content_charset("utf-8")
        # What calls itself Latin-1 often has the quotes and dashes of Windows; the letters are the same.
        text = written.decode("cp1252" if charset in ("iso-8859-1", "latin-1") else charset, "replace")
    except (LookupError, TypeError, ValueError):
        # No encoding, or one that is none for text.
        text = written.decode("utf-8", "replace")
    # Halves of characters cannot be stored, and signals to a teleprinter are no words.
    whole = text[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    return _SIGNALS.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))


def _split(raw: bytes) -> tuple[bytes, bytes]:
    """Headers and body."""
    end = re.search(rb"\r?\n\r?\n", raw)
    return (raw, b"") if end is None else (raw[: end.start()] + b"\n\n", raw[end.end() :])


def _parsed(raw: bytes) -> Message:
    headers, body = _split(raw)
    if headers.count(b"\n") > MOST_HEADER_LINES:
        raise BadInput(_("A mail has too many lines of headers."))
    if raw.lower().count(b"boundary") > MOST_BOUNDARIES or raw.count(b"\n--") > MOST_PARTS * 10:
        raise BadInput(_("A mail has too many parts."))
    if any(len(header) > LONGEST_STRUCTURE for header in _STRUCTURE.findall(raw)):
        raise BadInput(_("A mail says too much of one of its parts."))
    try:
        # The library drops this line, which others take for one more sender.
        return BytesParser(policy=compat32).parsebytes(_SPACED_FROM.sub(b"From:", headers) + body)
    except RecursionError:
        raise BadInput(_("The parts of a mail are nested too deep.")) from None


def _must_be_few(message: Message) -> None:
    """Refuse a mail of very many parts, or of parts in parts in parts."""
    level, number, deep = [message], 1, 0
    while level := [inner for part in level for inner in _inner(part)]:
        number, deep = number + len(level), deep + 1
        if deep > DEEPEST:
            raise BadInput(_("The parts of a mail are nested too deep."))
        if number > MOST_PARTS:
            raise BadInput(_("A mail has too many parts."))


def _inner(part: Message) -> list[Message]:
    """The parts within one. A mail that is attached is nobody's word and is not looked into."""
    whole = part.get_content_maintype() == "multipart" or part.get_content_type() in _REPORTS
    # Asked for the payload of a text, the library raises what its encoding raises.
    payload = part.get_payload() if whole and part.is_multipart() else []
    return [each for each in payload if isinstance(each, Message)]


def _headers(part: Message) -> Iterator[str]:
    """The headers of a mail or a block of a report as they came, but for those that say how it is put together."""
    for name, value in part.raw_items():
        if not name.lower().startswith(("content-", "mime-version", "return-path")):
            yield f"{name}: {_BREAK.sub(_FOLD, str(value))}"


def _written(part: Message, number: str = "part") -> Iterator[str]:
    """What is kept of a part: of a text its words, of a report its fields, of anything else what it is called.

    Put together by ourselves: the library refuses to write some of what it reads. Everything is as it is read, so that a
    token can be found in it.
    """
    kind = part.get_content_type()
    kind = kind if _KIND.fullmatch(kind) else "application/octet-stream"
    if part.get_content_maintype() == "multipart":
        yield f'Content-Type: {kind}; boundary="{number}"'
        yield ""
        for place, inner in enumerate(_inner(part)):
            yield from (f"--{number}", *_written(inner, f"{number}.{place}"))
        yield from (f"--{number}--", "")
    elif kind in _REPORTS:
        yield f"Content-Type: {kind}"
        for block in _inner(part):
            yield from ("", *_headers(block))
        yield ""
    elif kind in _TEXTS:
        flowing = "".join(f"; {name}={value}" for name in ("format", "delsp") if (value := _param(part, name)))
        yield f"Content-Type: {kind}; charset=utf-8{flowing}"
        yield "Content-Transfer-Encoding: 8bit"
        yield from (_called(part), "", words_of(part))
    else:
        yield from (f"Content-Type: {kind}", _called(part), "", "")


def _called(part: Message) -> str:
    """Whether a part is attached, and what it is called."""
    said = next((str(value) for name, value in part.raw_items() if name.lower() == "content-disposition"), "inline")
    return f"Content-Disposition: {_BREAK.sub(_FOLD, said)}"


def _param(part: Message, name: str) -> str:
    value = part.get_param(name)
    return value if isinstance(value, str) and _PLAIN_WORD.fullmatch(value) else ""
