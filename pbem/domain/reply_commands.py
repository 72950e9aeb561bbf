"""The meaning of a line of a reply: a choice, a standing order, or one of the words that every table knows.

A line counts only as a whole. `bid 7` is a command, and so are `*Bid 7.*` and `- bid seven`; `I think I will bid 7
tomorrow` is not, and a question never is. So prose may stand beside commands and does no harm. A line that begins like
a command but isn't one is a slip, and its writer is told what is possible.

A message to the table is one line, so that no signature is ever told to the table. One of several lines ends with a line that
its writer adds, `end`, which no mail program writes. So does a note.

This module must never guess. It knows no game: it reads a line by the decision that the player was emailed about.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine import grammar, orders
from engine.decisions import Choice, Decision, Refused
from engine.orders import Order
from engine.tell import Text, say
from pbem.domain.topics import Topic
from pbem.domain.user_text import LONGEST_TALK


class Word(StrEnum):
    """A command that is the same at every table."""

    HELP = "help"
    BOARD = "board"
    RULES = "rules"
    RESEND = "resend"
    NEW_LINKS = "new links"
    NEW_SEAT_LINKS = "new links here"
    UNDO = "undo"
    GO_BACK = "go back"
    AGREE_BACK = "agree to go back"
    TALK = "talk"
    NOTE = "note"
    MORE_TIME = "more time"
    VACATION = "vacation"
    ORDER = "order"
    ADD_ORDER = "add order"
    DROP_ORDER = "drop order"
    STOP = "stop"
    START = "start"
    RESIGN = "resign"


USAGES: Final[Mapping[Word, str]] = {word: word.value for word in Word} | {
    Word.TALK: "talk <message>",
    Word.NOTE: "note: <text>",
    Word.MORE_TIME: "more time: <player>",
    Word.VACATION: "vacation <first day> to <last day>",
    Word.ORDER: "order <standing order>",
    Word.ADD_ORDER: "add order <standing order>",
    Word.START: "start <kind of email>",
}
"""How to write each word."""


@dataclass(frozen=True, slots=True)
class Move:
    """A choice in the game."""

    text: str
    choice: Choice


@dataclass(frozen=True, slots=True)
class StandingOrder:
    """A standing order. The text is parsed again where the order is placed, by the decision that is open then."""

    text: str
    order: Order


@dataclass(frozen=True, slots=True)
class WordCommand:
    """A word that every table knows, with the text after it."""

    text: str
    word: Word
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that begins like a command but isn't one, and why it isn't. A doubtful one counts only if there is no other command."""

    text: str
    why: Text
    doubtful: bool = False


Command = Move | StandingOrder | WordCommand | Slip

_LONGEST_SLIP: Final = 8
_LONGEST_SLIP_WITHOUT_NUMBERS: Final = 4
"""The most words of a line that is reported as a slip: a longer one that begins with a verb is a sentence."""

_LONGEST: Final = LONGEST_TALK + 20
"""The most characters of a line that may be a command: a talk message, and the word before it."""

_SHORTEST_TYPO: Final = 4
"""The fewest letters of a line of one word that is taken for a command with a typo: a shorter one may be a name."""

_END: Final = ["end"]
"""The words of the line that ends a message of several lines."""

_DROPPED: Final = frozenset({"drop order", "no order", "cancel order", "order none"})
_DROPPED_ONE: Final = re.compile(r"(?:drop|cancel) order (\d{1,2})")
_ORDERS: Final = re.compile(r"\W*(?:add )?order\b\W*(.*)", re.IGNORECASE | re.DOTALL)
_UNSUBSCRIBE: Final = frozenset({"unsubscribe", "unsubscribe me", "unsubscribe please"})

