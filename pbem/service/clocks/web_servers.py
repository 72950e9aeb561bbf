"""Web servers show that they're up. While none has for some minutes, nobody can open a page: no deadline fires, and once one is
back, that time is an outage.

A worker alone isn't enough: it may be fine while the pages that its emails lead to can't be reached.
"""

from datetime import datetime
from typing import Final

from pbem.domain.duration import MINUTE, duration_text
from pbem.domain.interval import Interval, running_time
from pbem.domain.outage import LONGEST_GAP, outage_between
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import clock_doubt
from pbem.service.server import Server
from pbem.store import heartbeats, outages, web_servers
from pbem.store.database import Tx

EVERY: Final = MINUTE / 6
"""How often a web server shows that it's up."""


def beat(tx: Tx, server: Server, name: str) -> Interval | None:
    """Record that a web server is up. If none was for long, that is stored as an outage and returned."""
    now = server.now()
    if clock_doubt.doubt(tx, now) is not None:
        return None
    gap = outage_between(web_servers.newest(tx), now)
    outage = None if gap is None else _unknown_part(tx, gap)
    web_servers.record(tx, name, now)
    return outage if outage is not None and outages.add(tx, outage, why="") else None


def why_not_up(tx: Tx, now: datetime) -> str | None:
    """Since when no web server has been up, or None. Where none has ever been, there are no pages to open."""
    last = web_servers.newest(tx)
    if last is None or outage_between(last, now) is None:
        return None
    return f"no web server for {duration_text(now - last)}: nobody can open a page"


def tell(server: Server) -> None:
    """Tell the organisers, once each time, that no web server is up."""
    if server.read(_missing_since) is not None:
        server.run(_tell)


def _missing_since(tx: Tx, server: Server) -> datetime | None:
    """Since when no web server is up although workers have been for some minutes; None if one is, or may just be starting."""
    now, last, seen = server.now(), web_servers.newest(tx), heartbeats.newest(tx)
    if last is None or outage_between(last, now) is None or outage_between(seen, now) is not None:
        return None
    return last if running_time(last, now, outages.since(tx, last)) > LONGEST_GAP else None


def _tell(tx: Tx, server: Server) -> None:
    last = _missing_since(tx, server)
    if last is not None and heartbeats.take_task(tx, "no_web_server", last.isoformat()):
        says = f"The last sign of a web server was at {last:%Y-%m-%d %H:%M} UTC. Nobody can open a page, and no deadline passes."
        alarms.raise_alarm(tx, server, AlarmKind.WEB, f"{says} Start one: `pbem serve`, or gunicorn beside a worker.")


def _unknown_part(tx: Tx, gap: Interval) -> Interval | None:
    """The part of a gap that isn't stored as an outage yet, if it's long enough to be one."""
    assert gap.end is not None
    start, end = gap.start, gap.end
    for known in sorted(outages.since(tx, gap.start), key=lambda each: each.start):
        until = known.end or end
        if known.start <= start < until:
            start = until
        elif start < known.start < end <= until:
            end = known.start
    return Interval(start, end) if end - start > LONGEST_GAP else None
