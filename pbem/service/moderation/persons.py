"""Acts on people: their address is changed, they are banned, a ban is lifted."""

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Gone
from pbem.domain.speech import gettext as _
from pbem.service import links, sessions, stops
from pbem.service import people as persons
from pbem.service.moderation.doing import Doing, Done, OnPerson
from pbem.store import bans, deadlines, games, lobby, outbox, people
from pbem.store.sessions import Holder


@dataclass(frozen=True)
class ChangeAddress(OnPerson):
    """Let a person's mails go to another address from now on. Old links die, and what is asked is mailed again."""

    act = Act.ADDRESS
    person_id: int
    address: str = field(repr=False)

    def do(self, doing: Doing) -> Done:
        tx, house = doing.tx, doing.house
        given, mailbox = persons.normalised(self.address)
        asked = deadlines.of_person(tx, self.person_id)
        # Games before people, as everywhere, so that nobody waits for us while we wait for them.
        locked = {number: games.lock(tx, number) for number in sorted({row.game_id for row in asked})}
        person = people.lock(tx, self.person_id)
        if person.mailbox == mailbox:
            raise Gone(_("This is their address already."), remedy=_("Nothing was changed."))
        other = people.by_mailbox(tx, mailbox)
        if other is not None:
            raise BadInput(
                _("This address is known here already, as person %(id)s.", id=other.id),
                remedy=_("Nothing was changed; if both are one person, merge them on the page about people."),
            )
        people.change(tx, person.id, address=given, mailbox=mailbox)
        links.revoke_person_in(tx, person.id)
        sessions.end_all_in(tx, house, Holder(person_id=person.id))
        stops.reached_in(tx, house, person.id)
        now = house.now()
        # Whoever reads the old one hears of it too: an organiser can be deceived.
        before = persons.known_in(tx, house, person.address)
        facts = {"reason": doing.reason}
        letters = [outbox.Letter(before.id, "moved", facts=facts | {"here": False})]
        letters += [outbox.Letter(person.id, "moved", facts=facts | {"here": True})]
        letters += [
            outbox.Letter(person.id, "turn", row.game_id, None, row.seat, row.window)
            for row in asked
            if row.window == locked[row.game_id].window
        ]
        outbox.queue(tx, letters, now, now)
        tables = len(lobby.of_person(tx, person.id, ("open", "playing")))
        says = (
            f"Tables of theirs: {tables}. Links in older mails die; {len(asked)} open turns are mailed again.",
            "The old address gets a mail that says so, and knows no other.",
        )
        return Done(says, kept={"before": before.id}, undo=None)

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
        now = doing.house.now()
        end = None if self.until is None else _end_of(self.until, doing.house.zone)
        if end is not None and end <= now:
            raise BadInput(_("This ban would be over already."), remedy=_("Please name a day that is still to come."))
        bans.lift(doing.tx, person.id, now)
        bans.add(doing.tx, person.id, now, end, doing.reason)
        facts = {"reason": doing.reason, "until": self.until and self.until.isoformat(), "lifted": False}
        outbox.queue(doing.tx, [outbox.Letter(person.id, "banned", facts=facts)], now, now)
        tables = len(lobby.of_person(doing.tx, person.id, ("playing",)))
        says = (f"They play on at {tables} tables; none of their games is touched.",)
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
        now = doing.house.now()
        ban = bans.in_force(doing.tx, person.id, now)
        if ban is None:
            raise Gone(_("They are not banned."), remedy=_("Nothing was changed."))
        bans.lift(doing.tx, person.id, now)
        letter = outbox.Letter(person.id, "banned", facts={"reason": doing.reason, "until": None, "lifted": True})
        outbox.queue(doing.tx, [letter], now, now)
        return Done()


def _end_of(day: date, zone: str) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(0), ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
