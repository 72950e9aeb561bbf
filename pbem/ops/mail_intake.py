"""How the local mail server hands over emails, by LMTP or a pipe, and the doctor's checks of both.

Both store an email and do nothing else; a worker handles it within seconds. So the mail server gets its answer at once.
"""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import sleep
from types import FrameType
from typing import Final

from pbem.clock import SystemClock
from pbem.config.settings import Config, SenderCheck
from pbem.domain import finding
from pbem.domain.errors import BadInput, Forbidden
from pbem.domain.finding import Finding
from pbem.domain.outage import LONGEST_GAP
from pbem.domain.states import Doubt
from pbem.mail.read import lmtp
from pbem.mail.read.lmtp import Lmtp
from pbem.ops import mail_checks
from pbem.ops.commands.terminal import counted
from pbem.ops.setup import must_be_there, open_store, server_on
from pbem.service.incoming import authenticity, processing, receive, round_trip
from pbem.service.incoming.receive import Arrival
from pbem.service.incoming.round_trip import CheckedReply, Forgery
from pbem.service.server import Server
from pbem.store import heartbeats, outages, received as rows
from pbem.store.database import Store

_LOOK_BACK: Final = timedelta(days=7)
_SEVERAL: Final = 3
"""Replies: one may be from a provider that signs nothing, but hardly all."""

_TRY_LATER: Final = "Run `pbem doctor` again; your mail server's log says where it is."

_PATIENCE: Final = 5
"""Seconds to wait for an answer from this machine."""


@contextmanager
def accepting_emails(server: Server, config: Config) -> Iterator[None]:
    """Accept emails by LMTP in this context, if the settings name a port and replies are read."""
    if not config.inbound.replies or not config.inbound.lmtp_port:
        yield
        return
    listening = _lmtp(server, config)
    listening.start()
    try:
        yield
    finally:
        listening.stop()


def serve(config: Config, say: Callable[[str], None]) -> None:
    """Accept emails by LMTP, and nothing else, until stopped."""
    must_be_there(config)
    if Store.file_of(config.database_url) is not None:
        raise Forbidden(
            "On SQLite the server itself accepts email.",
            why="Only one process at a time can use the file.",
            remedy="Run `pbem serve` with PBEM_INBOUND_REPLIES=yes, or use PostgreSQL.",
        )
    if not config.inbound.lmtp_port:
        raise BadInput("There is no port for incoming email.", remedy="Name one: PBEM_INBOUND_LMTP_PORT=8024")
    with open_store(config) as store:
        listening = _lmtp(server_on(store, config), config)
        stopped = threading.Event()

        def stop(_signal: int, _frame: FrameType | None) -> None:
            stopped.set()

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        listening.start()
        say(f"Accepting email by LMTP at {listening.host}, port {listening.port}. Stop it with Ctrl-C.")
        try:
            stopped.wait()
        finally:
            listening.stop()
            for number, handler in before.items():
                signal.signal(number, handler)


def take_one(config: Config, envelope_from: str, envelope_to: str, raw: bytes) -> None:
    """Store one email. Raises if it cannot be stored."""
    with open_store(config) as store:
        server = server_on(store, config)
        receive.receive(server, authenticity.inbound_settings(config), envelope_from, envelope_to, raw)


def retry(config: Config) -> int:
    """Let parked incoming emails be read again; returns how many."""
    with open_store(config) as store:
        return server_on(store, config).run(processing.retry)


def look_at_settings(config: Config) -> Iterator[Finding]:
    """Whether emails can arrive, by the settings."""
    inbound = config.inbound
    at = f"{inbound.lmtp_host}, port {inbound.lmtp_port}"
    if not inbound.replies:
        yield finding.ok("answers", "replies aren't read, and emails say so")
        return
    if not inbound.lmtp_port:
        yield finding.ok("answers", "replies are read; LMTP is off")
    elif trouble := _connection_error(inbound.lmtp_host, inbound.lmtp_port):
        says = f"Nothing accepts email at {at} ({trouble})."
        remedy = (
            "Start the server with `pbem serve`, or `pbem mail serve` on PostgreSQL; mail servers keep trying for days."
        )
        yield finding.warning("answers", says, remedy)
    else:
        yield finding.ok("answers", f"email is accepted at {at}")
    if inbound.sender_check is not SenderCheck.STRICT and not config.development:
        says = f"The sender check is {inbound.sender_check}: anyone who has seen a player's email can move for them."
        remedy = "Have your mail server write Authentication-Results, and set PBEM_INBOUND_SENDER_CHECK to strict."
        yield finding.warning("answers", says, remedy)


