"""How a review is made: which decisions are studied, and the games that are played on from them.

Each decision is first looked at as the Regular bot would. Those that look worst and best, and as many others as the budget
bears, are then played on to the end of the game, by quick choices at all seats. Two choices are compared in the same worlds
with the same luck, so that only the choice makes a difference, and in fresh worlds, so that no choice looks bad by chance.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from engine import grammar
from engine.chance import Draw, Stream, seed_from
from engine.coach import endings
from engine.coach.endings import WHOLE, Ended, Watch, parts_of_win
from engine.coach.review import Luck, Point, Reasons, Review, Side, Tried, Verdict
from engine.decisions import Act, Amount, Choice, Decision
from engine.facts import fold, seen
from engine.game import Game
from engine.options import Options
from engine.records import replace
from engine.search import course
from engine.search.course import Course
from engine.search.levels import LEVELS, choose
from engine.search.look_ahead import hope
from engine.search.playout import Horizon, imagined, quick_choices
from engine.search.tree import STEPS, worth_trying
from engine.table import Entry

GAMES: Final = 200
"""Games played on from each point of the chart."""
COMPARED: Final = (100, 400)
"""The fewest and the most games in which two choices are compared; the fewer, the longer the game is."""
WORLDS: Final = 16
"""Worlds in which every decision is first looked at."""
WORLDS_FOR_WORTH: Final = 48
STUDIED: Final = 4
"""Decisions at each end that are compared to the end of the game, for those that are named."""
NAMED: Final = 3
"""The most mistakes and best moves that are named."""
MOST_POINTS: Final = 40
BUDGET: Final = 200_000
"""Choices in imagined games, about, for all comparisons of a side, and as many for its chart, whose points are fewer if need be."""
LONGEST: Final = 2_000
"""Turns after which a game is called for the player in the lead."""
DRAWS_STUDIED: Final = 6
HINTED: Final = 60
"""Games in which the choice of a hint and another one are compared: a player waits for it."""
_TRIES: Final = 3
_FIRST_SIGHTS: Final = 9

_REGULAR: Final = LEVELS["regular"]

Turns = Sequence[tuple[int, Entry]]
"""The entries of a game, oldest first, each with its turn."""


class _Moment(NamedTuple):
    """A decision of the reviewed player: the truth and their view before it."""

    turn: int
    state: Any
    view: Any
    decision: Decision
    chosen: Choice


class _Played(NamedTuple):
    """An entry with the truth before and after it."""

    turn: int
    entry: Entry
    before: Any
    after: Any


class _Glance(NamedTuple):
    """What the Regular bot would say of a decision: what it would choose, the choice at first sight, and how each compares."""

    best: Choice
    obvious: Choice
    lost: int
    gained: int


def review_of(
    game: Game[Any], seats: int, options: Options, turns: Turns, seat: int, own: Container[int], seed: bytes
) -> Review:
    """Return the review of a finished game for a seat. `own` are the turns in which its player chose for themselves."""
    start = game.start(seats, options)
    played = tuple(_played(start, turns))
    moments = tuple(_moments(game, start, played, seat, own))
    length = sum(len(each.entry.choices) for each in played)
    fewest, most = COMPARED
    # On average, half of the game is played on, with each of two choices.
    compared = min(most, max(fewest, BUDGET // max(1, 2 * STUDIED * length)))
    known = _Study(game, seats, seat, seed_from(seed, [f"coach {seat}", "known"]), compared, open_hands=False)
    side = known.side(moments)
    opened, opened_side = known, None
    if type(game).imagine is not Game.imagine:
        opened = _Study(game, seats, seat, seed_from(seed, [f"coach {seat}", "open"]), compared, open_hands=True)
        opened_side = opened.side(moments)
    luck = opened.luck(start, options, played, (opened_side or side).chart)
    end = played[-1].after if played else start
    share = parts_of_win(game, end)[0][seat] * 1000 // WHOLE
    many = known.games + (opened.games if opened is not known else 0)
    return Review(seat, share, len(moments), many, side, opened_side, luck)


def hint_for(game: Game[Any], view: Any, decision: Decision, seed: bytes) -> Verdict:
    """Return what the Expert bot would choose with this view, and how that compares with the best of the other choices."""
    seats = len(game.standing(view).scores)
    chosen = choose(game, view, decision, LEVELS["expert"], Stream(seed, 0))
    study = _Study(game, seats, decision.seat, seed_from(seed, ["hint"]), HINTED, open_hands=False)
    return study.hint(_Moment(0, None, view, decision, chosen))


def _played(start: Any, turns: Turns) -> Iterator[_Played]:
    state = start
    for turn, entry in turns:
        before, state = state, fold(state, entry.facts)
        yield _Played(turn, entry, before, state)


def _moments(
    game: Game[Any], start: Any, played: Sequence[_Played], seat: int, own: Container[int]
) -> Iterator[_Moment]:
    view = start
    for turn, entry, before, _after in played:
        if seat in entry.choices and seat not in entry.alone and turn in own:
            decision = game.asks(view, seat)
            if decision is not None and decision.only() is None and entry.choices[seat] in decision:
                yield _Moment(turn, before, view, decision, entry.choices[seat])
        view = fold(view, (seen(each, seat) for each in entry.facts))


class _Study:
    """Games imagined by what the player knew, or from the truth. Two choices are `compared` in so many of them."""

    def __init__(self, game: Game[Any], seats: int, seat: int, seed: bytes, compared: int, *, open_hands: bool) -> None:
        self.games = 0
        self._choices = 0
        self._points: dict[int, Point] = {}
        self._compared = compared
        self._game = game
        self._seats = seats
        self._seat = seat
        self._open_hands = open_hands
        self._luck = course.Luck(Stream(seed, 0).below(2**64))

    def side(self, moments: Sequence[_Moment]) -> Side:
        """Return the chart, the mistakes and the best moves."""
        glances = [self._glance(moment) for moment in moments]
        places = range(len(moments))
        worst = sorted((p for p in places if glances[p].lost > 0), key=lambda p: -glances[p].lost)[:STUDIED]
        finest = sorted(
            (p for p in places if glances[p].gained > glances[p].lost),
            key=lambda p: glances[p].lost - glances[p].gained,
        )[:STUDIED]
        mistakes = [self._verdict(moments[place], glances[place].best) for place in worst]
        # A choice can beat the obvious one and still be a mistake, because a third one was better.
        wrong = {each.turn for each in mistakes if each.high < 0}
        finest = [place for place in finest if moments[place].turn not in wrong]
        best = [self._verdict(moments[place], glances[place].obvious) for place in finest]
        return Side(
            self._chart(moments),
            tuple(sorted((v for v in mistakes if v.high < 0), key=lambda v: v.gain)[:NAMED]),
            tuple(sorted((v for v in best if v.low > 0), key=lambda v: -v.gain)[:NAMED]),
        )

    def hint(self, moment: _Moment) -> Verdict:
        """Compare a choice with the one that looks best of the others."""
        found = worth_trying(self._game, moment.view, moment.decision, self._luck, _REGULAR.choices)
        others = [choice for choice in found if choice != moment.chosen] or [moment.chosen]
        hopes = self._hopes(moment, others, WORLDS)
        return self._verdict(moment, others[hopes.index(max(hopes))])

    def luck(self, start: Any, options: Options, played: Sequence[_Played], chart: Sequence[Point]) -> tuple[Luck, ...]:
        """Return what the draws did in the deal and where the chart jumps most, if it is sure that they did something."""
        jumps = sorted(pairwise(chart), key=lambda pair: -abs(pair[1].chance - pair[0].chance))
        turns = [t for a, b in jumps for t in range(a.turn, b.turn)]
        drawn = {each.turn: each for each in played if each.entry.drawn}
        studied = [each for each in played[:1] if each.entry.drawn]
        studied += [drawn[turn] for turn in turns if turn in drawn and drawn[turn] not in studied][: DRAWS_STUDIED - 1]
        found = [self._of_draws(start, each) for each in studied]
        return tuple(sorted((each for each in found if each.low > 0 or each.high < 0), key=lambda each: each.turn))

    def _world(self, moment: _Moment) -> Any:
        if self._open_hands:
            return moment.state
        return imagined(self._game, moment.view, self._seat, self._luck, _TRIES)

    def _glance(self, moment: _Moment) -> _Glance:
        """Look at a decision as the Regular bot does, in more worlds."""
        found = worth_trying(self._game, moment.view, moment.decision, self._luck, _REGULAR.choices)
        obvious = self._at_first_sight(moment)
        choices = list(dict.fromkeys([*found, moment.chosen, obvious]))
        hopes = dict(zip(choices, self._hopes(moment, choices, WORLDS), strict=True))
        best = max(found, key=lambda choice: hopes[choice])
        mine = hopes[moment.chosen]
        return _Glance(best, obvious, max(0, hopes[best] - mine), mine - hopes[obvious])

    def _hopes(self, moment: _Moment, choices: Sequence[Choice], worlds: int) -> list[int]:
        hopes = [0] * len(choices)
        for _ in range(worlds):
            truth, seed = self._world(moment), self._luck.below(2**32)
            for place, choice in enumerate(choices):
                luck = course.Luck(seed)
                hopes[place] += hope(self._game, self._seats, truth, self._seat, choice, _REGULAR, luck)
        return hopes

    def _at_first_sight(self, moment: _Moment) -> Choice:
        """Return the choice that is made most often at first sight, or the default of a game that has none."""
        sights: dict[Choice, int] = {}
        for _ in range(_FIRST_SIGHTS):
            choice = self._game.quick(moment.view, moment.decision, self._luck) or moment.decision.default
            sights[choice] = sights.get(choice, 0) + 1
        return max(sights, key=lambda choice: sights[choice])

    def _verdict(self, moment: _Moment, other: Choice) -> Verdict:
        """Compare the player's choice with another one, to the end of the game."""
        pairs: list[tuple[Ended, Ended]] = []
        for _ in range(self._compared):
            truth, seed = self._world(moment), self._luck.below(2**32)
            mine, others = (
                self._end(truth, course.Luck(seed), moment.decision, choice) for choice in (moment.chosen, other)
            )
            pairs.append((mine, others))
        seat, decision = self._seat, moment.decision
        gain, low, high = endings.mean_with_interval(
            [mine.shares[seat] - others.shares[seat] for mine, others in pairs]
        )
        wins = sum(mine.shares[seat] for mine, _other in pairs)
        self._points[moment.turn] = Point(moment.turn, *endings.chance_with_interval(wins, self._compared))
        return Verdict(
            moment.turn,
            grammar.write(decision, moment.chosen),
            grammar.write(decision, other),
            self._points[moment.turn].chance,
            gain,
            low,
            high,
            grammar.spoken(decision, moment.chosen),
            grammar.spoken(decision, other),
            self._reasons(moment, other, pairs, better=gain > 0) if low > 0 or high < 0 else Reasons(),
        )

    def _reasons(self, moment: _Moment, other: Choice, pairs: endings.Pairs, *, better: bool) -> Reasons:
        """Return what is different between two choices. `better` is whether the player's own is the better one."""
        points, rival = endings.changes(pairs, self._seat)
        why = Reasons(endings.outcomes(pairs, self._seat, better=better), points, rival)
        if (act := self._bidding(moment.decision, moment.chosen, other)) is None:
            return why
        mine, others = (each.number() if each in act else None for each in (moment.chosen, other))
        tried, worth = self._tried(moment, act, {n for n in (mine, others) if n is not None})
        fits = endings.is_worth_telling(worth, *((mine, others) if better else (others, mine)))
        return replace(why, paid=endings.prices(pairs), tried=tried, worth=worth if fits else None)

    def _bidding(self, decision: Decision, *pair: Choice) -> Act | None:
        """Return the act with which amounts are bid, if both choices are amounts or the default; None otherwise."""
        raised = next((each for each in pair if each != decision.default), decision.default)
        act = next(act for act in decision.acts if raised in act)
        bids = len(act.blanks) == 1 and isinstance(act.blanks[0], Amount)
        return act if bids and all(each in act or each == decision.default for each in pair) else None

    def _tried(self, moment: _Moment, act: Act, own: set[int]) -> tuple[tuple[Tried, ...], int]:
        """Return how often some amounts win the auction, and the highest that does no worse than the default."""
        decision, blank = moment.decision, act.blanks[0]
        assert isinstance(blank, Amount), "only amounts are bid"
        amounts = sorted({n for step in STEPS if (n := blank.low + step) in blank} | own)
        choices = [decision.default, *(Choice(act.verb, (number,)) for number in amounts)]
        hopes, seen = [0] * len(choices), [list[Watch]() for _ in choices]
        for _ in range(WORLDS_FOR_WORTH):
            truth, seed = self._world(moment), self._luck.below(2**32)
            for place, choice in enumerate(choices):
                luck = course.Luck(seed)
                played, watch = self._course(truth, luck), Watch(self._game, self._seat)
                self._choose(played, luck, decision, choice, watch)
                horizon = Horizon(decision.topic, _REGULAR.topics, _REGULAR.turns)
                while not horizon.reached(played):
                    _go(played, quick_choices(played, luck), watch)
                hopes[place] += self._game.prospect(played.state, self._seat)
                seen[place].append(watch)
        worth = max((n for n, each in zip(amounts, hopes[1:], strict=True) if each >= hopes[0]), default=0)
        # One amount that is too much is as many as a reader wants to see.
        shown = amounts[: bisect_right(amounts, max(worth, *own)) + 1]
        return tuple(map(endings.tried, shown, seen[1:])), worth

    def _chart(self, moments: Sequence[_Moment]) -> tuple[Point, ...]:
        """Return the chance after the decisions that were compared, and after as many others as the budget bears, spread over the
        game."""
        points = {place: self._points[each.turn] for place, each in enumerate(moments) if each.turn in self._points}
        before = self._choices
        for place in _spread(len(moments)):
            if len(points) == MOST_POINTS or self._choices - before > BUDGET:
                break
            if place not in points:
                points[place] = self._point(moments[place])
        return tuple(points[place] for place in sorted(points))

    def _point(self, moment: _Moment) -> Point:
        wins = 0
        for _ in range(GAMES):
            luck = course.Luck(self._luck.below(2**32))
            played = self._course(self._world(moment), luck)
            self._choose(played, luck, moment.decision, moment.chosen)
            wins += self._play_on(played, luck)[0][self._seat]
        return Point(moment.turn, *endings.chance_with_interval(wins, GAMES))

    def _of_draws(self, start: Any, played: _Played) -> Luck:
        """Compare the draws of an entry with others after the same choices."""
        gains = []
        for _ in range(GAMES):
            seed = self._luck.below(2**32)
            mine, luck = course.Luck(seed), course.Luck(seed)
            actual = self._course(played.after, mine)
            if played.entry.choices:
                other = self._course(played.before, luck)
                other.go(played.entry.choices)
            else:
                other = self._course(_dealt(self._game, start, luck), luck)
            gains.append(self._play_on(actual, mine)[0][self._seat] - self._play_on(other, luck)[0][self._seat])
        return Luck(played.turn, *endings.mean_with_interval(gains))

    def _end(self, truth: Any, luck: Draw, decision: Decision, choice: Choice) -> Ended:
        """Play a game to its end after a choice."""
        played, watch = self._course(truth, luck), Watch(self._game, self._seat, truth)
        self._choose(played, luck, decision, choice, watch)
        while played.asks and not watch.over:
            _go(played, quick_choices(played, luck), watch)
        return Ended(*self._play_on(played, luck), watch)

    def _choose(
        self, played: Course, luck: Draw, decision: Decision, choice: Choice, watch: Watch | None = None
    ) -> None:
        """Settle the turn in which the player makes this choice, and the others quick ones."""
        ends_turn = choice.verb in decision.closes
        others = {} if ends_turn else quick_choices(played, luck, without=self._seat)
        complete = ends_turn or len(others) + 1 == len(played.opened)
        _go(played, {**others, self._seat: choice} if complete else others, watch)

    def _course(self, state: Any, luck: Draw) -> Course:
        return Course(self._game, self._seats, state, lambda _turn: luck)

    def _play_on(self, played: Course, luck: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Play on to the end; return each seat's part of the win, and the scores."""
        while played.asks and played.turn < LONGEST:
            self._choices += len(played.asks)
            played.go(quick_choices(played, luck))
        self.games += 1
        return parts_of_win(self._game, played.state)


def _go(played: Course, choices: Mapping[int, Choice], watch: Watch | None) -> None:
    """Play a turn, and watch what happens."""
    topic, before = next(iter(played.asks.values())).topic, played.state
    happened = played.go(choices)
    if watch is not None and not watch.over:
        watch.see(topic, before, happened, played.state)


def _dealt(game: Game[Any], start: Any, luck: Draw) -> Any:
    story, state = game.setup(start, luck), start
    try:
        each = next(story)
        while True:
            state = each.apply(state)
            each = story.send(state)
    except StopIteration:
        return state


def _spread(many: int) -> Iterator[int]:
    """Yield the places from 0 on, so that at any time those so far lie spread over all: the ends, the middle, the quarters.

    >>> list(_spread(6))
    [0, 5, 2, 1, 3, 4]
    """
    met: set[int] = set()
    parts = 1
    while len(met) < many:
        for part in range(parts + 1):
            place = part * (many - 1) // parts
            if place not in met:
                met.add(place)
                yield place
        parts *= 2
