"""Checks of the DNS records that our emails need to arrive, with a remedy for each.

Receivers look at the hosts that may send (SPF), our public key (DKIM), the policy for forged emails (DMARC), the hosts for
replies and bounces (MX), and whether the name of our IP address leads back to it (PTR). Nothing is changed or sent.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from dkim.crypto import UnparsableKeyError, parse_public_key

from pbem.domain import finding
from pbem.domain.finding import Finding
from pbem.mail.dns import spf
from pbem.mail.dns.nameserver import Nameserver, NoAnswer

GOOD_BITS: Final = 2048
"""The key length that receivers ask for; below half of it they ignore the key."""


@dataclass(frozen=True, slots=True)
class MailSetup:
    """The way our emails leave, from which known IP addresses. `record` is that of our own key; empty if the relay signs."""

    domain: str
    signing: str
    selector: str = ""
    record: str = ""
    addresses: tuple[str, ...] = ()


def check(nameserver: Nameserver, setup: MailSetup) -> Iterator[Finding]:
    """Run all checks. If the DNS cannot be queried, report that once and stop."""
    checks: tuple[Callable[[Nameserver, MailSetup], Iterator[Finding]], ...] = (_mx, _spf, _dkim, _dmarc, _ptr)
    try:
        for check_records in checks:
            yield from check_records(nameserver, setup)
    except NoAnswer as error:
        yield finding.error("dns", f"{error.what} {error.why}", error.remedy)


def sending_addresses(nameserver: Nameserver, relay: str, domain: str) -> tuple[str, ...]:
    """The IP addresses that emails probably leave from: the relay's, or the domain's if the relay's is not public."""
    for host in (relay, domain):
        found = [host] if _is_number(host) else nameserver.addresses(host)
        public = tuple(each for each in found if ip_address(each).is_global)
        if public:
            return public
    return ()


def _mx(nameserver: Nameserver, setup: MailSetup) -> Iterator[Finding]:
    domain, found = setup.domain, nameserver.exchangers(setup.domain)
    if found == [""]:
        says = f"{domain} says it accepts no email, so bounces and replies are lost, and many receivers refuse ours."
        yield finding.error("mx", says, f"Add to the DNS: {domain}. MX 10 mail.{domain}.")
    elif any(nameserver.addresses(host) for host in found):
        yield finding.ok("mx", f"email to {domain} goes to {', '.join(found)}")
    elif not found and nameserver.addresses(domain):
        yield finding.ok("mx", f"email to {domain} goes to the host itself")
    else:
        says = f"{domain} has no MX record, so bounces and replies are lost, and many receivers refuse ours."
        yield finding.error("mx", says, f"Add to the DNS: {domain}. MX 10 HOST. (the host that accepts its email)")


def _spf(nameserver: Nameserver, setup: MailSetup) -> Iterator[Finding]:
    domain, found = setup.domain, spf.records(nameserver, setup.domain)
    remedy = f'Add to the DNS: {domain}. TXT "{_wanted_spf(setup)}"'
    if not found:
        yield finding.error("spf", f"{domain} doesn't say who may send its email.", remedy)
        return
    # Where our number is not known, any will do to read the record to its end and find its mistakes.
    numbers = setup.addresses or ("192.0.2.1",)
    try:
        results = [(each, spf.Evaluation(nameserver).result(domain, each)) for each in numbers]
    except spf.InvalidRecord as error:
        yield finding.error("spf", f"{error.what} It's ignored.", error.remedy)
        return
    if not setup.addresses and results[0][1] == "pass":
        says = f"{domain} lets anyone send its email."
        yield finding.error("spf", says, "End its record with ~all.")
    elif not setup.addresses:
        says = f"The record of {domain} is valid, but it's not known which IP address emails leave from."
        yield finding.warning("spf", says, "Name it: pbem mail check --address NUMBER")
    elif wrong := [address for address, result in results if result != "pass"]:
        yield finding.error("spf", f"{domain} doesn't let {', '.join(wrong)} send its email.", remedy)
    else:
        yield finding.ok("spf", f"{domain} lets {', '.join(setup.addresses)} send its email")


