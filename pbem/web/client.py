"""The client that sent a request, as its network, so that what everyone shares is not used up by one.

Behind a web server, the connection comes from there, and the client's address is in a header, which clients can forge. The
header is believed only from the proxies in the settings. The address is neither logged nor stored.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from flask import request

from pbem.config.fields import Networks
from pbem.web import site

Address = IPv4Address | IPv6Address

_ONE_CUSTOMER: Final = {4: 32, 6: 56}
"""How many bits of an address are the same for all that a provider gives one customer."""


def network() -> str:
    """The network of the client, which is one customer's; empty if it is unknown."""
    environ = request.environ
    client = _client(site.config().web.proxies, environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", ""))
    return "" if client is None else str(ip_network((client, _ONE_CUSTOMER[client.version]), strict=False))


@lru_cache(maxsize=1000)
def _client(proxies: Networks, peer: str, forwarded_for: str) -> Address | None:
    """The address of the client: the last that is no proxy, as each proxy adds the one before it at the end."""
    client = _address(peer)
    for hop in reversed(forwarded_for.split(",")):
        before = _address(hop.strip())
        if client is None or before is None or not any(client in proxy for proxy in proxies):
            break
        client = before
    return client


def _address(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A socket for both kinds writes IPv4 numbers as IPv6.
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
