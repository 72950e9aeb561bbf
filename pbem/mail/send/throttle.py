"""How fast mails leave: so many in a second altogether and to one domain, and so many in an hour to one that is new.

A domain that was never written to may take many mails at once for an attack, so it gets them slowly on its first day. This
module only says when a mail may go. How much of each share is used up is handed in and changed there: the tables keep it,
so that all workers together keep to the limits.
"""

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

BURST: Final = timedelta(seconds=2)
"""What may leave together: a worker looks that often, and finds what fell due in between."""

ALL: Final = ""
"""The name of the share that all mails have together."""

_HOUR: Final = timedelta(hours=1)

Used = MutableMapping[str, datetime]
"""For each share, the moment until which it is used up: ahead of now by what has left lately."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """Limits for all mails, for those to one domain, and in an hour for those to a new one; 0 is no limit."""

    per_second: int = 0
    per_domain: int = 0
    new_domain: int = 0

    def names(self, domain: str) -> tuple[str, ...]:
        """The shares that a mail to that domain can need."""
        return ALL, domain, _of_new(domain)

    def wait(self, used: Used, domain: str, now: datetime, *, new: bool = False) -> timedelta:
        """How long a mail to that domain has to wait; if it need not, it has its part of each share from now on."""
        shares = list(self._shares(domain, new=new))
        longest = max(_ends(used, name, now) - ahead for name, _, ahead in shares) - now
        if longest > timedelta(0):
            return longest
        for name, each, _ in shares:
            if each:
                used[name] = _ends(used, name, now) + each
        return timedelta(0)

    def each(self, domain: str) -> timedelta:
        """How far apart mails to that domain leave."""
        return max((each for _, each, _ in self._shares(domain, new=False)), default=timedelta(0))

    def _shares(self, domain: str, *, new: bool) -> Iterator[tuple[str, timedelta, timedelta]]:
        """The name of each share, what one mail uses of it, and how far ahead of now it may be used up."""
        # A domain that is left alone for a while has a share that is used up until then, whatever its limit.
        for name, rate in ((ALL, self.per_second), (domain, self.per_domain)):
            each = timedelta(seconds=1) / rate if rate else timedelta(0)
            yield name, each, BURST - each if rate else timedelta(0)
        if new and self.new_domain:
            each = _HOUR / self.new_domain
            yield _of_new(domain), each, _HOUR - each


def _of_new(domain: str) -> str:
    return f"{domain} new"


def _ends(used: Used, name: str, now: datetime) -> datetime:
    return max(now, used.get(name, now))
