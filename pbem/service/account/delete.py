"""Leaving for good: what is written down of a person is deleted, and the games that they have played stay.

Their seats in running games are given away as by resigning, and tables of theirs that have not begun close or go on without
them. Where they have played they are “a former player” from then on. Their moves, and what they said at tables, stay in the
record of the game, which is that of the others too, and names no person. This cannot be taken back, so a mail asks for it.
"""

from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Forbidden, TooMany
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.server import Server
from pbem.service.tables import leaving
from pbem.store import games, outbox, people, personal_data, tables
from pbem.store import players as player_rows
from pbem.store.database import Tx

MAILS_A_DAY: Final = 5


def ask(tx: Tx, server: Server, person_id: int) -> None:
    """Mail a link by which a person leaves for good; nothing happens before its button is pressed."""
    people.lock(tx, person_id)
    now = server.now()
    if people.letters_since(tx, person_id, "farewell", now - timedelta(days=1)) >= MAILS_A_DAY:
        raise TooMany(
            _("You were sent as many of these mails as we send in a day."),
            why=_("%(mails_a_day)s are the most.", mails_a_day=MAILS_A_DAY),
            remedy=_("Please use the link in one of them."),
        )
    outbox.queue(tx, [outbox.NewEmail(person_id, "farewell")], now, now)


def delete_person(tx: Tx, server: Server, person_id: int, reason: str = "") -> list[int]:
    """Delete what is written down of a person."""
    # Games before people, and in the order of their numbers, so that nobody waits for us while we wait for them.
    seated = tables.of_person(tx, person_id, ("open", "planned", "playing", "frozen"))
    hosted = tables.hosted_by(tx, person_id, ("open", "planned"))
    theirs = sorted({row.id for row in (*seated, *hosted)})
    for game_id in theirs:
        game = games.lock(tx, game_id)
        if game.status == "frozen":
            raise Forbidden(
                _("“%(title)s” has been stopped, so that somebody can look at its record.", title=game.title),
                why=_("Until then nobody can leave it, and nobody leaves for good who sits there."),
                remedy=_("Nothing was changed; you get a mail when it goes on, and can do this then."),
            )
        if game.status == "playing":
            for player in player_rows.of_game(tx, game_id):
                if player.person_id == person_id and player.seat is not None:
                    leaving.resign(tx, server, game_id, player.seat, person_id, reason)
        elif game.status in ("open", "planned"):
            leaving.leave(tx, server, game_id, person_id, reason)
    person = people.lock(tx, person_id)
    if not is_former(person.address):
        personal_data.forget(tx, person, server.zone)
        links.revoke_person(tx, person_id)
    return theirs
