"""Whole games, as rows: read at once from any database, and put in place of what is left of them in this one.

Links are never copied, and emails stay what they are: a record of what was sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Table, delete, func, insert, or_, select, update

from pbem.domain.deleted_people import is_former
from pbem.domain.hash_chain import Row as ChainRow
from pbem.domain.states import EmailKind, EmailStatus, Insight, OfferStatus, TableStatus, TurnStatus
from pbem.store import games, insiders, ledger, log, pauses, players, queries, search, talk
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.store.schema import (
    BACK_VOTE,
    DEADLINE,
    FLAW,
    FORMER_PLAYER,
    GAME,
    INSIDER,
    LINK,
    LOG,
    OFFER,
    OUTBOX,
    PAUSE,
    PERSON,
    PLAYER,
    RECORDING,
    REVIEW,
    TALK,
    VIEW,
    VOTE,
    FormerPlayerRow,
)
from pbem.store.schema.base import words_of

_REPLACED: Final = (LOG, TALK, VIEW, RECORDING, REVIEW, VOTE, BACK_VOTE, FLAW, DEADLINE, FORMER_PLAYER, PLAYER)
"""Tables whose rows of a game are its own alone. Nothing refers to them."""

_BY_ITSELF: Final = (EmailKind.CALL_ANSWERED, EmailKind.ANNOUNCEMENT, EmailKind.LINKS)
"""Kinds of email that are as true after a game was put back as before."""


@dataclass(frozen=True, slots=True, repr=False)
class SavedPerson:
    """A person as a saved game names them: by a key that stays, and by their normalised address."""

    key: str
    mailbox: str


@dataclass(frozen=True, slots=True, repr=False)
class SavedGame:
    """Everything that a game is made of, hidden cards included. `people` are those of its rows, by their ids there."""

    game: GameRow
    players: tuple[PlayerRow, ...]
    former_players: tuple[FormerPlayerRow, ...]
    people: Mapping[int, SavedPerson]
    insiders: tuple[tuple[int, str], ...]
    log: tuple[ChainRow, ...]
    talk: tuple[ChainRow, ...]
    talk_log_rows: Mapping[int, int]
    deadlines: tuple[DeadlineRow, ...]


def named(tx: Connection, which: str) -> int | None:
    """The id of the game with this id or key."""
    number = int(which) if which.isdecimal() and len(which) < 19 else None
    query = select(GAME.c.id).where(or_(GAME.c.id == number, GAME.c.key == which))
    return tx.execute(query).scalars().first()


def read(tx: Connection, game_id: int) -> SavedGame:
    """A game. Raises NotFound."""
    row = games.read(tx, game_id)
    seated = tuple(players.of_game(tx, game_id))
    former = tuple(players.former_of_game(tx, game_id))
    knowing = select(INSIDER.c.person_id, INSIDER.c.how).where(INSIDER.c.game_id == game_id)
    known = tuple((each.person_id, each.how) for each in tx.execute(knowing.order_by(INSIDER.c.person_id)))
    sat = {each.person_id for each in seated} | {each.person_id for each in former}
    named = {row.host_id, *sat, *(person_id for person_id, _ in known)} - {None}
    found = tx.execute(select(PERSON.c.id, PERSON.c.key, PERSON.c.mailbox).where(PERSON.c.id.in_(named)))
    asked = select(DEADLINE).where(DEADLINE.c.game_id == game_id).order_by(DEADLINE.c.turn, DEADLINE.c.seat)
    return SavedGame(
        game=row,
        players=seated,
        former_players=former,
        people={each.id: SavedPerson(each.key, each.mailbox) for each in found},
        insiders=known,
        log=tuple(log.chain(tx, game_id, row.key)),
        talk=tuple(talk.chain(tx, game_id, row.key)),
        talk_log_rows=talk.log_rows(tx, game_id),
        deadlines=tuple(queries.many(tx, DeadlineRow, asked)),
    )


def misfits(saved: SavedGame) -> Iterator[str]:
    """What no database would keep of a saved game: words that a column can't hold, and rows that are there twice."""
    rows: dict[Table, list[dict[str, Any]]] = {
        GAME: [saved.game._asdict()],
        PLAYER: [asdict(each) for each in saved.players],
        FORMER_PLAYER: [asdict(each) for each in saved.former_players],
        DEADLINE: [asdict(each) for each in saved.deadlines],
        INSIDER: [{"person_id": person_id, "how": how} for person_id, how in saved.insiders],
    }
    for table, found in rows.items():
        for column, allowed in words_of(table).items():
            odd = {each[column] for each in found} - {None, *allowed}
            yield from (f"{table.name}.{column} is {word!r}, which means nothing" for word in sorted(odd))
        key = [column.name for column in table.primary_key if column.name != "game_id"]
        keys = [tuple(each[name] for name in key) for each in found]
        if len({*keys}) < len(keys):
            yield f"a row of {table.name} is there twice"


def known_here(tx: Connection, saved: SavedGame) -> dict[int, PersonRow]:
    """The people of a saved game that are known here, by their ids there: by their key, or else by their address.

    One who was merged since is who they are now; of one who has left for good, only the row is left.
    """
    return {there: person for there, who in saved.people.items() if (person := _here(tx, who)) is not None}


