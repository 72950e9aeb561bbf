"""Reachability: bounces are counted; while no email reaches a person, their clocks are stopped and their tables told."""

from datetime import datetime

from pbem.domain.bounce import MEMORY, POINTS, THRESHOLD, Bounce
from pbem.domain.states import EmailKind, EmailStatus, TableStatus
from pbem.service import alarms
from pbem.service.clocks import deadlines as clocks_deadlines, outages
from pbem.service.clocks.deadlines import lock_games_of, settle_person
from pbem.service.server import Server
from pbem.store import (
    channels,
    deadlines as deadline_rows,
    ledger,
    outbox,
    people,
    players as player_rows,
    reachability,
    tables,
    traffic,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow


def note_bounce(tx: Tx, server: Server, person_id: int, kind: Bounce, why: str) -> None:
    """Note a bounce or a spam complaint; a complaint, or enough bounces, make the address unreachable."""
    if kind is Bounce.COMPLAINT:
        outcome = "complained"
        _fail(tx, server, person_id, outcome, why)
    else:
        outcome = "bounced"
        note_failure(tx, server, person_id, kind, why)
    domain = people.read(tx, person_id).mailbox.rpartition("@")[2]
    traffic.count(tx, server.now().date(), outcome, {domain: 1})


def note_failure(tx: Tx, server: Server, person_id: int, kind: Bounce, why: str) -> None:
    """Add the points of a failure to an address; enough make it unreachable."""
    people.lock(tx, person_id)
    today = server.now().date()
    reachability.add_points(tx, person_id, today, POINTS[kind])
    if reachability.points(tx, person_id, today - MEMORY, today) >= THRESHOLD:
        _fail(tx, server, person_id, "bounced", why)


def note_refusal(tx: Tx, server: Server, person_id: int, why: str) -> None:
    """Note that the relay knows the address does not exist; it is unreachable at once."""
    _fail(tx, server, person_id, "refused", why)


def note_acceptance(tx: Tx, server: Server, person_id: int) -> bool:
    """Note that the relay has accepted an email to a person; returns whether that makes them reachable again.

    It does if the relay had refused before. After bounces, acceptance proves nothing.
    """
    failure = reachability.failure(tx, person_id)
    if failure is None or failure.cause != "refused":
        return False
    mark_reachable(tx, server, person_id)
    return True


def note_contact(tx: Tx, server: Server, person_id: int, since: datetime | None = None) -> bool:
    """Note that an email has reached a person: a reply, or a click on a link emailed at `since`.

    Returns whether that makes them reachable again. A link from before the failure proves nothing.
    """
    failure = reachability.failure(tx, person_id)
    if since is None:
        reachability.forget_points(tx, person_id)
    if failure is None or (since is not None and since < failure.start_at):
        return False
    mark_reachable(tx, server, person_id)
    return True


def mark_reachable(tx: Tx, server: Server, person_id: int) -> int | None:
    """Mark a person as reachable again.

    Their turns held back meanwhile are emailed, since without its email no clock starts. Returns the number of those turns,
    or None if they were reachable.
    """
    locked = lock_games_of(tx, person_id)
    now, failure = server.now(), reachability.failure(tx, person_id)
    if not reachability.mark_reachable(tx, person_id, now):
        return None
    reachability.forget_points(tx, person_id)
    settle_person(tx, server, person_id, locked)
    held_back = outbox.turns_refused(tx, person_id)
    for email in held_back:
        outbox.change(tx, email.id, status=EmailStatus.QUEUED, due_at=now, lease_id=None, attempts=0)
        ledger.note(tx, email.id, now, "resent", "the address can be reached again")
    if failure is None or failure.covered_at is None:
        _notify_tables(tx, server, person_id, "reachable")
    return len(held_back)


def fails(tx: Tx, person_id: int) -> bool:
    """Whether email to a person fails at present."""
    return reachability.failure(tx, person_id) is not None


def note_message(tx: Tx, server: Server, locked: dict[int, GameRow], message: EmailRow, at: datetime) -> None:
    """Note that a message about a turn reached a person whose email fails: its clock starts, and their others run again.

    All games that ask this person something are locked.
    """
    if reachability.cover(tx, message.person_id, at):
        settle_person(tx, server, message.person_id, locked)
    clocks_deadlines.emails_accepted(tx, server, locked, [(message, at)])


def note_lost_channel(tx: Tx, server: Server, locked: dict[int, GameRow], person_id: int) -> None:
    """Note that a channel ended: if no other reaches a person whose email fails, their clocks stop."""
    if not channels.reaches(tx, person_id) and reachability.uncover(tx, person_id, server.now()):
        settle_person(tx, server, person_id, locked)
        _notify_tables(tx, server, person_id, "unreachable")


def use_channels(tx: Tx, server: Server, person_id: int, locked: dict[int, GameRow]) -> bool:
    """Tell a person whose email fails of their open turns through their own channels; returns whether they have any."""
    if not channels.reaches(tx, person_id):
        return False
    now, messages = server.now(), channels.about_open_turns(tx, person_id)
    proved = {channel.id: channel.proved_at for channel in channels.of_person(tx, person_id)}
    missing = []
    for row in deadline_rows.of_person(tx, person_id):
        message = messages.get((row.game_id, row.turn, row.seat))
        sent, since = (None, None) if message is None else (message.accepted_at, proved.get(message.channel_id))
        # The links in a message from before its channel was switched on again may have ended.
        if message is None or (sent is not None and (since is None or sent < since)):
            missing.append(outbox.NewEmail(person_id, EmailKind.TURN, row.game_id, None, row.seat, row.turn))
        elif message.status == EmailStatus.SENT:
            note_message(tx, server, locked, message, now)
    outbox.queue_messages(tx, missing, now)
    return True


def retry_failed(server: Server) -> int:
    """Make addresses reachable again after long enough; returns their number."""
    before = server.read(outages.ago, MEMORY)
    failing = server.query(reachability.failing, before)
    tried = [server.attempt(mark_reachable, person_id) for person_id in failing]
    server.store.write(lambda tx: reachability.forget_points_before(tx, before.date()))
    return len(tried) - tried.count(None)


def _fail(tx: Tx, server: Server, person_id: int, cause: str, why: str) -> None:
    """Mark a person as unreachable: stop their clocks, and tell their fellow players and the organisers."""
    locked = lock_games_of(tx, person_id)
    if not reachability.mark_unreachable(tx, person_id, server.now(), cause, why):
        return
    settle_person(tx, server, person_id, locked)
    if not use_channels(tx, server, person_id, locked):
        _notify_tables(tx, server, person_id, "unreachable")
    name = people.read(tx, person_id).name or "someone without a name"
    # What the server said names the address in one way or another; the desk shows it.
    says = f"{name} ({cause}); their tables wait a week at most. The desk says why, under “Email”."
    alarms.raise_alarm(tx, server, alarms.AlarmKind.UNREACHABLE, says, None, person_id)


def _notify_tables(tx: Tx, server: Server, person_id: int, what: str) -> None:
    """Tell the fellow players of a person, who goes by their name at each table."""
    for game in tables.of_person(tx, person_id, (TableStatus.PLAYING,)):
        players = player_rows.of_game(tx, game.id)
        who = next(player.called for player in players if player.person_id == person_id)
        clocks_deadlines.notify_people(tx, server, game, what, {"who": who}, but={person_id})
