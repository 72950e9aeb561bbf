"""An exact search for rounds with few repeats, for up to 12 players."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

Mix = tuple[int, ...]
Made = tuple[tuple[int, ...], ...]


def can_have(players: int, mix: Mix, rounds: int, most: int) -> bool:
    """Whether there are rounds of such tables with at most this number of repeats, in which byes differ by one at most."""
    pairs_met = rounds * sum(size * (size - 1) // 2 for size in mix)
    if most < max(0, pairs_met - players * (players - 1) // 2):
        return False
    made = list(_rounds(players, mix))
    met = [_pairs(each) for each in made]
    resting = [[player for player in range(players) if all(player not in table for table in each)] for each in made]
    search = _Search(met, resting, -(-rounds * (players - sum(mix)) // players))
    # The first round is any, the second one of each kind, as they lie across each other.
    kinds = {_kind(made[0], tables, players): number for number, tables in enumerate(made)}
    for second in kinds.values():
        byes = [(resting[0] + resting[second]).count(player) for player in range(players)]
        spent = (met[0] & met[second]).bit_count()
        if spent > most or max(byes) > search.byes:
            continue
        if search.go(met[0] | met[second], range(len(made)), rounds - 2, most - spent, byes):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Search:
    """Which pairs meet in each round, a bit for each; who has a bye in it; how many byes someone may have."""

    met: list[int]
    resting: list[list[int]]
    byes: int

    def go(self, union: int, choices: Sequence[int], left: int, budget: int, byes: list[int]) -> bool:
        """Whether so many rounds are left among the choices, with this number of repeats at most."""
        if left == 0:
            return True
        repeated = {
            number: again
            for number in choices
            if (again := (self.met[number] & union).bit_count()) <= budget
            and all(byes[player] < self.byes for player in self.resting[number])
        }
        # More rounds only add repeats: each of the others has at least as many as the least of these.
        least = min(repeated.values(), default=0)
        now = [number for number, again in repeated.items() if again + least * (left - 1) <= budget]
        for position, number in enumerate(now):
            after = [count + (player in self.resting[number]) for player, count in enumerate(byes)]
            if self.go(union | self.met[number], now[position:], left - 1, budget - repeated[number], after):
                return True
        return False


def _rounds(players: int, mix: Mix) -> Iterator[Made]:
    """All rounds: each way to seat players, or to leave them without a table."""

    def tables(free: tuple[int, ...], sizes: Sequence[int], least: int) -> Iterator[Made]:
        if not sizes:
            yield ()
            return
        for table in combinations(free, sizes[0]):
            if table[0] > least:
                same = len(sizes) > 1 and sizes[1] == sizes[0]
                left = tuple(each for each in free if each not in table)
                for rest in tables(left, sizes[1:], table[0] if same else -1):
                    yield table, *rest

    return tables(tuple(range(players)), mix, -1)


def _pairs(tables: Made) -> int:
    """The pairs who meet, a bit for each."""
    return sum(1 << (other * (other - 1) // 2 + one) for table in tables for one, other in combinations(table, 2))


def _kind(first: Made, second: Made, players: int) -> tuple[tuple[int, ...], ...]:
    """How two rounds lie across each other, the same for all that differ only in the names of players."""
    groups = [[*map(set, tables), set(range(players)).difference(*tables)] for tables in (first, second)]
    *rows, last = [[len(one & other) for other in groups[1]] for one in groups[0]]
    return min(
        tuple(sorted(zip(*(rows[position] for position in order), last, strict=True)))
        for order in permutations(range(len(rows)))
    )
