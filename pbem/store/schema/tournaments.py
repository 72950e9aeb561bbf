"""Tournaments: who takes part, and the tables of their rounds."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, NamedTuple

from sqlalchemy import Index, UniqueConstraint, text

from pbem.domain.states import EntrantStatus, InvitationStatus, TournamentStatus
from pbem.store.schema.base import KEY, Id, Part, PersonId, Reference, one_of, table
from pbem.store.schema.groups import GroupId

TournamentId = Annotated[int, Reference("tournament.id")]


class TournamentRow(NamedTuple):
    """A tournament, from its announcement to its end. `key` names it for ever.

    `plan` is what pairing reads, `settings` are those of each table: both JSON. `seeds` lists, as JSON, the entrants in the order of a
    host who seeds by hand. `conditions` are for people who sign up without an invitation; one of a group is for its members alone. People sign up until `closes_at`. Then the seed is
    made from the `secret`, to which the server is bound by the `commitment`, and the words of the entrants. `round` is the
    number of the latest round, which is to be over by `due_at`; `byes` lists for each round, as JSON, who had none; `late` says what happens to tables that are not. While its host
    has paused it, no round opens and none is late. `winners` lists, as JSON, the numbers of the entrants who have won once it is over.
    """

    id: Id
    key: str
    name: str
    kind: str
    host_id: PersonId
    plan: str
    settings: str
    seeding: str
    seeds: str
    conditions: str
    group_id: GroupId | None
    fewest: int
    most: int
    late: str
    round_days: int
    status: str
    paused_at: datetime | None
    round: int
    byes: str
    created_at: datetime
    closes_at: datetime
    due_at: datetime | None
    ended_at: datetime | None
    winners: str
    commitment: str
    secret: bytes
    seed: str
    season: int
    previous_id: TournamentId | None

    def __repr__(self) -> str:
        return f"TournamentRow(id={self.id}, kind={self.kind!r}, status={self.status!r}, round={self.round})"


_IS_CURRENT: Final = text("status IN ('open', 'playing')")
_IS_PUBLIC: Final = text("group_id IS NULL")
_OF_GROUP: Final = text("group_id IS NOT NULL")

TOURNAMENT = table(
    "tournament",
    TournamentRow,
    UniqueConstraint("key"),
    one_of("status", *TournamentStatus),
    Index(None, "status", "created_at", "key"),
    Index("ix_tournament_public", "created_at", "key", sqlite_where=_IS_PUBLIC, postgresql_where=_IS_PUBLIC),
    Index(None, "host_id"),
    Index("ix_tournament_group", "group_id", sqlite_where=_OF_GROUP, postgresql_where=_OF_GROUP),
    Index("ix_tournament_current", "id", sqlite_where=_IS_CURRENT, postgresql_where=_IS_CURRENT),
)


@dataclass(frozen=True, slots=True)
class EntrantRow:
    """Someone who takes part. `number` is the order of signing up; `rank` is the seed, 1 the strongest, and 0 before the start.

    They can be at tables from round `since` on, and up to round `until` if that is set, but not in the rounds of the list `away`, as
    JSON, from which they came back. Those who wait for a place have the status `waiting`, those who were taken out because they made
    no choice in a round `absent`. A bot that fills a table has no person; someone who was merged with another after the start may
    have two entries, and has left one.
    """

    tournament_id: Annotated[TournamentId, KEY]
    number: Part
    person_id: PersonId | None
    bot: str | None
    name: str
    word: str
    status: str
    rank: int
    division: int
    since: int
    until: int | None
    away: str
    signed_up_at: datetime


ENTRANT = table("entrant", EntrantRow, one_of("status", *EntrantStatus), Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class SignUpRow:
    """An invitation to a tournament, or a request for one with a typed address, and its answer.

    `typed` is the address that the host typed: the only one that the host may read again. `round` is the tournament's at the time.
    """

    tournament_id: Annotated[TournamentId, KEY]
    person_id: Annotated[PersonId, KEY]
    typed: str | None = field(repr=False)
    status: str
    created_at: datetime
    round: int


SIGN_UP = table("sign_up", SignUpRow, one_of("status", *InvitationStatus), Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class RoundTableRow:
    """A table of a round. `seats` are the numbers of its entrants in the order of seats, `places` theirs at its end.

    `how` says how its game ended. `corrections` is a list, as JSON: places, the reason, and the latest round at that time, because
    rounds that had opened by then were paired without it.
    """

    tournament_id: Annotated[TournamentId, KEY]
    round: Part
    number: Part
    game_id: Annotated[int, Reference("game.id")]
    seats: str
    places: str | None
    how: str
    corrections: str


_IS_NOT_NOTED: Final = text("places IS NULL")

ROUND_TABLE = table(
    "round_table",
    RoundTableRow,
    UniqueConstraint("game_id"),
    one_of("how", "", "played", "bots", "void"),
    # Partial, because the tables of the present rounds are few.
    Index("ix_round_table_not_noted", "game_id", sqlite_where=_IS_NOT_NOTED, postgresql_where=_IS_NOT_NOTED),
)
