"""Checks of DNS records: what receivers would see, and the remedies."""

import re

import pytest

from pbem.config.settings import Dkim
from pbem.domain.finding import Severity
from pbem.mail.dns.nameserver import Nameserver
from pbem.mail.dns.records import MailSetup, check, sending_addresses
from pbem.mail.dns.spf import MOST_LOOKUPS, Evaluation, InvalidRecord
from pbem.mail.send.dkim import signer
from tests.mail.test_dkim import KEY, RECORD
from tests.mail.zone import Zone

OUR_ADDRESS = "198.51.100.7"
DOMAIN = "games.example.org"
KEY_AT = f"pbem._domainkey.{DOMAIN}"
SENDING = MailSetup(DOMAIN, DOMAIN, "pbem", signer(Dkim(DOMAIN, "pbem", KEY)).record(), (OUR_ADDRESS,))


def in_zone(text):
    """A record in strings, as in zone files."""
    return " ".join(f'"{text[at : at + 200]}"' for at in range(0, len(text), 200))


GOOD = {
    (DOMAIN, "MX"): ["10 mail.games.example.org."],
    (DOMAIN, "TXT"): ['"something else"', '"v=spf1 mx ~all"'],
    ("mail.games.example.org", "A"): [OUR_ADDRESS],
    (KEY_AT, "TXT"): [in_zone(RECORD.decode())],
    ("_dmarc.example.org", "TXT"): ['"v=DMARC1; p=reject; sp=quarantine"'],
    ("7.100.51.198.in-addr.arpa", "PTR"): ["mail.games.example.org."],
}


@pytest.fixture
def zone():
    """A DNS server with all the right records."""
    with Zone(dict(GOOD)) as found:
        yield found


def findings(zone, sending=SENDING):
    """The findings by name."""
    return {found.what: found for found in check(Nameserver(zone.server), sending)}


def test_correct_records_need_no_remedy(zone):
    found = findings(zone)
    assert list(found) == ["mx", "spf", "dkim", "dmarc", "ptr"]
    assert {each.severity for each in found.values()} == {Severity.OK}
    assert not any(each.remedy for each in found.values())


def test_every_missing_record_has_a_remedy(zone):
    zone.records.clear()
    found = findings(zone)
    assert {each.severity for each in found.values()} == {Severity.ERROR}
    assert f'{DOMAIN}. TXT "v=spf1 ip4:{OUR_ADDRESS} ~all"' in found["spf"].remedy
    assert f"{DOMAIN}. MX 10" in found["mx"].remedy
    assert f'_dmarc.{DOMAIN}. TXT "v=DMARC1; p=quarantine; rua=' in found["dmarc"].remedy
    strings = re.findall(r'"([^"]*)"', found["dkim"].remedy)
    assert "".join(strings) == RECORD.decode()
    assert max(map(len, strings)) <= 255
    # The remedy is what the check accepts.
    zone.records[DOMAIN, "TXT"] = [f'"v=spf1 ip4:{OUR_ADDRESS} ~all"']
    zone.records[KEY_AT, "TXT"] = [found["dkim"].remedy.partition(" TXT ")[2]]
    zone.records[f"_dmarc.{DOMAIN}", "TXT"] = [found["dmarc"].remedy.partition(" TXT ")[2]]
    found = findings(zone)
    assert {found[what].severity for what in ("spf", "dkim", "dmarc")} == {Severity.OK}


@pytest.mark.parametrize(
    "what, name, kind, value, severity, says",
    [
        ("mx", DOMAIN, "MX", "0 .", Severity.ERROR, "accepts no email"),
        ("mx", DOMAIN, "MX", "10 gone.example.org.", Severity.ERROR, "no MX record"),
        ("spf", DOMAIN, "TXT", '"v=spf1 ip4:203.0.113.0/24 -all"', Severity.ERROR, f"doesn't let {OUR_ADDRESS}"),
        ("spf", DOMAIN, "TXT", '"v=spf1 mxx ~all"', Severity.ERROR, "can't read “mxx”"),
        ("spf", DOMAIN, "TXT", '"v=spf1 ip4:300.1.2.3 ~all"', Severity.ERROR, "isn't a network"),
        ("dkim", KEY_AT, "TXT", '"v=DKIM1; p="', Severity.ERROR, "revoked"),
        ("dkim", KEY_AT, "TXT", '"v=DKIM1; p=AAAA"', Severity.ERROR, "isn't the one"),
        ("dkim", KEY_AT, "TXT", in_zone(RECORD.decode() + "; t=y"), Severity.WARNING, "marked as a test"),
        ("dmarc", f"_dmarc.{DOMAIN}", "TXT", '"v=DMARC1; p=none"', Severity.WARNING, "p=none"),
        ("dmarc", f"_dmarc.{DOMAIN}", "TXT", '"v=DMARC1; p=whatever"', Severity.ERROR, "can't be read"),
        ("ptr", "7.100.51.198.in-addr.arpa", "PTR", "other.example.net.", Severity.ERROR, "doesn't lead back"),
    ],
)
def test_a_wrong_record_is_reported_alone(zone, what, name, kind, value, severity, says):
    zone.records[name, kind] = [value]
    found = findings(zone)
    assert found[what].severity is severity
    assert says in found[what].says
    if what != "mx":
        assert [each.what for each in found.values() if each.severity is not Severity.OK] == [what]


