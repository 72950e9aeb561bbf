"""Each log is checked once a day: one that fails is noted until it passes again, with one alarm."""

from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.exc import OperationalError

from pbem.ops.verify import verify_game
from pbem.service.archive import daily_check
from pbem.service.archive.daily_check import CheckResult
from pbem.store import alarms, flaws
from pbem.store.schema import GAME


def look(tx, game_id):
    """What the server does."""
    report = verify_game(tx, game_id)
    return CheckResult(report.rows, len(report.problems), min((wrong.seq for wrong in report.problems), default=0))


def round_of(server, look=look):
    """Run checks until nothing is due; return how many tables were checked."""
    looked = 0
    while found := daily_check.check_some(server, look):
        looked += found
    daily_check.check_some(server, look)
    return looked


def flaw(server, game):
    with server.store.read() as tx:
        return flaws.of_game(tx, game.id)


def has_new_alarms(server):
    with server.store.read() as tx:
        return alarms.any_unsent_before(tx, server.now(), server.now())


@pytest.fixture
def games(table):
    return [table("sun-bid", 2) for _ in range(3)]


def test_every_table_is_checked_once_a_day(server, clock, games):
    assert round_of(server) == 3
    assert round_of(server) == 0
    clock.advance(timedelta(days=1))
    assert round_of(server) == 3
    assert not has_new_alarms(server)


def test_a_log_that_fails_its_check_is_noted_with_one_alarm_until_it_passes(server, clock, games):
    wrong = games[1]
    seq = wrong.row().seq
    server.store.write(lambda tx: tx.execute(update(GAME).where(GAME.c.id == wrong.id).values(seq=seq + 1)))
    assert round_of(server) == 3
    found = flaw(server, wrong)
    assert found is not None
    assert f"pbem verify --game {wrong.id}" in found.says
    assert flaw(server, games[0]) is None
    assert has_new_alarms(server)
    server.store.write(lambda tx: alarms.take(tx, server.now()))
    clock.advance(timedelta(days=1))
    round_of(server)
    assert not has_new_alarms(server)
    server.store.write(lambda tx: tx.execute(update(GAME).where(GAME.c.id == wrong.id).values(seq=seq)))
    clock.advance(timedelta(days=1))
    round_of(server)
    assert flaw(server, wrong) is None


def test_an_unreadable_log_does_not_hold_up_others(server, games):
    def breaks(tx, game_id):
        if game_id == games[0].id:
            raise ValueError("a card that nobody may see")
        return look(tx, game_id)

    assert round_of(server, breaks) == 3
    found = flaw(server, games[0])
    assert found is not None
    assert "card" not in found.says


def test_a_database_that_fails_is_no_fault_of_the_log_it_was_asked_for(server, games):
    def breaks(_tx, _game_id):
        raise OperationalError("SELECT 1", {}, Exception("disk I/O error"))

    with pytest.raises(OperationalError):
        daily_check.check_some(server, breaks)
    assert not has_new_alarms(server)
    assert round_of(server) == 3
    assert flaw(server, games[0]) is None


def test_a_check_stops_after_some_rows_and_the_next_continues_there(server, games):
    seen = []

    def long(_tx, game_id):
        seen.append(game_id)
        return CheckResult(daily_check.ROWS)

    assert daily_check.check_some(server, long) == 1
    assert daily_check.check_some(server, long) == 1
    assert seen == [games[0].id, games[1].id]
