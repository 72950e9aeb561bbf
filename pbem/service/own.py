"""One's own page: what the link to sign in opens.

It shows a person their tables, their settings and what became of their mails, and leads to every seat of theirs, so it is
mailed on request and works for a day. When mails come is chosen on a page of its own: `wishes_by_link`.
"""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from pbem.domain.errors import Forbidden
from pbem.domain.localtime import parse_zone
from pbem.domain.reminder import parse_cadence
from pbem.domain.words import name_of
from pbem.links import Purpose
from pbem.service import announced, ledger, links, stops, substitutes, wishes
from pbem.service import people as persons
from pbem.service.announced import Announced
from pbem.service.house import House
from pbem.service.ledger import Listed
from pbem.service.wishes import Wished
from pbem.store import deadlines, games, lobby, outages
from pbem.store import links as link_rows
from pbem.store.database import Tx
from pbem.store.links import Meant
from pbem.store.outages import VacationRow
from pbem.store.people import PersonRow

MOST_MAILS = 20
"""Mails on one's own page; the newest are of most use."""


@dataclass(frozen=True, slots=True)
class Played:
    """A seat of one's own: at which table, whether it is asked, and until when."""

    game_id: int
    key: str
    seat: int
    title: str
    kind: str
    name: str
    asked: bool
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Own:
    """What a person finds on their own page. `days_left` are days of vacation left this year.

    `stop` is the token of the page on which they choose when mails come, empty as long as they were never sent one.
    `failing_since` is since when mail to them has not arrived.
    """

    name: str
    zone: ZoneInfo
    quiet: str
    cadence: str
    willing: bool
    played: tuple[Played, ...]
    waiting: tuple[Announced, ...]
    vacations: tuple[VacationRow, ...]
    days_left: int
    wished: Wished
    mails: tuple[Listed, ...]
    stop: str
    failing_since: datetime | None


def at(house: House, token: str) -> Own:
    """The page of whoever has signed in."""
    person = _person(house, token)
    booked, left = stops.vacations(house, person.id)
    with house.store.read() as tx:
        played = _played(tx, person.id)
        wished = wishes.of_all_in(tx, person)
        stop = link_rows.find(tx, Meant(Purpose.STOP, person.id))
        failure = outages.failure(tx, person.id)
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
        wished=wished,
        mails=tuple(ledger.of_person(house, person.id, MOST_MAILS)),
        stop="" if stop is None else links.token(house, stop),
        failing_since=None if failure is None else failure.start_at,
    )


def seat_token(house: House, token: str, game_id: int, seat: int) -> str:
    """The token of a seat of one's own, made if there is none for its present window."""
    person = _acting(house, token)
    return house.write(lambda tx: _seat_token(tx, house, person.id, game_id, seat))


def settle(house: House, token: str, *, name: str, zone: str, quiet: str, cadence: str, willing: bool) -> None:
    """Change one's settings: each is checked before it is written."""
    person = _acting(house, token)
    # What cannot be is refused before anything is written.
    name_of(name), parse_zone(zone), parse_cadence(cadence)
    persons.set_quiet_hours(house, person.id, quiet)
    persons.rename(house, person.id, name)
    persons.set_zone(house, person.id, zone)
    persons.set_cadence(house, person.id, cadence)
    substitutes.set_willing(house, person.id, willing=willing)


def mail_fails(house: House, person_id: int) -> bool:
    """Whether mail to a person does not arrive at present."""
    with house.store.read() as tx:
        return outages.failure(tx, person_id) is not None


def turn_again(house: House, token: str, game_id: int, seat: int) -> None:
    """Have the mail of one's present turn sent anew."""
    ledger.turn_again(house, _acting(house, token).id, game_id, seat)


def reached(house: House, token: str) -> bool:
    """Say that mail arrives again: whoever opens a link that was mailed since it failed must know."""
    link = links.opened(house, token, Purpose.SIGN_IN)
    person_id = link.person_id
    assert person_id is not None
    return house.write(lambda tx: stops.heard_from(tx, house, person_id, link.created_at))


def book_vacation(house: House, token: str, text: str) -> None:
    """Book days on which no clock of one's own runs."""
    stops.book_vacation(house, _acting(house, token).id, text)


def cancel_vacation(house: House, token: str, vacation_id: int) -> None:
    """Cancel such days, as far as they lie ahead."""
    stops.cancel_vacation(house, _acting(house, token).id, vacation_id)


def _acting(house: House, token: str) -> PersonRow:
    """Whoever does something on their own page: by that, mail to them arrives."""
    reached(house, token)
    return _person(house, token)


def _person(house: House, token: str) -> PersonRow:
    link = links.opened(house, token, Purpose.SIGN_IN)
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
            found.append(Played(game.id, game.key, place.seat, game.title, game.kind, place.name, waits, due_at))
    return found


def _seat_token(tx: Tx, house: House, person_id: int, game_id: int, seat: int) -> str:
    game = games.lock(tx, game_id)
    if all(place.person_id != person_id for place in games.places(tx, game_id) if place.seat == seat):
        raise Forbidden("This seat is not yours.")
    row = link_rows.read(tx, links.of_seat_in(tx, house, person_id, game_id, game.window, seat).seat)
    assert row is not None
    return links.token(house, row)
