"""Tournaments in a test: opened, signed up for, and moved on by the tick of a worker."""

from collections.abc import Callable
from typing import Any

import pytest

from pbem.domain.errors import Refusal
from pbem.service.server import Server
from pbem.service.tournaments import reading, rounds, sign_up
from pbem.service.tournaments.reading import TournamentPage
from pbem.store import tables as rows
from pbem.store.schema import EntrantRow, TournamentRow
from tests.service.clock import DAY, Time
from tests.service.running_game import RunningGame
from tests.service.tournaments.cup import open_cup


class RunningTournament:
    """A tournament, its host and its people by their names."""

    def __init__(self, server: Server, time: Time, key: str, host: int, people: dict[str, int]) -> None:
        self.server, self.time, self.key, self.host, self.people = server, time, key, host, people

    @property
    def page(self) -> TournamentPage:
        """What everyone sees now, or the members of its group."""
        return self.server.read(reading.page, self.key, self.host)

    @property
    def row(self) -> TournamentRow:
        """Its row."""
        return self.page.summary.row

    @property
    def id(self) -> int:
        """Its id."""
        return self.row.id

    def entrant(self, name: str) -> EntrantRow:
        """An entrant, by name."""
        return next(each for each in self.page.entrants if each.name == name)

    def enters(self, person_id: int, name: str = "", word: str = "") -> EntrantRow:
        """Sign a person up."""
        entrant = self.server.run(sign_up.sign_up, self.id, person_id, name, word)
        if isinstance(entrant, Refusal):
            raise entrant
        return entrant

    def moves_on(self) -> None:
        """The tick of tournaments."""
        rounds.advance_due(self.server)

    def begins(self) -> None:
        """Let sign-up end."""
        self.time.passes_until(self.row.closes_at)
        self.moves_on()

    def games(self, round_number: int | None = None) -> list[RunningGame]:
        """The games of a round, by default the latest."""
        number = self.row.round if round_number is None else round_number
        tables = self.page.rounds[number - 1].tables
        found = [self.server.query(rows.by_key, each.key) for each in tables]
        return [RunningGame(self.server, row.id) for row in found if row is not None]

    def is_late(self) -> None:
        """Let the present round be late, and bots finish it."""
        self.time.passes_until(self.row.due_at)
        self.moves_on()
        self.time.bots_play()
        self.moves_on()

    def plays_round(self, *absent: str) -> None:
        """Everyone makes a choice of their own in the present round, but for these: the clock decides for them, then bots finish."""
        still = {person for name, person in self.people.items() if name in absent}
        for _turn in range(3):
            for game in self.games():
                people = {seat: player.person_id for seat, player in game.players().items()}
                while here := [seat for seat in game.asked() if people[seat] not in (still | {None})]:
                    game.play(here[0], game.asked()[here[0]].default)
            self.time.sends()
            self.time.passes(2 * DAY)
            self.time.runs_out()
        self.is_late()


@pytest.fixture
def tournament(server: Server, time: Time, person: Callable[[str], int]) -> Callable[..., RunningTournament]:
    """tournament("Ann", "Ben", ..., rounds=2) -> a tournament of the shortest Sunset Poker that these have signed up for."""

    def opened(*names: str, host: str = "Host", **settings: Any) -> RunningTournament:
        hosting = person(host)
        key = open_cup(server, hosting, **settings)
        found = RunningTournament(server, time, key, hosting, {})
        for name in names:
            found.people[name] = person(name)
            found.enters(found.people[name])
        return found

    return opened
