"""Acts on people: change or retry their address, ban them, lift a ban."""

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Gone
from pbem.domain.moments import day_text
from pbem.domain.states import EmailKind, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address
from pbem.service.clocks import reachability
from pbem.service.desk.acts.perform import ActResult, Context, PersonAct
from pbem.store import blocks, outbox, people, tables as table_rows


@dataclass(frozen=True)
class ChangeAddress(PersonAct):
    """Send a person's emails to another address from now on. Old links die, and open turns are emailed again."""

    kind = Act.ADDRESS
    person_id: int
    address: str = field(repr=False)

    def do(self, context: Context) -> ActResult:
        tx = context.tx
        known = people.read(tx, self.person_id)
        before, again = change_address.change_address(tx, context.server, self.person_id, self.address, context.reason)
        tables = len(table_rows.of_person(tx, self.person_id, (TableStatus.OPEN, TableStatus.PLAYING)))
        says = (
            _("From %(before)s to %(now)s.", before=known.address, now=people.read(tx, self.person_id).address),
            _(
                "Tables of theirs: %(tables)s. Links in older mails die; open turns that are mailed again: %(again)s.",
                tables=tables,
                again=again,
            ),
            _("The old address gets a mail that says so, and knows no other."),
        )
        return ActResult(says, details={"before": before}, undo=None)

    def audit_details(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Ban(PersonAct):
    """Ban a person from new tables, seats and talk, until the end of a day or for good. Their games go on."""

    kind = Act.BAN
    person_id: int
    until: date | None = None

    def do(self, context: Context) -> ActResult:
        person = people.lock(context.tx, self.person_id)
        now = context.server.now()
        end = None if self.until is None else _end_of(self.until, context.server.zone)
        if end is not None and end <= now:
            raise BadInput(_("This ban would be over already."), remedy=_("Please name a day that is still to come."))
        blocks.lift_ban(context.tx, person.id, now)
        blocks.ban(context.tx, person.id, now, end, context.reason)
        facts = {"reason": context.reason, "until": self.until and self.until.isoformat(), "lifted": False}
        outbox.queue(context.tx, [outbox.NewEmail(person.id, EmailKind.BANNED, facts=facts)], now, now)
        tables = len(table_rows.of_person(context.tx, person.id, (TableStatus.PLAYING,)))
        says = (
            _("It ends after %(day)s.", day=day_text(self.until)) if self.until else _("It has no end."),
            _("Games that they play, and that go on untouched: %(tables)s.", tables=tables),
        )
        return ActResult(says, undo=Unban(person.id))

    def audit_details(self) -> dict[str, Any]:
        return {"until": self.until and self.until.isoformat()}


@dataclass(frozen=True)
class Unban(PersonAct):
    """Lift a ban."""

    kind = Act.UNBAN
    person_id: int

    def do(self, context: Context) -> ActResult:
        person = people.lock(context.tx, self.person_id)
        now = context.server.now()
        ban = blocks.current_ban(context.tx, person.id, now)
        if ban is None:
            raise Gone(_("They are not banned."), remedy=_("Nothing was changed."))
        blocks.lift_ban(context.tx, person.id, now)
        email = outbox.NewEmail(
            person.id, EmailKind.BANNED, facts={"reason": context.reason, "until": None, "lifted": True}
        )
        outbox.queue(context.tx, [email], now, now)
        return ActResult()


@dataclass(frozen=True)
class Release(PersonAct):
    """Email an address again that was marked as failing, because it is known to work."""

    kind = Act.RELEASE
    person_id: int

    def do(self, context: Context) -> ActResult:
        tx = context.tx
        people.read(tx, self.person_id)
        again = reachability.mark_reachable(tx, context.server, self.person_id)
        if again is None:
            raise Gone(_("Their address is not left alone: mails go to it."), remedy=_("Nothing was changed."))
        tables = tuple(game.id for game in table_rows.of_person(tx, self.person_id, (TableStatus.PLAYING,)))
        says = (
            _("Mails go to their address from now on, and what came back until now counts no more."),
            _("Turns that were held back and are mailed now: %(again)s. Clocks that waited go on.", again=again),
        )
        return ActResult(says, tables=tables)


def _end_of(day: date, zone: str) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(0), ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
