"""Whole games, played for their length alone: every set of options, by styles that hurry, dawdle and insist.

A playout of the bench keeps every table and may be cut short. A course keeps nothing but the last position, so a game with
any options can be played to its end, and one that never ends is found. `longest` is held against courses of every style,
of players who insist on one verb wherever they can, of the bots, and of the longest course played on in other ways.
This module must never stop a course before it has gone on longer than the game allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from typing import Any, Final

from engine.chance import Draw, Stream
from engine.facts import fact
from engine.game import Game
from engine.options import OptionValue
from engine.table import Position, deal
from engine.testing.bench import BROKEN, Bench, Trouble, describe, pick, play
from engine.testing.plans import INSISTS, STYLES, Plan, option_sets
from engine.testing.source import line_of, raised_at
from engine.testing.steps import TooManySteps

MOST_CHOICES: Final = 50_000
"""A game with more choices than this counts as endless, whatever `longest` says: nobody plays it by email."""

_ENDLESS: Final = 3
"""Courses that never end are long, so after this many of them no others are played."""

_FIRST: Final = 12
"""How many playouts are searched for verbs."""

_LONG: Final = 2_000
"""The entries of a game that may be very long."""

_ROUNDS: Final = 5
"""How often the longest course with the usual options is played on; a thorough run plays on that of every other set once."""

_OTHERS: Final = 3
"""The styles besides silence in which a thorough run plays a set of unusual options: other ones for each set."""


@fact
class Course:
    """A game played to its end: how long it was and was allowed to be, or what was wrong."""

    plan: Plan
    positions: tuple[Position, ...]
    choices: int
    longest: int
    fault: str = ""
    code: str = ""
    endless: bool = False

    @property
    def entries(self) -> int:
        """The entries of its log."""
        return self.positions[-1].turn if self.positions else 0


def ends_in_time(bench: Bench) -> Iterator[Trouble]:
    """With every set of options a game ends, and within its `longest`, even if everyone draws it out."""
    endless = 0
    for course in _courses(bench):
        if course.fault:
            where = f"{course.plan}, after {course.choices} choices"
            yield Trouble("ends in time", course.fault, where, course.code)
            endless += course.endless
        if endless == _ENDLESS:
            return
    yield from _by_bots(bench)


def run(game: Game[Any], plan: Plan) -> Course:
    """Play a game to its end. An error is recorded and not raised."""
    try:
        longest = _bound(game, plan.seats, plan.options)
        position, _ = deal(game, plan.seats, plan.seed, plan.options)
    except BROKEN as error:
        stopped = isinstance(error, TooManySteps)
        return Course(plan, (), 0, 0, describe(error), raised_at(game, error), endless=stopped)
    return _go_on(game, plan, [position], Stream(plan.seed, 2**48), longest)


def prolonged(bench: Bench, course: Course, rounds: int) -> Iterator[Course]:
    """Yield the course played differently from late places on, each time from the longest one so far."""
    luck = Stream(course.plan.seed, 2**47)
    for _ in range(rounds):
        known = course.positions
        at = len(known) - 1 - luck.below(1 + len(known) // 2)
        other = bench.run(_go_on, course.plan, list(known[: at + 1]), luck, course.longest)
        yield other
        if other.fault:
            return
        course = max(course, other, key=lambda each: each.entries)


def _courses(bench: Bench) -> Iterator[Course]:
    """Yield courses of all sets of options and numbers of players."""
    low, high = bench.game.seats
    usual: list[tuple[int, Mapping[str, OptionValue]]] = [(seats, {}) for seats in range(low, high + 1)]
    verbs = _verbs(bench)
    longest: Course | None = None
    for number, (seats, options) in enumerate([*usual, *_shortest_first(bench)]):
        best: Course | None = None
        for style in _styles(bench, verbs, number, seats, options):
            course = bench.run(run, Plan(seats, options, style))
            yield course
            best = _longer(best, course)
        if bench.thorough and best is not None:
            yield from prolonged(bench, best, 1 if options else _ROUNDS)
        longest = _longer(longest, best) if not options else longest
    if longest is not None and not bench.thorough:
        yield from prolonged(bench, longest, _ROUNDS)


def _shortest_first(bench: Bench) -> list[tuple[int, dict[str, OptionValue]]]:
    """Return the sets of unusual options, those of short games first: a fault is mostly found in one of them."""
    return sorted(option_sets(bench.game, bench.thorough), key=lambda each: _bound(bench.game, *each))


def _bound(game: Game[Any], seats: int, options: Mapping[str, OptionValue]) -> int:
    return game.longest(seats, game.settle(seats, options))


def _styles(
    bench: Bench, verbs: list[str], number: int, seats: int, options: Mapping[str, OptionValue]
) -> Iterator[str]:
    """Yield the styles for a set of options: silence and some others, in a thorough run all for the usual options.

    A quick run has one other for every second set, and none where games may be very long.
    """
    silent, *others = (*STYLES, *(f"{INSISTS}{verb}" for verb in verbs))
    yield silent
    if bench.thorough:
        yield from islice(cycle(others), number * _OTHERS, (number + 1) * _OTHERS) if options else others
    elif number % 2 == 0 and _bound(bench.game, seats, options) <= _LONG:
        yield others[number // 2 % len(others)]


def _longer(one: Course | None, other: Course | None) -> Course | None:
    """Return the course that comes nearer to its bound. One with a fault is no measure."""
    sound = [each for each in (one, other) if each is not None and not each.fault]
    return max(sound, key=lambda each: each.entries / max(1, each.longest), default=None)


def _by_bots(bench: Bench) -> Iterator[Trouble]:
    """Bots play games with the fewest and the most players, and in a thorough run with every number."""
    low, high = bench.game.seats
    for seats in range(low, high + 1) if bench.thorough else (low,):
        playout = bench.run(play, Plan(seats, bench.game.short, "greedy"))
        if playout.fault:
            yield Trouble("ends in time", playout.fault, playout.where(len(playout.moves)), playout.code)


def _verbs(bench: Bench) -> list[str]:
    """Return the verbs of the game, as far as its first playouts have met them."""
    tables = (playout.tables[at] for playout in islice(bench.playouts(), _FIRST) for at in playout.sample(60))
    return sorted(
        {act.verb for table in tables for decision in table.position.open().values() for act in decision.acts}
    )


def _go_on(game: Game[Any], plan: Plan, positions: list[Position], luck: Draw, longest: int) -> Course:
    fault, code, endless = "", "", False
    try:
        while (asks := positions[-1].open()) and not (endless := _too_long(positions, longest)):
            seat = luck.pick([seat for seat in asks if seat not in positions[-1].box])
            choice = pick(plan.style, game, positions[-1].state, asks[seat], luck)
            positions.append(positions[-1].submit(seat, choice)[0])
        if endless or positions[-1].turn > longest:
            most = f"{longest} entries" if positions[-1].turn > longest else f"{MOST_CHOICES:,} choices"
            fault, code = f"it goes on after {most}", line_of(game, "longest")
        elif not game.standing(positions[-1].state).over:
            fault, code = "no seat is asked although the game is not over", line_of(game, "asks")
    except BROKEN as error:
        fault, code, endless = describe(error), raised_at(game, error), isinstance(error, TooManySteps)
    return Course(plan, tuple(positions), len(positions) - 1, longest, fault, code, endless)


def _too_long(positions: list[Position], longest: int) -> bool:
    return positions[-1].turn > longest or len(positions) > MOST_CHOICES
