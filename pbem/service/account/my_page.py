"""One's own pages, for whoever has signed in: their tables, what became of their mails, and how they want things.

Each page is read by a few statements, however many tables somebody has. Every function takes the number of the person;
that the browser is theirs was found out before.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.delivery import Way, parse_delivery
from pbem.domain.errors import Forbidden, NotFound
from pbem.domain.localtime import parse_wall, parse_zone
from pbem.domain.reminder import parse_cadence
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence import substitutes
from pbem.service.clocks import vacations as vacation_days
from pbem.service.outgoing import ledger, preferences
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.outgoing.preferences import EmailPreferences
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import deadlines, games, people, reachability
from pbem.store import links as link_rows
from pbem.store import players as player_rows
from pbem.store import tables as table_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkKey
from pbem.store.players import PlayerRow
from pbem.store.vacations import VacationRow
from pbem.tokens import Purpose

MOST_MAILS: Final = 50
"""Mails on one's own page; the newest are of most use."""

_BEGUN: Final = ("playing", "frozen")

MOST_OVER: Final = 30
"""Finished games there; all of them are in the file of everything about a person."""


@dataclass(frozen=True, slots=True)
class Played:
    """A seat of one's own: at which table, whether its clocks stand still, whether it is asked, and until when."""

    game_id: int
    key: str
    seat: int
    title: str
    kind: str
    name: str
    hosted: bool
    paused: bool
    asked: bool
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A table that waits for players, at which one has a place or whose host one is."""

    game_id: int
    title: str
    kind: str
    seats: int
    present: int
    hosted: bool


@dataclass(frozen=True, slots=True)
class Over:
    """A game that one has played, and that is over."""

    game_id: int
    key: str
    seat: int
    title: str
    kind: str
    public: bool
    void: bool
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Own:
    """What a person finds first. `failing_since` is since when mail to them has not arrived."""

    name: str
    zone: ZoneInfo
    played: tuple[Played, ...]
    waiting: tuple[Waiting, ...]
    over: tuple[Over, ...]
    failing_since: datetime | None


@dataclass(frozen=True, slots=True)
class Mails:
    """How a person is mailed, and what became of their mails.

    `stop` is the token of the page on which they choose for single tables, empty as long as they were never sent one, and
    `tables` are their running ones. `titles` name the tables of the mails.
    """

    zone: ZoneInfo
    wished: EmailPreferences
    listed: tuple[EmailHistory, ...]
    titles: dict[int, str]
    stop: str
    tables: tuple[tuple[str, str], ...]
    failing_since: datetime | None


@dataclass(frozen=True, slots=True)
class Settings:
    """How a person wants things. `days_left` are days of vacation left this year."""

    name: str
    zone: ZoneInfo
    quiet: str
    cadence: str
    willing: bool
    sealed: bool
    vacations: tuple[VacationRow, ...]
    days_left: int


def at(tx: Tx, server: Server, person_id: int) -> Own:
    """One's tables, those first that wait for an answer."""
    person = people.read(tx, person_id)
    joined = table_rows.of_person(tx, person_id, ("open", *_BEGUN))
    hosted = [row for row in table_rows.hosted_by(tx, person_id, ("open",)) if row not in joined]
    over = table_rows.lately_over(tx, person_id, MOST_OVER)
    players = player_rows.of_games(tx, [row.id for row in (*joined, *hosted, *over)])
    asked = {(row.game_id, row.seat): row.due_at for row in deadlines.of_person(tx, person_id)}
    failure = reachability.failure(tx, person_id)
    played = [each for row in joined if row.status in _BEGUN for each in _played(row, players, asked, person_id)]
    return Own(
        name=person.name,
        zone=ZoneInfo(person.zone),
        played=tuple(sorted(played, key=_urgency)),
        waiting=tuple(_waiting(row, players, person_id) for row in (*joined, *hosted) if row.status == "open"),
        over=tuple(_over(row, players, person_id) for row in over),
        failing_since=None if failure is None else failure.start_at,
    )


def emails(tx: Tx, server: Server, person_id: int) -> Mails:
    """How one is mailed, and what became of one's mails."""
    person = people.read(tx, person_id)
    listed = ledger.of_person(tx, person_id, MOST_MAILS)
    playing = table_rows.of_person(tx, person_id, ("open", "playing"))
    stop = link_rows.find(tx, LinkKey(Purpose.STOP, person_id))
    failure = reachability.failure(tx, person_id)
    return Mails(
        zone=ZoneInfo(person.zone),
        wished=preferences.of_person(tx, person),
        listed=tuple(listed),
        titles=table_rows.titles(tx, {each.game_id for each in listed if each.game_id is not None}),
        stop="" if stop is None else links.token(server, stop),
        tables=tuple((row.key, row.title) for row in playing),
        failing_since=None if failure is None else failure.start_at,
    )