_BULLET: Final = re.compile(r"^(?:[-–—•·*+»›]|\d{1,2}[.)])\s+")
_QUOTES: Final = "\"'“”„‚‘’«»‹›`*_"
_AFTER_QUESTION: Final = f"{_QUOTES} .!,;:)–—-"
# Courtesy around a command changes nothing about it.
_PLEASE: Final = (
    r"please|pls|thanks|thank you|thx|cheers|bitte|danke|s['’]il (?:vous|te) pla[iî]t|svp|stp|merci|por favor|gracias"
    r"|obrigad[oa]|per favore|per piacere|grazie|alstublieft|alsjeblieft|bedankt|お願いします|ありがとう(?:ございます)?"
)
_OPENING: Final = re.compile(rf"(?:(?:{_PLEASE})[\s,:;.!]+)+", re.IGNORECASE)
_CLOSING: Final = re.compile(rf"(?<=[\s,;.!–—-])(?:{_PLEASE})$", re.IGNORECASE)
_LONGEST_COURTESY: Final = 20
_AROUND_COURTESY: Final = " ,;.!–—-"
_TALKS: Final = re.compile(r"\W*talk\b", re.IGNORECASE)
_NOTES: Final = re.compile(r"\W*note\W{0,2}:", re.IGNORECASE)
_NOTE: Final = re.compile(r"\W*note\W{0,2}:\s*(.+)", re.IGNORECASE | re.DOTALL)
_MORE_TIME: Final = re.compile(r"\W*more time\W{0,2}:\s*(.+)", re.IGNORECASE)
_TALK: Final = re.compile(r"\W*talk\W*?(?:[\s:,]+(.*))?", re.IGNORECASE | re.DOTALL)
# How people end a letter, which is not meant for the table.
_SEE_YOU: Final = re.compile(
    r"(?:to (?:you|y'all|u) )?(?:again )?(?:soon|later|tomorrow|then|next \w+)\b.*", re.IGNORECASE
)
_ALONE: Final = (Word.HELP, Word.BOARD, Word.RULES, Word.RESEND, Word.UNDO, Word.STOP, Word.RESIGN)
"""Words that are a command alone."""

_NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_ONCE: Final = re.compile(r"\bthis (?:time|turn|once|move)\b", re.IGNORECASE)
# With a question mark, these still mean the same.
_HARMLESS: Final = frozenset({Word.HELP, Word.BOARD, Word.RULES, Word.TALK, Word.NOTE})


def read(line: str, decision: Decision | None) -> Command | None:
    """The meaning of a line, given the open decision, if any. None if the line is prose."""
    return read_word(line) or read_in_game(line, decision)


def read_word(line: str) -> WordCommand | Slip | None:
    """The meaning of a line at every table, whatever is asked there. None if it has none."""
    if len(line) > _LONGEST and _TALKS.match(line):
        return Slip(line, say("A message can have up to {most} characters.", most=LONGEST_TALK))
    if len(line) > _LONGEST and _NOTES.match(line):
        # The text is private: a receipt quotes nothing of it.
        return Slip(Word.NOTE, say("A note by email can have up to {most} characters.", most=LONGEST_TALK))
    texts = readings(line)
    # A message to the table keeps its courtesy, so the whole line comes first.
    found = next((found for text in texts if (found := _word_command(text, grammar.words_of(text)))), None)
    return None if found is None or (_is_question(texts) and found.word not in _HARMLESS) else found


def read_in_game(line: str, decision: Decision | None) -> Command | None:
    """The meaning of a line that has none at every table. None if it is prose."""
    texts = readings(line)
    if not texts or _is_question(texts):
        return None
    line = texts[-1]
    words = grammar.words_of(line)
    found = None if decision is None else _of_game(line, words, decision)
    return found or _typo(line, words, decision)


def _is_question(texts: Sequence[str]) -> bool:
    """Whether a line ends with a question mark, whatever marks and courtesy come after it."""
    return any(text.rstrip(_AFTER_QUESTION).endswith("?") for text in texts)


def ends_message(line: str) -> bool:
    return grammar.words_of(bare(line)) == _END


def begins_note(line: str) -> bool:
    return _NOTES.match(line) is not None


