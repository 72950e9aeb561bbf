"""Sending what is due through channels, by the same steps as emails: claimed, prepared, handed over, and recorded.

A message is claimed under a lease, counted as an attempt, and its outcome is one transaction. A crash in between repeats the
step under the same id. A service that wants nothing more ends its channel, and so do too many failures; its owner is told
by email. What was said of a turn that is over is marked as done, where the service can edit. This module must never store
or log a token, an address or a secret of a channel.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import structlog

from pbem import failpoints
from pbem.channels import senders
from pbem.channels.client import Client
from pbem.channels.message import Result, Sent
from pbem.config.settings import Config
from pbem.domain.channels import CODE, ChannelKind, ChannelStatus
from pbem.domain.states import EmailKind, EmailStatus
from pbem.mail.write.compose import Letterhead
from pbem.service.clocks import deadlines, reachability
from pbem.service.outgoing import channel_messages, outcomes
from pbem.service.outgoing.channel_messages import ReadyMessage
from pbem.service.outgoing.deliver import LEASE, UNSURE
from pbem.service.server import Server
from pbem.store import channels, email_copies, games, leases, ledger, outages, outbox
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.outbox import EmailRow
from pbem.store.schema import ChannelRow, LeaseRow

BATCH: Final = 20
"""Messages that are claimed together: each may take as long as the client allows."""

HOSTS_AT_ONCE: Final = 10
"""With two messages for each person at most, as many as a batch may need."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class ChannelPost:
    """What one process sends messages with, and the lease it sends under; `finished` is the last one that holds nothing.

    `held` are messages that were claimed when the database failed, and `unrecorded` those that were handed over then, with what
    became of them.
    """

    letterhead: Letterhead
    client: Client
    stopping: threading.Event = field(default_factory=threading.Event, kw_only=True)
    lease: LeaseRow | None = None
    finished: int = 0
    held: list[EmailRow] = field(default_factory=list)
    unrecorded: list[tuple[EmailRow, ChannelKind, Sent]] = field(default_factory=list, init=False)


def channel_post_of(config: Config, letterhead: Letterhead, stopping: threading.Event | None = None) -> ChannelPost:
    """What to send messages with, by the settings.

    A server without a relay, such as a copy to try something out, keeps its emails, and reaches nobody else in this way either.
    """
    client = Client(config.channels.loopback, internet=config.smtp is not None)
    return ChannelPost(letterhead, client, stopping=stopping or threading.Event())


def send_batch(server: Server, post: ChannelPost) -> int:
    """Send one batch of messages, and mark another one as done; returns the number of messages."""
    return deliver_messages(server, post) + mark_done(server, post)


def deliver_messages(server: Server, post: ChannelPost) -> int:
    """Send the messages that are due, at most one batch; returns their number."""
    now = server.now()
    # Nothing leaves while the database can't record what left before: it would leave again and again.
    _record_all(server, post)
    outcomes.release_held(server, post.held)
    # Most servers have no channels, and this is asked every two seconds.
    if not server.query(leases.any_message, now):
        return 0
    lease = LeaseRow(int.from_bytes(server.randomness.bytes(7)), now + LEASE)
    claimed = server.run(_claim, lease, post.finished)
    if not claimed:
        return 0
    post.lease = lease
    try:
        for row in claimed:
            if row.attempts > outcomes.TRIES:
                server.run(_record_failure, row, "its sender has failed too often")
        tried = [row for row in claimed if row.attempts <= outcomes.TRIES]
        _send(server, post, _prepare(server, post, tried))
        if not post.held:
            post.finished = lease.id
    finally:
        post.lease = None
    return len(claimed)


