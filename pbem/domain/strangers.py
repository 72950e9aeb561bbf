"""Strangers: people whose address someone typed and nobody has confirmed. How much email they get, and who counts as one.

Budgets count mailboxes and networks, because anyone has as many addresses as they like of either.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from pbem.domain.duration import DAY, HOUR

_GMAIL: Final = "gmail.com"
_WITHOUT_DOTS: Final = frozenset({_GMAIL, "googlemail.com"})


class Budget(StrEnum):
    """What emails to typed addresses are counted by."""

    NETWORK = "network"
    SHARE = "share"
    MAILBOX = "mailbox"
    DOMAIN = "domain"
    ALL = "all"


PERIODS: Final = {Budget.NETWORK: HOUR, Budget.SHARE: DAY, Budget.MAILBOX: DAY, Budget.DOMAIN: HOUR, Budget.ALL: DAY}
"""The time in which each budget may be used once."""


@dataclass(frozen=True, slots=True)
class StrangerLimits:
    """The most emails to typed addresses: from one network and to one domain in an hour, to one mailbox and in all in a day.

    One network can use half of a mailbox's. 0 means no limit. `lifetime` is how long someone who never confirms an address is remembered.
    """

    network: int = 20
    mailbox: int = 5
    domain: int = 100
    all: int = 2000
    lifetime: timedelta = 3 * DAY

    def most(self, budget: Budget) -> int:
        """The limit of a budget."""
        return {
            Budget.NETWORK: self.network,
            # So one network leaves some of a mailbox's emails for others.
            Budget.SHARE: (self.mailbox + 1) // 2,
            Budget.MAILBOX: self.mailbox,
            Budget.DOMAIN: self.domain,
            Budget.ALL: self.all,
        }[budget]


def fold_aliases(mailbox: str) -> str:
    """The mailbox that a normalised address ends up in: without its tag, and at Gmail without dots."""
    local, _, domain = mailbox.casefold().rpartition("@")
    local = local.partition("+")[0] or local
    if domain in _WITHOUT_DOTS:
        local, domain = local.replace(".", ""), _GMAIL
    return f"{local}@{domain}"
