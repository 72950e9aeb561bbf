"""The sender of an email: its one address, and whether our own mail server has authenticated its domain.

Anyone can write any sender into an email. Our mail server checks it (DMARC, DKIM) and adds the results in headers with its
own name, which stands at the very beginning and ends with a semicolon; one that names it in any other way is an imitation,
and then none counts. A mail server adds headers on top, so a header of a stranger is below. Where ours stand, counted in
`Received` headers above them, is a setting or was measured with a test email: none below that place counts. Until it is
known, our headers above the first `Received` count, or else the topmost. One that cannot be parsed authenticates nothing, and
neither do those below it.

A signature counts for its domain and for those below, never the other way round: the owner of a domain controls everything
below it in the DNS, but a domain above may be one under which strangers register theirs (`evil.co.uk` must not speak for
`co.uk`). If only a wider rule would do, DMARC has it, and our server's result counts. So no public suffix list is needed.

This module must never read the text of an email.
"""

import hashlib
import re
from email.errors import MessageError
from email.message import Message
from email.policy import default
from typing import Any, Final

import authres
from authres import dmarc

from pbem.mail.read import charsets
from pbem.mail.read.inbound import split

LONGEST_HEADER: Final = 10_000

_RESULTS: Final = "authentication-results"
_LONGEST_FROM: Final = 1000
_MOST_SIGNATURES: Final = 20
_BREAK: Final = re.compile(r"\r?\n")
_COMMENT: Final = re.compile(r"\([^()]*\)")
_SIGNATURE: Final = re.compile(rb"^dkim-signature[ \t]*:((?:[^\n]|\n[ \t])*)", re.IGNORECASE | re.MULTILINE)
_READER: Final = authres.FeatureContext(dmarc)


