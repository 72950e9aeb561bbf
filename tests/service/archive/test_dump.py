"""The dump: all finished public games in one file, the same bytes for the same games, whole whatever happens."""

import gzip
import hashlib
import json
import threading
from datetime import timedelta

import pytest
from sqlalchemy import event, select

from pbem import failpoints
from pbem.ops import dump as ops_dump
from pbem.service.account import delete, profiles
from pbem.service.archive import dump
from pbem.store import dumps, profiles as profile_rows
from pbem.store.schema import DUMP, DUMP_PART
from tests.service.clock import HOUR
from tests.service.database import count_calls
from tests.service.desk.test_overview import scans


def over(table, **more):
    game = table("bid", 3, options={"max_auctions": 1}, **more)
    list(game.play_defaults())
    return game


@pytest.fixture
def nightly(server, clock):
    """nightly() -> what is served after another night."""

    def make():
        clock.advance(timedelta(days=1))
        dump.make_nightly(server, lambda: True)
        return served(server)

    return make


def served(server):
    """The file that is served, which has to be as its row says."""
    row = server.query(dumps.current)
    if row is None:
        return None
    with server.store.read() as tx:
        parts = tx.execute(select(DUMP_PART).where(DUMP_PART.c.number == row.number).order_by(DUMP_PART.c.start)).all()
    data = b"".join(part.body for part in parts)
    assert [part.start for part in parts] == [sum(len(p.body) for p in parts[:at]) for at in range(len(parts))]
    assert (len(data), hashlib.sha256(data).hexdigest()) == (row.size, row.sha256)
    return data


def lines(data):
    head, *games = map(json.loads, gzip.decompress(data).decode().splitlines())
    assert head == {"format": "pbem-dump", "version": 1}
    return games


def test_it_has_the_finished_public_games_in_the_order_of_their_ends(server, table, nightly):
    first, _hidden, _running = over(table), over(table, private=True, bots=("greedy", "greedy")), table("bid", 3)
    second = over(table)
    games = lines(nightly())
    ends = sorted((game.row().ended_at, game.row().key) for game in (first, second))
    assert [each["game"] for each in games] == [key for _at, key in ends]
    assert games[0]["options"]["max_auctions"] == 1
    assert {each["place"] for each in games[0]["seats"]} <= {1, 2, 3}


def test_it_names_only_people_whose_profile_everyone_sees_and_no_address(server, table, nightly):
    game = over(table, title="Ann's evening")
    people = [game.person_at(seat) for seat in range(3)]
    server.run(profiles.choose, people[0], "everyone", "Sphinx", punctual=False)
    server.run(profiles.choose, people[1], "met", "Bear", punctual=False)
    key = server.query(profile_rows.of_person, people[0]).key
    (found,) = lines(nightly())
    assert [(each["player"], each["name"]) for each in found["seats"]] == [(key, "Sphinx"), (None, None), (None, None)]
    text = gzip.decompress(served(server)).decode()
    assert not [each for each in ("Ann", "Ben", "Cleo", "Bear", "example.org", "@") if each in text]
    server.run(delete.delete_person, people[0])
    assert key not in gzip.decompress(nightly()).decode()


def test_the_same_games_give_the_same_bytes_and_keep_their_date(server, table, nightly, monkeypatch):
    for _ in range(3):
        over(table)
    first = nightly()
    made_at = server.query(dumps.current).made_at
    assert nightly() == first
    assert server.query(dumps.current).made_at == made_at
    over(table)
    assert nightly() != first


