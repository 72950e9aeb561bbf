"""DKIM signatures: receivers accept them, and nobody can change what they cover."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dkim
import pytest

from pbem.config.settings import Dkim
from pbem.domain.errors import BadInput
from pbem.mail.send.dkim import signer
from pbem.mail.wire import serialise
from tests.mail.test_wire import BOTH, EMAIL

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
    return signer(SETTINGS).sign(content, at)


def fields(content):
    """The tags of the signature."""
    first = content.split(b"\r\n\r\n")[0].replace(b"\r\n ", b" ").split(b"\r\n")[0]
    assert first.startswith(b"DKIM-Signature: ")
    pairs = first.removeprefix(b"DKIM-Signature: ").split(b";")
    return {
        name.strip().decode(): value.strip().decode() for name, _, value in (pair.partition(b"=") for pair in pairs)
    }


@pytest.mark.parametrize("email", [EMAIL, BOTH], ids=["text", "text and HTML"])
def test_a_signed_email_verifies_and_keeps_its_bytes(email):
    content = serialise(email)
    assert good(signed(content))
    assert signed(content).endswith(content)


def test_the_signature_is_the_same_on_every_try():
    assert signed() == signed()
    assert fields(signed())["t"] == str(int(WRITTEN.timestamp()))
    assert signed(at=WRITTEN + timedelta(seconds=1)) != signed()


def test_the_signature_has_the_usual_form_and_covers_headers_for_programs():
    found = fields(signed())
    assert (found["a"], found["c"]) == ("rsa-sha256", "relaxed/relaxed")
    assert (found["d"], found["s"]) == ("play.example.org", "pbem")
    named = [name.strip() for name in found["h"].split(":")]
    present = {name.lower() for name in [*PLAIN, "From", "To", "Subject", "Date", "Message-ID", "MIME-Version"]}
    assert present <= set(named)
    for name in ("from", "to", "subject", "date", "reply-to", "list-unsubscribe", "list-unsubscribe-post"):
        assert named.count(name) == 2, "once more than it is there"


def test_any_change_on_the_way_is_detected():
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
def test_no_second_header_that_mail_programs_show_can_be_added(added):
    assert not good(added.encode() + b"\r\n" + signed())
    # Reply-To is signed even without one, so that nobody can add it.
    assert not good(added.encode() + b"\r\n" + signed(serialise(EMAIL)))


def test_refolded_headers_and_dropped_blanks_change_nothing():
    folded = signed().replace(b"Subject: Sun Bid, ", b"Subject:  Sun Bid,\r\n  ")
    assert folded != signed()
    assert good(b"Received: from here by there\r\n" + folded)


@pytest.mark.parametrize(
    "key", ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", KEY.replace("MII", "AII")]
)
def test_an_invalid_key_is_refused_at_the_start_and_not_shown(key):
    with pytest.raises(BadInput, match="Emails can't be signed") as refusal:
        signer(replace(SETTINGS, private_key=key))
    assert KEY.split("\n")[1] not in str(refusal.value)
    assert KEY.split("\n")[1] not in repr(signer(SETTINGS))


def test_the_dns_record_is_the_public_half_of_the_key():
    assert signer(SETTINGS).record().encode() == RECORD
