"""A web server in a thread of a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import Any

from waitress import wasyncore


@contextmanager
def served(web_server: Any) -> Iterator[None]:
    """Answer requests until the end of the block, and then end the thread of the server as well."""
    thread = Thread(target=web_server.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        # In its own thread: closed from here, its sockets would be gone while it waits for them, and it would fail.
        web_server.trigger.pull_trigger(partial(wasyncore.close_all, web_server._map))
        thread.join()
        web_server.task_dispatcher.shutdown()
