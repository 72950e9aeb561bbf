"""A server where many people have played for years: ratings, profiles, statistics, tournaments and groups of a few, copied.

A few people play rated games of each kind to the end, and the server rates and counts them by its own ticks. Then everything is
copied. There are fewer copies of people than of games, and each has another number, so that everyone has played many games, against
ever different people. One person has played much more than all others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import count as numbers_from
from math import gcd, prod
from typing import Final

from sqlalchemy import func, select, update

from engine import registry
from pbem.domain.errors import Refusal
from pbem.domain.reliability import PERIOD
from pbem.domain.states import TableStatus
from pbem.service.absence.bots import play_bots
from pbem.service.account import feeds, profiles
from pbem.service.archive import dump, game_statistics, ratings
from pbem.service.desk.acts.correct import Correct
from pbem.service.server import Server
from pbem.service.tables import group_page, groups, joining
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import rounds, sign_up
from pbem.store import games, people, profiles as profile_rows, results, tournaments
from pbem.store.database import Tx
from pbem.store.schema import GAME, GROUPS, PLAYER, RESULT, ROUND_TABLE, TASK_PROGRESS, TOURNAMENT
from tests.bench.tables import crowd
from tests.fakes import FakeClock
from tests.scale.copies import Copying, highest
from tests.service.actors import moderate
from tests.service.running_game import RunningGame
from tests.service.tournaments.cup import open_cup

SEATS: Final = 3
PEOPLE: Final = 6
SEATS_EACH: Final = 30
"""Seats that a person has had on average, but for the one who has played most."""

APART: Final = timedelta(minutes=30)
"""The time between the end of a copy and of the next. A million games take five years."""

_STEPS: Final = (1, 7, 11, 13, 17, 19)
"""By how much the number of a person's copy differs from one game to the next: no two people meet twice in a row."""

_TABLES: Final = (
    "person",
    "profile",
    "game",
    "player",
    "deadline",
    "result",
    "rating",
    "finished_game",
    "finished_seat",
    "groups",
    "group_members",
    "group_tables",
    "tournament",
    "entrant",
    "round_table",
)


@dataclass(frozen=True)
class Shares:
    """One copy in so many has these: what there is less of than of finished games.

    The first is a multiple of the others, so who has played most is at no more tables now, and in no more groups, than others.
    """

    busiest: int = 500
    """The person who has played most, besides the games that everyone has."""
    ended: int = 20
    """Tournaments that are over, groups, and corrected results."""
    current: int = 100
    """Tables and tournaments that are open or in progress."""


@dataclass(frozen=True)
class Community:
    """What was really played: the people, the one who plays most first, and the keys of some things."""

    people: tuple[int, ...]
    persons: tuple[str, ...]
    profile: str
    group: str
    tournament: str
    open_tournament: str
    calendar: str
    news: str
    game: str
    last_game: int
    """The id of a short game that can be rated and counted again."""


def found(server: Server, clock: FakeClock, kinds: Iterable[str] | None = None) -> Community:
    """Play what will be copied: two rated games of each kind, tournaments, and the tables of a group."""
    crowd_ids = crowd(server, PEOPLE)
    busiest = crowd_ids[0]
    for at, person in enumerate(crowd_ids):
        if audience := ("everyone", "everyone", "met", "", "everyone", "met")[at]:
            server.run(profiles.choose, person, audience, f"Player {at} the bold", punctual=True)
        server.store.write(lambda tx, person=person, at=at: people.change(tx, person, show_ratings=at % 2 == 0))  # type: ignore[misc]
    for at, kind in enumerate(kinds or registry.names()):
        for first in (0, 1):
            # Each triple has someone of the other half.
            seated = [
                busiest if first == 0 else crowd_ids[1],
                *(crowd_ids[(at + first + 2 * each) % 5 + 1] for each in (0, 1)),
            ]
            seated = list(dict.fromkeys(seated))
            _play(server, _table(server, kind, seated, bots=("beginner",) * (SEATS - len(seated))))
            clock.advance(timedelta(minutes=1))
    _tournament(server, clock, crowd_ids, "Spring cup")
    _tournament(server, clock, crowd_ids, "Summer cup", rounds_played=1)
    open_key = open_cup(server, busiest, name="Winter cup", closes_at=server.now() + timedelta(days=60))
    for person in crowd_ids[:4]:
        _enter(server, open_key, person)
    group = _group(server, crowd_ids)
    last = _table(server, "bid", crowd_ids[:SEATS])
    _play(server, last)
    _table(server, "bid", crowd_ids[1:4])
    server.run(joining.create_table, crowd_ids[1], _settings("bid", title="Who joins?"))
    _count(server)
    corrected = server.query(lambda tx: tx.execute(select(func.min(GAME.c.id)).where(GAME.c.rated)).scalar_one())
    moderate(server, Correct(corrected, "result", "3 2 1"))
    _merge_a_stranger(server, crowd_ids[5])
    _count(server)
    clock.advance(timedelta(days=1))
    assert dump.make_nightly(server, lambda: True)
    server.run(feeds.renew, busiest)
    addresses = server.read(feeds.feed_tokens, busiest)
    assert addresses is not None
    with server.store.read() as tx:
        rows = people.read_all(tx, crowd_ids)
        profile = profile_rows.of_person(tx, busiest)
        assert profile is not None
        key = games.read(tx, last).key
        cup = tx.execute(select(TOURNAMENT.c.key).where(TOURNAMENT.c.name == "Spring cup")).scalar_one()
    return Community(
        people=tuple(crowd_ids),
        persons=tuple(rows[each].key for each in crowd_ids),
        profile=profile.key,
        group=group,
        tournament=cup,
        open_tournament=open_key,
        calendar=addresses.calendar,
        news=addresses.news,
        game=key,
        last_game=last,
    )


