"""The result of a finished game in words and numbers: places, the margin, the biggest swing, the best buy, the scores.

It is made from the facts as everyone saw them. This module must never guess: what a game's facts cannot show is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from engine.auctions import Auction, step_of
from engine.facts import SPECTATOR, Fact, Step, fact, fold, seen
from engine.game import Game, Standing
from engine.tell import Text, say, sentence

Turns = Sequence[tuple[int, Sequence[Fact[Any]]]]
"""The facts of each turn, oldest first, with its number."""

Scores = tuple[int, ...]

_ORDINALS: Final = (
    say("first"),
    say("second"),
    say("third"),
    say("fourth"),
    say("fifth"),
    say("sixth"),
    say("seventh"),
    say("eighth"),
    say("ninth"),
)


@fact
class Place:
    """A place in the final ranking, with all the seats that share it."""

    number: int
    seats: tuple[int, ...]
    score: int


@fact
class Remark:
    """A sentence about a finished game, with the turn it tells of; None for the end."""

    text: Text
    turn: int | None = None


@fact
class Result:
    """How a game ended. `swing` and `best_buy` are None if there was none; `course` has the scores after each turn."""

    places: tuple[Place, ...]
    margin: Text
    reasons: tuple[Text, ...]
    swing: Remark | None
    best_buy: Remark | None
    course: tuple[tuple[int, Scores], ...]

    def place_of(self, seat: int) -> Place:
        """Return the place of a seat."""
        return next(place for place in self.places if seat in place.seats)

    def headline(self, reader: int) -> Text:
        """Return the news for a reader in a few words: their own place, or who won."""
        place = self.place_of(reader) if reader != SPECTATOR else self.places[0]
        if place.number == 1:
            return self.margin
        if len(place.seats) > 1:
            return say("You tied for {place}.", place=ordinal(place.number))
        return say("You came {place}.", place=ordinal(place.number))

    def story(self, reader: int) -> tuple[Remark, ...]:
        """Return the sentences about the game, without the headline."""
        end = (Remark(text) for text in (self.margin, *self.reasons) if text != self.headline(reader))
        return (*end, *(each for each in (self.swing, self.best_buy) if each is not None))


def ordinal(number: int) -> Text:
    """Return a place in words.

    >>> str(ordinal(2)), str(ordinal(12))
    ('second', '12th')
    """
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else say("{number}th", number=number)


def places_of(standing: Standing) -> tuple[Place, ...]:
    """Return the places of a final standing; tied seats share one, and the places after it stay empty."""
    places, number = [], 1
    for seats in standing.ranking:
        places.append(Place(number, seats, standing.scores[seats[0]]))
        number += len(seats)
    return tuple(places)


def result_of(rules: Game[Any], start: Any, turns: Turns, *, shown: bool = True) -> Result:
    """Return the result of a finished game that began with the view `start`.

    `shown` is whether the scores are on the table during the game. If they are not, and the game has no hindsight, nothing
    is said about how they changed.
    """
    views = list(_views(start, turns))
    end = views[-1][1] if views else start
    final = rules.standing(end)
    places = places_of(final)
    known = shown or rules.hindsight(start, end) is not None
    course = _course(rules, views, end, final) if known else ()
    return Result(
        places=places,
        margin=_margin(places),
        reasons=final.reasons,
        swing=_swing(course, places),
        best_buy=_best_buy(rules, start, turns, end) if known else None,
        course=course,
    )


def _views(start: Any, turns: Turns) -> Iterator[tuple[int, Any]]:
    view = start
    for turn, facts in turns:
        view = fold(view, (seen(each, SPECTATOR) for each in facts))
        yield turn, view


def _scores(rules: Game[Any], view: Any, end: Any) -> Scores:
    """The scores at a moment, counted with what was known at the end."""
    known = rules.hindsight(view, end)
    return rules.standing(view if known is None else known).scores


def _course(
    rules: Game[Any], views: Sequence[tuple[int, Any]], end: Any, final: Standing
) -> tuple[tuple[int, Scores], ...]:
    """The scores after each turn that changed them, and at the end."""
    course: list[tuple[int, Scores]] = []
    for turn, view in views:
        scores = final.scores if view is end else _scores(rules, view, end)
        if not course or course[-1][1] != scores:
            course.append((turn, scores))
    return tuple(course)


def _margin(places: Sequence[Place]) -> Text:
    first = places[0]
    if len(first.seats) > 1:
        return say("{seats:seats} share the win.", seats=first.seats)
    (seat,) = first.seats
    if len(places) == 1:
        return say("{seat} won.", seat=seat)
    lead = first.score - places[1].score
    if lead <= 0:
        return say("{seat} won on a tie-break.", seat=seat)
    return say("{seat} won by {lead:point|points}.", seat=seat, lead=lead)


def _swing(course: Sequence[tuple[int, Scores]], final: Sequence[Place]) -> Remark | None:
    """The most places that anyone gained in one turn; of equal swings the one with more points, then the last."""
    if not course:
        return None
    ranks = [_ranks(scores) for _turn, scores in course]
    # Where a tie was broken, the last places are not by score alone.
    ranks[-1] = tuple(next(p.number for p in final if seat in p.seats) for seat in range(len(ranks[-1])))
    swings = [
        (before[seat] - after[seat], scores[seat] - earlier[seat], turn, seat, before[seat], after[seat])
        for ((_, earlier), (turn, scores)), (before, after) in zip(pairwise(course), pairwise(ranks), strict=True)
        for seat in range(len(scores))
        if before[seat] > after[seat] and scores[seat] > earlier[seat]
    ]
    if not swings:
        return None
    _places, _points, turn, seat, before, after = max(swings)
    went = say(
        "On turn {turn}, {seat} went from {before} to {after}.",
        turn=turn,
        seat=seat,
        before=ordinal(before),
        after=ordinal(after),
    )
    return Remark(went, turn)


def _ranks(scores: Scores) -> tuple[int, ...]:
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def _best_buy(rules: Game[Any], start: Any, turns: Turns, end: Any) -> Remark | None:
    """The auction that gained its winner most for what was bid; None where the game says no price of a bid."""
    price = rules.bid_price
    if price is None:
        return None
    best: tuple[Fraction, Remark] | None = None
    for turn, gain, auction, happened in _wins(rules, start, turns, end):
        assert auction.winner is not None
        bid = auction.highest(auction.winner)
        worth = gain - price * (bid or 0)
        if gain > 0 and worth > 0 and (best is None or worth > best[0]):
            best = worth, Remark(_buy_in_words(turn, gain, bid, happened), turn)
    return None if best is None else best[1]


def _wins(rules: Game[Any], start: Any, turns: Turns, end: Any) -> Iterator[tuple[int, int, Auction, Fact[Any]]]:
    """Each auction that was won with a bid alone: its turn, what the winner gained, the auction, and the fact that ended it."""
    view, running = start, Auction()
    for turn, facts in turns:
        for each in facts:
            happened = seen(each, SPECTATOR)
            before, view = view, happened.apply(view)
            step = step_of(happened) or Step()
            # What follows the end of an auction follows from no bid in it, as after one that could not be paid.
            running = (Auction() if step.opens or (step.ends and running.over) else running).after(turn, step)
            if step.ends and step.winner is not None and not _paid_more(running, step.winner):
                gain = _scores(rules, view, end)[step.winner] - _scores(rules, before, end)[step.winner]
                yield turn, gain, running, happened


def _paid_more(auction: Auction, seat: int) -> bool:
    """Whether a seat paid anything beside its bid, so that the bid alone is not the price."""
    return any(call.kind == "add" for call in auction.of(seat))


def _buy_in_words(turn: int, gain: int, bid: int | None, happened: Fact[Any]) -> Text:
    what = sentence(happened) or say("")
    if bid is None:
        return say(
            "The best bargain was on turn {turn}, worth {gain:point|points} without a bid: {what}",
            turn=turn,
            gain=gain,
            what=what,
        )
    return say(
        "The best bargain was on turn {turn}, worth {gain:point|points} for a bid of {bid}: {what}",
        turn=turn,
        gain=gain,
        bid=bid,
        what=what,
    )
