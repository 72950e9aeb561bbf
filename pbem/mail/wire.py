"""Emails as bytes, and back: plain text first, the same as HTML second.

We serialise messages ourselves, because the standard library encodes long headers until mail programs no longer understand
them, writes lines that are too long, and lets a name inject a header. Every email is parsed again by the standard library
before it is queued, and refused if its headers are not exactly the intended ones.

Bodies are stored with placeholders for tokens, so nothing here may break a line within one. The same email always gives the
same bytes: nothing in here is random or read from a clock. This module must never know what an email is about.
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
from pbem.redaction import redact

LINE: Final = 76
"""The longest line of an encoded body (RFC 2045), and of a folded header."""

LONGEST_LINE: Final = 998
"""The limit of SMTP."""

_CACHE_SIZE: Final = 256
"""Addresses whose header form is cached: the same few people get email again and again."""

LONGEST_SUBJECT: Final = 200
LONGEST_NAME: Final = 100

MOST_BYTES: Final = 60 * 1024
MOST_HTML: Final = 35 * 1024
"""Mail programs cut off longer emails, and longer HTML."""

# Headers for programs: never encoded, folded only between words.
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
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_ENCODED_CHARACTERS: Final = re.compile(r"[^ \t\n!-<>-~]+|[ \t]$|^F(?=rom )|^\.$", re.MULTILINE)
"""Anything outside ASCII, blanks at the ends of lines, which get lost, and lines that mailboxes or relays treat as syntax."""

_WORDLIKE: Final = "[A-Za-z0-9=]"
_PIECE: Final = re.compile(
    rf".{{1,{LINE - 1}}}(?:(?<!{_WORDLIKE})|(?!{_WORDLIKE}))|.{{1,{LINE - 1}}}(?<!=)(?<!=.)", re.DOTALL
)
"""As much of an encoded line as fits, up to the end of a word, or of a character if the word is longer than a line."""


class WirePolicy(EmailPolicy):
    """The standard policy, except that headers are kept as they are, and those for programs are not parsed."""

    def header_store_parse(self, name: str, value: Any) -> tuple[str, Any]:
        """The header as it is stored: unchanged, because we write only valid ones."""
        return name, value

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        """The header as it is read; one for programs as a single line, unparsed."""
        return value.replace("\r\n", "") if name.lower() in _PLAIN else super().header_fetch_parse(name, value)


POLICY: Final = WirePolicy(linesep="\r\n", max_line_length=LINE, cte_type="7bit")


@dataclass(frozen=True, slots=True)
class NamedAddress:
    """An address with a name."""

    name: str
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Email:
    """An email before it is serialised. `plain` are the headers for programs, by name; without `html` it is text only."""

    sender: NamedAddress
    to: NamedAddress
    subject: str
    date: datetime
    message_id: str
    plain: Mapping[str, str]
    text: str
    html: str = ""


def serialise(email: Email) -> bytes:
    """The bytes of an email. Raises Fault if they do not parse back to the same email."""
    try:
        headers = _headers(email)
        content = f"{_lines(headers)}\r\n{_encoded_body(email)}".encode("ascii")
    except (ValueError, TypeError, MessageError, UnicodeError, IndexError) as error:
        raise Fault(
            "An email can't be sent as written.", why=f"Its headers are not allowed ({type(error).__name__})."
        ) from error
    _read_back(email, headers, content)
    return content


def parse(content: bytes) -> EmailMessage:
    """Parse one of our emails."""
    message: Message = BytesParser(policy=POLICY).parsebytes(content)
    assert isinstance(message, EmailMessage)
    return message


def text_of(message: EmailMessage) -> str:
    """The plain text of an email."""
    return _body(message, "plain")


def html_of(message: EmailMessage) -> str:
    """The HTML of an email; empty if it has none."""
    return _body(message, "html")


def one_line(text: str, longest: int = LONGEST_SUBJECT) -> str:
    """A person's text, made fit for a header: one line without invisible characters and encoded-word syntax."""
    visible = "".join(
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _INVISIBLE
    )
    # Removing one mark may form another from its surroundings.
    while "=?" in visible:
        visible = visible.replace("=?", "= ?")
    line = " ".join(visible.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def redacted_line(text: str, longest: int) -> str:
    """A server's words as one printable line, without addresses and tokens."""
    # Of endless words only the beginning is looked at: with everything redacted that is still more than the longest.
    beginning = "".join(c if c.isprintable() else " " for c in text[: 20 * longest])
    return redact(" ".join(beginning.split()))[:longest]


def _headers(email: Email) -> list[tuple[str, str]]:
    """All headers, not folded yet."""
    headers = [
        ("From", _address_header(email.sender)),
        ("To", _address_header(email.to)),
        ("Subject", _encoded_words(one_line(email.subject))),
        ("Date", format_datetime(email.date)),
        ("Message-ID", email.message_id),
        *email.plain.items(),
        ("MIME-Version", "1.0"),
        *([("Content-Type", _alternative(email))] if email.html else _content_headers("plain")),
    ]
    if len({name.lower() for name, _ in headers}) < len(headers):
        raise ValueError("a header would appear twice")
    for name, value in headers:
        # Anything but a blank between words could begin another header.
        if not all(_WORD.fullmatch(word) for word in value.split(" ") if word):
            raise ValueError(f"{name} has characters that programs can't read")
    return headers


def _alternative(email: Email) -> str:
    return f'multipart/alternative; boundary="{_boundary(email)}"'


def _boundary(email: Email) -> str:
    """Derived from the Message-ID; no encoded line can look like it, because "_" cannot follow "=" there."""
    return f"=_{hashlib.sha256(email.message_id.encode()).hexdigest()[:32]}"


def _content_headers(subtype: str) -> list[tuple[str, str]]:
    return [("Content-Type", f'text/{subtype}; charset="utf-8"'), ("Content-Transfer-Encoding", "quoted-printable")]


def _encoded_body(email: Email) -> str:
    if not email.html:
        return _quoted_printable(email.text)
    line = f"--{_boundary(email)}"
    return "\r\n".join([line, _part("plain", email.text), line, _part("html", email.html), f"{line}--", ""])


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
    """The text of a header: unchanged, or encoded as a whole, so that no blank between two words gets lost."""
    return text if text.isascii() else Header(text, "utf-8", maxlinelen=LINE, header_name="Subject").encode(linesep="")


@lru_cache(maxsize=_CACHE_SIZE)
def _address_header(mailbox: NamedAddress) -> str:
    address = Address(display_name=one_line(mailbox.name, LONGEST_NAME), addr_spec=mailbox.address)
    name = address.display_name
    if not name:
        return address.addr_spec
    phrase = _encoded_words(name) if not name.isascii() else '"' + re.sub(r'(["\\\\])', r"\\\1", name) + '"'
    return f"{phrase} <{address.addr_spec}>"


@lru_cache(maxsize=_CACHE_SIZE)
def _parse_address(content: str) -> str:
    """The one address in a header as other programs read it; empty unless there is exactly one without defects."""
    header = POLICY.header_fetch_parse("To", content)
    return str(header.addresses[0].addr_spec) if len(header.addresses) == 1 and not header.defects else ""


def _quoted_printable(text: str) -> str:
    """The text as quoted-printable; unlike those of the library, its soft breaks never split a placeholder."""
    encoded = _ENCODED_CHARACTERS.sub(_hex, text.rstrip("\n"))
    return "\r\n".join(line if len(line) <= LINE else _soft_broken(line) for line in encoded.split("\n")) + "\r\n"


def _hex(found: re.Match[str]) -> str:
    return "=" + found[0].encode().hex("=").upper()


def _soft_broken(line: str) -> str:
    *pieces, last = _PIECE.findall(line)
    return "=\r\n".join([*pieces, "=2E" if last == "." else last])


def _read_back(email: Email, headers: list[tuple[str, str]], content: bytes) -> None:
    """Check that other programs will read the email as intended. Raises Fault."""
    # The compat32 parser leaves headers as they are; only those for people are parsed further.
    message = BytesParser(policy=compat32).parsebytes(content)
    intended = [(name, " ".join(value.split())) for name, value in headers]
    found = [(name, " ".join(str(value).split())) for name, value in message.items()]
    subject = POLICY.header_fetch_parse("Subject", message["Subject"])
    html = len(email.html.encode())
    for ok, what in (
        ([name for name, _ in found] == [name for name, _ in intended], "has other headers"),
        (found == intended, "has headers that were changed"),
        (subject == one_line(email.subject) and not subject.defects, "has another subject"),
        (_parse_address(str(message["To"])) == email.to.address, "goes to someone else"),
        (_parse_address(str(message["From"])) == email.sender.address, "comes from someone else"),
        (not message.defects, "has defects"),
        (_parsed_parts(message) == _intended_parts(email), "has another text"),
        (content.isascii() and b"\n" not in content.replace(b"\r\n", b""), "has bytes that email can't carry"),
        (max(map(len, content.split(b"\r\n"))) <= LONGEST_LINE, "has a line that is too long"),
        (len(content) <= MOST_BYTES, f"is too large ({len(content):,} bytes; the limit is {MOST_BYTES:,})"),
        (html <= MOST_HTML, f"is too large (its HTML has {html:,} bytes; the limit is {MOST_HTML:,})"),
    ):
        if not ok:
            raise Fault(f"An email can't be sent as written: read back, it {what}.")


def _intended_parts(email: Email) -> list[tuple[str, str]]:
    parts = [("text/plain", email.text)] + [("text/html", email.html)] * bool(email.html)
    return [(kind, text.rstrip("\n")) for kind, text in parts]


def _parsed_parts(message: Message) -> list[tuple[str, str]]:
    parts = [part for part in message.walk() if not part.is_multipart()]
    texts = [(part.get_content_type(), part.get_payload(decode=True)) for part in parts]
    return [(kind, bytes(text).decode().replace("\r\n", "\n").rstrip("\n")) for kind, text in texts]
