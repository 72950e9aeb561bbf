"""Whose request it is: the address of the connection, or what a trusted proxy says."""

from dataclasses import replace

import pytest

from pbem import config
from pbem.domain.errors import BadInput
from pbem.web import client
from tests.web.applications import application

FORGED = "192.0.2.99"


@pytest.fixture
def network(server, settings):
    """network(proxies, peer, forwarded for) -> the network of the client that sent this request."""

    def of(proxies, peer, forwarded_for=None):
        named = config.read({"PBEM_DATA_DIR": str(settings.data_dir), "PBEM_WEB_PROXIES": proxies}).web.proxies
        app = application(server, replace(settings, web=replace(settings.web, proxies=named)))
        headers = {} if forwarded_for is None else {"X-Forwarded-For": forwarded_for}
        with app.test_request_context("/", headers=headers, environ_base={"REMOTE_ADDR": peer}):
            return client.network()

    return of


def test_without_a_proxy_nobody_is_believed_about_their_address(network):
    assert network("", "198.51.100.7", FORGED) == "198.51.100.7/32"
    assert network("", "127.0.0.1", FORGED) == "127.0.0.1/32"


def test_a_header_from_elsewhere_than_the_proxy_is_not_believed(network):
    assert network("127.0.0.1", "198.51.100.7", FORGED) == "198.51.100.7/32"


@pytest.mark.parametrize(
    "proxies, peer, forwarded_for, who",
    [
        ("127.0.0.1", "127.0.0.1", "198.51.100.7", "198.51.100.7/32"),
        # What the client wrote itself stands before what our proxies have added.
        ("127.0.0.1", "127.0.0.1", f"{FORGED}, 198.51.100.7", "198.51.100.7/32"),
        ("127.0.0.1, 10.0.0.0/24", "10.0.0.5", f"{FORGED},198.51.100.7,127.0.0.1", "198.51.100.7/32"),
        ("127.0.0.1", "127.0.0.1", None, "127.0.0.1/32"),
        ("127.0.0.1", "127.0.0.1", f"{FORGED}, unknown", "127.0.0.1/32"),
        ("127.0.0.1", "::ffff:127.0.0.1", "198.51.100.7", "198.51.100.7/32"),
        ("[::1]", "::1", "2001:db8:1:2ff::9", "2001:db8:1:200::/56"),
        ("127.0.0.1", "", FORGED, ""),
    ],
)
def test_a_trusted_proxy_names_the_client(network, proxies, peer, forwarded_for, who):
    assert network(proxies, peer, forwarded_for) == who


def test_a_proxy_that_is_no_address_is_refused():
    with pytest.raises(BadInput, match="PBEM_WEB_PROXIES"):
        config.read({"PBEM_WEB_PROXIES": "localhost"})
