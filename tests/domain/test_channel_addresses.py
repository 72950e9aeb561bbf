"""Addresses of channels: however one is typed, it is kept in one form, and taken for the same as one that leads to the same place."""

import pytest

from pbem.domain.channels import ChannelKind, ChannelRules, parse_address, same_addresses
from pbem.domain.errors import BadInput

RULES = ChannelRules(http=True)

SPELLINGS = {
    (ChannelKind.WEBHOOK, "https://example.org/hook?a=%2F1"): [
        "HTTPS://Example.ORG/hook?a=%2f1",
        "https://example.org:443/hook?a=%2F1",
        "https://example.org./%68ook?a=%2F%31",
        "https://example.org/a/.././hook?a=%2F1",
        "https://example.org/a/%2e%2E/hook?a=%2F1",
        "  https://example.org:0443/hook?a=%2F1 ",
    ],
    (ChannelKind.WEBHOOK, "https://example.org/"): [
        "https://example.org",
        "https://example.org?",
        "https://example.org/.",
    ],
    (ChannelKind.WEBHOOK, "http://example.org/hook"): ["http://EXAMPLE.org:80/hook?"],
    (ChannelKind.WEBHOOK, "https://xn--bcher-kva.example/hook"): ["https://XN--BCHER-KVA.example/hook"],
    (ChannelKind.NTFY, "https://ntfy.sh/Topic"): [
        "https://NTFY.sh/%54opic",
        "https://ntfy.sh/Topic/",
        "https://ntfy.sh/x/../Topic",
    ],
    (ChannelKind.DISCORD, "https://discord.com/api/webhooks/12/Ab-c"): [
        "https://discordapp.com/api/webhooks/12/Ab-c",
        "https://canary.discord.com/api/v10/webhooks/12/Ab-c/",
        "https://ptb.discord.com/api/webhooks/0012/Ab%2Dc",
    ],
    (ChannelKind.TELEGRAM, "https://api.telegram.org/-12"): ["-12", "-0012", "https://api.telegram.org/-12/"],
    (ChannelKind.TELEGRAM, "https://api.telegram.org/@chat"): ["@Chat", "@chat", "https://api.telegram.org:443/@CHAT"],
    (ChannelKind.MATRIX, "https://matrix.example.org/!Room:example.org"): [
        "https://matrix.example.org/!Room:Example.org",
        "https://matrix.example.org/%21Room%3Aexample.org",
        "https://matrix.example.org/!Room:example.org/",
    ],
}


@pytest.mark.parametrize(("kind", "address"), SPELLINGS)
def test_an_address_has_one_form_however_it_is_typed(kind, address):
    for typed in (address, *SPELLINGS[kind, address]):
        assert parse_address(kind, typed, RULES) == address, typed


def test_its_form_is_not_changed_when_it_is_read_again():
    for kind, address in SPELLINGS:
        assert parse_address(kind, parse_address(kind, address, RULES), RULES) == address


@pytest.mark.parametrize(
    "typed", ["https://bücher.example/hook", "https://b%C3%BCcher.example/hook", "https://①.example/"]
)
def test_a_name_that_could_be_written_in_two_scripts_is_refused(typed):
    with pytest.raises(BadInput):
        parse_address(ChannelKind.WEBHOOK, typed, RULES)


def test_a_slash_at_the_end_and_encryption_make_no_other_address():
    one = same_addresses("https://example.org/hook")
    assert one == same_addresses("https://example.org/hook//") == same_addresses("http://example.org/hook/")
    assert not one & same_addresses("https://example.org/hook2")
    assert not one & same_addresses("https://example.org/Hook")


def test_different_addresses_stay_different():
    addresses = [
        "https://example.org/a%2Fb",
        "https://example.org/a/b",
        "https://example.org/A/b",
        "https://example.org/a/b?c",
    ]
    assert len({parse_address(ChannelKind.WEBHOOK, address, RULES) for address in addresses}) == len(addresses)
