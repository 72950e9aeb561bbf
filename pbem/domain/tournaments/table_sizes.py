"""The sizes of the tables of a round: as many of the preferred size as can be, and a bye only where no mix of sizes seats everyone."""

from functools import lru_cache

from pbem.domain.tournaments.plan import Sizes


@lru_cache(maxsize=4096)
def table_sizes(players: int, sizes: Sizes) -> tuple[int, ...]:
    """The sizes of the tables: the preferred ones first, then the larger before the smaller.

    They seat as many players as possible; the rest have a bye. Among the mixes for that many the one with the most preferred
    tables is taken, then the one whose sizes are closest to it (by the sum of differences), then the one with fewer tables, then
    the one with the larger tables.
    """
    for seated in range(players, 0, -1):
        mix = _mix(seated, sizes)
        if mix is not None:
            return tuple(sorted(mix, key=lambda size: (size != sizes.preferred, -size)))
    return ()


def byes(players: int, sizes: Sizes) -> int:
    """How many of the players have a bye."""
    return players - sum(table_sizes(players, sizes))


def _mix(players: int, sizes: Sizes) -> tuple[int, ...] | None:
    others = tuple(size for size in sorted(sizes.allowed) if size != sizes.preferred)
    best = _closest(players, sizes.preferred, others)
    for preferred in range(players // sizes.preferred, -1, -1):
        rest = best[players - preferred * sizes.preferred]
        if rest is not None:
            return (sizes.preferred,) * preferred + rest
    return None


def _closest(players: int, preferred: int, others: tuple[int, ...]) -> list[tuple[int, ...] | None]:
    """For each number of players up to this one: their tables without one of the preferred size, None where there are none."""
    best: list[tuple[int, ...] | None] = [()]
    for number in range(1, players + 1):
        mixes = [
            tuple(sorted((size, *mix), reverse=True))
            for size in others
            if size <= number and (mix := best[number - size]) is not None
        ]
        best.append(
            min(
                mixes,
                key=lambda mix: (sum(abs(size - preferred) for size in mix), len(mix), tuple(-size for size in mix)),
                default=None,
            )
        )
    return best
