"""What stops clocks or gives time: pauses and extensions of a table, vacations, addresses that cannot be reached.

Each is written down as an interval with its beginning and its end, and every deadline that it concerns is worked out anew
in the same transaction. What the players of a table should know is a row of its log, and they are told by mail. How much
later a deadline becomes is `domain.deadline`'s business.
"""

from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.deadline import parse_extension
from pbem.domain.errors import Gone, NotFound
from pbem.domain.localtime import local_day
from pbem.domain.vacation import YEARLY_BUDGET, Vacation, check_vacation, days_left, parse_vacation
from pbem.service import timekeeping
from pbem.service.house import House
from pbem.service.record import Kind, Record
from pbem.service.seating import write
from pbem.store import deadlines, games, lobby, outages, outbox, people
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outages import VacationRow

ORGANISER: Final = "organiser"


def pause(house: House, game_id: int, reason: str, by: str = ORGANISER) -> None:
    """Stop all clocks of a table until it is resumed, and tell its players; again changes nothing."""
    house.write(lambda tx: _pause(tx, house, game_id, reason, by))


def resume(house: House, game_id: int, reason: str = "", by: str = ORGANISER) -> None:
    """Let the clocks of a paused table go on, and tell its players until when they have time now."""
    house.write(lambda tx: _resume(tx, house, game_id, reason, by))


def extend(house: House, game_id: int, more: str, reason: str, *, seat: int | None = None, by: str = ORGANISER) -> None:
    """Give more time, `1d` or until `2026-12-01 20:00`, to all who are asked at a table or to one seat."""
    house.write(lambda tx: _extend(tx, house, game_id, more, reason, seat, by))


def book_vacation(house: House, person_id: int, text: str) -> Vacation:
    """Book days on which a person's clocks stand still, out of the yearly budget."""
    wanted = parse_vacation(text)
    house.write(lambda tx: _book(tx, house, person_id, wanted))
    return wanted


def cancel_vacation(house: House, person_id: int, vacation_id: int) -> None:
    """Call a vacation off, or end it today if it has begun; the days that were not used are free again."""
    house.write(lambda tx: _cancel(tx, house, person_id, vacation_id))


def vacations(house: House, person_id: int) -> tuple[list[VacationRow], int]:
    """What a person has booked, the first first, and how many days of this year are left."""
    with house.store.read() as tx:
        booked = outages.booked(tx, person_id)
        year = local_day(house.now(), ZoneInfo(people.read(tx, person_id).zone)).year
    return booked, days_left(year, [_days(row) for row in booked], YEARLY_BUDGET)


def address_failed(tx: Tx, house: House, person_id: int, why: str) -> None:
    """Note that mail to a person fails: as long as it does, and the others wait, no clock of theirs runs."""
    locked = _lock_games(tx, person_id)
    if outages.fail(tx, person_id, house.now(), "refused", why):
        _settle_person(tx, house, person_id, locked)


def address_reached(tx: Tx, house: House, person_id: int) -> bool:
    """Note that mail to a person went through again; False if it had not failed.

    What they were to be asked meanwhile is sent once more: without its mail a clock would never start.
    """
    if outages.failure(tx, person_id) is None:
        return False
    locked = _lock_games(tx, person_id)
    now = house.now()
    outages.reach(tx, person_id, now)
    _settle_person(tx, house, person_id, locked)
    for mail in outbox.turns_refused(tx, person_id):
        outbox.change(tx, mail.id, status="queued", due_at=now, claimed_until=None, attempts=0)
        outbox.note(tx, mail.id, now, "resent", "the address can be reached again")
    return True


def _pause(tx: Tx, house: House, game_id: int, reason: str, by: str) -> None:
    game = _playing(tx, game_id)
    if game.paused:
        return
    game = _note(tx, house, game, Kind.PAUSED, None, by, {"reason": reason})
    outages.pause(tx, game_id, house.now())
    lobby.change_game(tx, game_id, paused=True)
    timekeeping.settle_game(tx, house, game, tell=False)
    for person_id in _people(tx, game_id):
        timekeeping.queue_notice(tx, house, person_id, game, None, "paused", {"reason": reason})


