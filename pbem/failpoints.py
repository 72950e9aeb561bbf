"""Points with a name, at which a test lets the world stop: a process killed just there, a crash in a simulation.

In a server nothing is armed, and a point is one comparison. What arms one is a test or the simulator, in its own process;
no setting, no environment and no request can. This module must never decide anything by itself.

    store.committing   the work of a transaction is done, and nothing of it is kept yet
    store.committed    it is kept, and nobody has been told
    mail.handed_over   the relay has a mail, and that is not written down yet
"""

from collections.abc import Callable
from typing import Final

POINTS: Final = ("store.committing", "store.committed", "mail.handed_over")

Strike = Callable[[str], None]
"""Is told the name of each point that is passed, and may raise, wait, or end the process."""

_armed: Strike | None = None


def point(name: str) -> None:
    """Say that this point is passed."""
    if _armed is not None:
        _armed(name)


def arm(strike: Strike | None) -> None:
    """Call this at every point from now on, or nothing any more."""
    global _armed  # noqa: PLW0603 - there is one world to stop in a process
    _armed = strike
