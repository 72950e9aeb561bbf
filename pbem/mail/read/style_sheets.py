"""Style sheets of replies, as far as they strike text out.

A writer who strikes a command out has withdrawn it, so everything that may strike has to be found: in any spelling, in rules
within rules, and in selectors that this module does not understand. It reads each sheet once, from its beginning to its end.
What a rule means for certain is kept apart from what it may mean, so that a reply which depends on the difference can be asked
about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

MOST_RULES: Final = 50
"""Selectors of one reply that strike text out; programs write one or two."""

_DEEPEST: Final = 10
"""Blocks within blocks; programs write two."""

_MOST_WORDS: Final = 10
"""Words of a selector; those before them would only make it mean fewer elements."""

_STROKE: Final = "line-through"
_ELEMENT: Final = re.compile(r"<(?:s|strike|del)\b", re.IGNORECASE)
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
class Struck:
    """Elements that a rule strikes out: those of a shape, each within one of every other shape.

    They are struck for certain, or the rule may mean fewer of them.
    """

    shape: Shape = Shape()
    within: tuple[Shape, ...] = ()
    is_certain: bool = False


ANY: Final = Struck()
"""Any element may be struck."""


def may_strike(html: str) -> bool:
    """Whether a text in HTML may have something that is struck through."""
    try:
        return bool(_ELEMENT.search(html)) or strikes(unescape(html))
    except ValueError:
        # A reference to a character has more digits than Python reads: the guarded reader may judge.
        return True


def strikes(css: str) -> bool:
    """Whether declarations have the word for a stroke, in any spelling."""
    return _STROKE in _ESCAPE.sub(_unescaped, css).lower()


def struck(sheet: str) -> tuple[Struck, ...]:
    """What the rules of a style sheet strike out, or may."""
    if not strikes(sheet):
        return ()
    found: list[Struck] = []
    for preludes in _striking_blocks(sheet):
        found += _of_rule(preludes)
        if len(found) > MOST_RULES:
            return (ANY,)
    return tuple(dict.fromkeys(found))


def _striking_blocks(sheet: str) -> Iterator[tuple[str, ...]]:
    """For each declaration that strikes, the words before the blocks around it; none where that cannot be told."""
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
            if piece != "{" and strikes(words):
                yield tuple(around)
            if piece == "{" and len(around) == _DEEPEST:
                yield ()
                return
            around = [*around, words] if piece == "{" else around[:-1] if piece == "}" else around
            continue
        text.append(piece)
    if strikes("".join(text)):
        yield ()


def _pieces(sheet: str) -> Iterator[str]:
    """The sheet in pieces, without comments."""
    return (" " if piece[0].startswith(_BLANK) else piece[0] for piece in _PIECE.finditer(sheet))


def _of_rule(preludes: tuple[str, ...]) -> list[Struck]:
    """What a declaration strikes out, by the words before the blocks around it."""
    selectors = [prelude for prelude in preludes if not prelude.startswith("@")]
    if any(re.match(r"@(?:-\w+-)?keyframes\b", prelude, re.IGNORECASE) for prelude in preludes):
        # An animation strikes nothing out for good.
        return []
    if not selectors:
        return [ANY]
    bare = _without_conditions(selectors[-1])
    is_plain = len(preludes) == 1 and bare == selectors[-1]
    return [_of_selector(each, is_plain=is_plain) for each in bare.split(",", MOST_RULES + 1)]


def _of_selector(selector: str, *, is_plain: bool) -> Struck:
    """The elements that a selector may mean: rather more of them than fewer."""
    words = _WORDS.split(_ESCAPE.sub(_unescaped, selector).strip().lower())
    *outer, shape = map(_shape, words[-_MOST_WORDS:])
    if shape is None:
        return ANY
    # Beside another element is not within it.
    within = () if re.search("[+~]", selector) else tuple(each for each in outer if each is not None)
    return Struck(shape, within, is_certain=is_plain and not outer)


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
