"""Inbound email: the recipient it is for, and the form in which it is stored.

Strangers write these bytes. They are counted and cut before they are parsed, because the standard library copes with broken
email but not with endless email. The stored form has headers, texts and the reports of mail servers; attachments are dropped
unopened, and transfer encodings undone, so that our tokens can be found and hidden.

This module must never decide what to do with an email.
"""

import hashlib
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser, Parser
from email.policy import compat32
from email.utils import getaddresses
from typing import Final, NamedTuple

from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.mail.read import charsets
from pbem.tokens import Purpose

InboundEmail = Message
"""An inbound email, for modules that pass it on without parsing it."""

COMPLAINTS: Final = "complaints"
"""The local part to which providers send spam complaints."""

MOST_HEADER_LINES: Final = 1000
"""Large providers write two hundred lines; an email in a loop collects more."""

MOST_HEADER_BYTES: Final = 100 * 1024
"""Bytes of all headers: as many as mail servers take."""

_MOST_BEFORE_BODY: Final = 2 * MOST_HEADER_BYTES
"""Bytes in which these headers end, however their lines end."""

MOST_LINES: Final = 20_000
"""Lines of a body that are read; those after them belong to attachments."""

MOST_BOUNDARIES: Final = 20
"""Parameters of this name in an email: the parser compares each line with each boundary of the enclosing parts."""

MOST_PARTS: Final = 100
DEEPEST: Final = 10
"""Nested parts. A forwarded email with a picture in its signature has four levels."""

LONGEST_STRUCTURE: Final = 2000
"""Characters of one header about a part: the library takes minutes to parse many parameters."""

LONGEST_TEXT: Final = 256 * 1024
"""Characters of one text; a reply quotes at most the 60 KB of our longest email."""

_MOST_ENCODED: Final = 4 * LONGEST_TEXT
"""Bytes of one text that are decoded."""

LONGEST_MESSAGE_ID: Final = 250
LONGEST_RECIPIENTS: Final = 10_000
"""Characters of all recipients; a reply has a few."""

