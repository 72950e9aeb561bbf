"""Replies: the writer's own text in a message.

A message may have its text in several versions, and each in several parts, around pictures or files. Plain text is read if
there is a version of it; else the HTML, without the elements in which programs quote. In plain text a program leaves out what
is struck through in HTML, or loses the strokes; so if there are any, or the HTML hides a line of the text, the HTML is read.
Where it cannot be told what is struck out or hidden, the reply is not clear. Attached files are never read, but a stroke in HTML
that is not read is a doubt: some servers make a file of a version. `inbound` limits the size of a message, `quotes` finds the
writer's own lines, and `domain.reply_commands` interprets them.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from enum import StrEnum
from html import escape
from typing import Final

from pbem.mail.read.auto_replies import subject
from pbem.mail.read.guarded import read_html
from pbem.mail.read.inbound import is_cut, message_id, text_of
from pbem.mail.read.quotes import Line, own_paragraphs, quoted_turn, split_lines
from pbem.mail.read.style_sheets import may_hide, may_strike


class Nothing(StrEnum):
    """Why a reply has no line of its writer."""

    ENCRYPTED = "encrypted"
    EMPTY = "empty"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True)
class Reply:
    """The writer's own lines, the turn of the quoted email (if it is quoted), the subject and the Message-ID.

    It is clear unless it cannot be told which of its lines are struck out or hidden. Without lines, `nothing` says why.
    """

    lines: tuple[str, ...]
    turn: int | None = None
    subject: str = ""
    message_id: str = ""
    is_clear: bool = True
    nothing: Nothing | None = None


_ENCRYPTED: Final = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_ARMOUR: Final = "-----BEGIN PGP MESSAGE-----"

_UNREADABLE: Final = frozenset({"application/ms-tnef", "text/enriched", "text/richtext", "text/rtf", "application/rtf"})
"""Types of parts that may have the same text with strokes in it, which we can't read: those of Outlook's rich text first."""

_DEEPEST: Final = 10
"""Levels of parts that are searched; ordinary messages have three."""

_LONGEST_HTML: Final = 300_000
"""Characters of HTML that are read: a text longer than ten of our emails is not a reply to one."""

_MOST_TAGS: Final = 8000
"""Tags of HTML that are read; our longest email has a few hundred."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Text:
    """A part meant for reading, with its text."""

    part: Message
    text: str

    @property
    def is_html(self) -> bool:
        return self.part.get_content_subtype() == "html"

    def lines(self) -> list[Line]:
        """The lines of a plain text."""
        return _flowed(self.part, self.text) if self.part.get_param("format") == "flowed" else split_lines(self.text)

    def as_html(self) -> str:
        """The text in HTML."""
        if self.is_html:
            return self.text
        return "<br>".join(escape(f"> {line.text}" if line.quoted else line.text) for line in self.lines())


def parse_reply(message: Message) -> Reply:
    """The reply in a message."""
    reply = _parse_text(message)
    texts = [each.text for each in _version(message, "plain")]
    if any(part.get_content_type() in _ENCRYPTED for part in message.walk()) or any(_ARMOUR in text for text in texts):
        reply = Reply((), nothing=Nothing.ENCRYPTED)
    elif not reply.lines:
        reply = replace(reply, nothing=Nothing.QUOTED if any(text.strip() for text in texts) else Nothing.EMPTY)
    is_clear = reply.is_clear or not reply.lines
    return replace(reply, subject=subject(message), message_id=message_id(message), is_clear=is_clear)


def _parse_text(message: Message) -> Reply:
    plain, rich = _version(message, "plain"), _version(message, "html")
    read = {id(each.part) for each in rich}
    is_whole = not is_cut(message) and not any(
        may_strike(_text(part)) for part in _of_types(message, {"text/html"}) if id(part) not in read
    )
    is_whole = is_whole and not any(_is_shown(part) for part in _of_types(message, _UNREADABLE))
    if any(each.is_html for each in plain):
        return _of_html(rich, is_whole=is_whole)
    lines = [line for each in plain for line in (*each.lines(), Line(""))]
    turn = next((turn for each in plain if (turn := quoted_turn(each.text)) is not None), None)
    reply = Reply(own_paragraphs(lines), turn, is_clear=is_whole)
    html = "".join(each.text for each in rich if each.is_html)
    if may_strike(html):
        return _of_html(rich, is_whole=is_whole, plain=reply)
    if may_hide(html) and (reading := read_html(_within_limits(rich)[0])) is not None:
        shown = {_words(line) for line in reading.lines}
        if reading.withdraws and any(_words(line) not in shown for line in reply.lines):
            return Reply(reading.lines, reading.turn, is_clear=reading.is_clear and is_whole)
    return reply


