"""Logging an outage afterwards: clocks are extended by it, and turns missed because of it can be rewound."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput
from pbem.domain.interval import Interval
from pbem.domain.moments import moment_text
from pbem.i18n.speech import gettext as _, ngettext
from pbem.service.clocks import deadlines as clocks_deadlines, outages
from pbem.service.desk.acts.perform import ActResult, Context, ServerAct
from pbem.store import deadlines
from pbem.store.database import Tx

MOST_SHOWN: Final = 50
"""The most missed turns that are listed."""

_MANY: Final = 1000
"""The most tables that are looked at."""

_AT_ONCE: Final = 100

_UTC: Final = ZoneInfo("UTC")

AFTERWARDS: Final = timedelta(hours=12)
"""For this long after an outage, a missed turn might have had more time."""


@dataclass(frozen=True)
class DeclareOutage(ServerAct):
    """Log a past outage of the server or of its email."""

    kind = Act.OUTAGE
    start: datetime
    end: datetime

    def do(self, context: Context) -> ActResult:
        if self.end <= self.start:
            raise BadInput(
                _("An outage ends after it began."), remedy=_("Nothing was changed; please look at both moments.")
            )
        outages.declare_outage(context.tx, context.server, Interval(self.start, self.end), context.reason)
        span = _("From %(start)s to %(end)s.", start=moment_text(self.start, _UTC), end=moment_text(self.end, _UTC))
        return ActResult((span, _moved(context.tx, self.end), *_decided(context, self.start, self.end + AFTERWARDS)))

    def audit_details(self) -> dict[str, Any]:
        return {"start": self.start.isoformat(), "end": self.end.isoformat()}


def _moved(tx: Tx, end: datetime) -> str:
    """A line with the number of tables whose deadlines move; the outage must have been logged."""
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


def _decided(context: Context, start: datetime, end: datetime) -> Iterator[str]:
    """Lines about the turns missed during the outage or soon after; only rewinding gives them back."""
    found = deadlines.missed_between(context.tx, start, end, MOST_SHOWN)
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