def copy(server: Server, clock: FakeClock, community: Community, games_wanted: int, shares: Shares) -> int:
    """Add copies until there are about so many finished games, and let the clock go on until then. Returns how many people there are."""
    with server.store.read() as tx:
        every = _every(tx, shares)
        each_time = sum(1 for share in every["game"].values() if share == 1)
        times = games_wanted // each_time - 1
        circles = _coprime(max(games_wanted * SEATS // SEATS_EACH // PEOPLE, 3))
        copying = _copying(tx, community, every, shares, times, circles)
    copying.run(server, times)
    clock.advance(times * APART)
    server.store.write(_go_on)
    game_statistics.rebuild(server)
    return circles * PEOPLE


def copied(number: int, key: str) -> str:
    """The key of a copy."""
    return f"{number}x{key}"


def finished(server: Server) -> int:
    """How many rated games are over."""
    with server.store.read() as tx:
        over = (GAME.c.status == TableStatus.OVER, GAME.c.rated, GAME.c.private.is_(False))
        return int(tx.execute(select(func.count()).select_from(GAME).where(*over)).scalar_one())


def games_of(server: Server, person: int) -> int:
    """At how many tables a person has had a seat."""
    with server.store.read() as tx:
        return int(tx.execute(select(func.count()).where(PLAYER.c.person_id == person)).scalar_one())


def _settings(kind: str, **more: object) -> TableSettings:
    rules = registry.load(kind)
    return TableSettings(kind, SEATS, dict(rules.short), "1d", rated=True, **more)  # type: ignore[arg-type]


def _table(server: Server, kind: str, seated: list[int], bots: tuple[str, ...] = ()) -> int:
    game_id = server.run(joining.create_table, seated[0], _settings(kind, bots=bots)).game_id
    for person in seated:
        server.run(joining.join, game_id, person)
    return game_id


def _play(server: Server, game_id: int) -> None:
    """Play a game to its end."""
    running = RunningGame(server, game_id)
    while running.row().status == TableStatus.PLAYING:
        if not any(True for _ in running.play_defaults()):
            play_bots(server)
    assert running.row().status == TableStatus.OVER


def _enter(server: Server, key: str, person: int) -> None:
    row = server.query(tournaments.by_key, key)
    entrant = server.run(sign_up.sign_up, row.id, person, "", "")
    assert not isinstance(entrant, Refusal)


def _tournament(server: Server, clock: FakeClock, entrants: list[int], name: str, rounds_played: int = 2) -> None:
    """Play a tournament of two rounds, or only a part of it."""
    key = open_cup(server, entrants[0], name=name, closes_at=server.now() + timedelta(days=1))
    for person in entrants:
        _enter(server, key, person)
    clock.advance(timedelta(days=1, minutes=1))
    rounds.advance_due(server)
    for _round in range(rounds_played):
        tables = server.query(tournaments.tables, server.query(tournaments.by_key, key).id)
        for each in tables:
            if each.places is None:
                _play(server, each.game_id)
        rounds.advance_due(server)


def _group(server: Server, members: list[int]) -> str:
    """Make a group with two finished tables, one in progress and one that waits for players."""
    key = server.run(groups.create, members[0], "Friday club")
    with server.store.read() as tx:
        group_id = tx.execute(select(GROUPS.c.id)).scalar_one()
        addresses = [people.read(tx, each).address for each in members[1:]]
    server.run(groups.invite, members[0], key, tuple(addresses))
    for person in members[1:]:
        server.run(groups.accept, group_id, person)
    for at in range(4):
        server.run(group_page.open_table, members[0], key, _settings("bid"))
        with server.store.read() as tx:
            game_id = highest(tx, GAME)
        for person in members[:SEATS] if at else ():
            server.run(joining.join, game_id, person)
        if at > 1:
            _play(server, game_id)
    return key


def _merge_a_stranger(server: Server, into: int) -> None:
    """Note that someone without games was this person all along."""
    with server.store.read() as tx:
        key = people.read(tx, into).key
    server.run(ratings.merge, "stranger", key)


def _count(server: Server) -> None:
    """The ticks that rate and count, until there is no more."""
    while ratings.add_endings(server) or game_statistics.count_games(server):
        pass


def _coprime(least: int) -> int:
    """The next number that has no divisor in common with the steps, so that everyone has each number in turn."""
    return next(each for each in numbers_from(least) if gcd(each, prod(_STEPS)) == 1)


def _every(tx: Tx, shares: Shares) -> dict[str, dict[int, int]]:
    """One copy in how many there is of each game and each tournament, by the id."""
    status = {row.id: row.status for row in tx.execute(select(TOURNAMENT.c.id, TOURNAMENT.c.status))}
    of_tournaments = {each: shares.ended if word == "over" else shares.current for each, word in status.items()}
    of_round = {row.game_id: of_tournaments[row.tournament_id] for row in tx.execute(select(ROUND_TABLE))}
    of_games = {}
    for row in tx.execute(select(GAME.c.id, GAME.c.status, GAME.c.private)):
        usual = shares.current if row.status != TableStatus.OVER else shares.ended if row.private else 1
        of_games[row.id] = of_round.get(row.id, usual)
        if row.private:
            of_games[row.id] = shares.ended
    return {"game": of_games, "tournament": of_tournaments}


def _copying(
    tx: Tx, community: Community, every: Mapping[str, Mapping[int, int]], shares: Shares, times: int, circles: int
) -> Copying:
    """What is copied, and which copy of a person has the seat of each."""
    last = results.last(tx)
    number_of = {person: f"(s.n * {step}) % {circles}" for person, step in zip(community.people, _STEPS, strict=True)}
    number_of[community.people[0]] = (
        f"CASE WHEN s.n % {shares.busiest} = 1 THEN 0 ELSE {number_of[community.people[0]]} END"
    )
    persons = " ".join(f"WHEN {person} THEN {number}" for person, number in number_of.items())
    keys = " ".join(
        f"WHEN '{key}' THEN CASE WHEN {number} = 0 THEN '{key}' ELSE ({number}) || 'x{key}' END"
        for key, number in zip(community.persons, number_of.values(), strict=True)
    )
    of_game, of_tournament = (_chosen(every[name]) for name in ("game", "tournament"))
    of_seq = _chosen(
        {
            row.seq: every["game"][row.game_id] if row.what == "ended" else shares.ended
            for row in tx.execute(select(RESULT))
        }
    )
    seq = f"t.seq + s.n * {last}"
    a_group = f"s.n % {shares.ended} = 0"
    player = f"CASE t.player {keys} ELSE t.player END"
    return Copying(
        tables=_TABLES,
        different=frozenset(
            {("person", "key"), ("person", "mailbox"), ("profile", "key"), ("game", "key"), ("groups", "key")}
            | {("tournament", "key")}
        ),
        numbers={"person": f"(CASE OWN {persons} ELSE 0 END)"},
        values={
            ("profile", "person_id"): "t.person_id + s.n * {person}",
            ("game", "result_seq"): f"t.result_seq + s.n * {last}",
            ("result", "seq"): seq,
            ("result", "player"): f"CASE WHEN t.what = 'merged' THEN s.n || 'x' || t.player ELSE {player} END",
            ("result", "into"): f"CASE WHEN t.what = 'merged' THEN CASE t.\"into\" {keys} END END",
            ("rating", "seq"): seq,
            ("rating", "player"): player,
            ("rating", "games"): f"t.games + s.n / {circles}",
            ("finished_seat", "player"): player,
        },
        conditions={
            "person": f"s.n < {circles}",
            "profile": f"s.n < {circles}",
            "game": f"s.n % {of_game.format(column='t.id')} = 0",
            **{
                name: f"s.n % {of_game.format(column='t.game_id')} = 0"
                for name in ("player", "finished_game", "finished_seat", "round_table", "group_tables")
            },
            # Nothing reads older ones, and they would be most of all rows.
            "deadline": f"s.n > {times - PERIOD // APART} AND s.n % {of_game.format(column='t.game_id')} = 0",
            "result": f"t.seq <= {last} AND s.n % {of_seq.format(column='t.seq')} = 0",
            "rating": f"t.seq <= {last} AND s.n % {of_seq.format(column='t.seq')} = 0",
            "groups": a_group,
            "group_members": a_group,
            "tournament": f"s.n % {of_tournament.format(column='t.id')} = 0",
            "entrant": f"s.n % {of_tournament.format(column='t.tournament_id')} = 0",
        },
        apart=APART,
        past="s.n",
        future=f"{times} + s.n",
    )


def _chosen(shares: Mapping[int, int]) -> str:
    """The share of the row whose number is in `column`, in SQL."""
    return f"CASE {{column}} {' '.join(f'WHEN {number} THEN {share}' for number, share in shares.items())} END"


def _go_on(tx: Tx) -> None:
    """The ratings take account of all corrections and merges that were copied."""
    tx.execute(
        update(TASK_PROGRESS).where(TASK_PROGRESS.c.task == results.TASK).values(last_id=results.last_change(tx))
    )
