"""Whether a person meets the conditions of a table or a tournament they want to join.

Someone is refused only once their address is proved, because the refusal holds their figures.
"""

from pbem.domain.conditions import NONE, Conditions, Record, lacks
from pbem.domain.errors import Forbidden
from pbem.domain.reliability import PERIOD, reliability
from pbem.i18n.speech import gettext as _
from pbem.service.people.blocks import host_chooses
from pbem.service.server import Server
from pbem.store import friends, ratings, reliability as counting, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow


def must_meet(tx: Tx, server: Server, row: GameRow, person: PersonRow) -> None:
    """Raise Forbidden if a person lacks something that a table asks for, or isn't the friend that it asks for.

    Its host and the people invited are asked nothing.
    """
    asked = Conditions.of(row.conditions)
    if asked == NONE or person.id == row.host_id:
        return
    if any(invitation.person_id == person.id for invitation in tables.invitations(tx, row.id)):
        return
    if lacking := lacks(asked, record_of(tx, server, row.kind, person)):
        raise Forbidden(
            " ".join(lacking),
            why=_("Games against bots count.") if asked.finished else "",
            remedy=_("Join another open table, start your own, or ask this table's host for an invitation."),
        )
    if asked.friends and not friends.is_friend(tx, row.host_id, person.id):
        raise host_chooses()


def record_of(tx: Tx, server: Server, kind: str, person: PersonRow) -> Record:
    """What is known about someone who wants to play this kind of game."""
    counts = counting.counts(tx, {person.id}, server.now() - PERIOD)[person.id]
    record = reliability(counts)
    rating = ratings.current(tx, {(person.key, kind)}).get((person.key, kind))
    return Record(record.in_time, record.finished, None if rating is None or rating.provisional else rating.shown)
