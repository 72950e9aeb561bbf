"""A database that fails while a bot or a time-out decides: the game is not at fault, and is tried again at once."""

from sqlalchemy.exc import OperationalError

from pbem.service.absence import bots, timeouts
from tests.service.clock import DAY


class Away:
    """A database that is away from some moment on, for every transaction."""

    def __init__(self, monkeypatch, module, name):
        self.gone, self.asked, self.real = False, 0, getattr(module, name)
        monkeypatch.setattr(module, name, self)

    def __call__(self, tx, *args, **given):
        self.asked += 1
        if self.gone:
            raise OperationalError("SELECT 1", {}, Exception("disk I/O error"))
        return self.real(tx, *args, **given)


def test_a_time_out_is_tried_again_as_soon_as_the_database_is_back(time, table, monkeypatch):
    games = [table("sun-bid", 2, pace="1d", missed_limit=10) for _ in range(3)]
    time.sends()
    time.passes(DAY)
    away = Away(monkeypatch, timeouts, "_time_out")
    # More often than a deadline may fail.
    for _ in range(12):
        away.gone = True
        assert time.runs_out().failed == 3
    away.gone = False
    assert time.runs_out().decided == 3
    assert all(any(row.by == "clock" for row in game.log()) for game in games)


def test_a_bot_is_asked_again_as_soon_as_the_database_is_back(server, table, monkeypatch):
    game = table("sun-bid", 2, bots=("random",))
    for seat, decision in game.asked().items():
        if game.players()[seat].bot is None:
            game.play(seat, decision.default)
    away, rota = Away(monkeypatch, bots, "play"), bots.Rota()
    for _ in range(12):
        away.gone = True
        played = bots.play_bots(server, rota=rota)
        assert (played, bool(rota.held)) == (0, True)
    away.gone = False
    assert bots.play_bots(server, rota=rota) > 0
    assert not rota.held


def test_a_reminder_waits_for_the_database_and_is_not_put_off(server, time, table, monkeypatch):
    game = table("sun-bid", 2, pace="1d")
    time.sends()
    (seat,) = game.asked()
    time.passes_until(time.deadline(game, seat).remind_at)
    away = Away(monkeypatch, timeouts, "_remind")
    away.gone = True
    assert time.reminds().decided == 0
    away.gone = False
    assert time.reminds().decided == 1
