"""Replies in HTML: the writer's own lines, without the elements in which programs quote and without what is withdrawn.

The libraries that do this have no bounds in time or memory. This module must never run outside the child process of `guarded`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from inscriptis import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import html
from lxml.etree import ParserError, iterwalk
from lxml.html import builder

from pbem.mail.read.quotes import Line, own_paragraphs, quoted_turn, split_lines
from pbem.mail.read.style_sheets import (
    ANY,
    MAY_BE_HIDDEN,
    MOST_RULES,
    Shape,
    Withdrawn,
    hides,
    may_be_hidden,
    may_hide,
    may_strike,
    strikes,
    withdrawn,
    withdraws,
)

_QUOTES: Final = (
    "//*[{gmail_attr} or {moz-cite-prefix} or {yahoo_quoted} or {protonmail_quote} or {tutanota_quote} or {k9mail-quote}]",
    "//*[{fairemail_quote} or {zmail_extra} or {gmail_extra} or {OutlookMessageHeader} or {reply-quote}]",
    "//*[@name='quote' or contains(@id, 'yahoo_quoted') or @id='mail-editor-reference-message-container']",
    "//*[@id='OLK_SRC_BODY_SECTION']",
)
_SIGNATURES: Final = (
    "//*[{gmail_signature} or {moz-signature} or {protonmail_signature_block} or {tutanota_signature}]",
    "//*[@id='ms-outlook-mobile-signature' or @id='Signature' or @id='signature' or @id='composer_signature']",
    "//*[@id='AppleMailSignature' or @id='fairemail_signature' or {fairemail_signature} or {k9mail-signature}]",
)
_NEVER_SEEN: Final = ("//head", "//style", "//script", "//title", "//template", "//comment()")
_QUOTE: Final = ">"
"""The line that stands for a quote that was cut."""

_STRIKING: Final = frozenset({"s", "strike", "del"})
_FROM_HERE_ON: Final = ("//*[contains(@id, 'divRplyFwdMsg')]", "//*[contains(@id, 'appendonsend')]")
"""The elements after which Outlook quotes, without an element around the quote."""


@dataclass(frozen=True, slots=True)
class HtmlReply:
    """The writer's own lines in HTML, and the turn of the quoted email (if it is quoted).

    It is clear if everything that strikes and hides is understood; if not, what may be withdrawn is left out, unless nothing
    would be left. It withdraws if some line would be different without what is struck out or hidden.
    """

    lines: tuple[str, ...]
    turn: int | None = None
    is_clear: bool = True
    withdraws: bool = False


def read_html(texts: Sequence[str]) -> HtmlReply:
    """The reply in the texts of an email in HTML, which are shown one below the other."""
    texts = [text for text in texts if _tree(text) is not None]
    trees = _trees(texts)
    turns = (quoted_turn(tree.text_content()) for tree in trees)
    turn = next((turn for turn in turns if turn is not None), None)
    rules = [_rules(tree) for tree in trees]
    lines = _lines(trees, [_Reading([rule for rule in some if rule.is_certain]) for some in rules])
    if not any(may_strike(text) or may_hide(text) for text in texts):
        return HtmlReply(lines, turn)
    # A program may show the texts as one, with all rules for everything.
    every = tuple(dict.fromkeys(rule for some in rules for rule in some))
    fewer = _lines(_trees(texts), [_Reading(every, in_doubt=True)] * len(texts))
    whole = _lines(_trees(texts), [None] * len(texts))
    return HtmlReply(fewer or lines, turn, fewer == lines, fewer != whole)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is left out of a text: what these rules withdraw, and in doubt what styles of single elements may hide."""

    rules: Sequence[Withdrawn]
    in_doubt: bool = False


def _trees(texts: Sequence[str]) -> list[html.HtmlElement]:
    return [tree for text in texts if (tree := _tree(text)) is not None]


def _tree(text: str) -> html.HtmlElement | None:
    """The elements of a text; None if there are none."""
    try:
        # As bytes, because a text with an encoding declaration would be refused.
        return html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))
    except ParserError:
        return None


def _lines(trees: Sequence[html.HtmlElement], readings: Sequence[_Reading | None]) -> tuple[str, ...]:
    """The writer's own lines, without what each reading leaves out."""
    lines: list[Line] = []
    for tree, reading in zip(trees, readings, strict=True):
        quotes = [element for start in _FROM_HERE_ON for element in tree.xpath(start)[:1]]
        for element in quotes:
            _cut_from(element)
        for element in _withdrawn(tree, reading or _Reading(())):
            if reading is None:
                # The library leaves out some hidden text of its own accord.
                element.attrib.pop("style", None)
            else:
                _cut(element)
        for element in tree.xpath("//blockquote"):
            # A reply may continue below it, which only a quoted line tells from a quote without an element around it.
            element.addprevious(builder.P(_QUOTE))
            _cut(element)
        for path in (*_QUOTES, *_SIGNATURES, *_NEVER_SEEN):
            for element in tree.xpath(_with_classes(path)):
                _cut(element)
        text_without_quotes = Inscriptis(tree, ParserConfig()).get_text().replace("\xa0", " ")
        # The library indents what is deep within others.
        lines += [
            Line(line.text, line.quoted or line.text.strip() == _QUOTE, whole=True)
            for line in split_lines(text_without_quotes)
        ]
        if quotes:
            break
    return own_paragraphs(lines)


def _rules(tree: html.HtmlElement) -> tuple[Withdrawn, ...]:
    """What the style sheets of an email withdraw, or may; those that only some programs look at may withdraw anything."""
    rules = tuple(rule for sheet in tree.xpath("//style") for rule in withdrawn(sheet.text_content()))
    if len(rules) > MOST_RULES or any(withdraws(comment.text or "") for comment in tree.xpath("//comment()")):
        return (ANY,)
    return rules


def _withdrawn(tree: html.HtmlElement, reading: _Reading) -> list[html.HtmlElement]:
    """The elements that are struck out or hidden: by their name or style, or by the rules of a reading."""
    shapes = {shape for rule in reading.rules for shape in rule.within}
    around: Counter[Shape] = Counter()
    found: list[html.HtmlElement] = []
    for event, element in iterwalk(tree, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        around_it = [shape for shape in shapes if _has_shape(element, shape)]
        if event == "end":
            around.subtract(around_it)
            continue
        by_rule = (rule for rule in reading.rules if all(around[shape] > 0 for shape in rule.within))
        if _is_withdrawn(element, in_doubt=reading.in_doubt) or any(
            _has_shape(element, rule.shape) for rule in by_rule
        ):
            found.append(element)
        around.update(around_it)
    return found


def _is_withdrawn(element: html.HtmlElement, *, in_doubt: bool) -> bool:
    """Whether an element is struck out or hidden by its name, attributes or style; if in doubt, whether it may be."""
    style = element.get("style", "")
    if element.tag in _STRIKING or "hidden" in element.attrib or strikes(style) or hides(style):
        return True
    return in_doubt and (element.tag in MAY_BE_HIDDEN or may_be_hidden(style))


def _has_shape(element: html.HtmlElement, shape: Shape) -> bool:
    # Some programs compare classes and ids in any case.
    classes, ids = element.get("class", "").lower().split(), element.get("id", "").lower()
    return shape.name in ("", element.tag) and shape.classes.issubset(classes) and shape.ids <= {ids}


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
