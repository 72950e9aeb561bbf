"""Words that people choose: names, titles of tables, words for the seed, texts to the organiser.

What comes out is fit to stand in a mail's header, in a page and in a sentence of a game: no control characters, nothing
that turns the direction of writing, no web address that would make our invitations somebody's advertisement. What is
too long is refused and never cut. Whether somebody may say a thing is not decided here.
"""

import re
import unicodedata
from typing import Final

from pbem.domain.errors import BadInput, quoted

LONGEST_NAME: Final = 40
LONGEST_TITLE: Final = 80
LONGEST_WORD: Final = 100
LONGEST_SAID: Final = 500
LONGEST_TEXT: Final = 4000
"""Two printed pages: more to the organiser is better said in an answer to the answer."""

# Categories of characters without a shape of their own: controls, formats (direction marks among them), surrogates,
# private use, unassigned, and separators of lines and paragraphs.
_SHAPELESS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Joiners make letters in several scripts and pictures of families: they are no trick.
_JOINERS: Final = frozenset("\u200c\u200d")
_WEB: Final = re.compile(r"://|\bwww\.", re.IGNORECASE)


def name_of(text: str) -> str:
    """What somebody wants to be called."""
    name = _line(text, "a name", LONGEST_NAME)
    if not name:
        raise BadInput(
            "A name is missing.", why="The others at the table have to call you something.", remedy="Please give one."
        )
    if name.casefold() == "you" or "@" in name:
        raise BadInput(
            f"{quoted(text)} cannot be a name here.",
            why="It would be read as something else in a mail, or tell everybody an address.",
            remedy="Please choose another.",
        )
    return name


def title_of(text: str) -> str:
    """What a table is to be called; empty where its host has no wish."""
    return _line(text, "a title", LONGEST_TITLE)


def word_of(text: str) -> str:
    """A player's word for the seed, which may be anything or nothing."""
    return _line(text, "a word for the seed", LONGEST_WORD)


def said_of(text: str) -> str:
    """One paragraph to everybody at a table."""
    said = " ".join(_shaped(unicodedata.normalize("NFC", text)).split())
    if not said:
        raise BadInput("There is nothing in that to be said.", remedy="Please write what the others should hear.")
    if len(said) > LONGEST_SAID:
        raise BadInput(
            f"What you want to say has {len(said)} characters.",
            why=f"{LONGEST_SAID} are the most, because it stands in everybody's mail.",
            remedy="Please say it shorter, or in two lines.",
        )
    return said


def text_of(text: str) -> str:
    """Several lines to a person."""
    lines = [_shaped(line).rstrip() for line in unicodedata.normalize("NFC", text).replace("\r\n", "\n").split("\n")]
    said = "\n".join(lines).strip()
    if not said:
        raise BadInput("There is no text in that.", remedy="Please write what it is about.")
    if len(said) > LONGEST_TEXT:
        raise BadInput(
            f"Your text has {len(said)} characters.",
            why=f"{LONGEST_TEXT} are the most.",
            remedy="Please say it shorter; you can add to it in a second message.",
        )
    return said


def _line(text: str, what: str, longest: int) -> str:
    line = " ".join(_shaped(unicodedata.normalize("NFC", text)).split())
    if len(line) > longest:
        raise BadInput(
            f"{quoted(line)} is too long for {what}.",
            why=f"It has {len(line)} characters, and {longest} are the most.",
            remedy="Please choose a shorter one.",
        )
    if _WEB.search(line) or "=?" in line:
        raise BadInput(
            f"{quoted(line)} cannot be {what}.",
            why="It stands in mails to others, where a web address or code has no place.",
            remedy="Please choose another.",
        )
    return line


def _shaped(text: str) -> str:
    return "".join(
        c if c in _JOINERS or unicodedata.category(c) not in _SHAPELESS else " " if c.isspace() else "" for c in text
    )
