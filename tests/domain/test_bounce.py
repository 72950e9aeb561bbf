"""Refusals: the address is gone, it takes nothing now, or the refusal is not about the address."""

import pytest

from pbem.domain.bounce import is_about_sender, is_gone


@pytest.mark.parametrize(
    ("answer", "gone", "about_sender"),
    [
        ("550 5.1.1 no such user", True, False),
        ("550 5.1.10 recipient not found", True, False),
        ("550 no such user here", True, False),
        ("551 user not local", True, False),
        ("553 mailbox name not allowed", True, False),
        ("550 5.1.1 user unknown; blocked for spam", True, False),
        ("552 5.2.2 mailbox full", False, False),
        ("552 mailbox full", False, False),
        ("550 5.2.1 mailbox disabled", False, False),
        ("554 5.0.0 no", False, False),
        ("550 5.7.1 we do not like you", False, True),
        ("550 5.7.515 access denied, sender does not meet the required authentication level", False, True),
        ("550 5.4.4 no route", False, True),
        ("552 5.3.4 message too big", False, True),
        ("554 5.0.0 rejected as spam", False, True),
        ("550 5.2.0 blocked by local policy", False, True),
        ("550 your IP is on a blacklist", True, True),
        ("450 4.1.1 try later", False, False),
    ],
)
def test_a_refusal_is_about_the_address_or_the_sender(answer, gone, about_sender):
    assert is_gone(answer) is gone
    assert is_about_sender(answer) is about_sender
