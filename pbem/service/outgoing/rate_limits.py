"""Mails that we write because a mail came in: so few that nobody can make us flood anybody, not even by mistake.

An answer goes to the address on file, never to where the mail came from. So many are written about one turn and in one
day, and one a day that says the same thing was wrong with the same turn; what comes after that is read, and done if it is
right, in silence. Whoever answers a mail queues the answer here and nowhere else.
"""

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from pbem.mail.send.throttle import Throttle
from pbem.service.server import Server
from pbem.store import outbox, people, quotas, received, traffic
from pbem.store.database import Tx
from pbem.store.outbox import Letter, OutboxRow

ANSWERS: Final = frozenset({"receipt", "was_it_you"})
"""The kinds of mail that are answers. They are sent without a return address, so that nothing can answer them in turn."""

_DAY: Final = timedelta(days=1)


def queue_answer(tx: Tx, server: Server, email: Letter, error: str = "") -> bool:
    """Queue an answer, unless there have been enough; whether it was queued.

    `error` says in a word what was wrong, where because of it nothing was changed.
    """
    assert email.kind in ANSWERS
    people.lock(tx, email.person_id)
    now = server.now()
    known = received.answers(tx, email.person_id, ANSWERS, now - _DAY, email.game_id, email.turn)
    today = [each for each in known if each.queued_at > now - _DAY]
    this_turn = [each for each in known if (each.game_id, each.turn) == (email.game_id, email.turn)]
    same = [each for each in this_turn if each in today and error and json.loads(each.facts).get("error") == error]
    if len(today) >= server.answers_a_day or len(this_turn) >= server.answers_a_turn or same:
        return False
    facts = {**(email.facts or {}), "error": error}
    outbox.queue(tx, [replace(email, facts=facts)], now, now)
    return True


def free(tx: Tx, throttle: Throttle, rows: list[OutboxRow], now: datetime) -> tuple[list[OutboxRow], int]:
    """Those of some leased mails that may go now, and how many others were put off until they may."""
    if not rows:
        return [], 0
    domains = people.domains(tx, {row.person_id for row in rows})
    used = quotas.lock(tx, {name for domain in domains.values() for name in throttle.share_names(domain)})
    before = dict(used)
    known = (
        traffic.known_domains(tx, set(domains.values()), now.date()) if throttle.new_domain else set(domains.values())
    )
    free, waiting = [], Counter[str]()
    for row in rows:
        domain = domains[row.person_id]
        if wait := throttle.wait(used, domain, now, new=domain not in known):
            # One behind the other, so that they do not all come back at the first moment there is room.
            outbox.release(tx, row, now + wait + throttle.interval(domain) * waiting[domain])
            waiting[domain] += 1
        else:
            free.append(row)
    quotas.write(tx, {name: moment for name, moment in used.items() if before.get(name) != moment})
    return free, waiting.total()
