"""Handing mails to the relay: one connection for a batch, and what became of each as data.

    ACCEPTED            the relay has taken it, and it is the relay's to deliver
    REFUSED_RECIPIENT   there is no such address
    UNABLE              the address is there and takes nothing at present, as a full mailbox does
    REFUSED_SENDER      it takes no mail of ours for this address: for the organiser to mend, and no fault of the reader's
    REFUSED_MESSAGE     it will never take this mail, which is our fault or our reputation, never the reader's
    LATER               not now: try this mail again
    LOST                the connection broke while this mail was under way; it may or may not have arrived
    DOWN                there is no relay to talk to: no mail's fault, and no use to try the next

A relay that offers it (PIPELINING, RFC 2920) is told where a mail comes from, where it goes and that it comes in one go; any
other is told step by step.

Nothing in here decides what follows from an outcome, waits between mails, or knows a database. No password and no address
may stand in what it says.
"""

import math
import re
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Protocol, Self

from pbem.config import Security, Smtp
from pbem.domain.bounce import is_about_sender, is_gone
from pbem.tokens import redact

LONGEST_ANSWER: Final = 300

_DONE: Final = 2
_GO_ON: Final = 3
"""The first digits of answers that say yes: that something was done, and that the mail itself may come."""

_DOT: Final = re.compile(rb"^\.", re.MULTILINE)

LONGEST: Final = 140.0
"""Seconds that a mail may take in all, with the connection for it: less than half of the lease that its sender has.

The setting is about each answer, and a relay that sends one letter by letter never makes anybody wait that long for the next.
"""


class Result(StrEnum):
    """What became of a mail."""

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
    """What became of a mail, and what the relay said to it, without tokens and addresses."""

    result: Result
    said: str


@dataclass(frozen=True, slots=True)
class Parcel:
    """The bytes as they are sent, with where from and where to. `name` is what a bounce calls it."""

    name: str
    sender: str = field(repr=False)
    recipient: str = field(repr=False)
    content: bytes = field(repr=False)


class Session(Protocol):
    """One batch of mails under way."""

    def send(self, parcel: Parcel) -> Outcome:
        """Hand one mail over."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Transport(Protocol):
    """Where mails go."""

    def session(self) -> Session:
        """A batch; nothing is opened until the first mail is sent."""


@dataclass(frozen=True, slots=True)
class Relay:
    """The mail relay of the settings."""

    settings: Smtp
    trust: ssl.SSLContext | None = None
    """Whose certificates count; those of the machine if it is not said."""
    longest: float = LONGEST

    def session(self) -> "RelaySession":
        """A batch for this relay."""
        return RelaySession(self.settings, self.trust, self.longest)

    def trouble(self) -> str:
        """Why no mail could be handed over now, in the relay's words; empty if nothing is in the way. Sends nothing."""
        with self.session() as session:
            return session.open()


class RelaySession:
    """One connection to the relay, opened for the first mail, and again after a mail that broke it."""

    def __init__(self, settings: Smtp, trust: ssl.SSLContext | None, longest: float) -> None:
        self._settings = settings
        self._trust = trust
        self._longest = longest
        self._open: smtplib.SMTP | None = None
        self._talking: smtplib.SMTP | None = None
        self._hung_up = False
        self._until = math.inf
        self._over = threading.Event()
        self._watch: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            with self._at_most_so_long():
                self._leave(politely=error is None)
        self._over.set()

    def open(self) -> str:
        """Connect, greet and sign in, if that is not done; why it cannot be done, or nothing."""
        with self._at_most_so_long():
            return self._opened()

    def send(self, parcel: Parcel) -> Outcome:
        """Hand one mail over."""
        with self._at_most_so_long():
            if why := self._opened():
                return Outcome(Result.DOWN, why)
            assert self._open is not None
            outcome = _sent(self._open, parcel)
            if self._hung_up:
                # An answer that was cut short may look like another one.
                outcome = Outcome(Result.LOST, self._too_slow)
            if outcome.result in (Result.LOST, Result.DOWN) or not _ready_again(self._open, outcome):
                self._leave(politely=False)
            return outcome

    @property
    def _too_slow(self) -> str:
        return f"it was not done after {self._longest:.0f} seconds"

    @contextmanager
    def _at_most_so_long(self) -> Iterator[None]:
        """Hang up on a relay that is not done in time; whoever waits for it sees a connection that broke."""
        self._hung_up = False
        self._until = time.monotonic() + self._longest
        if self._watch is None:
            self._watch = threading.Thread(target=self._look_at_the_clock, daemon=True)
            self._watch.start()
        try:
            yield
        finally:
            self._until = math.inf

    def _look_at_the_clock(self) -> None:
        # One thread for the whole batch. It never waits past the end of a mail that begins meanwhile, so nobody has to tell
        # it of one.
        while not self._over.wait(min(self._longest, max(0.0, self._until - time.monotonic()))):
            if time.monotonic() >= self._until:
                self._until = math.inf
                self._hang_up()

    def _hang_up(self) -> None:
        self._hung_up = True
        connection = getattr(self._talking, "sock", None)
        if connection is not None:
            # It may be down already.
            with suppress(OSError):
                # Below the encryption, which would wait for a polite end.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def _opened(self) -> str:
        if self._open is None:
            try:
                self._open = self._connect()
            except (OSError, smtplib.SMTPException, UnicodeError) as error:
                return self._too_slow if self._hung_up else _said(error)
            if self._hung_up:
                self._leave(politely=False)
                return self._too_slow
        return ""

    def _connect(self) -> smtplib.SMTP:
        settings = self._settings
        # Reading whose certificates count takes longer than many a batch.
        trust = None if settings.security is Security.NONE else self._trust or ssl.create_default_context()
        kind: Any = smtplib.SMTP_SSL if settings.security is Security.TLS else smtplib.SMTP
        more = {"context": trust} if settings.security is Security.TLS else {}
        # It is known before it has connected, so that it can be hung up on before the relay has greeted.
        server: smtplib.SMTP = kind.__new__(kind)
        self._talking = server
        try:
            kind.__init__(server, settings.host, settings.port, timeout=settings.timeout, **more)
            if settings.security is Security.STARTTLS:
                # Raises where the relay does not offer it: nothing is ever sent in the clear by mistake.
                server.starttls(context=trust)
            if settings.user:
                server.login(settings.user, settings.password)
            server.ehlo_or_helo_if_needed()
        except BaseException:
            server.close()
            raise
        return server

    def _leave(self, *, politely: bool) -> None:
        server, self._open = self._open, None
        if server is None:
            return
        if politely:
            # Nothing hangs on the answer: every mail has its own.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
        server.close()


