"""Strong entrants spread over tables or pods, and those who have met kept apart."""

from collections.abc import Sequence

from pbem.domain.tournaments.costs import Costs
from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.swaps import swapped


def spread(order: Sequence[int], seating: Sequence[int], past: History) -> list[list[int]]:
    """Groups of these sizes from players in the order of their seeds.

    The first pot is as many of the strongest as there are groups: one for each, from the first group to the last. The next pot
    goes back from the last to the first, and so on; a group that is full is passed over. Then players of the same pot change
    places where fewer have met before. So the strongest two are in one group only if there is just one.
    """
    groups: list[list[int]] = [[] for _size in seating]
    pots: dict[int, int] = {}
    waiting = iter(order)
    for pot in range(max(seating, default=0)):
        open_groups = [group for group, size in zip(groups, seating, strict=True) if size > pot]
        for group in open_groups if pot % 2 == 0 else reversed(open_groups):
            player = next(waiting)
            pots[player] = pot
            group.append(player)
    costs = Costs(past, seats=False)
    return swapped(groups, costs, pots=pots)[0]
