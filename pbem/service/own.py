"""One's own page: what the link to sign in opens, and the less that the link to stop mails opens.

The first shows a person their tables and settings and leads to every seat of theirs, so it is mailed on request and works
for a day. The second stands in every mail, where mail programs use it too: it can only make mails fewer, and call the
organiser.
"""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from pbem.domain.errors import Forbidden
from pbem.domain.localtime import parse_zone
from pbem.domain.reminder import USUAL, parse_cadence
from pbem.domain.words import name_of
from pbem.links import Purpose
from pbem.service import announced, links, stops, substitutes
from pbem.service import people as persons
from pbem.service.announced import Announced
from pbem.service.house import House
from pbem.store import deadlines, games, lobby
from pbem.store import links as link_rows
from pbem.store.database import Tx
from pbem.store.outages import VacationRow
from pbem.store.people import PersonRow

NO_REMINDERS = "none"


@dataclass(frozen=True, slots=True)
class Played:
    """A seat of one's own: at which table, whether it is asked, and until when."""

    game_id: int
    seat: int
    title: str
    kind: str
    name: str
    asked: bool
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Own:
    """What a person finds on their own page. `days_left` are days of vacation left this year."""

    name: str
    zone: ZoneInfo
    quiet: str
    cadence: str
    willing: bool
    played: tuple[Played, ...]
    waiting: tuple[Announced, ...]
    vacations: tuple[VacationRow, ...]
    days_left: int


def at(house: House, token: str) -> Own:
    """The page of whoever has signed in."""
    person = _person(house, token, Purpose.SIGN_IN)
    booked, left = stops.vacations(house, person.id)
    with house.store.read() as tx:
        played = _played(tx, person.id)
    return Own(
        name=person.name,
        zone=ZoneInfo(person.zone),
        quiet=person.quiet or "",
        cadence=person.cadence,
        willing=substitutes.is_willing(house, person.id),
        played=tuple(sorted(played, key=lambda seat: (not seat.asked, seat.due_at is None, seat.due_at, seat.game_id))),
        waiting=tuple(table for table in announced.of_person(house, person.id) if table.status == "open"),
        vacations=tuple(booked),
        days_left=left,
    )


def cadence(house: House, token: str) -> str:
    """When the holder of a link to stop mails is reminded."""
    return _person(house, token, Purpose.STOP).cadence


def seat_token(house: House, token: str, game_id: int, seat: int) -> str:
    """The token of a seat of one's own, made if there is none for its present window."""
    person = _person(house, token, Purpose.SIGN_IN)
    return house.write(lambda tx: _seat_token(tx, house, person.id, game_id, seat))


def settle(house: House, token: str, *, name: str, zone: str, quiet: str, cadence: str, willing: bool) -> None:
    """Change one's settings: each is checked before it is written."""
    person = _person(house, token, Purpose.SIGN_IN)
    # What cannot be is refused before anything is written.
    name_of(name), parse_zone(zone), parse_cadence(cadence)
    persons.set_quiet_hours(house, person.id, quiet)
    persons.rename(house, person.id, name)
    persons.set_zone(house, person.id, zone)
    persons.set_cadence(house, person.id, cadence)
    substitutes.set_willing(house, person.id, willing=willing)


def book_vacation(house: House, token: str, text: str) -> None:
    """Book days on which no clock of one's own runs."""
    stops.book_vacation(house, _person(house, token, Purpose.SIGN_IN).id, text)


def cancel_vacation(house: House, token: str, vacation_id: int) -> None:
    """Cancel such days, as far as they lie ahead."""
    stops.cancel_vacation(house, _person(house, token, Purpose.SIGN_IN).id, vacation_id)


def stop(house: House, token: str) -> None:
    """Send a person nothing but what their own tables cannot go on without; again changes nothing."""
    person = _person(house, token, Purpose.STOP)
    persons.set_cadence(house, person.id, NO_REMINDERS)
    substitutes.set_willing(house, person.id, willing=False)


def remind(house: House, token: str, cadence: str) -> str:
    """Choose when to be reminded; the usual cadence where nothing is said."""
    person = _person(house, token, Purpose.STOP)
    return persons.set_cadence(house, person.id, cadence or str(USUAL))


def _person(house: House, token: str, purpose: Purpose) -> PersonRow:
    link = links.opened(house, token, purpose)
    assert link.person_id is not None
    return persons.read(house, link.person_id)


def _played(tx: Tx, person_id: int) -> list[Played]:
    found = []
    for game in lobby.of_person(tx, person_id, ("playing",)):
        for place in games.places(tx, game.id):
            if place.person_id != person_id or place.seat is None:
                continue
            asked = deadlines.read(tx, game.id, game.window, place.seat)
            waits = asked is not None and asked.status == "open"
            due_at = asked.due_at if asked is not None and waits else None
            found.append(Played(game.id, place.seat, game.title, game.kind, place.name, waits, due_at))
    return found


def _seat_token(tx: Tx, house: House, person_id: int, game_id: int, seat: int) -> str:
    game = games.lock(tx, game_id)
    if all(place.person_id != person_id for place in games.places(tx, game_id) if place.seat == seat):
        raise Forbidden("This seat is not yours.")
    row = link_rows.read(tx, links.of_seat_in(tx, house, person_id, game_id, game.window, seat).seat)
    assert row is not None
    return links.token(house, row)