def settings(tx: Tx, server: Server, person_id: int) -> Settings:
    """How one wants things."""
    booked, left = vacation_days.vacations(tx, server, person_id)
    person = people.read(tx, person_id)
    willing = table_rows.is_willing(tx, person_id)
    return Settings(
        name=person.name,
        zone=ZoneInfo(person.zone),
        quiet=person.quiet or "",
        cadence=person.cadence,
        willing=willing,
        sealed=person.sealed,
        vacations=tuple(booked),
        days_left=left,
    )


def settle(
    tx: Tx,
    server: Server,
    person_id: int,
    *,
    name: str,
    zone: str,
    quiet: str,
    cadence: str,
    willing: bool,
    sealed: bool,
) -> None:
    """Change how one wants things: all of it, or nothing where a part cannot be."""
    values = {
        "name": parse_name(name),
        "zone": parse_zone(zone).key,
        "quiet": persons.quiet_of(quiet),
        "cadence": str(parse_cadence(cadence)),
        "sealed": sealed,
    }

    people.lock(tx, person_id)
    people.change(tx, person_id, **values)
    table_rows.set_willing(tx, person_id, willing, server.now())


def choose(server: Server, person_id: int, way: str, digest_at: str = "") -> None:
    """Choose when mails come, and the time of day of a digest where that is the choice."""
    at: time | None = parse_wall(digest_at) if digest_at else None
    delivery = parse_delivery(way)
    server.run(preferences.choose, person_id, delivery, digest_at=at)
    if delivery.way is Way.NOTHING:
        server.run(substitutes.set_willing, person_id, willing=False)


def seat_token(tx: Tx, server: Server, person_id: int, game_id: int, seat: int) -> str:
    """The token of a seat of one's own, made if there is none for its present turn."""
    game = games.lock(tx, game_id)
    if all(player.person_id != person_id for player in player_rows.of_game(tx, game_id) if player.seat == seat):
        raise Forbidden(_("This seat is not yours."))
    made = links.make_for_seat(tx, server, person_id, game_id, game.turn, seat)
    return links.token(server, links.read(tx, made.seat))


def table_token(tx: Tx, server: Server, person_id: int, game_id: int) -> str:
    """The token of a table that waits for players, at which one has a place or whose host one is."""
    game = games.lock(tx, game_id)
    seated = any(player.person_id == person_id for player in player_rows.of_game(tx, game_id))
    if game.status != "open" or not (seated or game.host_id == person_id):
        raise NotFound(_("This table does not wait for you."), remedy=_("Your tables are on your own page."))
    meant = LinkKey(Purpose.CONFIRM, person_id, game_id)
    return links.token(server, links.read(tx, links.make(tx, server, meant, game.expires_at)))


def _urgency(seat: Played) -> tuple[bool, bool, float, int]:
    """What is asked comes first, what is due soonest before the others."""
    return not seat.asked, seat.due_at is None, 0 if seat.due_at is None else seat.due_at.timestamp(), seat.game_id


def _played(
    row: GameRow, players: dict[int, list[PlayerRow]], asked: dict[tuple[int, int], datetime | None], person_id: int
) -> Iterable[Played]:
    for player in players[row.id]:
        if player.person_id != person_id or player.seat is None:
            continue
        seat = row.id, player.seat
        yield Played(
            game_id=row.id,
            key=row.key,
            seat=player.seat,
            title=row.title,
            kind=row.kind,
            name=player.name,
            hosted=row.host_id == person_id,
            paused=row.paused or row.status == "frozen",
            asked=seat in asked,
            due_at=asked.get(seat),
        )


def _waiting(row: GameRow, players: dict[int, list[PlayerRow]], person_id: int) -> Waiting:
    return Waiting(row.id, row.title, row.kind, row.seats, len(players[row.id]), row.host_id == person_id)


def _over(row: GameRow, players: dict[int, list[PlayerRow]], person_id: int) -> Over:
    seat = next(player.seat for player in players[row.id] if player.person_id == person_id)
    assert seat is not None, "the game has begun"
    return Over(row.id, row.key, seat, row.title, row.kind, not row.private, row.status == "void", row.ended_at)
