"""Clocks: what a mail promises, when a clock starts, and when it has run out.

    rendered   `promise` says what to print, and keeps it: it is never taken back
    accepted   `mails_accepted` starts the clocks when the next hop has taken the mails
    changed    `settle` works a deadline out anew whenever something has stopped clocks or given time

`domain.deadline` decides, from the rows that `clocks_of` gathers, for many clocks with as few statements as for one. A deadline that was told only ever moves later, and who
was told another moment than the one that counts gets a mail about it, once. Nothing fires here: see `timeouts`.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from zoneinfo import ZoneInfo

from pbem.domain.deadline import (
    Deadline,
    ExtendedBy,
    ExtendedTo,
    Extension,
    Reason,
    Turn,
    deadline_of,
    is_noticeably_later,
    printed_deadline,
    reasons_later,
    seat_offer_at,
)
from pbem.domain.delivery import starts_without_mail
from pbem.domain.interval import Interval
from pbem.domain.pace import parse_pace
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.reminder import parse_cadence, reminders
from pbem.service.server import Server
from pbem.store import (
    deadlines,
    games,
    outages,
    outbox,
    people,
    reachability,
)
from pbem.store import pauses as pause_rows
from pbem.store import (
    players as player_rows,
)
from pbem.store import vacations as vacation_rows
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow, Key
from pbem.store.games import GameRow
from pbem.store.intervals import Times
from pbem.store.outbox import EmailRow
from pbem.store.people import PersonRow

Games = Mapping[int, GameRow]
"""Games by their numbers."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The deadline of one seat with the rows that it depends on."""

    game: GameRow
    person: PersonRow
    row: DeadlineRow
    timing: Turn


def promise(tx: Tx, games: Games, keys: Collection[Key], rendered_at: datetime) -> dict[Key, Deadline]:
    """Until when to print in the mails of turns that are being rendered; kept as what their readers were told.

    The games are locked. When a mail is a repetition and the clock runs already, the moment is that of the running clock.
    Nothing is promised where nothing is asked any more, and `at` is None while all stands still.
    """
    asked = [row for row in deadlines.read_all(tx, keys).values() if row.status == "open"]
    anew = [row if row.accepted_at is not None else replace(row, rendered_at=rendered_at) for row in asked]
    clocks = clocks_of(tx, games, anew)
    told = {key: _told(clock) for key, clock in clocks.items()}
    deadlines.write_all(
        tx,
        (replace(clock.row, promised_at=_later(clock.row.promised_at, told[key].at)) for key, clock in clocks.items()),
    )
    return {key: told.get(key, Deadline(None, None)) for key in keys}


def broken_promises(tx: Tx, server: Server, games: Games, keys: Collection[Key]) -> set[Key]:
    """The turns whose rendered mails would be too far from the truth if they left now, and are better rendered anew.

    The clock of a seat that is asked no more is no reason.
    """
    waiting = [
        replace(row, rendered_at=server.now())
        for row in deadlines.read_all(tx, keys).values()
        if row.status == "open" and row.accepted_at is None and row.promised_at is not None
    ]
    return {key for key, clock in clocks_of(tx, games, waiting).items() if _is_broken(clock)}


def emails_accepted(tx: Tx, server: Server, games: Games, emails: Iterable[tuple[EmailRow, datetime]]) -> None:
    """Start the clocks of turns, because their mails were accepted by the next hop; a repetition starts nothing."""
    turns = {
        (email.game_id, email.turn, email.seat): (email.person_id, accepted_at)
        for email, accepted_at in emails
        if email.kind == "turn" and email.game_id is not None and email.turn is not None and email.seat is not None
    }
    _start(tx, server, games, turns)


def start_without_mail(tx: Tx, server: Server, game: GameRow, turn: int, seat: int, person_id: int) -> None:
    """Start the clock of a turn whose mail its reader does not want at once: as if it had been sent when it was asked."""
    row, person = deadlines.read(tx, game.id, turn, seat), people.read(tx, person_id)
    if row is not None:
        quiet = parse_quiet(person.quiet, ZoneInfo(person.zone)) if person.quiet else None
        started = starts_without_mail(row.asked_at, server.hold, quiet)
        _start(tx, server, {game.id: game}, {(game.id, turn, seat): (person_id, started)})


def start_clock(tx: Tx, server: Server, game: GameRow, row: DeadlineRow, accepted_at: datetime) -> None:
    """Start a clock that has not started. The transaction holds the lock of the game."""
    settle(tx, server, game, replace(row, accepted_at=accepted_at))


def settle(tx: Tx, server: Server, game: GameRow, row: DeadlineRow, *, tell: bool = True) -> Deadline:
    """Work a deadline out anew from all that is known, write it down, and tell its player if it moved by much.

    The transaction holds the lock of the game. `tell` is off where a mail that says the same is queued anyway.
    """
    return _settle(tx, server, clocks_of(tx, {game.id: game}, [row]), tell=tell).get(
        _key(row), Deadline(row.accepted_at, row.due_at)
    )


