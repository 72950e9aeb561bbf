"""Acts on seats: give a seat to another person or a bot, offer it, or send its player new links."""

from dataclasses import dataclass, field
from typing import Any

from pbem.domain.acts import Act
from pbem.domain.errors import Forbidden, Gone
from pbem.i18n.speech import gettext as _
from pbem.service.absence import offers, substitutes
from pbem.service.desk.acts.perform import ActResult, Context, TableAct
from pbem.service.outgoing import new_links
from pbem.service.people import addresses as persons
from pbem.store import blocks, people, players as player_rows


@dataclass(frozen=True)
class Substitute(TableAct):
    """Give a seat of a running game to the person with this address, or to a bot if it is empty."""

    kind = Act.SUBSTITUTE
    seat: int
    address: str = field(default="", repr=False)

    def do(self, context: Context) -> ActResult:
        gone = context.called(self.game_id, self.seat)
        players = player_rows.of_game(context.tx, self.game_id)
        before = next((player for player in players if player.seat == self.seat), None)
        person = persons.find_or_add(context.tx, context.server, self.address) if self.address else None
        person_id = None if person is None else person.id
        if person_id is not None and blocks.current_ban(context.tx, person_id, context.server.now()) is not None:
            raise Forbidden(_("They're banned from new tables."), remedy=_("Lift the ban first."))
        substitutes.replace_player(
            context.tx, context.server, self.game_id, self.seat, person_id, context.reason, context.by
        )
        says = [
            _("From %(gone)s to a bot.", gone=gone)
            if person is None
            else _("From %(gone)s to %(address)s.", gone=gone, address=person.address),
            _("The old player's links stop working. The current turn starts again, with the full time allowed."),
        ]
        if person is not None and person.confirmed_at is None:
            says.append(_("This address was never confirmed here. Is it spelled correctly?"))
        undo = None
        if before is not None and before.person_id is not None:
            undo = Substitute(self.game_id, self.seat, people.read(context.tx, before.person_id).address)
        elif before is not None and before.bot is not None:
            undo = Substitute(self.game_id, self.seat)
        return ActResult(tuple(says), details={"to": person_id, "before": before and before.person_id}, undo=undo)

    def audit_details(self) -> dict[str, Any]:
        return {"seat": self.seat}


@dataclass(frozen=True)
class Offer(TableAct):
    """Offer a seat to willing substitutes; it stays its player's until one takes it."""

    kind = Act.SUBSTITUTE
    seat: int

    def do(self, context: Context) -> ActResult:
        asked = offers.offer_seat(context.tx, context.server, self.game_id, self.seat, context.reason, context.by)
        return ActResult(
            (
                _("The seat of %(who)s.", who=context.called(self.game_id, self.seat)),
                _("People asked by email: %(asked)s.", asked=asked),
            ),
            details={"offered": True},
        )


@dataclass(frozen=True)
class NewSeatLinks(TableAct):
    """Replace the links of a seat, which a stranger may have, by fresh ones that are emailed to its player."""

    kind = Act.NEW_LINKS
    seat: int

    def do(self, context: Context) -> ActResult:
        players = player_rows.of_game(context.tx, self.game_id)
        person_id = next((player.person_id for player in players if player.seat == self.seat), None)
        if person_id is None:
            raise Gone(_("No person plays this seat, so it has no links."), remedy=_("Nothing changed."))
        # Whose links these are stays on record when the seat has changed hands.
        again = new_links.send_for_seat(
            context.tx, context.server, self.game_id, self.seat, person_id, reason=context.reason
        )
        return ActResult(
            (
                _("The seat of %(who)s.", who=context.called(self.game_id, self.seat)),
                _("This seat's links and API tokens stop working. Links to their other tables still work."),
                _("They get an email with new links. Open turns resent: %(again)s.", again=again),
            ),
            details={"to": person_id},
        )
