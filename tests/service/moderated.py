"""Acts of moderation in tests, done by an organiser who plays nowhere."""

from typing import Final

from pbem.domain.acts import Actor, Role
from pbem.service.house import House
from pbem.service.moderation.doing import Deed, Outcome, perform

OLGA: Final = Actor(Role.ORGANISER, "Olga", organiser_id=1)


def does(house: House, deed: Deed, reason: str = "a reason that players can read") -> Outcome:
    """What Olga does."""
    return perform(house, OLGA, deed, reason)
