"""What a line of an answer means: a choice, a standing order, or one of the few words that every table knows.

A line counts only as a whole. `bid 7` is a command, and so are `*Bid 7.*` and `- bid seven`; in `I think I will bid 7
tomorrow` nothing is, and a question is never one. So prose may stand beside commands and does no harm. A line that
begins like a command and is none is a slip, which its writer should hear of, with what is possible.

This module must never guess, and it knows no game: it reads by the decision that the writer's mail was about.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine import grammar, orders
from engine.decisions import Choice, Decision, Refused
from engine.orders import Order
from engine.tell import Text, say
from pbem.domain.user_text import LONGEST_SAID


class Word(StrEnum):
    """A command that is the same at every table."""

    HELP = "help"
    BOARD = "board"
    RULES = "rules"
    RESEND = "resend"
    UNDO = "undo"
    TALK = "talk"
    VACATION = "vacation"
    STOP = "stop"
    RESIGN = "resign"


USAGES: Final[Mapping[Word, str]] = {word: word.value for word in Word} | {
    Word.TALK: "talk <what you want to say>",
    Word.VACATION: "vacation <first day> to <last day>",
}
"""How each is written."""


@dataclass(frozen=True, slots=True)
class Move:
    """A choice in the game."""

    said: str
    choice: Choice


@dataclass(frozen=True, slots=True)
class Standing:
    """An order to be left: its text is read again where it is left, by what is asked then."""

    said: str
    order: Order


@dataclass(frozen=True, slots=True)
class Plain:
    """A word that every table knows, and what follows it."""

    said: str
    word: Word
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that begins like a command and is none, and why it is not."""

    said: str
    why: Text


Command = Move | Standing | Plain | Slip

_LONGEST_SLIP: Final = 8
_LONGEST_SLIP_WITHOUT_NUMBERS: Final = 4
"""Words of a line that is still told as a slip: what is longer and begins with a verb is a sentence."""

_LONGEST: Final = LONGEST_SAID + 20
"""Characters of a line that may be a command: what can be said to a table, and the word before it."""

_BULLET: Final = re.compile(r"^(?:[-–—•·*+»›]|\d{1,2}[.)])\s+")
_QUOTES: Final = "\"'“”„‚‘’«»‹›`*_"
# Courtesy around a command changes nothing about it.
_PLEASE: Final = (
    r"please|pls|thanks|thank you|thx|cheers|bitte|danke|s['’]il (?:vous|te) pla[iî]t|svp|stp|merci|por favor|gracias"
    r"|obrigad[oa]|per favore|per piacere|grazie|alstublieft|alsjeblieft|bedankt|お願いします|ありがとう(?:ございます)?"
)
_COURTESY: Final = re.compile(rf"^(?:(?:{_PLEASE})[\s,:;.!]+)+|(?:[\s,;.!–—-]+(?:{_PLEASE}))+[\s.!]*$", re.IGNORECASE)
_TALK: Final = re.compile(r"\W*talk\W*?(?:[\s:,]+(.*))?", re.IGNORECASE | re.DOTALL)
# How people end a letter; said to a whole table it would be odd.
_SEE_YOU: Final = re.compile(
    r"(?:to (?:you|y'all|u) )?(?:again )?(?:soon|later|tomorrow|then|next \w+)\b.*", re.IGNORECASE
)
_NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_ONCE: Final = re.compile(r"\bthis (?:time|turn|once|move)\b", re.IGNORECASE)
# Asking for these with a question mark asks for nothing else.
_HARMLESS: Final = frozenset({Word.HELP, Word.BOARD, Word.RULES, Word.TALK})


