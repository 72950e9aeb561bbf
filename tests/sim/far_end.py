"""The far end of SMTP in a simulation: it holds what was accepted, address by address, and has bad days.

It is asked as any relay is, by `session` and `send`, and answers by seed: not now, never for this address, a connection
that breaks before or after the email arrived, or nobody there for hours. What it holds is all that players ever see.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from types import TracebackType
from typing import Self

from pbem.clock import Clock
from pbem.domain.interval import Interval
from pbem.mail.send.relay import Outcome, OutgoingEmail, Result
from pbem.mail.wire import parse, text_of


class BrokenError(AssertionError):
    """The server broke a promise in a simulation."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """An email in a player's inbox."""

    at: datetime
    to: str
    name: str
    subject: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Weather:
    """When and how often delivery fails; never after `calm_from`."""

    calm_from: datetime
    away: Sequence[Interval] = ()
    dead: dict[str, Interval] = field(default_factory=dict)
    not_now: float = 0.05
    lost: float = 0.03


@dataclass(slots=True)
class FarEnd:
    """The receiving mail server of a simulation."""

    clock: Clock
    luck: Random
    weather: Weather
    notice: Callable[[Arrived], None]
    """Called with each new email."""
    seen: Counter[str]
    bytes_of: dict[str, bytes] = field(default_factory=dict)

    def session(self) -> Self:
        """Take a batch."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def send(self, email: OutgoingEmail) -> Outcome:
        """Accept or refuse one email."""
        now, weather = self.clock.now(), self.weather
        if any(hole.contains(now) for hole in weather.away):
            self.seen["relay away"] += 1
            return Outcome(Result.DOWN, "nobody answers")
        dead = weather.dead.get(email.recipient)
        if dead is not None and dead.contains(now):
            self.seen["address refused"] += 1
            return Outcome(Result.REFUSED_RECIPIENT, "550 no such mailbox")
        if now < weather.calm_from:
            chance = self.luck.random()
            if chance < weather.not_now:
                self.seen["mail refused for now"] += 1
                return Outcome(Result.LATER, "451 try again later")
            if chance < weather.not_now + weather.lost:
                if self.luck.random() < 0.5:
                    self.seen["connection lost after the mail"] += 1
                    self._take(email, now)
                else:
                    self.seen["connection lost before the mail"] += 1
                return Outcome(Result.LOST, "the connection was closed")
        self._take(email, now)
        return Outcome(Result.ACCEPTED, "250 taken")

    def _take(self, email: OutgoingEmail, now: datetime) -> None:
        message = parse(email.content)
        name = str(message["message-id"])
        known = self.bytes_of.setdefault(name, email.content)
        if known is not email.content:
            self.seen["mail came again"] += 1
            if known != email.content:
                raise BrokenError(f"{name} came again with other bytes")
            return
        self.seen["mail arrived"] += 1
        self.notice(Arrived(now, email.recipient, name, str(message["subject"]), text_of(message)))
