"""A tournament as everyone may see it: who takes part, the tables of each round, and the standings.

Nothing here is secret, and nothing is of a game that its own public page does not tell.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from pbem.domain.states import EntrantStatus, TournamentStatus
from pbem.domain.tournaments import pairing
from pbem.domain.tournaments.plan import Plan
from pbem.domain.tournaments.standings import Standing
from pbem.service.server import Server
from pbem.service.tables.groups import Membership
from pbem.service.tournaments import admission
from pbem.service.tournaments.plans import entrants_of, in_order_of_seeds, places_of, plan_of, results_so_far, seats_of
from pbem.store import games, people, tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow, RoundTableRow, TournamentRow

MOST_OF_GROUP: Final = 50
"""Tournaments on the page of a group."""


@dataclass(frozen=True, slots=True)
class TablePlayer:
    """A player at a table of a round: the entrant's number, their name, and their place once the table is over."""

    number: int
    name: str
    place: int | None


@dataclass(frozen=True, slots=True)
class RoundTable:
    """A table of a round. `key` names its game, `how` says how that ended, and `reasons` why places were corrected."""

    number: int
    key: str
    status: str
    players: tuple[TablePlayer, ...]
    how: str
    reasons: tuple[str, ...]

    @property
    def ranked(self) -> tuple[TablePlayer, ...]:
        """The players from the first place to the last, in the order of seats while they play."""
        return tuple(sorted(self.players, key=lambda player: player.place or 0))


@dataclass(frozen=True, slots=True)
class Round:
    """A round with its tables, and the names of those who have no table in it, with their numbers."""

    number: int
    tables: tuple[RoundTable, ...]
    byes: tuple[str, ...]
    bye_numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """What became of an entrant in a round: a place among so many, 0 while they play; among none where they had no table.

    `points` are what they got for it, also without a table; None where they got none. `key` names the game.
    """

    place: int = 0
    among: int = 0
    points: Fraction | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A line of the standings. `course` is what became of the entrant in each round."""

    standing: Standing
    name: str
    status: str
    number: int
    course: tuple[Course, ...] = ()

    @property
    def division(self) -> int:
        """The division, 1 in all formats but a league."""
        return self.standing.division


@dataclass(frozen=True, slots=True)
class TournamentSummary:
    """A tournament as lists show it. `signed_up` counts those who take part; `winners` are several if they share the win."""

    row: TournamentRow
    host: str
    plan: Plan
    settings: dict[str, Any]
    signed_up: int
    rounds: int
    winners: tuple[str, ...] = ()

    @property
    def status(self) -> TournamentStatus:
        """What state it is in."""
        return TournamentStatus(self.row.status)

    @property
    def late_at(self) -> datetime | None:
        """When the present round is late; None while bots finish it, and in a pause."""
        return None if self.row.paused_at else self.row.due_at


@dataclass(frozen=True, slots=True)
class TournamentPage:
    """A tournament with all that its page shows."""

    summary: TournamentSummary
    entrants: tuple[EntrantRow, ...]
    rounds: tuple[Round, ...]
    standings: tuple[Ranked, ...]

    @property
    def present(self) -> tuple[EntrantRow, ...]:
        """Those who take part."""
        return tuple(each for each in self.entrants if each.status == EntrantStatus.IN)

    @property
    def waiting(self) -> tuple[EntrantRow, ...]:
        """Those who wait for a place, the first in line first."""
        waiting = (each for each in self.entrants if each.status == EntrantStatus.WAITING)
        return tuple(sorted(waiting, key=lambda each: each.signed_up_at))

    @property
    def seeded(self) -> tuple[EntrantRow, ...]:
        """Those who take part, in the order of a host who seeds by hand."""
        by_number = {each.number: each for each in self.present}
        return tuple(by_number[each] for each in in_order_of_seeds(json.loads(self.summary.row.seeds), by_number))

    @property
    def has_results(self) -> bool:
        """Whether a table has ended."""
        return any(player.place for round_ in self.rounds for table in round_.tables for player in table.players)

    def entry_of(self, person_id: int) -> EntrantRow | None:
        """The entry of a person; None if they never signed up."""
        return tournaments.entry_of(self.entrants, person_id)


def page(tx: Tx, server: Server, key: str, person_id: int | None = None) -> TournamentPage:
    """The tournament of this name. Raises NotFound, also if it is of a group that this person, or anyone, is not in."""
    row = tournaments.by_key(tx, key)
    admission.must_see(tx, row, person_id)
    return page_of(tx, row)


def of_group(tx: Tx, server: Server, member: Membership) -> list[TournamentRow]:
    """The tournaments of a group for its member, the newest first."""
    return tournaments.of_group(tx, member.group.id, MOST_OF_GROUP)


def page_of(tx: Tx, row: TournamentRow, before: int | None = None) -> TournamentPage:
    """A tournament; its standings only of rounds before one, if that is given."""
    entrants, tables = tournaments.entrants(tx, row.id), tournaments.tables(tx, row.id)
    rounds = _rounds(tx, row, entrants, tables)
    (summary,) = summaries(tx, [row])
    return TournamentPage(
        summary=summary,
        entrants=tuple(entrants),
        rounds=rounds,
        standings=_standings(row, entrants, tables, rounds, before),
    )


def listed(
    tx: Tx, server: Server, status: TournamentStatus | None, limit: int, after: str = ""
) -> tuple[TournamentSummary, ...]:
    """Tournaments of a status or of all, the newest first: those that are older than the one of this key. Raises NotFound."""
    below = tournaments.by_key(tx, after) if after else None
    return summaries(tx, tournaments.listed(tx, status, below, limit))


def summaries(tx: Tx, rows: Sequence[TournamentRow]) -> tuple[TournamentSummary, ...]:
    """These tournaments as lists show them, in their order and in a fixed number of statements."""
    counts = tournaments.count_entrants(tx, [row.id for row in rows])
    hosts = people.read_all(tx, {row.host_id for row in rows})
    won = {row.id: json.loads(row.winners) for row in rows}
    names = tournaments.names(tx, [(row.id, number) for row in rows for number in won[row.id]])
    found = []
    for row in rows:
        plan, signed_up = plan_of(row), counts[row.id]
        found.append(
            TournamentSummary(
                row=row,
                host=hosts[row.host_id].name,
                plan=plan,
                settings=json.loads(row.settings),
                signed_up=signed_up,
                rounds=pairing.rounds_of(plan, max(signed_up, row.fewest)),
                winners=tuple(names[row.id, number] for number in won[row.id]),
            )
        )
    return tuple(found)


def _standings(
    row: TournamentRow,
    entrants: list[EntrantRow],
    tables: list[RoundTableRow],
    rounds: tuple[Round, ...],
    before: int | None,
) -> tuple[Ranked, ...]:
    if not row.seed:
        return ()
    by_number = {each.number: each for each in entrants}
    found = _ranked(plan_of(row), entrants_of(entrants), results_so_far(tables, before), row.seed)
    seated = [
        {player.number: (player, table) for table in round_.tables for player in table.players} for round_ in rounds
    ]
    return tuple(
        Ranked(
            each,
            (entrant := by_number[each.entrant]).name,
            entrant.status,
            entrant.number,
            _course(each, rounds, seated),
        )
        for each in found
    )


_ranked = lru_cache(maxsize=64)(pairing.standings)
"""The standings that were made last: everyone who looks at a tournament's page needs them, and they seldom change."""


