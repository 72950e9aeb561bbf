"""A mail as bytes for the wire, and back: the text first, the same as HTML second, for whoever has both.

How a message is written is ours, because the standard library encodes long headers until mail programs no longer
understand them, writes lines that are too long, and lets a name inject a header. What was written is read again by the
standard library before anybody may queue it: a mail whose headers are not exactly those that were meant is refused.

Bodies are stored with placeholders where tokens go, so nothing here may break a line within one. The same mail is the same
bytes whenever it is written: nothing in here is drawn or read from a clock. This module must never know what a mail is
about.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.errors import MessageError
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.policy import EmailPolicy, compat32
from email.utils import format_datetime
from functools import lru_cache
from typing import Any, Final

from pbem.domain.errors import Fault

LINE: Final = 76
"""The longest line of an encoded body (RFC 2045), and what headers are folded to."""

LONGEST_LINE: Final = 998
"""What SMTP carries."""

_MOST_KNOWN: Final = 256
"""So many addresses are remembered as they stand in a header: the same few people are written to again and again."""

LONGEST_SUBJECT: Final = 200
LONGEST_NAME: Final = 100

MOST_BYTES: Final = 60 * 1024
MOST_HTML: Final = 20 * 1024
"""Mail programs show a longer mail, or longer HTML, only in part."""

# Headers that programs read: never encoded, folded only between words.
_PLAIN: Final = frozenset(
    {
        "auto-submitted",
        "content-language",
        "content-transfer-encoding",
        "content-type",
        "feedback-id",
        "in-reply-to",
        "list-id",
        "list-unsubscribe",
        "list-unsubscribe-post",
        "message-id",
        "mime-version",
        "references",
        "reply-to",
        "x-auto-response-suppress",
    }
)
_WORD: Final = re.compile(r"[!-~]{1,900}")
_SHAPELESS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_TO_BE_ENCODED: Final = re.compile(r"[^ \t\n!-<>-~]+|[ \t]$|^F(?=rom )|^\.$", re.MULTILINE)
"""What is no ASCII; blanks at the end of a line, which get lost; what a mailbox or a relay would take for a sign of its own."""

_WORDLIKE: Final = "[A-Za-z0-9=]"
_PIECE: Final = re.compile(
    rf".{{1,{LINE - 1}}}(?:(?<!{_WORDLIKE})|(?!{_WORDLIKE}))|.{{1,{LINE - 1}}}(?<!=)(?<!=.)", re.DOTALL
)
"""As much of an encoded line as fits, up to the end of a word, and of what is longer than a line, of a character."""


class WirePolicy(EmailPolicy):
    """The standard policy, except that a header is taken as it stands, and one that programs read is not taken apart."""

    def header_store_parse(self, name: str, value: Any) -> tuple[str, Any]:
        """A header as it is kept: as it stands, because whoever writes one here has made it fit."""
        return name, value

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        """A header as it is read: one for programs as one line, which is all that anybody asks of it."""
        return value.replace("\r\n", "") if name.lower() in _PLAIN else super().header_fetch_parse(name, value)


POLICY: Final = WirePolicy(linesep="\r\n", max_line_length=LINE, cte_type="7bit")


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address, and who reads there."""

    name: str
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail before it is bytes. `plain` are the headers that programs read, by name; without `html` it is text only."""

    sender: Mailbox
    to: Mailbox
    subject: str
    date: datetime
    message_id: str
    plain: Mapping[str, str]
    text: str
    html: str = ""


def serialise(mail: Mail) -> bytes:
    """The bytes of a mail; refused if they do not read back as what was meant."""
    try:
        headers = _headers(mail)
        written = f"{_lines(headers)}\r\n{_body_of(mail)}".encode("ascii")
    except (ValueError, TypeError, MessageError, UnicodeError, IndexError) as error:
        raise Fault(
            "A mail cannot be put on the wire.", why=f"Its headers are not allowed ({type(error).__name__})."
        ) from error
    _read_back(mail, headers, written)
    return written


def parse(written: bytes) -> EmailMessage:
    """A mail of ours, read again."""
    message: Message = BytesParser(policy=POLICY).parsebytes(written)
    assert isinstance(message, EmailMessage)
    return message


def text_of(message: EmailMessage) -> str:
    """The plain text of a mail."""
    return _body(message, "plain")


def html_of(message: EmailMessage) -> str:
    """The HTML of a mail; empty if it has none."""
    return _body(message, "html")


def one_line(text: str, longest: int = LONGEST_SUBJECT) -> str:
    """What people wrote, fit for a header: one line without invisible characters and without the mark of encoded words."""
    kept = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _SHAPELESS)
    # Taking one mark out may make another of what stood around it.
    while "=?" in kept:
        kept = kept.replace("=?", "= ?")
    line = " ".join(kept.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def _headers(mail: Mail) -> list[tuple[str, str]]:
    """All headers as they stand on the wire, but for where their lines break."""
    headers = [
        ("From", _written_address(mail.sender)),
        ("To", _written_address(mail.to)),
        ("Subject", _encoded_words(one_line(mail.subject))),
        ("Date", format_datetime(mail.date)),
        ("Message-ID", mail.message_id),
        *mail.plain.items(),
        ("MIME-Version", "1.0"),
        *([("Content-Type", _alternative(mail))] if mail.html else _content_headers("plain")),
    ]
    if len({name.lower() for name, _ in headers}) < len(headers):
        raise ValueError("a header would be there twice")
    for name, value in headers:
        # Anything between words but a blank would begin another header.
        if not all(_WORD.fullmatch(word) for word in value.split(" ") if word):
            raise ValueError(f"{name} has characters that programs do not read")
    return headers


def _alternative(mail: Mail) -> str:
    return f'multipart/alternative; boundary="{_boundary(mail)}"'


def _boundary(mail: Mail) -> str:
    """It follows from the mail's name; no encoded line can look like it, because "_" stands for no byte."""
    return f"=_{hashlib.sha256(mail.message_id.encode()).hexdigest()[:32]}"


