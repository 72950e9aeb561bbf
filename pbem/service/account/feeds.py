"""Feeds: a calendar of a person's deadlines and news of their tables, each at a secret URL.

Programs read them and other servers may store them, so they hold only what the whole table knows: no hand, no open bid, no
link that acts. Renewing the URLs invalidates the old ones.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from engine.facts import SPECTATOR, Fact, seen
from engine.game import Game
from pbem.domain import hash_chain
from pbem.domain.errors import Unplayable
from pbem.domain.states import TurnStatus
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.service import links
from pbem.service.play.log import TAKES_BACK, Kind, standing_entries
from pbem.service.play.rules import rules_for
from pbem.service.server import Server
from pbem.store import feeds, links as link_rows, people
from pbem.store.database import Tx
from pbem.store.feeds import TableRow
from pbem.store.links import LinkKey
from pbem.tokens import Purpose

RECENT: Final = timedelta(days=14)
"""How long a feed keeps a past deadline or a finished game."""

_MOST_TURNS: Final = 50
_MOST_ROWS: Final = 60
"""Entries read from the end of each table's log, at most."""

MOST_NEWS: Final = 50

_FEEDS: Final = (Purpose.CALENDAR, Purpose.NEWS)


class FeedTokens(NamedTuple):
    """The tokens of a person's feeds."""

    calendar: str
    news: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A deadline in the calendar; `done` once the turn is over. `revision` rises, because deadlines only move later."""

    name: str
    title: str
    due_at: datetime
    asked_at: datetime
    revision: int
    done: bool


@dataclass(frozen=True, slots=True)
class NewsItem:
    """One event at a table, in sentences anyone may read. `name` is unique."""

    name: str
    title: str
    at: datetime
    sentences: tuple[str, ...]


def feed_tokens(tx: Tx, server: Server, person_id: int) -> FeedTokens | None:
    """The tokens of a person's feeds; None if they have none."""
    calendar, news = (link_rows.find(tx, LinkKey(purpose, person_id)) for purpose in _FEEDS)
    if calendar is None or news is None:
        return None
    return FeedTokens(links.token(server, calendar), links.token(server, news))


def renew(tx: Tx, server: Server, person_id: int) -> None:
    """Give a person's feeds new tokens, or their first ones."""
    people.lock(tx, person_id)
    for purpose in _FEEDS:
        link = link_rows.find(tx, LinkKey(purpose, person_id))
        if link is None:
            links.make(tx, server, LinkKey(purpose, person_id))
        else:
            link_rows.revoke(tx, server.randomness, link.id)


def calendar(tx: Tx, server: Server, token: str) -> list[Turn]:
    """A person's deadlines, with recently closed ones so that calendars remove them."""
    link = links.follow_person(tx, server, token, Purpose.CALENDAR)
    turns = feeds.turns(tx, link.person_id, server.now() - RECENT, _MOST_TURNS)
    return [
        Turn(
            name=f"{row.key}-{row.turn}-{row.seat}",
            title=row.title,
            due_at=row.due_at,
            asked_at=row.asked_at,
            revision=2 * ((row.due_at - row.asked_at) // timedelta(minutes=1)) + (row.status != TurnStatus.OPEN),
            done=row.status != TurnStatus.OPEN,
        )
        for row in turns
    ]


def news(tx: Tx, server: Server, token: str) -> tuple[datetime, list[NewsItem]]:
    """Events at a person's tables, newest first, and when the feed was made."""
    link = links.follow_person(tx, server, token, Purpose.NEWS)
    tables = feeds.tables(tx, link.person_id, server.now() - RECENT)
    keys = {table.id: table.key for table in tables}
    # Moves that can still be undone are not published.
    logs = feeds.ends(tx, keys, (Kind.ENTRY, *TAKES_BACK), _MOST_ROWS, server.now() - server.hold)
    pieces = []
    for table in tables:
        # A table whose rules are not installed has no news; it is stopped, and its players are emailed.
        with suppress(Unplayable):
            pieces += _news_items(table, logs[table.id])
    # Entries of one moment stay in their order, which is the other way round.
    pieces.reverse()
    return link.created_at, sorted(pieces, key=lambda piece: piece.at, reverse=True)[:MOST_NEWS]


def _news_items(table: TableRow, rows: Collection[hash_chain.Row]) -> list[NewsItem]:
    """The public events of a table, one item an entry."""
    at, rules = {row.seq: row.at for row in rows}, rules_for(table.kind, table.id)
    entries = ((standing, _sentences(table, rules, standing.entry.facts)) for standing in standing_entries(rules, rows))
    return [
        # The number of its row would tell how many secret ones came before it.
        NewsItem(f"{table.key}-{standing.turn}", table.title, at[standing.seq], sentences)
        for standing, sentences in entries
        if sentences
    ]


def _sentences(table: TableRow, rules: Game[Any], facts: tuple[Fact[Any], ...]) -> tuple[str, ...]:
    """The facts as a spectator sees them, with “you” for the reader."""
    teller = speech.teller(rules, table.seat, tuple(map(isolate, table.names)))
    return tuple(filter(None, (teller.tell(seen(fact, SPECTATOR)) for fact in facts)))
