"""Long-running processes: the web server, the worker, and both together.

A process told to stop (Ctrl-C, SIGTERM) finishes what it has begun: it answers requests and records emails being sent.
On SQLite one process does everything; on PostgreSQL there may be any number of each.
"""

import atexit
import errno
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from types import FrameType
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import structlog
from waitress.server import create_server

from pbem import metrics, program_log, sockets
from pbem.bots import Thinker
from pbem.clock import StepWatch
from pbem.coach import Coach
from pbem.config import language_of, read
from pbem.config.settings import Config
from pbem.domain.errors import BadInput, Forbidden
from pbem.hints import Adviser
from pbem.i18n import speech
from pbem.mail.read import guarded
from pbem.ops.mail_intake import accepting_emails
from pbem.ops.monitoring.admin_port import admin_port
from pbem.ops.presence import presence, process_name
from pbem.ops.process_lock import alone
from pbem.ops.replay import check_game
from pbem.ops.replay_gate import before_start
from pbem.ops.rules_code import codes
from pbem.ops.setup import make_ready, must_be_there, open_store, remember_keys, server_on
from pbem.plugins import offers
from pbem.service.archive import daily_check
from pbem.service.clocks.clock_steps import StepFinder
from pbem.service.clocks.outages import Worker
from pbem.service.incoming import authenticity, processing
from pbem.service.outgoing.channel_delivery import channel_post_of, send_batch
from pbem.service.outgoing.deliver import deliver, end_leases, keep_lease
from pbem.service.outgoing.post import post_of
from pbem.service.server import Server
from pbem.store.database import Store, Tx
from pbem.web.app import create_app
from pbem.web.security import MOST_UPLOADED
from pbem.worker import loop
from pbem.worker.ticks import WorkerContext

Say = Callable[[str], None]

_BODY_FACTOR: Final = 4
"""A form that is too large gets a page saying so; one this many times larger is not read at all."""

_log = structlog.get_logger(__name__)


def serve(config: Config, say: Say, *, with_worker: bool = True) -> None:
    """Answer requests until stopped, and run a worker unless another process does."""
    if config.development:
        config = make_ready(config)
    must_be_there(config)
    if not with_worker and Store.file_of(config.database_url) is not None:
        raise Forbidden(
            "On SQLite the web server is also the worker.",
            why="One process at a time can use the file, so no email would leave.",
            remedy="Leave out --no-worker, or use PostgreSQL.",
        )
    with alone(config.database_url), open_store(config) as store:
        server = server_on(store, config)
        offers.log_troubles()
        before_start(server, config)
        context = _worker_context(server, config, serves=True) if with_worker else None
        web_server = _listening(config, create_app(server, config, _adviser()))
        try:
            with (
                admin_port(server, config, context.worker.name if context else None),
                _worker_loop(context, config) if context else presence(server),
                _stopping_on_sigterm(),
            ):
                for line in _welcome(config):
                    say(line)
                _log.info("web_started", at=sockets.with_port(config.web.host, config.web.port))
                tune_garbage_collection()
                # Returns when told to stop, after what is under way was answered.
                web_server.run()
        finally:
            web_server.close()
        say("Stopped. Nothing is lost; start it again with the same command.")


def work(config: Config, say: Say) -> None:
    """Be a worker until told to stop."""
    must_be_there(config)
    with alone(config.database_url), open_store(config) as store:
        server = server_on(store, config)
        offers.log_troubles()
        before_start(server, config)
        context = _worker_context(server, config, serves=False)
        with admin_port(context.server, config, context.worker.name):
            say("Working: emails, deadlines, reminders, bots. Stop it with Ctrl-C.")
            loop.run(context)


def application() -> WSGIApplication:
    """The WSGI application for gunicorn, set up by `pbem.ops.gunicorn`; on PostgreSQL only, beside `pbem worker`.

    Processes fork after this, and must not share a connection: each opens its own when needed.
    """
    config = read(os.environ)
    speech.set_server_language(language_of(config))
    program_log.configure()
    server = server_on(Store(config.database_url, threads=config.web.threads), config)
    app: WSGIApplication = create_app(server, config, _adviser())
    offers.log_troubles()
    tune_garbage_collection()
    return app


