"""Limits on new seats: bans, and how many tables a person may have. Games under way go on."""

from pbem.domain.errors import Forbidden, TooMany
from pbem.domain.localtime import stored_zone
from pbem.domain.moments import moment_text
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import blocks, people, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow


def must_not_be_banned(tx: Tx, server: Server, person_id: int) -> None:
    """Raise Forbidden if the person is banned now."""
    ban = blocks.current_ban(tx, person_id, server.now())
    if ban is not None:
        raise Forbidden(
            _("You're banned from new tables.")
            if ban.until is None
            else _(
                "You're banned from new tables until %(moment)s.",
                moment=moment_text(ban.until, stored_zone(people.read(tx, person_id).zone)),
            ),
            why=_("The organiser wrote: %(reason)s", reason=ban.reason),
            remedy=_("Your current games go on. If you think this is a mistake, contact the organiser."),
        )


def must_have_room(tx: Tx, server: Server, person: PersonRow, row: GameRow | None = None) -> None:
    """Raise Forbidden if the person is banned, TooMany if they have too many tables. The person is locked."""
    must_not_be_banned(tx, server, person.id)
    if row is not None and row.host_id == person.id:
        return
    busy = tables.count_current(tx, person.id)
    if busy >= server.open_tables:
        raise TooMany(
            _("You have %(busy)s tables open or in progress.", busy=busy),
            why=_("The limit is %(open_tables)s per person.", open_tables=server.open_tables),
            remedy=_("Finish or leave one first."),
        )
