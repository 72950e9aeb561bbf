"""Email that arrives: the recipient is looked up, and the email is stored for `processing`, or counted and dropped.

It is stored once, however often it arrives, without attachments and tokens. The recipients are:

    r+TOKEN        of replies, to a turn, an offered seat or a test email
    b+TOKEN        of mail servers' reports about one of our emails
    complaints@    of reports of spam, which name one of our emails in the same way

This module must never store or log a token, and never interpret a line of a reply.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Final

from pbem.domain.errors import BadInput, Gone, NotFound
from pbem.mail.read import auto_replies, inbound, sender_check
from pbem.mail.read.inbound import InboundEmail
from pbem.service import links
from pbem.service.clocks import outages
from pbem.service.incoming import unread_replies
from pbem.service.incoming.authenticity import InboundSettings
from pbem.service.server import Server
from pbem.store import limits, received as rows
from pbem.store.database import Tx
from pbem.store.links import LinkRow
from pbem.tokens import Purpose

MOST_AN_HOUR: Final = 30
"""Emails an hour to one of our addresses: more than a person writes, less than two programs that answer each other."""

TOO_MANY: Final = "too many"
"""The word for an email beyond these."""

RETENTION: Final = timedelta(days=30)
"""How long an email is recognised when it comes again; mail servers try for five days. Then its row is deleted."""


@dataclass(frozen=True)
class Arrival:
    """An email that arrives, for one recipient or several. What takes long is done once, and only if it may be stored."""

    server: Server
    settings: InboundSettings
    envelope_from: str
    raw: bytes = field(repr=False)

    def receive(self, envelope_to: str) -> str:
        """Store the email for a recipient, or drop it; returns a word for what was done. Raises if it could not be stored."""
        server, settings = self.server, self.settings
        link = _find_link(server, settings, envelope_to, self.raw)
        if isinstance(link, str):
            return _drop(server, link)
        if len(self.raw) > settings.most_bytes:
            return self._drop_unread(link, "too large")
        if link.purpose == Purpose.REPLY and not settings.replies:
            return _drop(server, "replies are off")
        if server.read(_is_flooded, link):
            return self._drop_unread(link, TOO_MANY)
        if self._hidden is None:
            return self._drop_unread(link, "unreadable")
        # By the id of the link and not its token, which must not be stored, and whose letters may change case on the way.
        fingerprint = inbound.fingerprint(self.raw, f"{link.purpose}{link.id}")
        name = inbound.message_id(self._headers)
        message_id = name if name.encode() in self._hidden else ""
        is_addressed = inbound.is_for(self._headers, envelope_to, settings.domain)
        stored = inbound.marked_as_addressed(self._hidden) if is_addressed else self._hidden
        outcome = server.run(_store, link, fingerprint, message_id, self._signatures, stored)
        return outcome or self._drop_unread(link, TOO_MANY)

    def _drop_unread(self, link: LinkRow, why: str) -> str:
        """Drop a reply that cannot or may not be stored; its player hears so, unless a program wrote it."""
        is_reply = link.purpose == Purpose.REPLY and link.person_id is not None and self.settings.replies
        if is_reply and not self._may_be_by_a_program():
            self.server.run(unread_replies.tell_player, links.reply_link(link), too_many=why == TOO_MANY)
        return _drop(self.server, why)

    def _may_be_by_a_program(self) -> bool:
        """Whether the email is a program's, or has more headers than are read."""
        headers = inbound.raw_headers(self.raw)
        headers["Return-Path"] = self.envelope_from
        sign = auto_replies.automation_sign(headers, self.settings.domain, self.settings.sender)
        return sign is not None or inbound.has_more_headers(self.raw)

    @cached_property
    def _hidden(self) -> bytes | None:
        """The email as it is stored, without attachments and tokens; None if it can't be read."""
        try:
            sanitised = inbound.sanitise(self.raw, self.envelope_from)
        except BadInput:
            return None
        return self.server.read(links.hide_tokens, sanitised)

    @cached_property
    def _headers(self) -> InboundEmail:
        return inbound.raw_headers(self.raw)

    @cached_property
    def _signatures(self) -> tuple[str, ...]:
        return sender_check.signatures(self.raw)


def receive(server: Server, settings: InboundSettings, envelope_from: str, envelope_to: str, raw: bytes) -> str:
    """Store an email for its one recipient, or drop it, as `Arrival` does."""
    return Arrival(server, settings, envelope_from, raw).receive(envelope_to)


def tidy(tx: Tx, server: Server) -> None:
    """Delete old emails, whatever became of them."""
    rows.forget_before(tx, outages.ago(tx, server, RETENTION))


def _find_link(server: Server, settings: InboundSettings, envelope_to: str, raw: bytes) -> LinkRow | str:
    """The link that the recipient names; or the reason for dropping the email."""
    if inbound.is_complaint_address(envelope_to, settings.domain):
        tokens = inbound.bounce_tokens(raw[: settings.most_bytes])
        followed = (_follow(server, token, Purpose.BOUNCE) for token in tokens)
        return next((link for link in followed if not isinstance(link, str)), "a stranger")
    recipient = inbound.parse_recipient(envelope_to, settings.domain)
    if recipient is None:
        return "a stranger"
    if recipient.purpose not in (Purpose.REPLY, Purpose.BOUNCE):
        return "to no reply address"
    return _follow(server, recipient.token, recipient.purpose)


def _follow(server: Server, token: str, purpose: Purpose) -> LinkRow | str:
    try:
        if purpose == Purpose.REPLY:
            return server.read(links.follow_reply, token)
        return server.read(links.follow, token, purpose)
    except NotFound:
        return "a stranger"
    except Gone:
        return "to a replaced address"


def _drop(server: Server, why: str) -> str:
    """Count an email that is not stored."""
    server.store.write(lambda tx: rows.count(tx, server.now().date(), why))
    return why


def _is_flooded(tx: Tx, server: Server, link: LinkRow) -> bool:
    return rows.count_in(tx, link.id, limits.last(timedelta(hours=1), server.now())) >= MOST_AN_HOUR


def _store(
    tx: Tx, server: Server, link: LinkRow, fingerprint: bytes, message_id: str, signatures: tuple[str, ...], raw: bytes
) -> str | None:
    """Store an email; returns None if others that came at the same moment were enough."""
    now = server.now()
    if _is_flooded(tx, server, link):
        return None
    stored = rows.add(
        tx,
        fingerprint=fingerprint,
        link_id=link.id,
        nonce=link.nonce,
        message_id=message_id,
        signatures=signatures,
        raw=raw,
        now=now,
    )
    return "again" if stored is None else "kept"
