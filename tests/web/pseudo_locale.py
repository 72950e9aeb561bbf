"""A language that shows what was not translated: the words of a message stand in brackets, and what stands outside is bare.

with speaking(Pseudo()):
    bare(page.source, known)      the words of a page that are neither in brackets nor known to be no words of ours
"""

import re
from collections.abc import Collection, Iterable
from gettext import NullTranslations

from lxml import html

OPEN, CLOSE = "⟦", "⟧"

HEARD = ("aria-label", "alt", "title", "placeholder")
"""Attributes that people read or hear."""

NO_WORDS = ("script", "style", "code", "pre", "bdi")
"""What is ours to show and not to say: commands, digests, and the names that people chose."""

_VALUE = re.compile(r"(%\(\w+\)s|\{\w+(?:'s)?(?::[^}]+)?\}|\{\})")
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’\-][^\W\d_]+)*")
_ZONE = re.compile(r"\b(?:UTC|[A-Z][a-z]+/[A-Z][a-z_]+)\b")


class Pseudo(NullTranslations):
    """Everything in brackets but the values of a sentence, so that those have to be translated, or to be nobody's words."""

    def gettext(self, message: str) -> str:
        """The message with its words in brackets. Of a noun in two forms each gets its own."""
        if re.fullmatch(r"[\w ]+\|[\w ]+", message):
            return "|".join(f"{OPEN}{form}{CLOSE}" for form in message.split("|"))
        return "".join(
            part if place % 2 or not part else f"{OPEN}{part}{CLOSE}"
            for place, part in enumerate(_VALUE.split(message))
        )

    def ngettext(self, one: str, many: str, number: int) -> str:
        """The form for a number, the same way."""
        return self.gettext(one if number == 1 else many)


def bare(source: str, known: Collection[str]) -> list[str]:
    """The words of a page outside of all brackets that are nobody's name and nothing that is typed."""
    tree = html.fromstring(source)
    text = "".join(_texts(tree))
    heard = (value for each in tree.iter() for name in HEARD if (value := each.get(name)) is not None)
    return [word for part in (text, *heard) for word in bare_words(part, known)]


def bare_words(text: str, known: Collection[str]) -> list[str]:
    """The same of a text."""
    outside = _ZONE.sub(" ", _outside(text))
    for each in sorted(known, key=len, reverse=True):
        outside = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", " ", outside, flags=re.IGNORECASE)
    return _WORD.findall(outside)


def _outside(text: str) -> str:
    """What stands in no bracket; brackets stand in each other where a value of a sentence is translated too."""
    # Only what is too long for its place is cut.
    assert "…" in text or text.count(OPEN) == text.count(CLOSE), f"a message was cut in two: {text}"
    depth, kept = 0, []
    for letter in text:
        depth += (letter == OPEN) - (letter == CLOSE)
        kept.append(letter if depth == 0 and letter != CLOSE else " ")
    return "".join(kept)


def _texts(element: html.HtmlElement) -> Iterable[str]:
    if isinstance(element.tag, str) and element.tag not in NO_WORDS:
        yield element.text or ""
        for child in element:
            yield from _texts(child)
            yield child.tail or ""
    else:
        # Brackets are counted over the whole page, so what is left out must not break them.
        yield " "
