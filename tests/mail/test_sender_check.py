"""Senders: all the ways to forge one, and the few in which a player is authenticated."""

from email.message import Message

import pytest

from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.sender_check import LONGEST_HEADER, is_authenticated, place_of_results, sender_of

OUR_ADDRESS = "play.example.org"
GOOD = f"Authentication-Results: {OUR_ADDRESS}; dmarc=pass (p=reject dis=none) header.from=example.net"


def email(*headers: str, sender: str = "From: Ann <ann@example.net>") -> Message:
    return parse(sanitise("\r\n".join([*headers, sender, "", "bid 7", ""]).encode(), "ann@example.net"))


def vouched(*headers: str, address: str = "ann@example.net", above: int | None = None) -> bool:
    return is_authenticated(email(*headers), address, OUR_ADDRESS, above)


# The address


@pytest.mark.parametrize(
    "sender",
    [
        "From: ann@example.net",
        "From: Ann <ann@example.net>",
        'From: "Ann, of <there>" <ann@example.net>',
        "From: =?utf-8?q?=C3=84nn?= <ann@example.net>",
        "from:\r\n Ann\r\n <ann@example.net>",
    ],
)
def test_one_plain_sender_is_read(sender: str) -> None:
    assert sender_of(email(sender=sender)) == "ann@example.net"


@pytest.mark.parametrize(
    "sender",
    [
        "From: ann@example.net)<ben@evil.example>",
        "From: ann@example.net <ben@evil.example>",
        "From: ann@example.net, ben@evil.example",
        "From: ann@example.net\r\nFrom: ben@evil.example",
        "From: ann@example.net\r\nFrom : ben@evil.example",
        "From : ben@evil.example\r\nFrom: ann@example.net",
        "From: players: ann@example.net;",
        "From: <ann@example.net> <ben@evil.example>",
        "From: ann@example.net\0@evil.example",
        "From: =?utf-8?q?ann=40example=2Enet?=",
        "From: ann@ex\u0430mple.net",
        "From: @evil.example:ann@example.net",
        "From:",
        "From: <>",
        "From: ann",
        "X-From: ann@example.net",
        "From: " + "(" * 990,
        "From: " + '"' * 30 + "ann@example.net",
        "From: ann@example.net" + " ," * 800,
    ],
)
def test_an_ambiguous_sender_is_nobody(sender: str) -> None:
    assert sender_of(email(sender=sender)) is None


def test_a_quoted_local_part_is_an_ordinary_address() -> None:
    assert sender_of(email(sender='From: "ann <x>"@example.net')) == '"ann <x>"@example.net'


# Authentication by our own mail server


@pytest.mark.parametrize(
    "header",
    [
        GOOD,
        GOOD.upper().replace("AUTHENTICATION", "Authentication"),
        f"Authentication-Results: {OUR_ADDRESS}; dkim=pass (2048-bit key) header.d=example.net header.i=@example.net header.b=x",
        f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.i=@example.net header.d=example.net;\r\n dmarc=none header.from=example.net",
        f"Authentication-Results: {OUR_ADDRESS} 1; spf=fail smtp.mailfrom=evil.example; dmarc=pass header.from=example.net",
        f"Authentication-Results: {OUR_ADDRESS}; dkim=fail header.d=example.net; dkim=pass header.d=example.net",
    ],
)
def test_the_results_of_our_mail_server_count(header: str) -> None:
    assert vouched(header)


