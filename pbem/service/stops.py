"""What stops clocks or gives time: pauses and extensions of a table, outages, vacations, addresses that cannot be reached.

Each is written down as an interval with its beginning and its end, and every deadline that it concerns is worked out anew
in the same transaction. What the players of a table should know is a row of its log, and they are told by mail. How much
later a deadline becomes is `domain.deadline`'s business.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.bounce import MEMORY, POINTS, THRESHOLD, Bounce
from pbem.domain.deadline import ExtendedTo, Extension, Reason, parse_extension
from pbem.domain.duration import short_duration
from pbem.domain.errors import Gone, NotFound
from pbem.domain.interval import Interval
from pbem.domain.localtime import local_day
from pbem.domain.speech import gettext as _
from pbem.domain.vacation import YEARLY_BUDGET, Vacation, check_vacation, days_left, parse_vacation
from pbem.service import alarms, play, timekeeping
from pbem.service.house import House
from pbem.service.record import Kind, Record, body_of
from pbem.service.seating import write
from pbem.store import bounces, deadlines, games, lobby, outages, outbox, people, traffic
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outages import OutageRow, VacationRow

_BATCH: Final = 50


def pause_in(tx: Tx, house: House, game_id: int, reason: str, by: str) -> None:
    """Stop all clocks of a table until it is resumed, and tell its players."""
    game = _playing(tx, game_id)
    if game.paused:
        raise Gone(_("This table is paused already."), remedy=_("Nothing was changed."))
    game = _note(tx, house, game, Kind.PAUSED, None, by, {"reason": reason})
    outages.pause(tx, game_id, house.now())
    lobby.change_game(tx, game_id, paused=True)
    timekeeping.settle_game(tx, house, game, tell=False)
    for person_id in _people(tx, game_id):
        timekeeping.queue_notice(tx, house, person_id, game, None, "paused", {"reason": reason, "by": by})


def resume_in(tx: Tx, house: House, game_id: int, reason: str, by: str) -> None:
    """Let the clocks of a paused table go on, and tell its players until when they have time now."""
    game = _playing(tx, game_id)
    if not game.paused:
        raise Gone(_("This table is not paused."), remedy=_("Nothing was changed."))
    game = _note(tx, house, game, Kind.RESUMED, None, by, {"reason": reason})
    outages.end_pause(tx, game_id, house.now())
    lobby.change_game(tx, game_id, paused=False)
    tell_with_clocks_in(tx, house, game, "resumed", {"reason": reason, "by": by})


def tell_with_clocks_in(tx: Tx, house: House, game: GameRow, what: str, facts: Mapping[str, object]) -> None:
    """Work all deadlines of a table out anew, and tell everybody there what happened, and until when they have time."""
    found = timekeeping.settle_game(tx, house, game, tell=False)
    holders, asked = _holders(tx, game.id), deadlines.of_game(tx, game.id)
    for person_id in _people(tx, game.id):
        mine = [row for row in asked if holders[row.seat] == person_id]
        # A clock that has not started gets its moment with the mail of the turn.
        running: list[deadlines.DeadlineRow | None] = [row for row in mine if row.seat in found and found[row.seat].at]
        for row in running or [None]:
            said = {**facts, "in_turn": bool(mine), "due_at": None if row is None else found[row.seat].at}
            timekeeping.queue_notice(tx, house, person_id, game, row, what, said)


def extend_in(tx: Tx, house: House, game_id: int, more: str, reason: str, seat: int | None, by: str) -> None:
    """Give more time, `1d` or until `2026-12-01 20:00`, to all who are asked at a table or to one seat."""
    game = _playing(tx, game_id)
    extension = parse_extension(more, house.now(), ZoneInfo(house.zone))
    holders = _holders(tx, game_id)
    asked = [
        row for row in deadlines.of_game(tx, game_id) if seat in (None, row.seat) and holders[row.seat] is not None
    ]
    if not asked:
        raise Gone(_("Nobody is asked there just now."), why=_("More time can be given to a turn that is open."))
    # One row for all: a row for each would tell everybody who has not answered yet.
    game = _note(tx, house, game, Kind.EXTENDED, seat, by, {"more": more, "reason": reason})
    for row in asked:
        deadlines.change(tx, row, extensions=timekeeping.extended(row, extension))
        after = deadlines.read(tx, game_id, row.window, row.seat)
        assert after is not None
        person_id = holders[row.seat]
        assert person_id is not None
        found = timekeeping.settle(tx, house, game, after, tell=False)
        facts = {"reason": reason, "by": by, "more": more, "due_at": found.at}
        timekeeping.queue_notice(tx, house, person_id, game, after, "extended", facts)
    told = {holders[row.seat] for row in asked}
    _tell_the_others(
        tx, house, game, [who for who in _people(tx, game_id) if who not in told], extension, seat, reason, by
    )


def delay_in(tx: Tx, house: House, game_id: int, outage: OutageRow) -> None:
    """Move the clocks of a table that ran in an outage; where a deadline does move, the record says why.

    What somebody has declared is told to everybody there with their reason; of an outage that was found by itself only
    those hear whose deadline it moves by much, because short ones are nobody's concern.
    """
    game = games.lock(tx, game_id)
    timekeeping.settle_game(tx, house, game, tell=not outage.why)
    delayed = timekeeping.delayed_by(tx, game, Interval(outage.start_at, outage.end_at))
    span = {"start": outage.start_at.isoformat(), "end": outage.end_at.isoformat()}
    if not delayed or _is_noted(tx, game, outage, span):
        return
    if not outage.why:
        _note(tx, house, game, Kind.DELAYED, None, "table", span)
        return
    why = {"reason": outage.why, "by": "organiser"}
    game = _note(tx, house, game, Kind.DELAYED, None, why["by"], span | {"reason": outage.why})
    holders = _holders(tx, game_id)
    for seat, row in delayed.items():
        person_id = holders[seat]
        assert person_id is not None, "a bot has no clock"
        facts = {**why, "due_at": row.due_at, "because": [Reason.OUTAGE.value]}
        timekeeping.queue_notice(tx, house, person_id, game, row, "deadline", facts)
    for person_id in sorted(set(_people(tx, game_id)) - {holders[seat] for seat in delayed}):
        timekeeping.queue_notice(tx, house, person_id, game, None, "delayed", {**why, **span})


def book_vacation(house: House, person_id: int, text: str) -> Vacation:
    """Book days on which a person's clocks stand still, out of the yearly budget."""
    wanted = parse_vacation(text)
    house.write(lambda tx: book_vacation_in(tx, house, person_id, wanted))
    return wanted