def _dkim(nameserver: Nameserver, setup: MailSetup) -> Iterator[Finding]:
    if not setup.selector:
        says = "emails aren't signed here, but perhaps by the relay"
        yield finding.ok("dkim", says, "Check the relay's key: pbem mail check --selector NAME")
        return
    name = f"{setup.selector}._domainkey.{setup.signing}"
    found = [text for text in nameserver.texts(name) if "p=" in text]
    remedy = f"Add to the DNS: {name}. TXT {_in_strings(setup.record)}" if setup.record else ""
    if len(found) != 1:
        says = f"There are {len(found)} keys at {name}, so receivers can't check signatures."
        yield finding.error("dkim", says, remedy or "Add the relay's key to the DNS; its manual says how.")
        return
    tags = _tags(found[0])
    bits = _bits(tags.get("p", ""))
    if not tags.get("p"):
        yield finding.error("dkim", f"The key at {name} was revoked.", remedy or "Make a new one.")
    elif setup.record and tags["p"] != _tags(setup.record)["p"]:
        yield finding.error("dkim", f"The key at {name} isn't the one that signs emails.", remedy)
    elif tags.get("k", "rsa") == "rsa" and bits < GOOD_BITS:
        too_short = finding.error if bits < GOOD_BITS // 2 else finding.warning
        says = f"The key at {name} has {bits} bits; receivers ask for {GOOD_BITS}."
        yield too_short("dkim", says, "Create a longer one under another selector, and sign with that.")
    elif "y" in tags.get("t", ""):
        says = f"The key at {name} is marked as a test, so receivers may ignore it."
        yield finding.warning("dkim", says, "Remove t=y once emails arrive signed.")
    else:
        yield finding.ok("dkim", f"{name} has the key" + (" that signs emails" * bool(setup.record)))


def _dmarc(nameserver: Nameserver, setup: MailSetup) -> Iterator[Finding]:
    domain = setup.domain
    remedy = f'Add to the DNS: _dmarc.{domain}. TXT "v=DMARC1; p=quarantine; rua=mailto:postmaster@{domain}"'
    for above in _upwards(domain):
        found = [text for text in nameserver.texts(f"_dmarc.{above}") if text.startswith("v=DMARC1")]
        if found:
            break
    else:
        says = f"{domain} doesn't say what to do with forged emails; large receivers require it."
        yield finding.error("dmarc", says, remedy)
        return
    tags = _tags(found[0])
    policy = tags.get("p", "") if above == domain else tags.get("sp", tags.get("p", ""))
    if len(found) > 1 or policy not in ("none", "quarantine", "reject"):
        says = f"What _dmarc.{above} says can't be read, so it's ignored."
        yield finding.error("dmarc", says, remedy)
    elif policy == "none":
        says = f"_dmarc.{above} lets forged emails pass (p=none), which is only for testing."
        yield finding.warning("dmarc", says, remedy)
    else:
        yield finding.ok("dmarc", f"_dmarc.{above} asks receivers to {policy} forged emails")


def _ptr(nameserver: Nameserver, setup: MailSetup) -> Iterator[Finding]:
    for address in setup.addresses:
        names = nameserver.names(address)
        if not names:
            says = f"{address}, which emails leave from, has no name."
            remedy = f"Ask the provider of that address to name it mail.{setup.domain}."
            yield finding.error("ptr", says, remedy)
        elif not any(address in nameserver.addresses(name) for name in names):
            says = f"{address} is called {', '.join(names)}, but that name doesn't lead back to it."
            yield finding.error("ptr", says, f"Add to the DNS: {names[0]}. {_kind(address)} {address}")
        else:
            yield finding.ok("ptr", f"{address} is {names[0]}")


def _wanted_spf(setup: MailSetup) -> str:
    senders = [f"ip{ip_address(address).version}:{address}" for address in setup.addresses]
    return " ".join(["v=spf1", *(senders or ["mx"]), "~all"])


def _in_strings(record: str) -> str:
    """A record as it is entered in a zone file: a string has at most 255 characters."""
    return " ".join(f'"{record[start : start + 250]}"' for start in range(0, len(record), 250))


def _tags(record: str) -> Mapping[str, str]:
    pairs = (part.partition("=") for part in record.split(";"))
    return {name.strip(): re.sub(r"\s", "", value) for name, _, value in pairs}


def _bits(key: str) -> int:
    try:
        return int(parse_public_key(b64decode(key))["modulus"].bit_length())
    except (UnparsableKeyError, ValueError, IndexError, TypeError):
        return 0


def _upwards(domain: str) -> Iterator[str]:
    """The domain and those above it, but not a top-level domain alone."""
    parts = domain.split(".")
    for start in range(max(len(parts) - 1, 1)):
        yield ".".join(parts[start:])


def _kind(address: str) -> str:
    return "A" if ip_address(address).version == 4 else "AAAA"


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
