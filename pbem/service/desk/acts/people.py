"""Acts on people: their address is changed or tried again, they are banned, a ban is lifted."""

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Gone
from pbem.domain.moments import day_text
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address
from pbem.service.clocks import reachability
from pbem.service.desk.acts.perform import Doing, Done, OnPerson
from pbem.store import blocks, outbox, people
from pbem.store import tables as table_rows


@dataclass(frozen=True)
class ChangeAddress(OnPerson):
    """Let a person's mails go to another address from now on. Old links die, and what is asked is mailed again."""

    act = Act.ADDRESS
    person_id: int
    address: str = field(repr=False)

    def do(self, doing: Doing) -> Done:
        tx = doing.tx
        known = people.read(tx, self.person_id)
        before, again = change_address.change_address(tx, doing.server, self.person_id, self.address, doing.reason)
        tables = len(table_rows.of_person(tx, self.person_id, ("open", "playing")))
        says = (
            _("From %(before)s to %(now)s.", before=known.address, now=people.read(tx, self.person_id).address),
            _(
                "Tables of theirs: %(tables)s. Links in older mails die; open turns that are mailed again: %(again)s.",
                tables=tables,
                again=again,
            ),
            _("The old address gets a mail that says so, and knows no other."),
        )
        return Done(says, kept={"before": before}, undo=None)

    def kept(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Ban(OnPerson):
    """Keep somebody from new tables, seats and talk, until the end of a day or for good. Their games go on."""

    act = Act.BAN
    person_id: int
    until: date | None = None

    def do(self, doing: Doing) -> Done:
        person = people.lock(doing.tx, self.person_id)
        now = doing.server.now()
        end = None if self.until is None else _end_of(self.until, doing.server.zone)
        if end is not None and end <= now:
            raise BadInput(_("This ban would be over already."), remedy=_("Please name a day that is still to come."))
        blocks.lift_ban(doing.tx, person.id, now)
        blocks.ban(doing.tx, person.id, now, end, doing.reason)
        facts = {"reason": doing.reason, "until": self.until and self.until.isoformat(), "lifted": False}
        outbox.queue(doing.tx, [outbox.NewEmail(person.id, "banned", facts=facts)], now, now)
        tables = len(table_rows.of_person(doing.tx, person.id, ("playing",)))
        says = (
            _("It ends after %(day)s.", day=day_text(self.until)) if self.until else _("It has no end."),
            _("Games that they play, and that go on untouched: %(tables)s.", tables=tables),
        )
        return Done(says, undo=Unban(person.id))

    def kept(self) -> dict[str, Any]:
        return {"until": self.until and self.until.isoformat()}


@dataclass(frozen=True)
class Unban(OnPerson):
    """Lift a ban before its end."""

    act = Act.UNBAN
    person_id: int

    def do(self, doing: Doing) -> Done:
        person = people.lock(doing.tx, self.person_id)
        now = doing.server.now()
        ban = blocks.ban_in_force(doing.tx, person.id, now)
        if ban is None:
            raise Gone(_("They are not banned."), remedy=_("Nothing was changed."))
        blocks.lift_ban(doing.tx, person.id, now)
        email = outbox.NewEmail(person.id, "banned", facts={"reason": doing.reason, "until": None, "lifted": True})
        outbox.queue(doing.tx, [email], now, now)
        return Done()


@dataclass(frozen=True)
class Release(OnPerson):
    """Let mails go to an address again that is left alone, because whoever does it knows that it works."""

    act = Act.RELEASE
    person_id: int

    def do(self, doing: Doing) -> Done:
        tx = doing.tx
        people.read(tx, self.person_id)
        again = reachability.mark_reachable(tx, doing.server, self.person_id)
        if again is None:
            raise Gone(_("Their address is not left alone: mails go to it."), remedy=_("Nothing was changed."))
        tables = tuple(game.id for game in table_rows.of_person(tx, self.person_id, ("playing",)))
        says = (
            _("Mails go to their address from now on, and what came back until now counts no more."),
            _("Turns that were held back and are mailed now: %(again)s. Clocks that waited go on.", again=again),
        )
        return Done(says, tables=tables)


def _end_of(day: date, zone: str) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(0), ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
