"""Why a queued email is no longer worth sending: its game has moved on, its seat has answered, its table is gone."""

import json
from collections.abc import Collection
from typing import Final

from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import digests
from pbem.service.outgoing.email_links import ASKING
from pbem.store import deadlines, outbox, people, players
from pbem.store import tables as table_rows
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow
from pbem.store.players import PlaceRow

ANSWERED: Final = "the seat has answered"
"""Why a mail that asks is not sent although its turn is not over."""


def why_outdated(tx: Tx, mails: Collection[OutboxRow], tables: Games) -> dict[int, str]:
    """Which mails are not worth sending any more, and why. The tables that they are about are locked."""
    turns = {
        mail.id: (mail.game_id, tables[mail.game_id].turn, mail.seat)
        for mail in mails
        if mail.game_id is not None and mail.seat is not None
    }
    places = players.places_of(tx, {game_id for game_id, _, _ in turns.values()})
    asked = deadlines.read_all(tx, set(turns.values()))
    found = {}
    for mail in mails:
        game = None if mail.game_id is None else tables[mail.game_id]
        seated = [] if mail.id not in turns else places[turns[mail.id][0]]
        why = _why(tx, mail, game, seated, asked.get(turns[mail.id]) if mail.id in turns else None)
        if why is not None:
            found[mail.id] = why
    return found


def _why(
    tx: Tx, mail: OutboxRow, game: GameRow | None, places: list[PlaceRow], asked: DeadlineRow | None
) -> str | None:
    if game is None:
        if mail.kind == "digest":
            return "all its games are over" if digests.is_over(tx, mail) else None
        known = mail.kind == "confirm" and people.read(tx, mail.person_id).confirmed_at is not None
        return "the address is confirmed" if known else None
    if mail.kind in ("invitation", "joined", "declined", "left") and game.status != "open":
        return "the table waits for nobody any more"
    if mail.kind == "substitute":
        offer = table_rows.offer(tx, json.loads(mail.facts)["offer"])
        return None if offer.status == "open" and game.status == "playing" else "the seat is not on offer any more"
    if mail.seat is None:
        return None
    if all(place.person_id != mail.person_id for place in places if place.seat == mail.seat):
        return "somebody else plays the seat now"
    if mail.kind in ASKING or (mail.kind == "notice" and mail.turn is not None):
        return _why_answered(game, mail, asked)
    if mail.kind == "sealed":
        return _why_unsealed(tx, game, mail, asked)
    return None


def _why_answered(game: GameRow, mail: OutboxRow, asked: DeadlineRow | None) -> str | None:
    if game.status != "playing":
        return "the game has ended"
    if game.turn != mail.turn:
        return "the game has moved on"
    return None if asked is not None and asked.status == "open" else ANSWERED


def _why_unsealed(tx: Tx, game: GameRow, mail: OutboxRow, asked: DeadlineRow | None) -> str | None:
    """Why nobody need hear any more that a choice was taken in."""
    if game.turn != mail.turn:
        return "the game has moved on"
    newer = any(
        (each.kind, each.seat, each.turn) == (mail.kind, mail.seat, mail.turn)
        for each in outbox.of_game(tx, game.id, mail.seq or 0)
    )
    changed = newer or (asked is not None and asked.status == "open")
    return "the choice was changed or taken back" if changed else None