def test_it_is_made_once_a_day_by_one_of_all_workers(server, table, clock):
    over(table)
    clock.advance(timedelta(days=1))
    made = []
    threads = [threading.Thread(target=lambda: made.append(dump.make_nightly(server, lambda: True))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False, False, True]
    assert len(lines(served(server))) == 1


def test_two_that_are_made_at_once_never_mix(server, table, clock, monkeypatch):
    """As when a clock is set back over midnight: the later one is served, and nothing is left of the other."""
    monkeypatch.setattr(dump, "AT_ONCE", 1)
    for _ in range(3):
        over(table)
    now = server.now()
    clock.advance(timedelta(days=1))
    inner = []

    def other_one_meanwhile():
        if not inner:
            inner.append(dump._make(server, now, lambda: True))
            assert inner[0].number == 2
            server.run(dump._publish, inner[0])
        return True

    made = dump._make(server, server.now(), other_one_meanwhile)
    assert not server.run(dump._publish, made)
    assert server.query(dumps.current).number == 2
    served(server)
    with server.store.read() as tx:
        assert set(tx.execute(select(DUMP_PART.c.number)).scalars()) == {2}


def test_one_that_is_cut_short_at_any_point_leaves_the_former_whole(server, table, clock, monkeypatch):
    monkeypatch.setattr(dump, "AT_ONCE", 1)
    over(table)
    clock.advance(timedelta(days=1))
    dump.make_nightly(server, lambda: True)
    former = served(server)
    over(table)

    class Killed(BaseException):
        pass

    at, points = 0, 0

    def dying(point):
        nonlocal points
        points += 1
        if points == at:
            failpoints.set_handler(None)
            raise Killed

    while True:
        at, points = at + 1, 0
        clock.advance(timedelta(days=1))
        failpoints.set_handler(dying)
        try:
            dump.make_nightly(server, lambda: True)
            break
        except Killed:
            assert len(lines(served(server))) in (1, 2)
        finally:
            failpoints.set_handler(None)
        if served(server) != former:
            break
    assert at > 6
    over(table)
    clock.advance(timedelta(days=1))
    dump.make_nightly(server, lambda: True)
    assert len(lines(served(server))) == 3
    with server.store.read() as tx:
        assert set(tx.execute(select(DUMP_PART.c.number)).scalars()) == set(tx.execute(select(DUMP.c.number)).scalars())


def test_a_worker_that_is_told_to_stop_leaves_it_to_the_next_one(server, table, clock):
    over(table)
    clock.advance(timedelta(days=1))
    assert not dump.make_nightly(server, lambda: False)
    assert served(server) is None
    assert dump.make_nightly(server, lambda: True)
    assert len(lines(served(server))) == 1


def test_after_a_worker_that_died_another_makes_it_in_the_next_hour(server, table, clock, monkeypatch):
    over(table)
    clock.advance(timedelta(days=1))
    monkeypatch.setattr(dump, "_give_back", lambda *_: None)
    assert not dump.make_nightly(server, lambda: False)
    assert not dump.make_nightly(server, lambda: True)
    clock.advance(HOUR)
    assert dump.make_nightly(server, lambda: True)
    clock.advance(HOUR)
    assert not dump.make_nightly(server, lambda: True)


def test_each_part_takes_few_statements_and_reads_no_table_whole(server, table, clock, monkeypatch):
    monkeypatch.setattr(dump, "AT_ONCE", 2)
    for _ in range(4):
        over(table)
    clock.advance(timedelta(days=1))
    with count_calls(server.store) as made:
        dump.make_nightly(server, lambda: True)
    few = [each for each in made if "FROM game" in each]
    assert len(few) == 3
    assert len(made) < 50
    asked = []

    @event.listens_for(server.store.engine, "before_cursor_execute")
    def note(_connection, _cursor, statement, values, _context, _many):
        asked.append((statement, values))

    server.read(dump._some, (server.now(), ""), server.now())
    row = server.query(dumps.current)
    server.query(dumps.part_at, row.number, 5)
    for statement, values in asked:
        if statement.startswith("SELECT"):
            assert scans(server, statement, values) == [], statement


def test_the_command_writes_the_same_file_with_its_checksum_and_replaces_it_whole(server, table, tmp_path, monkeypatch):
    over(table)
    path = tmp_path / "games.jsonl.gz"
    games, digest = ops_dump.write(server, path)
    assert (games, len(lines(path.read_bytes()))) == (1, 1)
    assert (tmp_path / "games.jsonl.gz.sha256").read_text() == f"{digest}  games.jsonl.gz\n"
    before = path.read_bytes()
    monkeypatch.setattr(dump, "parts", lambda *_given: broken())
    with pytest.raises(OSError, match="no room"):
        ops_dump.write(server, path)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["games.jsonl.gz", "games.jsonl.gz.sha256"]


def broken():
    yield b"half", 0
    raise OSError("no room")
