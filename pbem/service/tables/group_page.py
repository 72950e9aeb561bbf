"""The page of a group: its tables to join, in progress and finished, its members, and their ratings from its games alone.

Ratings of a group follow from results that its page shows every member anyway.
"""

from dataclasses import dataclass, replace
from typing import Final

from pbem.domain.conditions import NONE
from pbem.domain.errors import NotFound
from pbem.domain.ratings import OVERALL, Key, Rating, changes
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.server import Server
from pbem.service.tables import groups, hall, joining
from pbem.service.tables.groups import Membership
from pbem.service.tables.hall import HallTable
from pbem.service.tables.new import TableSettings
from pbem.store import games, groups as rows, people, results
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.schema import GroupMemberRow

MOST_SHOWN: Final = 50
"""Tables of each state on the page, the newest."""

_SHOWN: Final = (TableStatus.OPEN, TableStatus.PLAYING, TableStatus.OVER)

MOST_READ: Final = 500
"""Tables that are read for the page, the newest: those finished among them make the ratings of the group."""


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A group's page for one member. `ratings` are those of members who have some, the highest first."""

    membership: Membership
    waiting: tuple[HallTable, ...]
    playing: tuple[HallTable, ...]
    over: tuple[HallTable, ...]
    ratings: tuple[tuple[GroupMemberRow, Rating], ...]


def group_page(tx: Tx, server: Server, person_id: int, key: str) -> GroupPage:
    """The page of a group for its member. Raises NotFound for anyone else."""
    found = groups.membership(tx, person_id, key)
    every = rows.tables(tx, found.group.id, _SHOWN, MOST_READ)
    shown = [row for status in _SHOWN for row in [each for each in every if each.status == status][:MOST_SHOWN]]
    # All at once: three lists cost no more statements than one.
    listed = hall.with_winners(tx, server, shown, person_id)
    waiting, playing, over = (tuple(each for each in listed if each.summary.status == status) for status in _SHOWN)
    return GroupPage(found, waiting, playing, over, _ratings(tx, found, every))


def name_of(tx: Tx, server: Server, person_id: int, key: str) -> str:
    """The name of a group, for its member. Raises NotFound."""
    return groups.membership(tx, person_id, key).group.name


def open_table(tx: Tx, server: Server, person_id: int, key: str, settings: TableSettings) -> str:
    """Open a table of the group. Returns the token of the link by which its host takes a seat."""
    found = groups.membership(tx, person_id, key)
    private = replace(settings, private=True, conditions=NONE)
    game_id = joining.create_table(tx, server, person_id, private).game_id
    rows.add_table(tx, found.group.id, game_id)
    return links.make_token_to_join(tx, server, person_id, games.lock(tx, game_id))


def table_token(tx: Tx, server: Server, person_id: int, key: str, game_id: int) -> str:
    """The token of the link by which a member joins an open table of the group. Raises NotFound."""
    found = groups.membership(tx, person_id, key)
    game = games.lock(tx, game_id)
    if rows.group_of_table(tx, game_id) != found.group.id or game.status != TableStatus.OPEN:
        raise NotFound(_("There's no such table."), remedy=_("Open the group's page again."))
    return links.make_token_to_join(tx, server, person_id, game)


def _ratings(tx: Tx, found: Membership, every: list[GameRow]) -> tuple[tuple[GroupMemberRow, Rating], ...]:
    played = {row.id: row for row in every if row.rated and row.status == TableStatus.OVER}
    if not played:
        return ()
    endings = results.of_games(tx, list(played))
    now = results.present_keys(tx, {row.player for rows_of_game in endings.values() for row in rows_of_game})
    current: dict[Key, Rating] = {}
    for game in sorted(played.values(), key=lambda each: each.result_seq or 0):
        ranks = [(now[row.player], row.rank) for row in endings[game.id] if row.rank is not None]
        current |= {(each.player, each.kind): each.after for each in changes(game.kind, ranks, current)}
    keys = people.read_all(tx, {row.person_id for row in found.members})
    rated = [(row, current.get((keys[row.person_id].key, OVERALL))) for row in found.members]
    return tuple(sorted(((row, rating) for row, rating in rated if rating is not None), key=lambda each: -each[1].mu))
