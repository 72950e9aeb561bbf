"""Calling the organiser: from every page and every mail, and the queue in which calls wait for an answer.

A call says from which game and seat it came, so that nobody has to explain that. Whoever calls from a page without being
known leaves an address. An answer goes to the caller by mail. Nothing here helps by itself: people do.
"""

from datetime import timedelta
from typing import Final

from pbem.domain.errors import Forbidden, Gone, TooMany
from pbem.domain.guests import is_guest
from pbem.domain.words import text_of
from pbem.service import alarms
from pbem.service import people as persons
from pbem.service.alarms import What
from pbem.service.house import House
from pbem.store import calls, games, outbox, people
from pbem.store.calls import CallRow
from pbem.store.database import Tx

CALLS_AN_HOUR: Final = 5
"""So often one person may call; an organiser reads everything."""

STRANGERS_AN_HOUR: Final = 20
"""So often all those may call together whose address has never been confirmed."""

MOST_SHOWN: Final = 200
"""Calls on one page of the queue."""


def call(house: House, person_id: int, text: str, *, game_id: int | None = None, seat: int | None = None) -> int:
    """Call the organiser from a page or a mail of one's own; the number of the call. The same again is one call."""
    said = text_of(text)
    return house.write(lambda tx: _call(tx, house, person_id, said, game_id, seat))


def call_from(house: House, address: str, text: str, *, game_id: int | None = None) -> int:
    """Call the organiser from a public page, leaving an address for the answer; the number of the call."""
    said = text_of(text)
    return house.write(lambda tx: _call_from(tx, house, address, said, game_id))


def waiting(house: House) -> list[CallRow]:
    """The calls that nobody has answered, the oldest first."""
    with house.store.read() as tx:
        return calls.queue(tx, "open", MOST_SHOWN)


def closed(house: House) -> list[CallRow]:
    """The calls that are done with, the newest first."""
    with house.store.read() as tx:
        return calls.queue(tx, "closed", MOST_SHOWN)


def answer(house: House, call_id: int, text: str) -> None:
    """Answer a call by mail, and be done with it; the same answer again is not sent again."""
    said = text_of(text)
    house.write(lambda tx: _answer(tx, house, call_id, said))


def close(house: House, call_id: int) -> None:
    """Be done with a call without an answer; again changes nothing."""
    house.write(lambda tx: _close(tx, house, call_id))


def _call(tx: Tx, house: House, person_id: int, text: str, game_id: int | None, seat: int | None) -> int:
    if is_guest(people.lock(tx, person_id).address):
        raise Forbidden(
            "From a demo nobody is called.",
            why="There would be no address to send the answer to.",
            remedy="Please use the form behind “Call the organiser” on our front page.",
        )
    if (known := calls.same(tx, person_id, game_id, seat, text)) is not None:
        return known
    if game_id is not None:
        games.read(tx, game_id)
    if seat is not None:
        held = game_id is not None and [place.person_id for place in games.places(tx, game_id) if place.seat == seat]
        if held != [person_id]:
            raise Forbidden("This seat is not yours.")
    now = house.now()
    if calls.since(tx, person_id, now - timedelta(hours=1)) >= CALLS_AN_HOUR:
        raise _too_many(CALLS_AN_HOUR)
    caller = people.read(tx, person_id).name or "Somebody who has given no name"
    alarms.raise_in(tx, house, What.CALL, f"{caller}: {text}", game_id)
    return calls.add(tx, at=now, game_id=game_id, seat=seat, person_id=person_id, text=text)


def _call_from(tx: Tx, house: House, address: str, text: str, game_id: int | None) -> int:
    person = persons.known_in(tx, house, address)
    strangers = calls.strangers_since(tx, house.now() - timedelta(hours=1))
    if person.confirmed_at is None and strangers >= STRANGERS_AN_HOUR:
        raise _too_many(STRANGERS_AN_HOUR)
    return _call(tx, house, person.id, text, game_id, None)


def _answer(tx: Tx, house: House, call_id: int, text: str) -> None:
    row = calls.lock(tx, call_id)
    if row.status == "closed":
        if row.answer == text:
            return
        raise Gone("This call is closed already.", why="Somebody answered it, or closed it.")
    now = house.now()
    calls.change(tx, call_id, status="closed", answer=text, answered_at=now)
    if row.person_id is not None:
        facts = {"call": row.text, "answer": text}
        outbox.queue(tx, [outbox.Letter(row.person_id, "call_answered", row.game_id, facts=facts)], now, now)


def _close(tx: Tx, house: House, call_id: int) -> None:
    row = calls.lock(tx, call_id)
    if row.status == "open":
        calls.change(tx, call_id, status="closed", answered_at=house.now())


def _too_many(limit: int) -> TooMany:
    return TooMany(
        "There have been many calls within the last hour, and this one was not taken.",
        why=f"{limit} are the most, because a person reads them all.",
        remedy="Your earlier calls are in the queue; please call again in an hour.",
    )
