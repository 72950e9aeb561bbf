"""LMTP (RFC 2033): a port on this machine at which the mail server delivers our email.

Each recipient gets its own answer, even if an email is refused as a whole: otherwise the mail server would wait for the
missing answers. Every readable email is accepted, and one for nobody is dropped later: refusing it here would make the
mail server write to a sender who may be forged. An email that is too large or has too many recipients is refused, and if an
email cannot be stored the mail server is asked to try again.

This module must never parse an email or write an address into a log.
"""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import structlog
from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from pbem import sockets
from pbem.domain.errors import BadInput

Store = Callable[[str], object]
"""A function that stores an email for one recipient; raises if it cannot."""

Take = Callable[[str, bytes], Store]
"""A function that takes an email with its envelope sender, to be stored for its recipients one by one."""

MOST_RECIPIENTS: Final = 20
"""Nobody replies to twenty of our emails at once; the mail server sends the rest in a second batch."""

_AT_ONCE: Final = 4
"""Emails stored at the same time; the database has connections for more."""

_STORED: Final = "250 2.0.0 Kept"
_LATER: Final = "451 4.3.0 Cannot be kept just now, try again later"

_log = structlog.get_logger(__name__)


class Lmtp:
    """An LMTP port, open from `start` to `stop`, with its own threads."""

    def __init__(self, host: str, port: int, most_bytes: int, take: Take) -> None:
        self.host = host
        self.port = port
        self._most_bytes = most_bytes
        self._take = take

    def start(self) -> None:
        """Start to listen. Raises BadInput if the port cannot be opened."""
        # It would log every command with its addresses.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL)
        listener = self._open_port()
        self.port = listener.getsockname()[1]
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="lmtp")
        self._controller = _Listener(
            _Handler(self._take, self._threads), listener, data_size_limit=self._most_bytes, ident="pbem"
        )
        self._controller.start()
        _log.info("lmtp_started", at=sockets.with_port(self.host, self.port), port=self.port)

    def stop(self) -> None:
        """Stop listening, and finish storing."""
        self._controller.stop()
        self._threads.shutdown(wait=True)

    def _open_port(self) -> socket.socket:
        try:
            return sockets.listening(self.host, self.port)
        except OSError as error:
            what = "is in use" if error.errno == errno.EADDRINUSE else f"can't be used ({error.strerror or error})"
            raise BadInput(
                f"Port {self.port} of {self.host} {what}, so no email can come in.",
                remedy="Stop the program there, or set PBEM_INBOUND_LMTP_PORT to another port, or to 0 for none.",
            ) from error


class _Lmtp(LMTP):
    """The library's server, with an answer for each recipient."""

    _reading_mail = False

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - the library calls it so
        self._reading_mail = True
        try:
            await super().smtp_DATA(arg)
        finally:
            self._reading_mail = False

    async def push(self, status: Any) -> None:
        answer = status.decode() if isinstance(status, bytes) else str(status)
        refused_whole = self._reading_mail and answer.startswith(("500 Line too long", "552 "))
        if refused_whole and self.envelope is not None:
            answer = "\r\n".join([answer] * len(self.envelope.rcpt_tos))
        await super().push(answer)


class _Listener(Controller):
    """The library's thread, on a port that is already open: the library takes seconds to find out that one cannot be opened."""

    def __init__(self, handler: "_Handler", listener: socket.socket, **given: Any) -> None:
        host, port = listener.getsockname()[:2]
        super().__init__(handler, hostname=host, port=port, **given)
        self._open_port = listener

    def factory(self) -> SMTP:
        return _Lmtp(self.handler, **self.SMTP_kwargs)

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self._open_port)


@dataclass(frozen=True)
class _Handler:
    take: Take
    threads: Executor

    async def handle_RCPT(  # noqa: N802 - the library calls it so
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return "452 4.5.3 Too many recipients at once"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above
        loop = asyncio.get_running_loop()
        raw = envelope.content
        assert isinstance(raw, bytes)
        store = self.take(envelope.mail_from or "", raw)
        answers = [
            await loop.run_in_executor(self.threads, self._answer, store, recipient) for recipient in envelope.rcpt_tos
        ]
        return "\r\n".join(answers)

    def _answer(self, store: Store, recipient: str) -> str:
        try:
            store(recipient)
        except Exception:  # noqa: BLE001 - the mail server keeps the email and tries again
            _log.exception("mail_not_kept")
            return _LATER
        return _STORED
