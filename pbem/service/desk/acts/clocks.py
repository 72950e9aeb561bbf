"""Acts on the time and the life of a table: pause, resume, extend, freeze, unfreeze, close."""

from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.duration import extension_text
from pbem.domain.errors import Gone
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import mark
from pbem.service.clocks import halts, pauses
from pbem.service.desk.acts.perform import AtTable, Doing, Done
from pbem.service.play.log import LogWriter
from pbem.service.tables import leaving
from pbem.store import games
from pbem.store.games import GameRow


@dataclass(frozen=True)
class Pause(AtTable):
    """Stop all clocks of a table until it is resumed."""

    act = Act.PAUSE
    game_id: int

    def do(self, doing: Doing) -> Done:
        pauses.pause(doing.tx, doing.server, self.game_id, doing.reason, doing.by)
        return Done(undo=Resume(self.game_id))


@dataclass(frozen=True)
class Resume(AtTable):
    """Let the clocks of a paused table go on."""

    act = Act.RESUME
    game_id: int

    def do(self, doing: Doing) -> Done:
        pauses.resume(doing.tx, doing.server, self.game_id, doing.reason, doing.by)
        return Done(undo=Pause(self.game_id))


@dataclass(frozen=True)
class Extend(AtTable):
    """Give more time, `1d` or until `2026-12-01 20:00`, to all who are asked or to one seat."""

    act = Act.EXTEND
    game_id: int
    more: str
    seat: int | None = None

    def do(self, doing: Doing) -> Done:
        pauses.extend(doing.tx, doing.server, self.game_id, self.more, doing.reason, self.seat, doing.by)
        who = _("everybody who is asked") if self.seat is None else doing.called(self.game_id, self.seat)
        said = _("More time for %(who)s: %(more)s.", who=who, more=extension_text(self.more.strip()))
        return Done(
            says=(
                said,
                _("A moment that was told is never moved earlier, so this cannot be undone."),
            )
        )


@dataclass(frozen=True)
class Freeze(AtTable):
    """Let nothing be decided at a table, and no clock run, until somebody has looked at its record."""

    act = Act.FREEZE
    game_id: int

    def do(self, doing: Doing) -> Done:
        row = _in_state(doing, self.game_id, "playing", _("Only a game that is being played can be stopped."))
        halts.freeze(doing.tx, doing.server, row, doing.by, doing.reason)
        return Done(undo=Unfreeze(self.game_id))


@dataclass(frozen=True)
class Unfreeze(AtTable):
    """Let a table that was stopped go on."""

    act = Act.UNFREEZE
    game_id: int

    def do(self, doing: Doing) -> Done:
        row = _in_state(doing, self.game_id, "frozen", _("Only a game that was stopped can go on again."))
        halts.unfreeze(doing.tx, doing.server, row, doing.by, doing.reason)
        return Done(undo=Freeze(self.game_id))


@dataclass(frozen=True)
class Close(AtTable):
    """End a table: one that waits for players closes, a running game ends without a result and its secret is told."""

    act = Act.CLOSE
    game_id: int

    def do(self, doing: Doing) -> Done:
        row = games.lock(doing.tx, self.game_id)
        if row.status in ("open", "planned"):
            leaving.close(doing.tx, doing.server, row, "closed", {"reason": doing.reason})
        elif row.status in ("playing", "frozen"):
            record = LogWriter(row, doing.server.now(), doing.server.randomness)
            why = mark("it was closed by the organiser")
            leaving.end(doing.tx, doing.server, row, record, doing.by, why, doing.reason)
        else:
            raise Gone(_("This table is closed already."), remedy=_("Nothing was changed."))
        return Done(says=(_("A closed table stays closed: its secret is told, or its players have gone."),))


def _in_state(doing: Doing, game_id: int, status: str, why: str) -> GameRow:
    row = games.lock(doing.tx, game_id)
    if row.status != status:
        raise Gone(_("This game is %(status)s.", status=row.status), why=why, remedy=_("Nothing was changed."))
    return row
