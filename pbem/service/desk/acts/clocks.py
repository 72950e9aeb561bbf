"""Acts on a table's clocks and life: pause, resume, extend, freeze, unfreeze, close."""

from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.duration import extension_text
from pbem.domain.errors import Gone
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _, mark
from pbem.service.clocks import halts, pauses
from pbem.service.desk.acts.perform import ActResult, Context, TableAct
from pbem.service.tables import leaving
from pbem.store import games
from pbem.store.games import GameRow


@dataclass(frozen=True)
class Pause(TableAct):
    """Stop all clocks of a table."""

    kind = Act.PAUSE
    game_id: int

    def do(self, context: Context) -> ActResult:
        pauses.pause(context.tx, context.server, self.game_id, context.reason, context.by)
        return ActResult(undo=Resume(self.game_id))


@dataclass(frozen=True)
class Resume(TableAct):
    """Let the clocks of a paused table run again."""

    kind = Act.RESUME
    game_id: int

    def do(self, context: Context) -> ActResult:
        pauses.resume(context.tx, context.server, self.game_id, context.reason, context.by)
        return ActResult(undo=Pause(self.game_id))


@dataclass(frozen=True)
class Extend(TableAct):
    """Give more time, `1d` or until `2026-12-01 20:00`, to all seats that are asked or to one."""

    kind = Act.EXTEND
    game_id: int
    more: str
    seat: int | None = None

    def do(self, context: Context) -> ActResult:
        pauses.extend(context.tx, context.server, self.game_id, self.more, context.reason, self.seat, context.by)
        who = _("everybody who is asked") if self.seat is None else context.called(self.game_id, self.seat)
        said = _("More time for %(who)s: %(more)s.", who=who, more=extension_text(self.more.strip()))
        return ActResult(says=(said, _("A moment that was told is never moved earlier, so this cannot be undone.")))


@dataclass(frozen=True)
class Freeze(TableAct):
    """Stop all decisions and clocks at a table until someone has looked at its log."""

    kind = Act.FREEZE
    game_id: int

    def do(self, context: Context) -> ActResult:
        row = _in_state(context, self.game_id, "playing", _("Only a game that is being played can be stopped."))
        halts.freeze(context.tx, context.server, row, context.by, context.reason)
        return ActResult(undo=Unfreeze(self.game_id))


@dataclass(frozen=True)
class Unfreeze(TableAct):
    """Let a frozen table go on."""

    kind = Act.UNFREEZE
    game_id: int

    def do(self, context: Context) -> ActResult:
        row = _in_state(context, self.game_id, "frozen", _("Only a game that was stopped can go on again."))
        halts.unfreeze(context.tx, context.server, row, context.by, context.reason)
        return ActResult(undo=Freeze(self.game_id))


@dataclass(frozen=True)
class Close(TableAct):
    """End a table: an open one closes, a running game ends without a result and reveals its secret."""

    kind = Act.CLOSE
    game_id: int

    def do(self, context: Context) -> ActResult:
        row = games.lock(context.tx, self.game_id)
        if row.status in (TableStatus.OPEN, TableStatus.PLANNED):
            leaving.close(context.tx, context.server, row, TableStatus.CLOSED, {"reason": context.reason})
        elif row.status in (TableStatus.PLAYING, TableStatus.FROZEN):
            why = mark("it was closed by the organiser")
            leaving.end(context.tx, context.server, row, context.by, why, context.reason)
        else:
            raise Gone(_("This table is closed already."), remedy=_("Nothing was changed."))
        return ActResult(says=(_("A closed table stays closed: its secret is told, or its players have gone."),))


def _in_state(context: Context, game_id: int, status: str, why: str) -> GameRow:
    row = games.lock(context.tx, game_id)
    if row.status != status:
        raise Gone(_("This game is %(status)s.", status=row.status), why=why, remedy=_("Nothing was changed."))
    return row
