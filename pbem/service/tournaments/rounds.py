"""The rounds of a tournament, which run by themselves: sign-up closes, tables begin and end, the next round opens.

Each tournament is moved on in a transaction of its own that locks it first, so a worker that dies, or two at once, change nothing
in the end. What a round looks like follows from the plan, the entrants, the results and the public seed alone (see
`domain.tournaments`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import structlog

from engine.chance import seed_from
from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Unplayable
from pbem.domain.ratings import NEW, OVERALL
from pbem.domain.states import EntrantStatus, TableStatus, TournamentStatus
from pbem.domain.tournaments import pairing
from pbem.domain.tournaments.lots import drawn
from pbem.service import alarms
from pbem.service.absence import seats
from pbem.service.alarms import AlarmKind
from pbem.service.play import results as game_results
from pbem.service.play.endings import ranking_at_end
from pbem.service.server import Server
from pbem.service.tables import start
from pbem.service.tables.new import TableSettings, add_table
from pbem.service.tournaments import latecomers, no_shows, sign_up, winners
from pbem.service.tournaments.plans import entrants_of, in_order_of_seeds, plan_of, results_of, seats_of
from pbem.service.tournaments.seasons import divisions, open_next
from pbem.store import games, groups, heartbeats, people, players as player_rows, ratings, tables, tournaments
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.schema import EntrantRow, RoundTableRow, TournamentRow

_log = structlog.get_logger(__name__)

_AGAIN: Final = timedelta(days=1)
"""How long a round waits for a table that is late and can't be finished yet, or whose result can't be read."""

_UNREAD: Final = (
    "{kind}: the result of this table can't be read. It counts as a tie; the host of its tournament can correct it."
)

_FAILS: Final = (
    "The tournament “{name}” can't go on: opening a round failed, and is tried again. The worker's log says why. If its game is "
    "missing here, `pbem doctor` says which."
)

_CLOSES_AFTER: Final = timedelta(days=1)
"""A table of a round begins at once; this is only for the case that it can't."""


def advance_due(server: Server) -> int:
    """Move on every tournament that has something to do. Returns how many were tried.

    One that fails, such as one whose game is missing here, is tried again each time, and organisers are told once a day.
    """
    due = server.query(tournaments.due, server.now())
    for tournament_id in due:
        if server.attempt(advance, tournament_id) is None:
            server.attempt(_tell_organisers, tournament_id)
    return len(due)


def advance(tx: Tx, server: Server, tournament_id: int) -> bool:
    """Do what is due in a tournament: close its sign-up, note the results of its tables, and open the next round or end it.

    Returns whether it isn't paused.
    """
    row = tournaments.lock(tx, tournament_id)
    now = server.now()
    if row.paused_at is not None:
        return False
    if row.status == TournamentStatus.OPEN and row.closes_at <= now:
        _begin(tx, server, row)
    elif row.status == TournamentStatus.PLAYING:
        _note_results(tx, server, row)
        current = [each for each in tournaments.tables(tx, row.id) if each.round == row.round]
        if all(each.places is not None for each in current):
            _open_next(tx, server, row)
        elif row.due_at is not None and row.due_at <= now:
            _end_late(tx, server, row, current)
    return True


def _tell_organisers(tx: Tx, server: Server, tournament_id: int) -> None:
    """Tell organisers that a tournament can't be moved on, once a day."""
    row = tournaments.read(tx, tournament_id)
    if heartbeats.take_task(tx, f"tournament {row.key} fails", server.now().date().isoformat()):
        alarms.raise_alarm(tx, server, AlarmKind.GAME, _FAILS.format(name=row.name))


def _begin(tx: Tx, server: Server, row: TournamentRow) -> None:
    """Draw the seed and rank the entrants, and open the first round; call it off if there are too few."""
    entrants = tournaments.entrants(tx, row.id)
    present = [each for each in entrants if each.status == EntrantStatus.IN]
    now = server.now()
    if len(present) < row.fewest:
        tournaments.change(tx, row.id, status=TournamentStatus.CALLED_OFF, ended_at=now)
        sign_up.tell(tx, server, row, [each for each in entrants if each.until is None], "called off")
        return
    seed = seed_from(row.secret, [each.word for each in present]).hex()
    strength = _ratings_of(tx, row, present) if row.seeding == "rating" else {}
    numbers = [each.number for each in present]
    by_hand = row.seeding == "hand"
    seeded = in_order_of_seeds(json.loads(row.seeds), numbers) if by_hand else drawn(seed, "seeding", numbers)
    order = {number: at for at, number in enumerate(seeded)}
    ranked = sorted(present, key=lambda each: (-strength.get(each.number, 0), order[each.number]))
    for rank, each in enumerate(ranked, start=1):
        tournaments.change_entrant(tx, row.id, each.number, rank=rank)
    for number, division in divisions(tx, row, ranked).items():
        tournaments.change_entrant(tx, row.id, number, division=division)
    seeds = json.dumps([each.number for each in ranked] if by_hand else [])
    tournaments.change(tx, row.id, seed=seed, seeds=seeds, status=TournamentStatus.PLAYING)
    _open_next(tx, server, tournaments.read(tx, row.id))


