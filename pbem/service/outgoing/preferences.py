"""How people want to be emailed: about all their tables, or about one.

A use case queues an email whatever its reader prefers. Preferences are applied once, by `prepare`, when the email could leave:
so a move costs the same whatever its players prefer, and no cause of an email can forget to ask. The preference of a table
wins over that of all. Nothing here touches a seat.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import time
from typing import Any

from pbem.domain.delivery import Delivery, Way, digest_day, parse_delivery
from pbem.domain.errors import NotFound, Readers, read_fields
from pbem.domain.localtime import parse_wall, stored_zone
from pbem.domain.states import TableStatus
from pbem.domain.topics import Topic, read_topics, topics_text
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import ledger, people, preferences, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow


@dataclass(frozen=True, slots=True)
class EmailPreferences:
    """How a person wants to be emailed: about one table if one is named, otherwise about all.

    `own` tells that the table has a preference of its own; `others` are the titles of the tables that have one.
    """

    delivery: Delivery
    digest_at: time
    sealed: bool
    reviews: bool
    topics: frozenset[Topic]
    title: str = ""
    own: bool = False
    others: tuple[str, ...] = ()


def read(tx: Tx, server: Server, person_id: int, key: str | None = None) -> EmailPreferences:
    """The preferences of a person: for all tables, or for one that they have been emailed about."""
    person = people.read(tx, person_id)
    if key is None:
        return of_person(tx, person)
    game = _table(tx, person_id, key)
    row = preferences.read_all(tx, [(person_id, game.id)])[person_id, game.id]
    return EmailPreferences(
        delivery=row.preferred,
        digest_at=parse_wall(person.digest_at),
        sealed=person.sealed,
        reviews=person.reviews,
        topics=read_topics(person.topics),
        title=game.title,
        own=row.of_table is not None,
    )


def of_person(tx: Tx, person: PersonRow) -> EmailPreferences:
    """The preferences of a person for all tables."""
    special = preferences.of_tables(tx, person.id)
    titles = {game.id: game.title for game in tables.of_person(tx, person.id, (TableStatus.OPEN, TableStatus.PLAYING))}
    others = tuple(title for game_id, title in titles.items() if game_id in special)
    digest_at = parse_wall(person.digest_at)
    topics = read_topics(person.topics)
    return EmailPreferences(
        parse_delivery(person.delivery), digest_at, person.sealed, person.reviews, topics, others=others
    )


def read_choice(way: str, digest_at: str) -> tuple[Delivery, time | None]:
    """When emails come, and the time of day of a digest, as typed. Raises BadInput, with the fields that are wrong."""
    readers: Readers[Any] = {
        "minutes": lambda: parse_delivery(way),
        "digest_at": lambda: parse_wall(digest_at) if digest_at else None,
    }
    found = read_fields(readers)
    return found["minutes"], found["digest_at"]


def choose(
    tx: Tx, server: Server, person_id: int, delivery: Delivery, key: str | None = None, digest_at: time | None = None
) -> None:
    """Choose how to be emailed: about one table, or about all that have no preference of their own.

    To be emailed about nothing at all means every table. All tables share the time of the digest, so that it is one email.
    """
    person = people.lock(tx, person_id)
    game = None if key is None else _table(tx, person_id, key)
    if game is not None:
        preferences.set_of_table(tx, person_id, game.id, str(delivery))
    else:
        if delivery.way is Way.NOTHING:
            preferences.forget_tables(tx, person_id)
        people.change(tx, person_id, delivery=str(delivery))
    if delivery.way is Way.DAILY:
        _set_digest(tx, server, person, digest_at or parse_wall(person.digest_at))
    _release(tx, server, person_id, None if game is None else game.id)


def reset(tx: Tx, server: Server, person_id: int, key: str) -> None:
    """Be emailed about a table as about all others."""
    people.lock(tx, person_id)
    game = _table(tx, person_id, key)
    preferences.set_of_table(tx, person_id, game.id, None)
    _release(tx, server, person_id, game.id)


def set_topics(tx: Tx, server: Server, person_id: int, topics: Collection[Topic]) -> None:
    """Choose the kinds of emails."""
    people.lock(tx, person_id)
    people.change(tx, person_id, topics=topics_text(topics))
    _release(tx, server, person_id, None)


def switch_topic(tx: Tx, server: Server, person_id: int, topic: Topic, *, on: bool) -> None:
    """Switch one kind of emails on or off."""
    topics = read_topics(people.lock(tx, person_id).topics)
    set_topics(tx, server, person_id, topics | {topic} if on else topics - {topic})


def set_reviews(tx: Tx, server: Server, person_id: int, *, on: bool) -> None:
    """Choose whether to get one's reviews by email."""
    people.change(tx, person_id, reviews=on)


def set_sealed_receipts(tx: Tx, server: Server, person_id: int, *, on: bool) -> None:
    """Choose whether to get an email when a sealed choice is in."""
    people.change(tx, person_id, sealed=on)


def _set_digest(tx: Tx, server: Server, person: PersonRow, at: time) -> None:
    values: dict[str, object] = {"digest_at": f"{at:%H:%M}"}
    # If the time has passed today, everything of today has been emailed already.
    if (today := digest_day(server.now(), at, stored_zone(person.zone), None)) is not None:
        values["digest_on"] = today
    people.change(tx, person.id, **values)


def _release(tx: Tx, server: Server, person_id: int, game_id: int | None) -> None:
    """Let the emails that were held back be judged again."""
    now = server.now()
    for email_id in preferences.requeue_held_back(tx, person_id, game_id, now, now + server.hold):
        ledger.note(tx, email_id, now, "queued", "its reader has changed their settings")


def _table(tx: Tx, person_id: int, key: str) -> GameRow:
    game = tables.by_key(tx, key)
    if game is None or not preferences.was_emailed_about(tx, person_id, game.id):
        raise NotFound(_("There is nothing at this address."), why=_("We haven't emailed you about such a table."))
    return game