def settle_game(tx: Tx, server: Server, game: GameRow, *, tell: bool = True) -> dict[int, Deadline]:
    """All open deadlines of a game whose clocks have started, worked out anew, by seat; those of bots are left out."""
    started = [row for row in deadlines.of_game(tx, game.id) if row.accepted_at is not None]
    settled = _settle(tx, server, clocks_of(tx, {game.id: game}, started), tell=tell)
    return {seat: found for (_, _, seat), found in settled.items()}


def delayed_by(tx: Tx, game: GameRow, outage: Interval) -> dict[int, DeadlineRow]:
    """The open deadlines of a game, as they are written down, that would be earlier without an outage, by seat.

    Whoever has moved them: any act that works deadlines out anew knows of an outage as soon as it is written down.
    """
    clocks = clocks_of(tx, {game.id: game}, [row for row in deadlines.of_game(tx, game.id) if row.due_at is not None])
    delayed = {}
    for clock in clocks.values():
        # A moment that was told counts for both, and says nothing of why it is what it is.
        timing = replace(clock.timing, promised=None)
        others = tuple(each for each in timing.outages if each != outage)
        at, without = deadline_of(timing).at, deadline_of(replace(timing, outages=others)).at
        if at is not None and without is not None and without < at == clock.row.due_at:
            delayed[clock.row.seat] = clock.row
    return delayed


def outdated_games(tx: Tx, game_ids: Collection[int]) -> set[int]:
    """Those of these games in which a deadline, as it is written down, is earlier than all that is known now makes it."""
    rows = [row for row in deadlines.of_games(tx, game_ids) if row.due_at is not None]
    clocks = clocks_of(tx, games.read_all(tx, game_ids), rows)
    # A moment that was told counts too, so that it is never later than what counts.
    return {clock.game.id for clock in clocks.values() if deadline_of(clock.timing).at not in (None, clock.row.due_at)}


def clock_of(tx: Tx, game: GameRow, turn: int, seat: int) -> Clock | None:
    """The clock of a seat; None where nobody's time is running: nothing is asked, or a bot is."""
    row = deadlines.read(tx, game.id, turn, seat)
    return None if row is None or row.status != "open" else clocks_of(tx, {game.id: game}, [row]).get(_key(row))


def clocks_of(tx: Tx, games: Games, rows: Collection[DeadlineRow]) -> dict[Key, Clock]:
    """The clocks of these deadlines, with all that they depend on; none where a bot plays."""
    if not rows:
        return {}
    of_games = {row.game_id for row in rows}
    seated = {
        (game_id, player.seat): player.person_id
        for game_id, players in player_rows.of_games(tx, of_games).items()
        for player in players
        if player.person_id is not None
    }
    played = [row for row in rows if (row.game_id, row.seat) in seated]
    persons = people.read_all(tx, {seated[row.game_id, row.seat] for row in played})
    still = _Still.since(tx, min(row.asked_at for row in rows), of_games, persons.keys())
    clocks = {}
    for row in played:
        game, person = games[row.game_id], persons[seated[row.game_id, row.seat]]
        clocks[_key(row)] = Clock(game, person, row, _turn(game, person, row, still))
    return clocks


def current_deadline(clock: Clock, now: datetime) -> Deadline:
    """The deadline as it is known now: while mail fails, and the others wait, nobody knows how long that will take."""
    found = deadline_of(clock.timing)
    over = seat_offer_at(clock.timing)
    if over is not None and over > now and any(failure.end is None for failure in clock.timing.unreachable):
        return Deadline(found.start, None, (), Reason.UNREACHABLE)
    return found


def reminder_moments(clock: Clock, found: Deadline) -> tuple[datetime, ...]:
    """When to remind the player, in the cadence that they have chosen."""
    return reminders(clock.timing, found, parse_cadence(clock.person.cadence))


def seat_offered_at(clock: Clock) -> datetime | None:
    """When the others need wait no longer for somebody whose address cannot be reached."""
    return seat_offer_at(clock.timing)


def with_extension(row: DeadlineRow, extension: Extension) -> str:
    """The extensions of a deadline with one more, as they are stored."""
    return json.dumps([*json.loads(row.extensions), _written(extension)])


def queue_notice(
    tx: Tx,
    server: Server,
    person_id: int,
    game: GameRow,
    row: DeadlineRow | None,
    what: str,
    facts: Mapping[str, Any],
) -> None:
    """Tell somebody at a table what has happened to its time. Moments in the facts are written as text."""
    said = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in facts.items()}
    seat, turn = (None, None) if row is None else (row.seat, row.turn)
    email = outbox.NewEmail(person_id, "notice", game.id, None, seat, turn, {"what": what} | said)
    now = server.now()
    outbox.queue(tx, [email], now, now)


