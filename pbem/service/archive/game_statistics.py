"""Statistics of the games at public tables: a worker counts each game once it is over, and keeps sums by kind of game.

A move adds nothing, and no page reads a log. Each game is counted in one transaction, and again where it was put back. The sums
follow from what each game adds, and can be made from it again.
"""

import json
from collections import Counter, defaultdict
from typing import Final

import structlog

from engine.auctions import auctions
from engine.result import Place
from pbem.domain.game_statistics import Sums, counts_of
from pbem.domain.results import level_of
from pbem.domain.states import TableStatus
from pbem.service.play.endings import ranking_at_end
from pbem.service.play.log import StandingEntry, standing_entries
from pbem.service.play.results import ending_of
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import finished_games, games, log, tables
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.games import GameRow
from pbem.store.schema import FinishedGameRow, FinishedSeatRow

BATCH: Final = 20
"""Games counted in one run."""

AT_ONCE: Final = 500
"""Games whose counts are read in one transaction when the sums are made again."""

_log = structlog.get_logger(__name__)


def count_games(server: Server) -> int:
    """Count the public games that have ended since. Returns how many."""
    if server.query(finished_games.progress) % 2:
        rebuild(server)
    return sum(_try_to_count(server, game_id) for game_id in server.query(finished_games.missing, BATCH))


def rebuild(server: Server) -> int:
    """Make all sums again from what each game adds, and have games counted that could not be. Returns how many games there are.

    Nothing is counted meanwhile. It may be stopped at any time: the worker then does it.
    """
    server.store.write(finished_games.try_again)
    number = server.run(_begin)
    by_kind, count, last = defaultdict[str, Counter[tuple[str, str]]](Counter), 0, 0
    while rows := server.query(finished_games.after, last, AT_ONCE):
        for row in rows:
            by_kind[row.kind].update(finished_games.counts_in(row))
        count, last = count + len(rows), rows[-1].game_id
    server.run(_finish, number, by_kind)
    return count


def sums_of(tx: Tx, server: Server, kind: str) -> Sums:
    """The sums of a kind of game."""
    return finished_games.of_kind(tx, kind)


def _begin(tx: Tx, server: Server) -> int:
    """Begin to make the sums again; returns the number of this attempt, which is odd."""
    number = (finished_games.lock(tx) | 1) + 2
    finished_games.set_progress(tx, number)
    return number


def _finish(tx: Tx, server: Server, number: int, by_kind: dict[str, Counter[tuple[str, str]]]) -> None:
    """Write the sums, unless another attempt has begun or ended since."""
    if finished_games.lock(tx) == number:
        finished_games.replace_sums(tx, by_kind)
        finished_games.set_progress(tx, number + 1)


def _try_to_count(server: Server, game_id: int) -> bool:
    try:
        return server.run(_count, game_id)
    except Exception as error:
        if is_outage(error):
            raise
        # One game that can't be read must not hold up the others.
        _log.exception("game_not_counted", game=game_id)
        server.run(_give_up, game_id)
        return False


def _count(tx: Tx, server: Server, game_id: int) -> bool:
    """Count one game. Returns False if there is nothing to count, or the sums are being made again."""
    row = games.lock(tx, game_id)
    if row.status != TableStatus.OVER or row.private or row.counted is not None:
        return False
    if finished_games.lock(tx) % 2:
        return False
    ranking = ranking_at_end(tx, row)
    entries = standing_entries(rules_of(row), log.chain(tx, row.id, row.key))
    counts = FinishedGameRow(row.id, row.kind, finished_games.dumps(_counts(row, ranking, entries)))
    finished_games.add(tx, counts, _seats(tx, server, row, ranking, entries))
    tables.change_game(tx, game_id, counted=True)
    return True


def _give_up(tx: Tx, server: Server, game_id: int) -> None:
    """Leave a game out."""
    row = games.lock(tx, game_id)
    if row.counted is None:
        tables.change_game(tx, game_id, counted=False)


def _counts(row: GameRow, ranking: tuple[Place, ...], entries: list[StandingEntry]) -> Sums:
    assert row.started_at is not None, "the game has begun"
    assert row.ended_at is not None, "the game is over"
    chosen = json.loads(row.options)
    # A game that has begun before an option existed has none of it.
    known = (each for each in rules_of(row).options if each.name in chosen)
    options = [each for each in known if row.seats in (each.seats or (row.seats,))]
    bids = [
        bid
        for auction in auctions((each.turn, fact) for each in entries for fact in each.entry.facts)
        for seat in range(row.seats)
        if (bid := auction.highest(seat)) is not None
    ]
    return counts_of(
        row.seats,
        (row.ended_at - row.started_at).days,
        len(entries),
        ranking[0].seats,
        [f"{each.name}={chosen[each.name]}" for each in options],
        bids,
    )


def _seats(
    tx: Tx, server: Server, row: GameRow, ranking: tuple[Place, ...], entries: list[StandingEntry]
) -> list[FinishedSeatRow]:
    """The people a game counts for; nobody who had two seats."""
    assert row.ended_at is not None, "the game is over"
    ending = ending_of(tx, server, row)
    players, seats = Counter(each.seat for each in ending), Counter(each.player for each in ending)
    scores = {seat: each.score for each in ranking for seat in each.seats}
    lead = ranking[0].score - ranking[1].score if len(ranking) > 1 and len(ranking[0].seats) == 1 else None
    found = []
    for each in ending:
        if each.rank is None or each.seat is None or seats[each.player] > 1 or level_of(each.player) is not None:
            continue
        stayed = each.rank <= row.seats
        found.append(
            FinishedSeatRow(
                game_id=row.id,
                seat=each.seat,
                player=each.player,
                kind=row.kind,
                seats=row.seats,
                rank=each.rank,
                score=scores[each.seat] if stayed else None,
                margin=lead if stayed and each.rank == 1 else None,
                choices=json.dumps(_choices(entries, each.seat) if players[each.seat] == 1 else {}, sort_keys=True),
                ended_at=row.ended_at,
            )
        )
    return found


def _choices(entries: list[StandingEntry], seat: int) -> dict[str, int]:
    """How often a seat's player chose each verb: neither what was the only choice nor what the clock chose."""
    return Counter(
        each.entry.choices[seat].verb
        for each in entries
        if seat in each.entry.choices.keys() - each.entry.alone and not each.is_clocks(seat)
    )
