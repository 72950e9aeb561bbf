"""Conditions of standing orders: what their owner sees on the board, in terms that every game has.

    high bid at most 7            the highest bid; 0 before the first
    points over 10                a number on the table, or one of the owner's own
    seat 2's coins under 3        a number of another player
    seat 2 is out                 takes no more part in this auction or round, for instance after a pass
    seat 2 is in                  still takes part
    seat 2 leads                  has the high bid
    lot has Blue 7                is among what everyone plays for now; "Blue" is any card with that word

A player may be called by name instead of by seat. A condition that the board says nothing about does not hold, so a slip
never makes a move. This module must never see more than one seat's board.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from engine.board import Amounts, Board, Row
from engine.decisions import Refused
from engine.facts import fact
from engine.game import Game
from engine.readings import words_of
from engine.tell import Text, say

MOST_CONDITIONS: Final = 3
"""The most conditions of one order."""

_MOST_PIECES: Final = 12
"""The most pieces between the "and" of one order: some for its conditions, and some for the names in them."""

HIGH_BID: Final = "high bid"

ANY_SEAT: Final = -1
"""The seat in a condition about a player whose name could not be looked up."""


@fact
class Condition:
    """What must hold: `about` is "number", "out", "in", "leads" or "lot".

    `label` names a number, or words of something in the lot; `low` and `high` are the range of the number.
    """

    about: str
    seat: int | None = None
    label: str = ""
    low: int | None = None
    high: int | None = None


@fact
class Sight:
    """What conditions can be about, from one seat's board. `lot` has the words of each thing in it, with its name."""

    numbers: Mapping[tuple[int | None, str], int]
    out: frozenset[int]
    seats: frozenset[int]
    leader: int | None
    lot: Mapping[str, str]


@fact
class Subjects:
    """What conditions of a seat can be about on its board. It stays the same while nothing but numbers changes.

    `lot` has the words of each thing in it, with its name; `numbers` are those of another player, or of nobody, by label.
    """

    others: tuple[int, ...]
    high_bid: bool
    lot: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[int | None, str], ...]


@fact
class Offer:
    """A condition to choose, as it is written and in words; or a `number`, to be followed by `at most 7` or the like."""

    text: str
    says: Text
    number: bool = False


def sight(board: Board, seat: int, game: Game[Any], *, bidding: bool) -> Sight:
    """Return what a seat's board shows. While there is `bidding`, no bid counts as a high bid of 0."""
    teller = game.teller()
    numbers = dict[tuple[int | None, str], int]()
    for panel in board.players:
        whose = None if panel.seat == seat else panel.seat
        numbers |= {(whose, _norm(teller(label))): number for label, number in panel.numbers if number is not None}
    for part in (*board.mine, *board.centre):
        if isinstance(part, Amounts):
            numbers |= {(None, _norm(teller(label))): number for label, number in part.pairs}
    chips = [(panel.seat, panel.chip) for panel in board.players if panel.chip is not None]
    high = chips[0][1] if chips else 0
    if isinstance(high, int) and (chips or bidding):
        numbers.setdefault((None, HIGH_BID), high)
    rows = (part for part in board.centre if isinstance(part, Row) and part.laid == "lot")
    return Sight(
        numbers,
        frozenset(panel.seat for panel in board.players if panel.out),
        frozenset(panel.seat for panel in board.players),
        chips[0][0] if chips else None,
        {_norm(teller(face.word)): teller(face.word) for row in rows for face in row.faces},
    )


def subjects(board: Board, seat: int, game: Game[Any], *, bidding: bool) -> Subjects:
    """Return what conditions can be about on this board."""
    seen = sight(board, seat, game, bidding=bidding)
    numbers = sorted(seen.numbers, key=lambda each: (each[0] is not None, each[1] != HIGH_BID, each[0] or 0))
    high_bid = (None, HIGH_BID) in seen.numbers or seen.leader is not None
    return Subjects(tuple(sorted(seen.seats - {seat})), high_bid, tuple(seen.lot.items()), tuple(numbers))


def offered(about: Subjects) -> Iterator[Offer]:
    """Return the conditions that can be chosen, those about other players first."""
    for other in about.others:
        yield from (_plain(Condition(each, other)) for each in ("out", "in"))
    if about.high_bid:
        yield from (_plain(Condition("leads", other)) for other in about.others)
    for word, name in about.lot:
        yield Offer(write_condition(Condition("lot", label=word)), say("the lot has {thing}", thing=name))
    for whose, label in about.numbers:
        text = label if whose is None else f"seat {whose + 1}'s {label}"
        yield Offer(text, _number_text(Condition("number", whose, label)), number=True)


def unmet(condition: Condition, seen: Sight) -> Text | None:
    """Return why a condition does not hold, or None if it does."""
    seat, label = condition.seat, condition.label
    if condition.about == "lot":
        found = any(f" {label} " in f" {word} " for word in seen.lot)
        return None if found else say("The lot has no “{thing}”.", thing=label)
    if seat is not None and seat not in seen.seats:
        return say("There is no such player.")
    if condition.about == "number":
        number = seen.numbers.get((seat, label))
        if number is None:
            return say("You don't see that number now: {what}.", what=_number_text(condition))
        holds = (condition.low is None or number >= condition.low) and (
            condition.high is None or number <= condition.high
        )
        return None if holds else say("Now it's {number}: {what}.", what=_number_text(condition), number=number)
    if condition.about == "out":
        return None if seat in seen.out else say("{rival:seat} [is|are] still in.", rival=seat)
    if condition.about == "in":
        return say("{rival:seat} [is|are] out.", rival=seat) if seat in seen.out else None
    return None if seat == seen.leader else say("{rival:seat} [doesn't|don't] lead.", rival=seat)


