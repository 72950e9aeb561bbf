"""An outage declared after the fact: clocks are moved by it, and turns that were decided in vain can be rewound."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput
from pbem.domain.interval import Interval
from pbem.domain.moments import moment_text
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import ngettext
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks import outages
from pbem.service.desk.acts.perform import Doing, Done, OnServer
from pbem.store import deadlines, moderation
from pbem.store.database import Tx

MOST_SHOWN: Final = 50
"""Of so many turns that the clock decided it is said which they are."""

_MANY: Final = 1000
"""More tables are not looked at."""

_AT_ONCE: Final = 100

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
        outages.declare_outage(doing.tx, doing.server, Interval(self.start, self.end), doing.reason)
        span = _("From %(start)s to %(end)s.", start=moment_text(self.start, _UTC), end=moment_text(self.end, _UTC))
        return Done((span, _moved(doing.tx, self.end), *_decided(doing, self.start, self.end + AFTERWARDS)))

    def kept(self) -> dict[str, Any]:
        return {"start": self.start.isoformat(), "end": self.end.isoformat()}


def _moved(tx: Tx, end: datetime) -> str:
    """At how many tables a deadline moves; the outage is written down."""
    moved = looked_at = after = 0
    while looked_at < _MANY and (batch := deadlines.running_since(tx, end, after, _AT_ONCE, demo=False)):
        moved += len(clocks_deadlines.outdated_games(tx, batch))
        looked_at, after = looked_at + len(batch), batch[-1]
    if looked_at >= _MANY:
        many = _("%(many)s tables or more", many=moved)
    elif moved:
        many = ngettext("%(num)s table", "%(num)s tables", moved)
    else:
        return _("No deadline that is open now moves by it.")
    return _(
        "Deadlines at %(many)s are moved by a worker within a minute. The record there says why, and everybody at the "
        "table is told by mail, with your reason.",
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
            turn=row.turn,
            seat=row.seat + 1,
            moment=moment_text(row.due_at, _UTC),
        )