def readings(line: str) -> tuple[str, ...]:
    """The texts that a line may be read as: the whole, and without courtesy; none if it is quoted or too long."""
    if len(line) > _LONGEST:
        return ()
    whole = bare(line)
    if whole.startswith(">"):
        return ()
    return tuple(dict.fromkeys((whole, without_courtesy(whole))))


def bare(line: str) -> str:
    """The line without invisible characters, the bullet of a list, and quotes around the whole."""
    # In ASCII no character is invisible, and none has another form.
    shown = line if line.isascii() else unicodedata.normalize("NFKC", "".join(filter(_is_visible, line)))
    text = _BULLET.sub("", " ".join(shown.split()))
    whole = text.rstrip(".!")
    inner = whole.strip(_QUOTES).strip()
    return inner if inner and whole[0] in _QUOTES and whole[-1] in _QUOTES else text


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) != "Cf"


def without_courtesy(text: str) -> str:
    """The line without courtesy at its beginning and end."""
    opening = _OPENING.match(text)
    begin, end = (opening.end() if opening else 0), len(text)
    # From the end word by word, because one pattern for all of it would try each blank as the first one before it.
    bare = _end_without(" .!", text, begin, end)
    while closing := _CLOSING.search(text, max(begin, bare - _LONGEST_COURTESY), bare):
        end = bare = _end_without(_AROUND_COURTESY, text, begin, closing.start())
    return text[begin:end]


def _end_without(around: str, text: str, begin: int, end: int) -> int:
    """Where a piece of a text ends without some characters after it."""
    while end > begin and text[end - 1] in around:
        end -= 1
    return end


def _word_command(text: str, words: list[str]) -> WordCommand | None:
    written = " ".join(words)
    if written in _DROPPED:
        return WordCommand(text, Word.DROP_ORDER)
    if (match := _DROPPED_ONE.fullmatch(written)) is not None:
        return WordCommand(text, Word.DROP_ORDER, match[1])
    if (order := _order_in(text, words)) is not None:
        word = Word.ORDER if words[0] == Word.ORDER else Word.ADD_ORDER
        return WordCommand(text, word, order) if _why_no_order(order) is None else None
    if words[:2] == Word.NEW_LINKS.split():
        return WordCommand(text, Word(written)) if written in tuple(Word) else None
    if written in (Word.GO_BACK, Word.AGREE_BACK):
        return WordCommand(text, Word(written))
    if words[:2] == Word.MORE_TIME.split():
        match = _MORE_TIME.fullmatch(text)
        return None if match is None else WordCommand(text, Word.MORE_TIME, without_courtesy(match[1]))
    if not words or words[0] not in tuple(Word):
        return None
    word = Word(words[0])
    if word is Word.TALK:
        match = _TALK.fullmatch(text)
        message = "" if match is None else (match[1] or "").strip()
        return None if _SEE_YOU.fullmatch(message) else WordCommand(text, word, message)
    if word is Word.NOTE:
        # The text is private: no email has it, so a receipt quotes nothing of it.
        match = _NOTE.fullmatch(text)
        return None if match is None else WordCommand(word, word, match[1])
    rest = " ".join(words[1:])
    if word is Word.VACATION:
        # Days have digits. Without any, the line is about a vacation and does not book one.
        return WordCommand(text, word, rest) if not rest or any(c.isdigit() for c in rest) else None
    if word in (Word.STOP, Word.START) and (rest or word is Word.START):
        return WordCommand(text, word, rest) if rest in tuple(Topic) else None
    return None if rest else WordCommand(text, word)


def _order_in(text: str, words: list[str]) -> str | None:
    """What follows `order` or `add order` at the beginning of a line; None if neither is there."""
    if words[:1] != [Word.ORDER] and words[:2] != Word.ADD_ORDER.split():
        return None
    match = _ORDERS.fullmatch(text)
    return None if match is None else match[1]


def _why_no_order(text: str) -> Text | None:
    """Why this text is no standing order; None if it is one."""
    try:
        orders.read_order(text)
    except Refused as refused:
        return refused.text
    return None


