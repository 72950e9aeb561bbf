"""Acts on seats: a seat goes to somebody else, to a bot, or on offer."""

from dataclasses import dataclass, field
from typing import Any

from pbem.domain.acts import Act
from pbem.domain.errors import Forbidden
from pbem.i18n.speech import gettext as _
from pbem.service.absence import substitutes
from pbem.service.desk.acts.perform import AtTable, Doing, Done
from pbem.service.people import addresses as persons
from pbem.store import blocks, people
from pbem.store import players as player_rows


@dataclass(frozen=True)
class Substitute(AtTable):
    """Let somebody else play a seat of a running game: whoever has that address, or a bot where none is given."""

    act = Act.SUBSTITUTE
    game_id: int
    seat: int
    address: str = field(default="", repr=False)

    def do(self, doing: Doing) -> Done:
        gone = doing.called(self.game_id, self.seat)
        before = next((p for p in player_rows.of_game(doing.tx, self.game_id) if p.seat == self.seat), None)
        person = persons.find_or_add(doing.tx, doing.server, self.address) if self.address else None
        person_id = None if person is None else person.id
        if person_id is not None and blocks.current_ban(doing.tx, person_id, doing.server.now()) is not None:
            raise Forbidden(_("They are banned from new tables."), remedy=_("Nothing was changed; lift the ban first."))
        substitutes.replace_player(doing.tx, doing.server, self.game_id, self.seat, person_id, doing.reason, doing.by)
        says = [
            _("From %(gone)s to a bot.", gone=gone)
            if person is None
            else _("From %(gone)s to %(address)s.", gone=gone, address=person.address),
            _("The links of whoever sat there die at once; what is asked is asked anew, with the whole time."),
        ]
        if person is not None and person.confirmed_at is None:
            says.append(_("This address has never said yes to anything here: is it written as it should be?"))
        undo = None
        if before is not None and before.person_id is not None:
            undo = Substitute(self.game_id, self.seat, people.read(doing.tx, before.person_id).address)
        elif before is not None and before.bot is not None:
            undo = Substitute(self.game_id, self.seat)
        return Done(tuple(says), kept={"to": person_id, "before": before and before.person_id}, undo=undo)

    def kept(self) -> dict[str, Any]:
        return {"seat": self.seat}


@dataclass(frozen=True)
class Offer(AtTable):
    """Ask people who are willing to take over a seat; until one does, it stays its player's."""

    act = Act.SUBSTITUTE
    game_id: int
    seat: int

    def do(self, doing: Doing) -> Done:
        asked = substitutes.offer_seat(doing.tx, doing.server, self.game_id, self.seat, doing.reason, doing.by)
        return Done(
            (
                _("The seat of %(who)s.", who=doing.called(self.game_id, self.seat)),
                _("People who are willing and are asked by mail: %(asked)s.", asked=asked),
            ),
            kept={"offered": True},
        )
