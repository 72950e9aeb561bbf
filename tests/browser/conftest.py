"""The site as people reach it: a server on this machine, a worker that is run by hand, and Chromium.

served      the site on a port of this machine; it can be stopped and restarted, keeping nothing but the database
people      people("Ann") -> the browser tab of a person with a phone
"""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from waitress import wasyncore
from waitress.server import create_server

from pbem.config.settings import Config
from pbem.service.absence.bots import play_bots
from pbem.service.outgoing.deliver import deliver
from pbem.service.outgoing.post import post_of
from pbem.service.server import Server
from pbem.store.database import Store
from pbem.web.app import create_app
from tests.fakes import SeededRandomness
from tests.service.archive.sample_review import sample_hint
from tests.service.conftest import *  # noqa: F403 - fixtures come in by their names
from tests.web.conftest import *  # noqa: F403 - as above

PHONE: ViewportSize = {"width": 360, "height": 640}
PATIENCE = 60_000
"""Milliseconds until a page counts as failed. No test waits for them, but a busy machine needs some."""


@dataclass
class Served:
    """The site on a port of this machine."""

    server: Server
    config: Config
    port: int = 0
    wrap: Callable[[Any], Any] = field(default=lambda app: app)
    _server: Any = None
    _thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address of the site."""
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        """Start to answer."""
        app = create_app(self.server, self.config, sample_hint)
        app.wsgi_app = self.wrap(app.wsgi_app)  # type: ignore[method-assign]  # as the manual of Flask says
        self._server = create_server(app, host="127.0.0.1", port=self.port, threads=4)
        self.port = self._server.effective_port
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering: close the port, and every connection that a browser has kept open."""
        self._server.task_dispatcher.shutdown()
        # Only the thread that listens may close its socket; with nothing left it ends.
        self._server.trigger.pull_trigger(partial(wasyncore.close_all, self._server._map))
        assert self._thread is not None
        self._thread.join()

    def restart(self) -> None:
        """Restart as a new process would, with nothing but the database."""
        before = self.server
        self.server = Server(Store(str(before.store.url)), before.clock, SeededRandomness(8), before.keys)
        self.start()

    def passes(self, by: timedelta) -> None:
        """Let time pass, as it does while someone fills in a form."""
        clock: Any = self.server.clock
        clock.advance(by)

    def work(self) -> None:
        """Let a little time pass for the worker: bots play, and emails wait to be delivered by `carry`."""
        clock: Any = self.server.clock
        while True:
            clock.advance(timedelta(minutes=2))
            if not play_bots(self.server):
                return

    def carry(self) -> None:
        """Let the worker do everything that is due, emails too."""
        self.work()
        while deliver(self.server, post_of(self.config), limit=500).dealt_with:
            self.work()


@pytest.fixture
def served(server: Server, settings: Config) -> Iterator[Served]:
    """The site, running for one test."""
    site = Served(server, settings)
    site.start()
    yield site
    site.stop()


@pytest.fixture
def people(chromium: Browser, served: Served) -> Iterator[Callable[..., Page]]:
    """people(name) -> the browser tab of a person with their own phone."""
    contexts = []

    def come(*, script: bool = True, zone: str = "UTC") -> Page:
        context = chromium.new_context(
            viewport=PHONE, has_touch=True, java_script_enabled=script, timezone_id=zone, base_url=served.url
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        return context.new_page()

    yield come
    for context in contexts:
        context.close()


def path_in(text: str, start: str) -> str:
    """The path of the first address of this site in a text that begins like this."""
    found = re.search(rf"https?://[^/\s]+({re.escape(start)}[^\s<>\"]*)", text)
    assert found, f"no address {start} in {text[:200]}"
    return found[1]
