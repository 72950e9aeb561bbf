"""DNS queries about email, for commands that check the DNS. An error is never taken for an empty answer."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import dns.exception
import dns.resolver
import dns.reversename

from pbem.domain.errors import Fault

T = TypeVar("T")

PATIENCE: Final = 5.0
"""Seconds for one query, with all retries of the resolver."""


class NoAnswer(Fault):
    """The DNS cannot be queried, which says nothing about its records."""


class Nameserver:
    """A DNS server, as `9.9.9.9` or `127.0.0.1:5300`; without a name, that of this machine."""

    def __init__(self, server: str = "", patience: float = PATIENCE) -> None:
        self._resolver = dns.resolver.Resolver(configure=not server)
        self._resolver.lifetime = patience
        if server:
            host, _, port = server.rpartition(":") if server.count(":") == 1 else (server, "", "")
            self._resolver.nameservers = [host]
            self._resolver.port = int(port or 53)

    def texts(self, name: str) -> list[str]:
        """The TXT records of a name, each joined from its strings."""
        return self._query(name, "TXT", lambda found: b"".join(found.strings).decode("utf-8", "replace"))

    def addresses(self, name: str) -> list[str]:
        """The IP addresses of a host."""
        return [each for kind in ("A", "AAAA") for each in self._query(name, kind, lambda found: str(found.address))]

    def exchangers(self, name: str) -> list[str]:
        """The MX hosts of a domain, the preferred first; an empty name means that it takes no email."""
        found = self._query(name, "MX", lambda each: (int(each.preference), _plain(each.exchange)))
        return [host for _, host in sorted(found)]

    def names(self, address: str) -> list[str]:
        return self._query(dns.reversename.from_address(address).to_text(), "PTR", lambda found: _plain(found.target))

    def _query(self, name: str, kind: str, read: Callable[[Any], T]) -> list[T]:
        try:
            answer = self._resolver.resolve(name, kind, raise_on_no_answer=False, search=False)
        except dns.resolver.NXDOMAIN:
            return []
        except (dns.exception.DNSException, OSError, UnicodeError) as error:
            raise NoAnswer(
                f"The DNS doesn't answer about {name}.",
                why=f"{type(error).__name__} for {kind}.",
                remedy="Check that this machine can reach a DNS server, or name one in PBEM_MAIL_NAMESERVER.",
            ) from None
        return [read(each) for each in answer.rrset or ()]


def _plain(name: object) -> str:
    return str(name).rstrip(".").lower()
