"""Deadlines: what a turn email promises, when its clock starts, and how the deadline moves.

    rendered   `promise` returns what to print and stores it; a promise is never taken back
    accepted   `emails_accepted` starts the clocks once the next hop has accepted the emails
    changed    `settle` recalculates a deadline when something has stopped its clock or given more time

`domain.deadline` decides, from rows that `clocks_of` reads, for many clocks in as few statements as for one. A promised
deadline only ever moves later, and its player gets one email when it does. Nothing times out here: see `timeouts`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pbem.domain.bank import PastTurn, bank_after, left_at
from pbem.domain.bounce import MEMORY
from pbem.domain.deadline import (
    Deadline,
    Reason,
    Turn,
    deadline_of,
    is_noticeably_later,
    printed_deadline,
    reasons_later,
    waits_for_email,
)
from pbem.domain.delivery import starts_without_mail
from pbem.domain.extension import read_extensions
from pbem.domain.interval import Interval
from pbem.domain.localtime import stored_zone
from pbem.domain.pace import Bank, Pace, read_pace
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.reminder import parse_cadence, reminders
from pbem.domain.states import EmailKind, TurnStatus
from pbem.domain.week import Week, read_week
from pbem.service.links import open_seat
from pbem.service.server import Server
from pbem.store import (
    deadlines,
    games,
    outages,
    outbox,
    pauses,
    people,
    players as player_rows,
    reachability,
    vacations,
)
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow, Key
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow
from pbem.store.people import PersonRow
from pbem.store.queries import Times
from pbem.tokens import Purpose

Games = Mapping[int, GameRow]
"""Games by id."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The deadline of one seat, with the rows it depends on."""

    game: GameRow
    person: PersonRow
    row: DeadlineRow
    timing: Turn


def promise(tx: Tx, games: Games, keys: Collection[Key], rendered_at: datetime) -> dict[Key, Deadline]:
    """The deadlines to print in turn emails being rendered; stored as promised. The games must be locked.

    A repeated email gets the deadline of its running clock. Closed turns get no promise, and `at` is None while the clock
    is stopped.
    """
    rows = [row for row in deadlines.read_all(tx, keys).values() if row.status == TurnStatus.OPEN]
    rows = [row if row.accepted_at is not None else replace(row, rendered_at=rendered_at) for row in rows]
    clocks = clocks_of(tx, games, rows)
    printed = {key: _printed(clock) for key, clock in clocks.items()}
    promised = {key: _later(clock.row.promised_at, printed[key].at) for key, clock in clocks.items()}
    deadlines.write_all(tx, (replace(clock.row, promised_at=promised[key]) for key, clock in clocks.items()))
    return {key: printed.get(key, Deadline(None, None)) for key in keys}


def broken_promises(tx: Tx, server: Server, games: Games, keys: Collection[Key]) -> set[Key]:
    """The open turns whose rendered emails print a deadline that is too far off by now, so must be rendered again."""
    waiting = [
        replace(row, rendered_at=server.now())
        for row in deadlines.read_all(tx, keys).values()
        if row.status == TurnStatus.OPEN and row.accepted_at is None and row.promised_at is not None
    ]
    return {key for key, clock in clocks_of(tx, games, waiting).items() if _is_broken(clock)}


def emails_accepted(tx: Tx, server: Server, games: Games, emails: Iterable[tuple[EmailRow, datetime]]) -> None:
    """Start the clocks of turns whose emails the next hop has accepted; a repeated email starts nothing."""
    turns: dict[Key, tuple[int, datetime]] = {}
    for email, accepted_at in emails:
        match email.kind, email.game_id, email.turn, email.seat:
            case EmailKind.TURN, int(game_id), int(turn), int(seat):
                turns[game_id, turn, seat] = email.person_id, accepted_at
    _start(tx, server, games, turns)


def start_without_mail(tx: Tx, server: Server, game: GameRow, turn: int, seat: int, person_id: int) -> None:
    """Start the clock of a turn whose player gets no immediate email, as if it had been sent when the turn opened."""
    row, person = deadlines.read(tx, game.id, turn, seat), people.read(tx, person_id)
    if row is not None:
        quiet = parse_quiet(person.quiet, stored_zone(person.zone)) if person.quiet else None
        started = starts_without_mail(row.asked_at, server.hold, quiet)
        _start(tx, server, {game.id: game}, {(game.id, turn, seat): (person_id, started)})


