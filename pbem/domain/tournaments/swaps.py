"""Tables made better by swapping players between two of them, with a bounded number of steps and no luck."""

from collections.abc import Mapping, Sequence
from typing import Final

from pbem.domain.tournaments.board import Board
from pbem.domain.tournaments.costs import Costs

WALK: Final = 4_000, 100_000
"""How long a walk through worse tables is: this for each player, but at most the second number.

A step counts as the number of players at its table, times that of all players.
"""

REST: Final = 6
"""In how many later steps of a walk a player who was swapped stays where they are."""

SWEEPS: Final = 4
"""How often all tables are compared with their neighbours by score."""

_ANY: Final = 1 << 30


def swapped(
    tables: Sequence[Sequence[int]], costs: Costs, pots: Mapping[int, int] | None = None, resting: Sequence[int] = ()
) -> tuple[list[list[int]], list[int]]:
    """The tables, and who has a bye, after swaps that leave fewer faults, then less distance between scores at one table.

    First `mend`, until no swap of two players leaves fewer faults; if any are left, `walk`; at last `polish`, at most `SWEEPS`
    times. A player is swapped for one with a bye only if both had as many byes before.
    """
    board = Board(tables, costs, pots, resting)
    while mend(board):
        pass
    if any(board.faults):
        walk(board)
    for _sweep in range(SWEEPS if costs.scores else 0):
        if not polish(board):
            break
    return board.copy()


def mend(board: Board) -> bool:
    """For each table with faults, from the first to the last, make the best swap that leaves fewer; whether there was one.

    Its neighbours on both sides are asked first, then those two away, and so on: the first two with such a swap have it. If no
    table has one, a player changes with one who has a bye.
    """
    mended, count = False, len(board.tables)
    for position in range(count):
        if board.faults[position] == 0:
            continue
        for reach in range(1, count):
            others = [each for each in (position - reach, position + reach) if 0 <= each < count]
            best = board.best(position, others, -1)
            if best is not None:
                break
        else:
            best = board.best(position, (), -1, byes=True)
        if best is not None:
            board.swap(best[1], best[2])
            mended = True
    return mended


def walk(board: Board) -> None:
    """Go through worse tables to better ones: the best on the way are taken.

    Step after step, the tables with faults take turns: step n, from 0, is for table n mod f of the f tables that have some. It makes
    the best swap there is for it, even if that leaves more faults than before. Players who were swapped in the last `REST` steps,
    and in n // 3 mod 9 steps before those, stay where they are.
    """
    best, found = sum(board.faults), board.copy()
    moved: dict[int, int] = {}
    everywhere = range(len(board.tables))
    step = length = 0
    players = len(board.at) + len(board.resting)
    while length < min(WALK[0] * players, WALK[1]) and best > 0:
        faulty = [position for position in everywhere if board.faults[position]]
        position, rest = faulty[step % len(faulty)], REST + step // 3 % 9
        still = {player for player, when in moved.items() if step - when <= rest}
        swap = board.best(position, everywhere, _ANY, still, byes=True)
        step, length = step + 1, length + len(board.tables[position]) * players
        if swap is not None:
            _change, one, two = swap
            board.swap(one, two)
            moved[one] = moved[two] = step
        if sum(board.faults) < best:
            best, found = sum(board.faults), board.copy()
    board.take(*found)


def polish(board: Board) -> bool:
    """For each table and the next, make the best swap that raises no faults and lowers faults or distance; whether there was one."""
    polished = False
    for position in range(len(board.tables) - 1):
        best = board.best(position, [position + 1], 0)
        if best is not None and (best[0] < 0 or board.distance(best[1], best[2]) < 0):
            board.swap(best[1], best[2])
            polished = True
    return polished
