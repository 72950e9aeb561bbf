"""Reachability: bounces are counted, and while no email reaches a person their clocks stand still and their tables are told."""

from datetime import datetime
from typing import Final

from pbem.domain.bounce import MEMORY, POINTS, THRESHOLD, Bounce
from pbem.service import alarms
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks.deadlines import lock_games_of, settle_person
from pbem.service.server import Server
from pbem.store import ledger, outbox, people, reachability, tables, traffic
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow

_BATCH: Final = 50


def note_bounce(tx: Tx, server: Server, person_id: int, kind: Bounce, why: str) -> None:
    """Note that a mail to a person came back, or that they called it spam; enough of that, and the address is left alone."""
    if kind is Bounce.COMPLAINT:
        _fail(tx, server, person_id, "complained", why)
    else:
        note_failure(tx, server, person_id, kind, why)
    domain = people.read(tx, person_id).mailbox.rpartition("@")[2]
    said = "complained" if kind is Bounce.COMPLAINT else "bounced"
    traffic.count(tx, server.now().date(), said, {domain: 1})


def note_failure(tx: Tx, server: Server, person_id: int, kind: Bounce, why: str) -> None:
    """Count against an address that a mail to it failed; enough of that, and it is left alone."""
    people.lock(tx, person_id)
    today = server.now().date()
    reachability.add_points(tx, person_id, today, POINTS[kind])
    if reachability.points(tx, person_id, today - MEMORY) >= THRESHOLD:
        _fail(tx, server, person_id, "bounced", why)


def note_refusal(tx: Tx, server: Server, person_id: int, why: str) -> None:
    """Note that our own relay says there is no such address: that is no guess, so the address is left alone at once."""
    _fail(tx, server, person_id, "refused", why)


def note_acceptance(tx: Tx, server: Server, person_id: int) -> bool:
    """Note that our relay has taken a mail to a person; whether that ends a time in which mail to them failed.

    It does where it was the relay that said no. Where mails came back later, that it takes one says nothing.
    """
    failure = reachability.failure(tx, person_id)
    if failure is None or failure.cause != "refused":
        return False
    _reach(tx, server, person_id)
    return True


def note_contact(tx: Tx, server: Server, person_id: int, since: datetime | None = None) -> bool:
    """Note a sign that mail reaches a person: an answer, or a click on a link that was mailed at that moment.

    Whether that ends a time in which mail to them failed: a link from before says nothing of now.
    """
    failure = reachability.failure(tx, person_id)
    if since is None:
        reachability.forget_points(tx, person_id)
    if failure is None or (since is not None and since < failure.start_at):
        return False
    _reach(tx, server, person_id)
    return True


def mark_reachable(tx: Tx, server: Server, person_id: int) -> int | None:
    """Note that mail to a person arrives again, for a reason that somebody knows; None where it did anyway.

    How many turns are mailed again because of it.
    """
    return _reach(tx, server, person_id)


def retry_failed(server: Server) -> int:
    """Try addresses again that have been left alone for so long that they may work by now; how many those were."""
    now = server.now()
    with server.store.read() as tx:
        gone = reachability.failing(tx, now - MEMORY, _BATCH)
    for failure in gone:
        server.run(_reach, person_id=failure.person_id)
    server.store.write(lambda tx: reachability.forget_points_before(tx, now.date() - MEMORY))
    return len(gone)


def _fail(tx: Tx, server: Server, person_id: int, cause: str, why: str) -> None:
    """As long as mail to a person fails, and the others wait, no clock of theirs runs; and all who wait are told."""
    locked = lock_games_of(tx, person_id)
    if not reachability.fail(tx, person_id, server.now(), cause, why):
        return
    settle_person(tx, server, person_id, locked)
    for game, who, other in _companions(tx, person_id):
        clocks_deadlines.queue_notice(tx, server, other, game, None, "unreachable", {"who": who})
    name = people.read(tx, person_id).name or "somebody who has given no name"
    said = f"{name} ({cause}); their tables wait a week at most. A server said: {why}"
    alarms.raise_alarm(tx, server, alarms.What.UNREACHABLE, said)


def _reach(tx: Tx, server: Server, person_id: int) -> int | None:
    """Mail to a person arrives again; None if it did anyway, or how many turns are mailed again.

    What they were to be asked meanwhile is sent: without its mail no clock would start.
    """
    locked = lock_games_of(tx, person_id)
    now = server.now()
    if not reachability.reach(tx, person_id, now):
        return None
    reachability.forget_points(tx, person_id)
    settle_person(tx, server, person_id, locked)
    held_back = outbox.turns_refused(tx, person_id)
    for email in held_back:
        outbox.change(tx, email.id, status="queued", due_at=now, claimed_until=None, attempts=0)
        ledger.note(tx, email.id, now, "resent", "the address can be reached again")
    for game, who, other in _companions(tx, person_id):
        clocks_deadlines.queue_notice(tx, server, other, game, None, "reachable", {"who": who})
    return len(held_back)


def _companions(tx: Tx, person_id: int) -> list[tuple[GameRow, str, int]]:
    """Everybody who plays with a person: at which table, what the person is called there, and who that is."""
    found = []
    for game in tables.of_person(tx, person_id, ("playing",)):
        players = player_rows.of_game(tx, game.id)
        who = next(player.name for player in players if player.person_id == person_id)
        others = {player.person_id for player in players if player.person_id is not None} - {person_id}
        found += [(game, who, other) for other in sorted(others)]
    return found