def book_vacation_in(tx: Tx, house: House, person_id: int, wanted: Vacation) -> None:
    """The same within a transaction that is under way."""
    # Games before people, as everywhere, so that nobody waits for us while we wait for them.
    locked = _lock_games(tx, person_id)
    person = people.lock(tx, person_id)
    zone = ZoneInfo(person.zone)
    booked = [_days(row) for row in outages.booked(tx, person_id)]
    check_vacation(wanted, booked, house.now(), zone)
    outages.add_vacation(tx, person_id, wanted.first, wanted.last, wanted.interval(zone))
    _settle_person(tx, house, person_id, locked)


def cancel_vacation(house: House, person_id: int, vacation_id: int) -> None:
    """Call a vacation off, or end it today if it has begun; the days that were not used are free again."""
    house.write(lambda tx: _cancel(tx, house, person_id, vacation_id))


def vacations(house: House, person_id: int) -> tuple[list[VacationRow], int]:
    """What a person has booked, the first first, and how many days of this year are left."""
    with house.store.read() as tx:
        booked = outages.booked(tx, person_id)
        year = local_day(house.now(), ZoneInfo(people.read(tx, person_id).zone)).year
    return booked, days_left(year, [_days(row) for row in booked], YEARLY_BUDGET)


def bounced(tx: Tx, house: House, person_id: int, kind: Bounce, why: str) -> None:
    """Note that a mail to a person came back, or that they called it spam; enough of that, and the address is left alone."""
    if kind is Bounce.COMPLAINT:
        _fail(tx, house, person_id, "complained", why)
    else:
        scored(tx, house, person_id, kind, why)
    domain = people.read(tx, person_id).mailbox.rpartition("@")[2]
    said = "complained" if kind is Bounce.COMPLAINT else "bounced"
    traffic.count(tx, house.now().date(), said, {domain: 1})


