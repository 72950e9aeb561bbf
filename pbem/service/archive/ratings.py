"""Ratings: the endings of rated games, added to the results by a worker, and the ratings that follow.

    a game ends       its row says so; the move adds nothing else
    a worker          adds the ending to the results, under the next number, and what it changes to the ratings
    a correction      or a merge is a row of the results, too; then all ratings are made again before the next ending

Each is one transaction, so a worker that dies has done all of it or nothing. Ratings follow from the results alone, in their
order (see `rebuild_ratings`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import structlog

from pbem.domain.errors import Gone
from pbem.domain.ratings import OVERALL, changes
from pbem.domain.states import ResultKind, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.alarms import AlarmKind, raise_alarm
from pbem.service.archive.rebuild_ratings import rebuild
from pbem.service.play.endings import ranking_at_end
from pbem.service.play.log import Kind, json_body_of
from pbem.service.play.results import counting, ending_of
from pbem.service.server import Server
from pbem.store import games, log, ratings, results, tables
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.games import GameRow
from pbem.store.results import NOT_COUNTED
from pbem.store.schema import ResultRow

BATCH: Final = 20
"""Endings added in one run."""

NO_RESULT: Final = "none"
"""The text of a result that counts for nobody."""

_log = structlog.get_logger(__name__)


def add_endings(server: Server) -> int:
    """Add the endings of games that have ended since, in their order. Returns how many."""
    if server.query(is_outdated):
        rebuilt = rebuild(server)
        _log.info("ratings_rebuilt", endings=rebuilt.endings, changed=rebuilt.changed)
    return sum(_try_to_add(server, game_id) for game_id in server.query(results.missing, BATCH))


def is_outdated(tx: Tx) -> bool:
    """Whether results were corrected or players merged since the ratings were made."""
    return results.progress(tx) != results.last_change(tx)


def ranks_of(tx: Tx, row: GameRow) -> dict[int, int] | None:
    """The ranks by seat that count for ratings; None if the game counts for nobody. Raises Gone before they are known."""
    rows = results.of_games(tx, [row.id])[row.id]
    if not rows:
        raise Gone(
            _("This game has no rated result."),
            why=_("It's friendly, isn't over, or ended a moment ago."),
            remedy=_("Nothing changed. If it ended just now, try again in a minute."),
        )
    if all(each.rank is None for each in rows):
        return None
    found = {seat: rank.number for rank in ranking_at_end(tx, row) for seat in rank.seats}
    corrected = {each.seat: each.rank for each in rows if each.what == ResultKind.CORRECTED}
    return {seat: _of_seat(corrected.get(seat), rank, row.seats) for seat, rank in found.items()}


def correct(tx: Tx, server: Server, row: GameRow, ranks: Mapping[int, int] | None) -> None:
    """Correct the result of a finished rated game: the ranks by seat, or None if it shall count for nobody.

    The game is locked, and its ending has been added. Players who came last because they left, and
    those it never counted for, are not concerned by ranks.
    """
    results.lock(tx)
    ended = ending_of(tx, server, row)
    results.add(tx, [each._replace(what=ResultKind.CORRECTED, rank=_corrected(each, ranks)) for each in ended])


def written_ranks(ranks: Mapping[int, int] | None) -> str:
    """Ranks by seat as a log and a form have them, such as `2 1 1`; `none` if the result shall not count."""
    return NO_RESULT if ranks is None else " ".join(str(ranks[seat]) for seat in sorted(ranks))


def read_ranks(text: str) -> dict[int, int] | None:
    """The ranks by seat in such a text."""
    return None if text == NO_RESULT else {seat: int(word) for seat, word in enumerate(text.split())}


def merge(tx: Tx, server: Server, key: str, into: str) -> None:
    """Note that two players are one: all results of the first are the second's from now on, earlier ones too."""
    results.lock(tx)
    row = ResultRow(0, 0, ResultKind.MERGED, None, None, None, key, None, into, server.now())
    results.add(tx, [row])


def _try_to_add(server: Server, game_id: int) -> bool:
    try:
        return server.run(_add_ending, game_id)
    except Exception as error:
        if is_outage(error):
            raise
        # One ending that can't be read must not hold up the others.
        _log.exception("ending_not_added", game=game_id)
        server.run(_give_up, game_id)
        return False


def _add_ending(tx: Tx, server: Server, game_id: int) -> bool:
    """Add one ending and what it changes. Returns False if there is nothing to add, or the ratings must be made again first."""
    row = games.lock(tx, game_id)
    if row.status != TableStatus.OVER or not row.rated or row.result_seq is not None:
        return False
    if results.lock(tx) != results.last_change(tx):
        return False
    ended = ending_of(tx, server, row)
    found = _as_corrected(tx, row, ended)
    seq = results.first_of_game(tx, game_id)
    if not seq:
        seq = results.add(tx, ended)
        ranks = counting(ended)
        current = ratings.current(tx, {(player, kind) for player, _rank in ranks for kind in (row.kind, OVERALL)})
        ratings.add(tx, [ratings.row_of(seq, change) for change in changes(row.kind, ranks, current)])
    if _parts(tx, found) != _parts(tx, results.of_games(tx, [game_id])[game_id]):
        # The game was put back, with other players or another ending, or its log has a correction that was lost here.
        results.add(tx, [each._replace(what=ResultKind.CORRECTED) for each in found])
    tables.change_game(tx, game_id, result_seq=seq)
    return True


def _as_corrected(tx: Tx, row: GameRow, ended: Sequence[ResultRow]) -> list[ResultRow]:
    """The ending of a game with the last correction of its result that its log has."""
    corrections = [
        body["now"]
        for each in log.chain(tx, row.id, row.key)
        if each.kind == Kind.CORRECTED and (body := json_body_of(each)).get("what") == "result"
    ]
    if not corrections:
        return list(ended)
    ranks = read_ranks(corrections[-1])
    return [each._replace(rank=_corrected(each, ranks)) for each in ended]


def _parts(tx: Tx, rows: Iterable[ResultRow]) -> list[tuple[int | None, str, int | None]]:
    """The seat, player and rank of each row, with players as they have been merged since."""
    listed = list(rows)
    now = results.present_keys(tx, {row.player for row in listed})
    return sorted(
        ((row.seat, now[row.player], row.rank) for row in listed), key=lambda part: (part[0] is None, part[0], part[1])
    )


def _give_up(tx: Tx, server: Server, game_id: int) -> None:
    """Leave the ending of a game out, and tell the organisers."""
    row = games.lock(tx, game_id)
    if row.result_seq is None:
        tables.change_game(tx, game_id, result_seq=NOT_COUNTED)
        says = "Its result couldn't be read, so it changed no rating. `pbem ratings rebuild` tries again."
        raise_alarm(tx, server, AlarmKind.RECORD, says, game_id)


def _corrected(row: ResultRow, ranks: Mapping[int, int] | None) -> int | None:
    """The rank of a player after a correction: the seat's new one, if they had the seat's rank before."""
    if ranks is None or row.rank is None or row.seat is None:
        return None
    return ranks[row.seat] if row.rank <= len(ranks) else len(ranks) + 1


def _of_seat(corrected: int | None, played: int, seats: int) -> int:
    """The rank of a seat: as corrected, if it was and its player's rank is the seat's."""
    return played if corrected is None or corrected > seats else corrected
