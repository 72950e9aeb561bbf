"""Clocks: what a mail promises, when a clock starts, and when it has run out.

    rendered   `promise` says what to print, and keeps it: it is never taken back
    accepted   `mail_accepted` starts the clock when the next hop has taken the mail
    changed    `settle` works a deadline out anew whenever something has stopped clocks or given time

`domain.deadline` decides, from the rows that `turn_of` gathers. A deadline that was told only ever moves later, and who
was told another moment than the one that counts gets a mail about it, once. Nothing fires here: see `timeouts`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pbem.domain.deadline import (
    Due,
    ExtendedBy,
    ExtendedTo,
    Extension,
    Reason,
    Turn,
    differs,
    due,
    offered_at,
    printed,
)
from pbem.domain.delivery import starts_without_mail
from pbem.domain.pace import parse_pace
from pbem.domain.quiet import parse_quiet
from pbem.domain.reminder import parse_cadence, reminders
from pbem.service.house import House
from pbem.store import deadlines, games, outages, outbox, people
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow
from pbem.store.people import PersonRow


@dataclass(frozen=True, slots=True)
class Clock:
    """The deadline of one seat with the rows that it depends on."""

    game: GameRow
    person: PersonRow
    row: DeadlineRow
    turn: Turn


def promise(tx: Tx, house: House, game: GameRow, window: int, seat: int, rendered_at: datetime) -> Due:
    """Until when to print in a turn's mail that is being rendered; kept as what its reader was told.

    The transaction holds the lock of the game. When the mail is a repetition and the clock runs already, the moment is
    that of the running clock. Nothing is promised where nothing is asked any more, and `at` is None while all stands still.
    """
    row = deadlines.read(tx, game.id, window, seat)
    if row is None or row.status != "open":
        return Due(None, None)
    if row.accepted_at is None:
        row = replace(row, rendered_at=rendered_at)
    clock = _clock(tx, game, row)
    if clock is None:
        return Due(None, None)
    turn = _as_read(clock.turn)
    told = printed(turn) if row.accepted_at is None else due(turn)
    deadlines.change(tx, row, rendered_at=row.rendered_at, promised_at=_later(row.promised_at, told.at))
    return told


def still_promised(tx: Tx, house: House, game_id: int, window: int, seat: int) -> bool:
    """Whether what a rendered mail says would still be near enough to the truth if it left now.

    If not, it is better replaced by one that is rendered anew. The clock of a seat that is asked no more is no reason.
    """
    row = deadlines.read(tx, game_id, window, seat)
    if row is None or row.status != "open" or row.accepted_at is not None or row.promised_at is None:
        return True
    clock = _clock(tx, games.read(tx, game_id), replace(row, rendered_at=house.now()))
    if clock is None:
        return True
    at = printed(_as_read(clock.turn)).at
    return at is not None and not differs(row.promised_at, at, clock.turn.pace)


def mail_accepted(tx: Tx, house: House, mail: OutboxRow, accepted_at: datetime) -> None:
    """Start the clock of a turn, because its mail was accepted by the next hop; a repetition starts nothing."""
    if mail.kind == "turn" and mail.game_id is not None and mail.window is not None and mail.seat is not None:
        _start(tx, house, (mail.game_id, mail.window, mail.seat), mail.person_id, accepted_at)


def start_without_mail(tx: Tx, house: House, game_id: int, window: int, seat: int, person_id: int) -> None:
    """Start the clock of a turn whose mail its reader does not want at once: as if it had been sent when it was asked."""
    row, person = deadlines.read(tx, game_id, window, seat), people.read(tx, person_id)
    if row is not None:
        quiet = parse_quiet(person.quiet, ZoneInfo(person.zone)) if person.quiet else None
        started = starts_without_mail(row.asked_at, house.hold, quiet)
        _start(tx, house, (game_id, window, seat), person_id, started)


def start_in(tx: Tx, house: House, game: GameRow, row: DeadlineRow, accepted_at: datetime) -> None:
    """Start a clock that has not started. The transaction holds the lock of the game."""
    deadlines.change(tx, row, accepted_at=accepted_at)
    settle(tx, house, game, replace(row, accepted_at=accepted_at))


def settle(tx: Tx, house: House, game: GameRow, row: DeadlineRow, *, tell: bool = True) -> Due:
    """Work a deadline out anew from all that is known, write it down, and tell its player if it moved by much.

    The transaction holds the lock of the game. `tell` is off where a mail that says the same is queued anyway.
    """
    clock = _clock(tx, game, row)
    if clock is None:
        return Due(row.accepted_at, row.due_at)
    found = known(clock, house.now())
    promised = row.promised_at
    if found.at is not None and (promised is None or differs(promised, found.at, clock.turn.pace) or not tell):
        if promised is not None and tell:
            because = [part.reason.value for part in found.parts]
            queue_notice(tx, house, clock.person.id, game, row, "deadline", {"due_at": found.at, "because": because})
        promised = found.at
    deadlines.change(tx, row, due_at=found.at, remind_at=_next_reminder(clock, found), promised_at=promised)
    return found


def settle_game(tx: Tx, house: House, game: GameRow, *, tell: bool = True) -> dict[int, Due]:
    """All open deadlines of a game whose clocks have started, worked out anew, by seat."""
    started = [row for row in deadlines.of_game(tx, game.id) if row.accepted_at is not None]
    return {row.seat: settle(tx, house, game, row, tell=tell) for row in started}


def clock_of(tx: Tx, game: GameRow, window: int, seat: int) -> Clock | None:
    """The clock of a seat; None where nobody's time is running: nothing is asked, or a bot is."""
    row = deadlines.read(tx, game.id, window, seat)
    return None if row is None or row.status != "open" else _clock(tx, game, row)