def _adviser() -> Adviser:
    made = Adviser()
    atexit.register(made.close)
    return made


def tune_garbage_collection() -> None:
    """Collect garbage less often, and never among the program's own objects: a request leaves next to none.

    Called when everything is loaded; before a fork it also keeps memory shared.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@contextmanager
def _worker_loop(context: WorkerContext, config: Config) -> Iterator[None]:
    ticks = loop.Loop(context)
    with accepting_emails(context.server, config):
        try:
            # Stopped half-way through the start, stop what has started.
            ticks.start()
            yield
        finally:
            ticks.stop()


def _worker_context(server: Server, config: Config, *, serves: bool) -> WorkerContext:
    stopping = threading.Event()
    post, box = post_of(config, stopping), authenticity.inbound_settings(config)

    messages = channel_post_of(config, post.letterhead, stopping)

    def send(server: Server) -> int:
        done = deliver(server, post)
        for outcome, number in asdict(done).items():
            metrics.EMAILS.labels(outcome).inc(number)
        return done.dealt_with

    def keep(server: Server) -> None:
        keep_lease(server, post)
        keep_lease(server, messages)

    unread: processing.Held = []

    def receive_one(server: Server) -> int:
        # One may take a while to read, and a worker that stops waits for no more than that.
        return processing.process(server, box, limit=1, held=unread)

    by_kind = codes(config)

    def look(tx: Tx, game_id: int) -> daily_check.CheckResult:
        return check_game(tx, game_id, by_kind)

    steps = StepFinder(StepWatch(server.clock))
    end_leases(server)
    remember_keys(server)
    think = Thinker(stopping)
    coach = Coach(stopping)
    atexit.register(think.close)
    atexit.register(coach.close)
    return WorkerContext(
        server,
        Worker(process_name(), server.now(), steps=steps, serves=serves),
        send,
        keep,
        receive=receive_one,
        look=look,
        think=think,
        give_up=_give_up,
        review=coach,
        send_messages=lambda here: send_batch(here, messages),
        stopping=stopping,
    )


def _give_up() -> None:
    """End what child processes are doing, for which a process that stops would wait."""
    offers.give_up_thinking()
    guarded.give_up()


def _listening(config: Config, app: Any) -> Any:
    web = config.web
    # While all threads are busy it would log every waiting request, to no use.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        return create_server(
            app,
            sockets=[sockets.listening(web.host, web.port)],
            threads=web.threads,
            url_scheme=urlsplit(config.base_url).scheme,
            max_request_body_size=_longest_body(config),
            ident=None,
            # `pbem.web.client` reads them, and believes only the proxies in the settings.
            clear_untrusted_proxy_headers=False,
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"Port {web.port} of {web.host} is in use.",
                why="Another program or another pbem is listening there.",
                remedy="Stop it, or choose another port: PBEM_WEB_PORT=8010",
            ) from error
        raise BadInput(
            f"Can't listen on {web.host}, port {web.port}.",
            why=f"{error.strerror or error}.",
            remedy="Correct PBEM_WEB_HOST and PBEM_WEB_PORT.",
        ) from error


def _longest_body(config: Config) -> int:
    """The largest request that is read; emails come over the web only if they can be signed."""
    form = max(config.limits.request_bytes * _BODY_FACTOR, MOST_UPLOADED)
    return max(form, config.limits.mail_bytes) if config.inbound.secret else form


@contextmanager
def _stopping_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the process like Ctrl-C."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        # The signal came just before the server handled it.
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def _welcome(config: Config) -> Iterator[str]:
    yield f"The site:     {config.base_url}/"
    if config.development:
        yield f"Its mailbox:  {config.base_url}/mailbox"
        yield f"Its data:     {config.data_dir}"
        yield f"Organisers:   {os.path.relpath(sys.argv[0])} organiser add Ann ann@example.org"
    yield "Stop it with Ctrl-C."
