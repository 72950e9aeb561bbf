"""The ledger: what became of every email, for its reader and for organisers; and sending one again by hand.

It shows kinds, moments and the relay's answers, never what an email says: that is in its reader's mailbox, and on the desk for
a reason and on record.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.channels import ChannelKind
from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Forbidden, Gone, NotFound, TooMany
from pbem.domain.outage import outage_between
from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.service.outgoing import outdated, prepare
from pbem.service.play import move
from pbem.service.server import Server
from pbem.store import (
    channels,
    deadlines,
    games,
    heartbeats,
    ledger,
    limits,
    outages,
    outbox,
    people,
    players as player_rows,
    reachability,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.ledger import LedgerRow
from pbem.store.outbox import EmailRow
from pbem.store.players import PlayerRow

MOST_SHOWN: Final = 200

AGAIN_AN_HOUR: Final = 10
"""Emails of turns at one table in an hour after which a player's request for one more is refused; and likewise resendings."""

_LATE: Final = timedelta(minutes=15)
"""How long an email that is due may wait for its turn, as `pbem doctor` has it too."""


@dataclass(frozen=True, slots=True)
class EmailHistory:
    """One email and what happened to it, the first thing first. `channel` is the service it goes through, if another."""

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
    channel: str = ""


def is_delayed(tx: Tx, server: Server) -> bool:
    """Whether emails are delayed at present: they're paused, no worker runs, or one that is due has waited for long."""
    now, seen = server.now(), heartbeats.newest(tx)
    if seen is None or outage_between(seen, now) is not None or outages.email_pause(tx) is not None:
        return True
    _waiting, oldest = outbox.queue_length(tx, EmailStatus.QUEUED)
    return oldest is not None and now - oldest > _LATE


def of_person(tx: Tx, person_id: int, limit: int = MOST_SHOWN) -> list[EmailHistory]:
    """The emails to a person, the newest first."""
    return _histories(tx, outbox.of_person(tx, person_id, limit))


def of_game(tx: Tx, game_id: int, limit: int = MOST_SHOWN, seat: int | None = None) -> list[EmailHistory]:
    """The emails about a game, or to one seat of it, the newest first."""
    return _histories(tx, outbox.about(tx, game_id, limit, seat))


def of_email(tx: Tx, email: EmailRow) -> EmailHistory:
    """One email."""
    (history,) = _histories(tx, [email])
    return history


def given_up(tx: Tx, limit: int) -> list[EmailHistory]:
    """The emails about no table that were given up; those about a table are on its desk."""
    return _histories(tx, outbox.given_up_of_no_table(tx, limit))


def reader_names(tx: Tx, person_ids: Collection[int], players: Sequence[PlayerRow] = ()) -> dict[int, str]:
    """The names of readers: the one used at the table, or their own, or their id if they have given none."""
    at_table = {player.person_id: player.name for player in players}
    return {
        person_id: at_table.get(person_id) or person.name or _("person %(number)s", number=person_id)
        for person_id, person in people.read_all(tx, set(person_ids)).items()
    }


def resend_own(tx: Tx, server: Server, person_id: int, outbox_id: int) -> None:
    """Queue one of a person's own emails again, a limited number of times in an hour."""
    row = outbox.read(tx, outbox_id)
    if row is None or row.person_id != person_id:
        raise NotFound(_("You have no such email."))
    if row.status == EmailStatus.QUEUED:
        # It is on its way already: two presses are one.
        return
    if outbox.count_resent_in(tx, person_id, limits.last(timedelta(hours=1), server.now())) >= AGAIN_AN_HOUR:
        raise TooMany(
            _("Many of your emails were resent in the last hour. This one wasn't."),
            why=_("We resend at most %(again_an_hour)s an hour.", again_an_hour=AGAIN_AN_HOUR),
            remedy=_("Check your spam folder, or contact the organiser."),
        )
    resend(tx, server, outbox_id, asked_for=True)


