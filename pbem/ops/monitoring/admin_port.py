"""The admin port: metrics, health and readiness, for the operator, on this machine only.

    /metrics   the numbers of the server, for Prometheus
    /health    200 as long as the process is alive; it asks nothing and nobody
    /ready     200 if it can do its work, 503 if not, and why, as JSON

Nothing is changed here, and nothing names a person, a token or a key. It is bound to the loopback address, whatever the
settings say of the site's; only a setting of its own changes that.
"""

import errno
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from typing import Final

import structlog

from pbem import sockets
from pbem.config.checks import is_local
from pbem.config.settings import Config
from pbem.domain import finding
from pbem.domain.errors import BadInput
from pbem.domain.finding import Finding, Severity
from pbem.ops.monitoring.prometheus import exposition
from pbem.ops.monitoring.readiness import readiness
from pbem.service.server import Server

_JSON: Final = "application/json"
_PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE: Final = 10
"""Seconds until a silent connection is closed, and until the doctor stops waiting."""

_log = structlog.get_logger(__name__)

Answer = tuple[int, str, bytes]
"""Status, content type and content."""


@contextmanager
def admin_port(server: Server, config: Config, worker: str | None = None) -> Iterator[None]:
    """Answer on the admin port in this context, if the settings name one. `worker` is this process's worker."""
    if not config.web.admin_port:
        yield
        return
    with answering(listening(config.web.admin_host, config.web.admin_port), server, config, worker):
        yield


def listening(host: str, port: int) -> socket.socket:
    """A socket on the admin port. Raises BadInput if it is taken."""
    try:
        found = sockets.listening(host, port)
        # Processes sharing the port race for each connection, and the losers must not block.
        found.settimeout(0)
        return found
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"Port {port} of {host}, for metrics and health, is in use.",
                why="Another program or another pbem is listening there.",
                remedy="Give each process its own (PBEM_WEB_ADMIN_PORT=8011), or 0 for none.",
            ) from error
        raise BadInput(
            f"Can't listen on {host}, port {port}.",
            why=f"{error.strerror or error}.",
            remedy="Correct PBEM_WEB_ADMIN_HOST and PBEM_WEB_ADMIN_PORT.",
        ) from error


@contextmanager
def answering(on: socket.socket, server: Server, config: Config, worker: str | None) -> Iterator[None]:
    """Answer connections to a socket, in threads."""
    listener = _Server(on, _routes(server, config, worker))
    thread = threading.Thread(target=listener.serve_forever, name="admin", daemon=True)
    thread.start()
    _log.info("admin_started", port=on.getsockname()[1])
    try:
        yield
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def look_at_port(config: Config) -> Iterator[Finding]:
    host, port = config.web.admin_host, config.web.admin_port
    if not port:
        yield finding.ok("admin port", "off; PBEM_WEB_ADMIN_PORT=8001 turns on metrics and health")
        return
    if not is_local(host):
        says = f"The admin port listens at {sockets.with_port(host, port)}, where other machines may reach it."
        remedy = "Set PBEM_WEB_ADMIN_HOST to 127.0.0.1, unless a firewall keeps others out."
        yield finding.warning("admin port", says, remedy)
    connection = HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/ready")
        answer = json.loads(connection.getresponse().read())
        troubles = [
            f"{each['what']}: {each['says']}" for each in answer["checks"] if each["severity"] == Severity.ERROR
        ]
    except OSError as error:
        says = f"Nothing answers at {host}, port {port} ({error.strerror or error})."
        yield finding.warning("admin port", says, "Start the server, or check its port.")
        return
    except (HTTPException, ValueError, KeyError, TypeError):
        says = f"A program other than pbem answers at {host}, port {port}."
        yield finding.error("admin port", says, "Give pbem another port: PBEM_WEB_ADMIN_PORT=8011")
        return
    finally:
        connection.close()
    if troubles:
        yield finding.error("admin port", f"The server isn't ready. {' '.join(troubles)}", "See above.")
    else:
        yield finding.ok("admin port", f"the server says it is ready ({host}, port {port})")


def _routes(server: Server, config: Config, worker: str | None) -> dict[str, Callable[[], Answer]]:
    return {
        "/metrics": lambda: (200, _PROMETHEUS, exposition(server, config)),
        "/health": lambda: (200, _JSON, _json({"alive": True, "version": version("pbem")})),
        "/ready": lambda: _ready(readiness(server, config, worker)),
    }


def _ready(found: list[Finding]) -> Answer:
    ready = all(each.severity is not Severity.ERROR for each in found)
    checks = [
        {"what": each.what, "severity": each.severity, "says": each.says, "remedy": each.remedy} for each in found
    ]
    return 200 if ready else 503, _JSON, _json({"ready": ready, "checks": checks})


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


class _Server(ThreadingHTTPServer):
    """Answers on an open socket, one thread for each connection."""

    daemon_threads = True

    def __init__(self, on: socket.socket, routes: dict[str, Callable[[], Answer]]) -> None:
        super().__init__(on.getsockname()[:2], _Handler, bind_and_activate=False)
        # The socket created by the base class was never bound.
        self.socket.close()
        self.socket = on
        self.routes = routes


class _Handler(BaseHTTPRequestHandler):
    """One request. Requests are not logged."""

    server: _Server
    timeout = _PATIENCE
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a known path."""
        status, kind, content = self._answer()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def do_HEAD(self) -> None:
        """The same without the content."""
        self.do_GET()

    def _answer(self) -> Answer:
        route = self.server.routes.get(self.path.partition("?")[0])
        if route is None:
            return 404, "text/plain; charset=utf-8", b"There are /metrics, /health and /ready.\n"
        try:
            return route()
        except Exception:  # noqa: BLE001 - monitoring has to see that something is wrong, and the log says what
            _log.exception("admin_failed")
            return 500, "text/plain; charset=utf-8", b"This could not be answered; the log says why.\n"

    def version_string(self) -> str:
        """Reveals no version."""
        return "pbem"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Logs nothing: monitoring asks every few seconds."""
