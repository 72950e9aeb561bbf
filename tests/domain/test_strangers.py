"""The mailbox that an address ends up in."""

import pytest

from pbem.domain.strangers import fold_aliases


@pytest.mark.parametrize(
    "address, mailbox",
    [
        ("ann@example.org", "ann@example.org"),
        ("ann+games@example.org", "ann@example.org"),
        ("ann+a+b@example.org", "ann@example.org"),
        ("ANN@Example.Org", "ann@example.org"),
        ("a.nn@example.org", "a.nn@example.org"),
        ("a.n.n+x@gmail.com", "ann@gmail.com"),
        ("a.nn@googlemail.com", "ann@gmail.com"),
        ("+ann@example.org", "+ann@example.org"),
    ],
)
def test_the_addresses_of_one_mailbox_are_one(address, mailbox):
    assert fold_aliases(address) == mailbox