def settle(tx: Tx, server: Server, game: GameRow, row: DeadlineRow, *, tell: bool = True) -> Deadline:
    """Recalculate and store a deadline, and tell its player if it moved noticeably. The game must be locked.

    `tell` is off where another queued email says so anyway.
    """
    settled = _settle(tx, server, clocks_of(tx, {game.id: game}, [row]), tell=tell)
    return settled.get(_key(row), Deadline(row.accepted_at, row.due_at))


def settle_game(tx: Tx, server: Server, game: GameRow, *, tell: bool = True) -> dict[int, Deadline]:
    """Settle all open deadlines of a game with started clocks; returns them by seat, without those of bots."""
    started = [row for row in deadlines.of_game(tx, game.id) if row.accepted_at is not None]
    settled = _settle(tx, server, clocks_of(tx, {game.id: game}, started), tell=tell)
    return {seat: deadline for (_, _, seat), deadline in settled.items()}


def delayed_by(tx: Tx, game: GameRow, outage: Interval) -> dict[int, DeadlineRow]:
    """The stored open deadlines of a game that would be earlier without an outage, by seat.

    They may have moved before the outage was applied: every recalculation counts an outage as soon as it is stored.
    """
    clocks = clocks_of(tx, {game.id: game}, [row for row in deadlines.of_game(tx, game.id) if row.due_at is not None])
    delayed = {}
    for clock in clocks.values():
        # A promise would hold both back, whatever its reason.
        timing = replace(clock.timing, promised=None)
        others = tuple(each for each in timing.outages if each != outage)
        at, without = deadline_of(timing).at, deadline_of(replace(timing, outages=others)).at
        if at is not None and without is not None and without < at == clock.row.due_at:
            delayed[clock.row.seat] = clock.row
    return delayed


def outdated_games(tx: Tx, game_ids: Collection[int]) -> set[int]:
    """The games with a stored deadline that is earlier than a recalculation would make it."""
    rows = [row for row in deadlines.of_games(tx, game_ids) if row.due_at is not None]
    clocks = clocks_of(tx, games.read_all(tx, game_ids), rows)
    # Promises count, so a stored deadline is never later.
    return {clock.game.id for clock in clocks.values() if deadline_of(clock.timing).at not in (None, clock.row.due_at)}


def clock_of(tx: Tx, game: GameRow, turn: int, seat: int, *, answered: bool = False) -> Clock | None:
    """The clock of a seat; None for a bot, and unless `answered` for a closed turn."""
    row = deadlines.read(tx, game.id, turn, seat)
    if row is None or (row.status != TurnStatus.OPEN and not answered):
        return None
    return clocks_of(tx, {game.id: game}, [row]).get(_key(row))


def bank_left(tx: Tx, game: GameRow, turn: int, seat: int, now: datetime) -> timedelta | None:
    """The time left in the bank of a seat that is asked in this turn; None without a bank. For its own player alone."""
    if not isinstance(read_pace(game.pace), Bank):
        return None
    clock = clock_of(tx, game, turn, seat, answered=True)
    return None if clock is None else left_at(clock.timing, clock.row.closed_at or now)


def bank_left_by_link(tx: Tx, server: Server, token: str, purpose: Purpose = Purpose.SEAT) -> timedelta | None:
    """The time left in the bank of a SEAT or API token in the open turn."""
    link, game = open_seat(tx, server, token, purpose)
    return bank_left(tx, game, game.turn, link.seat, server.now())


