"""Who may sign up for a tournament: those who meet its conditions, and for one of a group its members alone.

Someone is refused only once their address is proved, because the refusal holds their figures. For anyone else a tournament of a
group doesn't exist, unless they take part already.
"""

from pbem.domain.conditions import NONE, Conditions, lacks
from pbem.domain.errors import Forbidden, NotFound
from pbem.domain.states import EntrantStatus
from pbem.i18n.speech import gettext as _
from pbem.service.people.blocks import host_chooses
from pbem.service.server import Server
from pbem.service.tables.conditions import record_of
from pbem.store import friends, groups, tournaments
from pbem.store.database import Tx
from pbem.store.people import PersonRow
from pbem.store.schema import TournamentRow


def may_see(tx: Tx, row: TournamentRow, person_id: int | None) -> bool:
    """Whether a person may know of a tournament; None is anyone. Someone who has left its group may while they take part."""
    if row.group_id is None:
        return True
    if person_id is None:
        return False
    return groups.is_member(tx, row.group_id, person_id) or any(
        each.person_id == person_id and each.status in (EntrantStatus.IN, EntrantStatus.WAITING)
        for each in tournaments.entrants(tx, row.id)
    )


def must_see(tx: Tx, row: TournamentRow, person_id: int | None) -> None:
    """Raise NotFound, as for a tournament that isn't there, unless a person may know of it."""
    if not may_see(tx, row, person_id):
        raise NotFound(_("There's no such tournament."))


def must_meet(tx: Tx, server: Server, row: TournamentRow, person: PersonRow) -> None:
    """Raise Forbidden if a person lacks something that a tournament asks for. Its host and the people they invited are asked nothing."""
    asked = Conditions.of(row.conditions)
    if asked == NONE or person.id == row.host_id:
        return
    if any(each.person_id == person.id and each.typed is not None for each in tournaments.sign_ups(tx, row.id)):
        return
    if lacking := lacks(asked, record_of(tx, server, row.kind, person), of_tournament=True):
        raise Forbidden(
            " ".join(lacking),
            why=_("Games against bots count.") if asked.finished else "",
            remedy=_("Choose another tournament, or ask this one's host for an invitation."),
        )
    if asked.friends and not friends.is_friend(tx, row.host_id, person.id):
        raise host_chooses()
