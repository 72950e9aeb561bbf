"""What mails need before they can be written: the rows of their links, and the moments that they promise.

Both are written down before anything is put into words, for many mails with as few statements as for one, in a transaction
that holds the locks of the games; so a mail that is written twice has the same links and promises the same. This module must
never look into a game's state.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from pbem.domain.deadline import Deadline
from pbem.service import links
from pbem.service.clocks import deadlines
from pbem.service.clocks.deadlines import Games
from pbem.service.links import SeatLinks
from pbem.service.outgoing import digests
from pbem.service.server import Server
from pbem.store import players as player_rows
from pbem.store import tables
from pbem.store.database import Tx
from pbem.store.deadlines import Key
from pbem.store.links import LinkKey
from pbem.store.outbox import OutboxRow
from pbem.tokens import Purpose

ASKING: Final = frozenset({"turn", "reminder"})
"""Kinds that ask for a decision: worth nothing once it is made."""

WITH_BOARD: Final = ASKING | {"seated", "result", "receipt"}
"""Kinds that show the table."""

_ASKS_FOR_YES: Final = frozenset({"deletion", "new_address"})
"""Kinds whose link says yes to what they ask; a mail that only tells of it has none."""

_BY_OWNER: Final = frozenset({"confirm", "invitation", "joined", "declined", "left", "substitute"})
"""Kinds with a link for the reader as a person at that table, who may have no seat there."""


@dataclass(frozen=True, slots=True)
class EmailLinks:
    """The numbers of a mail's links, and the deadline that it promises. `played` are the reader's seats elsewhere."""

    stop: int
    bounce: int
    seat: int | None = None
    seat_links: SeatLinks | None = None
    owner: int | None = None
    sign_in: int | None = None
    written: int | None = None
    yes: int | None = None
    due: Deadline | None = None
    played: tuple[tuple[int, int, int], ...] = ()
    sections: tuple[tuple[int, int, SeatLinks], ...] = ()


def make_all(
    tx: Tx, server: Server, emails: Collection[OutboxRow], games: Games, rendered_at: datetime
) -> dict[int, EmailLinks]:
    """Make the links of mails, and promise their deadlines. The games are locked, or the readers where there is no game."""
    seats = _seats(tx, emails)
    wanted = {email.id: _wanted(email, games, seats.get(email.id)) for email in emails}
    made = links.make_all(tx, server, {meant: until for each in wanted.values() for meant, until in each.all()})
    turns = {
        email.id: each.asked
        for email in emails
        if (each := wanted[email.id]).asked is not None and email.kind == "turn"
    }
    told = deadlines.promise(tx, games, set(turns.values()), rendered_at)
    return {email.id: _email_links(tx, server, email, wanted[email.id], made, told) for email in emails}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the links of a mail are meant for. `asked` is what its seat is asked; `owner_until` when that link expires."""

    stop: LinkKey
    bounce: LinkKey
    asked: Key | None = None
    of_seat: Mapping[Purpose, LinkKey] | None = None
    owner: LinkKey | None = None
    owner_until: datetime | None = None
    sign_in: LinkKey | None = None
    written: LinkKey | None = None
    yes: LinkKey | None = None

    def all(self) -> Iterator[tuple[LinkKey, datetime | None]]:
        """Every link, with the moment at which it expires, where that is not as always."""
        for meant in (self.stop, self.bounce, self.sign_in, self.written, self.yes, *(self.of_seat or {}).values()):
            if meant is not None:
                yield meant, None
        if self.owner is not None:
            yield self.owner, self.owner_until


def _wanted(email: OutboxRow, games: Games, seat: int | None) -> _Wanted:
    person_id = email.person_id
    every = _Wanted(LinkKey(Purpose.STOP, person_id), LinkKey(Purpose.BOUNCE, person_id, outbox_id=email.id))
    if email.game_id is None:
        if email.kind in _ASKS_FOR_YES and json.loads(email.facts).get("here", True):
            return replace(every, yes=LinkKey(Purpose.YES, person_id, outbox_id=email.id))
        if email.kind == "links":
            return replace(every, sign_in=LinkKey(Purpose.SIGN_IN, person_id, outbox_id=email.id))
        return replace(every, owner=_owner(email)) if email.kind == "confirm" else every
    if email.kind == "was_it_you":
        return replace(every, written=LinkKey(Purpose.WRITTEN, person_id, outbox_id=email.id))
    game = games[email.game_id]
    if email.kind in _BY_OWNER or json.loads(email.facts).get("what") == "replaced":
        every = replace(every, owner=_owner(email), owner_until=game.expires_at if game.status == "open" else None)
    if seat is None or game.status in ("open", "planned", "closed", "expired"):
        return every
    # A receipt is about an answer to some turn, and leads on from the present one.
    turn = game.turn if email.turn is None or email.kind == "receipt" else email.turn
    return replace(every, asked=(game.id, turn, seat), of_seat=links.of_seat(person_id, game.id, turn, seat))


def _owner(email: OutboxRow) -> LinkKey:
    """The link of a person who need not have a seat, or whose seat somebody else plays."""
    seat = json.loads(email.facts).get("seat", email.seat) if email.kind == "notice" else email.seat
    return LinkKey(Purpose.CONFIRM, email.person_id, email.game_id, None, seat, email.id)


def _email_links(
    tx: Tx, server: Server, email: OutboxRow, wanted: _Wanted, made: Mapping[LinkKey, int], told: Mapping[Key, Deadline]
) -> EmailLinks:
    def number(meant: LinkKey | None) -> int | None:
        return None if meant is None else made[meant]

    return EmailLinks(
        stop=made[wanted.stop],
        bounce=made[wanted.bounce],
        seat=None if wanted.asked is None else wanted.asked[-1],
        seat_links=None if wanted.of_seat is None else links.seat_links(made, wanted.of_seat),
        owner=number(wanted.owner),
        sign_in=number(wanted.sign_in),
        written=number(wanted.written),
        yes=number(wanted.yes),
        due=told[wanted.asked] if email.kind == "turn" and wanted.asked is not None else None,
        played=_played(tx, server, email.person_id) if email.kind == "links" else (),
        sections=digests.make_links(tx, server, email.person_id) if email.kind == "digest" else (),
    )


def _seats(tx: Tx, emails: Iterable[OutboxRow]) -> dict[int, int]:
    """The seats that mails speak to: the one that each names, or its reader's first; none where that is not theirs."""
    about = {email.id: email.game_id for email in emails if email.game_id is not None}
    players = player_rows.of_games(tx, set(about.values()))
    found = {}
    for email in emails:
        held = (
            [player.seat for player in players[about[email.id]] if player.person_id == email.person_id]
            if email.id in about
            else []
        )
        mine = [seat for seat in held if seat is not None and email.seat in (None, seat)]
        if mine:
            found[email.id] = min(mine)
    return found


def _played(tx: Tx, server: Server, person_id: int) -> tuple[tuple[int, int, int], ...]:
    """The games, seats and links of everything that a person plays."""
    found = []
    for game in tables.of_person(tx, person_id, ("playing",)):
        for player in player_rows.of_game(tx, game.id):
            if player.person_id == person_id and player.seat is not None:
                made = links.make_for_seat(tx, server, person_id, game.id, game.turn, player.seat)
                found.append((game.id, player.seat, made.seat))
    return tuple(found)
