"""SPF (RFC 7208): whether a domain lets a host send its email, evaluated as a receiver does.

`ptr`, which the standard advises against, and macros and `exists`, which need a sender, count as no match.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

from pbem.domain.errors import BadInput
from pbem.mail.dns.nameserver import Nameserver

MOST_LOOKUPS: Final = 10
"""The limit of the standard; receivers ignore a record that needs more."""

_TERM: Final = re.compile(r"([+?~-]?)(all|ip4|ip6|a|mx|include|exists|ptr)(?=[:/]|\Z)(?::([^/\s]*))?(/[0-9/]+)?", re.I)
_RESULTS: Final = {"+": "pass", "": "pass", "-": "fail", "~": "softfail", "?": "neutral"}
_COUNTED: Final = frozenset({"a", "mx", "include", "exists", "ptr", "redirect"})


class InvalidRecord(BadInput):
    """A record that receivers cannot evaluate, so they act as if there were none."""

    usual_remedy = "Correct it: one record, with at most ten lookups."


@dataclass(slots=True)
class Evaluation:
    """One evaluation of a domain's record, with all records it refers to."""

    nameserver: Nameserver
    lookups: int = 0

    def result(self, domain: str, address: str) -> str:
        """The result for this domain and IP address: pass, fail, softfail, neutral or none. Raises InvalidRecord."""
        found = records(self.nameserver, domain)
        if not found:
            return "none"
        if len(found) > 1:
            raise InvalidRecord(f"{domain} has {len(found)} SPF records; only one is allowed.")
        terms = found[0].split()[1:]
        for term in terms:
            if "=" not in term and (result := self._match(domain, term, address)):
                return result
        for term in terms:
            if term.lower().startswith("redirect="):
                self._count("redirect", domain)
                return self.result(term.partition("=")[2], address)
        return "neutral"

    def _match(self, domain: str, term: str, address: str) -> str:
        match = _TERM.fullmatch(term)
        if match is None:
            raise InvalidRecord(f"Receivers can't read “{term}” in the SPF record of {domain}.")
        sign, kind, value, lengths = match[1], match[2].lower(), match[3] or domain, match[4] or ""
        self._count(kind, domain)
        if kind == "include":
            return _RESULTS[sign] if self.result(value, address) == "pass" else ""
        try:
            matches = kind == "all" or any(_within(address, each, lengths) for each in self._numbers(kind, value))
        except ValueError:
            raise InvalidRecord(f"“{term}” in the SPF record of {domain} isn't a network.") from None
        return _RESULTS[sign] if matches else ""

    def _numbers(self, kind: str, value: str) -> Iterator[str]:
        if kind in ("ip4", "ip6"):
            yield value
        elif kind == "a":
            yield from self.nameserver.addresses(value)
        elif kind == "mx":
            for host in self.nameserver.exchangers(value):
                yield from self.nameserver.addresses(host)

    def _count(self, kind: str, domain: str) -> None:
        self.lookups += kind in _COUNTED
        if self.lookups > MOST_LOOKUPS:
            raise InvalidRecord(f"The SPF record of {domain} leads to more than {MOST_LOOKUPS} others.")


def records(nameserver: Nameserver, domain: str) -> list[str]:
    """The SPF records of a domain."""
    return [text for text in nameserver.texts(domain) if re.match(r"v=spf1( |\Z)", text, re.I)]


def _within(address: str, number: str, lengths: str) -> bool:
    """Whether an IP address is in a network; `lengths` are written `/24`, `//64` or `/24//64`."""
    sender, listed = ip_address(address), ip_address(number)
    four, _, six = lengths.partition("//")
    length = six if listed.version == 6 and "//" in lengths else four.removeprefix("/")
    network = ip_network(f"{number}/{length}" if length else number, strict=False)
    return sender.version == listed.version and sender in network
