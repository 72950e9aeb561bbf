"""Outages: nobody is timed out by our own downtime.

Every worker writes a heartbeat. A hole in the beats of all workers together becomes an outage, and
an outage stops every player's clock (`deadline`). The same beats tell whether our own idea of the
time can be trusted just now: while it cannot, nothing fires, and whatever is due stays due.

The functions here judge; they never read a clock and never write an outage down.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from pbem.domain.duration import MINUTE, spoken
from pbem.domain.interval import Interval, running

# A restart or a slow disk takes less; twenty beats in a row are not missed by accident.
LONGEST_HOLE = 5 * MINUTE

# Time for the mails and answers that waited for us to come in before anybody is timed out.
SETTLING = 10 * MINUTE

# Machines with a time service agree to a second; more than this is no disagreement but a step back.
CLOCK_TOLERANCE = timedelta(seconds=30)


def outage_between(last_beat: datetime | None, now: datetime) -> Interval | None:
    """The outage that a worker finds when it looks at the newest beat of all workers, if any.

    To be asked before the worker writes a beat of its own, and written down before it acts.
    """
    if last_beat is None or now - last_beat <= LONGEST_HOLE:
        return None
    return Interval(last_beat, now)


def may_fire(
    now: datetime,
    worker_started: datetime,
    last_beat: datetime | None,
    outages: Collection[Interval],
    settling: timedelta = SETTLING,
) -> str | None:
    """Why no clock may run out at this moment, or None when it may.

    `last_beat` is the newest beat of all workers, and `outages` are those written down so far.
    """
    if last_beat is None:
        return "no worker has written a heartbeat yet"
    ends = [outage.end for outage in outages if outage.end is not None]
    newest = max([last_beat, worker_started, *ends])
    if newest - now > CLOCK_TOLERANCE:
        return f"the clock went back: something is dated {spoken(newest - now)} from now"
    unexplained = running(last_beat, now, outages)
    if unexplained > LONGEST_HOLE:
        return (
            f"no heartbeat for {spoken(unexplained)} and no outage written down for it: "
            "either the clock jumped or a worker slept"
        )
    if any(outage.holds(now) for outage in outages):
        return "an outage is going on"
    awake_since = max([worker_started, *ends])
    if now - awake_since < settling:
        return f"the worker woke up {spoken(now - awake_since)} ago, and answers that waited may still come in"
    return None