def _typo(line: str, words: list[str], decision: Decision | None) -> Slip | None:
    """The slip of a line that would be a command if its first word were spelt right, or that asks for what is done elsewhere."""
    if " ".join(words) in _UNSUBSCRIBE:
        return Slip(
            line, say("To stop emails about this table, reply “stop”. For all emails, use the link at the end of each.")
        )
    if words[:2] == Word.MORE_TIME.split() and len(words) <= _LONGEST_SLIP_WITHOUT_NUMBERS:
        return Slip(line, say("To give someone a day, write “{usage}”.", usage=USAGES[Word.MORE_TIME]), doubtful=True)
    order = _order_in(line, words)
    if order is not None and _like_an_order(grammar.words_of(order) or [""]) and (why := _why_no_order(order)):
        return Slip(line, why)
    if not words or (len(words) == 1 and len(words[0]) < _SHORTEST_TYPO):
        return None
    near = _corrected(words, decision)
    if not near:
        return None
    return Slip(
        line, say("“{word}” isn't a command. Did you mean “{near}”?", word=words[0], near=near), len(words) == 1
    )


def _corrected(words: list[str], decision: Decision | None) -> str:
    """The command that these words are once the first is spelt right; empty if they are none."""
    acts = [] if decision is None else [act.verb for act in decision.acts]
    verb = grammar.nearest(words[0], [name for name in (*acts, *_ALONE) if name[0] == words[0][0]])
    line = " ".join([verb, *words[1:]])
    if verb in _ALONE:
        return verb if len(words) == 1 else ""
    if not verb or decision is None:
        return ""
    try:
        grammar.read(decision, line)
    except Refused:
        return ""
    return line


def _of_game(line: str, words: list[str], decision: Decision) -> Command | None:
    if not words or (len(words) == 1 and all(act.verb != words[0] for act in decision.acts)):
        # A single word that a verb begins with may be the writer's initial.
        return None
    complaint: Refused | None = None
    for text in dict.fromkeys((line, _in_digits(words))):
        try:
            return Move(line, grammar.read(decision, text))
        except Refused as refused:
            complaint = complaint or refused
    try:
        return StandingOrder(line, _order(line, decision))
    except Refused as refused:
        why = refused if _like_an_order(words) or complaint is None else complaint
    return Slip(line, why.text) if _is_slip(words, decision) else None


def _is_slip(words: list[str], decision: Decision) -> bool:
    """Whether a line that is not a command was meant as one, and is not a sentence that happens to begin like one."""
    numbers = any(word.isdigit() or word in _NUMBERS for word in words)
    if len(words) > (_LONGEST_SLIP if numbers else _LONGEST_SLIP_WITHOUT_NUMBERS):
        return False
    if words[:2] == ["up", "to"] or words[0] == "always":
        return True
    acts = [act for act in decision.acts if act.verb == words[0]]
    # `hold on` is not a slip where `hold` is a whole command.
    return bool(acts) and (numbers or _like_an_order(words) or any(act.blanks for act in acts))


def _like_an_order(words: list[str]) -> bool:
    return words[0] in ("up", "always") or bool({"then", "this", "unless"} & set(words[1:]))


def _in_digits(words: list[str]) -> str:
    return " ".join([*words[:1], *(_NUMBERS.get(word, word) for word in words[1:])])


def _order(line: str, decision: Decision) -> Order:
    order = orders.read_order(line, decision)
    for one in orders.as_list(order):
        if isinstance(one.order, orders.Again) and (match := _ONCE.search(line)) is not None:
            # Taken as an order it would answer until the auction is over.
            raise Refused(say("“{words}” could mean just once or every time.", words=match[0]))
        if isinstance(one.order, orders.Then):
            # A step that is not a command for this decision may be half a sentence: `pass then we shall see`.
            for step in one.order.texts[1:]:
                _must_read(step, one.order.verb, decision)
    return order


def _must_read(step: str, verb: str, decision: Decision) -> None:
    try:
        grammar.read(decision, step)
    except Refused:
        grammar.read(decision, f"{verb} {step}")
