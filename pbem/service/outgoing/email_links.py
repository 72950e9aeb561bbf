"""The links that an email has, by its kind: its own, its reader's, and those of the seats it speaks to."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from pbem.domain.states import EmailKind, TableStatus
from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import digests
from pbem.store import links, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkKey
from pbem.store.outbox import EmailRow
from pbem.tokens import Purpose

_LINKS_OF_EMAIL: Final[Mapping[str, Purpose]] = {
    EmailKind.DELETION: Purpose.YES,
    EmailKind.GROUP_INVITATION: Purpose.YES,
    EmailKind.NEW_ADDRESS: Purpose.YES,
    EmailKind.LINKS: Purpose.SIGN_IN,
    EmailKind.WAS_IT_YOU: Purpose.WRITTEN,
    EmailKind.SIGN_UP: Purpose.ENTRY,
    EmailKind.TOURNAMENT: Purpose.ENTRY,
}
"""Kinds with a link of the email itself, beside the one for bounces."""

_WARNINGS: Final = frozenset({EmailKind.DELETION, EmailKind.WAS_IT_YOU})
_OF_ADDRESS: Final = frozenset({EmailKind.MOVED, EmailKind.NEW_ADDRESS})
"""Kinds that warn of a stranger, with a link to say “This wasn't me”; of an address, those to the old one do, and
of a channel, those about one's own, or one that its reader has added for a table."""

_WITH_CONFIRM: Final = frozenset(
    {
        EmailKind.CONFIRM,
        EmailKind.INVITATION,
        EmailKind.JOINED,
        EmailKind.DECLINED,
        EmailKind.LEFT,
        EmailKind.SUBSTITUTE,
    }
)
"""Kinds with a link for their reader as a person at that table, who may have no seat there."""

OFFERS: Final = frozenset(
    {
        EmailKind.GROUP_INVITATION,
        EmailKind.INVITATION,
        EmailKind.SIGN_UP,
        EmailKind.SUBSTITUTE,
        EmailKind.INVITATION_RECEIPT,
    }
)
"""Kinds that offer a seat, membership or a place in a tournament, and whose replies accept or decline it. A reply to the receipt is
one to the offer itself."""


def seats_spoken_to(tx: Tx, emails: Collection[EmailRow]) -> dict[int, int]:
    """The seats that emails speak to: the one that an email names, or its reader's first; none if it is not theirs."""
    players = player_rows.of_games(tx, {email.game_id for email in emails if email.game_id is not None})
    seats = {}
    for email in emails:
        own = [
            player.seat
            for player in ([] if email.game_id is None else players[email.game_id])
            if player.person_id == email.person_id and player.seat is not None and email.seat in (None, player.seat)
        ]
        if own:
            seats[email.id] = min(own)
    return seats


def seats_listed(tx: Tx, email: EmailRow) -> dict[tuple[int, int], dict[Purpose, LinkKey]]:
    """The reader's seats in an email about several tables, with the keys of their links. The reader is locked."""
    if email.kind not in (EmailKind.DIGEST, EmailKind.LINKS):
        return {}
    if email.kind == EmailKind.DIGEST:
        playing = digests.daily_games(tx, email.person_id)
    else:
        playing = tables.of_person(tx, email.person_id, (TableStatus.PLAYING,))
    return {
        (game.id, player.seat): links.of_seat(email.person_id, game.id, game.turn, player.seat)
        for game in playing
        for player in player_rows.of_game(tx, game.id)
        if player.person_id == email.person_id and player.seat is not None
    }


def link_keys(email: EmailRow, games: Games, seat: int | None) -> dict[Purpose, LinkKey]:
    """The links of an email, by purpose."""
    person_id = email.person_id
    facts = json.loads(email.facts)
    keys = {
        Purpose.STOP: LinkKey(Purpose.STOP, person_id),
        Purpose.BOUNCE: LinkKey(Purpose.BOUNCE, person_id, outbox_id=email.id),
    }
    purpose = _LINKS_OF_EMAIL.get(email.kind)
    # Of a new address the old one is only informed.
    if purpose is not None and facts.get("here", True):
        keys[purpose] = LinkKey(purpose, person_id, outbox_id=email.id)
    of_address = email.kind in _OF_ADDRESS and "address" in facts and not facts["here"]
    of_channel = email.kind == EmailKind.CHANNEL and (facts["what"] == "own" or facts.get("warns", False))
    if email.kind in _WARNINGS or of_address or of_channel:
        keys[Purpose.DISOWN] = LinkKey(Purpose.DISOWN, person_id, outbox_id=email.id)
    if email.kind in _WITH_CONFIRM or facts.get("what") == "replaced":
        # Its reader may have no seat, or another person plays it now.
        named = facts.get("seat", email.seat) if email.kind == EmailKind.NOTICE else email.seat
        keys[Purpose.CONFIRM] = LinkKey(Purpose.CONFIRM, person_id, email.game_id, None, named, email.id)
    if email.kind in OFFERS and facts.get("effect") != "nothing":
        offer_id = facts.get("offered_in", email.id)
        keys[Purpose.REPLY] = LinkKey(Purpose.REPLY, person_id, email.game_id, outbox_id=offer_id)
    if email.game_id is None or seat is None or email.kind in OFFERS or email.kind == EmailKind.WAS_IT_YOU:
        return keys
    game = games[email.game_id]
    if game.status in (TableStatus.OPEN, TableStatus.PLANNED, TableStatus.CLOSED, TableStatus.EXPIRED):
        return keys
    # A receipt is about a reply to some turn, and leads on from the present one.
    turn = game.turn if email.turn is None or email.kind == EmailKind.RECEIPT else email.turn
    return keys | links.of_seat(person_id, game.id, turn, seat)


def expiry_of(purpose: Purpose, game: GameRow | None) -> datetime | None:
    """The expiry of a link, if it is not the usual one."""
    if purpose is Purpose.CONFIRM and game is not None and game.status == TableStatus.OPEN:
        return game.expires_at
    return None
