"""Mails after a key was revoked: every link made with it is dead, and people must not be left with dead links.

What waits is written anew before it leaves, and everybody who is asked something and has been mailed gets a new mail. Its
clock goes on as it was.
"""

from dataclasses import dataclass

from pbem.service.house import House
from pbem.store import outbox, sending
from pbem.store.database import Tx


@dataclass(frozen=True, slots=True)
class Renewed:
    """How many mails are written anew, and how many turns are mailed again."""

    rewritten: int
    mailed_again: int


def renew_mails(house: House) -> Renewed:
    """Write the mails that wait anew, and mail every open turn again, with links that work."""
    return house.write(lambda tx: _renew(tx, house))


def _renew(tx: Tx, house: House) -> Renewed:
    now = house.now()
    rewritten = sending.unwrite_queued(tx)
    for outbox_id in rewritten:
        outbox.note(tx, outbox_id, now, "rewritten", "a key was revoked")
    sent = {(row.game_id, row.window, row.seat): row for row in outbox.turns_open(tx)}
    # A mail of its own and not the old one again: mail programs show a second one of the same name to nobody.
    letters = [outbox.Letter(row.person_id, "turn", row.game_id, None, row.seat, row.window) for row in sent.values()]
    outbox.queue(tx, letters, now, now)
    return Renewed(len(rewritten), len(letters))
