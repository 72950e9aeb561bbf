"""A mail's signature: whoever checks it in DNS's light believes it, and nobody can change what it covers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dkim
import pytest

from pbem.config import Dkim
from pbem.domain.errors import BadInput
from pbem.mail.send.dkim import signer
from pbem.mail.wire import serialise
from tests.mail.test_wire import BOTH, MAIL

KEY = Path(__file__).with_name("dkim.pem").read_text()
RECORD = Path(__file__).with_name("dkim.txt").read_bytes().strip()
SETTINGS = Dkim("play.example.org", "pbem", KEY)
WRITTEN = datetime(2026, 11, 21, 11, tzinfo=UTC)

PLAIN = {
    "List-Id": "<abc.games.play.example.org>",
    "List-Unsubscribe": f"<https://play.example.org/u/{'a2' * 16}b>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Feedback-ID": "abc:turn:pbem:play.example.org",
    "References": "<abc@play.example.org>",
    "Reply-To": f"r+{'a2' * 16}b@play.example.org",
}
CONTENT = serialise(replace(BOTH, plain=PLAIN))


def dns(name, timeout=5):
    """The DNS of the domain."""
    return RECORD if name == b"pbem._domainkey.play.example.org." else None


def good(content):
    return dkim.verify(content, dnsfunc=dns)


def signed(content=CONTENT, at=WRITTEN):
    return signer(SETTINGS).signed(content, at)


def fields(content):
    """The signature's own fields."""
    first = content.split(b"\r\n\r\n")[0].replace(b"\r\n ", b" ").split(b"\r\n")[0]
    assert first.startswith(b"DKIM-Signature: ")
    pairs = first.removeprefix(b"DKIM-Signature: ").split(b";")
    return {
        name.strip().decode(): value.strip().decode() for name, _, value in (pair.partition(b"=") for pair in pairs)
    }


@pytest.mark.parametrize("mail", [MAIL, BOTH], ids=["text", "text and HTML"])
def test_a_signed_mail_is_believed_and_its_bytes_are_still_there(mail):
    content = serialise(mail)
    assert good(signed(content))
    assert signed(content).endswith(content)


def test_it_is_the_same_signature_on_every_try_whatever_the_time_is():
    assert signed() == signed()
    assert fields(signed())["t"] == str(int(WRITTEN.timestamp()))
    assert signed(at=WRITTEN + timedelta(seconds=1)) != signed()


def test_it_is_made_as_receivers_like_it_and_covers_what_programs_act_on():
    found = fields(signed())
    assert (found["a"], found["c"]) == ("rsa-sha256", "relaxed/relaxed")
    assert (found["d"], found["s"]) == ("play.example.org", "pbem")
    named = [name.strip() for name in found["h"].split(":")]
    present = {name.lower() for name in [*PLAIN, "From", "To", "Subject", "Date", "Message-ID", "MIME-Version"]}
    assert present <= set(named)
    for name in ("from", "to", "subject", "date", "reply-to", "list-unsubscribe", "list-unsubscribe-post"):
        assert named.count(name) == 2, "once more than it is there"


def test_whatever_is_changed_on_the_way_is_noticed():
    whole = signed()
    for old, new in (
        (b"turn 3", b"turn 4"),
        (b"what do you bid?\r\n", b"what do you bid!\r\n"),
        (b"<p>Ann", b"<p>Ben"),
        (b"/u/a2", b"/u/b2"),
        (b"One-Click", b"One-Cluck"),
        (b"Feedback-ID: abc", b"Feedback-ID: abd"),
        (b"To: ", b"To: ben@example.org, "),
        (b"text/html", b"text/text"),
    ):
        assert old in whole
        assert not good(whole.replace(old, new)), old


@pytest.mark.parametrize(
    "added", ["From: mallory@example.com", "Subject: Win!", "To: x@y.example", "Reply-To: mallory@example.com"]
)
def test_nobody_adds_a_second_header_of_those_that_mail_programs_show(added):
    assert not good(added.encode() + b"\r\n" + signed())
    # Without Reply-To there is one none the less, for nobody to add.
    assert not good(added.encode() + b"\r\n" + signed(serialise(MAIL)))


def test_what_relays_do_to_headers_and_blanks_changes_nothing():
    folded = signed().replace(b"Subject: Sun Bid, ", b"Subject:  Sun Bid,\r\n  ")
    assert folded != signed()
    assert good(b"Received: from here by there\r\n" + folded)


@pytest.mark.parametrize(
    "key", ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", KEY.replace("MII", "AII")]
)
def test_a_key_that_is_none_is_refused_before_any_mail_and_not_shown(key):
    with pytest.raises(BadInput, match="cannot be signed") as refusal:
        signer(replace(SETTINGS, private_key=key))
    assert KEY.split("\n")[1] not in str(refusal.value)
    assert KEY.split("\n")[1] not in repr(signer(SETTINGS))


def test_what_it_asks_for_in_the_dns_is_the_other_half_of_its_key():
    assert signer(SETTINGS).record().encode() == RECORD
