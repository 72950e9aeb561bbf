"""New links for a person: everything outstanding ends at once, and fresh links go to the address on file.

Links, sessions, tokens of programs, addresses of feeds and requests for another address all end. This is the only way in which
they end together, so that none is forgotten.
"""

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Gone
from pbem.domain.states import EmailKind, EmailStatus
from pbem.i18n.speech import gettext as _
from pbem.service.outgoing.prepare import ASKED_FOR
from pbem.service.people import sessions
from pbem.service.server import Server
from pbem.store import deadlines, games, links, outbox, people
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.sessions import Holder


def send(tx: Tx, server: Server, person_id: int, but: int | None = None) -> None:
    """Replace everything of a person by fresh links, sent to them by email. Raises Gone if they have left."""
    lock_games(tx, person_id)
    if is_former(people.lock(tx, person_id).address):
        raise Gone(_("They have left for good."), remedy=_("Nothing was changed."))
    replace_all(tx, server, person_id, but)
    now = server.now()
    outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.LINKS)], now)


def replace_all(tx: Tx, server: Server, person_id: int, but: int | None = None) -> int:
    """End everything of a person, perhaps but one session, and email open turns again. Returns how many turns."""
    locked = lock_games(tx, person_id)
    links.revoke_person(tx, server.randomness, person_id)
    sessions.end_all(tx, server, Holder(person_id=person_id), but)
    outbox.unwrite_to(tx, person_id)
    asked = deadlines.of_person(tx, person_id)
    queued = outbox.of_kind(tx, person_id, EmailKind.TURN, EmailStatus.QUEUED)
    turns = {(row.game_id, row.turn, row.seat) for row in asked if row.turn == locked[row.game_id].turn}
    again = sorted(turns - {(email.game_id, email.turn, email.seat) for email in queued})
    emails = [
        outbox.NewEmail(person_id, EmailKind.TURN, game_id, None, seat, turn, {ASKED_FOR: True})
        for game_id, turn, seat in again
    ]
    now = server.now()
    outbox.queue(tx, emails, now)
    return len(again)


def lock_games(tx: Tx, person_id: int) -> dict[int, GameRow]:
    """The games that ask a person something, locked. Games are locked before people, as everywhere, against deadlocks."""
    game_ids = {row.game_id for row in deadlines.of_person(tx, person_id)}
    return {game_id: games.lock(tx, game_id) for game_id in sorted(game_ids)}
