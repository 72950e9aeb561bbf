"""Vacations: days on which a person's clocks are stopped. Their yearly budget is in `domain.vacation`."""

from pbem.domain.errors import Gone, NotFound
from pbem.domain.localtime import local_day, stored_zone
from pbem.domain.vacation import YEARLY_BUDGET, Vacation, check_vacation, days_left, parse_vacation
from pbem.i18n.speech import gettext as _
from pbem.service.clocks.deadlines import lock_games_of, settle_person
from pbem.service.server import Server
from pbem.store import people, vacations as vacation_rows
from pbem.store.database import Tx
from pbem.store.vacations import VacationRow


def book_text(tx: Tx, server: Server, person_id: int, text: str) -> None:
    """Book a vacation given as text."""
    book(tx, server, person_id, parse_vacation(text))


def book(tx: Tx, server: Server, person_id: int, vacation: Vacation) -> None:
    """Book a vacation within the yearly budget, and settle the person's deadlines."""
    # Games are locked before people, as everywhere, against deadlocks.
    locked = lock_games_of(tx, person_id)
    zone = stored_zone(people.lock(tx, person_id).zone)
    booked = [_days(row) for row in vacation_rows.of_person(tx, person_id)]
    check_vacation(vacation, booked, server.now(), zone)
    vacation_rows.add(tx, person_id, vacation.first, vacation.last, vacation.interval(zone))
    settle_person(tx, server, person_id, locked)


def cancel(tx: Tx, server: Server, person_id: int, vacation_id: int) -> None:
    """Cancel a vacation, or end it today if it has begun; unused days go back to the budget."""
    locked = lock_games_of(tx, person_id)
    person = people.lock(tx, person_id)
    row = next((row for row in vacation_rows.of_person(tx, person_id) if row.id == vacation_id), None)
    if row is None:
        raise NotFound(_("You have no such vacation."), remedy=_("Your vacations are on your settings page."))
    now = server.now()
    if row.start_at >= now:
        vacation_rows.drop(tx, vacation_id)
    elif row.end_at > now:
        vacation_rows.end(tx, vacation_id, local_day(now, stored_zone(person.zone)), now)
    else:
        raise Gone(_("This vacation is over."), why=_("Its days are used up."))
    settle_person(tx, server, person_id, locked)


def vacations(tx: Tx, server: Server, person_id: int) -> tuple[list[VacationRow], int]:
    """A person's vacations in order, and the days left this year."""
    booked = vacation_rows.of_person(tx, person_id)
    year = local_day(server.now(), stored_zone(people.read(tx, person_id).zone)).year
    return booked, days_left(year, [_days(row) for row in booked], YEARLY_BUDGET)


def _days(row: VacationRow) -> Vacation:
    return Vacation(row.first, row.last)
