"""Strangers: people whose address someone typed and nobody has confirmed. How much email they get, and who counts as one.

Budgets count mailboxes and networks, because anyone has as many addresses as they like of either.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from pbem.domain.duration import DAY, HOUR

_IPV4_PREFIX: Final = 24
_IPV6_PREFIX: Final = 48
"""What one customer of a provider may have: anyone who rents a machine gets many addresses with it."""

_GMAIL: Final = "gmail.com"
_WITHOUT_DOTS: Final = frozenset({_GMAIL, "googlemail.com"})


class Budget(StrEnum):
    """What emails to typed addresses are counted by."""

    NETWORK = "network"
    MAILBOX = "mailbox"
    DOMAIN = "domain"
    ALL = "all"


PERIODS: Final = {Budget.NETWORK: HOUR, Budget.MAILBOX: DAY, Budget.DOMAIN: HOUR, Budget.ALL: DAY}
"""The time in which each budget may be used once."""


@dataclass(frozen=True, slots=True)
class StrangerLimits:
    """The most emails to typed addresses: from one network and to one domain in an hour, to one mailbox and in all in a day.

    0 means no limit. `lifetime` is how long someone who never confirms an address is remembered.
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


def network_of(address: str) -> str:
    """The network of a client's address: its /24, or its /48 in IPv6. A text that is no address is returned as it is."""
    try:
        client: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(client, IPv6Address) and client.ipv4_mapped is not None:
        client = client.ipv4_mapped
    prefix = _IPV4_PREFIX if client.version == 4 else _IPV6_PREFIX
    return str(ip_network(f"{client}/{prefix}", strict=False))
