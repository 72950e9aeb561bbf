"""Listening sockets of either kind of address, for every port that we open."""

import socket


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; `::` is every address of this machine, IPv4 too. Raises OSError."""
    family, _kind, _protocol, _name, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    both = host == "::" and socket.has_dualstack_ipv6()
    return socket.create_server(address[:2], family=family, dualstack_ipv6=both)


def with_port(host: str, port: int) -> str:
    """An address as URLs and logs have it: `127.0.0.1:8000`, `[::1]:8000`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
