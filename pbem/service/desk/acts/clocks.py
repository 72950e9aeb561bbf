"""Acts on a table's clocks and life: pause, resume, extend, freeze, unfreeze, close; logging an outage afterwards; and pausing email."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.duration import extension_text
from pbem.domain.errors import BadInput, Gone
from pbem.domain.interval import Interval
from pbem.domain.moments import moment_text
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _, mark, ngettext
from pbem.service.clocks import deadlines as clocks_deadlines, outages, pauses, stopped_tables
from pbem.service.desk.acts.perform import ActResult, Context, ServerAct, TableAct
from pbem.service.desk.overview import reader_of
from pbem.service.tables import leaving
from pbem.store import deadlines, games, insiders
from pbem.store.games import GameRow

MOST_SHOWN: Final = 50
"""The most missed turns that are listed."""

_MANY: Final = 1000
"""The most tables that are looked at."""

_AT_ONCE: Final = 100

_UTC: Final = ZoneInfo("UTC")

AFTERWARDS: Final = timedelta(hours=12)
"""For this long after an outage, a missed turn might have had more time."""


@dataclass(frozen=True)
class Pause(TableAct):
    """Stop all clocks of a table."""

    kind = Act.PAUSE

    def do(self, context: Context) -> ActResult:
        pauses.pause(context.tx, context.server, self.game_id, context.reason, context.by)
        return ActResult(undo=Resume(self.game_id))


@dataclass(frozen=True)
class Resume(TableAct):
    """Let the clocks of a paused table run again."""

    kind = Act.RESUME

    def do(self, context: Context) -> ActResult:
        pauses.resume(context.tx, context.server, self.game_id, context.reason, context.by)
        return ActResult(undo=Pause(self.game_id))


@dataclass(frozen=True)
class Extend(TableAct):
    """Give more time, `1d` or until `2026-12-01 20:00`, to all seats that are asked or to one."""

    kind = Act.EXTEND
    more: str
    seat: int | None = None

    def do(self, context: Context) -> ActResult:
        pauses.extend(context.tx, context.server, self.game_id, self.more, context.reason, self.seat, context.by)
        who = _("Everyone whose turn it is") if self.seat is None else context.called(self.game_id, self.seat)
        given = _("%(who)s has more time: %(more)s.", who=who, more=extension_text(self.more.strip()))
        return ActResult(says=(given, _("This can't be undone, because deadlines are never brought forward.")))


@dataclass(frozen=True)
class Freeze(TableAct):
    """Stop all decisions and clocks at a table until someone has looked at its log."""

    kind = Act.FREEZE

    def do(self, context: Context) -> ActResult:
        row = _in_state(context, self.game_id, TableStatus.PLAYING, _("Only a game in progress can be stopped."))
        stopped_tables.freeze(context.tx, context.server, row, context.by, context.reason)
        return ActResult(undo=Unfreeze(self.game_id))


@dataclass(frozen=True)
class Unfreeze(TableAct):
    """Let a frozen table go on."""

    kind = Act.UNFREEZE

    def do(self, context: Context) -> ActResult:
        row = _in_state(context, self.game_id, TableStatus.FROZEN, _("Only a stopped game can be resumed."))
        stopped_tables.unfreeze(context.tx, context.server, row, context.by, context.reason)
        return ActResult(undo=Freeze(self.game_id))


@dataclass(frozen=True)
class Close(TableAct):
    """End a table: an open one closes, a running game ends without a result and reveals its secret."""

    kind = Act.CLOSE

    def do(self, context: Context) -> ActResult:
        row = games.lock(context.tx, self.game_id)
        if row.status in (TableStatus.OPEN, TableStatus.PLANNED):
            says = _("The table can't be reopened, because its players will have left.")
            leaving.close(context.tx, context.server, row, TableStatus.CLOSED, {"reason": context.reason})
        elif row.status in (TableStatus.PLAYING, TableStatus.FROZEN):
            says = _("The table can't be reopened, because its secret number will be public.")
            why = mark("The organiser closed it.")
            leaving.end(context.tx, context.server, row, context.by, why, context.reason)
        else:
            raise Gone(_("This table is already closed."), remedy=_("Nothing changed."))
        return ActResult(says=(says,))


@dataclass(frozen=True)
class PauseMail(ServerAct):
    """Stop all outgoing email, and every clock, until it is resumed."""

    kind = Act.PAUSE_MAIL

    def do(self, context: Context) -> ActResult:
        outages.pause_email(context.tx, context.server, context.reason)
        says = _("No emails go out and no clocks run out until you resume. The website keeps working.")
        return ActResult((says,), undo=ResumeMail())


@dataclass(frozen=True)
class ResumeMail(ServerAct):
    """Let email leave again, and give everyone the time of the pause."""

    kind = Act.RESUME_MAIL

    def do(self, context: Context) -> ActResult:
        pause = outages.resume_email(context.tx, context.server)
        since = _("No emails have gone out since %(start)s.", start=moment_text(pause.start_at, _UTC))
        moved = _(
            "Waiting emails go out, except outdated ones. Running clocks are extended by the length of the pause."
        )
        return ActResult((since, moved), undo=PauseMail())


@dataclass(frozen=True)
class DeclareOutage(ServerAct):
    """Log a past outage of the server or of its email."""

    kind = Act.OUTAGE
    start: datetime
    end: datetime

    def do(self, context: Context) -> ActResult:
        if self.end <= self.start:
            raise BadInput(_("An outage has to end after it starts."), remedy=_("Check both times."))
        outages.declare_outage(context.tx, context.server, Interval(self.start, self.end), context.reason)
        span = _("From %(start)s to %(end)s.", start=moment_text(self.start, _UTC), end=moment_text(self.end, _UTC))
        moved, decided = _moved(context, self.end), _decided(context, self.start, self.end + AFTERWARDS)
        own = (
            ()
            if reader_of(context.actor) is None
            else (_("Tables you're playing at, or have played at, are left out."),)
        )
        return ActResult((span, moved, *decided, *own))

    def audit_details(self) -> dict[str, Any]:
        return {"start": self.start.isoformat(), "end": self.end.isoformat()}


def _in_state(context: Context, game_id: int, status: TableStatus, why: str) -> GameRow:
    row = games.lock(context.tx, game_id)
    if row.status != status:
        raise Gone(why, remedy=_("Nothing changed."))
    return row


def _moved(context: Context, end: datetime) -> str:
    """A line with the number of tables whose deadlines move; the outage must have been logged."""
    tx, reader = context.tx, reader_of(context.actor)
    moved = looked_at = after = 0
    while looked_at < _MANY and (batch := deadlines.running_since(tx, end, after, _AT_ONCE, demo=False)):
        own = frozenset[int]() if reader is None else insiders.among(tx, reader, batch)
        moved += len(clocks_deadlines.outdated_games(tx, {*batch} - own))
        looked_at, after = looked_at + len(batch), batch[-1]
    if looked_at >= _MANY:
        many = _("%(many)s tables or more", many=moved)
    elif moved:
        many = ngettext("%(num)s table", "%(num)s tables", moved)
    else:
        return _("It doesn't affect any open deadline.")
    return _(
        "Deadlines at %(many)s are extended within a minute. We'll email your reason to everyone there.", many=many
    )


def _decided(context: Context, start: datetime, end: datetime) -> Iterator[str]:
    """Lines about the turns missed during the outage or soon after; only rewinding gives them back."""
    missed = deadlines.missed_between(context.tx, start, end, MOST_SHOWN, reader=reader_of(context.actor))
    if missed:
        yield _("These turns timed out around the outage. You can rewind their tables.")
    for row in missed:
        yield _(
            "Table %(game)s (%(title)s), turn %(turn)s, seat %(seat)s: due %(moment)s",
            game=row.game_id,
            title=row.title,
            turn=row.turn,
            seat=row.seat + 1,
            moment=moment_text(row.due_at, _UTC),
        )
