"""Rounds in which everyone meets everyone as evenly as the tables allow, made before the first is played."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import combinations
from typing import Final

from pbem.domain.tournaments.costs import Costs
from pbem.domain.tournaments.filling import filled
from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Round, Sizes, Table
from pbem.domain.tournaments.rota import seat_orders
from pbem.domain.tournaments.swaps import swapped
from pbem.domain.tournaments.table_sizes import table_sizes

FEW: Final = 12
"""Up to this number of players, all rounds are searched together."""

STARTS: Final = 12
TRIES: Final = 8000
"""How many swaps are tried from each start."""

DETOUR: Final = 6
"""How much worse than the best a position of the search may be."""

Tables = list[list[int]]


@lru_cache(maxsize=256)
def even_rounds(players: int, sizes: Sizes, rounds: int) -> tuple[Round, ...]:
    """Rounds for players numbered from 0: byes in turn, opponents as new as can be, seats within one of each other.

    The cost of a number of rounds is, for each pair that meets m > 1 times, 3 for each meeting but the first, and 1 for each two
    meetings: so few repeats come first, and then that nobody meets someone far more often than someone else.
    """
    seating = table_sizes(players, sizes)
    make = _searched if players <= FEW else _one_by_one
    made, resting = make(players, seating, rounds)
    seated = iter(seat_orders([table for tables in made for table in tables]))
    return tuple(
        Round(tuple(next(seated) for _table in tables), byes) for tables, byes in zip(made, resting, strict=True)
    )


def relabelled(found: Round, entrants: Sequence[int]) -> Round:
    """A round with entrants in place of the numbers from 0."""

    def named(numbers: Table) -> Table:
        return tuple(entrants[number] for number in numbers)

    return Round(tuple(named(table) for table in found.tables), tuple(sorted(named(found.byes))))


def _byes(players: int, each_round: int, rounds: int, label: str) -> list[Table]:
    """Who has a bye in each round: those with the fewest so far, by lot."""
    had, found = [0] * players, list[Table]()
    for number in range(1, rounds + 1):
        queue = sorted(drawn(label, f"byes/{number}", range(players)), key=had.__getitem__)
        found.append(tuple(sorted(queue[:each_round])))
        for player in found[-1]:
            had[player] += 1
    return found


def _one_by_one(players: int, seating: Sequence[int], rounds: int) -> tuple[list[Tables], list[Table]]:
    """Each round made when those before it are, and its byes."""
    past, made = History(), list[Tables]()
    label = f"even/{players}"
    resting = _byes(players, players - sum(seating), rounds, label)
    for number, byes in enumerate(resting, 1):
        costs = Costs(past, seats=False)
        order = [each for each in drawn(label, f"round/{number}", range(players)) if each not in byes]
        made.append(swapped(filled(order, seating, costs), costs)[0])
        past.add(made[-1])
    return made, resting


def _searched(players: int, seating: Sequence[int], rounds: int) -> tuple[list[Tables], list[Table]]:
    """All rounds together, searched from several starts; the best found, and its byes."""
    pairs = players * (players - 1) // 2
    often, more = divmod(rounds * sum(size * (size - 1) // 2 for size in seating), pairs)
    least = _cost(often) * (pairs - more) + _cost(often + 1) * more
    best, found = -1, (list[Tables](), list[Table]())
    for start in range(1, STARTS + 1):
        label = f"even/{players}/{start}"
        resting = _byes(players, players - sum(seating), rounds, label)
        cost, made = _search(players, seating, resting, least, label)
        if best < 0 or cost < best:
            best, found = cost, (made, resting)
        if best == least:
            break
    return found


def _cost(meetings: int) -> int:
    return 3 * max(0, meetings - 1) + meetings * (meetings - 1) // 2


def _search(
    players: int, seating: Sequence[int], resting: Sequence[Table], least: int, label: str
) -> tuple[int, list[Tables]]:
    """The best rounds on a walk of tried swaps, and their cost.

    Each try draws a round and two of its seats; the swap is made unless it leads to a cost above the best so far plus `DETOUR`.
    """
    rounds, seated = len(resting), sum(seating)
    if seated == 0:
        return 0, [[] for _round in resting]
    table_of = [table for table, size in enumerate(seating) for _seat in range(size)]
    mates = [
        [other for other in range(seated) if other != seat and table_of[other] == table_of[seat]]
        for seat in range(seated)
    ]
    lines = [
        [player for player in drawn(label, f"round/{number}", range(players)) if player not in byes]
        for number, byes in enumerate(resting, 1)
    ]
    met = [[0] * players for _player in range(players)]
    for line in lines:
        for one, other in combinations(range(seated), 2):
            if table_of[one] == table_of[other]:
                met[line[one]][line[other]] += 1
                met[line[other]][line[one]] += 1
    dearer = [_cost(meetings + 1) - _cost(meetings) for meetings in range(rounds + 1)]
    cost = sum(_cost(met[one][other]) for one, other in combinations(range(players), 2))
    best, found = cost, [list(line) for line in lines]
    for number in range(TRIES):
        if best == least:
            break
        draw = sha256(f"{label}/try/{number}".encode()).digest()
        line = lines[int.from_bytes(draw[:4]) % rounds]
        seat, other_seat = int.from_bytes(draw[4:8]) % seated, int.from_bytes(draw[8:12]) % seated
        if table_of[seat] == table_of[other_seat]:
            continue
        one, other = line[seat], line[other_seat]
        met_one, met_other = met[one], met[other]
        leaving, joining = [line[mate] for mate in mates[seat]], [line[mate] for mate in mates[other_seat]]
        change = 0
        for each in leaving:
            change += dearer[met_other[each]] - dearer[met_one[each] - 1]
        for each in joining:
            change += dearer[met_one[each]] - dearer[met_other[each] - 1]
        if cost + change > best + DETOUR:
            continue
        cost += change
        line[seat], line[other_seat] = other, one
        for each in leaving:
            met_one[each] -= 1
            met[each][one] -= 1
            met_other[each] += 1
            met[each][other] += 1
        for each in joining:
            met_one[each] += 1
            met[each][one] += 1
            met_other[each] -= 1
            met[each][other] -= 1
        if cost < best:
            best, found = cost, [list(line) for line in lines]
    return best, [_split(line, seating) for line in found]


def _split(line: list[int], seating: Sequence[int]) -> Tables:
    waiting = iter(line)
    return [[next(waiting) for _seat in range(size)] for size in seating]
