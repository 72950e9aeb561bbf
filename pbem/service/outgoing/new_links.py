"""New links: what is outstanding ends at once, and fresh links go to the address on file.

Of a person, links, sessions, tokens of programs, addresses of feeds and requests for another address all end, and the
channels that they entered are off until their codes are entered again. This is the only way in which they end together, so that none is
forgotten. Of one seat, the links and tokens that act for it end; sign-ins,
feeds and other seats stay. The fresh links are emailed and never shown, so an old link gains a stranger nothing.
"""

from collections.abc import Mapping

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Forbidden, Gone
from pbem.domain.guests import is_guest
from pbem.domain.states import EmailKind, EmailStatus
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import reachability
from pbem.service.links import follow_seat
from pbem.service.outgoing.prepare import ASKED_FOR
from pbem.service.people import sessions
from pbem.service.server import Server
from pbem.store import channels, deadlines, email_copies, games, links, outbox, people, players, revocations
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.sessions import Holder


def send(
    tx: Tx, server: Server, person_id: int, but: int | None = None, *, reason: str = "", warned: int | None = None
) -> None:
    """Replace everything of a person by fresh links, sent to them by email, which says who did it: `reason` is an organiser's.

    `warned` is the email whose link did it. Raises Gone if they have left.
    """
    lock_games(tx, person_id)
    if is_former(people.lock(tx, person_id).address):
        raise Gone(_("Their account was deleted."), remedy=_("Nothing changed."))
    had_channels = channels.any_in_use(tx, person_id)
    replace_all(tx, server, person_id, but)
    outbox.queue(tx, [_email(person_id, reason, channels_off=had_channels, warned=warned)], server.now())


def send_for_seat(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, *, reason: str = "") -> int:
    """Replace the links of one seat by fresh ones, sent to its player by email. Returns how many turns are emailed again.

    What they have sealed, ordered and sent stays. Raises Gone if they no longer play it, Forbidden for a guest.
    """
    revocations.begin(tx, Holder(person_id=person_id))
    row = games.lock(tx, game_id)
    if all((player.person_id, player.seat) != (person_id, seat) for player in players.of_game(tx, game_id)):
        raise Gone(_("Someone else plays this seat now."), remedy=_("Nothing changed."))
    if is_guest(people.lock(tx, person_id).address):
        raise Forbidden(_("Guests have no address to send new links to."), remedy=_("Nothing changed."))
    links.revoke_seat_of(tx, server.randomness, person_id, game_id, seat)
    again = _email_turns(tx, server, person_id, {game_id: row}, seat)
    outbox.queue(tx, [_email(person_id, reason)], server.now())
    return again


def by_link(tx: Tx, server: Server, token: str) -> None:
    """Replace the links of the seat that a SEAT token opens."""
    link = follow_seat(tx, server, token)
    send_for_seat(tx, server, link.game_id, link.seat, link.person_id)


def replace_all(tx: Tx, server: Server, person_id: int, but: int | None = None) -> int:
    """End everything of a person, perhaps but one session, and email open turns again. Returns how many turns."""
    locked = lock_games(tx, person_id)
    end_all(tx, server, person_id, but)
    return _email_turns(tx, server, person_id, locked)


def end_all(tx: Tx, server: Server, person_id: int, but: int | None = None) -> None:
    """End everything of a person, perhaps but one session, and send none of it again."""
    locked = lock_games(tx, person_id)
    links.revoke_person(tx, server.randomness, person_id)
    sessions.end_all(tx, server, Holder(person_id=person_id), but)
    email_copies.unwrite_to(tx, person_id)
    # Each message has a link to a seat or tells of a table, and a stranger may have entered the channel.
    if channels.switch_off(tx, person_id, "all your links were renewed", server.now()):
        reachability.note_lost_channel(tx, server, locked, person_id)


def lock_games(tx: Tx, person_id: int) -> dict[int, GameRow]:
    """The games that ask a person something, locked, once their acts under way are done.

    Games are locked before people, as everywhere, against deadlocks.
    """
    revocations.begin(tx, Holder(person_id=person_id))
    game_ids = {row.game_id for row in deadlines.of_person(tx, person_id)}
    return {game_id: games.lock(tx, game_id) for game_id in sorted(game_ids)}


def _email(person_id: int, reason: str, *, channels_off: bool = False, warned: int | None = None) -> outbox.NewEmail:
    facts = {"renewed_by": "organiser" if reason else "", "why": reason, "channels_off": channels_off, "warned": warned}
    return outbox.NewEmail(person_id, EmailKind.LINKS, facts=facts)


def _email_turns(tx: Tx, server: Server, person_id: int, locked: Mapping[int, GameRow], seat: int | None = None) -> int:
    """Email the open turns of a person at these tables again, perhaps of one seat alone. Returns how many."""
    asked = [row for row in deadlines.of_person(tx, person_id) if row.game_id in locked and seat in (None, row.seat)]
    queued = outbox.of_kind(tx, person_id, EmailKind.TURN, EmailStatus.QUEUED)
    turns = {(row.game_id, row.turn, row.seat) for row in asked if row.turn == locked[row.game_id].turn}
    # An email that a worker has claimed may leave with the old links.
    waiting = {(email.game_id, email.turn, email.seat) for email in queued if email.lease_id is None}
    emails = {
        key: outbox.NewEmail(person_id, EmailKind.TURN, key[0], None, key[2], key[1], {ASKED_FOR: True})
        for key in sorted(turns)
    }
    again = [email for key, email in emails.items() if key not in waiting]
    outbox.queue(tx, again, server.now())
    # Messages in a channel have the old links, whether or not an email waits.
    outbox.queue_messages(tx, [email for key, email in emails.items() if key in waiting], server.now())
    return len(again)
