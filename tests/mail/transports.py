"""Transports for tests that decide the outcome of each email.

- `FunctionTransport(send)`: a function decides it;
- `StoringTransport()`: all emails are accepted and stored;
- `InterceptingTransport(transport, hand)`: a function decides it, and can pass the email on to another transport.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from pbem.mail.send.relay import Session, Transport
from pbem.mail.send.smtp import Outcome, OutgoingEmail, Result

ACCEPTED = Outcome(Result.ACCEPTED, "250 OK")

Send = Callable[[OutgoingEmail], Outcome]


class FunctionTransport:
    """A transport that is its own only batch, and passes each email to a function."""

    def __init__(self, send: Send) -> None:
        self.send = send

    def session(self) -> AbstractContextManager[Session]:
        """The batch."""
        return nullcontext(self)


class StoringTransport(FunctionTransport):
    """A transport that accepts and stores every email."""

    def __init__(self) -> None:
        self.emails: list[OutgoingEmail] = []
        super().__init__(self._take)

    def _take(self, email: OutgoingEmail) -> Outcome:
        self.emails.append(email)
        return ACCEPTED


class InterceptingTransport(FunctionTransport):
    """A transport that passes each email to a function, together with the next transport's `send`."""

    def __init__(self, transport: Transport, hand: Callable[[OutgoingEmail, Send], Outcome]) -> None:
        super().__init__(lambda email: hand(email, self._beyond.send))
        self._transport = transport

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The batch, within one of the other transport."""
        with self._transport.session() as self._beyond:
            yield self
