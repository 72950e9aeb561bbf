"""An outage declared after the fact: clocks are moved by it, and turns that were decided in vain can be rewound."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput
from pbem.domain.interval import Interval
from pbem.domain.phrase import said
from pbem.domain.speech import gettext as _
from pbem.domain.speech import ngettext
from pbem.service import heartbeat
from pbem.service.moderation.doing import Doing, Done, OnServer
from pbem.store import deadlines, moderation

MOST_SHOWN: Final = 50
"""Of so many turns that the clock decided it is said which they are."""

_MANY: Final = 1000
"""More tables are not counted."""

_UTC: Final = ZoneInfo("UTC")

AFTERWARDS: Final = timedelta(hours=12)
"""So long after an outage a turn may have been decided that would have had more time."""


@dataclass(frozen=True)
class DeclareOutage(OnServer):
    """Say that the server, or the way of its mails, was not there in a span of time that is over."""

    act = Act.OUTAGE
    start: datetime
    end: datetime

    def do(self, doing: Doing) -> Done:
        if self.end <= self.start:
            raise BadInput(
                _("An outage ends after it began."), remedy=_("Nothing was changed; please look at both moments.")
            )
        heartbeat.declare_outage_in(doing.tx, doing.house, Interval(self.start, self.end), doing.reason)
        running = len(deadlines.running_since(doing.tx, self.end, 0, _MANY))
        span = _("From %(start)s to %(end)s.", start=said(self.start, _UTC), end=said(self.end, _UTC))
        return Done((span, _tables(running), *_decided(doing, self.start, self.end + AFTERWARDS)))

    def kept(self) -> dict[str, Any]:
        return {"start": self.start.isoformat(), "end": self.end.isoformat()}


def _tables(running: int) -> str:
    if not running:
        return _("No clock that runs now ran then, so no deadline moves.")
    more = _("%(many)s tables or more", many=_MANY)
    many = more if running == _MANY else ngettext("%(num)s table", "%(num)s tables", running)
    return _(
        "The clocks at %(many)s are moved by a worker within a minute. Where that moves a deadline the record says why, and "
        "everybody at the table is told by mail, with your reason.",
        many=many,
    )


def _decided(doing: Doing, start: datetime, end: datetime) -> Iterator[str]:
    """The turns that the clock decided meanwhile or soon afterwards: nothing takes them back but rewinding."""
    found = moderation.decided_by_clock(doing.tx, start, end, MOST_SHOWN)
    if found:
        yield _("The clock decided these turns in that time or soon after it. Look at each: rewinding gives it back.")
    for row in found:
        yield _(
            "Table %(game)s (%(title)s), turn %(turn)s, seat %(seat)s: due %(moment)s",
            game=row.game_id,
            title=row.title,
            turn=row.window,
            seat=row.seat + 1,
            moment=said(row.due_at, _UTC),
        )
