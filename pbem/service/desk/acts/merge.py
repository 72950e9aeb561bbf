"""Two addresses of one person become one: what belonged to the one is the other's from now on."""

from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, NotFound
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.desk import audit
from pbem.service.desk.acts.perform import Doing, Done, OnPerson
from pbem.service.people import sessions
from pbem.service.play.log import Kind
from pbem.store import deadlines, games, ledger, merge, outbox, people
from pbem.store import players as player_rows
from pbem.store.games import GameRow
from pbem.store.sessions import Holder

_BEGUN = frozenset({"playing", "frozen"})
_GOES_ON = _BEGUN | {"open", "planned"}


@dataclass(frozen=True)
class Merge(OnPerson):
    """Let everything of another person be this one's: seats, tables, vacations, bans. Their games go on as they are.

    Both addresses are told, and so is everybody at their tables. Links in mails to the other one die, and what is asked is mailed anew.
    """

    act = Act.MERGE
    person_id: int
    other_id: int

    def do(self, doing: Doing) -> Done:
        tx, server = doing.tx, doing.server
        audit.must_be_allowed(tx, doing.actor, self.act, person_id=self.other_id)
        if self.other_id == self.person_id:
            raise BadInput(_("These two are one already."), remedy=_("Nothing was changed; name the other one."))
        locked = self._locked(doing)
        known = {number: people.lock(tx, number) for number in sorted((self.person_id, self.other_id))}
        if known[self.person_id].confirmed_at is None:
            raise BadInput(
                _("The address that is to stay has never been confirmed."),
                why=_("Nobody knows whether mails reach it."),
                remedy=_("Nothing was changed; merge them the other way round."),
            )
        asked = [row for row in deadlines.of_person(tx, self.other_id) if row.turn == locked[row.game_id].turn]
        now = server.now()
        for number in merge.waiting(tx, self.other_id):
            outbox.change(tx, number, status="superseded", claimed_until=None)
            ledger.note(tx, number, now, "superseded", "their tables are another address's now")
        merge.move(tx, self.other_id, self.person_id)
        links.revoke_person(tx, self.other_id)
        sessions.end_all(tx, server, Holder(person_id=self.other_id))
        for row in locked.values():
            if row.status == "playing":
                # Vacations and addresses that fail are those of the one who stays.
                clocks_deadlines.settle_game(tx, server, row, tell=False)
        emails = [
            outbox.NewEmail(self.person_id, "merged", facts={"reason": doing.reason, "stays": True}),
            outbox.NewEmail(self.other_id, "merged", facts={"reason": doing.reason, "stays": False}),
        ]
        emails += [outbox.NewEmail(self.person_id, "turn", row.game_id, None, row.seat, row.turn) for row in asked]
        outbox.queue(tx, emails, now, now)
        begun = [row for row in locked.values() if row.status in _BEGUN]
        for row in begun:
            self._tell(doing, row)
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
        return Done(says, tables=tuple(row.id for row in begun), people=(self.other_id,))

    def _tell(self, doing: Doing, row: GameRow) -> None:
        """Let the record of a table say whose addresses became one, and the others there know that nobody else plays."""
        players = player_rows.of_game(doing.tx, row.id)
        mine = [player for player in players if player.person_id == self.person_id]
        for player in mine:
            row = doing.note(row, Kind.MERGED, player.seat)
        others = {player.person_id for player in players if player.person_id is not None} - {self.person_id}
        # A host who has no seat there touches no play.
        for other in sorted(others) if mine else ():
            facts = {"who": mine[0].name, "reason": doing.reason, "by": doing.by}
            clocks_deadlines.queue_notice(doing.tx, doing.server, other, row, None, "player_merged", facts)

    def _locked(self, doing: Doing) -> dict[int, GameRow]:
        """The tables of the other one that are not over, locked before any person is, as everywhere."""
        theirs, mine = (merge.tables_of(doing.tx, number) for number in (self.other_id, self.person_id))
        locked = {number: games.lock(doing.tx, number) for number, status in theirs.items() if status in _GOES_ON}
        for number in locked.keys() & mine.keys():
            seated = {player.person_id for player in player_rows.of_game(doing.tx, number)}
            if {self.person_id, self.other_id} <= seated:
                raise BadInput(
                    _("Both sit at table %(number)s.", number=number),
                    why=_("One person there would know what two seats know."),
                    remedy=_("Nothing was changed; let somebody else take one of the seats first."),
                )
        if not people.read_all(doing.tx, [self.other_id]):
            raise NotFound(_("There is no such person here."))
        return locked