def scored(tx: Tx, house: House, person_id: int, kind: Bounce, why: str) -> None:
    """Count against an address that a mail to it failed; enough of that, and it is left alone."""
    people.lock(tx, person_id)
    today = house.now().date()
    bounces.add(tx, person_id, today, POINTS[kind])
    if bounces.points(tx, person_id, today - MEMORY) >= THRESHOLD:
        _fail(tx, house, person_id, "bounced", why)


def refused(tx: Tx, house: House, person_id: int, why: str) -> None:
    """Note that our own relay says there is no such address: that is no guess, so the address is left alone at once."""
    _fail(tx, house, person_id, "refused", why)


def taken(tx: Tx, house: House, person_id: int) -> bool:
    """Note that our relay has taken a mail to a person; whether that ends a time in which mail to them failed.

    It does where it was the relay that said no. Where mails came back later, that it takes one says nothing.
    """
    failure = outages.failure(tx, person_id)
    if failure is None or failure.cause != "refused":
        return False
    _reach(tx, house, person_id)
    return True


def heard_from(tx: Tx, house: House, person_id: int, since: datetime | None = None) -> bool:
    """Note a sign that mail reaches a person: an answer, or a click on a link that was mailed at that moment.

    Whether that ends a time in which mail to them failed: a link from before says nothing of now.
    """
    failure = outages.failure(tx, person_id)
    if since is None:
        bounces.forget(tx, person_id)
    if failure is None or (since is not None and since < failure.start_at):
        return False
    _reach(tx, house, person_id)
    return True


def reached_in(tx: Tx, house: House, person_id: int) -> int | None:
    """Note that mail to a person arrives again, for a reason that somebody knows; None where it did anyway.

    How many turns are mailed again because of it.
    """
    return _reach(tx, house, person_id)


def forgive(house: House) -> int:
    """Try addresses again that have been left alone for so long that they may work by now; how many those were."""
    now = house.now()
    with house.store.read() as tx:
        gone = outages.failing(tx, now - MEMORY, _BATCH)
    for failure in gone:
        house.write(partial(_reach, house=house, person_id=failure.person_id))
    house.write(lambda tx: bounces.forget_before(tx, now.date() - MEMORY))
    return len(gone)


def _cancel(tx: Tx, house: House, person_id: int, vacation_id: int) -> None:
    locked = _lock_games(tx, person_id)
    person = people.lock(tx, person_id)
    row = next((row for row in outages.booked(tx, person_id) if row.id == vacation_id), None)
    if row is None:
        raise NotFound(_("There is no such vacation of yours."), remedy=_("Your vacations are on your page."))
    now = house.now()
    if row.start_at >= now:
        outages.drop_vacation(tx, vacation_id)
    elif row.end_at > now:
        outages.end_vacation(tx, vacation_id, local_day(now, ZoneInfo(person.zone)), now)
    else:
        raise Gone(_("This vacation is over."), why=_("Its days have been used."))
    _settle_person(tx, house, person_id, locked)


