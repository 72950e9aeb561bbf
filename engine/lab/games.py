"""Playing a game between bots, and recording what the report needs of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.auctions import auctions
from engine.bots import BOTS
from engine.chance import Stream, bot_seed, seed_from
from engine.decisions import Amount, Choice, Decision
from engine.game import Game, Standing
from engine.options import Listed, Options, OptionValue
from engine.table import Table, begin

Leads = tuple[frozenset[int], ...]
"""The seats in the lead after each turn."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The conditions of many games: the players, the options, the bots at all seats, and a word that decides the chance."""

    seats: int
    options: Options
    bot: str = "greedy"
    seed: str = "1"


@dataclass(frozen=True, slots=True)
class Record:
    """One game: its result, its length, who led when, and what each seat was offered and chose.

    A seat's share of the win is 1, or its part of it if several tied. `margin` is the lead of the winner over the best
    other score. `amounts` has the verb, the blank and the number.
    """

    shares: tuple[Fraction, ...]
    scores: tuple[int, ...]
    margin: int
    turns: int
    auctions: int
    leads: Leads
    last: Leads
    decisions: Counter[int]
    offered: Counter[tuple[int, str]]
    chosen: Counter[tuple[int, str]]
    amounts: Counter[tuple[int, str, str, int]]

    @property
    def winners(self) -> frozenset[int]:
        """The seats in first place."""
        return frozenset(seat for seat, share in enumerate(self.shares) if share)


def play(game: Game[Any], experiment: Experiment, number: int) -> Record:
    """Play game `number` of an experiment. The same number gives the same game."""
    seed = seed_from(b"lab", [experiment.seed, str(number)])
    table = begin(game, experiment.seats, seed, experiment.options)
    bot, counts = BOTS[experiment.bot], _Counts()
    scores = [game.standing(table.position.state).scores]
    while asks := table.asks():
        seat = next(seat for seat in asks if seat not in table.position.box)
        choice = bot(game, table.view(seat), asks[seat], Stream(bot_seed(seed, table.position.turn, seat), 0))
        counts.count(asks[seat], choice)
        before = len(table.log)
        table = table.submit(seat, choice)
        scores += [game.standing(table.position.state).scores] * (len(table.log) > before)
    return _record(game.standing(table.position.state), table, scores, counts)


def variants(game: Game[Any], options: Options) -> Iterator[tuple[str, Mapping[str, OptionValue]]]:
    """Yield each other value of each option, with the rest as chosen. Of a number, only the lowest and the highest."""
    for option in game.options:
        values = option.values if isinstance(option, Listed) else tuple(dict.fromkeys((option.low, option.high)))
        for value in values:
            if value != options.get(option.name, option.default):
                yield f"{option.name}={value}", {**options, option.name: value}


class _Counts:
    """What the seats of one game were offered and chose."""

    def __init__(self) -> None:
        self.decisions: Counter[int] = Counter()
        self.offered: Counter[tuple[int, str]] = Counter()
        self.chosen: Counter[tuple[int, str]] = Counter()
        self.amounts: Counter[tuple[int, str, str, int]] = Counter()

    def count(self, decision: Decision, choice: Choice) -> None:
        """Count a choice, unless it was the only one."""
        if decision.only() is not None:
            return
        seat, act = decision.seat, next(act for act in decision.acts if choice in act)
        self.decisions[seat] += 1
        self.offered.update((seat, verb) for verb in {act.verb for act in decision.acts})
        self.chosen[seat, choice.verb] += 1
        for place, blank in enumerate(act.blanks):
            if isinstance(blank, Amount):
                self.amounts[seat, choice.verb, blank.name, choice.number(place)] += 1


def _record(standing: Standing, table: Table, scores: list[tuple[int, ...]], counts: _Counts) -> Record:
    first = standing.ranking[0]
    others = [score for seat, score in enumerate(standing.scores) if seat not in first]
    facts = ((turn, each) for turn, entry in enumerate(table.log) for each in entry.facts)
    return Record(
        shares=tuple(Fraction(seat in first, len(first)) for seat in range(len(standing.scores))),
        scores=standing.scores,
        margin=standing.scores[first[0]] - max(others) if others else 0,
        turns=len(table.log) - 1,
        auctions=len(auctions(facts)),
        leads=tuple(_seats_with(max(each), each) for each in scores),
        last=tuple(_seats_with(min(each), each) for each in scores),
        decisions=counts.decisions,
        offered=counts.offered,
        chosen=counts.chosen,
        amounts=counts.amounts,
    )


def _seats_with(score: int, scores: tuple[int, ...]) -> frozenset[int]:
    return frozenset(seat for seat, each in enumerate(scores) if each == score)
