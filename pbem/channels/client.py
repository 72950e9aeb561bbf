"""The one HTTP client: it sends a request to an address that a person has typed, and to public addresses only.

A name is resolved once, every address that it has is checked, and the connection goes to one of those very addresses, so a
name server that answers differently the next time gains nothing. TLS is verified against the name. No redirect is
followed; size and time are limited. Nothing here knows what a message is, and no text that it returns or raises has the
path, the query or the headers of a request, in which secrets are.
"""

import http.client
import io
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

from pbem.domain.channels import Target

SECONDS: Final = 10.0
"""The time for a whole request, with looking up the name."""

LONGEST_ANSWER: Final = 65_536
"""Bytes of an answer that are read; no service that we know answers with more than a few thousand."""

_MOST_RECEIVED: Final = 4 * LONGEST_ANSWER
"""Bytes that are received for it, with headers and whatever else the protocol has no limit for."""

_IP = IPv4Address | IPv6Address
_SockAddress = tuple[Any, ...]

# From IANA's registries of special-purpose addresses, and not from `ipaddress`, whose idea of them differs by version.
_NOT_PUBLIC: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)
_PUBLIC: Final = IPv6Network("2000::/3")
"""All that is given out of IPv6. Mapped, translated, local and link-local addresses are outside of it."""

_WITHIN_NOT_PUBLIC: Final = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
"""Parts of it that are not public, or in which IPv4 addresses are hidden (Teredo, 6to4)."""


class Unreachable(Exception):
    """No connection could be made, or it broke; the text says why."""


class NotAllowed(Exception):
    """The target is nowhere that we connect to; the text says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request: its status, its headers in lower case, and the beginning of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


def is_public(address: _IP) -> bool:
    """Whether an address can be reached from all of the internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC)
    in_a_zone = address.scope_id is not None
    return not in_a_zone and address in _PUBLIC and not any(address in network for network in _WITHIN_NOT_PUBLIC)


def look_up(host: str, port: int) -> list[_SockAddress]:
    """The addresses of a host, as sockets take them. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [address for *_rest, address in found]


@dataclass(frozen=True)
class Client:
    """Sends requests to the `internet`. With `loopback`, also to this machine, for trying out; `trust` has the certificates to be
    trusted.
    """

    loopback: bool = False
    internet: bool = True
    seconds: float = SECONDS
    trust: ssl.SSLContext | None = None
    look_up: Callable[[str, int], list[_SockAddress]] = look_up

    def send(self, method: str, target: Target, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a request to a target, with this path. Raises Unreachable or NotAllowed."""
        connection = _Connection(self, target)
        watchdog = threading.Timer(self.seconds, connection.hang_up)
        watchdog.daemon = True
        watchdog.start()
        try:
            connection.request(method, path, body, {"User-Agent": "pbem", **headers})
            answer = connection.getresponse()
            lower = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, lower, answer.read(LONGEST_ANSWER))
        except (OSError, http.client.HTTPException, ValueError) as error:
            too_slow = connection.hung_up or isinstance(error, TimeoutError)
            # The text of an error may quote the request.
            raise Unreachable("it took too long" if too_slow else _in_words(error)) from None
        finally:
            watchdog.cancel()
            connection.close()

    @cached_property
    def certificates(self) -> ssl.SSLContext:
        """The certificates that are trusted: those of the machine by default."""
        return self.trust or ssl.create_default_context()

    def addresses(self, target: Target) -> list[_SockAddress]:
        """The checked addresses of a target. Raises NotAllowed if any of them is not public, or Unreachable."""
        found: list[_SockAddress] = []
        failed: list[Exception] = []

        def resolve() -> None:
            try:
                found.extend(self.look_up(target.host, target.port))
            except (OSError, UnicodeError) as error:
                failed.append(error)

        # A name server may take its time, and nothing else ends the wait for it.
        thread = threading.Thread(target=resolve, daemon=True)
        thread.start()
        thread.join(self.seconds)
        if thread.is_alive() or failed or not found:
            raise Unreachable("its name has no address")
        for address in found:
            self._check(ip_address(address[0]))
        return found

    def _check(self, address: _IP) -> None:
        if not (is_public(address) or (self.loopback and address.is_loopback)):
            raise NotAllowed("its address isn't public")
        if not (self.internet or address.is_loopback):
            raise Unreachable("this server has no mail relay, so it sends nothing to anyone elsewhere")


class _Received(io.RawIOBase):
    """What a service sends. It ends at a limit."""

    def __init__(self, line: io.BufferedIOBase) -> None:
        self._line = line
        self._left = _MOST_RECEIVED

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._line.readinto1(memoryview(buffer)[: self._left])
        self._left -= count
        return count

    def close(self) -> None:
        self._line.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """An answer, received up to the limit: the library itself goes on without end if a service does."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fp = io.BufferedReader(_Received(self.fp))


class _Connection(http.client.HTTPConnection):
    """A connection to one of the checked addresses of a target, under its name."""

    response_class = _Response

    def __init__(self, client: Client, target: Target) -> None:
        super().__init__(target.host, target.port, timeout=client.seconds)
        # What the name of the host in the request leaves out.
        self.default_port = 443 if target.encrypted else 80
        self._client = client
        self._target = target
        self._line: socket.socket | None = None
        self.hung_up = False

    def connect(self) -> None:
        failed: OSError = OSError("no address")
        for address in self._client.addresses(self._target):
            if self.hung_up:
                break
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
            line = socket.socket(family, socket.SOCK_STREAM)
            line.settimeout(self._client.seconds)
            # Encryption takes the socket over; this handle stays below it, to hang up in any phase.
            self._let_go()
            self._line = line.dup()
            try:
                line.connect(address)
                self.sock = line
                if self._target.encrypted:
                    self.sock = self._client.certificates.wrap_socket(line, server_hostname=self._target.host)
                return
            except OSError as error:
                line.close()
                failed = error
        raise failed

    def hang_up(self) -> None:
        """Break the connection, whatever is going on."""
        self.hung_up = True
        if self._line is not None:
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        self._let_go()

    def _let_go(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()


def _in_words(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "its certificate isn't valid" if isinstance(error, ssl.SSLCertVerificationError) else "no encryption"
    if isinstance(error, ConnectionRefusedError):
        return "it refused the connection"
    return "the connection broke" if isinstance(error, OSError) else "it doesn't speak HTTP"
