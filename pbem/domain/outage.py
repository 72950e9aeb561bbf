"""Outages: nobody is timed out because the server was down.

Every worker writes heartbeats. A gap in the heartbeats of all workers becomes an outage, and an outage stops every player's
clock (`deadline`). The heartbeats also show whether the server's own clock can be trusted; while it cannot, no clock may
run out, and everything that is due stays due.

These functions only judge: they must never read a clock or record an outage.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from pbem.domain.duration import MINUTE, duration_text
from pbem.domain.interval import Interval, running_time

# A restart or a slow disk takes less; twenty heartbeats in a row are not missed by accident.
LONGEST_GAP = 5 * MINUTE

# Time for emails and replies that queued up during an outage to arrive before anyone is timed out.
SETTLING_TIME = 10 * MINUTE

# Machines with a time service agree to a second; a larger difference means that a clock was set back.
CLOCK_TOLERANCE = timedelta(seconds=30)


def outage_between(last_beat: datetime | None, now: datetime) -> Interval | None:
    """The outage between the newest heartbeat of all workers and now, if the gap is long enough to be one.

    Call it before the worker writes its own heartbeat, and record the outage before the worker acts.
    """
    if last_beat is None or now - last_beat <= LONGEST_GAP:
        return None
    return Interval(last_beat, now)


def reason_to_wait(
    now: datetime,
    worker_started: datetime,
    last_beat: datetime | None,
    outages: Collection[Interval],
    settling: timedelta = SETTLING_TIME,
) -> str | None:
    """Why no clock may run out now, judged by the newest heartbeat and the recorded outages; None if clocks may."""
    if last_beat is None:
        return "no worker has written a heartbeat yet"
    ends = [outage.end for outage in outages if outage.end is not None]
    newest = max([last_beat, worker_started, *ends])
    if newest - now > CLOCK_TOLERANCE:
        return f"the clock went back: something is dated {duration_text(newest - now)} from now"
    unexplained = running_time(last_beat, now, outages)
    if unexplained > LONGEST_GAP:
        return (
            f"no heartbeat for {duration_text(unexplained)} and no outage recorded for it: "
            "either the clock jumped or a worker slept"
        )
    if any(outage.contains(now) for outage in outages):
        return "an outage is going on"
    awake_since = max([worker_started, *ends])
    if now - awake_since < settling:
        return f"the worker woke up {duration_text(now - awake_since)} ago, and delayed replies may still come in"
    return None
