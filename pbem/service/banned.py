"""Who is banned takes no new seat, opens no table and says nothing at one; what they play already they play on."""

from zoneinfo import ZoneInfo

from pbem.domain.errors import Forbidden
from pbem.domain.phrase import said
from pbem.domain.speech import gettext as _
from pbem.service.house import House
from pbem.store import bans, people
from pbem.store.database import Tx


def must_not_be_banned(tx: Tx, house: House, person_id: int) -> None:
    """Refuse somebody who is banned now, saying why and until when."""
    ban = bans.in_force(tx, person_id, house.now())
    if ban is not None:
        raise Forbidden(
            _("You are banned from new tables.")
            if ban.until is None
            else _(
                "You are banned from new tables until %(moment)s.",
                moment=said(ban.until, ZoneInfo(people.read(tx, person_id).zone)),
            ),
            why=_("The organiser wrote: %(reason)s", reason=ban.reason),
            remedy=_("Your games go on. If you think that this is wrong, call the organiser."),
        )
