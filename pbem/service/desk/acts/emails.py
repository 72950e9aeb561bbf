"""Acts on emails and on what was parked: sending again, and trying again."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pbem.domain.acts import Act
from pbem.domain.errors import Gone, NotFound, TooMany
from pbem.domain.states import ReceivedStatus
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit
from pbem.service.desk.acts.perform import ActResult, Context, ServerAct, TableAct
from pbem.service.desk.overview import reader_of
from pbem.service.outgoing import ledger
from pbem.store import audit as audit_rows, due_turns, outbox, players as player_rows, received
from pbem.store.audit import AuditFilter


@dataclass(frozen=True)
class Resend(TableAct):
    """Send an email again, even a parked one: the same bytes with its recipient's current links."""

    kind = Act.RESEND
    outbox_id: int

    def do(self, context: Context) -> ActResult:
        return _resend(context, self.outbox_id, self.game_id)


@dataclass(frozen=True)
class ResendTurn(TableAct):
    """Email a seat its present turn again, and tell nobody whether it has answered: hosts play, and must not learn that."""

    kind = Act.RESEND_TURN
    seat: int

    def do(self, context: Context) -> ActResult:
        _must_not_be_too_many(context, self.game_id)
        ledger.resend_turn_of_seat(context.tx, context.server, self.game_id, self.seat)
        who = context.called(self.game_id, self.seat)
        return ActResult((_("This turn's email goes out again to %(who)s, unless they've already moved.", who=who),))


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
            raise NotFound(_("There is no such email."), remedy=_("Nothing changed."))
        # Not even a preview tells an organiser who plays what was given up at their table.
        if not received.is_parked(context.tx, row.id, reader_of(context.actor)):
            raise Gone(_("This email hasn't been given up, so there's nothing to retry."), remedy=_("Nothing changed."))
        now = context.server.now()
        received.change(
            context.tx, row.id, status=ReceivedStatus.WAITING, outcome="", attempts=0, due_at=now, claimed_until=None
        )
        return ActResult((_("We'll read it again right away, as if it had just arrived."),))


@dataclass(frozen=True)
class RetryDeadline(TableAct):
    """Try a parked deadline again."""

    kind = Act.RETRY_DEADLINE
    seat: int

    def do(self, context: Context) -> ActResult:
        parked = [row for row in due_turns.parked(context.tx) if (row.game_id, row.seat) == (self.game_id, self.seat)]
        if not parked:
            raise Gone(_("No deadline was given up there."), remedy=_("Nothing changed."))
        for row in parked:
            due_turns.release(context.tx, row)
        return ActResult((_("We'll try it again within seconds."),))

    def audit_details(self) -> dict[str, Any]:
        """Nothing: whose clock had run out tells who has not answered, and organisers read the audit of their own tables."""
        return {}


def _must_not_be_too_many(context: Context, game_id: int) -> None:
    """Refuse a host who has sent turns of a table again too often. Acts are counted, not emails, which would tell of answers."""
    acts = audit_rows.newest(context.tx, AuditFilter(Act.RESEND_TURN, game_id), None, ledger.AGAIN_AN_HOUR)
    if len(acts) == ledger.AGAIN_AN_HOUR and acts[-1].at > context.server.now() - timedelta(hours=1):
        raise TooMany(
            _("This table's turns were resent many times in the last hour."),
            why=_("We resend at most %(again_an_hour)s an hour.", again_an_hour=ledger.AGAIN_AN_HOUR),
            remedy=_("Try again later, or contact the organiser."),
        )


def _resend(context: Context, outbox_id: int, game_id: int | None) -> ActResult:
    email = outbox.read(context.tx, outbox_id)
    # Permission was checked for this game, so it must be the email's.
    if email is None or email.game_id != game_id:
        raise NotFound(_("There is no such email."), remedy=_("Nothing changed."))
    try:
        ledger.resend(context.tx, context.server, outbox_id)
    except Gone as gone:
        # The remedy is meant for the email's reader and not for the sender here.
        raise Gone(gone.what, why=gone.why, remedy=_("Nothing changed.")) from gone
    says = [
        _("Email %(id)s goes out again as soon as its reader's settings allow. They may get it twice.", id=email.id)
    ]
    players = [] if email.game_id is None else player_rows.of_game(context.tx, email.game_id)
    name = ledger.reader_names(context.tx, [email.person_id], players)[email.person_id]
    says.append(_("It goes to %(who)s.", who=isolate(name)))
    return ActResult(tuple(says), details={"to": email.person_id} | audit.kind_of(email))