def look_at_arrivals(store: Store) -> Iterator[Finding]:
    """What became of recent incoming emails."""
    with store.read() as tx:
        parked = rows.count_with_status(tx, "parked")
        counts = rows.counts_since(tx, (SystemClock().now() - _LOOK_BACK).date())
        answer = round_trip.last_reply(tx)
    unvouched = sum(number for what, number in counts.items() if what.startswith(Doubt.UNVOUCHED))
    believed = sum(number for what, number in counts.items() if what.startswith("reply"))
    arrived = counted(sum(counts.values()), "email")
    yield finding.ok("arrivals", f"{arrived} came in this week, {believed} of them replies")
    if answer is not None:
        yield finding_of(answer)
    if parked:
        remedy = "The log has the error (mail_not_read). Once it's fixed, `pbem mail retry` tries them again."
        yield finding.warning("arrivals", f"{counted(parked, 'email')} that came in couldn't be processed.", remedy)
    if unvouched >= _SEVERAL and not believed:
        says = f"{unvouched} replies came in, and our mail server confirms none of their senders."
        remedy = "Check that PBEM_INBOUND_AUTHSERV_ID is the name in its Authentication-Results headers."
        yield finding.warning("arrivals", says, remedy)


def try_forgery(config: Config, store: Store, patience: timedelta) -> Iterator[Finding]:
    """Send an email with forged results to ourselves, and look what our mail server makes of them.

    Only where that decides who is believed, and where a worker runs that may send: nobody else reads it.
    """
    now = SystemClock().now()
    with store.read() as tx:
        seen = heartbeats.newest(tx)
        paused = outages.email_pause(tx) is not None
    working = not paused and seen is not None and now - seen <= LONGEST_GAP
    inbound = config.inbound
    if config.smtp is None or not inbound.replies or inbound.sender_check is not SenderCheck.STRICT or not working:
        return
    sent = mail_checks.send_forged(config, server_on(store, config))
    if sent.result != "accepted":
        yield finding.warning(
            "forgery", f"The relay refused a test email to ourselves. It said: {sent.answer}.", _TRY_LATER
        )
        return
    for _look in range(int(patience.total_seconds()) + 1):
        with store.read() as tx:
            checked = round_trip.last_forgery(tx, now)
            above = round_trip.received_above(tx, inbound.results_place, inbound.authserv_id)
        if checked is not None:
            yield finding_of_forgery(checked.forgery, inbound.authserv_id)
            yield _finding_of_place(above, inbound.authserv_id)
            return
        sleep(1)
    says = f"A test email to ourselves hasn't come back within {patience.total_seconds():.0f} seconds."
    yield finding.warning("forgery", says, _TRY_LATER)


def finding_of_forgery(forgery: Forgery, authserv_id: str) -> Finding:
    """What a test email with forged results shows."""
    remedy = "Have your mail server remove all incoming Authentication-Results: see receiving-mail in the handbook."
    match forgery:
        case Forgery.REMOVED:
            return finding.ok("forgery", "our mail server removed a forged Authentication-Results")
        case Forgery.LET_IN:
            says = f"Our mail server lets in a forged Authentication-Results of {authserv_id}; only its place gives it away."
            return finding.warning("forgery", says, remedy)
        case Forgery.BELIEVED:
            says = f"Our mail server lets in a forged Authentication-Results of {authserv_id}, which would be believed."
            return finding.error("forgery", f"{says} Anyone could move for any player.", remedy)


def _finding_of_place(above: int | None, authserv_id: str) -> Finding:
    """Where results have to stand to be believed."""
    if above is None:
        says = f"It's not known where {authserv_id} writes its Authentication-Results, so they count anywhere."
        remedy = "`pbem mail test ADDRESS --wait 10` finds out; or set PBEM_INBOUND_RESULTS_PLACE."
        return finding.warning("results", says, remedy)
    where = f"below {counted(above, 'Received line')}" if above else "above all Received lines"
    return finding.ok("results", f"Authentication-Results of {authserv_id} count {where}, and nowhere else")


def finding_of(answer: CheckedReply) -> Finding:
    """What an answer to a test email shows: whether both directions work."""
    if answer.believed:
        return finding.ok("round trip", f"a test email was answered {answer.findings}; such a player is believed")
    says = f"A test email was answered {answer.findings}: we would ask such a player whether they wrote it."
    remedy = "Have your mail server write Authentication-Results under the name in PBEM_INBOUND_AUTHSERV_ID."
    return finding.warning("round trip", says, remedy)


def _connection_error(host: str, port: int) -> str:
    """Why nothing answers at a port; empty if something does."""
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
            return "" if connection.recv(3) == b"220" else "another program is listening there"
    except OSError as error:
        return error.strerror or str(error)


def _lmtp(server: Server, config: Config) -> Lmtp:
    box, inbound = authenticity.inbound_settings(config), config.inbound

    def take(envelope_from: str, raw: bytes) -> lmtp.Store:
        return Arrival(server, box, envelope_from, raw).receive

    return Lmtp(inbound.lmtp_host, inbound.lmtp_port, box.most_bytes, take)
