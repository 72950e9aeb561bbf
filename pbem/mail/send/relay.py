"""The mail relay: one connection for a batch of emails, and the result of each as data.

    ACCEPTED            the relay has accepted the email for delivery
    REFUSED_RECIPIENT   the address does not exist
    UNABLE              the address exists but takes nothing now, for instance because the mailbox is full
    REFUSED_SENDER      the relay takes no email from us to this address: for the organiser to fix, not the reader
    REFUSED_MESSAGE     it will never take this email, because of the email or our reputation, not the reader
    LATER               try this email again later
    LOST                the connection broke during this email, which may or may not have arrived
    DOWN                the relay cannot be reached: not about this email, and no use trying the next

A relay that offers PIPELINING (RFC 2920) gets sender, recipient and DATA at once; any other gets them one by one.

Nothing in here decides what follows from a result, waits between emails, or knows a database. No password and no address
may be in a text that it returns.
"""

import math
import re
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from io import BufferedReader
from types import TracebackType
from typing import Any, Final, Protocol, Self

from pbem.config.settings import Security, Smtp
from pbem.domain.bounce import is_about_sender, is_gone
from pbem.mail.wire import redacted_line

LONGEST_ANSWER: Final = 300

_DONE: Final = 2
_GO_ON: Final = 3
"""The first digits of positive answers: a command is completed, and the content may follow."""

_GREETED: Final = 220

_DOT: Final = re.compile(rb"^\.", re.MULTILINE)

TIME_LIMIT: Final = 140.0
"""Seconds for one email, including the connection.

The setting limits each answer, and a relay that sends an answer one letter at a time never exceeds that.
"""

MOST_ANSWERED: Final = 2**16
"""Bytes of one answer that are read; real ones have a few hundred. An answer may have any number of lines."""

STOP_TIME: Final = 5.0
"""Seconds that an email may still take when the process is told to stop."""

_LOOK: Final = 0.5
"""Seconds between two looks whether the process is told to stop."""


class Result(StrEnum):
    """The results of sending an email."""

    ACCEPTED = "accepted"
    REFUSED_RECIPIENT = "refused recipient"
    UNABLE = "unable recipient"
    REFUSED_SENDER = "refused sender"
    REFUSED_MESSAGE = "refused message"
    LATER = "later"
    LOST = "lost"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of sending an email, and the relay's answer to it, without tokens and addresses."""

    result: Result
    answer: str


@dataclass(frozen=True, slots=True)
class OutgoingEmail:
    """The bytes of an email as sent, with its envelope. `name` is the envelope id, which a bounce reports."""

    name: str
    sender: str = field(repr=False)
    recipient: str = field(repr=False)
    content: bytes = field(repr=False)


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
        self._server: _Connection | None = None
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
            outcome = _send(self._server, email)
            if self._hung_up:
                # A truncated answer may look like another one.
                outcome = Outcome(Result.LOST, self._too_slow)
            if outcome.result in (Result.LOST, Result.DOWN) or not _is_ready(self._server, outcome):
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
                return self._too_slow if self._hung_up else _error_text(error)
            if self._hung_up:
                self._close(quit_first=False)
                return self._too_slow
        return ""

    def _connect(self) -> "_Connection":
        settings = self._settings
        # Loading the trusted certificates takes longer than many a batch.
        trust = None if settings.security is Security.NONE else self._trust or ssl.create_default_context()
        server = _Connection(timeout=settings.timeout)
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


class _Connection(smtplib.SMTP):
    """A connection that reads no more of an answer than it may have: the library keeps every line of an endless one."""

    def getreply(self) -> tuple[int, bytes]:
        """The next answer. Raises SMTPServerDisconnected if it is too long."""
        if self.file is None:
            assert self.sock is not None, "connected before anything is read"
            self.file = _Lines(self.sock.makefile("rb"))
        self.file.left = MOST_ANSWERED
        return super().getreply()


