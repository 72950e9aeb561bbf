"""Acts of moderation in tests, done by an organiser who plays nowhere."""

from typing import Final

from pbem.domain.acts import Actor, Role
from pbem.service.desk.acts.perform import DeskAct, Outcome, perform
from pbem.service.server import Server

OLGA: Final = Actor(Role.ORGANISER, "Olga", organiser_id=1)


def does(server: Server, act: DeskAct, reason: str = "a reason that players can read") -> Outcome:
    """What Olga does."""
    return server.run(perform, OLGA, act, reason)