def known(clock: Clock, now: datetime) -> Due:
    """The deadline as it is known now: while mail fails, and the others wait, nobody knows how long that will take."""
    found = due(clock.turn)
    over = offered_at(clock.turn)
    if over is not None and over > now and any(failure.end is None for failure in clock.turn.unreachable):
        return Due(found.start, None, (), Reason.UNREACHABLE)
    return found


def reminder_moments(clock: Clock, found: Due) -> tuple[datetime, ...]:
    """When to remind the player, in the cadence that they have chosen."""
    return reminders(clock.turn, found, parse_cadence(clock.person.cadence))


def given_up_at(clock: Clock) -> datetime | None:
    """When the others need wait no longer for somebody whose address cannot be reached."""
    return offered_at(clock.turn)


def extended(row: DeadlineRow, extension: Extension) -> str:
    """The extensions of a deadline with one more, as they are stored."""
    return json.dumps([*json.loads(row.extensions), _written(extension)])


def queue_notice(
    tx: Tx,
    house: House,
    person_id: int,
    game: GameRow,
    row: DeadlineRow | None,
    what: str,
    facts: Mapping[str, Any],
) -> None:
    """Tell somebody at a table what has happened to its time. Moments in the facts are written as text."""
    said = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in facts.items()}
    seat, window = (None, None) if row is None else (row.seat, row.window)
    letter = outbox.Letter(person_id, "notice", game.id, None, seat, window, {"what": what} | said)
    now = house.now()
    outbox.queue(tx, [letter], now, now)


def _start(tx: Tx, house: House, key: tuple[int, int, int], person_id: int, accepted_at: datetime) -> None:
    game_id, window, seat = key
    game = games.lock(tx, game_id)
    row = deadlines.read(tx, game_id, window, seat)
    if row is None or row.accepted_at is not None:
        return
    holder = next((place.person_id for place in games.places(tx, game_id) if place.seat == seat), None)
    # A mail to whoever sat there before starts nothing: the clock waits for the mail to the new player.
    if holder == person_id:
        start_in(tx, house, game, row, accepted_at)


def _as_read(turn: Turn) -> Turn:
    """The turn as the reader of its mail has it: whoever reads it can be reached."""
    return replace(turn, unreachable=tuple(failure for failure in turn.unreachable if failure.end is not None))


def _next_reminder(clock: Clock, found: Due) -> datetime | None:
    """The first moment that has not had its reminder; moments are counted, because they move with the deadline."""
    return next(iter(reminder_moments(clock, found)[clock.row.reminded :]), None)


def _clock(tx: Tx, game: GameRow, row: DeadlineRow) -> Clock | None:
    place = next((place for place in games.places(tx, game.id) if place.seat == row.seat), None)
    if place is None or place.person_id is None:
        return None
    person = people.read(tx, place.person_id)
    return Clock(game, person, row, turn_of(tx, game, person, row))


def turn_of(tx: Tx, game: GameRow, person: PersonRow, row: DeadlineRow) -> Turn:
    """All that a deadline depends on, gathered from the rows."""
    zone = ZoneInfo(person.zone)
    since = row.asked_at
    return Turn(
        pace=parse_pace(game.pace),
        zone=zone,
        rendered_at=row.rendered_at or row.asked_at,
        accepted_at=row.accepted_at,
        # What a page has shown counts as much as what a mail has: pages show `due_at`.
        promised=_later(row.promised_at, row.due_at),
        outages=outages.outages(tx, since),
        pauses=outages.pauses(tx, game.id, since),
        unreachable=outages.failures(tx, person.id, since),
        vacations=outages.vacations(tx, person.id, since),
        extensions=tuple(_read(text) for text in json.loads(row.extensions)),
        quiet=parse_quiet(person.quiet, zone) if person.quiet else None,
    )


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((moment for moment in (one, other) if moment is not None), default=None)


def _written(extension: Extension) -> str:
    if isinstance(extension, ExtendedTo):
        return extension.moment.isoformat()
    return str(int(extension.amount.total_seconds()))


def _read(text: str) -> Extension:
    return ExtendedBy(timedelta(seconds=int(text))) if text.isdigit() else ExtendedTo(_moment(text))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
