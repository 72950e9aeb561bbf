"""What a mail needs before it can be written: the rows of its links, and the moment that it promises.

Both are written down, in one transaction that holds the lock of the game, before anything is put into words; so a mail
that is written twice has the same links and promises the same. This module must never look into a game's state.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.deadline import Due
from pbem.links import Purpose
from pbem.service import digests, links, timekeeping
from pbem.service.house import House
from pbem.service.links import SeatLinks
from pbem.store import games, lobby
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import Meant
from pbem.store.outbox import OutboxRow

ASKING: Final = frozenset({"turn", "reminder"})
"""Kinds that ask for a decision: worth nothing once it is made."""

WITH_BOARD: Final = ASKING | {"seated", "result", "receipt"}
"""Kinds that show the table."""

_ASKS_FOR_YES: Final = frozenset({"farewell", "new_address"})
"""Kinds whose link says yes to what they ask; a mail that only tells of it has none."""

_BY_OWNER: Final = frozenset({"confirm", "invitation", "joined", "declined", "left", "substitute"})
"""Kinds with a link for the reader as a person at that table, who may have no seat there."""


@dataclass(frozen=True, slots=True)
class Ready:
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


def make_ready_in(tx: Tx, house: House, mail: OutboxRow, rendered_at: datetime) -> Ready:
    """Make a mail's links, and promise its deadline. The game is locked, or the person where there is no game."""
    stop = links.stop_in(tx, house, mail.person_id)
    bounce = links.make_in(tx, house, Meant(Purpose.BOUNCE, mail.person_id, outbox_id=mail.id))
    if mail.game_id is None:
        owner = _owner(tx, house, mail, None) if mail.kind == "confirm" else None
        if mail.kind == "digest":
            return Ready(stop, bounce, sections=digests.links_in(tx, house, mail.person_id))
        if mail.kind in _ASKS_FOR_YES and json.loads(mail.facts).get("here", True):
            return Ready(
                stop, bounce, yes=links.make_in(tx, house, Meant(Purpose.YES, mail.person_id, outbox_id=mail.id))
            )
        if mail.kind != "links":
            return Ready(stop, bounce, owner=owner)
        sign_in = links.make_in(tx, house, Meant(Purpose.SIGN_IN, mail.person_id, outbox_id=mail.id))
        return Ready(stop, bounce, sign_in=sign_in, played=_played(tx, house, mail.person_id))
    game = games.read(tx, mail.game_id)
    facts = json.loads(mail.facts)
    by_owner = mail.kind in _BY_OWNER or facts.get("what") == "replaced"
    owner = _owner(tx, house, mail, game) if by_owner else None
    if mail.kind == "was_it_you":
        return Ready(
            stop, bounce, written=links.make_in(tx, house, Meant(Purpose.WRITTEN, mail.person_id, outbox_id=mail.id))
        )
    seat = _seat(tx, mail)
    if seat is None or game.status in ("open", "planned", "closed", "expired"):
        return Ready(stop, bounce, owner=owner)
    # A receipt is about an answer to some turn, and leads on from the present one.
    window = game.window if mail.window is None or mail.kind == "receipt" else mail.window
    seat_links = links.of_seat_in(tx, house, mail.person_id, game.id, window, seat)
    due = timekeeping.promise(tx, house, game, window, seat, rendered_at) if mail.kind == "turn" else None
    return Ready(stop, bounce, seat, seat_links, owner, due=due)


def _owner(tx: Tx, house: House, mail: OutboxRow, game: GameRow | None) -> int:
    """The link of a person who need not have a seat, or whose seat somebody else plays."""
    seat = json.loads(mail.facts).get("seat", mail.seat) if mail.kind == "notice" else mail.seat
    game_id = None if game is None else game.id
    meant = Meant(Purpose.CONFIRM, mail.person_id, game_id, None, seat, mail.id)
    waiting = game is not None and game.status == "open"
    return links.make_in(tx, house, meant, game.expires_at if game is not None and waiting else None)


def _seat(tx: Tx, mail: OutboxRow) -> int | None:
    """The seat that a mail speaks to: the one it names, or the reader's first; None if that is not theirs."""
    assert mail.game_id is not None
    mine = [place.seat for place in games.places(tx, mail.game_id) if place.person_id == mail.person_id]
    if mail.seat is not None:
        return mail.seat if mail.seat in mine else None
    return min((seat for seat in mine if seat is not None), default=None)


def _played(tx: Tx, house: House, person_id: int) -> tuple[tuple[int, int, int], ...]:
    """The games, seats and links of everything that a person plays."""
    found = []
    for game in lobby.of_person(tx, person_id, ("playing",)):
        for place in games.places(tx, game.id):
            if place.person_id == person_id and place.seat is not None:
                made = links.of_seat_in(tx, house, person_id, game.id, game.window, place.seat)
                found.append((game.id, place.seat, made.seat))
    return tuple(found)
