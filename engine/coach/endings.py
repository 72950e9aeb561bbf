"""How imagined games end, what counts on the way there, and what is clearly different between two choices.

A difference is only found where chance alone would hardly ever make one so large: many are looked at, and any of them could be
chance.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, Final, NamedTuple

from engine.auctions import amount_of, step_of
from engine.board import faces_of
from engine.coach.review import Change, Outcome
from engine.facts import Fact, Step, seen
from engine.game import Game
from engine.tell import Text, common, say, sentence

WHOLE: Final = 2520
"""A whole win, so that any number of players up to ten can share it."""
SURE: Final = 1.96
"""Standard errors within which the true value lies 95 times in 100."""
CLEAR: Final = 3
"""Standard errors that a difference has to have to be told as a reason."""
WATCHED: Final = 40
"""Turns in which the auction at hand must end, and in which something must happen, to be counted."""
_LEAST: Final = 150
"""Thousandths of all games in which an outcome must differ."""
_LONG: Final = 70
"""Letters beyond which a sentence is too long to be part of another one."""
_LEAST_POINTS: Final = 0.6
_FEWEST_PRICES: Final = 20
_FEWEST_TRIED: Final = 8

Key = tuple[str, int | None, str]
"""What makes two facts the same outcome: their kind, the player it happens to, and their sentence without its values."""


class Sentences(NamedTuple):
    """An outcome in the words of its fact, and in plain ones for an auction that someone won."""

    says: Text
    plain: Text | None
    seat: int | None


class Ended(NamedTuple):
    """How an imagined game ended: each seat's part of the win and score, and what was seen soon after the choice."""

    shares: tuple[int, ...]
    scores: tuple[int, ...]
    seen: Watch


Pairs = Sequence[tuple[Ended, Ended]]
"""Games after one choice and after another, in the same worlds and with the same luck."""


class Watch:
    """What counts in the turns after a choice: an auction that ends, and facts that change the scores.

    `bought` is whether the player won that auction, None if none ended yet, and `paid` their highest bid if they did.
    `moves` are outcomes that say no more than what the player chose. Without a state to begin with, only bids are watched.
    `counted` are the words by which the page numbers what is going on, such as `lot`: no other number means anything to a reader.
    """

    __slots__ = (
        "_bid",
        "_counted",
        "_game",
        "_scores",
        "_seat",
        "_topic",
        "_turn",
        "bought",
        "moves",
        "outcomes",
        "paid",
    )

    def __init__(
        self, game: Game[Any], seat: int, state: Any = None, topic: str = "", counted: Collection[str] = ()
    ) -> None:
        self.outcomes: dict[Key, Sentences] = {}
        self.moves: set[Key] = set()
        self.bought: bool | None = None
        self.paid: int | None = None
        self._game = game
        self._seat = seat
        self._topic = topic
        self._counted = counted
        self._scores = None if state is None else game.standing(state).scores
        self._turn = 0
        self._bid: int | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more counts."""
        return self.bought is not None or self._turn >= WATCHED

    def see(self, topic: str, before: Any, happened: Sequence[Fact[Any]], after: Any) -> None:
        """Note what happened in a turn about this topic."""
        # Most kinds of fact have no step, and masking each of them would take longest.
        steps = [None if type(each).step is Fact.step else step_of(each) for each in happened]
        ended = self._follow(steps)
        if self._scores is not None and (ended or self._game.standing(after).scores != self._scores):
            state = before
            for each, step in zip(happened, steps, strict=True):
                state, scores = each.apply(state), self._scores
                self._scores = self._game.standing(state).scores
                seat = getattr(each, "seat", None)
                if step is not None and step.ends:
                    # A bid that can't be paid ends an auction too, but nobody has lost that yet: only its own words say it.
                    alone = step.winner is None and seat is not None
                    self._note(each, seat if alone else step.winner, None if alone else self.won(step, topic))
                elif self._scores != scores:
                    key = self._note(each, seat, None)
                    if key is not None and seat == self._seat and not self._turn:
                        self.moves.add(key)
        self._turn += 1

    def won(self, step: Step, topic: str) -> Text:
        """Return who won what this turn was about, in plain words."""
        what: Text | str = topic
        if topic.rpartition(" ")[0] not in self._counted:
            what = say("this auction") if topic == self._topic else say("the next auction")
        if step.winner is None:
            return say("Nobody wins {what}.", what=what)
        return say("{seat} [wins|win] {what}.", seat=step.winner, what=what)

    def _follow(self, steps: Iterable[Step | None]) -> bool:
        """Note the player's bids, and who wins. Return whether an auction ended."""
        for step in steps:
            if step is None:
                continue
            own = (amount_of(value) for seat, value in step.bids if seat == self._seat)
            self._bid = max((each for each in (*own, self._bid) if each is not None), default=None)
            if step.ends:
                self.bought = step.winner == self._seat
                self.paid = self._bid if self.bought else None
                return True
        return False

    def _note(self, each: Fact[Any], affected: int | None, plain: Text | None) -> Key | None:
        says = sentence(seen(each, self._seat))
        if says is None:
            return None
        key = type(each).__name__, affected, says.template
        self.outcomes.setdefault(key, Sentences(says, plain, affected))
        return key


