"""Merging two addresses of one person: everything of the one becomes the other's."""

from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, NotFound
from pbem.domain.states import EmailKind, EmailStatus, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.desk import audit
from pbem.service.desk.acts.perform import ActResult, Context, PersonAct
from pbem.service.people import sessions
from pbem.service.play.log import Kind
from pbem.store import deadlines, games, ledger, links, merge, outbox, people, players as player_rows
from pbem.store.games import GameRow
from pbem.store.sessions import Holder

_STARTED = frozenset({"playing", "frozen"})
_CURRENT = _STARTED | {"open", "planned"}


@dataclass(frozen=True)
class Merge(PersonAct):
    """Move everything of another person to this one: seats, tables, vacations, bans. Their games go on.

    Both addresses and everyone at their tables get an email. Links of the other address stop working, and open turns
    are emailed again.
    """

    kind = Act.MERGE
    person_id: int
    other_id: int

    def do(self, context: Context) -> ActResult:
        tx, server = context.tx, context.server
        audit.must_be_allowed(tx, context.actor, self.kind, person_id=self.other_id)
        if self.other_id == self.person_id:
            raise BadInput(_("These two are one already."), remedy=_("Nothing was changed; name the other one."))
        locked = self._locked(context)
        known = {number: people.lock(tx, number) for number in sorted((self.person_id, self.other_id))}
        if known[self.person_id].confirmed_at is None:
            raise BadInput(
                _("The address that is to stay has never been confirmed."),
                why=_("Nobody knows whether mails reach it."),
                remedy=_("Nothing was changed; merge them the other way round."),
            )
        asked = [row for row in deadlines.of_person(tx, self.other_id) if row.turn == locked[row.game_id].turn]
        now = server.now()
        for number in merge.unsent_emails(tx, self.other_id):
            outbox.change(tx, number, status=EmailStatus.SUPERSEDED, claimed_until=None)
            ledger.note(tx, number, now, "superseded", "their tables are another address's now")
        merge.move_rows(tx, self.other_id, self.person_id)
        links.revoke_person(tx, self.other_id)
        sessions.end_all(tx, server, Holder(person_id=self.other_id))
        for row in locked.values():
            if row.status == TableStatus.PLAYING:
                # Vacations and failures of email are now those of the remaining person.
                clocks_deadlines.settle_game(tx, server, row, tell=False)
        emails = [
            outbox.NewEmail(self.person_id, EmailKind.MERGED, facts={"reason": context.reason, "stays": True}),
            outbox.NewEmail(self.other_id, EmailKind.MERGED, facts={"reason": context.reason, "stays": False}),
        ]
        emails += [
            outbox.NewEmail(self.person_id, EmailKind.TURN, row.game_id, None, row.seat, row.turn) for row in asked
        ]
        outbox.queue(tx, emails, now, now)
        begun = [row for row in locked.values() if row.status in _STARTED]
        for row in begun:
            self._tell(context, row)
        says = (
            _(
                "What belongs to %(other)s is %(stays)s's then.",
                other=known[self.other_id].address,
                stays=known[self.person_id].address,
            ),
            _(
                "Tables that go on, and change hands: %(tables)s. Open turns that are mailed to the address that stays: "
                "%(turns)s.",
                tables=len(locked),
                turns=len(asked),
            ),
            _("Links in mails to the other address die. What is together now cannot be told apart again."),
            *([_("The record of each game that has begun says so, with your reason.")] if begun else ()),
        )
        return ActResult(says, tables=tuple(row.id for row in begun), people=(self.other_id,))

    def _tell(self, context: Context, row: GameRow) -> None:
        """Note the merge in a table's log, and tell the others there that nobody else plays."""
        players = player_rows.of_game(context.tx, row.id)
        own_seats = [player for player in players if player.person_id == self.person_id]
        for player in own_seats:
            row = context.note(row, Kind.MERGED, player.seat)
        others = {player.person_id for player in players if player.person_id is not None} - {self.person_id}
        # A host without a seat has no part in the game.
        for other in sorted(others) if own_seats else ():
            facts = {"who": own_seats[0].name, "reason": context.reason, "by": context.by}
            clocks_deadlines.queue_notice(context.tx, context.server, other, row, None, "player_merged", facts)

    def _locked(self, context: Context) -> dict[int, GameRow]:
        """The other person's current tables, locked before any person is, as everywhere."""
        theirs, own_seats = (merge.tables_of(context.tx, number) for number in (self.other_id, self.person_id))
        locked = {number: games.lock(context.tx, number) for number, status in theirs.items() if status in _CURRENT}
        for number in locked.keys() & own_seats.keys():
            seated = {player.person_id for player in player_rows.of_game(context.tx, number)}
            if {self.person_id, self.other_id} <= seated:
                raise BadInput(
                    _("Both sit at table %(number)s.", number=number),
                    why=_("One person there would know what two seats know."),
                    remedy=_("Nothing was changed; let somebody else take one of the seats first."),
                )
        if not people.read_all(context.tx, [self.other_id]):
            raise NotFound(_("There is no such person here."))
        return locked
