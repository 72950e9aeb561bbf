"""An LMTP client like a mail server: one answer for each recipient, read one at a time (RFC 2033).

The standard library's client reads one answer for all of them.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


class MailServer:
    """A mail server that delivers emails by LMTP."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._file = self._socket.makefile("rwb")

    def answer(self) -> str:
        while True:
            line = self._file.readline().decode()
            if line[3:4] != "-":
                return line.strip()

    def says(self, line: str) -> str:
        self.sends(line.encode() + b"\r\n")
        return self.answer()

    def sends(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()

    def greets(self) -> "MailServer":
        assert self.answer().startswith("220")
        assert self.says("LHLO mx.example.net").startswith("250")
        return self

    def hands_in(self, sender: str, recipients: list[str], raw: bytes) -> list[str]:
        """Deliver an email, and return the answer for each recipient."""
        assert self.says(f"MAIL FROM:<{sender}>").startswith("250")
        named = [self.says(f"RCPT TO:<{each}>") for each in recipients]
        assert all(answer.startswith("250") for answer in named)
        assert self.says("DATA").startswith("354")
        self.sends(raw + b"\r\n.\r\n")
        return [self.answer() for _ in recipients]

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@contextmanager
def connected(port: int) -> Iterator[MailServer]:
    server = MailServer(port)
    try:
        yield server.greets()
    finally:
        server.close()
