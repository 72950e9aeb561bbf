"""Feeds: a calendar of one's deadlines, and the news of one's tables, each at a secret address of its own.

They are read by programs and often kept by other people's servers, so they tell nothing that is not for everybody at the
table: no hand, no bid that waits, no link that acts. The addresses can be renewed, and the old ones are dead by that.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engine.facts import SPECTATOR, Fact, seen
from engine.game import Game
from pbem.domain import hash_chain
from pbem.domain.errors import Unplayable
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.service import links
from pbem.service.play.log import TAKES_BACK, Kind, standing_entries
from pbem.service.play.rules import rules_for
from pbem.service.server import Server
from pbem.store import feeds, people
from pbem.store import links as link_rows
from pbem.store.database import Tx
from pbem.store.feeds import TableRow
from pbem.store.links import LinkKey
from pbem.tokens import Purpose

LATELY: Final = timedelta(days=14)
"""So long ago a turn was due, or a game has ended, that a feed still tells of it."""

_MOST_TURNS: Final = 50
_MOST_ROWS: Final = 60
"""Rows at the end of each table's log that are looked through."""

MOST_NEWS: Final = 50

_FEEDS: Final = (Purpose.CALENDAR, Purpose.NEWS)


@dataclass(frozen=True, slots=True)
class Addresses:
    """The tokens of a person's feeds."""

    calendar: str
    news: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A deadline of one's own. `done` says that nothing is asked there any more.

    `revision` rises whenever the deadline changes, because a deadline only ever moves to a later moment.
    """

    name: str
    title: str
    due_at: datetime
    asked_at: datetime
    revision: int
    done: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that happened at a table: everybody may read its sentences. `name` is never another's."""

    name: str
    title: str
    at: datetime
    sentences: tuple[str, ...]


def addresses(tx: Tx, server: Server, person_id: int) -> Addresses | None:
    """Where a person's feeds are, if they have asked for them."""
    calendar, news = (link_rows.find(tx, LinkKey(purpose, person_id)) for purpose in _FEEDS)
    if calendar is None or news is None:
        return None
    return Addresses(links.token(server, calendar), links.token(server, news))


def renew(tx: Tx, server: Server, person_id: int) -> None:
    """Give a person's feeds new addresses, or their first ones."""
    people.lock(tx, person_id)
    for purpose in _FEEDS:
        known = link_rows.find(tx, LinkKey(purpose, person_id))
        if known is None:
            links.make(tx, server, LinkKey(purpose, person_id))
        else:
            link_rows.raise_one(tx, known.id)


def calendar(tx: Tx, server: Server, token: str) -> list[Turn]:
    """The deadlines of a person, those lately done too, so that calendars take them out."""
    link = links.follow_person(tx, server, token, Purpose.CALENDAR)
    found = feeds.turns(tx, link.person_id, server.now() - LATELY, _MOST_TURNS)
    return [
        Turn(
            name=f"{row.key}-{row.turn}-{row.seat}",
            title=row.title,
            due_at=row.due_at,
            asked_at=row.asked_at,
            revision=2 * ((row.due_at - row.asked_at) // timedelta(minutes=1)) + (row.status != "open"),
            done=row.status != "open",
        )
        for row in found
    ]


def news(tx: Tx, server: Server, token: str) -> tuple[datetime, list[Piece]]:
    """What happened at a person's tables, the newest first, and since when there is the feed."""
    link = links.follow_person(tx, server, token, Purpose.NEWS)
    tables = feeds.tables(tx, link.person_id, server.now() - LATELY)
    keys = {table.id: table.key for table in tables}
    # What can still be taken back is told to nobody.
    logs = feeds.ends(tx, keys, (Kind.ENTRY, *TAKES_BACK), _MOST_ROWS, server.now() - server.hold)
    pieces = []
    for table in tables:
        # Nothing is told of a table whose rules are not there; it is stopped, and its players are told that by mail.
        with suppress(Unplayable):
            pieces += _pieces(table, logs[table.id])
    return link.created_at, sorted(pieces, key=lambda piece: (piece.at, piece.name), reverse=True)[:MOST_NEWS]


def _pieces(table: TableRow, rows: Collection[hash_chain.Row]) -> list[Piece]:
    """What everybody was told at a table, entry by entry."""
    at, rules = {row.seq: row.at for row in rows}, rules_for(table.kind, table.id)
    told = ((standing, _sentences(table, rules, standing.entry.facts)) for standing in standing_entries(rules, rows))
    return [
        Piece(f"{table.key}-{standing.seq}", table.title, at[standing.seq], sentences)
        for standing, sentences in told
        if sentences
    ]


def _sentences(table: TableRow, rules: Game[Any], facts: tuple[Fact[Any], ...]) -> tuple[str, ...]:
    """What a spectator would be told, who is called “you” where it is about the reader."""
    teller = speech.teller(rules, table.seat, tuple(map(isolate, table.names)))
    told = (teller.tell(seen(fact, SPECTATOR)) for fact in facts)
    return tuple(sentence for sentence in told if sentence)
