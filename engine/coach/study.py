"""How a review is made: which decisions are studied, what each is compared with, and which are named.

Each decision is first looked at as the Regular bot would. Those that look worst are compared with what the Expert bot would
have chosen, and those that look best with the obvious choice: in the same worlds and with the same luck, so that only the
choice makes a difference, among players who think about their next choices (`playouts`).

A first sample says which comparisons look like something, and only a second one, in fresh worlds, says how much it is. The
same games can't both pick the largest of several differences and measure it: part of what they pick is luck.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

from engine import grammar
from engine.chance import Draw, Stream, seed_from
from engine.coach import bids, endings
from engine.coach.endings import WHOLE, Ended, Watch, parts_of_win
from engine.coach.playouts import THOUGHT, THOUGHTS, Moment, Playouts, go
from engine.coach.review import Luck, Point, Reasons, Review, Side, Verdict
from engine.coach.swings import Played, ended_with, swings
from engine.decisions import Choice, Decision
from engine.facts import fold, seen
from engine.game import Game
from engine.options import Options
from engine.records import replace
from engine.search import course
from engine.search.foresight import Foresight
from engine.search.levels import LEVELS, choose
from engine.search.look_ahead import hope
from engine.search.playout import Horizon
from engine.search.tree import worth_trying
from engine.table import Entry

GAMES: Final = 200
"""Games played on from each point of the chart."""
COMPARED: Final = (70, 200)
"""The fewest and the most games in which two choices are compared; the fewer, the longer the game is."""
FIRST: Final = 3
"""The first sample is a third as large as the second."""
FAVOURED: Final = 1
"""Standard errors by which each of the two samples has to speak for a decision to be named: of choices that make no difference,
chance would name one in forty."""
LEAST: Final = WHOLE // 50
"""A fiftieth of a win: a smaller difference, however sure, is nothing that a player would call costly."""
WORLDS: Final = 16
"""Worlds in which every decision is first looked at."""
WORLDS_FOR_WORTH: Final = 48
STUDIED: Final = (5, 3)
"""The most decisions that look worst, and best, and are compared."""
NAMED: Final = 3
"""The most mistakes and best moves that are named."""
MOST_POINTS: Final = 40
BUDGET: Final = 200_000
"""Choices in imagined games, about, for the chart of a side, whose points are fewer if need be."""
COMPARISONS: Final = 420_000
"""Choices in imagined games, about, for what measures the comparisons of all sides."""
DRAWS_STUDIED: Final = 6
HINTED: Final = 60
"""Games in which the choice of a hint and another one are compared: a player waits for it."""
_FIRST_SIGHTS: Final = 9

_REGULAR: Final = LEVELS["regular"]
_EXPERT: Final = LEVELS["expert"]

Turns = Sequence[tuple[int, Entry]]
"""The entries of a game, oldest first, each with its turn."""


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
    sides = 1 if type(game).imagine is Game.imagine else 2
    compared = min(most, max(fewest, COMPARISONS // (sides * 2 * NAMED * (length + 2 * THOUGHTS * THOUGHT))))
    known = _Study(game, seats, seat, seed_from(seed, [f"coach {seat}", "known"]), compared, open_hands=False)
    side = known.side(moments)
    opened, opened_side = known, None
    if sides > 1:
        opened = _Study(game, seats, seat, seed_from(seed, [f"coach {seat}", "open"]), compared, open_hands=True)
        opened_side = opened.side(moments, side)
    luck = opened.luck(start, options, played, (opened_side or side).chart)
    explain = partial(swings, game, seat, played, lucky={each.turn for each in luck})
    side = replace(side, swings=explain(side))
    if opened_side is not None:
        opened_side = replace(opened_side, swings=explain(opened_side))
    end = played[-1].after if played else start
    share = parts_of_win(game, end)[0][seat] * 1000 // WHOLE
    many = known.games + (opened.games if opened is not known else 0)
    return Review(seat, share, len(moments), many, side, opened_side, luck)


def hint_for(game: Game[Any], view: Any, decision: Decision, seed: bytes) -> Verdict:
    """Return what the Expert bot would choose with this view, and how that compares with the best of the other choices."""
    seats = len(game.standing(view).scores)
    chosen = choose(game, view, decision, LEVELS["expert"], Stream(seed, 0))
    study = _Study(game, seats, decision.seat, seed_from(seed, ["hint"]), HINTED, open_hands=False)
    return study.hint(Moment(0, None, view, decision, chosen))


def _played(start: Any, turns: Turns) -> Iterator[Played]:
    state = start
    for turn, entry in turns:
        before, state = state, fold(state, entry.facts)
        yield Played(turn, entry, before, state)


def _moments(game: Game[Any], start: Any, played: Sequence[Played], seat: int, own: Container[int]) -> Iterator[Moment]:
    view = start
    for turn, entry, before, _after in played:
        if seat in entry.choices and seat not in entry.alone and turn in own:
            decision = game.asks(view, seat)
            if decision is not None and decision.only() is None and entry.choices[seat] in decision:
                yield Moment(turn, before, view, decision, entry.choices[seat])
        view = fold(view, (seen(each, seat) for each in entry.facts))


class _Study:
    """A player's decisions, looked at by what the player knew, or with all hands open. Two choices are compared in `compared` games."""

    def __init__(self, game: Game[Any], seats: int, seat: int, seed: bytes, compared: int, *, open_hands: bool) -> None:
        self._points: dict[int, Point] = {}
        self._compared = compared
        self._game = game
        self._seats = seats
        self._seat = seat
        self._open_hands = open_hands
        self._luck = course.Luck(Stream(seed, 0).below(2**64))
        self._playouts = Playouts(game, seats, seat, self._luck, open_hands=open_hands)

    @property
    def games(self) -> int:
        """Games that were played to their end."""
        return self._playouts.games

    def side(self, moments: Sequence[Moment], before: Side | None = None) -> Side:
        """Return the chart, the mistakes and the best moves. What the side `before` named the one is never named the other."""
        mistaken = {each.turn for each in before.mistakes} if before else set()
        praised = {each.turn for each in before.best} if before else set()
        glances = [self._glance(moment) for moment in moments]
        places = range(len(moments))
        worst = sorted(
            (p for p in places if glances[p].lost > 0 and moments[p].turn not in praised),
            key=lambda p: -glances[p].lost,
        )
        mistakes = self._clear(
            [(moments[p], self._wise(moments[p], glances[p])) for p in worst[: STUDIED[0]]], better=False
        )
        # A choice can beat the obvious one and still be a mistake, because a third one was better.
        mistaken |= {each.turn for each in mistakes}
        finest = sorted(
            (p for p in places if glances[p].gained > glances[p].lost and moments[p].turn not in mistaken),
            key=lambda p: glances[p].lost - glances[p].gained,
        )
        best = self._clear([(moments[p], glances[p].obvious) for p in finest[: STUDIED[1]]], better=True)
        return Side(self._chart(moments), mistakes, best)

    def hint(self, moment: Moment) -> Verdict:
        """Compare a choice with the one that looks best of the others."""
        found = worth_trying(self._game, moment.view, moment.decision, self._luck, _REGULAR.choices)
        others = [choice for choice in found if choice != moment.chosen] or [moment.chosen]
        hopes = self._hopes(moment, others, WORLDS)
        return self._verdict(moment, others[hopes.index(max(hopes))])[0]

    def luck(self, start: Any, options: Options, played: Sequence[Played], chart: Sequence[Point]) -> tuple[Luck, ...]:
        """Return what the draws did in the deal and where the chart jumps most, if it is sure that they did something."""
        jumps = sorted(pairwise(chart), key=lambda pair: -abs(pair[1].chance - pair[0].chance))
        turns = [t for a, b in jumps for t in range(a.turn, b.turn)]
        drawn = {each.turn: each for each in played if each.entry.drawn}
        studied = [each for each in played[:1] if each.entry.drawn]
        studied += [drawn[turn] for turn in turns if turn in drawn and drawn[turn] not in studied][: DRAWS_STUDIED - 1]
        found = [self._of_draws(start, each) for each in studied]
        return tuple(sorted((each for each in found if each.low > 0 or each.high < 0), key=lambda each: each.turn))

    def _glance(self, moment: Moment) -> _Glance:
        """Look at a decision as the Regular bot does, in more worlds."""
        found = worth_trying(self._game, moment.view, moment.decision, self._luck, _REGULAR.choices)
        obvious = self._at_first_sight(moment)
        choices = list(dict.fromkeys([*found, moment.chosen, obvious]))
        hopes = dict(zip(choices, self._hopes(moment, choices, WORLDS), strict=True))
        best = max(found, key=lambda choice: hopes[choice])
        mine = hopes[moment.chosen]
        return _Glance(best, obvious, max(0, hopes[best] - mine), mine - hopes[obvious])

    def _wise(self, moment: Moment, glance: _Glance) -> Choice:
        """Return what the Expert bot would choose, or in a game that nobody can look ahead in what looks best at a glance."""
        if type(self._game).quick is Game.quick:
            return glance.best
        truth = moment.state if self._open_hands else None
        search = Foresight(self._game, moment.view, moment.decision, self._luck, _EXPERT, truth)
        return search.run(_EXPERT.iterations)

    def _hopes(self, moment: Moment, choices: Sequence[Choice], worlds: int) -> list[int]:
        hopes = [0] * len(choices)
        for _ in range(worlds):
            truth, seed = self._playouts.world(moment), self._luck.below(2**32)
            for place, choice in enumerate(choices):
                luck = course.Luck(seed)
                hopes[place] += hope(self._game, self._seats, truth, self._seat, choice, _REGULAR, luck)
        return hopes

    def _at_first_sight(self, moment: Moment) -> Choice:
        """Return the choice that is made most often at first sight, or the default of a game that has none."""
        sights: dict[Choice, int] = {}
        for _ in range(_FIRST_SIGHTS):
            choice = self._game.quick(moment.view, moment.decision, self._luck) or moment.decision.default
            sights[choice] = sights.get(choice, 0) + 1
        return max(sights, key=lambda choice: sights[choice])

    def _clear(self, compared: Sequence[tuple[Moment, Choice]], *, better: bool) -> tuple[Verdict, ...]:
        """Return the verdicts on decisions that were better than another choice, or worse: those that matter most first.
        A first sample chooses those that are measured in a second one.
        """
        sign = 1 if better else -1
        found = []
        for moment, other in compared:
            if other == moment.chosen:
                continue
            pairs = self._playouts.pairs(moment, other, max(1, self._compared // FIRST))
            if (gain := self._favoured(pairs, sign)) is not None:
                found.append((gain, moment, other))
        found.sort(key=lambda each: -each[0])
        verdicts = []
        for _, moment, other in found[:NAMED]:
            verdict, pairs = self._verdict(moment, other)
            if self._favoured(pairs, sign) is not None:
                verdicts.append(replace(verdict, reasons=self._reasons(moment, other, pairs, better=better)))
        return tuple(sorted(verdicts, key=lambda each: -sign * each.gain))

    def _favoured(self, pairs: endings.Pairs, sign: int) -> float | None:
        """Return the mean gain, or loss if `sign` is -1, if it matters and is more than chance would often make it; None otherwise."""
        mean, error = endings.mean_and_error(self._gains(pairs))
        return sign * mean if sign * mean > max(LEAST, FAVOURED * error) else None

    def _gains(self, pairs: endings.Pairs) -> list[int]:
        return [mine.shares[self._seat] - others.shares[self._seat] for mine, others in pairs]

    def _verdict(self, moment: Moment, other: Choice) -> tuple[Verdict, list[tuple[Ended, Ended]]]:
        """Compare the player's choice with another one, to the end of the game. Return also the games."""
        decision, pairs = moment.decision, self._playouts.pairs(moment, other, self._compared)
        wins = sum(mine.shares[self._seat] for mine, _other in pairs)
        self._points[moment.turn] = Point(moment.turn, *endings.chance_with_interval(wins, self._compared))
        verdict = Verdict(
            moment.turn,
            grammar.write(decision, moment.chosen),
            grammar.write(decision, other),
            self._points[moment.turn].chance,
            *endings.mean_with_interval(self._gains(pairs)),
            grammar.spoken_in_full(decision, moment.chosen),
            grammar.spoken_in_full(decision, other),
        )
        return verdict, pairs

    def _reasons(self, moment: Moment, other: Choice, pairs: endings.Pairs, *, better: bool) -> Reasons:
        """Return what is different between two choices. `better` is whether the player's own is the better one."""
        points, rival = endings.changes(pairs, self._seat)
        notes = endings.notes_of(self._game, moment.view, self._seat)
        why = Reasons(endings.outcomes(pairs, self._seat, notes, better=better), points, rival)
        if (act := bids.act_of(moment.decision, moment.chosen, other)) is None:
            return why
        pair = (moment.chosen, other)
        tried, worth = bids.tried(moment.decision, act, pair, lambda choices: self._bids(moment, choices))
        if worth is None:
            return replace(why, tried=tried)
        mine, others = (each.number() if each in act else None for each in pair)
        best, worse = (mine, others) if better else (others, mine)
        fits = worth != best and endings.is_worth_telling(worth, best, worse)
        paid = endings.prices(pairs)
        money = act.blanks[0].name if paid is not None else None
        return replace(why, paid=paid, tried=tried, worth=worth if fits else None, money=money)

    def _bids(self, moment: Moment, choices: Sequence[Choice]) -> tuple[list[int], list[list[Watch]]]:
        """Return how good each choice looks once the auction is over, and what was seen in its games."""
        decision = moment.decision
        hopes, seen = [0] * len(choices), [list[Watch]() for _ in choices]
        for _ in range(WORLDS_FOR_WORTH):
            truth, seed, minds = self._playouts.world(moment), self._luck.below(2**32), self._playouts.minds()
            for place, choice in enumerate(choices):
                luck = course.Luck(seed)
                played, watch = self._playouts.begin(truth, luck), Watch(self._game, self._seat)
                self._playouts.choose(played, luck, minds, decision, choice, watch)
                horizon = Horizon(self._game, decision.topic, _REGULAR)
                while not horizon.reached(played):
                    go(played, minds.choices(played, luck), watch)
                hopes[place] += self._game.prospect(played.state, self._seat)
                seen[place].append(watch)
        return hopes, seen

    def _chart(self, moments: Sequence[Moment]) -> tuple[Point, ...]:
        """Return the chance after the decisions that were compared, and after as many others as the budget bears, spread over the
        game."""
        points = {place: self._points[each.turn] for place, each in enumerate(moments) if each.turn in self._points}
        before = self._playouts.cost
        for place in _spread(len(moments)):
            if len(points) == MOST_POINTS or self._playouts.cost - before > BUDGET:
                break
            if place not in points:
                points[place] = self._point(moments[place])
        return tuple(points[place] for place in sorted(points))

    def _point(self, moment: Moment) -> Point:
        return Point(moment.turn, *endings.chance_with_interval(self._playouts.wins(moment, GAMES), GAMES))

    def _of_draws(self, start: Any, played: Played) -> Luck:
        """Compare the draws of an entry with others after the same choices."""
        gains = []
        for _ in range(GAMES):
            seed = self._luck.below(2**32)
            mine, luck = course.Luck(seed), course.Luck(seed)
            actual = self._playouts.begin(played.after, mine)
            if played.entry.choices:
                other = self._playouts.begin(played.before, luck)
                other.go(played.entry.choices)
            else:
                other = self._playouts.begin(_dealt(self._game, start, luck), luck)
            gains.append(
                self._playouts.play_on(actual, mine)[0][self._seat] - self._playouts.play_on(other, luck)[0][self._seat]
            )
        says = ended_with(played.entry, self._seat) if played.entry.choices else None
        return Luck(played.turn, *endings.mean_with_interval(gains), says)


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
