"""Replies in HTML: the writer's own lines, without the elements in which programs quote and without what is struck through.

The libraries that do this have no bounds in time or memory. This module must never run outside the child process of `guarded`.
"""

import re
from typing import Final

from inscriptis import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import html
from lxml.etree import ParserError

from pbem.mail.read.quotes import Line, own_paragraphs, quoted_turn, split_lines

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
_RULE_OF_A_SHEET: Final = re.compile(r"([^{}]*)\{([^{}]*)\}")
_MOST_STRIKING: Final = 50
"""Selectors that strike out text; programs write one or two."""
_FROM_HERE_ON: Final = ("//*[@id='divRplyFwdMsg']", "//*[@id='appendonsend']", "//*[@id='x_divRplyFwdMsg']")
"""The elements after which Outlook quotes, without an element around the quote."""


def own_lines(text: str) -> tuple[tuple[str, ...], int | None]:
    """The writer's own lines in HTML, and the turn of the quoted email (if it is quoted)."""
    try:
        # As bytes, because a text with an encoding declaration would be refused.
        tree = html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))
    except ParserError:
        return (), None
    turn = quoted_turn(tree.text_content())
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
    return own_paragraphs(lines), turn


def _struck(tree: html.HtmlElement) -> list[html.HtmlElement]:
    """The elements that are struck through: by their name or style, or by a style sheet."""
    sheets = re.sub(
        r"/\*.*?\*/", "", " ".join(sheet.text_content() for sheet in tree.xpath("//style")), flags=re.DOTALL
    )
    rules = (rule for rule in _RULE_OF_A_SHEET.finditer(sheets) if "line-through" in rule[2].lower())
    selectors = [selector for rule in rules for selector in rule[1].split(",")]
    # The steps of an animation stand where selectors do, and are percentages.
    selectors = [selector for selector in selectors if not selector.strip().endswith("%")][:_MOST_STRIKING]
    by_sheet = [element for selector in selectors for element in tree.xpath(_path_of(selector))]
    return [*tree.xpath(_STRUCK), *by_sheet]


def _path_of(selector: str) -> str:
    """The elements that a selector of a style sheet may mean: by its last word only, so rather more of them than fewer."""
    last = (re.split(r"[\s>+~]+", re.sub(r"\[[^\]]*\]|:[\w-]+", "", selector).strip()) or [""])[-1]
    name = re.match(r"[A-Za-z][\w-]*", last)
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
