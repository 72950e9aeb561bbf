"""Tables where games are played: their players, everything that happened, and what is said."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, NamedTuple

from sqlalchemy import Index, UniqueConstraint, text

from pbem.domain.deleted_people import PersonName
from pbem.domain.missed_turns import FEWEST
from pbem.domain.states import CallStatus, Insight, InvitationStatus, OfferStatus, TableStatus
from pbem.store.schema.base import KEY, GameId, Id, Part, PersonId, one_of, table


class GameRow(NamedTuple):
    """A table, from its announcement to its end. `key` names it for ever, on any server.

    A table asked for from an unconfirmed address is `planned`, and nobody else sees it. One that its host closed before
    the start is `closed`; one that ended without a result is `void`.

    `state`, `box`, `seals` and `orders` are the snapshot after row `seq` of the log. `turn` is the number of the next entry,
    never used before unless that entry was undone. `head` is the hash of the last row, `entry_head` that of the last
    entry, which emails may show. `halted` says why the server has stopped a `frozen` table: its rules are missing, have
    failed or have changed. Of each seat, the first `grace` missed turns don't count; the move made for one can be taken back
    for `second_chance` hours. Of each player's week, up to `time_off` hours count. With `going_back`, moves are taken back by
    everyone's consent. `stand_in` is the bot that takes over seats, and `hints` says whether players may ask for hints.

    Before the start, `seats` is the most players there may be and `fewest` the least. The game begins with those who are there
    once the moment `starts_at` has come, and then it has a seat for each.
    `conditions` are what those who join without an invitation are asked.

    `result_seq` is the number of a `rated` game's ending among all results: None until a worker has added it, 0 where it
    could not. `counted` is whether a public game is in the statistics: None until a worker has tried.
    """

    id: Id
    key: str
    kind: str
    rules: int
    seats: int
    options: str
    title: str
    pace: str
    time_off: int
    host_id: PersonId
    private: bool
    doubles: bool
    missed_limit: int
    grace: int
    second_chance: int
    going_back: bool
    successor: str
    stand_in: str
    hints: bool
    rated: bool
    status: str
    paused: bool
    created_at: datetime
    fewest: int
    starts_at: datetime | None
    conditions: str
    expires_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    commitment: str
    secret: bytes
    seed: bytes | None
    seq: int
    turn: int
    head: bytes
    entry_head: bytes
    state: str
    box: str
    seals: str
    orders: str
    halted: str | None
    result_seq: int | None
    counted: bool | None

    def __repr__(self) -> str:
        # The secret reveals every card of the game, so no trace or log may show it.
        return f"GameRow(id={self.id}, kind={self.kind!r}, status={self.status!r}, seq={self.seq})"


# Queries use these very words, because SQLite takes a partial index only for them.
HAS_NO_RESULT: Final = text("rated AND status = 'over' AND result_seq IS NULL")
IS_NOT_COUNTED: Final = text("NOT private AND status = 'over' AND counted IS NULL")
IS_PUBLIC_RESULT: Final = text("NOT private AND status = 'over'")
IS_WAITING: Final = text("status IN ('planned', 'open')")
IS_OPEN: Final = text("status = 'open'")

GAME = table(
    "game",
    GameRow,
    UniqueConstraint("key"),
    one_of("status", *TableStatus),
    one_of("successor", "substitute", "bot"),
    one_of("halted", "gone", "failed", "changed"),
    Index(None, "status", "created_at"),
    Index(None, "status", "private", "created_at"),
    Index(None, "status", "kind", "created_at"),
    Index(None, "status", "private", "kind", "created_at"),
    Index(None, "status", "kind", "rules"),
    Index(None, "host_id"),
    Index(None, "ended_at"),
    Index("ix_game_expiry", "status", "expires_at", sqlite_where=IS_WAITING, postgresql_where=IS_WAITING),
    Index("ix_game_start", "status", "starts_at", sqlite_where=IS_OPEN, postgresql_where=IS_OPEN),
    Index("ix_game_result", "status", "ended_at", "id", sqlite_where=HAS_NO_RESULT, postgresql_where=HAS_NO_RESULT),
    Index("ix_game_counted", "status", "ended_at", "id", sqlite_where=IS_NOT_COUNTED, postgresql_where=IS_NOT_COUNTED),
    Index(
        "ix_game_public", "status", "ended_at", "key", sqlite_where=IS_PUBLIC_RESULT, postgresql_where=IS_PUBLIC_RESULT
    ),
    Index(
        "ix_game_public_of_kind",
        "status",
        "kind",
        "ended_at",
        "key",
        sqlite_where=IS_PUBLIC_RESULT,
        postgresql_where=IS_PUBLIC_RESULT,
    ),
)


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player of a game. `number` is the order of joining; `seat` is drawn when the game begins."""

    game_id: Annotated[GameId, KEY]
    number: Part
    seat: int | None
    person_id: PersonId | None
    bot: str | None
    name: str
    word: str
    joined_at: datetime
    missed: int

    @property
    def called(self) -> PersonName:
        """The player's name for an email."""
        return PersonName(self.person_id, self.name)


