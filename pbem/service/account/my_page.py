"""The pages of a signed-in person: games, emails and settings.

Each page takes a fixed number of statements, however many tables there are. The caller has checked the session; every
function takes the id of the person.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from engine.result import Place
from pbem.domain.delivery import Way
from pbem.domain.errors import Forbidden, NotFound
from pbem.domain.localtime import stored_zone
from pbem.domain.states import TableStatus
from pbem.domain.week import Week, parse_week, read_week
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence import offers
from pbem.service.clocks import vacations as vacation_days
from pbem.service.outgoing import ledger, preferences
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.outgoing.preferences import EmailPreferences
from pbem.service.people import addresses as persons, blocks, sessions
from pbem.service.people.sessions import Session
from pbem.service.play.endings import rank_at_end
from pbem.service.server import Server
from pbem.store import (
    deadlines,
    friends,
    games,
    links as link_rows,
    people,
    players as player_rows,
    profiles,
    reachability,
    tables,
    tournaments,
)
from pbem.store.blocks import BlockRow
from pbem.store.database import Tx
from pbem.store.deadlines import NextTurn
from pbem.store.games import GameRow
from pbem.store.links import LinkKey
from pbem.store.players import PlayerRow
from pbem.store.profiles import ProfileRow
from pbem.store.schema import FriendRow
from pbem.store.sessions import Holder
from pbem.store.vacations import VacationRow
from pbem.tokens import Purpose

MOST_EMAILS: Final = 50
"""Emails on the page, the newest."""

_BEGUN: Final = (TableStatus.PLAYING, TableStatus.FROZEN)

MOST_OVER: Final = 30
"""Finished games on the page, the latest; the export of personal data has all."""


@dataclass(frozen=True, slots=True)
class SeatInPlay:
    """A seat in a running game. `asked` means that it is their turn, until `due_at`."""

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
class OpenTable:
    """A table waiting for players that the person has joined or hosts."""

    game_id: int
    title: str
    kind: str
    seats: int
    present: int
    hosted: bool


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game the person has finished. Their `rank` among the `seats` is None without a result."""

    game_id: int
    key: str
    seat: int
    title: str
    kind: str
    public: bool
    void: bool
    ended_at: datetime | None
    seats: int
    rank: Place | None


@dataclass(frozen=True, slots=True)
class MyGames:
    """The page of games. `failing_since` is when email to the person began to fail; `covered`, whether a channel tells them.

    `zone_chosen` tells that the person has said which zone is theirs. `tournaments` are the keys and names of those that the person
    is in, or hosts.
    """

    name: str
    zone: ZoneInfo
    zone_chosen: bool
    tournaments: tuple[tuple[str, str], ...]
    played: tuple[SeatInPlay, ...]
    waiting: tuple[OpenTable, ...]
    over: tuple[FinishedGame, ...]
    failing_since: datetime | None
    covered: bool


@dataclass(frozen=True, slots=True)
class MyEmails:
    """The page of emails: the person's preferences, and the latest emails with their status.

    `stop` is the token of the page for single tables, empty if none was ever emailed; `tables` are the keys and titles to
    choose from. `titles` are those of the tables of the emails.
    """

    zone: ZoneInfo
    preferences: EmailPreferences
    listed: tuple[EmailHistory, ...]
    titles: dict[int, str]
    stop: str
    tables: tuple[tuple[str, str], ...]
    failing_since: datetime | None


@dataclass(frozen=True, slots=True)
class Settings:
    """A person's settings. `days_left` are days of vacation left this year."""

    name: str
    zone: ZoneInfo
    quiet: str
    cadence: str
    willing: bool
    sealed: bool
    reviews: bool
    show_ratings: bool
    week: Week | None
    vacations: tuple[VacationRow, ...]
    days_left: int