def mark_done(server: Server, post: ChannelPost) -> int:
    """Mark what was said of turns that are over as done, at most one batch; returns the number of messages."""
    rows = server.query(channels.to_edit, server.now(), BATCH)
    if rows and server.query(outages.email_pause) is not None:
        return 0
    for row in rows:
        if post.stopping.is_set():
            break
        if not row.attempts:
            # A choice may be taken back for a while.
            server.store.write(partial(outbox.change, outbox_id=row.id, attempts=1, due_at=server.now() + server.hold))
            continue
        # Before the request leaves: it must not leave every time that the database can't record it.
        server.store.write(
            partial(
                outbox.change,
                outbox_id=row.id,
                attempts=row.attempts + 1,
                due_at=server.now() + outcomes.jittered(server, row.attempts),
            )
        )
        channel = server.query(channels.read, row.channel_id)
        new = None if channel is None else channel_messages.done(server, post.letterhead, row, channel, server.now())
        sent = None if new is None else senders.edit(post.client, *new, row.remote_id or "")
        failpoints.hit("channel.handed_over")
        server.run(_record_edit, row, sent)
    return len(rows)


def _claim(tx: Tx, server: Server, lease: LeaseRow, finished: int) -> list[EmailRow]:
    if outages.email_pause(tx) is not None:
        return []
    now = server.now()
    leases.end(tx, now, finished)
    rows = leases.claim_messages(tx, now, lease.id, BATCH)
    if rows:
        leases.begin(tx, lease.id, lease.until)
    return rows


def _prepare(server: Server, post: ChannelPost, rows: Sequence[EmailRow]) -> list[ReadyMessage]:
    """Those of some claimed messages that leave now."""
    try:
        return channel_messages.prepare_messages(server, post.letterhead, rows, server.now())
    except Exception as error:  # noqa: BLE001 - a message that cannot be written must not hold up the others
        if len(rows) != 1:
            return outcomes.one_by_one(rows, post.held, lambda each: _prepare(server, post, each))
        if is_outage(error):
            _log.warning("message_waits", message=rows[0].id, error=type(error).__name__)
            post.held.append(rows[0])
            return []
        _log.exception("message_not_written", message=rows[0].id, kind=rows[0].kind)
        server.run(_postpone, rows[0], Sent(Result.LATER, f"it couldn't be written ({type(error).__name__})"))
        return []


def _send(server: Server, post: ChannelPost, ready: list[ReadyMessage]) -> None:
    """Hand messages over, to each host one by one, and record the outcome of each: hosts that take their time delay no others.

    Where one has failed, the others there wait. Errors of a transaction are raised once the messages under way are recorded.
    """
    by_host: dict[str, list[ReadyMessage]] = {}
    for each in ready:
        by_host.setdefault(each.channel.target.host, []).append(each)
    leaving: dict[Future[Sent], list[ReadyMessage]] = {}
    failed: Exception | None = None

    def hand_over(messages: list[ReadyMessage]) -> None:
        now = server.now()
        if messages and not (post.lease is None or now >= post.lease.until - UNSURE or post.stopping.is_set()):
            first = messages[0]
            leaving[pool.submit(senders.send, post.client, first.channel, first.message, now)] = messages
        else:
            _release(server, messages, now)

    with ThreadPoolExecutor(HOSTS_AT_ONCE, "channels") as pool:
        for messages in by_host.values():
            hand_over(messages)
        while leaving:
            for future in wait(leaving, return_when=FIRST_COMPLETED).done:
                each, *others = leaving.pop(future)
                try:
                    sent = future.result()
                    failpoints.hit("channel.handed_over")
                    post.unrecorded.append((each.row, each.channel.kind, sent))
                    _record_all(server, post)
                    if sent.result is Result.ACCEPTED:
                        hand_over(others)
                    else:
                        _release(server, others, server.now() + outcomes.jittered(server, 1))
                except Exception as error:  # noqa: BLE001 - it's raised below
                    failed = failed or error
    if failed is not None:
        raise failed


def _release(server: Server, messages: list[ReadyMessage], due_at: datetime) -> None:
    """Let messages that don't leave now be claimed again."""
    for each in messages:
        server.store.write(partial(leases.release, email=each.row, due_at=due_at))


def _record_all(server: Server, post: ChannelPost) -> None:
    """Record what became of the messages that were handed over. If the database fails, they stay unrecorded."""
    while post.unrecorded:
        try:
            server.run(_record, *post.unrecorded[0])
        except Exception as error:
            if not is_outage(error):
                del post.unrecorded[0]
            raise
        del post.unrecorded[0]


