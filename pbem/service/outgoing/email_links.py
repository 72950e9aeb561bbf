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

from pbem.domain.deadline import Due
from pbem.service import links
from pbem.service.clocks import deadlines
from pbem.service.clocks.deadlines import Games
from pbem.service.links import SeatLinks
from pbem.service.outgoing import digests
from pbem.service.server import Server
from pbem.store import players as game_rows
from pbem.store import tables
from pbem.store.database import Tx
from pbem.store.deadlines import Key
from pbem.store.links import Meant
from pbem.store.outbox import OutboxRow
from pbem.tokens import Purpose

ASKING: Final = frozenset({"turn", "reminder"})
"""Kinds that ask for a decision: worth nothing once it is made."""

WITH_BOARD: Final = ASKING | {"seated", "result", "receipt"}
"""Kinds that show the table."""

_ASKS_FOR_YES: Final = frozenset({"farewell", "new_address"})
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
    due: Due | None = None
    played: tuple[tuple[int, int, int], ...] = ()
    sections: tuple[tuple[int, int, SeatLinks], ...] = ()


def make_all(
    tx: Tx, server: Server, mails: Collection[OutboxRow], games: Games, rendered_at: datetime
) -> dict[int, EmailLinks]:
    """Make the links of mails, and promise their deadlines. The games are locked, or the readers where there is no game."""
    seats = _seats(tx, mails)
    wanted = {mail.id: _wanted(mail, games, seats.get(mail.id)) for mail in mails}
    made = links.make_all(tx, server, {meant: until for each in wanted.values() for meant, until in each.all()})
    turns = {
        mail.id: each.asked for mail in mails if (each := wanted[mail.id]).asked is not None and mail.kind == "turn"
    }
    told = deadlines.promise(tx, games, set(turns.values()), rendered_at)
    return {mail.id: _email_links(tx, server, mail, wanted[mail.id], made, told) for mail in mails}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the links of a mail are meant for. `asked` is what its seat is asked; `owner_until` when that link expires."""

    stop: Meant
    bounce: Meant
    asked: Key | None = None
    of_seat: Mapping[Purpose, Meant] | None = None
    owner: Meant | None = None
    owner_until: datetime | None = None
    sign_in: Meant | None = None
    written: Meant | None = None
    yes: Meant | None = None

    def all(self) -> Iterator[tuple[Meant, datetime | None]]:
        """Every link, with the moment at which it expires, where that is not as always."""
        for meant in (self.stop, self.bounce, self.sign_in, self.written, self.yes, *(self.of_seat or {}).values()):
            if meant is not None:
                yield meant, None
        if self.owner is not None:
            yield self.owner, self.owner_until


def _wanted(mail: OutboxRow, games: Games, seat: int | None) -> _Wanted:
    person_id = mail.person_id
    every = _Wanted(Meant(Purpose.STOP, person_id), Meant(Purpose.BOUNCE, person_id, outbox_id=mail.id))
    if mail.game_id is None:
        if mail.kind in _ASKS_FOR_YES and json.loads(mail.facts).get("here", True):
            return replace(every, yes=Meant(Purpose.YES, person_id, outbox_id=mail.id))
        if mail.kind == "links":
            return replace(every, sign_in=Meant(Purpose.SIGN_IN, person_id, outbox_id=mail.id))
        return replace(every, owner=_owner(mail)) if mail.kind == "confirm" else every
    if mail.kind == "was_it_you":
        return replace(every, written=Meant(Purpose.WRITTEN, person_id, outbox_id=mail.id))
    game = games[mail.game_id]
    if mail.kind in _BY_OWNER or json.loads(mail.facts).get("what") == "replaced":
        every = replace(every, owner=_owner(mail), owner_until=game.expires_at if game.status == "open" else None)
    if seat is None or game.status in ("open", "planned", "closed", "expired"):
        return every
    # A receipt is about an answer to some turn, and leads on from the present one.
    turn = game.turn if mail.turn is None or mail.kind == "receipt" else mail.turn
    return replace(every, asked=(game.id, turn, seat), of_seat=links.of_seat(person_id, game.id, turn, seat))


def _owner(mail: OutboxRow) -> Meant:
    """The link of a person who need not have a seat, or whose seat somebody else plays."""
    seat = json.loads(mail.facts).get("seat", mail.seat) if mail.kind == "notice" else mail.seat
    return Meant(Purpose.CONFIRM, mail.person_id, mail.game_id, None, seat, mail.id)


def _email_links(
    tx: Tx, server: Server, mail: OutboxRow, wanted: _Wanted, made: Mapping[Meant, int], told: Mapping[Key, Due]
) -> EmailLinks:
    def number(meant: Meant | None) -> int | None:
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
        due=told[wanted.asked] if mail.kind == "turn" and wanted.asked is not None else None,
        played=_played(tx, server, mail.person_id) if mail.kind == "links" else (),
        sections=digests.make_links(tx, server, mail.person_id) if mail.kind == "digest" else (),
    )


def _seats(tx: Tx, mails: Iterable[OutboxRow]) -> dict[int, int]:
    """The seats that mails speak to: the one that each names, or its reader's first; none where that is not theirs."""
    about = {mail.id: mail.game_id for mail in mails if mail.game_id is not None}
    places = game_rows.places_of(tx, set(about.values()))
    found = {}
    for mail in mails:
        held = (
            [place.seat for place in places[about[mail.id]] if place.person_id == mail.person_id]
            if mail.id in about
            else []
        )
        mine = [seat for seat in held if seat is not None and mail.seat in (None, seat)]
        if mine:
            found[mail.id] = min(mine)
    return found


def _played(tx: Tx, server: Server, person_id: int) -> tuple[tuple[int, int, int], ...]:
    """The games, seats and links of everything that a person plays."""
    found = []
    for game in tables.of_person(tx, person_id, ("playing",)):
        for place in game_rows.places(tx, game.id):
            if place.person_id == person_id and place.seat is not None:
                made = links.make_for_seat(tx, server, person_id, game.id, game.turn, place.seat)
                found.append((game.id, place.seat, made.seat))
    return tuple(found)
