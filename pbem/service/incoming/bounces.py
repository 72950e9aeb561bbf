"""Bounces: what mail servers and providers report about an email that was sent."""

from typing import Final

import structlog

from pbem.domain import bounce
from pbem.domain.bounce import Bounce
from pbem.domain.states import EmailKind
from pbem.mail.read.delivery_reports import Report, ReportKind
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import reachability
from pbem.service.links import EmailLink
from pbem.service.server import Server
from pbem.store import deadlines, ledger, outbox
from pbem.store.database import Tx

_LEDGER_WORDS: Final = {
    ReportKind.LATE: "delayed",
    ReportKind.AWAY: "away",
    ReportKind.COMPLAINT: "complained",
    ReportKind.FAILED: "bounced",
}

_log = structlog.get_logger(__name__)


def apply_report(tx: Tx, server: Server, link: EmailLink, report: Report) -> None:
    """Note a report in the ledger of its email, and count it against the address or our reputation."""
    if report.kind is ReportKind.COMPLAINT:
        reachability.note_bounce(tx, server, link.person_id, Bounce.COMPLAINT, report.answer)
    elif report.kind is ReportKind.FAILED:
        outbox.came_back(tx, link.email_id)
        _excuse(tx, link.email_id)
        if bounce.is_about_sender(report.answer):
            _log.error("mail_refused_later", email=link.email_id, said=report.answer)
            alarms.raise_alarm(
                tx, server, AlarmKind.REFUSED, f"Email {link.email_id}, later: {report.answer}", link.game_id
            )
        else:
            kind = Bounce.HARD if report.permanent else Bounce.SOFT
            reachability.note_bounce(tx, server, link.person_id, kind, report.answer)
    if report.kind in _LEDGER_WORDS:
        ledger.note(tx, link.email_id, server.now(), _LEDGER_WORDS[report.kind], report.answer)


def _excuse(tx: Tx, email_id: int) -> None:
    """Let a turn whose email came back not count as missed: its player heard nothing of it."""
    email = outbox.read(tx, email_id)
    if email is not None and email.kind == EmailKind.TURN:
        assert email.game_id is not None
        assert email.turn is not None
        assert email.seat is not None
        deadlines.note_undelivered(tx, email.game_id, email.turn, email.seat)