@dataclass(frozen=True, slots=True)
class Account:
    """A person's address, name, open sessions, blocked players and friends, and the profile that they show, if any."""

    address: str
    name: str
    profile: ProfileRow | None
    sessions: tuple[Session, ...]
    blocked: tuple[BlockRow, ...]
    friends: tuple[FriendRow, ...]


def my_games(tx: Tx, server: Server, person_id: int) -> MyGames:
    """A person's tables, those where it is their turn first."""
    person = people.read(tx, person_id)
    joined = tables.of_person(tx, person_id, (TableStatus.OPEN, *_BEGUN))
    hosted = [row for row in tables.hosted_by(tx, person_id, (TableStatus.OPEN,)) if row not in joined]
    over = tables.finished_games(tx, person_id, MOST_OVER)
    players = player_rows.of_games(tx, [row.id for row in (*joined, *hosted, *over)])
    asked = {(row.game_id, row.seat): row.due_at for row in deadlines.of_person(tx, person_id)}
    failure = reachability.failure(tx, person_id)
    played = [seat for row in joined if row.status in _BEGUN for seat in _seats_in_play(row, players, asked, person_id)]
    return MyGames(
        name=person.name,
        zone=stored_zone(person.zone),
        zone_chosen=person.zone_chosen,
        tournaments=tuple((row.key, row.name) for row in tournaments.own(tx, person_id)),
        played=tuple(sorted(played, key=_urgency)),
        waiting=tuple(
            OpenTable(row.id, row.title, row.kind, row.seats, len(players[row.id]), row.host_id == person_id)
            for row in (*joined, *hosted)
            if row.status == TableStatus.OPEN
        ),
        over=tuple(_finished_game(tx, row, players, person_id) for row in over),
        failing_since=None if failure is None else failure.start_at,
        covered=failure is not None and failure.covered_at is not None,
    )


def next_turn(tx: Tx, server: Server, person_id: int, but: int | None = None) -> NextTurn | None:
    """The most urgent turn of a person, at another table than `but` if one is given; None if no table waits."""
    return deadlines.next_of(tx, person_id, but)


def emails(tx: Tx, server: Server, person_id: int) -> MyEmails:
    """A person's latest emails, and how they like to be emailed."""
    person = people.read(tx, person_id)
    listed = ledger.of_person(tx, person_id, MOST_EMAILS)
    playing = tables.of_person(tx, person_id, (TableStatus.OPEN, TableStatus.PLAYING))
    stop = link_rows.find(tx, LinkKey(Purpose.STOP, person_id))
    failure = reachability.failure(tx, person_id)
    return MyEmails(
        zone=stored_zone(person.zone),
        preferences=preferences.of_person(tx, person),
        listed=tuple(listed),
        titles=tables.titles(tx, {email.game_id for email in listed if email.game_id is not None}),
        stop="" if stop is None else links.token(server, stop),
        tables=tuple((row.key, row.title) for row in playing),
        failing_since=None if failure is None else failure.start_at,
    )


def settings(tx: Tx, server: Server, person_id: int) -> Settings:
    """A person's settings."""
    booked, left = vacation_days.vacations(tx, server, person_id)
    person = people.read(tx, person_id)
    return Settings(
        name=person.name,
        zone=stored_zone(person.zone),
        quiet=person.quiet or "",
        cadence=person.cadence,
        willing=tables.is_volunteer(tx, person_id),
        sealed=person.sealed,
        reviews=person.reviews,
        show_ratings=person.show_ratings,
        week=None if person.zoned_week is None else read_week(person.zoned_week),
        vacations=tuple(booked),
        days_left=left,
    )


def account(tx: Tx, server: Server, holder: Holder, person_id: int) -> Account:
    """A person's account, read together."""
    person = people.read(tx, person_id)
    return Account(
        address=person.address,
        name=person.name,
        profile=profiles.of_person(tx, person_id),
        sessions=tuple(sessions.open_sessions(tx, server, holder)),
        blocked=tuple(blocks.blocked_by(tx, server, person_id)),
        friends=tuple(friends.of_person(tx, person_id)),
    )


