"""Who counts as one: mailboxes with many addresses, and networks with many clients."""

import pytest

from pbem.domain.strangers import fold_aliases, network_of


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


@pytest.mark.parametrize(
    "address, network",
    [
        ("192.0.2.77", "192.0.2.0/24"),
        ("::ffff:192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_the_addresses_of_one_customer_are_one_network(address, network):
    assert network_of(address) == network
