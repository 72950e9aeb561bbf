"""How fast mails leave: so many in a second altogether, and so many to one domain.

It only says when a mail may go; it never waits, and what it remembers ends with the process.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

BURST: Final = 2
"""Seconds' worth of mails that may leave together: a worker looks that often, and finds what fell due in between."""

_ALL: Final = ""
_MOST_KEPT: Final = 1000


@dataclass(slots=True)
class Throttle:
    """Limits for all mails and for those to one domain; 0 is no limit."""

    per_second: int = 0
    per_domain: int = 0
    # For each domain, the moment until which its share is used up: ahead of now by what has left lately.
    _used_until: dict[str, datetime] = field(default_factory=dict)

    def wait(self, domain: str, now: datetime) -> timedelta:
        """How long a mail to that domain has to wait; if it need not, it counts as sent."""
        limits = [(key, rate) for key, rate in ((_ALL, self.per_second), (domain, self.per_domain)) if rate]
        waits = [self._wait(key, rate, now) for key, rate in limits]
        longest = max(waits, default=timedelta(0))
        if not longest:
            for key, rate in limits:
                self._used_until[key] = max(now, self._used_until.get(key, now)) + timedelta(seconds=1) / rate
        if len(self._used_until) > _MOST_KEPT:
            self._used_until = {key: until for key, until in self._used_until.items() if until > now}
        return longest

    def _wait(self, key: str, rate: int, now: datetime) -> timedelta:
        allowed_ahead = timedelta(seconds=BURST) - timedelta(seconds=1) / rate
        return max(timedelta(0), self._used_until.get(key, now) - now - allowed_ahead)
