"""Redacting what was said at a table: the text goes, that it was said stays, and so do the hashes."""

from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.errors import Gone, NotFound
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import deadlines
from pbem.service.desk.acts.perform import ActResult, Context, TableAct
from pbem.service.play.log import Kind
from pbem.service.tables import talk
from pbem.store import games, players as player_rows, talk as talk_rows


@dataclass(frozen=True)
class Redact(TableAct):
    """Take the text of one line of a table's talk away for good."""

    kind = Act.REDACT
    game_id: int
    line: int

    def do(self, context: Context) -> ActResult:
        row = games.lock(context.tx, self.game_id)
        said = next((line for line in talk_rows.lines(context.tx, row.id, row.key) if line.seq == self.line), None)
        if said is None:
            raise NotFound(_("There is no such line at that table."), remedy=_("Nothing was changed."))
        if said.text is None:
            raise Gone(_("The text of this line is gone already."), remedy=_("Nothing was changed."))
        talk.redact(context.tx, row.id, self.line)
        row = context.note(row, Kind.REDACTED, said.seat, line=self.line)
        players = player_rows.of_game(context.tx, row.id)
        who = next(player.name for player in players if player.seat == said.seat)
        facts = {"who": who, "reason": context.reason, "by": context.by}
        for person_id in sorted({player.person_id for player in players if player.person_id is not None}):
            deadlines.queue_notice(context.tx, context.server, person_id, row, None, "redacted", facts)
        return ActResult(
            (
                _("%(who)s said: “%(text)s”", who=isolate(who), text=isolate(said.text)),
                _(
                    "The text is gone for good and cannot be brought back; mails that have left with it stay "
                    "where they are."
                ),
            )
        )