def clocks_of(tx: Tx, games: Games, rows: Collection[DeadlineRow]) -> dict[Key, Clock]:
    """The clocks of these deadlines, without those of bots."""
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
    paces = {game_id: read_pace(games[game_id].pace) for game_id in of_games}
    past = _turns_before(tx, [row for row in played if isinstance(paces[row.game_id], Bank)])
    since = min(row.asked_at for row in (*rows, *(each for turns in past.values() for each in turns)))
    stops = _Stops(
        outages=outages.since(tx, since),
        pauses=pauses.since(tx, of_games, since),
        unreachable=reachability.since(tx, persons.keys(), since - MEMORY),
        vacations=vacations.since(tx, persons.keys(), since),
    )
    clocks = {}
    for row in played:
        game, person, pace = games[row.game_id], persons[seated[row.game_id, row.seat]], paces[row.game_id]
        if isinstance(pace, Bank):
            before = [(each, _turn(game, pace, person, each, stops)) for each in past[_key(row)]]
            pace = bank_after(pace, (PastTurn(turn, each.closed_at or each.asked_at) for each, turn in before))
        clocks[_key(row)] = Clock(game, person, row, _turn(game, pace, person, row, stops))
    return clocks


def week_of(game: GameRow, row: DeadlineRow) -> Week | None:
    """The part of a player's week that counts in a turn: as it was when they were asked, and as the table has agreed."""
    return read_week(row.week).counting(game.time_off) if row.week else None


def current_deadline(clock: Clock, now: datetime) -> Deadline:
    """The deadline as of now; without a moment while email fails and the others wait for the seat."""
    deadline = deadline_of(clock.timing)
    if waits_for_email(clock.timing, now):
        return Deadline(deadline.start, None, (), Reason.UNREACHABLE)
    return deadline


def reminder_moments(clock: Clock, deadline: Deadline) -> tuple[datetime, ...]:
    """The reminders of a deadline, in the player's cadence."""
    return reminders(clock.timing, deadline, parse_cadence(clock.person.cadence))


def queue_notice(
    tx: Tx, server: Server, person_id: int, game: GameRow, row: DeadlineRow | None, what: str, facts: Mapping[str, Any]
) -> None:
    """Queue a notice to a person at a table. Moments in the facts are stored as text."""
    values = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in facts.items()}
    seat, turn = (None, None) if row is None else (row.seat, row.turn)
    email = outbox.NewEmail(person_id, EmailKind.NOTICE, game.id, None, seat, turn, {"what": what} | values)
    now = server.now()
    outbox.queue(tx, [email], now, now)


def notify_people(
    tx: Tx, server: Server, game: GameRow, what: str, facts: Mapping[str, Any], but: Collection[int] = ()
) -> None:
    """Queue a notice to everyone at a table except these people."""
    for person_id in sorted({*people_by_seat(tx, game.id).values()} - {*but}):
        queue_notice(tx, server, person_id, game, None, what, facts)


@dataclass(frozen=True, slots=True)
class _Stops:
    """The times when clocks were stopped: all of them, by table, and by person."""

    outages: tuple[Interval, ...]
    pauses: Times
    unreachable: Times
    vacations: Times


def _start(tx: Tx, server: Server, games: Games, turns: Mapping[Key, tuple[int, datetime]]) -> None:
    """Start the clocks of turns that have not started, each for a person at a moment."""
    rows = deadlines.read_all(tx, turns).items()
    fresh = [replace(row, accepted_at=turns[key][1]) for key, row in rows if row.accepted_at is None]
    clocks = clocks_of(tx, games, fresh)
    # An email to the seat's former player starts nothing: the clock waits for the one to the new player.
    _settle(tx, server, {key: clock for key, clock in clocks.items() if clock.person.id == turns[key][0]}, tell=True)


def _settle(tx: Tx, server: Server, clocks: Mapping[Key, Clock], *, tell: bool) -> dict[Key, Deadline]:
    settled, rows = {}, []
    for key, clock in clocks.items():
        deadline = settled[key] = current_deadline(clock, server.now())
        at, promised = deadline.at, clock.row.promised_at
        if at is not None and (not tell or promised is None or is_noticeably_later(promised, at, clock.timing.pace)):
            if promised is not None and tell:
                facts = {"due_at": at, "because": reasons_later(deadline, promised)}
                queue_notice(tx, server, clock.person.id, clock.game, clock.row, "deadline", facts)
            promised = at
        # Sent reminders are counted, because reminders move with the deadline.
        remind_at = next(iter(reminder_moments(clock, deadline)[clock.row.reminded :]), None)
        rows.append(replace(clock.row, due_at=at, remind_at=remind_at, promised_at=promised))
    deadlines.write_all(tx, rows)
    return settled


