"""A game that fails stops its own table with a reason, and other tables play on; a table whose game was gone comes back."""

import json
import sys

import pytest
from structlog.testing import capture_logs

from engine import registry
from engine.installed import Installed
from pbem.domain.errors import Forbidden, Unplayable
from pbem.plugins import offers
from pbem.service import alarms
from pbem.service.absence import bots, timeouts
from pbem.service.account import delete
from pbem.service.clocks import stopped_tables
from pbem.service.clocks.stopped_tables import REASONS, Cause
from pbem.service.desk.acts.clocks import Close, Freeze, Unfreeze
from pbem.service.play import views
from pbem.service.play.log import Kind
from pbem.service.tables import joining, leaving, start
from pbem.service.tables.new import TableSettings
from pbem.store import alarms as alarm_rows
from tests.plugins import broken
from tests.plugins.offering import LIMITS
from tests.service.actors import moderate
from tests.service.clock import DAY
from tests.service.database import queued_emails

pytestmark = pytest.mark.slow


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite only: stopping by an organiser, which works the same way, is tested on both databases."""
    return sqlite_alone


def alarms_of(server):
    with server.store.read() as tx:
        return [
            (row.game_id, row.says) for row in alarm_rows.take(tx, server.now()) if row.what == alarms.AlarmKind.GAME
        ]


def notices(game, what):
    notices = [
        json.loads(email.facts) for email in queued_emails(game.server, kind="notice") if email.game_id == game.id
    ]
    return [facts for facts in notices if facts["what"] == what]


def test_a_whole_game_of_another_package_is_played(offered, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    assert [receipt.over for receipt in game.play_defaults()][-1]
    assert game.row().status == "over"
    assert game.verifies()


def test_a_bot_of_another_package_plays(offered, server, table, time):
    offered(broken.LANTERNS)
    game = table("lanterns", 2, bots=("greedy",))
    before = game.row().seq
    assert bots.play_bots(server)
    assert game.row().seq > before


@pytest.mark.parametrize("place", ["resolve", "apply"])
@pytest.mark.parametrize("what", [broken.FOR_EVER, broken.GREEDY, broken.GONE, broken.RAISES])
def test_a_game_that_breaks_in_a_move_stops_its_table_and_no_other(offered, server, table, place, what):
    offered(broken.LANTERNS)
    game, other, bundled = table("lanterns", 2), table("lanterns", 2), table("bid", 3)
    before = game.row()
    offered(broken.lanterns(place, what))
    with pytest.raises(Unplayable, match="The rules of Lanterns failed"):
        list(game.play_defaults())
    assert game.row().state == before.state, "what the move had done is undone"
    assert stopped_tables.stop_failed(server) == 1
    assert (game.row().status, game.row().halted) == ("frozen", Cause.FAILED)
    assert (other.row().status, bundled.row().status) == ("playing", "playing")
    assert bundled.play(*next(iter({s: d.default for s, d in bundled.asked().items()}.items())))
    with pytest.raises(Forbidden):
        game.play(0, "allow")
    assert stopped_tables.stop_failed(server) == 0


def test_players_read_why_and_an_alarm_gives_the_organisers_the_error(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    offered(broken.lanterns("resolve", broken.RAISES))
    with pytest.raises(Unplayable):
        list(game.play_defaults())
    stopped_tables.stop_failed(server)
    assert [facts["reason"] for facts in notices(game, "frozen")] == [REASONS[Cause.FAILED]] * 2
    assert game.log()[-1].kind == Kind.FROZEN
    ((game_id, says),) = alarms_of(server)
    assert game_id == game.id
    assert says.startswith("lanterns: “resolve” raised ZeroDivisionError (lanterns.py, line ")
    assert "red lantern" not in says


def test_a_stopped_table_asks_nothing_of_its_rules_until_the_organiser_lets_it_go_on(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    offered(broken.lanterns("asks", broken.FOR_EVER))
    with pytest.raises(Unplayable):
        game.asked()
    stopped_tables.stop_failed(server)
    with pytest.raises(Unplayable, match=r"can't be played on this server right now\. Its rules failed"):
        game.view(0)
    offered(broken.LANTERNS)
    assert stopped_tables.check_rules(server) == (0, 0), "a fault waits for the organiser"
    moderate(server, Unfreeze(game.id))
    assert game.row().halted is None
    assert [receipt.over for receipt in game.play_defaults()][-1]
    assert game.verifies()


def test_a_stopped_table_can_be_closed_without_its_rules(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    offers.close()
    stopped_tables.check_rules(server)
    moderate(server, Close(game.id))
    assert game.row().status == "void"


def test_a_game_that_breaks_in_a_timeout_stops_and_other_tables_are_timed_out(offered, server, table, time):
    offered(broken.LANTERNS)
    game, bundled = table("lanterns", 2), table("bid", 3)
    time.sends()
    offered(broken.lanterns("resolve", broken.FOR_EVER))
    time.passes(2 * DAY)
    before = bundled.row().seq
    for _ in range(3):
        timeouts.time_out(server, time.worker)
        stopped_tables.stop_failed(server)
    assert game.row().status == "frozen"
    assert bundled.row().seq > before


def test_a_bot_that_cannot_think_stops_its_table(offered, server, table, time):
    offered(broken.LANTERNS)
    game = table("lanterns", 2, bots=("greedy",))
    offered(broken.lanterns("asks", broken.FOR_EVER))
    assert not bots.play_bots(server)
    assert stopped_tables.stop_failed(server) == 1
    assert game.row().status == "frozen"


def test_views_that_cannot_be_folded_stop_their_table(offered, server, table, monkeypatch):
    offered(broken.LANTERNS)
    game, bundled = table("lanterns", 2), table("bid", 3)
    game.play(0, "allow")
    game.play(1, "allow")
    offered(broken.lanterns("apply", broken.GONE))
    monkeypatch.setattr(views, "SAVE_EVERY", 1)
    assert views.save_overdue(server) >= 1
    assert stopped_tables.stop_failed(server) == 1
    assert (game.row().status, bundled.row().status) == ("frozen", "playing")


def test_a_table_that_cannot_begin_waits_and_raises_an_alarm(offered, server, table):
    offered(broken.lanterns("setup", broken.FOR_EVER))
    with pytest.raises(Unplayable):
        table("lanterns", 2)
    stopped_tables.stop_failed(server)
    assert len(alarms_of(server)) == 1


@pytest.mark.parametrize(
    "leave",
    [
        lambda server, game, person: server.run(leaving.resign, game.id, 0, person),
        lambda server, game, person: server.run(delete.delete_by_consent, person),
    ],
    ids=["resign", "delete the account"],
)
def test_a_player_who_would_leave_a_table_without_rules_is_told_why_they_cannot(offered, server, table, leave):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    offers.close()
    stopped_tables.check_rules(server)
    with pytest.raises(Forbidden) as refused:
        leave(server, game, game.person_at(0))
    assert "its rules are missing, have failed or have changed" in str(refused.value)
    assert "The organiser can resume or close it" in str(refused.value)
    assert "log can be checked" not in str(refused.value)


def test_a_table_whose_package_is_gone_is_stopped_and_resumes_when_it_is_back(offered, server, table):
    offered(broken.LANTERNS)
    game, bundled = table("lanterns", 2), table("bid", 3)
    game.play(0, "allow")
    offers.close()
    assert stopped_tables.check_rules(server) == (1, 0)
    assert (game.row().status, game.row().halted) == ("frozen", Cause.GONE)
    assert [facts["reason"] for facts in notices(game, "frozen")] == [REASONS[Cause.GONE]] * 2
    assert alarms_of(server) == [(game.id, "lanterns: its rules are not here. See `pbem doctor`.")]
    assert stopped_tables.check_rules(server) == (0, 0)
    offered(broken.LANTERNS)
    assert stopped_tables.check_rules(server) == (0, 1)
    assert game.row().status == "playing"
    assert len(notices(game, "unfrozen")) == 2
    assert [receipt.over for receipt in game.play_defaults()][-1]
    assert game.verifies()
    assert bundled.row().status == "playing"


def test_a_game_that_cannot_start_on_its_date_is_tried_again_once_an_hour(offered, server, clock, person):
    offered(broken.LANTERNS)
    host, date = person("Ann"), server.now() + DAY
    created = server.run(joining.create_table, host, TableSettings("lanterns", 2, starts_at=date))
    for each in (host, person("Ben")):
        server.run(joining.join, created.game_id, each)
    offers.close()
    clock.advance(DAY)
    with capture_logs() as logged:
        assert start.start_due(server) == start.start_due(server) == []
        clock.advance(start.RETRY_AFTER)
        assert start.start_due(server) == []
    assert [line["event"] for line in logged] == ["attempt_failed"] * 2
    offered(broken.LANTERNS)
    clock.advance(start.RETRY_AFTER)
    assert start.start_due(server) == [created.game_id]


def test_a_table_stopped_by_an_organiser_does_not_resume_when_its_rules_are_back(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    moderate(server, Freeze(game.id))
    assert stopped_tables.check_rules(server) == (0, 0)
    assert game.row().status == "frozen"


@pytest.mark.parametrize("what", [broken.FOR_EVER, broken.GREEDY, broken.GONE, broken.RAISES])
def test_a_game_that_breaks_at_import_is_not_offered_and_says_why(offered, server, table, what):
    offers.close()
    (offer,) = offered(broken.lanterns("import", what))
    assert "lanterns" not in registry.names()
    assert "The game “lanterns” of paper-lamps 1.2 can't be played: " in offer.trouble.says
    assert table("bid", 3).row().status == "playing"


def test_a_trusted_game_runs_in_the_server(offered, table):
    (offer,) = offered(broken.LANTERNS, "Paper_Lamps")
    assert offer.trusted
    assert "lanterns" in sys.modules
    game = table("lanterns", 2)
    assert [receipt.over for receipt in game.play_defaults()][-1]


def test_a_trusted_game_that_cannot_be_imported_is_not_offered(offered):
    (offer,) = offered("import no_such_library", "lanterns")
    assert "No module named 'no_such_library'" in offer.trouble.says
    assert "lanterns" not in registry.names()


def test_packages_are_loaded_once_for_the_same_settings(offered, monkeypatch):
    first = offered(broken.LANTERNS)
    monkeypatch.setattr(offers.installed, "installed", lambda: pytest.fail("looked again"))
    assert offers.offer((), LIMITS) is first
    assert isinstance(first[0].found, Installed)


def test_a_table_that_cannot_be_stopped_does_not_block_others(offered, server, table, monkeypatch):
    offered(broken.LANTERNS)
    first, second = table("lanterns", 2), table("lanterns", 2)
    freeze = stopped_tables.freeze

    def fails(tx, server, row, *more):
        assert row.id != first.id
        freeze(tx, server, row, *more)

    monkeypatch.setattr(stopped_tables, "freeze", fails)
    offers.close()
    stopped_tables.check_rules(server)
    assert (first.row().status, second.row().status) == ("playing", "frozen")


def test_a_table_that_could_not_be_stopped_is_stopped_with_the_next_call(offered, server, table, monkeypatch):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    offered(broken.lanterns("resolve", broken.RAISES))
    with pytest.raises(Unplayable):
        list(game.play_defaults())
    with monkeypatch.context() as broke:
        broke.setattr(stopped_tables, "freeze", lambda *_: pytest.fail("the database is away"))
        broke.setattr(stopped_tables.alarms, "raise_alarm", raises)
        assert stopped_tables.stop_failed(server) == 0
    assert game.row().status == "playing"
    with pytest.raises(Unplayable):
        game.view(0)
    assert stopped_tables.stop_failed(server) == 1
    assert game.row().halted == Cause.FAILED


def raises(*_):
    raise OSError("the database is away")
