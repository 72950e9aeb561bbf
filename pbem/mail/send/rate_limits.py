"""Sending rates: per second in total and to one domain, and per hour to a new domain.

A domain that never got email from us may take many at once for an attack, so it gets them slowly on its first day. This
module only says when an email may leave. The use of each share is passed in and updated; the database stores it, so that
all workers together keep to the limits.
"""

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

BURST: Final = timedelta(seconds=2)
"""Emails of this time may leave together: a worker polls this often."""

ALL: Final = ""
"""The name of the share of all emails together."""

_HOUR: Final = timedelta(hours=1)

Shares = MutableMapping[str, datetime]
"""The moment until which each share is used up, which is in the future if emails have just left."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """The limits for all emails, for those to one domain, and per hour for those to a new domain; 0 means no limit."""

    per_second: int = 0
    per_domain: int = 0
    new_domain: int = 0

    def share_names(self, domain: str) -> tuple[str, ...]:
        """The shares that an email to that domain may need."""
        return ALL, domain, _of_new(domain)

    def wait(self, shares_used: Shares, domain: str, now: datetime, *, new: bool = False) -> timedelta:
        """The time that an email to that domain has to wait; if none, use its part of each share."""
        shares = list(self._shares(domain, new=new))
        longest = max(_ends(shares_used, name, now) - ahead for name, _, ahead in shares) - now
        if longest > timedelta(0):
            return longest
        for name, each, _ in shares:
            if each:
                shares_used[name] = _ends(shares_used, name, now) + each
        return timedelta(0)

    def interval(self, domain: str) -> timedelta:
        """The time between two emails to that domain."""
        return max((each for _, each, _ in self._shares(domain, new=False)), default=timedelta(0))

    def _shares(self, domain: str, *, new: bool) -> Iterator[tuple[str, timedelta, timedelta]]:
        """The name of each share, the part that one email uses, and how far into the future it may be used up."""
        # A domain that rests has a share that is used up until then, whatever its limit.
        for name, rate in ((ALL, self.per_second), (domain, self.per_domain)):
            each = timedelta(seconds=1) / rate if rate else timedelta(0)
            yield name, each, BURST - each if rate else timedelta(0)
        if new and self.new_domain:
            each = _HOUR / self.new_domain
            yield _of_new(domain), each, _HOUR - each


def _of_new(domain: str) -> str:
    return f"{domain} new"


def _ends(shares_used: Shares, name: str, now: datetime) -> datetime:
    return max(now, shares_used.get(name, now))
