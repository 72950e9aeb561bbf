"""Tournaments in a simulation: opened at the beginning, signed up for by the links of emails, and left to themselves.

What their rounds are, and when, follows from what players do and what happens to the server. At the end their files must verify,
nobody may have played after leaving, and every email about them must have arrived.
"""

from collections import Counter
from collections.abc import Collection
from datetime import timedelta
from random import Random
from typing import Final

from engine import registry
from pbem.domain.states import EmailKind, TournamentStatus
from pbem.service.tournaments import file, new, reading, sign_up
from pbem.service.tournaments.new import TournamentSettings
from pbem.store import ledger, tournaments
from tests.service.database import queued_emails
from tests.sim.far_end import BrokenError, FarEnd
from tests.sim.records import all_delivered
from tests.sim.world import World

ENTRANTS: Final = 8
"""Two tables of three, and two people who wait for someone to leave."""

_PLACES: Final = 6
_FORMS: Final = ("swiss", "league", "knockout")
_GAMES: Final = ("sunset-poker", "templari")


class Seasons:
    """The tournaments of a run."""

    def __init__(self, world: World, luck: Random, seen: Counter[str]) -> None:
        self.luck = luck
        self._world, self._seen = world, seen
        self._keys: list[str] = []

    def opens(self, number: int, host: int, addresses: Collection[str]) -> None:
        """Open a tournament; all of these people are invited, by email."""
        kind = _GAMES[number % len(_GAMES)]
        settings = TournamentSettings(
            name=f"Cup {number}",
            kind=kind,
            closes_at=self._world.server.now() + timedelta(hours=20),
            form=self.luck.choice(_FORMS),
            rounds=2,
            size=3,
            advance=1,
            options=registry.load(kind).short,
            pace="12h",
            missed_limit=2,
            level="beginner",
            most=_PLACES,
            round_days=2,
        )
        server = self._world.server
        key = server.run(new.open_tournament, host, settings)
        row = server.query(tournaments.by_key, key)
        server.run(sign_up.invite, row.id, host, tuple(addresses))
        self._keys.append(key)

    def are_over(self) -> bool:
        """Whether every tournament has ended."""
        with self._world.store.read() as tx:
            rows = [tournaments.by_key(tx, key) for key in self._keys]
        return all(row.status in (TournamentStatus.OVER, TournamentStatus.CALLED_OFF) for row in rows)

    def check(self, far_end: FarEnd) -> None:
        """Check the tournaments at the end of a run."""
        server = self._world.server
        for key in self._keys:
            page = server.read(reading.page, key)
            self._seen[f"tournament {page.summary.row.status}"] += 1
            if page.summary.row.status != TournamentStatus.OVER:
                continue
            if problems := file.check(server.read(file.of_tournament, key)):
                raise BrokenError(f"the file of tournament {key} does not verify: {problems}")
            if not page.summary.winners:
                raise BrokenError(f"tournament {key} has no winner")
            for round_ in page.rounds:
                seated = [player.number for table in round_.tables for player in table.players]
                gone = {each.number for each in page.entrants if each.until is not None and each.until < round_.number}
                if len(set(seated)) < len(seated) or gone.intersection(seated):
                    raise BrokenError(f"in round {round_.number} of tournament {key} someone sits twice or has left")
                self._seen["round of a tournament"] += 1
                self._seen["late table of a tournament"] += sum(table.how == "bots" for table in round_.tables)
            self._seen["someone left a tournament"] += sum(each.until is not None for each in page.entrants)
        emails = [
            email for kind in (EmailKind.SIGN_UP, EmailKind.TOURNAMENT) for email in queued_emails(server, kind=kind)
        ]
        with self._world.store.read() as tx:
            lines = ledger.lines(tx, [email.id for email in emails])
        all_delivered(emails, lines, far_end)
        copies = Counter((email.person_id, email.kind, email.facts) for email in emails)
        if twice := [each for each, times in copies.items() if times > 1]:
            raise BrokenError(f"someone is told the same of a tournament twice: {twice}")