def _resume(tx: Tx, house: House, game_id: int, reason: str, by: str) -> None:
    game = _playing(tx, game_id)
    if not game.paused:
        return
    game = _note(tx, house, game, Kind.RESUMED, None, by, {"reason": reason})
    outages.end_pause(tx, game_id, house.now())
    lobby.change_game(tx, game_id, paused=False)
    found = timekeeping.settle_game(tx, house, game, tell=False)
    holders = _holders(tx, game_id)
    told = set()
    for row in deadlines.of_game(tx, game_id):
        if (due := found.get(row.seat)) is not None and due.at is not None:
            person_id = holders[row.seat]
            assert person_id is not None
            timekeeping.queue_notice(tx, house, person_id, game, row, "resumed", {"reason": reason, "due_at": due.at})
            told.add(person_id)
    for person_id in _people(tx, game_id):
        if person_id not in told:
            timekeeping.queue_notice(tx, house, person_id, game, None, "resumed", {"reason": reason})


def _extend(tx: Tx, house: House, game_id: int, more: str, reason: str, seat: int | None, by: str) -> None:
    game = _playing(tx, game_id)
    extension = parse_extension(more, house.now(), ZoneInfo(house.zone))
    holders = _holders(tx, game_id)
    asked = [
        row for row in deadlines.of_game(tx, game_id) if seat in (None, row.seat) and holders[row.seat] is not None
    ]
    if not asked:
        raise Gone("Nobody is asked there just now.", why="More time can be given to a turn that is open.")
    for row in asked:
        game = _note(tx, house, game, Kind.EXTENDED, row.seat, by, {"more": more, "reason": reason})
    for row in asked:
        deadlines.change(tx, row, extensions=timekeeping.extended(row, extension))
        after = deadlines.read(tx, game_id, row.window, row.seat)
        assert after is not None
        person_id = holders[row.seat]
        assert person_id is not None
        found = timekeeping.settle(tx, house, game, after, tell=False)
        facts = {"reason": reason, "more": more, "due_at": found.at}
        timekeeping.queue_notice(tx, house, person_id, game, after, "extended", facts)


def _book(tx: Tx, house: House, person_id: int, wanted: Vacation) -> None:
    # Games before people, as everywhere, so that nobody waits for us while we wait for them.
    locked = _lock_games(tx, person_id)
    person = people.lock(tx, person_id)
    zone = ZoneInfo(person.zone)
    booked = [_days(row) for row in outages.booked(tx, person_id)]
    check_vacation(wanted, booked, house.now(), zone)
    outages.add_vacation(tx, person_id, wanted.first, wanted.last, wanted.interval(zone))
    _settle_person(tx, house, person_id, locked)


def _cancel(tx: Tx, house: House, person_id: int, vacation_id: int) -> None:
    locked = _lock_games(tx, person_id)
    person = people.lock(tx, person_id)
    row = next((row for row in outages.booked(tx, person_id) if row.id == vacation_id), None)
    if row is None:
        raise NotFound("There is no such vacation of yours.", remedy="Your vacations are on your page.")
    now = house.now()
    if row.start_at >= now:
        outages.drop_vacation(tx, vacation_id)
    elif row.end_at > now:
        outages.end_vacation(tx, vacation_id, local_day(now, ZoneInfo(person.zone)), now)
    else:
        raise Gone("This vacation is over.", why="Its days have been used.")
    _settle_person(tx, house, person_id, locked)


def _lock_games(tx: Tx, person_id: int) -> dict[int, GameRow]:
    """The tables at which something is asked of a person, locked in the order of their numbers."""
    numbers = sorted({row.game_id for row in deadlines.of_person(tx, person_id)})
    return {number: games.lock(tx, number) for number in numbers}


def _settle_person(tx: Tx, house: House, person_id: int, locked: dict[int, GameRow]) -> None:
    for row in deadlines.of_person(tx, person_id):
        if row.game_id in locked and row.accepted_at is not None:
            timekeeping.settle(tx, house, locked[row.game_id], row)


def _playing(tx: Tx, game_id: int) -> GameRow:
    game = games.lock(tx, game_id)
    if game.status != "playing":
        raise Gone("This game is not being played.", why="Only a running game has clocks.")
    return game


def _note(tx: Tx, house: House, game: GameRow, kind: Kind, seat: int | None, by: str, body: dict[str, str]) -> GameRow:
    record = Record(game, house.now(), house.randomness)
    record.add(kind, seat, by, body)
    return write(tx, game, record)


def _holders(tx: Tx, game_id: int) -> dict[int | None, int | None]:
    return {place.seat: place.person_id for place in games.places(tx, game_id)}


def _people(tx: Tx, game_id: int) -> list[int]:
    return sorted({place.person_id for place in games.places(tx, game_id) if place.person_id is not None})


def _days(row: VacationRow) -> Vacation:
    return Vacation(row.first, row.last)