def _fail(tx: Tx, house: House, person_id: int, cause: str, why: str) -> None:
    """As long as mail to a person fails, and the others wait, no clock of theirs runs; and all who wait are told."""
    locked = _lock_games(tx, person_id)
    if not outages.fail(tx, person_id, house.now(), cause, why):
        return
    _settle_person(tx, house, person_id, locked)
    for game, who, other in _companions(tx, person_id):
        timekeeping.queue_notice(tx, house, other, game, None, "unreachable", {"who": who})
    name = people.read(tx, person_id).name or "somebody who has given no name"
    said = f"{name} ({cause}); their tables wait a week at most. A server said: {why}"
    alarms.raise_in(tx, house, alarms.What.UNREACHABLE, said)


def _reach(tx: Tx, house: House, person_id: int) -> int | None:
    """Mail to a person arrives again; None if it did anyway, or how many turns are mailed again.

    What they were to be asked meanwhile is sent: without its mail no clock would start.
    """
    locked = _lock_games(tx, person_id)
    now = house.now()
    if not outages.reach(tx, person_id, now):
        return None
    bounces.forget(tx, person_id)
    _settle_person(tx, house, person_id, locked)
    held_back = outbox.turns_refused(tx, person_id)
    for mail in held_back:
        outbox.change(tx, mail.id, status="queued", due_at=now, claimed_until=None, attempts=0)
        outbox.note(tx, mail.id, now, "resent", "the address can be reached again")
    for game, who, other in _companions(tx, person_id):
        timekeeping.queue_notice(tx, house, other, game, None, "reachable", {"who": who})
    return len(held_back)


def _companions(tx: Tx, person_id: int) -> list[tuple[GameRow, str, int]]:
    """Everybody who plays with a person: at which table, what the person is called there, and who that is."""
    found = []
    for game in lobby.of_person(tx, person_id, ("playing",)):
        places = games.places(tx, game.id)
        who = next(place.name for place in places if place.person_id == person_id)
        others = {place.person_id for place in places if place.person_id is not None} - {person_id}
        found += [(game, who, other) for other in sorted(others)]
    return found


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
        raise Gone(_("This game is not being played."), why=_("Only a running game has clocks."))
    return game


def _note(tx: Tx, house: House, game: GameRow, kind: Kind, seat: int | None, by: str, body: dict[str, str]) -> GameRow:
    record = Record(game, house.now(), house.randomness)
    record.add(kind, seat, by, body)
    return write(tx, game, record)


def _is_noted(tx: Tx, game: GameRow, outage: OutageRow, span: Mapping[str, str]) -> bool:
    """Whether the record tells of an outage already, because a worker died that had moved the clocks of some tables."""
    since = takewhile(lambda row: row.at >= outage.end_at, games.chain_back(tx, game.id, game.key))
    rules = play.rules_of(game)
    return any(span.items() <= body_of(rules, row).items() for row in since if row.kind == Kind.DELAYED)


def _holders(tx: Tx, game_id: int) -> dict[int | None, int | None]:
    return {place.seat: place.person_id for place in games.places(tx, game_id)}


def _tell_the_others(
    tx: Tx,
    house: House,
    game: GameRow,
    others: list[int],
    extension: Extension,
    seat: int | None,
    reason: str,
    by: str,
) -> None:
    """Say that there is more time for a seat, or for all who are asked, and no more than the row does: not who those are."""
    who = "" if seat is None else next(place.name for place in games.places(tx, game.id) if place.seat == seat)
    facts: dict[str, object] = {"reason": reason, "by": by, "who": who}
    if isinstance(extension, ExtendedTo):
        facts["until"] = extension.moment
    else:
        facts["length"] = short_duration(extension.amount)
    for person_id in others:
        timekeeping.queue_notice(tx, house, person_id, game, None, "others_extended", facts)


def _people(tx: Tx, game_id: int) -> list[int]:
    return sorted({place.person_id for place in games.places(tx, game_id) if place.person_id is not None})


def _days(row: VacationRow) -> Vacation:
    return Vacation(row.first, row.last)