def read(line: str, decision: Decision | None) -> Command | None:
    """What a line means beside a decision, or where nothing is asked; None if it is prose."""
    if len(line) > _LONGEST:
        return None
    said = _bare(line)
    if said.startswith(">"):
        return None
    # No command of a game is longer, and looking for courtesy takes time.
    wanted = _COURTESY.sub("", said) if len(said) <= grammar.LONGEST_LINE else said
    # What is said to the table keeps its courtesy.
    for text in (said, wanted):
        if (plain := _plain(text, grammar.words_of(text))) is not None:
            return plain
    if decision is None or said.endswith("?"):
        return None
    return _of_game(wanted, grammar.words_of(wanted), decision)


def _bare(line: str) -> str:
    """The line without what has no shape, without the mark of a list, and without quotes around the whole."""
    shaped = "".join(c for c in line if unicodedata.category(c) != "Cf")
    text = _BULLET.sub("", " ".join(unicodedata.normalize("NFKC", shaped).split()))
    whole = text.rstrip(".!")
    inner = whole.strip(_QUOTES).strip()
    return inner if inner and whole[0] in _QUOTES and whole[-1] in _QUOTES else text


def _plain(said: str, words: list[str]) -> Plain | None:
    if not words or words[0] not in tuple(Word):
        return None
    word = Word(words[0])
    if said.endswith("?") and word not in _HARMLESS:
        return None
    if word is Word.TALK:
        match = _TALK.fullmatch(said)
        text = "" if match is None else (match[1] or "").strip()
        return None if _SEE_YOU.fullmatch(text) else Plain(said, word, text)
    rest = " ".join(words[1:])
    if word is Word.VACATION:
        # Days have digits. Without any the line is about a vacation, and asks for none.
        return Plain(said, word, rest) if not rest or any(c.isdigit() for c in rest) else None
    return None if rest else Plain(said, word)


def _of_game(said: str, words: list[str], decision: Decision) -> Command | None:
    if not words or (len(words) == 1 and all(act.verb != words[0] for act in decision.acts)):
        # A single word that a verb begins with may be somebody's initial.
        return None
    complaint: Refused | None = None
    for text in dict.fromkeys((said, _in_digits(words))):
        try:
            return Move(said, grammar.read(decision, text))
        except Refused as refused:
            complaint = complaint or refused
    try:
        return Standing(said, _order(said, decision))
    except Refused as refused:
        why = refused if _like_an_order(words) or complaint is None else complaint
    return Slip(said, why.text) if _is_slip(words, decision) else None


def _is_slip(words: list[str], decision: Decision) -> bool:
    """Whether a line that is no command was meant as one, and is no sentence that happens to begin like one."""
    numbers = any(word.isdigit() or word in _NUMBERS for word in words)
    if len(words) > (_LONGEST_SLIP if numbers else _LONGEST_SLIP_WITHOUT_NUMBERS):
        return False
    if words[:2] == ["up", "to"] or words[0] == "always":
        return True
    acts = [act for act in decision.acts if act.verb == words[0]]
    # `hold on` is no slip where `hold` is the whole of a command.
    return bool(acts) and (numbers or _like_an_order(words) or any(act.blanks for act in acts))


def _like_an_order(words: list[str]) -> bool:
    return words[0] in ("up", "always") or bool({"then", "this", "unless"} & set(words[1:]))


def _in_digits(words: list[str]) -> str:
    return " ".join([*words[:1], *(_NUMBERS.get(word, word) for word in words[1:])])


def _order(said: str, decision: Decision) -> Order:
    order = orders.read_order(said, decision)
    if isinstance(order, orders.Again) and (match := _ONCE.search(said)) is not None:
        # Taken as an order it would answer until the auction is over.
        raise Refused(say("“{words}” could mean once, or again and again.", words=match[0]))
    if isinstance(order, orders.Then):
        # A step that is no command beside this decision may be half a sentence: `pass then we shall see`.
        for step in order.texts[1:]:
            _must_read(step, order.verb, decision)
    return order


def _must_read(step: str, verb: str, decision: Decision) -> None:
    try:
        grammar.read(decision, step)
    except Refused:
        grammar.read(decision, f"{verb} {step}")
