"""Acts on mails and what was parked: a mail is sent again; what was given up after many tries is tried again."""

from dataclasses import dataclass

from pbem.domain.acts import Act, Role
from pbem.domain.errors import Gone, NotFound
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.desk.acts.perform import AtTable, Doing, Done, OnServer
from pbem.service.outgoing import ledger
from pbem.store import deadlines, outbox, received
from pbem.store import players as player_rows
from pbem.store.outbox import EmailRow


@dataclass(frozen=True)
class Resend(AtTable):
    """Send a mail again, the same bytes with the links that its reader has now; also one that was parked."""

    act = Act.RESEND
    game_id: int
    outbox_id: int

    def do(self, doing: Doing) -> Done:
        return _resent(doing, self.outbox_id, self.game_id)


@dataclass(frozen=True)
class ResendOfNoTable(OnServer):
    """Send a mail again that is about no table."""

    act = Act.RETRY
    outbox_id: int

    def do(self, doing: Doing) -> Done:
        return _resent(doing, self.outbox_id, None)


@dataclass(frozen=True)
class RetryIncoming(OnServer):
    """Read a mail that came in, and was parked after many tries, once more."""

    act = Act.RETRY
    received_id: int

    def do(self, doing: Doing) -> Done:
        row = received.lock(doing.tx, self.received_id)
        if row is None:
            raise NotFound(_("There is no such mail."), remedy=_("Nothing was changed."))
        if row.status != "parked":
            raise Gone(
                _("This mail is %(status)s.", status=row.status), why=_("Only one that was parked is tried again.")
            )
        now = doing.server.now()
        received.change(doing.tx, row.id, status="waiting", outcome="", attempts=0, due_at=now, claimed_until=None)
        return Done((_("It is read again at once, as if it had just come in."),))


@dataclass(frozen=True)
class RetryDeadline(AtTable):
    """Let a deadline be acted on that was parked after many tries."""

    act = Act.RETRY_DEADLINE
    game_id: int
    seat: int

    def do(self, doing: Doing) -> Done:
        parked = [row for row in deadlines.parked(doing.tx) if (row.game_id, row.seat) == (self.game_id, self.seat)]
        if not parked:
            raise Gone(_("Nothing is parked there."), remedy=_("Nothing was changed."))
        for row in parked:
            deadlines.unpark(doing.tx, row)
        return Done((_("It is tried again with the next tick."),))


def _called(doing: Doing, email: EmailRow) -> str:
    players = [] if email.game_id is None else player_rows.of_game(doing.tx, email.game_id)
    return ledger.reader_names(doing.tx, [email.person_id], players)[email.person_id]


def _resent(doing: Doing, outbox_id: int, game_id: int | None) -> Done:
    email = outbox.read(doing.tx, outbox_id)
    # The game decides who may do this, so it has to be the mail's own.
    if email is None or email.game_id != game_id:
        raise NotFound(_("There is no such mail."), remedy=_("Nothing was changed."))
    try:
        ledger.resend(doing.tx, doing.server, outbox_id)
    except Gone as gone:
        # What its reader would be told to do instead is nothing for whoever sends it for them.
        raise Gone(gone.what, why=gone.why, remedy=_("Nothing was changed.")) from gone
    return Done(
        (
            _(
                "Mail %(id)s (%(kind)s) goes out again as soon as its reader's wishes let it. They may have it twice then.",
                id=email.id,
                kind=email.kind.replace("_", " "),
            ),
            # A host plays there too, and is not told who is written to.
            *(() if doing.actor.role is Role.HOST else (_("It is to %(who)s.", who=isolate(_called(doing, email))),)),
        ),
        kept={"kind": email.kind, "to": email.person_id},
    )