def test_two_spf_records_count_as_none(zone):
    zone.records[DOMAIN, "TXT"] = ['"v=spf1 mx ~all"', '"v=spf1 a ~all"']
    assert "2 SPF records" in findings(zone)["spf"].says


def test_the_key_of_a_relay_is_checked_without_its_private_half(zone):
    relays = MailSetup(DOMAIN, DOMAIN, "pbem", "", (OUR_ADDRESS,))
    assert findings(zone, relays)["dkim"].severity is Severity.OK
    zone.records[KEY_AT, "TXT"] = [
        '"v=DKIM1; p=MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAJyr8bwhxsZNdYpkQV/SkbRCQcgDzMTi9IryqI/lgsbk1xwgkcQ2sQoPKF4MuYDZT4FwnSGYpqVxVj1jFeE45dECAwEAAQ=="'
    ]
    assert "512 bits" in findings(zone, relays)["dkim"].says
    assert findings(zone, MailSetup(DOMAIN, DOMAIN))["dkim"].severity is Severity.OK


def test_an_unknown_address_is_asked_for_and_an_open_spf_record_is_found(zone):
    unknown = MailSetup(DOMAIN, DOMAIN)
    assert findings(zone, unknown)["spf"].severity is Severity.WARNING
    zone.records[DOMAIN, "TXT"] = ['"v=spf1 +all"']
    assert "anyone" in findings(zone, unknown)["spf"].says


def test_an_unreachable_dns_is_reported_once_without_blaming_a_record(zone):
    zone.is_silent = True
    (found,) = check(Nameserver(zone.server, patience=0.2), SENDING)
    assert (found.what, found.severity) == ("dns", Severity.ERROR)
    assert "PBEM_MAIL_NAMESERVER" in found.remedy


def test_emails_leave_from_the_relay_or_if_it_is_internal_from_the_domain(zone):
    asked = Nameserver(zone.server)
    zone.records["relay.example.net", "A"] = ["8.8.8.8"]
    zone.records["relay.example.net", "AAAA"] = ["2001:4860:4860::8888"]
    zone.records[DOMAIN, "A"] = ["9.9.9.9"]
    assert sending_addresses(asked, "relay.example.net", DOMAIN) == ("8.8.8.8", "2001:4860:4860::8888")
    zone.records["localhost", "A"] = ["127.0.0.1"]
    assert sending_addresses(asked, "localhost", DOMAIN) == sending_addresses(asked, "10.1.2.3", DOMAIN) == ("9.9.9.9",)
    assert sending_addresses(asked, "localhost", "nowhere.example") == ()


SPF = {
    ("a.example", "TXT"): ['"v=spf1 a mx:b.example/30 include:c.example ?ip6:2001:db8::/32 -all"'],
    ("a.example", "A"): ["198.51.100.1"],
    ("b.example", "MX"): ["5 mx.b.example."],
    ("mx.b.example", "A"): ["198.51.100.8"],
    ("c.example", "TXT"): ['"v=spf1 ip4:203.0.113.5 redirect=d.example"'],
    ("d.example", "TXT"): ['"v=spf1 ip4:203.0.113.6 ~all"'],
    ("loop.example", "TXT"): ['"v=spf1 include:loop.example -all"'],
    ("far.example", "TXT"): ['"v=spf1 a/24//64 exists:%{i}.x.example ~all"'],
    ("far.example", "AAAA"): ["2001:db8:1::1"],
}


@pytest.mark.parametrize(
    "domain, address, result",
    [
        ("a.example", "198.51.100.1", "pass"),
        ("a.example", "198.51.100.11", "pass"),
        ("a.example", "198.51.100.12", "fail"),
        ("a.example", "203.0.113.5", "pass"),
        ("a.example", "203.0.113.6", "pass"),
        ("a.example", "2001:db8::1", "neutral"),
        ("d.example", "203.0.113.7", "softfail"),
        ("far.example", "2001:db8:1::ff", "pass"),
        ("far.example", "198.51.100.1", "softfail"),
        ("none.example", "198.51.100.1", "none"),
    ],
)
def test_a_record_is_evaluated_as_by_a_receiver(domain, address, result):
    with Zone(SPF) as zone:
        assert Evaluation(Nameserver(zone.server)).result(domain, address) == result


def test_a_circular_record_has_an_end():
    with Zone(SPF) as zone, pytest.raises(InvalidRecord, match=f"more than {MOST_LOOKUPS}"):
        Evaluation(Nameserver(zone.server)).result("loop.example", OUR_ADDRESS)
