"""Acts on emails and on what was parked: sending again, and trying again."""

from dataclasses import dataclass

from pbem.domain.acts import Act, Role
from pbem.domain.errors import Gone, NotFound
from pbem.domain.states import EmailStatus, ReceivedStatus
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.desk.acts.perform import ActResult, Context, ServerAct, TableAct
from pbem.service.outgoing import ledger
from pbem.store import deadlines, outbox, players as player_rows, received


@dataclass(frozen=True)
class Resend(TableAct):
    """Send an email again, even a parked one: the same bytes with its reader's current links."""

    kind = Act.RESEND
    outbox_id: int

    def do(self, context: Context) -> ActResult:
        return _resend(context, self.outbox_id, self.game_id)


@dataclass(frozen=True)
class ResendOfNoTable(ServerAct):
    """Send an email again that is about no table."""

    kind = Act.RETRY
    outbox_id: int

    def do(self, context: Context) -> ActResult:
        return _resend(context, self.outbox_id, None)


@dataclass(frozen=True)
class RetryIncoming(ServerAct):
    """Read a parked incoming email again."""

    kind = Act.RETRY
    received_id: int

    def do(self, context: Context) -> ActResult:
        row = received.lock(context.tx, self.received_id)
        if row is None:
            raise NotFound(_("There is no such mail."), remedy=_("Nothing was changed."))
        if row.status != EmailStatus.PARKED:
            raise Gone(
                _("This mail is %(status)s.", status=row.status), why=_("Only one that was parked is tried again.")
            )
        now = context.server.now()
        received.change(
            context.tx, row.id, status=ReceivedStatus.WAITING, outcome="", attempts=0, due_at=now, claimed_until=None
        )
        return ActResult((_("It is read again at once, as if it had just come in."),))


@dataclass(frozen=True)
class RetryDeadline(TableAct):
    """Try a parked deadline again."""

    kind = Act.RETRY_DEADLINE
    seat: int

    def do(self, context: Context) -> ActResult:
        parked = [row for row in deadlines.parked(context.tx) if (row.game_id, row.seat) == (self.game_id, self.seat)]
        if not parked:
            raise Gone(_("Nothing is parked there."), remedy=_("Nothing was changed."))
        for row in parked:
            deadlines.release(context.tx, row)
        return ActResult((_("It is tried again with the next tick."),))


def _resend(context: Context, outbox_id: int, game_id: int | None) -> ActResult:
    email = outbox.read(context.tx, outbox_id)
    # Permission was checked for this game, so it must be the email's.
    if email is None or email.game_id != game_id:
        raise NotFound(_("There is no such mail."), remedy=_("Nothing was changed."))
    try:
        ledger.resend(context.tx, context.server, outbox_id)
    except Gone as gone:
        # The remedy is meant for the email's reader and not for the sender here.
        raise Gone(gone.what, why=gone.why, remedy=_("Nothing was changed.")) from gone
    kind = email.kind.replace("_", " ")
    says = [
        _(
            "Mail %(id)s (%(kind)s) goes out again as soon as its reader's wishes let it. They may have it twice then.",
            id=email.id,
            kind=kind,
        )
    ]
    # A host plays there too, and must not learn who is emailed.
    if context.actor.role is not Role.HOST:
        players = [] if email.game_id is None else player_rows.of_game(context.tx, email.game_id)
        name = ledger.reader_names(context.tx, [email.person_id], players)[email.person_id]
        says.append(_("It is to %(who)s.", who=isolate(name)))
    return ActResult(tuple(says), details={"kind": email.kind, "to": email.person_id})