def _course(
    standing: Standing, rounds: tuple[Round, ...], seated: list[dict[int, tuple[TablePlayer, RoundTable]]]
) -> tuple[Course, ...]:
    """How an entrant has fared in each round."""
    by_round, found = dict(standing.by_round), []
    for round_, here in zip(rounds, seated, strict=True):
        points = by_round.get(round_.number)
        if standing.entrant in here:
            player, table = here[standing.entrant]
            found.append(Course(player.place or 0, len(table.players), points, table.key))
        else:
            found.append(Course(points=points))
    return tuple(found)


def _rounds(tx: Tx, row: TournamentRow, entrants: list[EntrantRow], tables: list[RoundTableRow]) -> tuple[Round, ...]:
    names = {each.number: each.name for each in entrants}
    rows = games.read_all(tx, [each.game_id for each in tables])
    byes: list[list[int]] = json.loads(row.byes)
    found = []
    for number in range(1, row.round + 1):
        own = [each for each in tables if each.round == number]
        found.append(
            Round(
                number,
                tuple(
                    RoundTable(
                        table.number,
                        rows[table.game_id].key,
                        rows[table.game_id].status,
                        _players(table, names),
                        table.how,
                        tuple(each["reason"] for each in json.loads(table.corrections)),
                    )
                    for table in own
                ),
                tuple(names[each] for each in byes[number - 1]),
                tuple(byes[number - 1]),
            )
        )
    return tuple(found)


def _players(table: RoundTableRow, names: dict[int, str]) -> tuple[TablePlayer, ...]:
    seats = seats_of(table)
    places = places_of(table) or (None,) * len(seats)
    return tuple(TablePlayer(number, names[number], place) for number, place in zip(seats, places, strict=True))
