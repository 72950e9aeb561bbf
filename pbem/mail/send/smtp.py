"""One email in SMTP: what is said to a relay, and the result of its answers as data.

    ACCEPTED            the relay has accepted the email for delivery
    REFUSED_RECIPIENT   the address does not exist
    UNABLE              the address exists but takes nothing now, for instance because the mailbox is full
    REFUSED_SENDER      the relay takes no email from us to this address: for the organiser to fix, not the reader
    REFUSED_MESSAGE     it will never take this email, because of the email or our reputation, not the reader
    LATER               try this email again later
    LOST                the connection broke during this email, which may or may not have arrived
    DOWN                the relay cannot be reached: not about this email, and no use trying the next

A relay that offers PIPELINING (RFC 2920) gets sender, recipient and DATA at once; any other gets them one by one.

No password and no address may be in a text that is returned.
"""

import re
import smtplib
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from io import BufferedReader
from typing import Final

from pbem.domain.bounce import is_about_sender, is_gone
from pbem.mail.wire import redacted_line

LONGEST_ANSWER: Final = 300

MOST_ANSWERED: Final = 2**16
"""Bytes of one answer that are read; real ones have a few hundred. An answer may have any number of lines."""

_DONE: Final = 2
_GO_ON: Final = 3
"""The first digits of positive answers: a command is completed, and the content may follow."""

_DOT: Final = re.compile(rb"^\.", re.MULTILINE)


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


class Connection(smtplib.SMTP):
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


def send_email(server: smtplib.SMTP, email: OutgoingEmail) -> Outcome:
    """Send one email over an open connection."""
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
        return Outcome(Result.LOST, error_text(error))


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


def is_ready(server: smtplib.SMTP, outcome: Outcome) -> bool:
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


def error_text(error: Exception) -> str:
    """What went wrong on a connection, in the relay's words where it has said something."""
    if isinstance(error, smtplib.SMTPResponseException):
        answer = error.smtp_error if isinstance(error.smtp_error, bytes) else error.smtp_error.encode()
        return redacted_line(f"{error.smtp_code} {answer.decode('utf-8', 'replace')}", LONGEST_ANSWER)
    return redacted_line(f"{type(error).__name__}: {error}", LONGEST_ANSWER)