def sender_of(message: Message) -> str | None:
    """The one address that an email comes from; None if there is none, several, or an ambiguous one."""
    # Some programs accept a blank after the name of a header.
    named = [str(value) for name, value in message.raw_items() if name.strip().lower() == "from"]
    if len(named) != 1 or len(named[0]) > _LONGEST_FROM:
        return None
    try:
        header: Any = default.header_factory("from", charsets.relabelled(_BREAK.sub("", named[0])))
        groups, addresses, defects = header.groups, header.addresses, header.defects
    except (MessageError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        # Nothing that trips up the library is a real address.
        return None
    if defects or len(addresses) != 1 or any(group.display_name is not None for group in groups):
        return None
    address = str(addresses[0].addr_spec)
    return address if address.isascii() and address.isprintable() and address.count("@") == 1 else None


def is_authenticated(message: Message, address: str, authserv_id: str, received_above: int | None = None) -> bool:
    """Whether our mail server has authenticated the domain of an address as the sender of this email.

    `received_above` is how many `Received` headers stand above its results, None if that is not known.
    """
    domain = address.rpartition("@")[2].lower()
    results = _our_results(message, authserv_id, received_above)
    verdicts = [each.result for each in results if each.method == "dmarc" and _of(each, "from") == domain]
    if verdicts:
        # DMARC includes the signatures, and knows more about them than we do.
        return all(verdict == "pass" for verdict in verdicts) or (
            set(verdicts) <= {"pass", "none"} and _is_signed(results, domain)
        )
    return _is_signed(results, domain)


def place_of_results(message: Message, authserv_id: str, besides: str = "") -> int | None:
    """How many `Received` headers stand above the results of our mail server; None if it has added none.

    Headers that contain the text `besides` are not its own.
    """
    headers, received, stamped = _headers_of_note(message, authserv_id)
    own = [at for at in stamped if not besides or besides not in headers[at][1]]
    return _number_above(received, own[0]) if received and own else None


def without_results(message: Message, but: str) -> Message:
    """An email as if our mail server had added no results: only those that contain this text are left."""
    bare = Message()
    for name, value in message.raw_items():
        if name.strip().lower() != _RESULTS or but in str(value):
            bare[name] = value
    return bare


def signatures(raw: bytes) -> tuple[str, ...]:
    """A hash of each DKIM signature of an email: nobody can send a signed email again without one of them."""
    values = [b"".join(value.split()) for value in _SIGNATURE.findall(split(raw)[0])[:_MOST_SIGNATURES]]
    found = [re.search(rb"(?:^|;)b=([^;]+)", value) for value in values]
    # Some verifiers skip what is not base 64, and the last letter may have bits that do not count.
    plain = {re.sub(rb"[^A-Za-z0-9+/]", b"", each[1])[:-1] for each in found if each is not None}
    return tuple(sorted(hashlib.sha256(each).hexdigest()[:32] for each in plain))


def is_altered(message: Message) -> bool:
    """Whether an email has headers that someone may have added to a signed one, so that it passes for another email."""
    names = [name.strip().lower() for name, _value in message.raw_items()]
    once = ("message-id", "to", "cc")
    return any(names.count(name) > 1 for name in once) or names.count("dkim-signature") > _MOST_SIGNATURES


def verdicts(message: Message, authserv_id: str, received_above: int | None = None) -> tuple[str, ...]:
    """The results of our mail server as it writes them: `spf=pass`, `dkim=none`; for people to read."""
    return tuple(
        dict.fromkeys(f"{each.method}={each.result}" for each in _our_results(message, authserv_id, received_above))
    )


def _is_signed(results: list[authres.AuthenticationResult], domain: str) -> bool:
    signers = (_of(each, "d") for each in results if each.method == "dkim" and each.result == "pass")
    return any(signer and (domain == signer or domain.endswith(f".{signer}")) for signer in signers)


def _of(result: authres.AuthenticationResult, name: str) -> str:
    """The domain that a result is about; empty if it names none, or several: a sender may have written one of them."""
    values = [
        str(each.value) for each in result.properties if (each.type.lower(), each.name.lower()) == ("header", name)
    ]
    return values[0].rpartition("@")[2].rstrip(".").lower() if len(values) == 1 else ""


def _our_results(message: Message, authserv_id: str, received_above: int | None) -> list[authres.AuthenticationResult]:
    """The results of our mail server; empty if any of its headers cannot be parsed."""
    found: list[authres.AuthenticationResult] = []
    for value in _our_headers(message, authserv_id, received_above):
        if len(value) > LONGEST_HEADER:
            return []
        try:
            header = _READER.parse_value(value)
        except (authres.AuthResError, RecursionError):
            return []
        found += [each for each in header.results if isinstance(each, authres.AuthenticationResult)]
    return found


def _our_headers(message: Message, authserv_id: str, received_above: int | None) -> list[str]:
    """The values of the headers that our mail server has added, and nobody else can; none if any imitates them."""
    headers, received, stamped = _headers_of_note(message, authserv_id)
    if any(_names(headers[at][1], authserv_id) for at in _named(headers) if at not in stamped):
        return []
    if received_above is not None:
        # Without any `Received` there is no place that a stranger's header could not have.
        stamped = [at for at in stamped if received and _number_above(received, at) <= received_above]
    on_top = [at for at in stamped if received and at < received[0]]
    return [" ".join(headers[at][1].split()) for at in on_top or stamped[:1]]


def _headers_of_note(message: Message, authserv_id: str) -> tuple[list[tuple[str, str]], list[int], list[int]]:
    """All headers, and the places of `Received` and of the results that are in our mail server's exact form."""
    headers = [(name, str(value)) for name, value in message.raw_items()]
    received = [at for at, (name, _) in enumerate(headers) if name.strip().lower() == "received"]
    exact = re.compile(rf"{re.escape(authserv_id)}(?: 1)?;", re.IGNORECASE)
    stamped = [at for at in _named(headers) if headers[at][0] == headers[at][0].strip() and exact.match(headers[at][1])]
    return headers, received, stamped


def _named(headers: list[tuple[str, str]]) -> list[int]:
    """The places of all results, ours and those of strangers."""
    return [at for at, (name, _) in enumerate(headers) if name.strip().lower() == _RESULTS]


def _number_above(received: list[int], at: int) -> int:
    return sum(above < at for above in received)


def _names(value: str, authserv_id: str) -> bool:
    """Whether a header could be read as one of this server, however it is spelled: with comments, folds or quotes."""
    bare = _COMMENT.sub(" ", _COMMENT.sub(" ", value.partition(";")[0]))
    names = [word.rstrip(".").lower() for word in re.findall(r'[^\s"()\\\x00-\x1f]+', bare)]
    return authserv_id.lower() in (*names, "".join(names))