def read_conditions(words: str, names: Sequence[str] | None = None) -> tuple[Condition, ...]:
    """Return the conditions that these words mean, joined by "and". Raises Refused if they mean none.

    `names` are those of the players, by seat. Where they aren't known yet, any name will do, and the seat is ANY_SEAT.

    >>> read_conditions("ben is out and high bid at most 7", ["Ann", "Ben"])[0]
    Condition(about='out', seat=1, label='', low=None, high=None)
    """
    pieces, found = re.split(r"\band\b", words), list[Condition]()
    while pieces:
        # Each "and" may join conditions or be part of a name, so a few more would take long to try.
        if len(pieces) > _MOST_PIECES or len(found) == MOST_CONDITIONS:
            raise Refused(say("An order can have up to {most} conditions.", most=MOST_CONDITIONS))
        # A name may have an "and" in it.
        for end in range(1, len(pieces) + 1):
            condition = _read("and".join(pieces[:end]).strip(), names)
            if condition is not None:
                break
        else:
            raise Refused(
                say(
                    "“{words}” isn't a condition. For example, write: if high bid at most 7, if seat 2 is out, if lot has <card>.",
                    words="and".join(pieces).strip(),
                )
            )
        found.append(condition)
        pieces = pieces[end:]
    return tuple(found)


def write_condition(condition: Condition) -> str:
    """Return the condition as text that reads back as the same, whatever the players are called."""
    who = "" if condition.seat is None else f"seat {condition.seat + 1}"
    match condition.about:
        case "number":
            return f"{who}'s {_range(condition)}" if who else _range(condition)
        case "lot":
            return f"lot has {condition.label}"
        case "leads":
            return f"{who} leads"
    return f"{who} is {condition.about}"


def tell_condition(condition: Condition) -> Text:
    """Return the condition for its owner, with the players' names."""
    match condition.about:
        case "number" if condition.seat is None:
            return say("{what}", what=_range(condition))
        case "number":
            return say("{rival's} {what}", rival=condition.seat, what=_range(condition))
        case "lot":
            return say("the lot has “{thing}”", thing=condition.label)
        case "leads":
            return say("{rival:seat} [leads|lead]", rival=condition.seat)
        case "out":
            return say("{rival:seat} [is|are] out", rival=condition.seat)
    return say("{rival:seat} [is|are] still in", rival=condition.seat)


_RANGE: Final = re.compile(
    r"(.+?) (?:is |are )?(over|more than|under|less than|at least|at most|is|are|exactly) (\d{1,9})"
)


def read_range(words: str) -> tuple[str, int | None, int | None] | None:
    """Return a label with the least and the greatest number that these words allow, or None."""
    match = _RANGE.fullmatch(words)
    if match is None:
        return None
    label, how, number = match[1], match[2], int(match[3])
    match how:
        case "over" | "more than":
            return label, number + 1, None
        case "at least":
            return label, number, None
        case "under" | "less than":
            return label, None, number - 1
        case "at most":
            return label, None, number
    return label, number, number


def write_range(label: str, low: int | None, high: int | None) -> str:
    """Return a label and a range as text that reads back as the same."""
    if low == high:
        return f"{label} exactly {low}"
    if high is None:
        return f"{label} at least {low}"
    return f"{label} at most {high}"


_LOT: Final = re.compile(r"(?:the )?lot (?:has|is|includes) (?:the )?(.+)")
_OUT: Final = re.compile(r"(.+?) (?:is out|has passed|passed|has folded|folded)")
_IN: Final = re.compile(r"(.+?) (?:is (?:still )?in|is not out|has not passed)")
_LEADS: Final = re.compile(r"(.+?) (?:leads|is leading|has the high bid)")
_WHOSE: Final = re.compile(r"(.+?)'s (.+)")
_SEAT: Final = re.compile(r"(?:seat|player) (\d{1,2})")


def _read(words: str, names: Sequence[str] | None) -> Condition | None:
    for pattern, about in ((_OUT, "out"), (_IN, "in"), (_LEADS, "leads")):
        if (match := pattern.fullmatch(words)) and (seat := _seat_of(match[1], names)) is not None:
            return Condition(about, seat)
    if match := _LOT.fullmatch(words):
        return Condition("lot", label=match[1])
    found = read_range(words)
    if found is None:
        return None
    label, low, high = found
    if (match := _WHOSE.fullmatch(label)) and (seat := _seat_of(match[1], names)) is not None:
        return Condition("number", seat, match[2].removeprefix("the "), low, high)
    return Condition("number", None, label.removeprefix("the "), low, high)


def _seat_of(who: str, names: Sequence[str] | None) -> int | None:
    if match := _SEAT.fullmatch(who):
        return int(match[1]) - 1
    if names is None:
        return ANY_SEAT
    called = [seat for seat, name in enumerate(names) if _norm(name) == who]
    return called[0] if len(called) == 1 else None


def _plain(condition: Condition) -> Offer:
    return Offer(write_condition(condition), tell_condition(condition))


def _range(condition: Condition) -> str:
    return write_range(condition.label, condition.low, condition.high)


def _number_text(condition: Condition) -> Text:
    if condition.seat is None:
        return say("{label}", label=condition.label)
    return say("{rival's} {label}", rival=condition.seat, label=condition.label)


@lru_cache(maxsize=1000)
def _norm(text: str) -> str:
    return " ".join(words_of(text))
