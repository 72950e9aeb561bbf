"""Style sheets of replies, as far as they withdraw text: strike it out, or hide it.

A writer who strikes a command out has withdrawn it, and nobody has written what they could not see. So everything that may
strike or hide has to be found: in any spelling, in rules within rules, and in selectors that this module does not understand.
It reads each sheet once, from its beginning to its end. What a rule means for certain is kept apart from what it may mean, so
that a reply which depends on the difference can be asked about. Nothing here knows the colours of text and paper.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from typing import Final

MOST_RULES: Final = 50
"""Selectors of one reply that withdraw text; programs write one or two."""

_DEEPEST: Final = 10
"""Blocks within blocks; programs write two."""

_MOST_WORDS: Final = 10
"""Words of a selector; those before them would only make it mean fewer elements."""

_STROKE: Final = "line-through"
_ELEMENT: Final = re.compile(r"<(?:s|strike|del)\b", re.IGNORECASE)

MAY_BE_HIDDEN: Final = frozenset(
    {"audio", "canvas", "datalist", "details", "dialog", "iframe", "noembed", "noframes", "noscript", "object", "video"}
)
"""Elements whose text is shown by some programs only, or after a click."""

_NONE: Final = r"[+-]?(?:0+(?:\.0*)?|\.0+)(?:e[+-]?\d+)?(?![\d.])"
_HIDDEN: Final = re.compile(
    rf"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*{_NONE})"
)
_PERHAPS_HIDDEN: Final = re.compile(
    rf"(?<![\w-])(?:(?:font|font-size|line-height|zoom|(?:max-)?(?:width|height))\s*:\s*{_NONE}"
    r"|font-size\s*:\s*[012](?:\.\d*)?(?:px|pt)|opacity\s*:\s*0?\.0"
    r"|(?:display|visibility|opacity|font-size)\s*:\s*(?:var|calc|min|max|clamp)\("
    r"|mso-hide\s*:\s*all|content-visibility\s*:\s*hidden|clip(?:-path)?\s*:\s*(?!auto|none)\w"
    r"|(?:text-indent|left|right|top|bottom|margin(?:-\w{1,9})?)\s*:\s*-\d{3}"
    r"|transform\s*:[^;{}]{0,80}scale|(?:color|-webkit-text-fill-color)\s*:\s*transparent)"
)
_HIDDEN_ELEMENT: Final = re.compile(rf"\bhidden\b|<(?:{'|'.join(sorted(MAY_BE_HIDDEN))})\b", re.IGNORECASE)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})[ \t\n]?|\n|(.))", re.IGNORECASE)
_PIECE: Final = re.compile(
    r"/\*.*?(?:\*/|\Z)|<!--|-->|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|\\.?|[][(){};]|[^][(){};\"'\\/<-]+|.",
    re.DOTALL,
)
_BLANK: Final = ("/*", "<!--", "-->")
_SIMPLE: Final = re.compile(r"(?P<name>\*|[a-z][\w-]*)?(?P<more>(?:[.#][\w-]+)*)", re.IGNORECASE)
_WORDS: Final = re.compile(r"[\s>+~|]+")


@dataclass(frozen=True, slots=True)
class Shape:
    """Elements of a name, with all of these classes and ids; every element if it has none of them. All in lower case."""

    name: str = ""
    classes: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Elements that a rule strikes out or hides: those of a shape, each within one of every other shape.

    They are for certain, or the rule may mean fewer of them.
    """

    shape: Shape = Shape()
    within: tuple[Shape, ...] = ()
    is_certain: bool = False


ANY: Final = Withdrawn()
"""Any element may be withdrawn."""


def may_strike(html: str) -> bool:
    """Whether a text in HTML may have something that is struck through."""
    try:
        return bool(_ELEMENT.search(html)) or strikes(unescape(html))
    except ValueError:
        # A reference to a character has more digits than Python reads: the guarded reader may judge.
        return True


def may_hide(html: str) -> bool:
    """Whether a text in HTML may have something that nobody sees."""
    try:
        return bool(_HIDDEN_ELEMENT.search(html)) or hides(unescape(html)) or may_be_hidden(unescape(html))
    except ValueError:
        return True


def strikes(css: str) -> bool:
    """Whether declarations have the word for a stroke, in any spelling."""
    return _STROKE in _plain(css)