def resend(tx: Tx, server: Server, outbox_id: int, *, asked_for: bool = False) -> None:
    """Queue an email again by hand: the same bytes, with the links that its reader has now.

    If its reader asked for it, no preference holds it back. If our relay has refused the address, it's tried again: that the
    relay takes an email shows that it knows the address by now. After bounces or a complaint nothing shows that.
    """
    row = outbox.read(tx, outbox_id)
    if row is None:
        raise NotFound(_("There is no such email."))
    if is_former(people.read(tx, row.person_id).address):
        # Its text is deleted, and so is the address.
        raise Gone(_("This email is out of date."), why=_("Its reader's account was deleted."))
    locked = {} if row.game_id is None else {row.game_id: games.lock(tx, row.game_id)}
    if (why := outdated.why_outdated(tx, [row], locked).get(row.id)) is not None:
        raise Gone(_("This email is out of date."), why=_("In the meantime, %(why)s.", why=why))
    now = server.now()
    # A worker that is sending it now loses its lease: from here on the email is the next claimer's.
    outbox.change(tx, row.id, status=EmailStatus.QUEUED, due_at=now, lease_id=None, attempts=0)
    failure = reachability.failure(tx, row.person_id)
    if asked_for or failure is None or failure.cause == "refused":
        facts = json.loads(row.facts) | {prepare.ASKED_FOR if asked_for else prepare.BY_HAND: True}
        outbox.change(tx, row.id, facts=json.dumps(facts))
    ledger.note(tx, row.id, now, "resent", "by hand")


def resend_turn(tx: Tx, server: Server, person_id: int, game_id: int, seat: int) -> None:
    """Email a player their present turn again because they asked for it, at once, also if they prefer a digest."""
    game = games.lock(tx, game_id)
    if all(player.person_id != person_id for player in player_rows.of_game(tx, game_id) if player.seat == seat):
        raise Forbidden(_("This seat is not yours."))
    move.must_be_playing(game)
    deadline = deadlines.read(tx, game_id, game.turn, seat)
    if deadline is None or deadline.status != TurnStatus.OPEN:
        raise Gone(_("It's not your turn right now."), remedy=_("We'll email you when it is."))
    now, facts = server.now(), {prepare.ASKED_FOR: True}
    # Not before the first email of this turn could leave: until then the move before it may be taken back.
    due_at = max(now, deadline.asked_at + server.hold)
    for email in outbox.of_kind(tx, person_id, EmailKind.TURN, EmailStatus.QUEUED):
        if _is_that_turn(email, game, seat):
            # It is on its way already, and no longer waits for its reader's preferences.
            outbox.change(tx, email.id, facts=json.dumps(facts), due_at=min(email.due_at, due_at))
            return
    if people.count_emails_in(tx, person_id, "turn", limits.last(timedelta(hours=1), now), game_id) >= AGAIN_AN_HOUR:
        raise TooMany(
            _("This turn was emailed many times in the last hour, so it wasn't sent again."),
            why=_("We resend at most %(again_an_hour)s turn emails per table an hour.", again_an_hour=AGAIN_AN_HOUR),
            remedy=_("Check your spam folder, or contact the organiser."),
        )
    outbox.queue(
        tx, [outbox.NewEmail(person_id, EmailKind.TURN, game_id, None, seat, game.turn, facts, alone=True)], now, due_at
    )


def resend_turn_of_seat(tx: Tx, server: Server, game_id: int, seat: int) -> None:
    """Email the player of a seat their present turn again at another player's request.

    Nothing tells whether they have answered; then nothing is sent. Raises Gone if a bot or nobody is asked there.
    """
    game = games.lock(tx, game_id)
    move.must_be_playing(game)
    deadline, player = deadlines.read(tx, game_id, game.turn, seat), player_rows.at_seat(tx, game_id, seat)
    if deadline is None or player is None or player.person_id is None:
        raise Gone(_("Nobody there has a decision to make right now."), remedy=_("Nothing changed."))
    if deadline.status != TurnStatus.OPEN:
        return
    emails = [email for email in outbox.of_game(tx, game_id) if email.kind == EmailKind.TURN and not email.channel_id]
    emails = [email for email in emails if _is_that_turn(email, game, seat) and email.person_id == player.person_id]
    # One that is on its way is left alone: it may have to wait until the move before it is final.
    if not emails:
        now = server.now()
        email = outbox.NewEmail(player.person_id, EmailKind.TURN, game_id, None, seat, game.turn)
        outbox.queue(tx, [email], now, max(now, deadline.asked_at + server.hold))
    elif all(email.status != EmailStatus.QUEUED for email in emails):
        resend(tx, server, emails[-1].id)


def _is_that_turn(email: EmailRow, game: GameRow, seat: int) -> bool:
    return (email.game_id, email.turn, email.seat) == (game.id, game.turn, seat)


def _histories(tx: Tx, rows: Sequence[EmailRow]) -> list[EmailHistory]:
    lines = ledger.lines(tx, [row.id for row in rows])
    numbers = {row.channel_id for row in rows if row.channel_id}
    through = channels.read_all(tx, numbers) if numbers else {}
    return [
        EmailHistory(
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
            channel=ChannelKind(through[row.channel_id].kind).called if row.channel_id in through else "",
        )
        for row in rows
    ]