_HAS_MISSED: Final = text(f"missed >= {FEWEST}")

PLAYER = table(
    "player",
    PlayerRow,
    UniqueConstraint("game_id", "seat"),
    Index(None, "person_id"),
    # Partial, because few players miss that many turns in a row.
    Index("ix_player_missed", "missed", sqlite_where=_HAS_MISSED, postgresql_where=_HAS_MISSED),
)


@dataclass(frozen=True, slots=True)
class FormerPlayerRow:
    """A player whose seat someone else took over, with the name they had.

    `seq` is the row of the log that seated the successor, `turn` the successor's first, and `lines` the number of lines of talk
    at the table until then. A clock can be set back, so no time says what was said before.
    """

    game_id: Annotated[GameId, KEY]
    seat: Part
    seq: Part
    turn: int
    lines: int
    person_id: PersonId | None
    name: str


FORMER_PLAYER = table("former_player", FormerPlayerRow, Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation to a table, and its answer.

    `typed` is the address that the table's host typed: the only one that the host may read again. It is empty where they
    typed none.
    """

    id: Id
    game_id: GameId
    person_id: PersonId
    typed: str | None
    status: str
    created_at: datetime
    answered_at: datetime | None


INVITATION = table(
    "invitation", InvitationRow, UniqueConstraint("game_id", "person_id"), one_of("status", *InvitationStatus)
)


@dataclass(frozen=True, slots=True)
class JoinRequestRow:
    """A request to join a table with a typed address; becomes a seat when that address is confirmed.

    `invited` are the addresses that a host wants to invite, one a line: nothing else is stored of them until then.
    """

    game_id: Annotated[GameId, KEY]
    person_id: Annotated[PersonId, KEY]
    name: str
    word: str
    created_at: datetime
    invited: str = field(default="", repr=False)


JOIN_REQUEST = table("join_request", JoinRequestRow, Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a game's history. Rows are added, never changed; `domain.hash_chain` says how they are hashed."""

    game_id: Annotated[GameId, KEY]
    seq: Part
    kind: str
    seat: int | None
    by: str
    at: datetime
    rules: int
    body: bytes
    nonce: bytes
    body_hash: bytes
    hash: bytes


# Recent rows are counted by the hour, for all tables together.
LOG = table("log", LogRow, Index(None, "at"))


@dataclass(frozen=True, slots=True)
class TalkRow:
    """One line of table talk, in a hash chain of its own per game; a redacted line has no text.

    `log_seq` is the last row of the game's log when it was said: what came before or after, no clock can say.
    """

    game_id: Annotated[GameId, KEY]
    seq: Part
    seat: int
    at: datetime
    rules: int
    body: bytes | None
    nonce: bytes | None
    body_hash: bytes
    hash: bytes
    log_seq: int


TALK = table("talk", TalkRow)


@dataclass(frozen=True, slots=True)
class ViewRow:
    """What a seat knew after turn `turn`, with all rows up to `seq`, so that nobody has to start at the first row.

    The spectator is seat -1. All readers of a game are stored together, every so often.
    """

    game_id: Annotated[GameId, KEY]
    seat: Part
    turn: Part
    seq: int
    body: str


VIEW = table("view", ViewRow)


@dataclass(frozen=True, slots=True)
class RecordingRow:
    """What a release made of a table: its imprint after each entry up to row `seq`, undone ones included.

    `code` names the rules that it was played by, so that a process knows what other code must replay. `rulings` is the
    number of rulings that this code knew: later ones may change what they say.
    """

    game_id: Annotated[GameId, KEY]
    seq: int
    code: str
    rulings: int
    imprints: bytes


RECORDING = table("recording", RecordingRow)


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """The coach's review of a finished game for the person who had a seat at its end; a worker makes it once `due_at` has come.

    `body` is canonical JSON, or None until it's made. `shared` is whether the others at the table may read it.
    """

    game_id: Annotated[GameId, KEY]
    seat: Part
    person_id: PersonId
    due_at: datetime
    attempts: int
    body: str | None
    shared: bool


_TO_BE_MADE: Final = text("body IS NULL")

REVIEW = table(
    "review",
    ReviewRow,
    Index(None, "person_id"),
    Index("ix_review_due", "due_at", sqlite_where=_TO_BE_MADE, postgresql_where=_TO_BE_MADE),
)


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A seat whose player is gone: the player, the reason and the outcome.

    It is `open` while the seat can change hands: `successor` says whether others were asked to take it or a bot plays
    on. Until then the player may come back. An open offer with `taken_by` was reserved in `reserved_turn`, under the name
    `reserved_as`: that is settled once that turn is over.
    """

    id: Id
    game_id: GameId
    seat: int
    person_id: PersonId
    why: str
    successor: str
    status: str
    offered_at: datetime
    ended_at: datetime | None
    taken_by: PersonId | None
    reserved_turn: int | None
    reserved_as: str | None


OFFER = table(
    "offer",
    OfferRow,
    one_of("successor", "substitute", "bot"),
    one_of("status", *OfferStatus),
    Index(None, "game_id", "seat"),
    Index(None, "person_id"),
    Index(None, "status"),
)


@dataclass(frozen=True, slots=True)
class VoteRow:
    """A seat's consent to end a game without a result."""

    game_id: Annotated[GameId, KEY]
    seat: Part
    at: datetime


VOTE = table("vote", VoteRow)


@dataclass(frozen=True, slots=True)
class BackVoteRow:
    """A seat's consent to go back to the start of turn `back_to`; it counts while `head` is the hash of the game's last entry."""

    game_id: Annotated[GameId, KEY]
    seat: Part
    head: bytes
    back_to: int


BACK_VOTE = table("back_vote", BackVoteRow)


@dataclass(frozen=True, slots=True)
class InsiderRow:
    """Someone who knows the hidden side of a table: they lost a seat there, or looked as an organiser."""

    game_id: Annotated[GameId, KEY]
    person_id: Annotated[PersonId, KEY]
    how: Annotated[str, KEY]


INSIDER = table("insider", InsiderRow, one_of("how", *Insight), Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call for the organiser. Unless it is `proven`, someone has typed the person's address, and it may not be theirs.

    `turn` was open at its table then, which was played by version `rules`; None before the start, or without a table.
    """

    id: Id
    at: datetime
    game_id: GameId | None
    seat: int | None
    turn: int | None
    rules: int | None
    person_id: PersonId | None
    proven: bool
    text: str
    status: str
    answer: str | None
    answered_at: datetime | None


CALL = table("call", CallRow, one_of("status", *CallStatus), Index(None, "status", "at"))