_ADDRESS: Final = re.compile(r"<?([a-z])\+([a-z2-7]{33})@([a-z0-9.-]+?)\.?>?", re.IGNORECASE | re.ASCII)
_BOUNCE_ADDRESS: Final = re.compile(rb"\bb\+([a-z2-7]{33})@", re.IGNORECASE)
_MOST_BOUNCE_TOKENS: Final = 10
_STRUCTURE: Final = re.compile(rb"^content-[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE)
_LINE_END: Final = re.compile(rb"(?<!\r)\r*\n")
_HEADERS: Final = re.compile(
    rb"(?:From(?![ \t]*:) [^\n]*\n)?(?:[!-9;-~]++[ \t]*+:[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\Z))*+"
)
# The library takes a line with a blank here for the beginning of the text, where other programs read a header.
_SPACED_NAME: Final = re.compile(rb"^([!-9;-~]++)[ \t]++:", re.MULTILINE)
_BOUNDARY: Final = re.compile(rb"boundary[\s\d*]*=", re.IGNORECASE)
# The library parses the blocks of a report before it decodes them, and not at all in the form for addresses in UTF-8 (RFC 6533).
# By another name it takes them for a text.
_REPORT: Final = re.compile(
    rb"^(content-type:\s*)message/(?:global-)?(?=delivery-status|feedback-report)", re.IGNORECASE | re.MULTILINE
)
_AS_TEXT: Final = "text/x-"
_MESSAGE_ID: Final = re.compile(r"<[!-;=?-~]+@[!-;=?-~]+>", re.ASCII)
_KIND: Final = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+", re.ASCII)
_PLAIN_WORD: Final = re.compile(r"[a-z]+", re.ASCII | re.IGNORECASE)
_PICTURE: Final = re.compile(r"(data:image/[\w.+-]{1,40};base64,)[A-Za-z0-9+/=]+", re.ASCII | re.IGNORECASE)
_CUT: Final = "Content-Cut"
"""Our header of a part that was cut: of those that senders write about parts, none is stored."""

_ADDRESSED: Final = "Content-Addressed"
"""Our header of an email whose writer names the address at which it arrived."""

_CUT_MARK: Final = f"{_CUT}: yes"
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
_BREAK: Final = re.compile(r"[\r\n]+")
_TEXTS: Final = frozenset({"text/plain", "text/html"})
_REPORTS: Final = {f"{_AS_TEXT}{kind}": f"message/{kind}" for kind in ("delivery-status", "feedback-report")}


@dataclass(frozen=True, slots=True)
class Recipient:
    """One of our addresses: its purpose and its token."""

    purpose: Purpose
    token: str


def parse_recipient(recipient: str, domain: str) -> Recipient | None:
    """The recipient that an address means, in upper or lower case; None if it is not one of our addresses."""
    found = _ADDRESS.fullmatch(recipient.strip())
    if found is None or found[3].lower() != domain.lower():
        return None
    try:
        return Recipient(Purpose(found[1].lower()), found[2].lower())
    except ValueError:
        return None


def is_complaint_address(recipient: str, domain: str) -> bool:
    """Whether an address is the one for spam complaints."""
    return recipient.strip("<> ").rstrip(".").lower() == f"{COMPLAINTS}@{domain.lower()}"


def bounce_tokens(raw: bytes) -> list[str]:
    """The tokens of our envelope senders in an email, as reports quote them."""
    return [token.decode().lower() for token in _BOUNCE_ADDRESS.findall(raw)[:_MOST_BOUNCE_TOKENS]]


def fingerprint(raw: bytes, recipient: str) -> bytes:
    """A key by which an email to one recipient is recognised when it is delivered again."""
    name = message_id(raw_headers(raw))
    named = f"{name}\n{recipient}".encode() if name else raw + b"\n" + recipient.encode()
    return hashlib.sha256(named).digest()


def raw_headers(raw: bytes) -> Message:
    """The headers of an email that is not parsed yet, as far as they are read."""
    headers, _body = split(raw[:_MOST_BEFORE_BODY])
    return BytesParser(policy=compat32).parsebytes(headers[:MOST_HEADER_BYTES], headersonly=True)


def has_more_headers(raw: bytes) -> bool:
    """Whether an email has more bytes of headers than are read."""
    return len(split(raw[:_MOST_BEFORE_BODY])[0]) > MOST_HEADER_BYTES


def is_for(headers: Message, address: str, domain: str) -> bool:
    """Whether the writer of an email names one of our addresses as a recipient, in To or Cc."""
    recipient = parse_recipient(address, domain)
    written = [str(value) for name, value in headers.raw_items() if name.lower() in ("to", "cc")]
    if recipient is None or sum(map(len, written)) > LONGEST_RECIPIENTS:
        return False
    try:
        named = getaddresses(written)
    except RecursionError:
        # A comment in a comment in a comment.
        return False
    return any(parse_recipient(each.replace('"', ""), domain) == recipient for _name, each in named)


def marked_as_addressed(stored: bytes) -> bytes:
    """A stored email with our mark that its writer names the address at which it arrived; the tokens in it are hidden."""
    return f"{_ADDRESSED}: yes\n".encode() + stored


def is_addressed(stored: Message) -> bool:
    """Whether a stored email has this mark."""
    return _ADDRESSED in stored


def message_id(message: Message) -> str:
    """The Message-ID of an email, or an empty string if it has no valid one."""
    name = " ".join(str(message.get("Message-ID", "")).split())
    return name if len(name) <= LONGEST_MESSAGE_ID and _MESSAGE_ID.fullmatch(name) else ""


def sanitise(raw: bytes, envelope_from: str) -> bytes:
    """The email in the form in which it is stored: its envelope sender on top, without attachments; tokens are still in it.

    What has more parts than any email that people write, or parts that cannot be read, is stored without all of them. Raises
    BadInput for an email with more headers than any.
    """
    sender = envelope_from if len(envelope_from) <= 320 and envelope_from.isprintable() else "unreadable"
    headers, body = split(raw)
    if len(headers) > MOST_HEADER_BYTES or headers.count(b"\n") > MOST_HEADER_LINES:
        raise BadInput(_("An email has too many header lines."))
    bare = BytesParser(policy=compat32).parsebytes(headers, headersonly=True)
    lines = [f"Return-Path: <{sender.strip('<> ')}>", *_headers(bare), *_parts(bare, headers, body)]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def parse(stored: bytes) -> Message:
    """Parse a stored email."""
    return BytesParser(policy=compat32).parsebytes(stored)


def is_cut(stored: Message) -> bool:
    """Whether some of the text of an email was too long to be stored."""
    return any(_CUT in part for part in stored.walk())


def text_of(part: Message) -> str:
    """The text of a part, with replacement characters for unreadable bytes."""
    return _text_of(part)[0]


def _text_of(part: Message) -> tuple[str, bool]:
    """The text of a part as far as it is read, and whether it was cut."""
    label = part.get_param("charset", "utf-8")
    # Some versions of the library decode a payload with any codec that is named here.
    unlabelled = copy(part)
    del unlabelled["Content-Type"]
    try:
        payload = unlabelled.get_payload(decode=True)
    except (TypeError, ValueError):
        payload = None
    encoded = payload if isinstance(payload, bytes) else b""
    whole = charsets.decode(encoded[:_MOST_ENCODED], label[2] if isinstance(label, tuple) else str(label))
    if part.get_content_subtype() == "html":
        whole = _PICTURE.sub(r"\1", whole)
    # Lone surrogates cannot be stored, and control characters are not text.
    text = whole[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    is_cut = len(encoded) > _MOST_ENCODED or len(whole) > LONGEST_TEXT
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")), is_cut


def split(raw: bytes) -> tuple[bytes, bytes]:
    """Headers and body, with LF at the end of each line.

    As for mail servers, only LF ends a line, with or without CR before it; any other CR is a blank. The library would take it
    for the end of a line, where a stranger's second sender may begin. Headers end before the first line that is none.
    """
    lines = raw.replace(b"\r\n", b"\n")
    # Few emails have more than one CR there, and this takes ten times as long.
    lines = _LINE_END.sub(b"\n", lines) if b"\r\n" in lines else lines
    lines = lines.replace(b"\r", b" ")
    headers = _HEADERS.match(lines)
    assert headers is not None, "it matches nothing, too"
    bare = _SPACED_NAME.sub(rb"\1:", headers[0])
    return bare.rstrip(b"\n") + b"\n\n", lines[headers.end() :].removeprefix(b"\n")


def _parts(bare: Message, headers: bytes, body: bytes) -> list[str]:
    """The stored lines of the parts of an email; those of an empty one if they can't be read."""
    try:
        message = _parsed(headers, body)
        _check_parts(message)
        is_cut = body.count(b"\n") >= MOST_LINES
        return [*([_CUT_MARK] if is_cut else []), *_with_boundary(list(_stored_lines(message)))]
    except (RecursionError, TypeError, ValueError):
        # The library fails at a parameter with and without numbered pieces, wherever it is looked at.
        return _without_parts(_kind(bare))


def _without_parts(kind: str) -> list[str]:
    """The stored lines of an email of this type without its parts."""
    if kind.startswith("multipart/"):
        return [f'Content-Type: {kind}; boundary="part"', "", "--part--", ""]
    return [f"Content-Type: {kind}", "", ""]


def _parsed(headers: bytes, body: bytes) -> Message:
    body = b"\n".join(body.split(b"\n", MOST_LINES)[:MOST_LINES])
    whole = b"".join((headers, body))
    if len(_BOUNDARY.findall(whole)) > MOST_BOUNDARIES or whole.count(b"\n--") > MOST_PARTS * 10:
        raise ValueError("too many parts")
    if any(len(header) > LONGEST_STRUCTURE for header in _STRUCTURE.findall(whole)):
        raise ValueError("too much about one part")
    return BytesParser(policy=compat32).parsebytes(_REPORT.sub(rb"\1" + _AS_TEXT.encode(), whole))


def _check_parts(message: Message) -> None:
    """Check the number and depth of the parts. Raises ValueError."""
    level, number, deep = [message], 1, 0
    while level := [inner for part in level for inner in _inner(part)]:
        number, deep = number + len(level), deep + 1
        if deep > DEEPEST or number > MOST_PARTS:
            raise ValueError("too many parts, or parts within parts")


def _inner(part: Message) -> list[Message]:
    """The parts within a part. An attached email is not opened."""
    # For a text, the library would decode the payload, and raise the errors of that.
    payload = part.get_payload() if part.get_content_maintype() == "multipart" and part.is_multipart() else []
    return [each for each in payload if isinstance(each, Message)]


def _blocks(report: Message) -> list[Message]:
    """The blocks of fields in a report. Raises ValueError if there are too many."""
    blocks = [block for block in text_of(report).lstrip("\ufeff").split("\n\n") if block.strip()]
    if len(blocks) > MOST_PARTS:
        raise ValueError("too many blocks")
    return [Parser(policy=compat32).parsestr(block.lstrip("\n"), headersonly=True) for block in blocks]


def _kind(part: Message) -> str:
    """The type of a part, by the name of its form for storage."""
    kind = part.get_content_type()
    return _REPORTS.get(kind, kind) if _KIND.fullmatch(kind) else "application/octet-stream"


def _headers(part: Message) -> Iterator[str]:
    """The headers of an email or of a block of a report as received, except those about its structure."""
    for name, value in part.raw_items():
        if not name.lower().startswith(("content-", "mime-version", "return-path")):
            yield f"{name}: {_folded(value)}"


class _Edge(NamedTuple):
    """A line with the boundary of a multipart: what stands before it, the number behind it, and the rest."""

    before: str
    number: str
    after: str


def _with_boundary(lines: list[str | _Edge]) -> list[str]:
    """Stored lines with a boundary that no text in them has.

    An author of quoted text may write any line that they know. This one follows from all lines, so nobody knows it before.
    """
    written = "\n".join("".join(line) for line in lines).encode("utf-8", "surrogateescape")
    boundary = f"part-{hashlib.sha256(written).hexdigest()[:32]}"
    return [line if isinstance(line, str) else f"{line.before}{boundary}{line.number}{line.after}" for line in lines]


def _stored_lines(part: Message, number: str = "") -> Iterator[str | _Edge]:
    """The stored lines of a part: the text of a text, the fields of a report, only the name of anything else.

    We write them ourselves, because the library refuses to write some emails that it can parse. Nothing is encoded, so that
    tokens can be found.
    """
    kind = _kind(part)
    if part.get_content_maintype() == "multipart":
        yield _Edge(f'Content-Type: {kind}; boundary="', number, '"')
        yield ""
        for position, inner in enumerate(_inner(part)):
            yield from (_Edge("--", number, ""), *_stored_lines(inner, f"{number}.{position}"))
        yield from (_Edge("--", number, "--"), "")
    elif part.get_content_type() in _REPORTS:
        yield f"Content-Type: {kind}"
        for block in _blocks(part):
            yield from ("", *_headers(block))
        yield ""
    elif kind in _TEXTS:
        flowing = "".join(f"; {name}={value}" for name in ("format", "delsp") if (value := _param(part, name)))
        yield f"Content-Type: {kind}; charset=utf-8{flowing}"
        yield "Content-Transfer-Encoding: 8bit"
        text, is_cut = _text_of(part)
        yield from (*([_CUT_MARK] if is_cut else []), _disposition(part), "", text)
    else:
        yield from (f"Content-Type: {kind}", _disposition(part), "", "")


def _disposition(part: Message) -> str:
    """The Content-Disposition of a part, with its file name."""
    # Some programs name a file only beside its type.
    unsaid = "inline" if part.get_param("name") is None else "inline; filename=text"
    value = next((str(value) for name, value in part.raw_items() if name.lower() == "content-disposition"), unsaid)
    return f"Content-Disposition: {_folded(value)}"


def _folded(value: object) -> str:
    """The value of a header in lines without blanks around them."""
    first, *more = [line.strip(" \t") for line in _BREAK.split(str(value))]
    return "\n ".join([first, *filter(None, more)])


def _param(part: Message, name: str) -> str:
    value = part.get_param(name)
    return value if isinstance(value, str) and _PLAIN_WORD.fullmatch(value) else ""
