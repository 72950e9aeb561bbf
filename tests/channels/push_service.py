"""A push service on this machine, which speaks to Chromium as Google's does, and to us as every push service must.

Chromium checks in and registers over HTTP, and keeps a line open on which notifications come. What is sent to an address
that it was given is passed on along that line, unread: it is encrypted for the browser.
"""

import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from socket import create_server, socket
from typing import Any, BinaryIO, Self
from urllib.parse import parse_qsl

from playwright.sync_api import Browser, BrowserContext

from pbem.channels.client import Client
from tests.conftest import find_tool
from tests.mail.sink import client_trust, server_tls

LOGIN, LOGGED_IN, PING, PONG, MESSAGE = 2, 3, 0, 1, 8
"""The kinds of packets on the line."""

VERSION = b"\x29"


def client_of(port: int) -> Client:
    """A client for which every name leads to the push service at a port of this machine, and is to be trusted."""
    trust = client_trust()
    trust.check_hostname = False
    return Client(loopback=True, trust=trust, look_up=lambda _host, _port: [("127.0.0.1", port)])


_NOTE = """
() => {
    self.shown = [];
    self.ended = [];
    const show = ServiceWorkerRegistration.prototype.showNotification;
    const close = Notification.prototype.close;
    ServiceWorkerRegistration.prototype.showNotification = function (title, options) {
        if (options.data.url) self.shown.push([title, options.body, options.data.url]);
        return show.call(this, title, options);
    };
    Notification.prototype.close = function () {
        if (this.data.url) self.ended.push(this.data.url);
        close.call(this);
    };
}
"""


class Notifications:
    """The notifications of turns and results in a browser, as its service worker shows and ends them.

    Chromium forgets a notification that someone asks for while it is being shown, so nobody may ask it all the time.
    """

    def __init__(self, browser: BrowserContext) -> None:
        (self._worker,) = browser.service_workers
        self._worker.evaluate(_NOTE)

    def new(self) -> list[tuple[str, str, str]]:
        """Title, text and link of those shown since the last call."""
        return [tuple(each) for each in self._worker.evaluate("() => self.shown.splice(0)")]

    def ended(self) -> list[str]:
        """The links of those that were ended."""
        found: list[str] = self._worker.evaluate("() => self.ended")
        return found


class PushService:
    """The service. `headers` are those of what was sent to browsers."""

    def __init__(self) -> None:
        self.headers: list[Mapping[str, str]] = []
        self._browsers: dict[str, Mapping[str, str]] = {}
        self._numbers = count(1)
        self._line: ssl.SSLSocket | None = None
        self._listening = create_server(("127.0.0.1", 0))
        self._chromium = ThreadingHTTPServer(("127.0.0.1", 0), _answering(self._answer_chromium))
        self._senders = ThreadingHTTPServer(("127.0.0.1", 0), _answering(self._take))
        self._senders.socket = server_tls().wrap_socket(self._senders.socket, server_side=True)

    @property
    def _arguments(self) -> list[str]:
        """What leads Chromium here."""
        here = f"http://127.0.0.1:{self._chromium.server_address[1]}"
        return [
            f"--gcm-checkin-url={here}/checkin",
            f"--gcm-registration-url={here}/register",
            f"--gcm-mcs-endpoint=https://127.0.0.1:{self._listening.getsockname()[1]}",
            "--ignore-certificate-errors",
        ]

    @property
    def port(self) -> int:
        """Where messages for browsers are taken."""
        number: int = self._senders.server_address[1]
        return number

    def browser(self, chromium: Browser, profile: Path, **settings: Any) -> BrowserContext:
        """A Chromium whose notifications come from here. Only one with a profile of its own has any."""
        return chromium.browser_type.launch_persistent_context(
            profile,
            executable_path=find_tool("chromium"),
            args=["--no-sandbox", "--disable-gpu", *self._arguments, *settings.pop("arguments", ())],
            ignore_default_args=["--disable-background-networking"],
            **settings,
        )

    def __enter__(self) -> Self:
        for serve in (self._chromium.serve_forever, self._senders.serve_forever, self._wait_for_lines):
            threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        for server in (self._chromium, self._senders):
            server.shutdown()
            server.server_close()
        self._listening.close()

    def _answer_chromium(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        if path == "/checkin":
            return 200, _number(1, 1) + _fixed(7, 4711) + _fixed(8, 815)
        name = f"browser-{next(self._numbers)}"
        self._browsers[name] = dict(parse_qsl(body.decode()))
        return 200, f"token={name}".encode()

    def _take(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        name = path.rpartition("/")[2]
        if name not in self._browsers:
            return 410, b""
        self.headers.append(headers)
        browser = self._browsers[name]
        parts = {"subtype": browser["X-subtype"], "content-encoding": headers["content-encoding"]}
        stanza = _text(3, browser["sender"].encode()) + _text(5, browser["app"].encode())
        for key, value in parts.items():
            stanza += _text(7, _text(1, key.encode()) + _text(2, value.encode()))
        stanza += _text(9, f"message-{next(self._numbers)}".encode()) + _text(21, body)
        assert self._line is not None
        self._line.sendall(_packet(MESSAGE, stanza))
        return 201, b""

    def _wait_for_lines(self) -> None:
        while True:
            try:
                found, _address = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._keep_up, args=(found,), daemon=True).start()

    def _keep_up(self, found: socket) -> None:
        """Serve a line until Chromium hangs up. The first is only a try, which it ends at once."""
        with (
            found,
            suppress(OSError),
            server_tls().wrap_socket(found, server_side=True) as line,
            line.makefile("rb") as packets,
        ):
            if packets.read(1) != VERSION:
                return
            line.sendall(VERSION)
            while kind := packets.read(1):
                packets.read(_varint(packets))
                if kind[0] == LOGIN:
                    line.sendall(_packet(LOGGED_IN, _text(1, b"login")))
                    self._line = line
                elif kind[0] == PING:
                    line.sendall(_packet(PONG, b""))


def _answering(answer: Any) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            number, text = answer(self.path, headers, body)
            self.send_response(number)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    return Handler


# What Google calls protocol buffers, as far as it is needed.


def _written(value: int) -> bytes:
    written = b""
    while value > 0x7F:
        written += bytes([value & 0x7F | 0x80])
        value >>= 7
    return written + bytes([value])


def _varint(packets: BinaryIO) -> int:
    value = shift = 0
    while True:
        (byte,) = packets.read(1)
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value


def _number(field: int, value: int) -> bytes:
    return _written(field << 3) + _written(value)


def _fixed(field: int, value: int) -> bytes:
    return _written(field << 3 | 1) + value.to_bytes(8, "little")


def _text(field: int, value: bytes) -> bytes:
    return _written(field << 3 | 2) + _written(len(value)) + value


def _packet(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + _written(len(content)) + content