class _Lines:
    """The lines that a relay sends, until `left` more bytes are read."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self.left = 0

    def readline(self, most: int) -> bytes:
        """The next line. Raises OSError if that is more than what is left."""
        line = self._file.readline(most)
        self.left -= len(line)
        if self.left < 0:
            raise OSError("it sent too long an answer")
        return line

    def close(self) -> None:
        self._file.close()


def _send(server: smtplib.SMTP, email: OutgoingEmail) -> Outcome:
    commands = _commands(server, email)
    pipelined = server.has_extn("pipelining")
    try:
        if pipelined:
            server.send("".join(command.line for command in commands))
        for position, command in enumerate(commands, start=1):
            if not pipelined:
                server.send(command.line)
            outcome = _outcome(server.getreply(), command.expected, command.refusal)
            if outcome.result is not Result.ACCEPTED:
                if pipelined and outcome.result not in (Result.LOST, Result.DOWN):
                    _drain(server, commands[position:])
                return outcome
        server.send(_dot_stuffed(email.content))
        return _outcome(server.getreply(), _DONE, Result.REFUSED_MESSAGE)
    except (OSError, smtplib.SMTPException) as error:
        return Outcome(Result.LOST, _error_text(error))


@dataclass(frozen=True, slots=True)
class _Command:
    """A line, the first digit of a positive answer, and the result of a permanent refusal."""

    line: str
    expected: int
    refusal: Result


def _commands(server: smtplib.SMTP, email: OutgoingEmail) -> tuple[_Command, ...]:
    """The commands before the content of an email."""
    mail_options, recipient_options = (
        (f" RET=HDRS ENVID={email.name}", " NOTIFY=FAILURE,DELAY") if server.has_extn("dsn") else ("", "")
    )
    return (
        # There is no recipient yet: a relay that refuses our sender, or us without a login, refuses every email.
        _Command(_line(f"MAIL FROM:<{email.sender}>{mail_options}"), _DONE, Result.DOWN),
        _Command(_line(f"RCPT TO:<{email.recipient}>{recipient_options}"), _DONE, Result.REFUSED_RECIPIENT),
        _Command(_line("DATA"), _GO_ON, Result.REFUSED_MESSAGE),
    )


def _line(command: str) -> str:
    if not (command.isascii() and command.isprintable()):
        raise ValueError("The relay would read more than one address.")
    return f"{command}\r\n"


def _drain(server: smtplib.SMTP, commands: tuple[_Command, ...]) -> None:
    """Read the answers to the commands after a refused one. Hang up if the relay waits for the content all the same."""
    # A relay that breaks off here has already refused, and that is the outcome.
    with suppress(OSError, smtplib.SMTPException):
        for command in commands:
            if server.getreply()[0] // 100 == command.expected == _GO_ON:
                # Anything sent now would be the content.
                server.close()


def _dot_stuffed(content: bytes) -> bytes:
    """The content with leading dots doubled, and a single dot as its end."""
    end = b"" if content.endswith(b"\r\n") else b"\r\n"
    return _DOT.sub(b"..", content) + end + b".\r\n"


def _is_ready(server: smtplib.SMTP, outcome: Outcome) -> bool:
    """Whether the connection can take another email; the relay must forget one that was refused half-way."""
    if outcome.result is Result.ACCEPTED:
        return True
    try:
        return server.rset()[0] == 250
    except (OSError, smtplib.SMTPException):
        return False


def _outcome(reply: tuple[int, bytes], expected: int, refusal: Result) -> Outcome:
    code, text = reply
    answer = redacted_line(f"{code} {text.decode('utf-8', 'replace')}", LONGEST_ANSWER)
    if code // 100 == expected:
        return Outcome(Result.ACCEPTED, answer)
    if code == 421:
        # The relay hangs up: perhaps because of this email, so it counts as lost, and the next gets a new connection.
        return Outcome(Result.LOST, answer)
    if code < 0:
        return Outcome(Result.LOST, "the connection was closed")
    if refusal is Result.DOWN:
        return Outcome(refusal, answer)
    if code < 500:
        return Outcome(Result.LATER, answer)
    return Outcome(_recipient_result(answer) if refusal is Result.REFUSED_RECIPIENT else refusal, answer)


def _recipient_result(answer: str) -> Result:
    """The result that a permanent refusal of a recipient means."""
    answer = answer.partition(" ")[2]
    if is_about_sender(answer):
        return Result.REFUSED_SENDER
    return Result.REFUSED_RECIPIENT if is_gone(answer) else Result.UNABLE


def _error_text(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        answer = error.smtp_error if isinstance(error.smtp_error, bytes) else error.smtp_error.encode()
        return redacted_line(f"{error.smtp_code} {answer.decode('utf-8', 'replace')}", LONGEST_ANSWER)
    return redacted_line(f"{type(error).__name__}: {error}", LONGEST_ANSWER)
