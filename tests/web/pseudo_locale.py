"""A pseudo-locale that shows untranslated words: messages are in brackets, and words outside of them are bare.

with speaking(Pseudo()):
    bare(page.source, known)      the words of a page that are neither in brackets nor in `known`
"""

import re
from collections.abc import Collection, Iterable
from gettext import NullTranslations

from lxml import html

OPEN, CLOSE = "⟦", "⟧"

HEARD = ("aria-label", "alt", "title", "placeholder")
"""Attributes that people read or hear."""

_HEX = re.compile(r"\b[0-9a-f]{16,}\b|\b[0-9a-f]{4} [0-9a-f]{4}\b")
"""A fingerprint or a nonce, whole or as it begins."""

NO_WORDS = ("script", "style", "code", "pre", "bdi")
"""What is ours to show and not to say: commands, digests, and the names that people chose."""

_VALUE = re.compile(r"(%\(\w+\)s|\{\w+(?:'s)?(?::[^}]+)?\}|\{\})")
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’\-][^\W\d_]+)*")
_ZONE = re.compile(r"\b(?:UTC|[A-Z][a-z]+/[A-Z][a-z_]+)\b")


class Pseudo(NullTranslations):
    """Puts every message in brackets, but not its values, which have to be translated themselves or be names."""

    def gettext(self, message: str) -> str:
        """The message in brackets. Each form of a noun with two forms has its own."""
        if re.fullmatch(r"[\w ]+\|[\w ]+", message):
            return "|".join(f"{OPEN}{form}{CLOSE}" for form in message.split("|"))
        return "".join(
            part if place % 2 or not part else f"{OPEN}{part}{CLOSE}"
            for place, part in enumerate(_VALUE.split(message))
        )

    def ngettext(self, one: str, many: str, number: int) -> str:
        """The form for this number, in brackets."""
        return self.gettext(one if number == 1 else many)


def bare(source: str, known: Collection[str]) -> list[str]:
    """The words of a page outside of all brackets, without the known ones, which are names or typed by people."""
    tree = html.fromstring(source)
    text = "".join(_texts(tree))
    heard = (value for each in tree.iter() for name in HEARD if (value := each.get(name)) is not None)
    return [word for part in (text, *heard) for word in bare_words(part, known)]


def bare_words(text: str, known: Collection[str]) -> list[str]:
    """The words of a text outside of all brackets, without the known ones."""
    outside = _HEX.sub(" ", _ZONE.sub(" ", _outside(text)))
    for each in sorted(known, key=len, reverse=True):
        # A name of several words may be broken over lines.
        name = r"\s+".join(map(re.escape, each.split()))
        outside = re.sub(rf"(?<!\w){name}(?!\w)", " ", outside, flags=re.IGNORECASE)
    return _WORD.findall(outside)


def _outside(text: str) -> str:
    """The text outside of all brackets. They are nested where a value of a message is translated too."""
    # Only a text that is too long for its place is truncated.
    assert "…" in text or text.count(OPEN) == text.count(CLOSE), f"a message was cut in two: {text}"
    depth, characters = 0, []
    for letter in text:
        depth += (letter == OPEN) - (letter == CLOSE)
        characters.append(letter if depth == 0 and letter != CLOSE else " ")
    return "".join(characters)


def _texts(element: html.HtmlElement) -> Iterable[str]:
    if isinstance(element.tag, str) and element.tag not in NO_WORDS:
        yield element.text or ""
        for child in element:
            yield from _texts(child)
            yield child.tail or ""
    else:
        # Brackets are counted over the whole page, so whole pairs are left out.
        yield " "