def _content_headers(subtype: str) -> list[tuple[str, str]]:
    return [("Content-Type", f'text/{subtype}; charset="utf-8"'), ("Content-Transfer-Encoding", "quoted-printable")]


def _body_of(mail: Mail) -> str:
    if not mail.html:
        return _quoted_printable(mail.text)
    line = f"--{_boundary(mail)}"
    return "\r\n".join([line, _part("plain", mail.text), line, _part("html", mail.html), f"{line}--", ""])


def _part(subtype: str, text: str) -> str:
    return f"{_lines(_content_headers(subtype))}\r\n{_quoted_printable(text)}"


def _lines(headers: Iterable[tuple[str, str]]) -> str:
    return "".join(_folded(name, value) for name, value in headers)


def _body(message: EmailMessage, subtype: str) -> str:
    part = message.get_body((subtype,))
    return "" if part is None else str(part.get_content()).replace("\r\n", "\n")


def _folded(name: str, value: str) -> str:
    """A header in lines that break at blanks only; a word that is longer than a line stays whole."""
    lines: list[str] = []
    line = f"{name}:"
    for word in value.split():
        if len(line) + 1 + len(word) > LINE and line != f"{name}:":
            lines.append(line)
            line = ""
        line += f" {word}"
    return "\r\n".join([*lines, line]) + "\r\n"


def _encoded_words(text: str) -> str:
    """A text as it stands in a header: as it is, or all of it encoded, so that no blank between two words gets lost."""
    return text if text.isascii() else Header(text, "utf-8", maxlinelen=LINE, header_name="Subject").encode(linesep="")


@lru_cache(maxsize=_MOST_KNOWN)
def _written_address(mailbox: Mailbox) -> str:
    address = Address(display_name=one_line(mailbox.name, LONGEST_NAME), addr_spec=mailbox.address)
    name = address.display_name
    if not name:
        return address.addr_spec
    phrase = _encoded_words(name) if not name.isascii() else '"' + re.sub(r'(["\\\\])', r"\\\1", name) + '"'
    return f"{phrase} <{address.addr_spec}>"


@lru_cache(maxsize=_MOST_KNOWN)
def _read_address(written: str) -> str:
    """The one address in a header, as others read it; nothing if there is not exactly one without defects."""
    header = POLICY.header_fetch_parse("To", written)
    return str(header.addresses[0].addr_spec) if len(header.addresses) == 1 and not header.defects else ""


def _quoted_printable(text: str) -> str:
    """The text as quoted-printable, whose soft breaks never go through a token's place.

    The library's own encoder counts characters only; a place that is broken in two could not be filled.
    """
    encoded = _TO_BE_ENCODED.sub(_in_digits, text.rstrip("\n"))
    return "\r\n".join(line if len(line) <= LINE else _softly_broken(line) for line in encoded.split("\n")) + "\r\n"


def _in_digits(found: re.Match[str]) -> str:
    return "=" + found[0].encode().hex("=").upper()


def _softly_broken(line: str) -> str:
    *pieces, last = _PIECE.findall(line)
    return "=\r\n".join([*pieces, "=2E" if last == "." else last])


def _read_back(mail: Mail, headers: list[tuple[str, str]], written: bytes) -> None:
    """Refuse a mail that somebody else would read otherwise than it was meant."""
    # The plain parser takes lines for what they are; only the headers that are for people are taken apart.
    message = BytesParser(policy=compat32).parsebytes(written)
    meant = [(name, " ".join(value.split())) for name, value in headers]
    found = [(name, " ".join(str(value).split())) for name, value in message.items()]
    subject = POLICY.header_fetch_parse("Subject", message["Subject"])
    html = len(mail.html.encode())
    for good, what in (
        ([name for name, _ in found] == [name for name, _ in meant], "has other headers"),
        (found == meant, "has headers that were changed"),
        (subject == one_line(mail.subject) and not subject.defects, "has another subject"),
        (_read_address(str(message["To"])) == mail.to.address, "goes to somebody else"),
        (_read_address(str(message["From"])) == mail.sender.address, "comes from somebody else"),
        (not message.defects, "has defects"),
        (_read_parts(message) == _meant_parts(mail), "has another text"),
        (written.isascii() and b"\n" not in written.replace(b"\r\n", b""), "has bytes that mail does not carry"),
        (max(map(len, written.split(b"\r\n"))) <= LONGEST_LINE, "has a line that is too long"),
        (len(written) <= MOST_BYTES, f"is too large ({len(written):,} bytes; {MOST_BYTES:,} are the most)"),
        (html <= MOST_HTML, f"is too large (its HTML has {html:,} bytes; {MOST_HTML:,} are the most)"),
    ):
        if not good:
            raise Fault(f"A mail cannot be put on the wire: read back, it {what}.")


def _meant_parts(mail: Mail) -> list[tuple[str, str]]:
    parts = [("text/plain", mail.text)] + [("text/html", mail.html)] * bool(mail.html)
    return [(kind, text.rstrip("\n")) for kind, text in parts]


def _read_parts(message: Message) -> list[tuple[str, str]]:
    parts = [part for part in message.walk() if not part.is_multipart()]
    texts = [(part.get_content_type(), part.get_payload(decode=True)) for part in parts]
    return [(kind, bytes(text).decode().replace("\r\n", "\n").rstrip("\n")) for kind, text in texts]
