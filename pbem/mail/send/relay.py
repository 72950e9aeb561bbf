"""The mail relay: one connection for a batch of emails, opened when it is needed and closed when it is too slow.

Nothing in here decides what follows from a result, waits between emails, or knows a database.
"""

import math
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self

from pbem.config.settings import Security, Smtp
from pbem.mail.send.smtp import Connection, Outcome, OutgoingEmail, Result, error_text, is_ready, send_email

_GREETED: Final = 220

TIME_LIMIT: Final = 140.0
"""Seconds for one email, including the connection.

The setting limits each answer, and a relay that sends an answer one letter at a time never exceeds that.
"""

STOP_TIME: Final = 5.0
"""Seconds that an email may still take when the process is told to stop."""

_LOOK: Final = 0.5
"""Seconds between two looks whether the process is told to stop."""


class Session(Protocol):
    """An open batch of emails."""

    def send(self, email: OutgoingEmail) -> Outcome:
        """Send one email."""


class Transport(Protocol):
    """A destination of emails."""

    def session(self) -> AbstractContextManager[Session]:
        """A batch; nothing is opened until the first email is sent."""


@dataclass(frozen=True, slots=True)
class Relay:
    """The mail relay of the settings."""

    settings: Smtp
    trust: ssl.SSLContext | None = None
    """The trusted certificates; those of the machine by default."""
    time_limit: float = TIME_LIMIT
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the process is told to stop."""

    def session(self) -> "RelaySession":
        """A batch for this relay."""
        return RelaySession(self)

    def problem(self) -> str:
        """Why no email can be sent now, in the relay's words; empty if one can. Sends nothing."""
        with self.session() as session:
            return session.open()


class RelaySession:
    """A connection to the relay, opened for the first email, and again after an email that broke it."""

    def __init__(self, relay: Relay) -> None:
        self._settings = relay.settings
        self._trust = relay.trust
        self._time_limit = relay.time_limit
        self._stopping = relay.stopping
        self._stop_at = math.inf
        self._server: Connection | None = None
        self._line: socket.socket | None = None
        self._hung_up = False
        self._deadline = math.inf
        self._done = threading.Event()
        self._watchdog: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            with self._time_limited():
                self._close(quit_first=error is None)
        self._done.set()
        self._let_go()

    def open(self) -> str:
        """Connect, greet and sign in, unless that is done; returns the reason if it fails."""
        with self._time_limited():
            return self._connect_once()

    def send(self, email: OutgoingEmail) -> Outcome:
        """Send one email."""
        with self._time_limited():
            if why := self._connect_once():
                return Outcome(Result.DOWN, why)
            assert self._server is not None
            outcome = send_email(self._server, email)
            if self._hung_up:
                # A truncated answer may look like another one.
                outcome = Outcome(Result.LOST, self._too_slow)
            if outcome.result in (Result.LOST, Result.DOWN) or not is_ready(self._server, outcome):
                self._close(quit_first=False)
            return outcome

    @property
    def _too_slow(self) -> str:
        return f"it wasn't done after {self._time_limit:.0f} seconds"

    @contextmanager
    def _time_limited(self) -> Iterator[None]:
        """Hang up on a relay that is too slow; the thread that waits for it sees a broken connection."""
        self._hung_up = False
        self._deadline = time.monotonic() + self._time_limit
        if self._watchdog is None:
            self._watchdog = threading.Thread(target=self._watch_deadline, daemon=True)
            self._watchdog.start()
        try:
            yield
        finally:
            self._deadline = math.inf

    def _watch_deadline(self) -> None:
        # One thread for the whole batch. It never waits longer than the time limit of one email, so it need not be woken
        # when one begins.
        while not self._done.wait(min(self._time_limit, _LOOK, max(0.0, self._deadline - time.monotonic()))):
            now = time.monotonic()
            if self._stopping.is_set():
                self._stop_at = min(self._stop_at, now + STOP_TIME)
            if self._deadline < math.inf and now >= min(self._deadline, self._stop_at):
                self._deadline = math.inf
                self._hang_up()

    def _hang_up(self) -> None:
        self._hung_up = True
        if self._line is not None:
            # It may be closed already.
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)

    def _connect_once(self) -> str:
        if self._server is None:
            try:
                self._server = self._connect()
            except (OSError, smtplib.SMTPException, UnicodeError) as error:
                return self._too_slow if self._hung_up else error_text(error)
            if self._hung_up:
                self._close(quit_first=False)
                return self._too_slow
        return ""

    def _connect(self) -> "Connection":
        settings = self._settings
        # Loading the trusted certificates takes longer than many a batch.
        trust = None if settings.security is Security.NONE else self._trust or ssl.create_default_context()
        server = Connection(timeout=settings.timeout)
        try:
            # For the name in the certificate and in errors; smtplib would set it while it connects.
            vars(server)["_host"] = settings.host
            connected = self._dial()
            if settings.security is Security.TLS and trust is not None:
                connected = trust.wrap_socket(connected, server_hostname=settings.host)
            server.sock = connected
            code, greeting = server.getreply()
            if code != _GREETED:
                raise smtplib.SMTPConnectError(code, greeting)
            if settings.security is Security.STARTTLS:
                # Raises if the relay does not offer it: nothing is ever sent in the clear by mistake.
                server.starttls(context=trust)
            if settings.user:
                server.login(settings.user, settings.password)
            server.ehlo_or_helo_if_needed()
        except BaseException:
            server.close()
            raise
        return server

    def _dial(self) -> socket.socket:
        """A connection to the relay. The session keeps a second handle on it, to hang up in any phase of it."""
        failed: OSError = OSError("the relay's name has no address")
        for family, kind, protocol, _name, address in self._look_up():
            connection = socket.socket(family, kind, protocol)
            connection.settimeout(self._settings.timeout)
            # Encryption takes the socket over, and waits for an orderly end; this one stays below it.
            self._let_go()
            self._line = connection.dup()
            try:
                connection.connect(address)
            except OSError as error:
                connection.close()
                failed = error
            else:
                return connection
            if self._hung_up:
                break
        raise failed

    def _look_up(self) -> list[Any]:
        """The relay's addresses. The system looks names up for as long as it likes, so a thread that we can leave waits for it."""
        found: Future[list[Any]] = Future()

        def ask() -> None:
            try:
                found.set_result(socket.getaddrinfo(self._settings.host, self._settings.port, type=socket.SOCK_STREAM))
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                found.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        give_up_at = time.monotonic() + self._settings.timeout
        while not wait([found], min(_LOOK, self._settings.timeout)).done:
            if self._hung_up or time.monotonic() >= give_up_at:
                raise TimeoutError("looking up the relay's name took too long")
        return found.result()

    def _let_go(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _close(self, *, quit_first: bool) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        if quit_first:
            # The answer does not matter: every email has its own.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
        server.close()
        self._let_go()
