"""Who sent a mail: the one address that it says, and whether our own mail server vouches for its domain.

What a mail says of its sender can be typed by anybody. Our mail server checks it (DMARC, DKIM) and writes what it found
into headers with its own name on them. A mail server writes above what it was given, so whatever a stranger brought along
stands below: what counts are the headers of our name above the first `Received`, which is our server's own, or, where a
server puts its word below that, the topmost. One that cannot be read vouches for nothing, and neither do those under it.

A signature counts for the domain that made it and for those under it, never the other way round: whoever holds a domain
decides in the DNS about everything under it, while a domain above may be one in which strangers register theirs
(`evil.co.uk` must not speak for `co.uk`). Where only a wider rule would do, DMARC has it, and our server's word on that
is taken. So no list of registries is needed.

This module must never look into the text of a mail.
"""

import re
from email.errors import MessageError
from email.message import Message
from email.policy import default
from typing import Any, Final

import authres
from authres import dmarc

LONGEST_HEADER: Final = 10_000

_LONGEST_FROM: Final = 1000
_READER: Final = authres.FeatureContext(dmarc)


def sender_of(mail: Message) -> str | None:
    """The one address that a mail comes from; None if it names none, several, or one that could be read in two ways."""
    # Some programs take a name with a blank behind it for the same header.
    named = [str(value) for name, value in mail.raw_items() if name.strip().lower() == "from"]
    if len(named) != 1 or len(named[0]) > _LONGEST_FROM:
        return None
    try:
        header: Any = default.header_factory("from", "".join(named[0].splitlines()))
        groups, addresses, defects = header.groups, header.addresses, header.defects
    except (MessageError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        # What the library stumbles over is nobody's address.
        return None
    if defects or len(addresses) != 1 or any(group.display_name is not None for group in groups):
        return None
    address = str(addresses[0].addr_spec)
    return address if address.isascii() and address.isprintable() and address.count("@") == 1 else None


def is_vouched_for(mail: Message, address: str, authserv_id: str) -> bool:
    """Whether our mail server says that the domain of an address has sent this mail."""
    domain = address.rpartition("@")[2].lower()
    results = _our_results(mail, authserv_id)
    verdicts = [each.result for each in results if each.method == "dmarc" and _of(each, "from") == domain]
    if verdicts:
        # DMARC has looked at the signatures too, and knows more about them than we do.
        return all(verdict == "pass" for verdict in verdicts) or (
            set(verdicts) <= {"pass", "none"} and _is_signed(results, domain)
        )
    return _is_signed(results, domain)


def verdicts(mail: Message, authserv_id: str) -> tuple[str, ...]:
    """What our mail server has found out about a mail, as it writes it: `spf=pass`, `dkim=none`; for people to read."""
    return tuple(dict.fromkeys(f"{each.method}={each.result}" for each in _our_results(mail, authserv_id)))


def _is_signed(results: list[authres.AuthenticationResult], domain: str) -> bool:
    signers = (_of(each, "d") for each in results if each.method == "dkim" and each.result == "pass")
    return any(signer and (domain == signer or domain.endswith(f".{signer}")) for signer in signers)


def _of(result: authres.AuthenticationResult, name: str) -> str:
    """The domain that a result is about."""
    said = {each.name.lower(): str(each.value) for each in result.properties if each.type.lower() == "header"}
    return said.get(name, "").rpartition("@")[2].rstrip(".").lower()


def _our_results(mail: Message, authserv_id: str) -> list[authres.AuthenticationResult]:
    """What our mail server has found out; nothing if any of its words cannot be read."""
    found: list[authres.AuthenticationResult] = []
    for value in _our_words(mail, authserv_id):
        if len(value) > LONGEST_HEADER:
            return []
        try:
            word = _READER.parse_value(value)
        except (authres.AuthResError, RecursionError):
            return []
        found += [each for each in word.results if isinstance(each, authres.AuthenticationResult)]
    return found


def _our_words(mail: Message, authserv_id: str) -> list[str]:
    """The headers in which our mail server speaks, and nobody else can."""
    headers = [(name.strip().lower(), " ".join(str(written).split())) for name, written in mail.raw_items()]
    names = [name for name, _ in headers]
    own = names.index("received") if "received" in names else 0
    ours = [
        (place, value)
        for place, (name, value) in enumerate(headers)
        if name == "authentication-results" and _is_by(value, authserv_id)
    ]
    return [value for place, value in ours if place < own] or [value for _, value in ours[:1]]


def _is_by(value: str, authserv_id: str) -> bool:
    """Whether a header says that it is by this server, however badly it goes on."""
    said = re.match(r'(?:\([^()]*\)\s*)*"?([^\s";(]+)', value)
    return said is not None and said[1].lower() == authserv_id.lower()
