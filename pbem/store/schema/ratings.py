"""Results of rated games, and the ratings that follow from them."""

from datetime import datetime
from typing import Annotated, Final, NamedTuple

from sqlalchemy import Index, text

from pbem.domain.states import ResultKind
from pbem.store.schema.base import KEY, GameId, Part, one_of, table


class ResultRow(NamedTuple):
    """One player's part in the ending of a rated game, in its correction, or a merge of two players. Never changed.

    `seq` counts endings, corrections and merges in one sequence, `number` the rows of each. `player` is a random key, which
    names nobody, or `bot:` and a level. `rank` is None where the game doesn't count for that player. A merge has only the key
    of a `player` and the one that it went `into`.
    """

    seq: Part
    number: Part
    what: str
    game_id: GameId | None
    kind: str | None
    seat: int | None
    player: str
    rank: int | None
    into: str | None
    at: datetime


_IS_CHANGE: Final = text("what <> 'ended'")
_IS_MERGE: Final = text("what = 'merged'")

RESULT = table(
    "result",
    ResultRow,
    one_of("what", *ResultKind),
    Index(None, "game_id", "seq"),
    Index(None, "player"),
    # Partial, because corrections and merges are few.
    Index("ix_result_changes", "seq", sqlite_where=_IS_CHANGE, postgresql_where=_IS_CHANGE),
    Index("ix_result_merges", "player", sqlite_where=_IS_MERGE, postgresql_where=_IS_MERGE),
)


class RatingRow(NamedTuple):
    """How the ending `seq` changed one rating of a player: that of a `kind` of game, or the overall one, whose kind is empty.

    It follows from `result` alone. `games` counts those rated so far, this one included.
    """

    seq: Part
    player: Annotated[str, KEY]
    kind: Annotated[str, KEY]
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float
    games: int


RATING = table("rating", RatingRow, Index(None, "player", "kind", "seq"))
