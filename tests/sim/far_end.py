"""The far end of SMTP in a simulation: it holds what was accepted, address by address, and has bad days.

It is asked as any relay is, by `session` and `send`, and answers by seed: not now, never for this address, a connection
that breaks before or after the email arrived, or nobody there for hours. What it holds is all that players ever see. An email
that it has accepted must not come again, unless its sender died before that was recorded.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from random import Random
from types import TracebackType
from typing import Final, Self

from pbem.clock import Clock
from pbem.domain.interval import Interval
from pbem.mail.send.smtp import Outcome, OutgoingEmail, Result
from pbem.mail.wire import parse, text_of
from pbem.service.outgoing.deliver import TOGETHER

_TOKEN: Final = re.compile(rb"[a-z2-7]{33}")
_SECOND_SENDER: Final = 0.03
"""The probability that another worker sends, too, while an email is being handed over."""


class BrokenError(AssertionError):
    """The server broke a promise in a simulation."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """An email in a player's inbox. `source` is all its text: headers, text and HTML."""

    at: datetime
    to: str
    name: str
    subject: str
    text: str = field(repr=False)
    source: str = field(default="", repr=False)
    sender: str = field(default="", repr=False)


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
    """The receiving mail server of a simulation. Its `clock` is right; players see that of the server, `wall`."""

    clock: Clock
    wall: Clock
    luck: Random
    weather: Weather
    notice: Callable[[Arrived, bool], None]
    """Called with each email, and whether it is a new one."""
    seen: Counter[str]
    meanwhile: Callable[[], None] = lambda: None
    """Called at times while an email is being handed over."""
    bytes_of: dict[str, bytes] = field(default_factory=dict)
    accepted: list[str] = field(default_factory=list)
    """Every acceptance, in order, by the name of the email."""
    _sessions: list[list[str]] = field(default_factory=list)
    """What was accepted in each open session; a second sender's is the last."""
    _recorded: set[str] = field(default_factory=set)
    """Accepted emails whose senders must know that."""
    _why: dict[str, str] = field(default_factory=dict)
    """Why an email may come again."""

    def session(self) -> Self:
        """Take a batch."""
        return self

    def __enter__(self) -> Self:
        self._sessions.append([])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sessions.pop()

    def forgive(self, since: int | None = None) -> None:
        """Expect emails again that senders had no time to record, or all since an acceptance that a restore has undone."""
        unrecorded = [name for accepted in self._sessions for name in accepted[-TOGETHER:]]
        names = unrecorded if since is None else self.accepted[since:]
        self._recorded.difference_update(names)
        self._why |= dict.fromkeys(names, "after a crash" if since is None else "after a restore")

    def send(self, email: OutgoingEmail) -> Outcome:
        """Accept or refuse one email."""
        now, weather = self.clock.now(), self.weather
        if now < weather.calm_from and self.luck.random() < _SECOND_SENDER:
            self.meanwhile()
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
                    self._why[self._take(email)] = "after a lost connection"
                else:
                    self.seen["connection lost before the mail"] += 1
                return Outcome(Result.LOST, "the connection was closed")
        name = self._take(email)
        self.accepted.append(name)
        self._sessions[-1].append(name)
        self._recorded.add(name)
        return Outcome(Result.ACCEPTED, "250 taken")

    def _take(self, email: OutgoingEmail) -> str:
        message = parse(email.content)
        name = str(message["message-id"])
        if name in self._recorded:
            raise BrokenError(f"{name} ({message['subject']}) was handed over again, although it had been accepted")
        new = name not in self.bytes_of
        self.seen["mail arrived" if new else "mail came again"] += 1
        if not new:
            self.seen[f"mail came again {self._why[name]}"] += 1
        # Its reader may have asked for new links since it left for the first time.
        if _TOKEN.sub(b"", self.bytes_of.setdefault(name, email.content)) != _TOKEN.sub(b"", email.content):
            raise BrokenError(f"{name} came again with other bytes")
        source = "\n".join((*map(str, message.values()), *_texts(message)))
        text, subject = text_of(message), str(message["subject"])
        self.notice(Arrived(self.wall.now(), email.recipient, name, subject, text, source, email.sender), new)
        return name


def _texts(message: EmailMessage) -> list[str]:
    return [part.get_content() for part in message.walk() if part.get_content_maintype() == "text"]
