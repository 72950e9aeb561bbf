"""Replies: the writer's own text in a message.

The text is the first part meant for reading: plain text if there is one, else the HTML without the elements in which
programs quote. In plain text a program leaves out what is struck through in HTML or loses the strokes; so if there are any,
the HTML is read. Attachments are never opened. `inbound` limits the size of a message, `quotes` finds the writer's own lines,
and `domain.reply_commands` interprets them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import Message
from typing import Final

from pbem.mail.read.auto_replies import subject
from pbem.mail.read.guarded import lines_of_html
from pbem.mail.read.inbound import message_id, text_of
from pbem.mail.read.quotes import Line, own_paragraphs, quoted_turn, split_lines
from pbem.mail.read.style_sheets import may_strike


@dataclass(frozen=True, slots=True)
class Reply:
    """The writer's own lines, the turn of the quoted email (if it is quoted), the subject and the Message-ID.

    It is clear unless a style sheet may strike out lines in a way that is not understood.
    """

    lines: tuple[str, ...]
    turn: int | None = None
    subject: str = ""
    message_id: str = ""
    is_clear: bool = True


_DEEPEST: Final = 10
"""Levels of parts that are searched; ordinary messages have three."""

_LONGEST_HTML: Final = 300_000
"""Characters of HTML that are read: a text longer than ten of our emails is not a reply to one."""

_MOST_TAGS: Final = 8000
"""Tags of HTML that are read; our longest email has a few hundred."""


def parse_reply(message: Message) -> Reply:
    """The reply in a message."""
    return replace(_parse_text(message), subject=subject(message), message_id=message_id(message))


def _parse_text(message: Message) -> Reply:
    bodies = list(_bodies(message))
    plain = next((text for part, text in bodies if part.get_content_subtype() == "plain" and text.strip()), None)
    rich = next((text for part, text in bodies if part.get_content_subtype() == "html"), "")[:_LONGEST_HTML]
    if plain is not None and not may_strike(rich):
        part = next(part for part, text in bodies if text is plain)
        lines = _flowed(part, plain) if part.get_param("format") == "flowed" else split_lines(plain)
        return Reply(own_paragraphs(lines), quoted_turn(plain))
    own, turn, is_clear = lines_of_html("<".join(rich.split("<", _MOST_TAGS)[:_MOST_TAGS]))
    return Reply(own, turn, is_clear=is_clear)


def _bodies(message: Message, depth: int = 0) -> Iterator[tuple[Message, str]]:
    """The text parts meant for reading, with their texts; not those of an attached message."""
    if message.is_multipart():
        if message.get_content_maintype() == "multipart" and depth < _DEEPEST:
            for part in message.get_payload():
                assert isinstance(part, Message)
                yield from _bodies(part, depth + 1)
    elif message.get_content_maintype() == "text" and message.get_content_disposition() != "attachment":
        yield message, text_of(message).replace("\xa0", " ")


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