def outcomes(pairs: Pairs, seat: int, notes: Mapping[str, str], *, better: bool) -> tuple[Outcome, ...]:
    """Return what happens clearly more often after one of the choices: to the player themselves, and otherwise;
    each at most once. The words are those of the better choice, the first one or not, if it happens after that one at all;
    for others, those of the choice after which it happens more often. Things have their `notes`.
    """
    moves = {key for pair in pairs for each in pair for key in each.seen.moves}
    keys = dict.fromkeys(key for pair in pairs for each in pair for key in each.seen.outcomes if key not in moves)
    found: dict[bool, Outcome] = {}
    for key in keys:
        counts = [(key in mine.seen.outcomes, key in other.seen.outcomes) for mine, other in pairs]
        mean, error = mean_and_error([mine - other for mine, other in counts])
        if abs(mean) * 1000 < _LEAST or abs(mean) < CLEAR * error:
            continue
        columns = [
            [each.seen.outcomes[key] for each in column if key in each.seen.outcomes]
            for column in zip(*pairs, strict=True)
        ]
        own = key[1] == seat
        first = better if own else mean > 0
        all_words = columns[0 if first else 1] or columns[1 if first else 0]
        plain = all_words[0].plain if all(each.plain == all_words[0].plain for each in all_words) else None
        says = common([each.says for each in all_words])
        if plain is not None and (says is None or len(str(says)) > _LONG):
            says = plain
        often, others = (1000 * sum(column) // len(pairs) for column in zip(*counts, strict=True))
        known = found.get(own)
        if says is not None and (known is None or abs(often - others) > abs(known.often - known.other)):
            found[own] = Outcome(_with_notes(says, notes), often, others)
    return tuple(found[own] for own in (True, False) if own in found)


def changes(pairs: Pairs, seat: int) -> tuple[int | None, Change | None]:
    """Return by how much one of the choices clearly raises the player's own score, and that of the rival whose score changes most."""
    found = {}
    for other in range(len(pairs[0][0].scores)):
        mean, error = mean_and_error([mine.scores[other] - others.scores[other] for mine, others in pairs])
        if abs(mean) >= max(_LEAST_POINTS, CLEAR * error):
            found[other] = round(1000 * mean)
    own = found.pop(seat, None)
    rival = max(found, key=lambda other: abs(found[other]), default=None)
    return own, None if rival is None else Change(rival, found[rival])


def prices(pairs: Pairs) -> tuple[int, int] | None:
    """Return what the player bid on average to win the auction at hand, in thousandths, after each choice; None unless that is
    clearly different."""
    paid = [[each.seen.paid for each in column if each.seen.paid is not None] for column in zip(*pairs, strict=True)]
    if min(map(len, paid)) < _FEWEST_PRICES:
        return None
    (mine, error), (other, other_error) = map(mean_and_error, paid)
    if abs(mine - other) < CLEAR * sqrt(error * error + other_error * other_error) or mine == other:
        return None
    return round(1000 * mine), round(1000 * other)


def outcome_of_bid(seen: Sequence[Watch]) -> tuple[int | None, int | None]:
    """Return how often a bid won the auction at hand, and for how much on average, in thousandths; None if that isn't known."""
    bought = [each.bought for each in seen if each.bought is not None]
    paid = [each.paid for each in seen if each.paid is not None]
    won = 1000 * sum(bought) // len(bought) if 2 * len(bought) > len(seen) else None
    return won, 1000 * sum(paid) // len(paid) if len(paid) >= _FEWEST_TRIED else None


def is_worth_telling(worth: int, better: int | None, worse: int | None) -> bool:
    """Whether what an auction was worth explains why one amount, or the default, is better than another.

    It is an estimate as the comparison is, and the two may not fit.

    >>> [is_worth_telling(8, better, worse) for better, worse in ((None, 12), (None, 6), (9, 12), (7, None), (10, 12))]
    [True, False, False, True, False]
    """
    if worse is not None and (better or 0) < worse:
        return (better or 0) <= worth < worse
    return worth >= (better or 0)


def mean_and_error(numbers: Sequence[int]) -> tuple[float, float]:
    """Return the mean of numbers and its standard error."""
    many, total = len(numbers), sum(numbers)
    # In whole numbers as far as possible, because sums of others are rounded differently by other versions of Python.
    return total / many, sqrt((many * sum(each * each for each in numbers) - total * total) / (many * many * many))


def mean_with_interval(shares: Sequence[int]) -> tuple[int, int, int]:
    """Return the mean of differences in thousandths of a win, with its interval."""
    mean, error = mean_and_error(shares)
    low, high = mean - SURE * error, mean + SURE * error
    return round(1000 * mean / WHOLE), round(1000 * low / WHOLE), round(1000 * high / WHOLE)


def chance_with_interval(wins: int, games: int) -> tuple[int, int, int]:
    """Return a chance in thousandths, with Wilson's interval."""
    chance, square = wins / (games * WHOLE), SURE * SURE
    centre = (chance + square / (2 * games)) / (1 + square / games)
    reach = SURE * sqrt(chance * (1 - chance) / games + square / (4 * games * games)) / (1 + square / games)
    return round(1000 * chance), round(1000 * max(0.0, centre - reach)), round(1000 * min(1.0, centre + reach))


def counted_by(game: Game[Any], view: Any, seat: int) -> frozenset[str]:
    """Return the words by which the page numbers what is going on, from the title of the board: `lot` in “Templari, lot 7 of 30”."""
    return frozenset(re.findall(r"\b([a-z]+) \d", str(game.board(view, seat).title)))


def notes_of(game: Game[Any], view: Any, seat: int) -> Mapping[str, str]:
    """Return the notes of the things on the page, such as the value of a card, by their ids."""
    return {face.id: face.note for face in faces_of(game.board(view, seat)).values() if face.note}


def parts_of_win(game: Game[Any], state: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return each seat's part of the win, and the scores. In a game that wasn't played to its end, the leaders share the win."""
    standing = game.standing(state)
    most = max(standing.scores)
    first = standing.ranking[0] if standing.over else [s for s, score in enumerate(standing.scores) if score == most]
    return tuple(WHOLE // len(first) * (s in first) for s in range(len(standing.scores))), standing.scores


def _with_notes(value: Any, notes: Mapping[str, str]) -> Any:
    """Return a value of a text, or a text, in which things have notes as they do in choices: `the Painter (3)`."""
    if isinstance(value, Text):
        return Text(value.template, tuple((name, _with_notes(each, notes)) for name, each in value.values))
    if isinstance(value, tuple):
        return tuple(_with_notes(each, notes) for each in value)
    if isinstance(value, str) and value in notes:
        return say("{thing} ({note})", thing=value, note=notes[value])
    return value
