"""Which players a finished game counts for, and as what rank. The handbook's page on ratings has the same rules in a table.

    started at the seat, or played at least half of the game's turns there, and has it at the end     the seat's rank
    did so too, but resigned, or lost the seat by missed turns                                        last
    anyone else: replaced by an organiser or because email failed, or a short-time substitute         doesn't count

Bots are players like people, each level one of them. A game without a result counts for nobody, and neither does one in which a
person has two seats (see `ratings.changes`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stay:
    """A time for which a player had a seat: how many of the game's turns, and how it began and ended.

    `left` means that they resigned, or lost it by missed turns. `stayed` means to the end of the game.
    """

    seat: int
    player: str
    turns: int
    started: bool
    stayed: bool
    left: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a game was for one player: a rank, or None where it doesn't count for them."""

    seat: int
    player: str
    rank: int | None


def outcomes(stays: Sequence[Stay], ranks: Mapping[int, int], turns: int) -> list[Outcome]:
    """The outcome for every player who had a seat, by seat; `turns` are those of the whole game."""
    last = len(ranks) + 1
    found = list[Outcome]()
    for seat, player in dict.fromkeys((stay.seat, stay.player) for stay in stays):
        own = [stay for stay in stays if (stay.seat, stay.player) == (seat, player)]
        counts = any(stay.started for stay in own) or 2 * sum(stay.turns for stay in own) >= turns
        rank = ranks[seat] if _stayed(own) else last if own[-1].left else None
        found.append(Outcome(seat, player, rank if counts else None))
    return found


def bot_player(level: str) -> str:
    """The key of all bots of a level."""
    return f"bot:{level}"


def level_of(player: str) -> str | None:
    """The level of a bot, by its key; None for a person."""
    return player.removeprefix("bot:") if player.startswith("bot:") else None


def _stayed(stays: Iterable[Stay]) -> bool:
    return any(stay.stayed for stay in stays)
