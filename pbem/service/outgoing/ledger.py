"""The ledger: what became of every mail, for its reader and for the organiser, and sending one again by hand.

A ledger tells kinds, moments and what the relay said. What a mail says it does not tell: that is shown to its reader's
mailbox, and for a reason and on record by `moderation.letters`.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Forbidden, Gone, NotFound, TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.outgoing import prepare
from pbem.service.play import move
from pbem.service.server import Server
from pbem.store import deadlines, games, ledger, outbox, people
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.ledger import LedgerRow
from pbem.store.outbox import EmailRow
from pbem.store.players import PlayerRow

MOST_SHOWN: Final = 200

AGAIN_AN_HOUR: Final = 10
"""So many mails of turns at one table a player gets in an hour before asking for one more is refused."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One mail and what happened to it, the first thing first."""

    outbox_id: int
    kind: str
    person_id: int
    game_id: int | None
    seat: int | None
    turn: int | None
    status: str
    attempts: int
    queued_at: datetime
    due_at: datetime
    accepted_at: datetime | None
    message_id: str | None
    lines: tuple[LedgerRow, ...]


def of_person(tx: Tx, server: Server, person_id: int, limit: int = MOST_SHOWN) -> list[Listed]:
    """The mails to a person, the newest first."""
    people.read(tx, person_id)
    return lines_of_person(tx, person_id, limit)


def lines_of_person(tx: Tx, person_id: int, limit: int) -> list[Listed]:
    """The same within a transaction that is under way."""
    return _listed(tx, outbox.of_person(tx, person_id, limit))


def of_game(tx: Tx, server: Server, game_id: int, seat: int | None = None, limit: int = MOST_SHOWN) -> list[Listed]:
    """The mails about a game, or those to one seat of it, the newest first."""
    games.read(tx, game_id)
    return lines_of_game(tx, game_id, limit, seat)


def readers_of(tx: Tx, person_ids: Collection[int], players: Sequence[PlayerRow] = ()) -> dict[int, str]:
    """What the readers of mails are called: at the table, or by themselves, or by nobody yet and so by their numbers."""
    at_table = {player.person_id: player.name for player in players}
    return {
        number: at_table.get(number) or person.name or _("person %(number)s", number=number)
        for number, person in people.read_all(tx, set(person_ids)).items()
    }


def lines_of_game(tx: Tx, game_id: int, limit: int, seat: int | None = None) -> list[Listed]:
    """The same within a transaction that is under way."""
    return _listed(tx, outbox.about(tx, game_id, limit, seat))


def lines_of_email(tx: Tx, email: EmailRow) -> Listed:
    """One mail within a transaction that is under way."""
    (listed,) = _listed(tx, [email])
    return listed


def given_up(tx: Tx, limit: int) -> list[Listed]:
    """The mails about no table that were given up: those about one are found at its desk."""
    return _listed(tx, outbox.given_up_of_no_table(tx, limit))


def resend_own(tx: Tx, server: Server, person_id: int, outbox_id: int) -> None:
    """Queue a mail of one's own again; so often in an hour."""
    row = outbox.read(tx, outbox_id)
    if row is None or row.person_id != person_id:
        raise NotFound(_("There is no such mail to you."))
    if row.status == "queued":
        # It is on its way: pressed twice is once.
        return
    if outbox.resent_since(tx, person_id, server.now() - timedelta(hours=1)) >= AGAIN_AN_HOUR:
        raise TooMany(
            _("Many of your mails were sent again within the last hour, and this one was not."),
            why=_("%(again_an_hour)s in an hour are the most.", again_an_hour=AGAIN_AN_HOUR),
            remedy=_("Please look among unwanted mails, or call the organiser."),
        )
    resend(tx, server, outbox_id, at_wish=True)


def resend(tx: Tx, server: Server, outbox_id: int, *, at_wish: bool = False) -> None:
    """Queue a mail again, by hand: the same bytes, with the links that its reader has now.

    Where that is its reader's own wish, no other wish of theirs keeps it back.
    """
    row = outbox.read(tx, outbox_id)
    if row is None:
        raise NotFound(_("There is no such mail."))
    if is_former(people.read(tx, row.person_id).address):
        # What it said is deleted, and there is nowhere to send it.
        raise Gone(_("This mail is not worth sending any more."), why=_("Its reader has left for good."))
    locked = {} if row.game_id is None else {row.game_id: games.lock(tx, row.game_id)}
    if (why := prepare.why_outdated(tx, [row], locked).get(row.id)) is not None:
        raise Gone(_("This mail is not worth sending any more."), why=_("In the meantime %(why)s.", why=why))
    now = server.now()
    # Whoever is sending it just now finds its lease gone: from here on the mail is the next claimer's.
    outbox.change(tx, row.id, status="queued", due_at=now, claimed_until=None, attempts=0)
    if at_wish:
        outbox.change(tx, row.id, facts=json.dumps(json.loads(row.facts) | {prepare.AT_WISH: True}))
    ledger.note(tx, row.id, now, "resent", "by hand")


def turn_again(tx: Tx, server: Server, person_id: int, game_id: int, seat: int) -> None:
    """Send a player the mail of their present turn anew, at once however they are mailed, because they have asked for it."""
    game = games.lock(tx, game_id)
    if all(player.person_id != person_id for player in player_rows.of_game(tx, game_id) if player.seat == seat):
        raise Forbidden(_("This seat is not yours."))
    move.must_go_on(game)
    asked = deadlines.read(tx, game_id, game.turn, seat)
    if asked is None or asked.status != "open":
        raise Gone(_("You are not asked anything just now."), remedy=_("You get a mail when you are."))
    now, facts = server.now(), {prepare.AT_WISH: True}
    # Not sooner than the first mail of this turn could leave: until then the move before it may be taken back.
    due_at = max(now, asked.asked_at + server.hold)
    for email in outbox.of_kind(tx, person_id, "turn", "queued"):
        if _is_that_turn(email, game, seat):
            # It is on its way already; as far as it waits only because of a wish, it waits no longer.
            outbox.change(tx, email.id, facts=json.dumps(facts), due_at=min(email.due_at, due_at))
            return
    if people.letters_since(tx, person_id, "turn", now - timedelta(hours=1), game_id) >= AGAIN_AN_HOUR:
        raise TooMany(
            _("This turn was mailed often within the last hour, and was not mailed again."),
            why=_("%(again_an_hour)s mails of a table's turns in an hour are the most.", again_an_hour=AGAIN_AN_HOUR),
            remedy=_("Please look among unwanted mails, or call the organiser."),
        )
    outbox.queue(tx, [outbox.NewEmail(person_id, "turn", game_id, None, seat, game.turn, facts)], now, due_at)


def _is_that_turn(email: EmailRow, game: GameRow, seat: int) -> bool:
    return (email.game_id, email.turn, email.seat) == (game.id, game.turn, seat)


def _listed(tx: Tx, rows: Iterable[EmailRow]) -> list[Listed]:
    found = list(rows)
    lines = ledger.lines(tx, [row.id for row in found])
    return [
        Listed(
            outbox_id=row.id,
            kind=row.kind,
            person_id=row.person_id,
            game_id=row.game_id,
            seat=row.seat,
            turn=row.turn,
            status=row.status,
            attempts=row.attempts,
            queued_at=row.queued_at,
            due_at=row.due_at,
            accepted_at=row.accepted_at,
            message_id=row.message_id,
            lines=(LedgerRow(row.queued_at, "queued", ""), *lines.get(row.id, [])),
        )
        for row in found
    ]
