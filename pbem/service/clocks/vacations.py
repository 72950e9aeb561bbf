"""Vacations: days on which a person's clocks stand still, booked and called off. The budget is `domain.vacation`'s."""

from zoneinfo import ZoneInfo

from pbem.domain.errors import Gone, NotFound
from pbem.domain.localtime import local_day
from pbem.domain.vacation import YEARLY_BUDGET, Vacation, check_vacation, days_left, parse_vacation
from pbem.i18n.speech import gettext as _
from pbem.service.clocks.deadlines import lock_games_of, settle_person
from pbem.service.server import Server
from pbem.store import people
from pbem.store import vacations as vacation_rows
from pbem.store.database import Tx
from pbem.store.vacations import VacationRow


def book_text(tx: Tx, server: Server, person_id: int, text: str) -> Vacation:
    """Book days on which a person's clocks stand still, out of the yearly budget."""
    wanted = parse_vacation(text)
    book(tx, server, person_id, wanted)
    return wanted


def book(tx: Tx, server: Server, person_id: int, wanted: Vacation) -> None:
    """The same within a transaction that is under way."""
    # Games before people, as everywhere, so that nobody waits for us while we wait for them.
    locked = lock_games_of(tx, person_id)
    person = people.lock(tx, person_id)
    zone = ZoneInfo(person.zone)
    booked = [_days(row) for row in vacation_rows.of_person(tx, person_id)]
    check_vacation(wanted, booked, server.now(), zone)
    vacation_rows.add(tx, person_id, wanted.first, wanted.last, wanted.interval(zone))
    settle_person(tx, server, person_id, locked)


def cancel(tx: Tx, server: Server, person_id: int, vacation_id: int) -> None:
    """Call a vacation off, or end it today if it has begun; the days that were not used are free again."""
    locked = lock_games_of(tx, person_id)
    person = people.lock(tx, person_id)
    row = next((row for row in vacation_rows.of_person(tx, person_id) if row.id == vacation_id), None)
    if row is None:
        raise NotFound(_("There is no such vacation of yours."), remedy=_("Your vacations are on your page."))
    now = server.now()
    if row.start_at >= now:
        vacation_rows.drop(tx, vacation_id)
    elif row.end_at > now:
        vacation_rows.end(tx, vacation_id, local_day(now, ZoneInfo(person.zone)), now)
    else:
        raise Gone(_("This vacation is over."), why=_("Its days have been used."))
    settle_person(tx, server, person_id, locked)


def vacations(tx: Tx, server: Server, person_id: int) -> tuple[list[VacationRow], int]:
    """What a person has booked, the first first, and how many days of this year are left."""
    booked = vacation_rows.of_person(tx, person_id)
    year = local_day(server.now(), ZoneInfo(people.read(tx, person_id).zone)).year
    return booked, days_left(year, [_days(row) for row in booked], YEARLY_BUDGET)


def _days(row: VacationRow) -> Vacation:
    return Vacation(row.first, row.last)
