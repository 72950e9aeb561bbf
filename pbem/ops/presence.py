"""A web server without a worker shows that it's up, so that nobody runs out of time while pages can't be opened.

Where a process is both, its worker does this with its own heartbeat.
"""

import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from pbem.service.clocks import web_servers
from pbem.service.server import Server

_PATIENCE: Final = 5.0
"""Seconds to wait for the thread at the end."""

_log = structlog.get_logger(__name__)


def process_name() -> str:
    """A name that no other process has, with the machine and the number that an operator knows it by."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


@contextmanager
def presence(server: Server) -> Iterator[None]:
    """Show every few seconds, in a thread, that this web server is up."""
    stopping = threading.Event()
    thread = threading.Thread(target=_show, args=(server, process_name(), stopping), name="presence", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        # A database that doesn't answer must not keep the process from ending.
        thread.join(_PATIENCE)


def _show(server: Server, name: str, stopping: threading.Event) -> None:
    while True:
        try:
            outage = server.run(web_servers.beat, name)
            if outage is not None:
                _log.warning("outage_found", start=outage.start, end=outage.end)
        except Exception:  # noqa: BLE001 - the database is away, and no page can be opened either
            _log.warning("presence_not_shown", exc_info=True)
        if stopping.wait(web_servers.EVERY.total_seconds()):
            return
