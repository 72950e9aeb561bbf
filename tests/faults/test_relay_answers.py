"""Every answer of a relay gone wrong, for every email of a batch: no email is lost, and none is handed over twice.

The relay is a server on this machine that gives one wrong answer. An email goes out twice only if the relay took it and did
not say so, which SMTP cannot tell apart; then both are the same to the byte.
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes

import pytest

from pbem.config.settings import Security, Smtp
from pbem.domain.states import EmailStatus
from pbem.mail.send.relay import Relay
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.people import addresses, sign_in
from pbem.service.server import Server
from pbem.store import ledger
from pbem.store.outbox import EmailRow
from tests.fakes import FakeClock
from tests.service.database import queued_emails
from tests.worker.process import HEAD

pytestmark = [pytest.mark.slow, pytest.mark.slice(1 / 4)]

EMAILS = 2
OF_CONNECTION, OF_EMAIL = ("connect", "greeting", "ehlo"), ("mail", "rcpt", "data", "content")

GOOD = {"greeting": b"220 ready", "data": b"354 go on", "quit": b"221 bye"}
WRONG = {
    "4xx": b"451 4.3.0 not now\r\n",
    "5xx": b"554 5.3.0 never\r\n",
    "421": b"421 4.3.2 going down\r\n",
    "rubbish": b"\xff\xfe\r\n",
    "half": b"25",
    "dropped": b"",
    "slow": b"",
}
"""What comes instead of an answer. After all but the first two the relay hangs up; if it is slow, when nobody waits for it."""

UNSAID = ("rubbish", "half", "dropped", "slow")
"""Wrong answers that do not tell whether the relay has taken an email."""


class HangUp(Exception):
    """The relay ends the conversation."""


@dataclass
class Fussy:
    """A relay that gives one wrong answer: at this step, for its email of this number."""

    step: str
    fault: str
    number: int
    pipelining: bool
    taken: list[bytes] = field(default_factory=list)
    _seen: int = 0
    struck: bool = False
    _done: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def listening(self) -> Iterator[int]:
        """Serve one connection after the other; yields the port."""
        with socket.create_server(("127.0.0.1", 0)) as door:
            thread = threading.Thread(target=self._serve, args=(door,))
            thread.start()
            try:
                yield door.getsockname()[1]
            finally:
                self._done.set()
                # It waits for a connection, on which nothing need be said.
                socket.create_connection(door.getsockname()).close()
                thread.join()

    def _serve(self, door: socket.socket) -> None:
        while not self._done.is_set():
            line, _ = door.accept()
            # The sender may hang up as well.
            with line, line.makefile("rb") as heard, suppress(HangUp, OSError):
                self._talk(line, heard.readline)

    def _talk(self, line: socket.socket, hear: Callable[[], bytes]) -> None:
        if self._strikes("connect"):
            self._answer_wrongly(line)
            raise HangUp
        self._answer(line, "greeting")
        refused = False
        while heard := hear():
            step = heard.decode().split()[0].lower()
            refused = refused and step in OF_EMAIL[1:]
            if refused:
                line.sendall(b"503 5.5.1 not after that\r\n")
                continue
            refused = not self._answer(line, step)
            self._seen += refused and step in OF_EMAIL
            if step == "data" and not refused:
                self._take(line, hear)

    def _take(self, line: socket.socket, hear: Callable[[], bytes]) -> None:
        content = b"".join(iter(hear, b".\r\n"))
        if not self._would_strike("content") or self.fault in UNSAID:
            self.taken.append(content)
        self._answer(line, "content")
        self._seen += 1

    def _answer(self, line: socket.socket, step: str) -> bool:
        """Answer a step; whether that was a yes."""
        if self._strikes(step):
            self._answer_wrongly(line)
            return False
        extensions = b"250-here\r\n250 PIPELINING" if self.pipelining else b"250 here"
        line.sendall((extensions if step == "ehlo" else GOOD.get(step, b"250 yes")) + b"\r\n")
        return True

    def _answer_wrongly(self, line: socket.socket) -> None:
        line.sendall(WRONG[self.fault])
        if self.fault == "slow":
            # Until the sender gives up.
            line.recv(1 << 20)
        if self.fault not in ("4xx", "5xx"):
            raise HangUp

    def _would_strike(self, step: str) -> bool:
        return not self.struck and step == self.step and (step in OF_CONNECTION or self._seen == self.number)

    def _strikes(self, step: str) -> bool:
        strikes = self._would_strike(step)
        self.struck = self.struck or strikes
        return strikes


CASES = [*((step, 0) for step in OF_CONNECTION), *((step, number) for step in OF_EMAIL for number in range(EMAILS))]


@pytest.mark.parametrize("fault", WRONG)
def test_one_wrong_answer_loses_no_email_and_doubles_none(server: Server, clock: FakeClock, fault: str) -> None:
    # Waiting takes long, and a busy machine may be slow of itself, so a slow relay is tried less and forgiven more.
    slow = fault == "slow"
    for step, number in CASES[::3] if slow else CASES:
        for pipelining in (False, True)[slow:]:
            relay = Fussy(step, fault, number, pipelining)
            case = f"{fault} to {step} of email {number}, {pipelining=}"
            emails = _sent(server, clock, relay)
            refused = fault == "5xx" and step in ("data", "content")
            assert relay.struck, case
            statuses = Counter({EmailStatus.SENT: EMAILS - refused, EmailStatus.PARKED: int(refused)})
            assert Counter(email.status for email in emails) == +statuses, case
            for email in emails:
                copies = [each for each in relay.taken if message_from_bytes(each)["Message-ID"] == email.message_id]
                assert len(set(copies)) == (email.status == EmailStatus.SENT), case
                assert _noted(server, email).count("accepted") == (email.status == EmailStatus.SENT), case
                assert _noted(server, email).count("parked") == (email.status == EmailStatus.PARKED), case
            again = len(relay.taken) - (EMAILS - refused)
            assert again == (step == "content" and fault in UNSAID) or (slow and again >= 0), case


def _sent(server: Server, clock: FakeClock, relay: Fussy) -> list[EmailRow]:
    """Emails to three people who have had none before, after as many tries as they need."""
    before = len(queued_emails(server, kind="links"))
    for number in range(EMAILS):
        address = f"ann{before + number}@example{number}.org"
        server.run(addresses.confirm, server.run(addresses.register, address, "Ann").id)
        server.run(sign_in.send_link, address)
    with relay.listening() as port:
        # Long enough for a busy machine, but where an answer is awaited that never comes.
        patience = 1 if relay.fault == "slow" else 60
        post = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, port, "", "", patience)))
        while any(email.status == EmailStatus.QUEUED for email in queued_emails(server)):
            clock.advance(timedelta(hours=3))
            deliver(server, post)
    return queued_emails(server, kind="links")[before:]


def _noted(server: Server, email: EmailRow) -> list[str]:
    with server.store.read() as tx:
        return [line.what for line in ledger.lines(tx, [email.id])[email.id]]
