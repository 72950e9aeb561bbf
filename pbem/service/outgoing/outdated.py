"""Why a queued email is no longer worth sending: its game has moved on, its seat has answered, its table is gone."""

import json
from collections.abc import Collection
from typing import Final

from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import digests
from pbem.service.outgoing.email_links import ASKING
from pbem.store import deadlines, outbox, people
from pbem.store import players as player_rows
from pbem.store import tables as table_rows
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow
from pbem.store.players import PlayerRow

ANSWERED: Final = "the seat has answered"
"""Why a mail that asks is not sent although its turn is not over."""


def why_outdated(tx: Tx, emails: Collection[OutboxRow], tables: Games) -> dict[int, str]:
    """Which mails are not worth sending any more, and why. The tables that they are about are locked."""
    turns = {
        email.id: (email.game_id, tables[email.game_id].turn, email.seat)
        for email in emails
        if email.game_id is not None and email.seat is not None
    }
    players = player_rows.of_games(tx, {game_id for game_id, _, _ in turns.values()})
    asked = deadlines.read_all(tx, set(turns.values()))
    found = {}
    for email in emails:
        game = None if email.game_id is None else tables[email.game_id]
        seated = [] if email.id not in turns else players[turns[email.id][0]]
        why = _why(tx, email, game, seated, asked.get(turns[email.id]) if email.id in turns else None)
        if why is not None:
            found[email.id] = why
    return found


def _why(
    tx: Tx, email: OutboxRow, game: GameRow | None, players: list[PlayerRow], asked: DeadlineRow | None
) -> str | None:
    if game is None:
        if email.kind == "digest":
            return "all its games are over" if digests.is_over(tx, email) else None
        known = email.kind == "confirm" and people.read(tx, email.person_id).confirmed_at is not None
        return "the address is confirmed" if known else None
    if email.kind in ("invitation", "joined", "declined", "left") and game.status != "open":
        return "the table waits for nobody any more"
    if email.kind == "substitute":
        offer = table_rows.offer(tx, json.loads(email.facts)["offer"])
        return None if offer.status == "open" and game.status == "playing" else "the seat is not on offer any more"
    if email.seat is None:
        return None
    if all(player.person_id != email.person_id for player in players if player.seat == email.seat):
        return "somebody else plays the seat now"
    if email.kind in ASKING or (email.kind == "notice" and email.turn is not None):
        return _why_answered(game, email, asked)
    if email.kind == "sealed":
        return _why_unsealed(tx, game, email, asked)
    return None


def _why_answered(game: GameRow, email: OutboxRow, asked: DeadlineRow | None) -> str | None:
    if game.status != "playing":
        return "the game has ended"
    if game.turn != email.turn:
        return "the game has moved on"
    return None if asked is not None and asked.status == "open" else ANSWERED


def _why_unsealed(tx: Tx, game: GameRow, email: OutboxRow, asked: DeadlineRow | None) -> str | None:
    """Why nobody need hear any more that a choice was taken in."""
    if game.turn != email.turn:
        return "the game has moved on"
    newer = any(
        (each.kind, each.seat, each.turn) == (email.kind, email.seat, email.turn)
        for each in outbox.of_game(tx, game.id, email.seq or 0)
    )
    changed = newer or (asked is not None and asked.status == "open")
    return "the choice was changed or taken back" if changed else None
