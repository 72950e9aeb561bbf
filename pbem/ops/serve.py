"""Processes that stay: the web server, the worker, and both together.

A process that is told to stop (Ctrl-C, SIGTERM) finishes what it has begun: requests are answered, mails that are being
sent are written down. On SQLite one process does everything; on PostgreSQL there may be any number of each.
"""

import errno
import gc
import logging
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from types import FrameType
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import structlog
from waitress.server import create_server

from pbem import logs, metrics
from pbem.config import language_of, read
from pbem.config.settings import Config
from pbem.domain.errors import BadInput, Forbidden
from pbem.i18n import speech
from pbem.ops.mail_intake import taking_mails
from pbem.ops.monitoring.admin_port import admin_port
from pbem.ops.process_lock import alone
from pbem.ops.setup import make_ready, must_be_there, open_store, server_on
from pbem.ops.verify import verify_game
from pbem.plugins import offers
from pbem.service.archive import daily_check
from pbem.service.clocks.outages import Worker
from pbem.service.incoming import receive
from pbem.service.outgoing.deliver import deliver, post_of
from pbem.service.server import Server
from pbem.store.database import Store, Tx
from pbem.web.app import create_app
from pbem.web.security import MOST_UPLOADED
from pbem.worker import loop
from pbem.worker.ticks import WorkerContext

Say = Callable[[str], None]

_BODY_FACTOR: Final = 4
"""A form that is too large for the pages gets a page that says so; one that is this much larger is not even read."""

_log = structlog.get_logger(__name__)


def serve(config: Config, say: Say, *, with_worker: bool = True) -> None:
    """Answer requests until told to stop, and work beside that unless somebody else does."""
    if config.development:
        config = make_ready(config, say)
    must_be_there(config)
    if not with_worker and Store.file_of(config.database_url) is not None:
        raise Forbidden(
            "On SQLite the web server does the worker's work as well.",
            why="One process at a time can use the file, so no mail would leave.",
            remedy="Leave --no-worker away, or use PostgreSQL.",
        )
    with alone(config.database_url), open_store(config) as store:
        server = server_on(store, config)
        offers.log_troubles()
        context = _worker_context(server, config) if with_worker else None
        web_server = _listening(config, create_app(server, config))
        try:
            with (
                admin_port(server, config, context.worker.name if context else None),
                _worker_loop(context, config) if context else nullcontext(),
                _told_to_stop(),
            ):
                for line in _welcome(config):
                    say(line)
                _log.info("web_started", host=config.web.host, port=config.web.port)
                seek_garbage_seldom()
                # Returns when told to stop, after what is under way was answered.
                web_server.run()
        finally:
            web_server.close()
        say("Stopped. Nothing is lost; start it again with the same command.")


def work(config: Config, say: Say) -> None:
    """Be a worker until told to stop."""
    must_be_there(config)
    with alone(config.database_url), open_store(config) as store:
        context = _worker_context(server_on(store, config), config)
        offers.log_troubles()
        with admin_port(context.server, config, context.worker.name):
            say("Working: mails, deadlines, reminders, bots. Stop it with Ctrl-C.")
            loop.run(context)


def application() -> WSGIApplication:
    """For gunicorn, as `pbem.ops.gunicorn` sets it up. On PostgreSQL only, beside `pbem worker`.

    Processes are forked after this, and a connection must not be shared: each opens its own when it needs one.
    """
    config = read(os.environ)
    speech.set_server_language(language_of(config))
    logs.configure()
    app: WSGIApplication = create_app(server_on(Store(config.database_url, threads=config.web.threads), config), config)
    offers.log_troubles()
    seek_garbage_seldom()
    return app


def seek_garbage_seldom() -> None:
    """Look for garbage less often, and never in what the program itself consists of: a request leaves next to none.

    Called when everything is loaded; before a fork it also keeps the processes' memory shared.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@contextmanager
def _worker_loop(context: WorkerContext, config: Config) -> Iterator[None]:
    ticks = loop.Loop(context)
    with taking_mails(context.server, config):
        try:
            # Whoever is told to stop in the middle of this has to stop what has started.
            ticks.start()
            yield
        finally:
            ticks.stop()


def _worker_context(server: Server, config: Config) -> WorkerContext:
    post, box = post_of(config), receive.inbound_settings(config)

    def send(server: Server) -> int:
        done = deliver(server, post)
        for outcome, number in asdict(done).items():
            metrics.EMAILS.labels(outcome).inc(number)
        return done.dealt_with

    def receive_batch(server: Server) -> int:
        return receive.process(server, box)

    def look(tx: Tx, game_id: int) -> daily_check.Checked:
        report = verify_game(tx, game_id)
        first = min((wrong.seq for wrong in report.wrongs), default=0)
        return daily_check.Checked(report.rows, len(report.wrongs), first)

    name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
    return WorkerContext(server, Worker(name, server.now()), send, receive_batch, look)


def _listening(config: Config, app: Any) -> Any:
    web = config.web
    # While all threads are busy it would write a line for each request that waits a moment, and say nothing by it.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        return create_server(
            app,
            host=web.host,
            port=web.port,
            threads=web.threads,
            url_scheme=urlsplit(config.base_url).scheme,
            max_request_body_size=_longest_body(config),
            ident=None,
            clear_untrusted_proxy_headers=True,
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"Port {web.port} of {web.host} is in use.",
                why="Another program, or another pbem, listens there.",
                remedy="Stop it, or choose another port: PBEM_WEB_PORT=8010",
            ) from error
        raise BadInput(
            f"Nobody can listen on {web.host}, port {web.port}.",
            why=f"{error.strerror or error}.",
            remedy="Correct PBEM_WEB_HOST and PBEM_WEB_PORT.",
        ) from error


def _longest_body(config: Config) -> int:
    """What is read at all; mails come over the web only where somebody can sign them."""
    form = max(config.limits.request_bytes * _BODY_FACTOR, MOST_UPLOADED)
    return max(form, config.limits.mail_bytes) if config.inbound.secret else form


@contextmanager
def _told_to_stop() -> Iterator[None]:
    """A polite SIGTERM ends the process as Ctrl-C does."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        # It came in the moment before the server listened for it.
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def _welcome(config: Config) -> Iterator[str]:
    yield f"The site:     {config.base_url}/"
    if config.development:
        yield f"Its mailbox:  {config.base_url}/mailbox"
    yield "Stop it with Ctrl-C."
