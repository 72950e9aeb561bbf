"""Acts on people: change or retry their address, new links, merge two, ban, lift a ban, export or delete their data."""

import json
import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from pbem.domain.acts import Act
from pbem.domain.deleted_people import is_former
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Stale
from pbem.domain.localtime import moment_at, stored_zone
from pbem.domain.moments import day_text
from pbem.domain.states import EmailKind, EmailStatus, TableStatus
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address, delete, merge as account_merge
from pbem.service.archive import ratings
from pbem.service.clocks import deadlines as clocks_deadlines, reachability
from pbem.service.desk import audit
from pbem.service.desk.acts.perform import ActResult, Context, PersonAct
from pbem.service.outgoing import new_links
from pbem.service.play.log import Kind
from pbem.store import (
    blocks,
    channels,
    deadlines,
    finished_games,
    insiders,
    ledger,
    merge,
    outbox,
    people,
    players as player_rows,
    revocations,
    tables as table_rows,
)
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.sessions import Holder

_STARTED: Final = frozenset({TableStatus.PLAYING, TableStatus.FROZEN})

_LONGEST_BAN: Final = timedelta(days=36_525)
"""A hundred years: later days end beyond the calendar in some zones."""


@dataclass(frozen=True)
class ChangeAddress(PersonAct):
    """Send a person's emails to another address from now on. Old links die, and open turns are emailed again."""

    kind = Act.ADDRESS
    address: str = field(repr=False)

    def do(self, context: Context) -> ActResult:
        tx = context.tx
        old = people.read(tx, self.person_id).address
        before, again = change_address.change_address(tx, context.server, self.person_id, self.address, context.reason)
        tables = len(table_rows.of_person(tx, self.person_id, (TableStatus.OPEN, TableStatus.PLAYING)))
        says = (
            _("From %(before)s to %(now)s.", before=old, now=people.read(tx, self.person_id).address),
            _(
                "Their tables: %(tables)s. Links in older emails stop working. Open turns resent: %(again)s.",
                tables=tables,
                again=again,
            ),
            _("We'll tell the old address, without showing it the new one."),
        )
        return ActResult(says, details={"before": before})

    def audit_details(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Ban(PersonAct):
    """Ban a person from new tables, seats and talk, until the end of a day or for good. Their games go on."""

    kind = Act.BAN
    until: date | None = None

    def do(self, context: Context) -> ActResult:
        person = people.lock(context.tx, self.person_id)
        now = context.server.now()
        if self.until is not None and self.until - now.date() > _LONGEST_BAN:
            raise BadInput(_("That day is too far ahead."), remedy=_("Leave the day out for a ban without an end."))
        end = None if self.until is None else _end_of(self.until, context.server.zone)
        if end is not None and end <= now:
            raise BadInput(_("This ban would already be over."), remedy=_("Choose a day in the future."))
        blocks.lift_ban(context.tx, person.id, now)
        blocks.ban(context.tx, person.id, now, end, context.reason)
        context.email(person.id, EmailKind.BANNED, lifted=False, **self.audit_details())
        tables = len(table_rows.of_person(context.tx, person.id, (TableStatus.PLAYING,)))
        says = (
            _("The ban lasts until the end of %(day)s.", day=day_text(self.until))
            if self.until
            else _("The ban is in place until further notice."),
            _("Current games: %(tables)s.", tables=tables),
        )
        return ActResult(says, undo=Unban(person.id))

    def audit_details(self) -> dict[str, Any]:
        return {"until": self.until and self.until.isoformat()}


@dataclass(frozen=True)
class Unban(PersonAct):
    """Lift a ban."""

    kind = Act.UNBAN

    def do(self, context: Context) -> ActResult:
        person = people.lock(context.tx, self.person_id)
        now = context.server.now()
        if blocks.current_ban(context.tx, person.id, now) is None:
            raise Gone(_("They aren't banned."), remedy=_("Nothing changed."))
        blocks.lift_ban(context.tx, person.id, now)
        context.email(person.id, EmailKind.BANNED, lifted=True, until=None)
        return ActResult()


@dataclass(frozen=True)
class Release(PersonAct):
    """Email an address again that was marked as failing, because it is known to work."""

    kind = Act.RELEASE

    def do(self, context: Context) -> ActResult:
        tx = context.tx
        people.read(tx, self.person_id)
        again = reachability.mark_reachable(tx, context.server, self.person_id)
        if again is None:
            raise Gone(_("We're already emailing them."), remedy=_("Nothing changed."))
        tables = tuple(game.id for game in table_rows.of_person(tx, self.person_id, (TableStatus.PLAYING,)))
        says = (_("Earlier bounces no longer count."), _("Held-back turn emails sent: %(again)s.", again=again))
        return ActResult(says, tables=tables)


@dataclass(frozen=True)
class NewLinks(PersonAct):
    """Replace everything a stranger may have of a person, at every table, by fresh links that are emailed to them."""

    kind = Act.NEW_LINKS

    def do(self, context: Context) -> ActResult:
        new_links.send(context.tx, context.server, self.person_id, reason=context.reason)
        tables = tuple(row.id for row in table_rows.of_person(context.tx, self.person_id, (TableStatus.PLAYING,)))
        says = (
            _("All their links, API tokens, feeds and requests to change address stop working."),
            _("They're signed out everywhere. We'll email them new links and their open turns."),
        )
        return ActResult(says, tables=tables)


@dataclass(frozen=True)
class Merge(PersonAct):
    """Move everything of another person to this one: seats, tables, vacations, bans. Their games go on.

    Both addresses and everyone at their tables get an email. Links of the other address stop working, and open turns
    are emailed again.
    """

    kind = Act.MERGE
    other_id: int

    def do(self, context: Context) -> ActResult:
        tx, server = context.tx, context.server
        audit.must_be_allowed(tx, context.actor, self.kind, person_id=self.other_id)
        if self.other_id == self.person_id:
            raise BadInput(_("These two are already merged."), remedy=_("Choose the other one."))
        revocations.begin(tx, Holder(person_id=self.other_id))
        both = (self.person_id, self.other_id)
        entered = account_merge.lock_tournaments(tx, both)
        locked = self._locked(context)
        persons = account_merge.lock_people(tx, both)
        if self._locked(context).keys() != locked.keys() or account_merge.lock_tournaments(tx, both) != entered:
            raise Stale(
                _("The tables or tournaments of the two have just changed."), remedy=_("Nothing changed. Try again.")
            )
        if persons[self.person_id].confirmed_at is None:
            raise BadInput(
                _("The address to keep was never confirmed."),
                why=_("Emails may never arrive there."),
                remedy=_("Merge them the other way round."),
            )
        change_address.must_be_settled(tx, server, self.other_id, _wait())
        asked = [row for row in deadlines.of_person(tx, self.other_id) if row.turn == locked[row.game_id].turn]
        now = server.now()
        unsent = merge.unsent_emails(tx, self.other_id)
        for email in unsent:
            outbox.change(tx, email.id, status=EmailStatus.SUPERSEDED, lease_id=None)
            ledger.note(tx, email.id, now, "superseded", "their tables are another address's now")
        channels_off = channels.any_in_use(tx, self.other_id)
        # Before it moves: what a stranger has of that address must not tell of the other's games.
        new_links.end_all(tx, server, self.other_id)
        account_merge.move_rows(tx, server, self.other_id, self.person_id)
        ratings.merge(tx, server, persons[self.other_id].key, persons[self.person_id].key)
        finished_games.merge(tx, persons[self.other_id].key, persons[self.person_id].key)
        if (seen := insiders.plays_and_looked(tx, self.person_id)) is not None:
            raise BadInput(
                _(
                    "One of them has looked at table %(number)s as an organiser, and the other plays there.",
                    number=seen,
                ),
                why=_("One player would know the other players' secrets."),
                remedy=_("Let someone else take the seat first."),
            )
        for row in locked.values():
            if row.status == TableStatus.PLAYING:
                # Vacations and failures of email are now those of the remaining person.
                clocks_deadlines.settle_game(tx, server, row, tell=False)
        context.email(self.person_id, EmailKind.MERGED, stays=True, channels_off=channels_off)
        context.email(self.other_id, EmailKind.MERGED, stays=False)
        turns = [
            outbox.NewEmail(self.person_id, EmailKind.TURN, row.game_id, None, row.seat, row.turn) for row in asked
        ]
        invited = [
            outbox.NewEmail(self.person_id, EmailKind(each.kind), each.game_id, facts=json.loads(each.facts))
            for each in unsent
            if each.kind in merge.INVITING
        ]
        outbox.queue(tx, [*turns, *invited], now)
        begun = [row for row in locked.values() if row.status in _STARTED]
        for row in begun:
            self._tell(context, row)
        other, stays = persons[self.other_id].address, persons[self.person_id].address
        says = (
            _("Everything moves from %(other)s to %(stays)s.", other=other, stays=stays),
            _(
                "Seats moving: %(tables)s. Turn emails resent to %(stays)s: %(turns)s.",
                tables=len(locked),
                stays=stays,
                turns=len(asked),
            ),
            _("Links in emails to the other address stop working. A merge can't be undone."),
            *([_("Each started game's log says so, with your reason.")] if begun else ()),
        )
        return ActResult(says, tables=tuple(row.id for row in begun), people=(self.other_id,))

    def _tell(self, context: Context, row: GameRow) -> None:
        """Note the merge in a table's log, and tell the others there that nobody else plays."""
        players = [player for player in player_rows.of_game(context.tx, row.id) if player.person_id == self.person_id]
        for player in players:
            row = context.note(row, Kind.MERGED, player.seat)
        # A host without a seat has no part in the game.
        if players:
            context.tell_players(row, "player_merged", without=self.person_id, who=players[0].called)

    def _locked(self, context: Context) -> dict[int, GameRow]:
        """The other person's current tables, locked before any person is, as everywhere."""
        locked = account_merge.lock_games(context.tx, self.other_id)
        for number in locked.keys() & merge.tables_of(context.tx, self.person_id).keys():
            seated = {player.person_id for player in player_rows.of_game(context.tx, number)}
            if {self.person_id, self.other_id} <= seated:
                raise BadInput(
                    _("Both play at table %(number)s.", number=number),
                    why=_("One player would see two hands."),
                    remedy=_("Let someone else take one of the seats first."),
                )
        if not people.read_all(context.tx, [self.other_id]):
            raise NotFound(_("There is no such person here."))
        return locked


@dataclass(frozen=True)
class SendExport(PersonAct):
    """Email a person a link to their own page, where they, and nobody else, can download all data about them."""

    kind = Act.EXPORT

    def do(self, context: Context) -> ActResult:
        _read_current(context, self.person_id)
        context.email(self.person_id, EmailKind.LINKS)
        return ActResult((_("We'll email them a link to their own page, where only they can download it."),))


@dataclass(frozen=True)
class Delete(PersonAct):
    """Delete a person's data. Their seats become free as after resigning; the games stay."""

    kind = Act.DELETE

    def do(self, context: Context) -> ActResult:
        person = _read_current(context, self.person_id)
        change_address.must_be_settled(context.tx, context.server, self.person_id, _wait())
        self._must_be_unnamed(context, person.name)
        self._must_sit_at_no_stopped_table(context)
        tables = delete.delete_person(context.tx, context.server, self.person_id, context.reason)
        titles = table_rows.titles(context.tx, tables)
        named = [_table_name(titles[number], number) for number in tables]
        says = (
            _("Person: %(who)s.", who=isolate(person.name or person.address)),
            _("Tables they leave: %(tables)s.", tables=", ".join(named) or _("none")),
            _("At their tables they become “a former player”."),
            _("The log of each game says so, with your reason."),
            _("Their address, their name and the text of their emails are deleted for good. We won't tell them."),
        )
        return ActResult(says, tables=tuple(tables))

    def _must_sit_at_no_stopped_table(self, context: Context) -> None:
        stopped = table_rows.of_person(context.tx, self.person_id, (TableStatus.FROZEN,))
        if stopped:
            named = ", ".join(_table_name(row.title, row.id) for row in stopped)
            raise Forbidden(
                _("They're at a table that has been stopped: %(tables)s.", tables=named),
                why=_("Nothing may change there until its log has been checked, and this would give away their seat."),
                remedy=_("Resume or close the table first."),
            )

    def _must_be_unnamed(self, context: Context, name: str) -> None:
        """Refuse a reason with the person's name in it: reasons are kept for ever, the name must not be."""
        for called in {name, *table_rows.names_of(context.tx, self.person_id)} - {""}:
            if re.search(rf"(?<!\w){re.escape(called)}(?!\w)", context.reason, re.IGNORECASE):
                raise BadInput(
                    _("Your reason contains their name."),
                    why=_("Moderation notes are kept forever, and their name is about to be deleted."),
                    remedy=_("Leave the name out."),
                )


def _end_of(day: date, zone: str) -> datetime:
    return moment_at(day + timedelta(days=1), time(0), stored_zone(zone))


def _wait() -> str:
    return _("Nothing changed. Wait until then: this can't be undone.")


def _read_current(context: Context, person_id: int) -> PersonRow:
    """A person who is not deleted. Raises Gone."""
    person = people.read(context.tx, person_id)
    if is_former(person.address):
        raise Gone(_("This person's account was deleted."), remedy=_("Nothing changed."))
    return person


def _table_name(title: str, number: int) -> str:
    return _("“%(title)s” (table %(number)s)", title=isolate(title), number=number)
