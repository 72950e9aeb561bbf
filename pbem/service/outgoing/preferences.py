"""Wishes: how a person wants to be mailed, and what that means for each mail when it is due.

Mails are queued by whatever causes them and know nothing of wishes. Each is judged once here, when it could leave, under
the lock of its game: it goes, waits, is told in the next digest, or is withheld. So a move costs the same whatever its
players wish, and no way of causing a mail can forget to ask. A wish of one table wins over that of all.

A turn whose mail does not go at once has its clock started as if it had. Nothing here touches a seat.
"""

from dataclasses import dataclass
from datetime import time
from zoneinfo import ZoneInfo

from pbem.domain.delivery import Delivery, Way, digest_day, parse_delivery
from pbem.domain.errors import NotFound
from pbem.domain.localtime import parse_wall
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import ledger, people, preferences, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow


@dataclass(frozen=True, slots=True)
class Wished:
    """How somebody wants to be mailed: about a table, if one is named, otherwise about all.

    `own` says that the table has a wish of its own. `others` are the titles of the tables that have one.
    """

    delivery: Delivery
    digest_at: time
    sealed: bool
    game_id: int | None = None
    title: str = ""
    own: bool = False
    others: tuple[str, ...] = ()


def of_all(tx: Tx, server: Server, person_id: int) -> Wished:
    """How a person wants to be mailed about all tables."""
    return of_person_row(tx, people.read(tx, person_id))


def of_person_row(tx: Tx, person: PersonRow) -> Wished:
    """The same within a transaction that is under way."""
    special = preferences.of_tables(tx, person.id)
    playing = {game.id: game.title for game in tables.of_person(tx, person.id, ("open", "playing"))}
    others = tuple(title for game_id, title in playing.items() if game_id in special)
    return Wished(parse_delivery(person.delivery), parse_wall(person.digest_at), person.sealed, others=others)


def of_table(tx: Tx, server: Server, person_id: int, key: str) -> Wished:
    """How a person wants to be mailed about one table, which they must have been mailed about."""
    person, game = people.read(tx, person_id), _table(tx, person_id, key)
    found = preferences.wished(tx, [(person_id, game.id)])[person_id, game.id]
    wish = parse_delivery(found.of_table or found.delivery)
    at = parse_wall(person.digest_at)
    return Wished(wish, at, person.sealed, game.id, game.title, own=found.of_table is not None)


def choose(
    tx: Tx, server: Server, person_id: int, wish: Delivery, key: str | None = None, digest_at: time | None = None
) -> None:
    """Say how to be mailed from now on: about one table, or about all that have no wish of their own.

    Who wants nothing at all means every table. The time of a digest is that of all tables, so that it is one mail a day.
    """
    person = people.lock(tx, person_id)
    game = None if key is None else _table(tx, person_id, key)
    if game is not None:
        preferences.set_of_table(tx, person_id, game.id, str(wish))
    else:
        if wish.way is Way.NOTHING:
            preferences.forget_tables(tx, person_id)
        people.change(tx, person_id, delivery=str(wish))
    if wish.way is Way.DAILY:
        _set_digest(tx, server, person, digest_at or parse_wall(person.digest_at))
    _look_again(tx, server, person_id, None if game is None else game.id)


def as_for_all(tx: Tx, server: Server, person_id: int, key: str) -> None:
    """Be mailed about a table as about all the others."""

    people.lock(tx, person_id)
    game = _table(tx, person_id, key)
    preferences.set_of_table(tx, person_id, game.id, None)
    _look_again(tx, server, person_id, game.id)


def tell_of_sealed(tx: Tx, server: Server, person_id: int, *, wanted: bool) -> None:
    """Be told, or no longer, when a choice that waits for others has been taken in."""
    people.change(tx, person_id, sealed=wanted)


def _set_digest(tx: Tx, server: Server, person: PersonRow, at: time) -> None:
    values: dict[str, object] = {"digest_at": f"{at:%H:%M}"}
    # Of a day whose time has gone by, everything has been mailed already.
    if (over := digest_day(server.now(), at, ZoneInfo(person.zone), None)) is not None:
        values["digest_on"] = over
    people.change(tx, person.id, **values)


def _look_again(tx: Tx, server: Server, person_id: int, game_id: int | None) -> None:
    now = server.now()
    for mail_id in preferences.look_again(tx, person_id, game_id, now, now + server.hold):
        ledger.note(tx, mail_id, now, "queued", "its reader wishes something else now")


def _table(tx: Tx, person_id: int, key: str) -> GameRow:
    game = tables.by_key(tx, key)
    if game is None or not preferences.mailed_about(tx, person_id, game.id):
        raise NotFound(_("There is nothing at this address."), why=_("You have had no mail about such a table."))
    return game
