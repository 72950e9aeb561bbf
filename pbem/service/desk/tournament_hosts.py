"""What hosts change in their tournaments, in the audit: a host may play there, too."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.errors import TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit
from pbem.service.server import Server
from pbem.service.tournaments import hosting
from pbem.store import limits, people, tournaments
from pbem.store.audit import AuditFilter
from pbem.store.database import Tx

CHANGES: Final[dict[str, Callable[..., None]]] = {
    "pause": hosting.pause,
    "resume": hosting.resume,
    "extend": hosting.extend,
    "correct": hosting.correct,
    "remove": hosting.remove,
    "seed": hosting.seed,
    "call off": hosting.call_off,
}
"""What a host can change, as the audit calls it."""

MOST_A_DAY: Final = 30
"""Changes of all tournaments of a host in a day: everyone who takes part gets an email about most of them."""


def change(tx: Tx, server: Server, what: str, tournament_id: int, host_id: int, *given: Any) -> None:
    """Do one of these changes, and note it in the audit, with its reason if it has one. Raises as that does, or TooMany."""
    earlier = audit.newest(tx, server, AuditFilter(Act.TOURNAMENT, person_id=host_id), limit=MOST_A_DAY)
    if len(earlier) == MOST_A_DAY and limits.last(timedelta(days=1), server.now()).contains(earlier[-1].at):
        raise TooMany(
            _("You've changed your tournaments %(most)s times today.", most=MOST_A_DAY), remedy=_("Try again tomorrow.")
        )
    CHANGES[what](tx, server, tournament_id, host_id, *given)
    reason = next((each for each in given if isinstance(each, str)), what)
    details = [sorted(each.items()) if isinstance(each, dict) else each for each in given if not isinstance(each, str)]
    host, key = people.read(tx, host_id), tournaments.read(tx, tournament_id).key
    actor = Actor(Role.HOST, host.name, person_id=host_id)
    audit.record(tx, server, actor, Act.TOURNAMENT, reason, person_id=host_id, what=what, tournament=key, given=details)