def change_settings(
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
    reviews: bool,
    show_ratings: bool,
) -> None:
    """Change all settings, or none if one is invalid. Raises BadInput."""
    persons.change_settings(tx, server, person_id, name=name, zone=zone, quiet=quiet, cadence=cadence)
    people.change(tx, person_id, sealed=sealed, reviews=reviews, show_ratings=show_ratings)
    tables.set_volunteer(tx, person_id, willing, server.now())


def change_week(
    tx: Tx, server: Server, person_id: int, days_off: Collection[str], workdays: Collection[str], hours: str
) -> None:
    """Change a person's days off and working hours, from their next turn on. Raises BadInput."""
    person = people.lock(tx, person_id)
    week = parse_week(days_off, workdays, hours, stored_zone(person.zone))
    people.change(tx, person_id, week=week and week.times)


def choose_delivery(server: Server, person_id: int, way: str, digest_at: str = "") -> None:
    """Choose when emails are sent, and the time of day of a digest."""
    delivery, at = preferences.read_choice(way, digest_at)
    server.run(preferences.choose, person_id, delivery, digest_at=at)
    if delivery.way is Way.NOTHING:
        server.run(offers.set_volunteer, person_id, volunteers=False)


def seat_token(tx: Tx, server: Server, person_id: int, game_id: int, seat: int) -> str:
    """The token of one's own seat for the current turn, made if there is none. Raises Forbidden."""
    game = games.lock(tx, game_id)
    if all(player.person_id != person_id for player in player_rows.of_game(tx, game_id) if player.seat == seat):
        raise Forbidden(_("This isn't your seat."))
    return links.make_seat_token(tx, server, person_id, game, seat)


def table_token(tx: Tx, server: Server, person_id: int, game_id: int) -> str:
    """The token of a table waiting for players that the person has joined or hosts. Raises NotFound."""
    game = games.lock(tx, game_id)
    seated = any(player.person_id == person_id for player in player_rows.of_game(tx, game_id))
    if game.status != TableStatus.OPEN or not (seated or game.host_id == person_id):
        raise NotFound(
            _("You have no seat at this table, or its game has started."),
            remedy=_("You'll find your tables under “My games”."),
        )
    return links.make_token_to_join(tx, server, person_id, game)


def _urgency(seat: SeatInPlay) -> tuple[bool, bool, float, int]:
    """The order of seats: their turn first, the soonest deadline before others."""
    return not seat.asked, seat.due_at is None, 0 if seat.due_at is None else seat.due_at.timestamp(), seat.game_id


def _seats_in_play(
    row: GameRow, players: dict[int, list[PlayerRow]], asked: dict[tuple[int, int], datetime | None], person_id: int
) -> Iterable[SeatInPlay]:
    for player in players[row.id]:
        if player.person_id != person_id or player.seat is None:
            continue
        seat = row.id, player.seat
        yield SeatInPlay(
            game_id=row.id,
            key=row.key,
            seat=player.seat,
            title=row.title,
            kind=row.kind,
            name=player.name,
            hosted=row.host_id == person_id,
            paused=row.paused or row.status == TableStatus.FROZEN,
            asked=seat in asked,
            due_at=asked.get(seat),
        )


def _finished_game(tx: Tx, row: GameRow, players: dict[int, list[PlayerRow]], person_id: int) -> FinishedGame:
    seat = next(player.seat for player in players[row.id] if player.person_id == person_id)
    assert seat is not None, "the game has begun"
    return FinishedGame(
        game_id=row.id,
        key=row.key,
        seat=seat,
        title=row.title,
        kind=row.kind,
        public=not row.private,
        void=row.status == TableStatus.VOID,
        ended_at=row.ended_at,
        seats=row.seats,
        rank=rank_at_end(tx, row, seat),
    )