def _ratings_of(tx: Tx, row: TournamentRow, entrants: Iterable[EntrantRow]) -> Mapping[int, int]:
    """How strong the entrants are, as far as their ratings tell: the number shown, or that of someone new."""
    numbers = {each.person_id: each.number for each in entrants if each.person_id is not None}
    keys = {person.key: numbers[person.id] for person in people.read_all(tx, list(numbers)).values()}
    known = ratings.current(tx, [(key, OVERALL) for key in keys] + [(key, row.kind) for key in keys])
    return {number: known.get((key, row.kind), known.get((key, OVERALL), NEW)).shown for key, number in keys.items()}


def _open_next(tx: Tx, server: Server, row: TournamentRow) -> None:
    """Open the next round, or end the tournament."""
    plan = plan_of(row)
    if plan.format not in latecomers.FORMATS:
        _send_home(tx, server, row)
    elif latecomers.takes_some(row):
        no_shows.send_away(tx, server, row)
        sign_up.fill_places(tx, server, row)
        _rank_newcomers(tx, row)
    rows, number = tournaments.entrants(tx, row.id), row.round + 1
    entrants, results = entrants_of(rows), results_of(tournaments.tables(tx, row.id))
    here = [each for each in rows if each.status == EntrantStatus.IN]
    paired = pairing.pair(plan, entrants, results, number, row.seed)
    if not paired.tables:
        _end(tx, server, row)
        return
    by_number = {each.number: each for each in rows}
    for table, numbers in enumerate(paired.tables, start=1):
        game_id = _open_table(tx, server, row, number, table, [by_number[each] for each in numbers])
        listed = json.dumps(list(numbers))
        tournaments.add_table(tx, RoundTableRow(row.id, number, table, game_id, listed, None, "", "[]"))
    due_at = server.now() + timedelta(days=row.round_days)
    byes = json.dumps([*json.loads(row.byes), list(paired.byes)])
    tournaments.change(tx, row.id, round=number, byes=byes, due_at=due_at)
    # Those who are out hear it once; then they follow the tournament on its page.
    before = [each for each in tournaments.tables(tx, row.id) if each.round == row.round]
    concerned = {*paired.byes, *(each for table in (*paired.tables, *map(seats_of, before)) for each in table)}
    sign_up.tell(tx, server, row._replace(round=number), [each for each in here if each.number in concerned], "round")
    _log.info("round_opened", tournament=row.key, round=number, tables=len(paired.tables))


def _open_table(
    tx: Tx, server: Server, row: TournamentRow, number: int, table: int, seated: Sequence[EntrantRow]
) -> int:
    """Begin the game of a table. Its players sit in the order given."""
    host, now = people.read(tx, row.host_id), server.now()
    settings = TableSettings(
        kind=row.kind, seats=len(seated), title=f"{row.name} {number}.{table}"[-60:], **json.loads(row.settings)
    )
    created = add_table(tx, server, host, settings, TableStatus.OPEN, now + _CLOSES_AFTER)
    game = games.lock(tx, created.game_id)
    if row.group_id is not None:
        groups.add_table(tx, row.group_id, game.id)
    for at, each in enumerate(seated):
        # A person who is gone since leaves a bot at the table.
        bot = None if each.person_id is not None else each.bot or settings.stand_in
        tables.add_player(tx, PlayerRow(game.id, at, None, each.person_id, bot, each.name, each.word, now, 0))
    where: dict[str, str | int] = {"key": row.key, "round": number, "table": table}
    start.start(tx, server, game, player_rows.of_game(tx, game.id), where)
    return game.id


def _note_results(tx: Tx, server: Server, row: TournamentRow) -> None:
    """Note the places at tables whose games have ended."""
    for table in tournaments.tables(tx, row.id):
        if table.places is not None:
            continue
        game = games.read(tx, table.game_id)
        if game.status == TableStatus.OVER:
            places = _places(tx, server, row, table, game)
            if places is None:
                _wait_for_rules(tx, server, row, table, game)
                continue
            tournaments.change_table(tx, table, places=json.dumps(places), how=table.how or "played")
        elif game.status == TableStatus.VOID:
            # Nobody won and nobody lost: they share all points.
            tournaments.change_table(tx, table, places=json.dumps([1] * game.seats), how="void")


