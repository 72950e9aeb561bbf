"""Whether a domain lets a host send its mails: SPF (RFC 7208), read as a receiver reads it.

What the standard itself advises against (`ptr`) and what only makes sense for one sender at a time (macros, `exists`)
counts as no match. Nothing in here sends or judges a mail.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

from pbem.domain.errors import BadInput
from pbem.mail.dns.nameserver import Nameserver

MOST_LOOKUPS: Final = 10
"""What the standard allows; receivers give up a record that asks for more."""

_TERM: Final = re.compile(r"([+?~-]?)(all|ip4|ip6|a|mx|include|exists|ptr)(?=[:/]|\Z)(?::([^/\s]*))?(/[0-9/]+)?", re.I)
_RESULTS: Final = {"+": "pass", "": "pass", "-": "fail", "~": "softfail", "?": "neutral"}
_COUNTED: Final = frozenset({"a", "mx", "include", "exists", "ptr", "redirect"})


class Unreadable(BadInput):
    """Receivers cannot make sense of a record, and act as if there were none."""

    usual_remedy = "Correct it: one record, with at most ten lookups."


@dataclass(slots=True)
class Reading:
    """One reading of a domain's word on who sends for it, with everything that it refers to."""

    nameserver: Nameserver
    lookups: int = 0

    def result(self, domain: str, address: str) -> str:
        """What becomes of a mail of that domain from this number: pass, fail, softfail, neutral or none."""
        found = records(self.nameserver, domain)
        if not found:
            return "none"
        if len(found) > 1:
            raise Unreadable(f"{domain} has {len(found)} SPF records, and may have one.")
        terms = found[0].split()[1:]
        for term in terms:
            if "=" not in term and (matched := self._matched(domain, term, address)):
                return matched
        for term in terms:
            if term.lower().startswith("redirect="):
                self._count("redirect", domain)
                return self.result(term.partition("=")[2], address)
        return "neutral"

    def _matched(self, domain: str, term: str, address: str) -> str:
        match = _TERM.fullmatch(term)
        if match is None:
            raise Unreadable(f"Receivers cannot read “{term}” in the SPF record of {domain}.")
        sign, kind, value, lengths = match[1], match[2].lower(), match[3] or domain, match[4] or ""
        self._count(kind, domain)
        if kind == "include":
            return _RESULTS[sign] if self.result(value, address) == "pass" else ""
        try:
            good = kind == "all" or any(_within(address, each, lengths) for each in self._numbers(kind, value))
        except ValueError:
            raise Unreadable(f"“{term}” in the SPF record of {domain} is no network.") from None
        return _RESULTS[sign] if good else ""

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
            raise Unreadable(f"The SPF record of {domain} leads to more than {MOST_LOOKUPS} others.")


def records(nameserver: Nameserver, domain: str) -> list[str]:
    """The SPF records of a domain."""
    return [text for text in nameserver.texts(domain) if re.match(r"v=spf1( |\Z)", text, re.I)]


def _within(address: str, number: str, lengths: str) -> bool:
    """Whether an address is near enough to a number; `lengths` are written `/24`, `//64` or `/24//64`."""
    where, there = ip_address(address), ip_address(number)
    four, _, six = lengths.partition("//")
    length = six if there.version == 6 and "//" in lengths else four.removeprefix("/")
    network = ip_network(f"{number}/{length}" if length else number, strict=False)
    return where.version == there.version and where in network
