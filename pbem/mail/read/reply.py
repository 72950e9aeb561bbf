"""Replies: the writer's own text in a message.

The text is the first part meant for reading: plain text if there is one, else the HTML without the elements in which
programs quote. In plain text a program leaves out what is struck through in HTML or loses the strokes; so if there are any,
the HTML is read. Attachments are never opened. `inbound` limits the size of a message, `quotes` finds the writer's own lines,
and `domain.reply_commands` interprets them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import Message
from typing import Final

from inscriptis import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import html
from lxml.etree import ParserError

from pbem.mail.read.auto_replies import subject
from pbem.mail.read.inbound import message_id, text_of
from pbem.mail.read.quotes import MARKER, Line, own_paragraphs, split_lines


@dataclass(frozen=True, slots=True)
class Reply:
    """The writer's own lines, the turn of the quoted email (if it is quoted), the subject and the Message-ID."""

    lines: tuple[str, ...]
    turn: int | None = None
    subject: str = ""
    message_id: str = ""


_DEEPEST: Final = 10
"""Levels of parts that are searched; ordinary messages have three."""

_LONGEST_HTML: Final = 300_000
"""Characters of HTML that are read: a text longer than ten of our emails is not a reply to one."""

_MOST_TAGS: Final = 8000
"""Tags of HTML that are read; our longest email has a few hundred."""

_QUOTES: Final = (
    "//blockquote",
    "//*[{gmail_attr} or {moz-cite-prefix} or {yahoo_quoted} or {protonmail_quote} or {tutanota_quote} or {k9mail-quote}]",
    "//*[{fairemail_quote} or {zmail_extra} or {gmail_extra} or {OutlookMessageHeader} or {reply-quote}]",
    "//*[@name='quote' or contains(@id, 'yahoo_quoted') or @id='mail-editor-reference-message-container']",
)
_SIGNATURES: Final = (
    "//*[{gmail_signature} or {moz-signature} or {protonmail_signature_block} or {tutanota_signature}]",
    "//*[@id='ms-outlook-mobile-signature' or @id='Signature' or @id='signature' or @id='composer_signature']",
    "//*[@id='AppleMailSignature' or @id='fairemail_signature' or {fairemail_signature} or {k9mail-signature}]",
)
_NEVER_SEEN: Final = ("//head", "//style", "//script", "//title", "//template", "//comment()")
_STRUCK: Final = (
    "//s | //strike | //del | //*[contains(translate(@style, 'LINETHROUGH', 'linethrough'), 'line-through')]"
)
_MAY_STRIKE: Final = re.compile(r"<(?:s|strike|del)\b|line-through", re.IGNORECASE)
_RULE_OF_A_SHEET: Final = re.compile(r"([^{}]*)\{([^{}]*)\}")
_MOST_STRIKING: Final = 50
"""Selectors that strike out text; programs write one or two."""
_FROM_HERE_ON: Final = ("//*[@id='divRplyFwdMsg']", "//*[@id='appendonsend']", "//*[@id='x_divRplyFwdMsg']")
"""The elements after which Outlook quotes, without an element around the quote."""


def parse_reply(message: Message) -> Reply:
    """The reply in a message."""
    return replace(_parse_text(message), subject=subject(message), message_id=message_id(message))


def _parse_text(message: Message) -> Reply:
    bodies = list(_bodies(message))
    plain = next((text for part, text in bodies if part.get_content_subtype() == "plain" and text.strip()), None)
    rich = next((text for part, text in bodies if part.get_content_subtype() == "html"), "")[:_LONGEST_HTML]
    if plain is not None and not _MAY_STRIKE.search(rich):
        part = next(part for part, text in bodies if text is plain)
        lines = _flowed(part, plain) if part.get_param("format") == "flowed" else split_lines(plain)
        return Reply(own_paragraphs(lines), _turn(plain))
    return _parse_html("<".join(rich.split("<", _MOST_TAGS)[:_MOST_TAGS]))


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


def _parse_html(text: str) -> Reply:
    try:
        # As bytes, because a text with an encoding declaration would be refused.
        tree = html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))
    except ParserError:
        return Reply(())
    turn = _turn(tree.text_content())
    for start in _FROM_HERE_ON:
        for element in tree.xpath(start)[:1]:
            _cut_from(element)
    for element in _struck(tree):
        _cut(element)
    for path in (*_QUOTES, *_SIGNATURES, *_NEVER_SEEN):
        for element in tree.xpath(_with_classes(path)):
            _cut(element)
    text_without_quotes = Inscriptis(tree, ParserConfig()).get_text().replace("\xa0", " ")
    lines = [Line(line.text, line.quoted, whole=True) for line in split_lines(text_without_quotes)]
    return Reply(own_paragraphs(lines), turn)


def _struck(tree: html.HtmlElement) -> list[html.HtmlElement]:
    """The elements that are struck through: by their name or style, or by a style sheet."""
    sheets = re.sub(
        r"/\*.*?\*/", "", " ".join(sheet.text_content() for sheet in tree.xpath("//style")), flags=re.DOTALL
    )
    rules = (rule for rule in _RULE_OF_A_SHEET.finditer(sheets) if "line-through" in rule[2].lower())
    selectors = [selector for rule in rules for selector in rule[1].split(",")][:_MOST_STRIKING]
    by_sheet = [element for selector in selectors for element in tree.xpath(_path_of(selector))]
    return [*tree.xpath(_STRUCK), *by_sheet]


def _path_of(selector: str) -> str:
    """The elements that a selector of a style sheet may mean: by its last word only, so rather more of them than fewer."""
    last = (re.split(r"[\s>+~]+", re.sub(r"\[[^\]]*\]|:[\w-]+", "", selector).strip()) or [""])[-1]
    name = re.match(r"[\w-]+", last)
    classes = "".join(f"[{{{each}}}]" for each in re.findall(r"\.([\w-]+)", last))
    ids = "".join(f"[@id='{each}']" for each in re.findall(r"#([\w-]+)", last))
    # An element of any name is one with a class or an id, or what is within the body.
    anywhere = "//*" if classes or ids else "//body//*"
    return _with_classes((f"//{name[0].lower()}" if name else anywhere) + classes + ids)


def _with_classes(path: str) -> str:
    return re.sub(r"\{([\w-]+)\}", r"contains(concat(' ', normalize-space(@class), ' '), ' \1 ')", path)


def _cut(element: html.HtmlElement) -> None:
    """Remove an element, but not the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def _cut_from(element: html.HtmlElement) -> None:
    """Remove an element and everything after it."""
    inner = element
    while (outer := inner.getparent()) is not None:
        for after in list(inner.itersiblings()):
            outer.remove(after)
        inner.tail = None
        inner = outer
    _cut(element)


def _turn(text: str) -> int | None:
    match = MARKER.search(text)
    return None if match is None else int(match[1])
