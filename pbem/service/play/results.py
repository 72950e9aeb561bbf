"""The result of a finished rated game, as rows of `store.results`: the players it counts for, and their ranks.

Who counts follows from the log and the players of the game, by the rules of `domain.results`.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from pbem.domain.results import Stay, bot_player, outcomes
from pbem.domain.states import OfferStatus, ResultKind
from pbem.service.play.endings import ranking_at_end
from pbem.service.play.log import Kind, standing_entries
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import log, people, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.schema import FormerPlayerRow, ResultRow

_FOR_EVER: Final = 2**62


def ending_of(tx: Tx, server: Server, row: GameRow) -> list[ResultRow]:
    """The ending of a finished game, as rows without a number. Raises Unplayable."""
    ranks = {seat: rank.number for rank in ranking_at_end(tx, row) for seat in rank.seats}
    turns, stays = _stays(tx, row)
    now = server.now()
    return [
        ResultRow(0, 0, ResultKind.ENDED, row.id, row.kind, each.seat, each.player, each.rank, None, now)
        for each in outcomes(stays, ranks, turns)
    ]


def counting(rows: Iterable[ResultRow]) -> list[tuple[str, int]]:
    """The players that an ending counts for, with their ranks."""
    return [(row.player, row.rank) for row in rows if row.rank is not None]


def _stays(tx: Tx, row: GameRow) -> tuple[int, list[Stay]]:
    """The number of a game's turns, and who had each seat for how many of them."""
    rows = list(log.chain(tx, row.id, row.key))
    turns = [each.turn for each in standing_entries(rules_of(row), rows)]
    resigned = [(each.seat, each.seq) for each in rows if each.kind == Kind.RESIGNED]
    missed = {
        (each.seat, each.person_id)
        for each in tables.offers_made(tx, row.id)
        if each.why == "missed" and each.status != OfferStatus.BACK
    }
    former, players = player_rows.former_of_game(tx, row.id), player_rows.of_game(tx, row.id)
    keys = _keys(tx, [*former, *players])
    stays = list[Stay]()
    for player in players:
        before = [each for each in former if each.seat == player.seat]
        ends = [(0, 0), *((each.turn, each.seq) for each in before), (_FOR_EVER, _FOR_EVER)]
        assert player.seat is not None, "the game was played"
        players_of_seat: list[PlayerRow | FormerPlayerRow] = [*before, player]
        for who, ((since, after), (until, upto)) in zip(players_of_seat, pairwise(ends), strict=True):
            key = bot_player(player.bot or "") if who.person_id is None else keys[who.person_id]
            if who.person_id is None and who is not player:
                # A bot that gave a seat back; nobody knows its level any more, and it has not left.
                continue
            by_choice = any(seat == player.seat and after < seq < upto for seat, seq in resigned)
            stays.append(
                Stay(
                    player.seat,
                    key,
                    turns=sum(since <= turn < until for turn in turns),
                    started=after == 0,
                    stayed=who is player,
                    left=by_choice or (player.seat, who.person_id) in missed,
                )
            )
    return len(turns), stays


def _keys(tx: Tx, players: Sequence[PlayerRow | FormerPlayerRow]) -> dict[int, str]:
    """The random keys of people, by their ids."""
    found = people.read_all(tx, {each.person_id for each in players if each.person_id is not None})
    return {person.id: person.key for person in found.values()}
