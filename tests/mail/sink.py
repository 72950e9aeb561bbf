"""The far end of SMTP: a server on this machine that accepts emails, or fails as relays do.

A script has one entry for each email that comes:

    accept        250, and the email is stored
    450 rcpt      temporary, about the recipient     550 rcpt     permanent, about the recipient
    571 rcpt      permanent, but about the sender    421 rcpt     the relay hangs up
    552 rcpt      a full mailbox
    450 data      temporary, about the content       550 data     permanent, about the content
    450 mail      temporary, before any recipient
    hang          the relay stops answering
    drop          the connection breaks after the content, and nothing is stored
    keep, drop    the email is stored, and the connection breaks before the relay can say so

After the script everything is accepted, except for domains with their own rule.
"""

import asyncio
import ssl
from collections import deque
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from functools import cached_property
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from tests.ports import free_port

CERTIFICATE = Path(__file__).with_name("localhost.pem")
USER, PASSWORD = "pbem", "open sesame"


@dataclass(frozen=True)
class ReceivedEmail:
    """A received email."""

    sender: str
    recipient: str
    options: tuple[str, ...]
    content: bytes

    @cached_property
    def message(self) -> EmailMessage:
        """The parsed email, cached because parsing is slow; nobody may change it."""
        message = BytesParser(policy=default).parsebytes(self.content)
        assert isinstance(message, EmailMessage)
        return message

    @cached_property
    def text(self) -> str:
        """Its plain text."""
        return self._part("plain")

    @cached_property
    def html(self) -> str:
        """Its HTML."""
        return self._part("html")

    def _part(self, subtype: str) -> str:
        part = self.message.get_body((subtype,))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n")


@dataclass
class Handler:
    """The handling of each email."""

    script: deque[str] = field(default_factory=deque)
    domains: dict[str, str] = field(default_factory=dict)
    emails: list[ReceivedEmail] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    peers: set[object] = field(default_factory=set)
    now: str = "accept"
    in_one_go: bool = True

    @property
    def connections(self) -> int:
        """The number of connections so far."""
        return len(self.peers)

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        self.peers.add(session.peer)
        # Real relays offer both.
        more = ["250-DSN", *["250-PIPELINING"] * self.in_one_go]
        return [*responses[:-1], *more, responses[-1]]

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.now = self.script.popleft() if self.script else "accept"
        self.commands.append(f"MAIL {self.now}")
        if self.now == "450 mail":
            return "450 4.3.0 busy"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        answers = {
            "450 rcpt": "450 4.2.2 mailbox full of ann@example.org",
            "550 rcpt": "550 5.1.1 no such user",
            "552 rcpt": "552 5.2.2 mailbox full",
            "571 rcpt": "550 5.7.1 we do not like you",
            "421 rcpt": "421 4.3.2 going down",
        }
        self.now = self.domains.get(address.rpartition("@")[2], self.now)
        if self.now == "hang":
            await asyncio.Event().wait()
        if self.now in answers:
            if self.now == "421 rcpt":
                await server.push(answers[self.now])
                _hang_up(server)
            return answers[self.now]
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.now in ("450 data", "550 data"):
            return f"{self.now[:3]} {self.now[0]}.6.0 not like this"
        if self.now != "drop":
            assert isinstance(envelope.content, bytes)
            assert envelope.mail_from is not None
            options = (*envelope.mail_options, *envelope.rcpt_options)
            self.emails.append(ReceivedEmail(envelope.mail_from, envelope.rcpt_tos[0], options, envelope.content))
        if self.now in ("drop", "keep, drop"):
            _hang_up(server)
        return "250 OK"


class _Relay(SMTP):
    """A server with the options of a sender about bounces (RFC 3461)."""

    def _getparams(self, params: Any) -> Any:
        found = super()._getparams(params)
        return found and {name: value for name, value in found.items() if name not in ("RET", "ENVID", "NOTIFY")}


class _Listener(Controller):
    def factory(self) -> SMTP:
        return _Relay(self.handler, **self.SMTP_kwargs)


class Sink:
    """The running server."""

    def __init__(self, **given: Any) -> None:
        self.handler = Handler()
        self.port = free_port()
        self._controller = _Listener(self.handler, hostname="127.0.0.1", port=self.port, **given)

    def __enter__(self) -> "Sink":
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()

    def does(self, *script: str) -> None:
        """Set the script for the next emails."""
        self.handler.script.extend(script)

    def does_to(self, **domains: str) -> None:
        """Set the rules for all emails to these `.example` domains, replacing earlier ones."""
        self.handler.domains = {f"{name}.example": word for name, word in domains.items()}

    @property
    def emails(self) -> list[ReceivedEmail]:
        """The received emails, in order."""
        return self.handler.emails

    def to(self, address: str) -> list[ReceivedEmail]:
        """The received emails to one address."""
        return [email for email in self.emails if email.recipient == address]


def server_tls() -> ssl.SSLContext:
    """The certificate of the server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def client_trust() -> ssl.SSLContext:
    """A client context that trusts this server's certificate."""
    return ssl.create_default_context(cafile=str(CERTIFICATE))


def knows(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
    """Whether name and password are those of the test."""
    right = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=right)


def _hang_up(server: SMTP) -> None:
    assert server.transport is not None
    transport = server.transport
    assert isinstance(transport, asyncio.Transport)
    transport.abort()
