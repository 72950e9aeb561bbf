"""A mail as bytes for the wire, and back.

The standard library builds and reads the message; how it is folded is ours, because the standard way encodes long
headers until mail programs no longer understand them, writes lines that are too long, and lets a name inject a header.
What was written is read again before anybody may queue it: a mail whose headers are not exactly those that were meant
is refused.

Bodies are stored with placeholders where tokens go, so nothing here may break a line within one. This module must never
know what a mail is about.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email import quoprimime
from email.errors import MessageError
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.policy import EmailPolicy, compat32
from email.utils import format_datetime
from typing import Any, Final

from pbem.domain.errors import Fault

LINE: Final = 76
"""The longest line of an encoded body (RFC 2045), and what headers are folded to."""

LONGEST_LINE: Final = 998
"""What SMTP carries."""

LONGEST_SUBJECT: Final = 200
LONGEST_NAME: Final = 100

MOST_BYTES: Final = 60 * 1024
"""Mail programs show a longer mail only in part."""

# Headers that programs read: never encoded, folded only between words.
_PLAIN: Final = frozenset(
    {
        "auto-submitted",
        "feedback-id",
        "in-reply-to",
        "list-id",
        "list-unsubscribe",
        "list-unsubscribe-post",
        "message-id",
        "references",
        "reply-to",
        "x-auto-response-suppress",
    }
)
_WORD: Final = re.compile(r"[!-~]{1,900}")
_SHAPELESS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_TOKEN_SIZED: Final = re.compile(r"[a-z0-9]{33}|.", re.DOTALL)


class WirePolicy(EmailPolicy):
    """The standard policy, except for how headers become lines: its own way loses blanks and encodes what it must not."""

    def fold(self, name: str, value: Any) -> str:
        """A header as lines."""
        kind = name.lower()
        if kind in _PLAIN:
            return _folded(name, str(value))
        if kind == "subject":
            return _folded(name, _encoded_words(str(value)))
        if kind in ("from", "to"):
            return _folded(name, ", ".join(_written_address(address) for address in value.addresses))
        folded: str = super().fold(name, value)
        return folded

    def fold_binary(self, name: str, value: Any) -> bytes:
        """The same as bytes."""
        return self.fold(name, value).encode("ascii")


POLICY: Final = WirePolicy(linesep="\r\n", max_line_length=LINE, cte_type="7bit")


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address, and who reads there."""

    name: str
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail before it is bytes. `plain` are the headers that programs read, by name."""

    sender: Mailbox
    to: Mailbox
    subject: str
    date: datetime
    message_id: str
    plain: Mapping[str, str]
    text: str


def serialise(mail: Mail) -> bytes:
    """The bytes of a mail; refused if they do not read back as what was meant."""
    message = EmailMessage(policy=POLICY)
    try:
        for name, value in _headers(mail):
            message[name] = value
        message.set_payload(_quoted_printable(mail.text))
        written = message.as_bytes(policy=POLICY)
    except (ValueError, TypeError, MessageError, UnicodeError, IndexError) as error:
        raise Fault(
            "A mail cannot be put on the wire.", why=f"Its headers are not allowed ({type(error).__name__})."
        ) from error
    _read_back(mail, written)
    return written


def parse(written: bytes) -> EmailMessage:
    """A mail of ours, read again."""
    message: Message = BytesParser(policy=POLICY).parsebytes(written)
    assert isinstance(message, EmailMessage)
    return message


def text_of(message: EmailMessage) -> str:
    """The plain text of a mail."""
    part = message.get_body(("plain",))
    return "" if part is None else str(part.get_content()).replace("\r\n", "\n")


def one_line(text: str, longest: int = LONGEST_SUBJECT) -> str:
    """What people wrote, fit for a header: one line without invisible characters and without the mark of encoded words."""
    kept = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _SHAPELESS)
    # Taking one mark out may make another of what stood around it.
    while "=?" in kept:
        kept = kept.replace("=?", "= ?")
    line = " ".join(kept.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def _headers(mail: Mail) -> list[tuple[str, object]]:
    headers: list[tuple[str, object]] = [
        ("From", _address(mail.sender)),
        ("To", _address(mail.to)),
        ("Subject", one_line(mail.subject)),
        ("Date", format_datetime(mail.date)),
        ("Message-ID", mail.message_id),
    ]
    headers += mail.plain.items()
    for name, value in headers:
        if name.lower() in _PLAIN and not all(_WORD.fullmatch(word) for word in str(value).split()):
            raise ValueError(f"{name} has characters that programs do not read")
    return [
        *headers,
        ("MIME-Version", "1.0"),
        ("Content-Type", 'text/plain; charset="utf-8"'),
        ("Content-Transfer-Encoding", "quoted-printable"),
    ]


def _address(mailbox: Mailbox) -> Address:
    return Address(display_name=one_line(mailbox.name, LONGEST_NAME), addr_spec=mailbox.address)


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
    return (
        text if text.isascii() else Header(text, "utf-8", maxlinelen=LINE, header_name="Subject").encode(linesep="\n")
    )


def _written_address(address: Address) -> str:
    name = address.display_name
    if not name:
        return address.addr_spec
    phrase = _encoded_words(name) if not name.isascii() else '"' + re.sub(r'(["\\\\])', r"\\\1", name) + '"'
    return f"{phrase} <{address.addr_spec}>"


def _quoted_printable(text: str) -> str:
    """The text as quoted-printable, whose soft breaks never go through a token's place.

    The library's own encoder counts characters only; a place that is broken in two could not be filled.
    """
    return "\r\n".join(_encoded_line(line) for line in text.rstrip("\n").split("\n")) + "\r\n"


def _encoded_line(line: str) -> str:
    pieces = ["".join(_encoded(c) for c in unit) for unit in _TOKEN_SIZED.findall(line)]
    if pieces and pieces[-1] in (" ", "\t"):
        # Blanks at the end of a line get lost on the way.
        pieces[-1] = quoprimime.quote(pieces[-1])
    lines, current = [], ""
    for piece in pieces:
        if current and len(current) + len(piece) > LINE - 1:
            lines.append(current + "=")
            current = ""
        current += piece
    return "\r\n".join([*lines, _not_a_dot(current)])


def _encoded(character: str) -> str:
    if character in " \t" or ("!" <= character <= "~" and character != "="):
        return character
    return "".join(quoprimime.quote(chr(byte)) for byte in character.encode())


def _not_a_dot(line: str) -> str:
    # A mail ends with such a line, and not every relay takes care.
    return "=2E" if line == "." else line


def _read_back(mail: Mail, written: bytes) -> None:
    """Refuse a mail that somebody else would read otherwise than it was meant."""
    # The plain parser takes lines for what they are; only the headers that are for people are taken apart.
    message = BytesParser(policy=compat32).parsebytes(written)
    meant = [(name.lower(), str(value)) for name, value in _headers(mail)]
    found = [(name.lower(), " ".join(str(value).split())) for name, value in message.items()]
    subject, to, sender = (POLICY.header_fetch_parse(name, message[name]) for name in ("Subject", "To", "From"))
    for good, what in (
        ([name for name, _ in found] == [name for name, _ in meant], "has other headers"),
        (subject == one_line(mail.subject), "has another subject"),
        (_only_address(to) == mail.to.address, "goes to somebody else"),
        (_only_address(sender) == mail.sender.address, "comes from somebody else"),
        (
            [each for each in found if each[0] in _PLAIN] == [each for each in meant if each[0] in _PLAIN],
            "has headers that were changed",
        ),
        (not (message.defects or subject.defects or to.defects or sender.defects), "has defects"),
        (_same_text(message.get_payload(decode=True), mail.text), "has another text"),
        (written.isascii() and b"\n" not in written.replace(b"\r\n", b""), "has bytes that mail does not carry"),
        (max(map(len, written.split(b"\r\n"))) <= LONGEST_LINE, "has a line that is too long"),
        (len(written) <= MOST_BYTES, "is too large"),
    ):
        if not good:
            raise Fault(f"A mail cannot be put on the wire: read back, it {what}.")


def _same_text(read: object, meant: str) -> bool:
    return isinstance(read, bytes) and read.decode().replace("\r\n", "\n").rstrip("\n") == meant.rstrip("\n")


def _only_address(header: Any) -> str:
    return str(header.addresses[0].addr_spec) if len(header.addresses) == 1 else ""