@dataclass(frozen=True, slots=True)
class _Still:
    """When clocks stood still: all of them, those of a table, and those of a person, by table and by person."""

    outages: tuple[Interval, ...]
    pauses: Times
    unreachable: Times
    vacations: Times

    @classmethod
    def since(cls, tx: Tx, moment: datetime, game_ids: Collection[int], person_ids: Collection[int]) -> Self:
        """From a moment on, for all these tables and people."""
        return cls(
            outages.outages(tx, moment),
            pause_rows.pauses(tx, game_ids, moment),
            reachability.failures(tx, person_ids, moment),
            vacation_rows.vacations(tx, person_ids, moment),
        )


def _start(tx: Tx, server: Server, games: Games, turns: Mapping[Key, tuple[int, datetime]]) -> None:
    """Start the clocks of turns that have not started: for whom, and when."""
    fresh = [
        replace(row, accepted_at=turns[key][1])
        for key, row in deadlines.read_all(tx, turns).items()
        if row.accepted_at is None
    ]
    clocks = clocks_of(tx, games, fresh)
    # A mail to whoever sat there before starts nothing: the clock waits for the mail to the new player.
    _settle(tx, server, {key: clock for key, clock in clocks.items() if clock.person.id == turns[key][0]}, tell=True)


def _settle(tx: Tx, server: Server, clocks: Mapping[Key, Clock], *, tell: bool) -> dict[Key, Deadline]:
    settled, written = {}, []
    for key, clock in clocks.items():
        found = settled[key] = current_deadline(clock, server.now())
        promised = clock.row.promised_at
        if found.at is not None and (
            promised is None or is_noticeably_later(promised, found.at, clock.timing.pace) or not tell
        ):
            if promised is not None and tell:
                facts = {"due_at": found.at, "because": reasons_later(found, promised)}
                queue_notice(tx, server, clock.person.id, clock.game, clock.row, "deadline", facts)
            promised = found.at
        remind_at = _next_reminder(clock, found)
        written.append(replace(clock.row, due_at=found.at, remind_at=remind_at, promised_at=promised))
    deadlines.write_all(tx, written)
    return settled


def _told(clock: Clock) -> Deadline:
    """What the mail of a turn prints."""
    timing = _as_read(clock.timing)
    return printed_deadline(timing) if clock.row.accepted_at is None else deadline_of(timing)


def _is_broken(clock: Clock) -> bool:
    """Whether the clock's mail, had it been rendered just now, would print another moment than it does."""
    at, promised = printed_deadline(_as_read(clock.timing)).at, clock.row.promised_at
    return at is None or promised is None or is_noticeably_later(promised, at, clock.timing.pace)


def _key(row: DeadlineRow) -> Key:
    return row.game_id, row.turn, row.seat


def _as_read(timing: Turn) -> Turn:
    """The turn as the reader of its mail has it: whoever reads it can be reached."""
    return replace(timing, unreachable=tuple(failure for failure in timing.unreachable if failure.end is not None))


def _next_reminder(clock: Clock, found: Deadline) -> datetime | None:
    """The first moment that has not had its reminder; moments are counted, because they move with the deadline."""
    return next(iter(reminder_moments(clock, found)[clock.row.reminded :]), None)


def _turn(game: GameRow, person: PersonRow, row: DeadlineRow, still: _Still) -> Turn:
    """All that a deadline depends on, from the rows."""
    zone = ZoneInfo(person.zone)

    def since_asked(times: Iterable[Interval]) -> tuple[Interval, ...]:
        return tuple(each for each in times if each.end is None or each.end > row.asked_at)

    return Turn(
        pace=parse_pace(game.pace),
        zone=zone,
        rendered_at=row.rendered_at or row.asked_at,
        accepted_at=row.accepted_at,
        # What a page has shown counts as much as what a mail has: pages show `due_at`.
        promised=_later(row.promised_at, row.due_at),
        outages=since_asked(still.outages),
        pauses=since_asked(still.pauses[game.id]),
        unreachable=since_asked(still.unreachable[person.id]),
        vacations=since_asked(still.vacations[person.id]),
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


def lock_games_of(tx: Tx, person_id: int) -> dict[int, GameRow]:
    """The tables at which something is asked of a person, locked in the order of their numbers."""
    numbers = sorted({row.game_id for row in deadlines.of_person(tx, person_id)})
    return {number: games.lock(tx, number) for number in numbers}


def settle_person(tx: Tx, server: Server, person_id: int, locked: dict[int, GameRow]) -> None:
    for row in deadlines.of_person(tx, person_id):
        if row.game_id in locked and row.accepted_at is not None:
            settle(tx, server, locked[row.game_id], row)


def people_by_seat(tx: Tx, game_id: int) -> dict[int | None, int | None]:
    return {player.seat: player.person_id for player in player_rows.of_game(tx, game_id)}


def people_at(tx: Tx, game_id: int) -> list[int]:
    return sorted({player.person_id for player in player_rows.of_game(tx, game_id) if player.person_id is not None})
