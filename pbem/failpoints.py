"""Failpoints: named points at which a test can stop the process or fail it.

In a server no handler is set, and a failpoint costs one comparison. Only a test or the simulator can set a handler, in its
own process; no setting, environment variable or request can. This module must never decide anything itself.

    store.committing      the work of a transaction is done, and nothing is committed yet
    store.committed       the transaction is committed, and nobody knows yet
    mail.handed_over      the relay has an email, and that is not recorded yet
    channel.handed_over   a service has a message, and that is not recorded yet
"""

from collections.abc import Callable
from typing import Final

POINTS: Final = ("store.committing", "store.committed", "mail.handed_over", "channel.handed_over")

Handler = Callable[[str], None]
"""A function called with the name of each failpoint that is hit. It may raise, wait, or end the process."""

_handler: Handler | None = None


def hit(name: str) -> None:
    """Call the handler, if any, for the failpoint of that name."""
    if _handler is not None:
        _handler(name)


def set_handler(handler: Handler | None) -> None:
    """Set the handler of this process; None removes it."""
    global _handler  # noqa: PLW0603 - a process has one handler
    _handler = handler
