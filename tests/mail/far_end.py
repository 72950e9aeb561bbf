"""What mails are handed to in the place of a relay, where a test says what becomes of them.

FarEnd(send)                a function says it
Keeping()                   all of them are taken, and kept
OnTheWay(transport, hand)   a function says it, which can hand them on to another transport
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from pbem.mail.send.relay import Outcome, Parcel, Result, Session, Transport

TAKEN = Outcome(Result.ACCEPTED, "250 OK")

Send = Callable[[Parcel], Outcome]


class FarEnd:
    """A transport all of whose batches are one: each mail is handed to a function."""

    def __init__(self, send: Send) -> None:
        self.send = send

    def session(self) -> Session:
        """The batch."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Keeping(FarEnd):
    """Takes every mail, and keeps it."""

    def __init__(self) -> None:
        self.kept: list[Parcel] = []
        super().__init__(self._take)

    def _take(self, parcel: Parcel) -> Outcome:
        self.kept.append(parcel)
        return TAKEN


class OnTheWay(FarEnd):
    """A function is handed each mail, and what hands it on to another transport."""

    def __init__(self, transport: Transport, hand: Callable[[Parcel, Send], Outcome]) -> None:
        super().__init__(lambda parcel: hand(parcel, self._beyond.send))
        self._transport = transport

    def __enter__(self) -> Self:
        self._beyond = self._transport.session().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beyond.__exit__(kind, error, trace)