def _of_html(texts: Sequence[_Text], *, is_whole: bool, plain: Reply | None = None) -> Reply:
    """The reply in a version with HTML; the plain one in doubt, if there is one and the HTML cannot be read to its end."""
    html, all_of_it = _within_limits(texts)
    reading = read_html(html)
    if plain is not None and (reading is None or not all_of_it):
        return replace(plain, is_clear=False)
    if reading is None:
        return Reply(())
    return Reply(reading.lines, reading.turn, is_clear=reading.is_clear and is_whole and all_of_it)


def _within_limits(texts: Sequence[_Text]) -> tuple[list[str], bool]:
    """The texts in HTML as far as they are read, and whether that is all of them."""
    html: list[str] = []
    characters, tags = _LONGEST_HTML, _MOST_TAGS
    for each in texts:
        whole = each.as_html()
        *begun, _rest = pieces = whole[:characters].split("<", tags)
        html.append("<".join(begun if len(pieces) > tags else pieces))
        characters, tags = characters - len(html[-1]), tags - len(begun)
        if html[-1] != whole:
            return html, False
    return html, True


def _version(message: Message, kind: str, depth: int = 0) -> list[_Text]:
    """The text parts of a message in the order in which they are read, of each alternative the one of this kind."""
    parts = _parts(message, depth)
    if message.get_content_subtype() == "alternative":
        versions = [_version(part, kind, depth + 1) for part in parts]
        readable = [version for version in versions if any(each.text.strip() for each in version)]
        of_kind = [version for version in readable if any(each.is_html == (kind == "html") for each in version)]
        # The first version is the plainest, the last the richest.
        chosen = of_kind or readable
        return (chosen[0] if kind == "plain" else chosen[-1]) if chosen else []
    if message.is_multipart():
        texts: list[_Text] = []
        for part in parts:
            if part.get_content_disposition() != "attachment" and not (texts and part.get_filename()):
                texts += _version(part, kind, depth + 1)
        return texts
    is_file = depth == 0 and message.get_content_disposition() == "attachment"
    is_text = message.get_content_type() in ("text/plain", "text/html") and not is_file
    return [_Text(message, _text(message))] if is_text else []


def _of_types(message: Message, types: Collection[str], depth: int = 0) -> Iterator[Message]:
    """All parts of these types, but not those of an attached message."""
    for part in _parts(message, depth):
        yield from _of_types(part, types, depth + 1)
    if message.get_content_type() in types and not message.is_multipart():
        yield message


def _is_shown(part: Message) -> bool:
    """Whether a part of an unreadable type is the text of its message, and not a document that someone has attached."""
    is_document = part.get_content_disposition() == "attachment" or part.get_filename() is not None
    return part.get_content_type() == "application/ms-tnef" or not is_document


def _parts(message: Message, depth: int) -> list[Message]:
    """The parts that are searched of a message with several."""
    is_searched = message.is_multipart() and message.get_content_maintype() == "multipart" and depth < _DEEPEST
    return [part for part in message.get_payload() if isinstance(part, Message)] if is_searched else []


def _text(part: Message) -> str:
    return text_of(part).replace("\xa0", " ")


def _words(line: str) -> tuple[str, ...]:
    """The words of a line, by which it is known in the other version, whatever marks a program sets around them."""
    return tuple(_WORD.findall(line.casefold()))


def _flowed(part: Message, text: str) -> list[Line]:
    """Lines joined again that a program has broken at blanks, by RFC 3676."""
    keeps_blank = str(part.get_param("delsp")).lower() != "yes"
    paragraphs: list[tuple[bool, list[str]]] = []
    flows = False
    for raw in text.split("\n"):
        marks = len(raw) - len(raw.lstrip(">"))
        line, quoted = raw[marks:].removeprefix(" "), marks > 0
        if not flows or paragraphs[-1][0] != quoted:
            paragraphs.append((quoted, []))
        flows = line.endswith(" ") and line != "-- "
        paragraphs[-1][1].append(line if keeps_blank or not flows else line[:-1])
    return [Line("".join(pieces), quoted, whole=True) for quoted, pieces in paragraphs]