FORGED = {
    "no header at all": [],
    "somebody else's header": ["Authentication-Results: evil.example; dmarc=pass header.from=example.net"],
    "a name that begins like ours": [
        f"Authentication-Results: {OUR_ADDRESS}.evil.example; dmarc=pass header.from=example.net"
    ],
    "our name in a comment": [
        f"Authentication-Results: ({OUR_ADDRESS}) evil.example; dmarc=pass header.from=example.net"
    ],
    "a forged header below ours": [f"Authentication-Results: {OUR_ADDRESS}; dmarc=fail header.from=example.net", GOOD],
    "a forged header below an empty one of ours": [f"Authentication-Results: {OUR_ADDRESS}; none", GOOD],
    "a forged header below one of ours that cannot be read": [
        f"Authentication-Results: {OUR_ADDRESS}; dmarc=pa(ss",
        GOOD,
    ],
    "a forged header below an endless one of ours": [
        f"Authentication-Results: {OUR_ADDRESS}; dkim=fail" + "\r\n ; dkim=fail" + " (x)" * (LONGEST_HEADER // 4),
        GOOD,
    ],
    "comments without an end": [f"Authentication-Results: {OUR_ADDRESS}; " + "\r\n (" * 400],
    "SPF alone": [f"Authentication-Results: {OUR_ADDRESS}; spf=pass smtp.mailfrom=ann@example.net"],
    "DMARC of another domain": [f"Authentication-Results: {OUR_ADDRESS}; dmarc=pass header.from=evil.example"],
    "DMARC of a domain above": [f"Authentication-Results: {OUR_ADDRESS}; dmarc=pass header.from=net"],
    "DMARC that names no domain": [f"Authentication-Results: {OUR_ADDRESS}; dmarc=pass"],
    "DMARC in a comment": [f"Authentication-Results: {OUR_ADDRESS}; dmarc=fail (dmarc=pass) header.from=example.net"],
    "DMARC that fails beside a signature": [
        f"Authentication-Results: {OUR_ADDRESS}; dmarc=fail header.from=example.net; dkim=pass header.d=example.net"
    ],
    "another domain's signature": [f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.d=evil.example"],
    "a signature of a domain that ends alike": [f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.d=ample.net"],
    "a signature of a domain below": [f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.d=evil.example.net"],
    "a signature that fails": [f"Authentication-Results: {OUR_ADDRESS}; dkim=fail header.d=example.net"],
    "a signature that names no domain": [f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.i=@example.net"],
    "a signature of two domains": [
        f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.d=evil.example header.d=example.net"
    ],
    "DMARC of two domains": [
        f"Authentication-Results: {OUR_ADDRESS}; dmarc=pass header.from=evil.example header.from=example.net"
    ],
    "a header in another one": [f"X-Authentication-Results: {OUR_ADDRESS}; dmarc=pass header.from=example.net"],
    "a result in the text": ["Subject: x", "", GOOD],
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_results_do_not_count(forgery: str) -> None:
    assert not vouched(*FORGED[forgery])


IMITATIONS = {
    "a comment before our name": f"Authentication-Results: (x) {OUR_ADDRESS}; dmarc=pass header.from=example.net",
    "two comments": f"Authentication-Results: (x (y)) {OUR_ADDRESS}; dmarc=pass header.from=example.net",
    "a comment after our name": f"Authentication-Results: {OUR_ADDRESS} (x); dmarc=pass header.from=example.net",
    "a comment and a version": f"Authentication-Results: {OUR_ADDRESS} (x) 1; dmarc=pass header.from=example.net",
    "another version": f"Authentication-Results: {OUR_ADDRESS} 2; dmarc=pass header.from=example.net",
    "our name in quotes": f'Authentication-Results: "{OUR_ADDRESS}"; dmarc=pass header.from=example.net',
    "a fold before our name": f"Authentication-Results:\r\n {OUR_ADDRESS}; dmarc=pass header.from=example.net",
    "a fold after our name": f"Authentication-Results: {OUR_ADDRESS}\r\n ; dmarc=pass header.from=example.net",
    "a dot after our name": f"Authentication-Results: {OUR_ADDRESS}.; dmarc=pass header.from=example.net",
    "a semicolon in a comment": f"Authentication-Results: {OUR_ADDRESS} (;); dmarc=pass header.from=example.net",
}


@pytest.mark.parametrize("imitation", IMITATIONS)
def test_only_our_exact_form_counts_and_nothing_counts_beside_an_imitation(imitation: str) -> None:
    assert not vouched(IMITATIONS[imitation])
    assert not vouched(GOOD, IMITATIONS[imitation])
    assert vouched(GOOD, "Authentication-Results: (x) mx.example.net; dmarc=fail header.from=example.net")


RECEIVED = f"Received: from mail.example.net by {OUR_ADDRESS}; Sat, 21 Nov 2026 12:00:00 +0000"
NO_POLICY = f"Authentication-Results: {OUR_ADDRESS}; dmarc=none header.from=example.net"
SIGNED = f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.d=example.net"


def test_all_results_above_our_servers_received_line_count() -> None:
    assert vouched(NO_POLICY, SIGNED, RECEIVED)
    assert vouched(RECEIVED, SIGNED)
    assert not vouched(NO_POLICY, f"{SIGNED} (", RECEIVED)


def test_results_below_our_servers_received_line_do_not_count_beside_one_above() -> None:
    assert not vouched(NO_POLICY, RECEIVED, SIGNED)
    assert not vouched(NO_POLICY, RECEIVED, SIGNED, RECEIVED)
    assert not vouched(RECEIVED, NO_POLICY, SIGNED)


BAD = f"Authentication-Results: {OUR_ADDRESS}; dmarc=fail header.from=example.net"
BY_US, BY_OTHERS = f"Received: from example.net by {OUR_ADDRESS}", "Received: from home by example.net"
INSIDE = f"Received: from {OUR_ADDRESS} by inside.example.org"


@pytest.mark.parametrize(
    ("above", "headers", "counts"),
    [
        # Above our own Received, as a milter writes: nothing below counts, whether there is one above or not.
        (0, (GOOD, BY_US, BY_OTHERS), True),
        (0, (BY_US, GOOD, BY_OTHERS), False),
        (0, (BY_US, BY_OTHERS, GOOD), False),
        (0, (BAD, BY_US, GOOD), False),
        (0, (GOOD,), False),
        # Below it, or above it and handed on inside.
        (1, (BY_US, GOOD, BY_OTHERS), True),
        (1, (INSIDE, GOOD, BY_US), True),
        (1, (INSIDE, BY_US, GOOD), False),
        (1, (BY_US, BAD, GOOD), False),
        (1, (GOOD, BY_US, BAD), True),
        (2, (INSIDE, BY_US, GOOD, BY_OTHERS), True),
        (2, (INSIDE, BY_US, BY_OTHERS, GOOD), False),
        (None, (BY_US, BY_OTHERS, GOOD), True),
    ],
)
def test_results_count_only_where_our_mail_server_writes_them(
    above: int | None, headers: tuple[str, ...], counts: bool
) -> None:
    assert vouched(*headers, above=above) is counts


@pytest.mark.parametrize(
    ("headers", "place"),
    [
        ((GOOD, BY_US, BY_OTHERS), 0),
        ((BY_US, GOOD, BY_OTHERS), 1),
        ((INSIDE, BY_US, GOOD), 2),
        ((BY_US, BY_OTHERS), None),
        ((GOOD,), None),
        ((BY_US, GOOD.replace(OUR_ADDRESS, "mx.example.com")), None),
        ((BY_US, GOOD.replace("example.net", "forged.invalid")), None),
        ((BY_US, GOOD.replace("example.net", "forged.invalid"), INSIDE, GOOD), 2),
    ],
)
def test_an_email_shows_where_our_mail_server_writes_its_results(headers: tuple[str, ...], place: int | None) -> None:
    assert place_of_results(email(*headers), OUR_ADDRESS, besides="forged.invalid") == place


def test_a_domain_authenticates_those_below_it_and_not_those_above() -> None:
    signed = f"Authentication-Results: {OUR_ADDRESS}; dkim=pass header.d=%s"
    assert vouched(signed % "example.net", address="ann@mail.example.net")
    assert not vouched(signed % "mail.example.net", address="ann@example.net")
    assert not vouched(signed % "evil.co.uk", address="ann@co.uk")