def hides(css: str) -> bool:
    """Whether declarations hide a whole element, in any spelling."""
    return bool(_HIDDEN.search(_plain(css)))


def may_be_hidden(css: str) -> bool:
    """Whether declarations may hide an element, or some of the text in it."""
    return bool(_PERHAPS_HIDDEN.search(_plain(css)))


def withdraws(css: str) -> bool:
    """Whether declarations strike or hide, or may."""
    return strikes(css) or hides(css) or may_be_hidden(css)


def withdrawn(sheet: str) -> tuple[Withdrawn, ...]:
    """What the rules of a style sheet strike out or hide, or may."""
    if not withdraws(sheet):
        return ()
    found: list[Withdrawn] = []
    for declaration, preludes in _withdrawing_blocks(sheet):
        # A later rule shows again what one rule hides.
        found += (rule if strikes(declaration) else replace(rule, is_certain=False) for rule in _of_rule(preludes))
        if len(found) > MOST_RULES:
            return (ANY,)
    return tuple(dict.fromkeys(found))


def _withdrawing_blocks(sheet: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each declaration that withdraws, with the words before the blocks around it; none where that cannot be told."""
    around: list[str] = []
    text: list[str] = []
    brackets = 0
    for piece in _pieces(sheet):
        if piece in ("(", "["):
            brackets += 1
        elif piece in (")", "]"):
            brackets = max(brackets - 1, 0)
        elif not brackets and piece in ("{", "}", ";"):
            words = "".join(text).strip()
            text.clear()
            if piece != "{" and withdraws(words):
                yield words, tuple(around)
            if piece == "{" and len(around) == _DEEPEST:
                yield _STROKE, ()
                return
            around = [*around, words] if piece == "{" else around[:-1] if piece == "}" else around
            continue
        text.append(piece)
    if withdraws(rest := "".join(text)):
        yield rest, ()


def _pieces(sheet: str) -> Iterator[str]:
    """The sheet in pieces, without comments."""
    return (" " if piece[0].startswith(_BLANK) else piece[0] for piece in _PIECE.finditer(sheet))


def _plain(css: str) -> str:
    """Declarations in lower case, without escapes and comments."""
    return _ESCAPE.sub(_unescaped, _COMMENT.sub(" ", css)).lower()


def _of_rule(preludes: tuple[str, ...]) -> list[Withdrawn]:
    """What a declaration withdraws, by the words before the blocks around it."""
    selectors = [prelude for prelude in preludes if not prelude.startswith("@")]
    if any(re.match(r"@(?:-\w+-)?keyframes\b", prelude, re.IGNORECASE) for prelude in preludes):
        # An animation withdraws nothing for good.
        return []
    if not selectors:
        return [ANY]
    bare = _without_conditions(selectors[-1])
    is_plain = len(preludes) == 1 and bare == selectors[-1]
    return [_of_selector(each, is_plain=is_plain) for each in bare.split(",", MOST_RULES + 1)]


def _of_selector(selector: str, *, is_plain: bool) -> Withdrawn:
    """The elements that a selector may mean: rather more of them than fewer."""
    words = _WORDS.split(_ESCAPE.sub(_unescaped, selector).strip().lower())
    *outer, shape = map(_shape, words[-_MOST_WORDS:])
    if shape is None:
        return ANY
    # Beside another element is not within it.
    within = () if re.search("[+~]", selector) else tuple(each for each in outer if each is not None)
    return Withdrawn(shape, within, is_certain=is_plain and not outer)


def _shape(word: str) -> Shape | None:
    """The elements that a word of a selector means; None if it cannot be understood."""
    match = _SIMPLE.fullmatch(word)
    if match is None or not word:
        return None
    more = re.findall(r"([.#])([\w-]+)", match["more"])
    classes, ids = (frozenset(name for sign, name in more if sign == which) for which in ".#")
    return Shape((match["name"] or "").removeprefix("*"), classes, ids)


def _without_conditions(selectors: str) -> str:
    """Selectors without attributes and pseudo-classes, which only make them mean fewer elements."""
    for _level in range(_DEEPEST):
        selectors = re.sub(r"\([^()]*\)|\[[^][]*\]", "", selectors)
    return re.sub(r"::?[\w-]+", "", selectors)


def _unescaped(found: re.Match[str]) -> str:
    """The character that an escape stands for."""
    if not found[1]:
        return found[2] or ""
    number = int(found[1], 16)
    return chr(number) if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF else "\ufffd"