def _printed(clock: Clock) -> Deadline:
    """The deadline that a turn email prints."""
    timing = _as_read(clock.timing)
    return printed_deadline(timing) if clock.row.accepted_at is None else deadline_of(timing)


def _is_broken(clock: Clock) -> bool:
    """Whether the clock's email would print a noticeably different deadline if rendered now."""
    at, promised = printed_deadline(_as_read(clock.timing)).at, clock.row.promised_at
    return at is None or promised is None or is_noticeably_later(promised, at, clock.timing.pace)


def _key(row: DeadlineRow) -> Key:
    return row.game_id, row.turn, row.seat


def _as_read(timing: Turn) -> Turn:
    """The turn as for a reader of its email, who is evidently reachable."""
    return replace(timing, unreachable=tuple(failure for failure in timing.unreachable if failure.end is not None))


def _turns_before(tx: Tx, rows: Collection[DeadlineRow]) -> dict[Key, list[DeadlineRow]]:
    """The turns that have drawn on the bank of each of these: its seat's earlier ones, under the same player."""
    if not rows:
        return {}
    seats = {(row.game_id, row.seat) for row in rows}
    first = dict.fromkeys(seats, 0)
    for game_id in {row.game_id for row in rows}:
        for former in player_rows.former_of_game(tx, game_id):
            first[game_id, former.seat] = max(first.get((game_id, former.seat), 0), former.turn)
    earlier = deadlines.of_seats(tx, seats)
    past: dict[Key, list[DeadlineRow]] = {}
    for row in rows:
        seat = row.game_id, row.seat
        own = [each for each in earlier if (each.game_id, each.seat) == seat and first[seat] <= each.turn < row.turn]
        # A second chance goes on from the missed turn before it, and is one turn with that.
        following = (*own[1:], row)
        past[_key(row)] = [each for each, then in zip(own, following, strict=bool(own)) if then.missed_turn is None]
    return past


def _turn(game: GameRow, pace: Pace, person: PersonRow, row: DeadlineRow, stops: _Stops) -> Turn:
    zone = stored_zone(person.zone)

    def since_asked(times: Iterable[Interval], before: timedelta = timedelta(0)) -> tuple[Interval, ...]:
        return tuple(each for each in times if each.end is None or each.end > row.asked_at - before)

    return Turn(
        pace=pace,
        zone=zone,
        rendered_at=row.rendered_at or row.asked_at,
        accepted_at=row.accepted_at,
        # A deadline shown on a page counts as a promise too: pages show `due_at`.
        promised=_later(row.promised_at, row.due_at),
        outages=since_asked(stops.outages),
        pauses=since_asked(stops.pauses[game.id]),
        unreachable=since_asked(stops.unreachable[person.id], MEMORY),
        vacations=since_asked(stops.vacations[person.id]),
        extensions=read_extensions(row.extensions),
        quiet=parse_quiet(person.quiet, zone) if person.quiet else None,
        week=week_of(game, row),
    )


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((moment for moment in (one, other) if moment is not None), default=None)


def lock_games_of(tx: Tx, person_id: int) -> dict[int, GameRow]:
    """Lock the games with an open turn of a person, in order of id; returns them by id."""
    game_ids = sorted({row.game_id for row in deadlines.of_person(tx, person_id)})
    return {game_id: games.lock(tx, game_id) for game_id in game_ids}


def settle_person(tx: Tx, server: Server, person_id: int, locked: dict[int, GameRow]) -> None:
    """Settle the deadlines of a person in these locked games."""
    for row in deadlines.of_person(tx, person_id):
        if row.game_id in locked and row.accepted_at is not None:
            settle(tx, server, locked[row.game_id], row)


def people_by_seat(tx: Tx, game_id: int) -> dict[int, int]:
    """The people who play a running game, without bots."""
    players = player_rows.of_game(tx, game_id)
    return {
        player.seat: player.person_id for player in players if player.seat is not None and player.person_id is not None
    }
