"""The unsubscribe link of every email: how its reader is emailed, and changing that.

The link is for all tables of a person, or with a table's public name for that one. Emails get forwarded, so it shows nothing
of any game, and all it can do is change when emails come and contact the organiser; it touches no seat. Mail programs press
its button too, without showing the page (RFC 8058).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from pbem.domain.delivery import Delivery, Way
from pbem.domain.localtime import stored_zone
from pbem.domain.topics import Topic
from pbem.service import links
from pbem.service.absence import offers
from pbem.service.outgoing import preferences
from pbem.service.outgoing.preferences import EmailPreferences
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import reachability, tables
from pbem.store.database import Tx
from pbem.tokens import Purpose

NOTHING = Delivery(Way.NOTHING)


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How a person is emailed now. `failing_since` is the day since when email to them has failed."""

    preferences: EmailPreferences
    cadence: str
    quiet: str
    zone: ZoneInfo
    willing: bool
    failing_since: datetime | None


def read(tx: Tx, server: Server, token: str, key: str | None = None) -> ReaderSettings:
    """How the holder of a link is emailed: about the table of that name, or about all."""
    person_id = links.follow_person(tx, server, token, Purpose.STOP).person_id
    person = persons.read(tx, server, person_id)
    failure = reachability.failure(tx, person_id)
    return ReaderSettings(
        preferences=preferences.read(tx, server, person_id, key),
        cadence=person.cadence,
        quiet=person.quiet or "",
        zone=stored_zone(person.zone),
        willing=tables.is_volunteer(tx, person_id),
        failing_since=None if failure is None else failure.start_at,
    )


def stop(server: Server, token: str, key: str | None = None) -> None:
    """Stop emails about one table, or all emails and offers of seats; doing it again changes nothing."""
    person_id = _person(server, token)
    server.run(preferences.choose, person_id, NOTHING, key)
    if key is None:
        server.run(offers.set_volunteer, person_id, volunteers=False)


def choose(server: Server, token: str, way: str, digest_at: str = "", key: str | None = None) -> None:
    """Choose when emails come, and the time of day of a digest."""
    person_id = _person(server, token)
    delivery, at = preferences.read_choice(way, digest_at)
    server.run(preferences.choose, person_id, delivery, key, at)


def reset(server: Server, token: str, key: str) -> None:
    """Be emailed about a table as about all others."""
    server.run(preferences.reset, _person(server, token), key)


def set_topics(server: Server, token: str, topics: Collection[Topic]) -> None:
    """Choose the kinds of emails."""
    server.run(preferences.set_topics, _person(server, token), topics)


def save(server: Server, token: str, *, cadence: str, quiet: str, sealed: bool, reviews: bool) -> None:
    """Save the cadence of reminders, the quiet hours, and whether sealed choices are confirmed and reviews sent by email."""
    person_id = _person(server, token)
    server.run(persons.change_settings, person_id, quiet=quiet, cadence=cadence)
    server.run(preferences.set_sealed_receipts, person_id, on=sealed)
    server.run(preferences.set_reviews, person_id, on=reviews)


def _person(server: Server, token: str) -> int:
    return server.read(links.follow_person, token, Purpose.STOP).person_id
