"""How one is mailed, by the link to fewer mails that stands in every mail.

The link speaks for its person about all their tables, and with a table's public name about that one. It passes through
many hands, so it shows nothing of any game; and all that it can do is change when mails come, and call the organiser. No
seat is touched by it. Mail programs press its button too, without anybody looking at the page (RFC 8058).
"""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from pbem.domain.delivery import Delivery, Way, parse_delivery
from pbem.domain.localtime import parse_wall
from pbem.domain.reminder import parse_cadence
from pbem.service import links
from pbem.service.absence import substitutes
from pbem.service.outgoing import preferences
from pbem.service.outgoing.preferences import Wished
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import reachability
from pbem.store.database import Tx
from pbem.tokens import Purpose

NOTHING = Delivery(Way.NOTHING)


@dataclass(frozen=True, slots=True)
class Mailing:
    """How somebody is mailed now. `failing_since` is since when mail to them has not arrived."""

    wished: Wished
    cadence: str
    quiet: str
    zone: ZoneInfo
    willing: bool
    failing_since: datetime | None


def at(tx: Tx, server: Server, token: str, key: str | None = None) -> Mailing:
    """How the holder of a link is mailed: about the table of that name, or about all."""
    person_id = links.follow_person(tx, server, token, Purpose.STOP).person_id
    person = persons.read(tx, server, person_id)
    failure = reachability.failure(tx, person_id)
    return Mailing(
        wished=preferences.of_all(tx, server, person_id)
        if key is None
        else preferences.of_table(tx, server, person_id, key),
        cadence=person.cadence,
        quiet=person.quiet or "",
        zone=ZoneInfo(person.zone),
        willing=substitutes.is_volunteer(tx, server, person_id),
        failing_since=None if failure is None else failure.start_at,
    )


def stop(server: Server, token: str, key: str | None = None) -> None:
    """Send a person no mails about a table, or about none at all, and ask them for nothing; again changes nothing."""
    person_id = _person(server, token)
    server.run(preferences.choose, person_id, NOTHING, key)
    if key is None:
        server.run(substitutes.set_volunteer, person_id, volunteers=False)


def choose(server: Server, token: str, way: str, digest_at: str = "", key: str | None = None) -> None:
    """Choose when mails come, and the time of day of a digest where that is the choice."""
    person_id = _person(server, token)
    at = parse_wall(digest_at) if digest_at else None
    server.run(preferences.choose, person_id, parse_delivery(way), key, at)


def as_for_all(server: Server, token: str, key: str) -> None:
    """Be mailed about a table as about all the others."""
    server.run(preferences.as_for_all, _person(server, token), key)


def settle(server: Server, token: str, *, cadence: str, quiet: str, sealed: bool) -> None:
    """Choose when to be reminded, in which hours no mail comes, and whether to be told of sealed choices."""
    person_id = _person(server, token)
    # What cannot be is refused before anything is written.
    parse_cadence(cadence)
    server.run(persons.set_quiet_hours, person_id, quiet)
    server.run(persons.set_cadence, person_id, cadence)
    server.run(preferences.tell_of_sealed, person_id, wanted=sealed)


def _person(server: Server, token: str) -> int:
    return server.read(links.follow_person, token, Purpose.STOP).person_id
