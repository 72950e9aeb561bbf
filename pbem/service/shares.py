"""Which of the mails that are due may go now, so that no receiver gets more than its share.

How much of each share is used up stands in the tables and is locked while mails are claimed, so any number of workers
keep to the limits together. A mail that then turns out not to be worth sending has used its part: this is rather too slow
than too fast. What the limits are is `mail.throttle`'s business.
"""

from collections import Counter
from datetime import datetime

from pbem.mail.throttle import Throttle
from pbem.store import people, quotas, sending, traffic
from pbem.store.database import Tx
from pbem.store.outbox import OutboxRow


def free_in(tx: Tx, throttle: Throttle, rows: list[OutboxRow], now: datetime) -> tuple[list[OutboxRow], int]:
    """Those of some leased mails that may go now, and how many others were put off until they may."""
    if not rows:
        return [], 0
    domains = people.domains(tx, {row.person_id for row in rows})
    used = quotas.locked(tx, {name for domain in domains.values() for name in throttle.names(domain)})
    before = dict(used)
    known = traffic.known(tx, set(domains.values()), now.date()) if throttle.new_domain else set(domains.values())
    free, waiting = [], Counter[str]()
    for row in rows:
        domain = domains[row.person_id]
        if wait := throttle.wait(used, domain, now, new=domain not in known):
            # One behind the other, so that they do not all come back at the first moment there is room.
            sending.release(tx, row, now + wait + throttle.each(domain) * waiting[domain])
            waiting[domain] += 1
        else:
            free.append(row)
    quotas.keep(tx, {name: moment for name, moment in used.items() if before.get(name) != moment})
    return free, waiting.total()
