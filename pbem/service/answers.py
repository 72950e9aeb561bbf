"""Mails that we write because a mail came in: so few that nobody can make us flood anybody, not even by mistake.

An answer goes to the address on file, never to where the mail came from. So many are written about one turn and in one
day, and one a day that says the same thing was wrong with the same turn; what comes after that is read, and done if it is
right, in silence. Whoever answers a mail queues the answer here and nowhere else.
"""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Final

from pbem.service.house import House
from pbem.store import incoming, outbox, people
from pbem.store.database import Tx
from pbem.store.outbox import Letter

ANSWERS: Final = frozenset({"receipt", "was_it_you"})
"""The kinds of mail that are answers. They are sent without a return address, so that nothing can answer them in turn."""

_DAY: Final = timedelta(days=1)


def queue(tx: Tx, house: House, letter: Letter, error: str = "") -> bool:
    """Queue an answer, unless there have been enough; whether it was queued.

    `error` says in a word what was wrong, where because of it nothing was changed.
    """
    assert letter.kind in ANSWERS
    people.lock(tx, letter.person_id)
    now = house.now()
    known = incoming.answers(tx, letter.person_id, ANSWERS, now - _DAY, letter.game_id, letter.window)
    today = [each for each in known if each.queued_at > now - _DAY]
    this_turn = [each for each in known if (each.game_id, each.window) == (letter.game_id, letter.window)]
    same = [each for each in this_turn if each in today and error and json.loads(each.facts).get("error") == error]
    if len(today) >= house.answers_a_day or len(this_turn) >= house.answers_a_turn or same:
        return False
    facts = {**(letter.facts or {}), "error": error}
    outbox.queue(tx, [replace(letter, facts=facts)], now, now)
    return True