def _sent(server: smtplib.SMTP, parcel: Parcel) -> Outcome:
    steps = _steps(server, parcel)
    together = server.has_extn("pipelining")
    try:
        if together:
            server.send("".join(step.command for step in steps))
        for place, step in enumerate(steps, start=1):
            if not together:
                server.send(step.command)
            outcome = _judged(server.getreply(), step.wanted, step.refusal)
            if outcome.result is not Result.ACCEPTED:
                if together and outcome.result not in (Result.LOST, Result.DOWN):
                    _hear_out(server, steps[place:])
                return outcome
        server.send(_on_the_wire(parcel.content))
        return _judged(server.getreply(), _DONE, Result.REFUSED_MESSAGE)
    except (OSError, smtplib.SMTPException) as error:
        return Outcome(Result.LOST, _said(error))


@dataclass(frozen=True, slots=True)
class _Step:
    """A command, the first digit of the answer by which it passes, and what it means if the relay says never."""

    command: str
    wanted: int
    refusal: Result


def _steps(server: smtplib.SMTP, parcel: Parcel) -> tuple[_Step, ...]:
    """What comes before the bytes of a mail."""
    bounces, wanted = (
        (f" RET=HDRS ENVID={parcel.name}", " NOTIFY=FAILURE,DELAY") if server.has_extn("dsn") else ("", "")
    )
    return (
        # Nobody has been named yet: a relay that does not want our sender, or us without a login, wants no mail at all.
        _Step(_line(f"MAIL FROM:<{parcel.sender}>{bounces}"), _DONE, Result.DOWN),
        _Step(_line(f"RCPT TO:<{parcel.recipient}>{wanted}"), _DONE, Result.REFUSED_RECIPIENT),
        _Step(_line("DATA"), _GO_ON, Result.REFUSED_MESSAGE),
    )


def _line(command: str) -> str:
    if not (command.isascii() and command.isprintable()):
        raise ValueError("An address would be more than an address to the relay.")
    return f"{command}\r\n"


def _hear_out(server: smtplib.SMTP, steps: tuple[_Step, ...]) -> None:
    """Take in what the relay says to the steps after one that it refused. If it waits for a mail all the same, hang up."""
    # A relay that breaks off here has refused already, and of that the sender is told.
    with suppress(OSError, smtplib.SMTPException):
        for step in steps:
            if server.getreply()[0] // 100 == step.wanted == _GO_ON:
                # Whatever was sent now would be the mail.
                server.close()


def _on_the_wire(content: bytes) -> bytes:
    """The bytes of a mail with dots doubled where a line begins with one, and a line with a single one for its end."""
    end = b"" if content.endswith(b"\r\n") else b"\r\n"
    return _DOT.sub(b"..", content) + end + b".\r\n"


def _ready_again(server: smtplib.SMTP, outcome: Outcome) -> bool:
    """Whether the connection can take another mail: after one that was refused half-way, the relay has to forget it."""
    if outcome.result is Result.ACCEPTED:
        return True
    try:
        return server.rset()[0] == 250
    except (OSError, smtplib.SMTPException):
        return False


def _judged(reply: tuple[int, bytes], wanted: int, refusal: Result) -> Outcome:
    code, answer = reply
    said = _shown(f"{code} {answer.decode('utf-8', 'replace')}")
    if code // 100 == wanted:
        return Outcome(Result.ACCEPTED, said)
    if code == 421:
        # The relay hangs up: perhaps because of this mail, so that it counts, and the next begins anew.
        return Outcome(Result.LOST, said)
    if code < 0:
        return Outcome(Result.LOST, "the connection was closed")
    if refusal is Result.DOWN:
        return Outcome(refusal, said)
    if code < 500:
        return Outcome(Result.LATER, said)
    return Outcome(_of_recipient(said) if refusal is Result.REFUSED_RECIPIENT else refusal, said)


def _of_recipient(said: str) -> Result:
    """What a server that says "never" of an address means by it."""
    answer = said.partition(" ")[2]
    if is_about_sender(answer):
        return Result.REFUSED_SENDER
    return Result.REFUSED_RECIPIENT if is_gone(said) else Result.UNABLE


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _shown(f"{error.smtp_code} {_bytes(error.smtp_error).decode('utf-8', 'replace')}")
    return _shown(f"{type(error).__name__}: {error}")


def _bytes(answer: bytes | str) -> bytes:
    return answer if isinstance(answer, bytes) else answer.encode()


def _shown(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return redact(line)[:LONGEST_ANSWER]
