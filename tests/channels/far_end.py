"""The far end of every channel: a web server on this machine that keeps what it gets, and answers as a test says."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from pbem.channels.client import Answer, Client
from pbem.domain.channels import Target
from pbem.service.outgoing.channel_messages import code_of
from pbem.service.server import Server
from pbem.store import channels

Reply = tuple[int, dict[str, str], bytes]
"""A status, headers and a body."""


@dataclass(frozen=True)
class Request:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


def code_sent_to(server: Server, channel_id: int) -> str:
    """The code that a channel gets."""
    channel = server.query(channels.read, channel_id)
    assert channel is not None
    return code_of(server, channel)


def usual(request: Request) -> Reply:
    """Accepts everything, and names the message in the way of each service."""
    ids = {"id": "11", "event_id": "$event:example.org", "result": {"message_id": 12}}
    return 200, {}, json.dumps(ids).encode()


def status(number: int, **headers: str) -> Callable[[Request], Reply]:
    """Answers with a status."""
    return lambda _request: (number, {name.replace("_", "-"): value for name, value in headers.items()}, b"no")


class Services(Client):
    """Every service at once, without a network."""

    def __init__(self, answer: Callable[[Request], Reply] = usual) -> None:
        super().__init__()
        # What a frozen class has in it may change.
        self.__dict__["answer"] = answer

    def send(self, method: str, target: Target, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        answer: Callable[[Request], Reply] = self.__dict__["answer"]
        return Answer(*answer(Request(method, path, dict(headers), body)))


class FarEnd:
    """The server; `replies` are used up first, then `reply` answers."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.reply: Callable[[Request], Reply] = usual
        self.replies: list[Callable[[Request], Reply]] = []
        far_end = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(
                    self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body
                )
                far_end.requests.append(request)
                reply = far_end.replies.pop(0) if far_end.replies else far_end.reply
                number, headers, text = reply(request)
                self.send_response(number)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = _any  # noqa: N815 - the names of the library

            def log_message(self, *_args: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