def _record(tx: Tx, server: Server, row: EmailRow, kind: ChannelKind, sent: Sent) -> None:
    """Record what became of a message."""
    if sent.result is Result.ACCEPTED:
        _accept(tx, server, row, kind, sent)
    elif sent.result is Result.GONE:
        _record_failure(tx, server, row, sent.says)
    else:
        _postpone(tx, server, row, sent)


def _accept(tx: Tx, server: Server, row: EmailRow, kind: ChannelKind, sent: Sent) -> None:
    # While email fails, an accepted message starts clocks: all of this person's games are locked then, in their order.
    starts = row.kind == EmailKind.TURN and row.seat is not None and reachability.fails(tx, row.person_id)
    locked = deadlines.lock_games_of(tx, row.person_id) if starts else {}
    if row.game_id is not None and row.game_id not in locked:
        games.lock(tx, row.game_id)
    if not leases.lock_leased(tx, [row]):
        return
    now = server.now()
    email_copies.send(tx, {row.id: now})
    ledger.note(tx, row.id, now, "accepted", f"{kind.called}: {sent.says}")
    if sent.reference and kind in senders.EDITORS and row.kind in (EmailKind.TURN, EmailKind.REMINDER):
        outbox.change(tx, row.id, remote_id=sent.reference, due_at=now, attempts=0)
    if starts:
        ledger.note(tx, row.id, now, "reached", "email to its reader fails, so this message starts the clock")
        reachability.note_message(tx, server, locked, row, now)


def _postpone(tx: Tx, server: Server, row: EmailRow, sent: Sent) -> None:
    if row.attempts >= outcomes.TRIES:
        _record_failure(tx, server, row, sent.says)
    elif leases.lock_leased(tx, [row]):
        now = server.now()
        outbox.change(tx, row.id, lease_id=None, due_at=now + max(outcomes.jittered(server, row.attempts), sent.wait))
        ledger.note(tx, row.id, now, "postponed", sent.says)


def _record_failure(tx: Tx, server: Server, row: EmailRow, why: str) -> None:
    """Give a message up, and with it its channel: its owner is told."""
    locked = deadlines.lock_games_of(tx, row.person_id)
    if not leases.lock_leased(tx, [row]):
        return
    now = server.now()
    outbox.change(tx, row.id, status=EmailStatus.UNDELIVERABLE, lease_id=None)
    ledger.note(tx, row.id, now, "undeliverable", why)
    channel = channels.lock(tx, row.channel_id)
    if channel is None or channel.status == ChannelStatus.REMOVED:
        return
    if row.kind == CODE:
        channels.change(tx, channel.id, why=why)
    elif channel.status == ChannelStatus.ACTIVE:
        channels.change(tx, channel.id, status=ChannelStatus.FAILED, why=why, ended_at=now)
        _tell_owner(tx, server, channel, why)
        reachability.note_lost_channel(tx, server, locked, channel.person_id)


def _tell_owner(tx: Tx, server: Server, channel: ChannelRow, why: str) -> None:
    facts = {"what": "failed", "service": ChannelKind(channel.kind).called, "host": channel.host, "why": why}
    # The one who entered a table's channel may have left it since.
    owner = channel.person_id if channel.game_id is None else games.read(tx, channel.game_id).host_id
    email = outbox.NewEmail(owner, EmailKind.CHANNEL, channel.game_id, facts=facts)
    outbox.queue(tx, [email], server.now())


def _record_edit(tx: Tx, server: Server, row: EmailRow, sent: Sent | None) -> None:
    """Record that a message was marked as done, or that it cannot be; otherwise it is tried again."""
    now = server.now()
    if sent is not None and sent.result is Result.LATER and row.attempts < outcomes.TRIES:
        wait = max(outcomes.jittered(server, row.attempts + 1), sent.wait)
        outbox.change(tx, row.id, due_at=now + wait, attempts=row.attempts + 1)
        return
    outbox.change(tx, row.id, remote_id=None)
    is_done = sent is not None and sent.result is Result.ACCEPTED
    if is_done:
        ledger.note(tx, row.id, now, "done", "marked as done, as its turn is over")
    elif sent is not None:
        ledger.note(tx, row.id, now, "not done", f"couldn't be marked as done: {sent.says}")
