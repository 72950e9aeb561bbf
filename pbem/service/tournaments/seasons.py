"""The seasons of a league: its first divisions, those of the next season, and opening that one for sign-up."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from engine.chance import commitment
from pbem.domain.states import EmailKind, EntrantStatus, TournamentStatus
from pbem.domain.tournaments.pairing import Plan, divisions_next_season, standings
from pbem.service.server import Server
from pbem.service.tournaments.plans import entrants_of, plan_of, results_of
from pbem.store import outbox, tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow, TournamentRow

SIGN_UP_TIME: Final = timedelta(days=14)
"""How long people can sign up for the next season."""

_SECRET_BYTES: Final = 32
_KEY_BYTES: Final = 8


def divisions(tx: Tx, row: TournamentRow, ranked: Sequence[EntrantRow]) -> dict[int, int]:
    """The division of each entrant, from the strongest to the weakest: as the last season left them, newcomers in the lowest."""
    plan = plan_of(row)
    if plan.format != "league":
        return {each.number: 1 for each in ranked}
    if row.previous_id is None:
        return _first(plan, [each.number for each in ranked])
    earlier = _after(tx, tournaments.read(tx, row.previous_id))
    lowest = max(earlier.values(), default=1)
    remaining = sorted({earlier.get(each.person_id or 0, lowest) for each in ranked})
    return {each.number: 1 + remaining.index(earlier.get(each.person_id or 0, lowest)) for each in ranked}


def open_next(tx: Tx, server: Server, row: TournamentRow) -> str:
    """Open the next season of a league that is over, and invite everyone who played in this one. Returns its key."""
    secret, key, now = server.randomness.bytes(_SECRET_BYTES), server.randomness.bytes(_KEY_BYTES).hex(), server.now()
    same = (
        "name",
        "kind",
        "host_id",
        "plan",
        "settings",
        "seeding",
        "fewest",
        "most",
        "late",
        "round_days",
        "conditions",
        "group_id",
    )
    season_id = tournaments.add(
        tx,
        **{name: getattr(row, name) for name in same},
        key=key,
        status=TournamentStatus.OPEN,
        round=0,
        byes="[]",
        winners="[]",
        seeds="[]",
        created_at=now,
        closes_at=now + SIGN_UP_TIME,
        commitment=commitment(secret),
        secret=secret,
        seed="",
        season=row.season + 1,
        previous_id=row.id,
    )
    played = [
        each.person_id
        for each in tournaments.entrants(tx, row.id)
        if each.person_id is not None and each.rank and each.status == EntrantStatus.IN
    ]
    for person_id in played:
        tournaments.add_sign_up(tx, season_id, person_id, None, now)
    facts = {"tournament": season_id, "host": "", "round": 0}
    outbox.queue(tx, [outbox.NewEmail(each, EmailKind.SIGN_UP, facts=facts) for each in played], now)
    return key


def _first(plan: Plan, numbers: Sequence[int]) -> dict[int, int]:
    """Divisions of about one pod each, that differ by one entrant at most, the strongest in the first."""
    count = max(1, round(len(numbers) / plan.pod_size))
    size, larger = divmod(len(numbers), count)
    ends = [size * division + min(division, larger) for division in range(1, count + 1)]
    return {number: 1 + sum(at >= end for end in ends) for at, number in enumerate(numbers)}


def _after(tx: Tx, row: TournamentRow) -> dict[int, int]:
    """The division of each person after a season, by the person."""
    rows = tournaments.entrants(tx, row.id)
    lines = standings(plan_of(row), entrants_of(rows), results_of(tournaments.tables(tx, row.id)), row.seed)
    found = divisions_next_season(plan_of(row), lines)
    persons = {each.person_id for each in rows if each.person_id is not None}
    own = {person: tournaments.entry_of(rows, person) for person in persons}
    return {person: found[each.number] for person, each in own.items() if each is not None and each.number in found}