def _wait_for_rules(tx: Tx, server: Server, row: TournamentRow, table: RoundTableRow, game: GameRow) -> None:
    """Leave a result that can't be read until its round is late; then it counts as a tie, and organisers are told."""
    now = server.now()
    if row.due_at is None:
        tournaments.change(tx, row.id, due_at=now + _AGAIN)
    elif row.due_at <= now:
        tournaments.change_table(tx, table, places=json.dumps([1] * game.seats), how="void")
        alarms.raise_alarm(tx, server, AlarmKind.GAME, _UNREAD.format(kind=game.kind), game.id)


def _places(tx: Tx, server: Server, row: TournamentRow, table: RoundTableRow, game: GameRow) -> list[int] | None:
    """The places of a table's entrants; None while its rules are missing or fail.

    Those who resigned, or missed too many turns, come after all who stayed.
    """
    try:
        ranks = {seat: rank.number for rank in ranking_at_end(tx, game) for seat in rank.seats}
        outcomes = game_results.ending_of(tx, server, game)
    except Unplayable:
        return None
    entrants = {each.number: each for each in tournaments.entrants(tx, row.id)}
    persons = people.read_all(tx, {each.person_id for each in entrants.values() if each.person_id is not None})
    by_player = {(each.seat, each.player): each.rank for each in outcomes}
    found = []
    for seat, number in enumerate(seats_of(table)):
        person = persons.get(entrants[number].person_id or 0)
        rank = None if person is None else by_player.get((seat, person.key))
        found.append(ranks[seat] if rank is None else rank)
    return [1 + sum(other < each for other in found) for each in found]


def _end_late(tx: Tx, server: Server, row: TournamentRow, current: Iterable[RoundTableRow]) -> None:
    """Let bots play on for everyone at the tables of a round that is late, and tell their players; or wait another day."""
    if row.late != "bots":
        tournaments.change(tx, row.id, due_at=server.now() + _AGAIN)
        return
    entrants = {each.number: each for each in tournaments.entrants(tx, row.id)}
    due_at = None
    for table in current:
        if table.places is not None or table.how:
            continue
        game = games.lock(tx, table.game_id)
        if game.status != TableStatus.PLAYING:
            # It is stopped until an organiser has looked at it; then it is late still.
            due_at = server.now() + _AGAIN
            continue
        for player in player_rows.of_game(tx, game.id):
            if player.person_id is not None and player.seat is not None:
                game = seats.give_to_bot(tx, server, game, player.seat, "clock")
        tournaments.change_table(tx, table, how="bots")
        sign_up.tell(tx, server, row, [entrants[each] for each in seats_of(table)], "late", table=table.number)
    tournaments.change(tx, row.id, due_at=due_at)


def _send_home(tx: Tx, server: Server, row: TournamentRow) -> None:
    """Nobody comes later where people are knocked out: those who still wait won't get a place."""
    waiting = [each for each in tournaments.entrants(tx, row.id) if each.status == EntrantStatus.WAITING]
    for each in waiting:
        tournaments.change_entrant(tx, row.id, each.number, status=EntrantStatus.LEFT, until=0)
    sign_up.tell(tx, server, row, waiting, "no place")


def _rank_newcomers(tx: Tx, row: TournamentRow) -> None:
    """Rank those who took a place later below all others, in the order of signing up."""
    rows = tournaments.entrants(tx, row.id)
    lowest = max((each.rank for each in rows), default=0)
    newcomers = [each for each in rows if each.status == EntrantStatus.IN and not each.rank]
    last_division = max((each.division for each in rows if each.rank), default=1)
    for rank, each in enumerate(newcomers, start=lowest + 1):
        tournaments.change_entrant(tx, row.id, each.number, rank=rank, division=last_division)


def _end(tx: Tx, server: Server, row: TournamentRow) -> None:
    """End the tournament, and tell everyone who won. A league goes on with its next season if it has a host."""
    tournaments.change(tx, row.id, status=TournamentStatus.OVER, ended_at=server.now(), due_at=None)
    winners.note(tx, row)
    taken_part = [each for each in tournaments.entrants(tx, row.id) if each.rank]
    is_league, host_left = plan_of(row).format == "league", is_former(people.read(tx, row.host_id).address)
    sign_up.tell(tx, server, row, taken_part, "over", last_season=is_league and host_left)
    if is_league and not host_left:
        open_next(tx, server, row)
    _log.info("tournament_over", tournament=row.key, rounds=row.round)
