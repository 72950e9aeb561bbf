"""How gunicorn runs the site: several processes on one PostgreSQL, which share a port for pages and one for the admin.

    gunicorn --config python:pbem.ops.gunicorn

Gunicorn reads the names of this module as its settings and hooks; its command line wins. The processes count into files of
a common folder, and each answers on the admin port for all of them. `pbem worker` does the rest.
"""

import os
import shutil
import socket
import tempfile
from contextlib import ExitStack
from typing import Any, Final

from gunicorn.glogging import Logger

from pbem import program_log, sockets
from pbem.config import read
from pbem.config.settings import Config
from pbem.domain.errors import BadInput, Forbidden, PbemError


def _read_settings() -> Config:
    try:
        return read(os.environ)
    except BadInput as refusal:
        raise SystemExit(str(refusal)) from None


_SETTINGS: Final = _read_settings()

_COUNTS: Final = tempfile.mkdtemp(prefix="pbem-counts-")
# Whether counts are shared is settled when the library is imported, which the modules below do.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = _COUNTS

from pbem.ops.monitoring import admin_port  # noqa: E402
from pbem.ops.presence import presence  # noqa: E402
from pbem.ops.replay_gate import before_start  # noqa: E402
from pbem.ops.setup import keyring, open_store, server_on  # noqa: E402
from pbem.store.database import Store  # noqa: E402
from pbem.store.database_errors import explained  # noqa: E402


class EventLogger(Logger):  # type: ignore[misc]  # gunicorn says no types
    """Gunicorn's own messages, in the form of all other events."""

    def setup(self, cfg: Any) -> None:
        """Pass its messages to the process's log."""
        super().setup(cfg)
        program_log.configure()
        self.error_log.handlers.clear()
        self.error_log.propagate = True


wsgi_app = "pbem.ops.serve:application()"
# Read once: a process that takes the place of one that died is of the same release, whatever was installed since.
preload_app = True
bind = sockets.with_port(_SETTINGS.web.host, _SETTINGS.web.port)
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
worker_class = "gthread"
threads = _SETTINGS.web.threads
# Longer than nginx keeps a connection: one that closes just as nginx sends a form on it would cost that form.
keepalive = 75
logger_class = EventLogger
# The application tells of each request, without its address; a line of gunicorn's would have tokens in it.
accesslog = None
# Nobody has to steer it from elsewhere: signals do.
control_socket_disable = True

_shared: list[socket.socket] = []
_open = ExitStack()


def on_starting(arbiter: Any) -> None:
    """In the main process: check the database and its running games, and open the admin port for all processes."""
    try:
        if Store.file_of(_SETTINGS.database_url) is not None:
            raise Forbidden("Several web servers can't share an SQLite file.", remedy="Run `pbem serve` instead.")
        # Closed again at once: a connection must not be shared by processes.
        with explained(), open_store(_SETTINGS) as store:
            keyring(store, _SETTINGS)
            before_start(server_on(store, _SETTINGS), _SETTINGS)
        if _SETTINGS.web.admin_port:
            _shared.append(admin_port.listening(_SETTINGS.web.admin_host, _SETTINGS.web.admin_port))
    except PbemError as refusal:
        on_exit(arbiter)
        raise SystemExit(str(refusal)) from None


def post_worker_init(worker: Any) -> None:
    """In each web process: show that it's up, and answer on the admin port too, with a database connection of its own."""
    server = server_on(Store(_SETTINGS.database_url, threads=1), _SETTINGS)
    _open.enter_context(presence(server))
    for each in _shared:
        _open.enter_context(admin_port.answering(each, server, _SETTINGS, worker=None))


def worker_exit(arbiter: Any, worker: Any) -> None:
    """In each web process: stop both."""
    _open.close()


def on_exit(arbiter: Any) -> None:
    """In the main process: delete the shared counts."""
    shutil.rmtree(_COUNTS, ignore_errors=True)
