"""What finished games at public tables add to statistics, and the nightly file of these games."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

from sqlalchemy import Index

from pbem.store.schema.base import KEY, GameId, Part, table


class FinishedGameRow(NamedTuple):
    """What one finished game adds to the sums of its `kind`: `counts` is JSON, by what is counted and its value."""

    game_id: Annotated[GameId, KEY]
    kind: str
    counts: str


FINISHED_GAME = table("finished_game", FinishedGameRow)


class FinishedSeatRow(NamedTuple):
    """A person's part in a finished game. `player` is a random key, which names nobody.

    `rank` is by the rules for ratings, so it can be last for leaving. `score` is None for people who left, and `margin` for all
    but a sole winner. `choices` is JSON: how often the player chose each verb, for players who had the seat from start to end.
    """

    game_id: Annotated[GameId, KEY]
    seat: Part
    player: Annotated[str, KEY]
    kind: str
    seats: int
    rank: int
    score: int | None
    margin: int | None
    choices: str
    ended_at: datetime


FINISHED_SEAT = table("finished_seat", FinishedSeatRow, Index(None, "player", "ended_at", "game_id"))


@dataclass(frozen=True, slots=True)
class GameSumRow:
    """How often something was so in all finished games of a kind. It follows from `finished_game` alone."""

    kind: Annotated[str, KEY]
    what: Annotated[str, KEY]
    value: Annotated[str, KEY]
    count: int


GAME_SUM = table("game_sum", GameSumRow)


class DumpRow(NamedTuple):
    """The file of all finished public games as one night made it. The one with the highest `number` is served."""

    number: Part
    made_at: datetime
    size: int
    sha256: str


DUMP = table("dump", DumpRow)


@dataclass(frozen=True, slots=True)
class DumpPartRow:
    """A part of such a file, from the byte `start` on. While the file is being made, it has parts and no row of its own."""

    number: Part
    start: Part
    body: bytes


DUMP_PART = table("dump_part", DumpPartRow)