def highest_turn(tx: Connection, game_id: int) -> int:
    """The highest turn that anything here knows of a game, which may be gone itself."""
    of_game = (
        select(func.max(table.c.turn)).where(table.c.game_id == game_id) for table in (DEADLINE, OUTBOX, LINK, VIEW)
    )
    turn = select(GAME.c.turn).where(GAME.c.id == game_id)
    return max(tx.execute(query).scalar() or 0 for query in (*of_game, turn))


def free_id(tx: Connection, game_id: int) -> int | None:
    """This id, if no game has it and no new one ever gets it; else None."""
    highest, taken = tx.execute(select(func.max(GAME.c.id), func.count().filter(GAME.c.id == game_id))).one()
    return game_id if not taken and 0 < game_id < (highest or 0) else None


def replace_all(tx: Connection, game_id: int | None, saved: SavedGame, now: datetime) -> int:
    """Put a game with these very rows in place of what is left of it; returns its id, a new one if None is given.

    The people that the rows name are those here.
    """
    values = saved.game._asdict()
    del values["id"]
    if game_id is not None:
        for table in _REPLACED:
            tx.execute(delete(table).where(table.c.game_id == game_id))
    if game_id is None:
        game_id = queries.add(tx, GAME, values)
    elif not tx.execute(update(GAME).where(GAME.c.id == game_id).values(values)).rowcount:
        tx.execute(insert(GAME), values | {"id": game_id})
    tx.execute(insert(PLAYER), [asdict(replace(each, game_id=game_id)) for each in saved.players])
    for each in saved.former_players:
        players.add_former(tx, replace(each, game_id=game_id))
    log.append(tx, game_id, saved.log)
    for line in saved.talk:
        # A line that was said here later follows the last row there is now.
        talk.add(tx, game_id, line, min(saved.talk_log_rows.get(line.seq, saved.game.seq), saved.game.seq))
    if saved.deadlines:
        tx.execute(insert(DEADLINE), [asdict(_past(each, game_id)) for each in saved.deadlines])
    for person_id, how in saved.insiders:
        insiders.note(tx, game_id, person_id, Insight(how))
    # Seats stay on offer, and requests for them wait for the end of the turn that is open now.
    reserved = (OFFER.c.game_id == game_id, OFFER.c.status == OfferStatus.OPEN, OFFER.c.reserved_turn.is_not(None))
    tx.execute(update(OFFER).where(*reserved).values(reserved_turn=saved.game.turn))
    _settle_pause(tx, game_id, now, paused=saved.game.paused or saved.game.status == TableStatus.FROZEN)
    search.of_table(tx, game_id)
    return game_id


def set_emails_aside(tx: Connection, game_id: int, after_seq: int, now: datetime, why: str) -> int:
    """Supersede the queued emails about turns, rows, reviews and lines of talk of a game, and return their number.

    Emails about rows after `after_seq` name no row any more: other rows get those numbers, and other lines may get those of talk.
    """
    named = OUTBOX.c.kind.in_((EmailKind.REVIEW, EmailKind.MENTION))
    part = or_(OUTBOX.c.turn.is_not(None), OUTBOX.c.seq.is_not(None), named)
    about = (OUTBOX.c.game_id == game_id, part)
    waiting = (OUTBOX.c.status.in_((EmailStatus.QUEUED, EmailStatus.DIGEST)), OUTBOX.c.lease_id.is_(None))
    outdated = update(OUTBOX).where(*about, *waiting, OUTBOX.c.kind.not_in(_BY_ITSELF))
    ids = list(tx.execute(outdated.values(status=EmailStatus.SUPERSEDED).returning(OUTBOX.c.id)).scalars())
    if ids:
        ledger.note_all(tx, now, "superseded", dict.fromkeys(ids, why))
    tx.execute(update(OUTBOX).where(OUTBOX.c.game_id == game_id, OUTBOX.c.seq > after_seq).values(seq=None))
    return len(ids)


def _here(tx: Connection, saved: SavedPerson) -> PersonRow | None:
    same = select(PERSON).where(or_(PERSON.c.key == saved.key, PERSON.c.mailbox == saved.mailbox))
    found = queries.many(tx, PersonRow, same)
    person = next((each for each in found if each.key == saved.key), next(iter(found), None))
    if person is None or not is_former(person.address):
        return person
    merged = queries.by_id(tx, PersonRow, PERSON, insiders.everyone(tx, person.id)).values()
    now = [each for each in merged if not is_former(each.address)]
    return now[0] if len(now) == 1 else person


def _past(row: DeadlineRow, game_id: int) -> DeadlineRow:
    """A deadline of a turn that is over, or that is asked again."""
    return replace(
        row,
        game_id=game_id,
        status=TurnStatus.REWOUND if row.status == TurnStatus.OPEN else row.status,
        claimed_until=None,
    )


def _settle_pause(tx: Connection, game_id: int, now: datetime, *, paused: bool) -> None:
    """Begin or end the pause of a game, if that is not how it stands."""
    going_on = queries.count(tx, PAUSE, PAUSE.c.game_id == game_id, PAUSE.c.end_at.is_(None)) > 0
    if paused and not going_on:
        pauses.begin(tx, game_id, now)
    elif going_on and not paused:
        pauses.end(tx, game_id, now)
