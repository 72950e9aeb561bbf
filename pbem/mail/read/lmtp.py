"""Taking mails from the mail server beside us, by LMTP (RFC 2033), on this machine only.

Each recipient gets an answer of its own, also where a mail is refused as a whole: a mail server that gets one answer for two
recipients waits for the other. Everything that can be read is taken, and what is nobody's is dropped later: a refusal here
would make the mail server write to a sender who may be forged. What is too large or has too many recipients is refused,
and where mails cannot be kept the sender is asked to try again.

This module must never look into a mail or write an address into a log.
"""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Final

import structlog
from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from pbem.domain.errors import BadInput

Take = Callable[[str, str, bytes], object]
"""Keeps a mail, given its envelope sender, one recipient and its bytes; raises if it cannot."""

MOST_RECIPIENTS: Final = 20
"""Nobody answers twenty of our mails at once; the mail server sends the rest in a second go."""

_AT_ONCE: Final = 4
"""Mails that are kept at the same time; the database has connections for more."""

_KEPT: Final = "250 2.0.0 Kept"
_LATER: Final = "451 4.3.0 Cannot be kept just now, try again later"

_log = structlog.get_logger(__name__)


class Lmtp:
    """A port at which mails are taken, from `start` to `stop`, in threads of its own."""

    def __init__(self, host: str, port: int, most_bytes: int, take: Take) -> None:
        self.host = host
        self.port = port
        self._most_bytes = most_bytes
        self._take = take

    def start(self) -> None:
        """Begin to listen."""
        # It would tell of every command, addresses included.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL)
        listening = self._listening()
        self.port = listening.getsockname()[1]
        self._keepers = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="lmtp")
        self._controller = _Listener(
            _Handler(self._take, self._keepers), listening, data_size_limit=self._most_bytes, ident="pbem"
        )
        self._controller.start()
        _log.info("lmtp_started", port=self.port)

    def stop(self) -> None:
        """Listen no more; what is being kept just now is kept."""
        self._controller.stop()
        self._keepers.shutdown(wait=True)

    def _listening(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            what = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror or error})"
            raise BadInput(
                f"Port {self.port} of {self.host} {what}, so no mail can be taken.",
                remedy="Stop what listens there, or set PBEM_INBOUND_LMTP_PORT to another port, or to 0 for none.",
            ) from error


class _Lmtp(LMTP):
    """The library's server, with as many answers as there are recipients."""

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
    """The library's thread, on a port that is open already: it takes seconds to find out that one cannot be opened."""

    def __init__(self, handler: "_Handler", listening: socket.socket, **given: Any) -> None:
        host, port = listening.getsockname()[:2]
        super().__init__(handler, hostname=host, port=port, **given)
        self._listening = listening

    def factory(self) -> SMTP:
        return _Lmtp(self.handler, **self.SMTP_kwargs)

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self._listening)


class _Handler:
    def __init__(self, take: Take, keepers: Executor) -> None:
        self._take = take
        self._keepers = keepers

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
        answers = [
            await loop.run_in_executor(self._keepers, self._kept, envelope.mail_from or "", recipient, raw)
            for recipient in envelope.rcpt_tos
        ]
        return "\r\n".join(answers)

    def _kept(self, envelope_from: str, recipient: str, raw: bytes) -> str:
        try:
            self._take(envelope_from, recipient, raw)
        except Exception:  # noqa: BLE001 - whatever is wrong, the mail server has the mail and tries again
            _log.exception("mail_not_kept")
            return _LATER
        return _KEPT
