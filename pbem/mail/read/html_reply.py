"""Replies in HTML: the writer's own lines, without the elements in which programs quote and without what is struck through.

The libraries that do this have no bounds in time or memory. This module must never run outside the child process of `guarded`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from inscriptis import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import html
from lxml.etree import ParserError, iterwalk

from pbem.mail.read.quotes import Line, own_paragraphs, quoted_turn, split_lines
from pbem.mail.read.style_sheets import ANY, MOST_RULES, Shape, Struck, strikes, struck

_QUOTES: Final = (
    "//blockquote",
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
_STRIKING: Final = frozenset({"s", "strike", "del"})
_FROM_HERE_ON: Final = ("//*[contains(@id, 'divRplyFwdMsg')]", "//*[contains(@id, 'appendonsend')]")
"""The elements after which Outlook quotes, without an element around the quote."""


def own_lines(text: str) -> tuple[tuple[str, ...], int | None, bool]:
    """The writer's own lines in HTML, the turn of the quoted email (if it is quoted), and whether all strokes are understood.

    If they are not, what may be struck out is left out, unless nothing would be left.
    """
    try:
        tree = _tree(text)
    except ParserError:
        return (), None, True
    turn = quoted_turn(tree.text_content())
    rules = _rules(tree)
    certain = tuple(rule for rule in rules if rule.is_certain)
    lines = _lines(tree, certain)
    if certain == rules:
        return lines, turn, True
    fewer = _lines(_tree(text), rules)
    return fewer or lines, turn, fewer == lines


def _tree(text: str) -> html.HtmlElement:
    # As bytes, because a text with an encoding declaration would be refused.
    return html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))


def _lines(tree: html.HtmlElement, rules: Sequence[Struck]) -> tuple[str, ...]:
    """The writer's own lines, without what these rules strike out."""
    for start in _FROM_HERE_ON:
        for element in tree.xpath(start)[:1]:
            _cut_from(element)
    for element in _struck(tree, rules):
        _cut(element)
    for path in (*_QUOTES, *_SIGNATURES, *_NEVER_SEEN):
        for element in tree.xpath(_with_classes(path)):
            _cut(element)
    text_without_quotes = Inscriptis(tree, ParserConfig()).get_text().replace("\xa0", " ")
    lines = [Line(line.text, line.quoted, whole=True) for line in split_lines(text_without_quotes)]
    return own_paragraphs(lines)


def _rules(tree: html.HtmlElement) -> tuple[Struck, ...]:
    """What the style sheets of an email strike out, or may; those that only some programs look at may strike out anything."""
    rules = tuple(rule for sheet in tree.xpath("//style") for rule in struck(sheet.text_content()))
    if len(rules) > MOST_RULES or any(strikes(comment.text or "") for comment in tree.xpath("//comment()")):
        return (ANY,)
    return rules


def _struck(tree: html.HtmlElement, rules: Sequence[Struck]) -> list[html.HtmlElement]:
    """The elements that are struck through: by their name or style, or by these rules."""
    shapes = {shape for rule in rules for shape in rule.within}
    around: Counter[Shape] = Counter()
    found: list[html.HtmlElement] = []
    for event, element in iterwalk(tree, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        around_it = [shape for shape in shapes if _has_shape(element, shape)]
        if event == "end":
            around.subtract(around_it)
            continue
        by_rule = (rule for rule in rules if all(around[shape] > 0 for shape in rule.within))
        if (
            element.tag in _STRIKING
            or strikes(element.get("style", ""))
            or any(_has_shape(element, rule.shape) for rule in by_rule)
        ):
            found.append(element)
        around.update(around_it)
    return found


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
