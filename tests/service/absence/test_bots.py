"""Bots at seats of the server: they see what their seat sees, and move by the same code as people."""

import json
import threading
from collections import Counter

import pytest
from structlog.testing import capture_logs

from engine.bots import BOTS, VERSIONS, signature
from engine.chance import Stream, bot_seed
from engine.registry import load
from pbem.child_process import Interrupted
from pbem.ops.verify import verify_file
from pbem.service.absence import bots, timeouts
from pbem.service.archive import export
from pbem.service.archive.check_log import Check
from pbem.service.desk.acts.clocks import Pause, Resume
from pbem.service.play.move import Actor
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import due_turns
from tests.service.actors import moderate
from tests.service.clock import MINUTE
from tests.service.database import queued_emails
from tests.service.running_game import RunningGame


@pytest.fixture(autouse=True)
def events():
    """The log for the operator."""
    with capture_logs() as lines:
        yield lines


@pytest.mark.slow
def test_a_game_of_one_person_and_three_bots_is_played_to_its_end(time, table):
    game = table("sunset-poker", 4, bots=("greedy", "random", "random"))
    person = next(player.seat for player in game.players().values() if player.person_id is not None)
    for _ in range(500):
        time.bots_play()
        if game.row().status == "over":
            break
        assert set(game.asked()) == {person}
        game.play(person, game.asked()[person].default)
    assert game.row().status == "over"
    assert game.verifies()
    assert {row.by for row in game.log() if row.seat not in (person, None)} == {"bot"}
    assert {email.person_id for email in queued_emails(time.server)} == {game.person_at(person)}


def bots_turn(game):
    """Play the people's defaults until a bot is asked; its seat."""
    bot = next(player.seat for player in game.players().values() if player.bot is not None)
    while bot not in game.asked():
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    return bot


def test_a_bot_with_a_stale_choice_is_asked_again(server, time, table, monkeypatch):
    game = table("sun-bid", 2, bots=("random",))
    bot = bots_turn(game)
    turn = game.row().turn
    dreamt = []

    def dreamy(rules, view, decision, draw):
        mine, other = decision.choices(2)
        # While it thinks, someone else decides for the seat, as another worker would.
        game.play(bot, other, Actor.BOT)
        dreamt.append(mine)
        return mine

    monkeypatch.setitem(BOTS, "random", dreamy)
    assert bots.play_bots(server) == 0
    assert len(dreamt) == 1
    assert len([row for row in game.log() if row.seat == bot and row.kind == "Entry"]) == 1
    assert game.row().turn > turn
    monkeypatch.undo()
    bots_turn(game)
    assert bots.play_bots(server) == 1


def test_bots_of_a_paused_table_wait_without_attempts(server, time, table):
    game = table("sun-bid", 2, bots=("random",))
    bots_turn(game)
    moderate(server, Pause(game.id), "a pause")
    for _ in range(due_turns.MOST_ATTEMPTS + 1):
        assert bots.play_bots(server) == 0
    moderate(server, Resume(game.id))
    assert bots.play_bots(server) == 1


def test_a_worker_that_is_told_to_stop_leaves_the_turns_of_bots_to_the_next_one(server, table):
    for _ in range(2):
        bots_turn(table("sun-bid", 2, bots=("random",)))
    stopping = threading.Event()

    def given_up(_turn):
        stopping.set()
        raise Interrupted("its worker is stopping")

    for _ in range(due_turns.MOST_ATTEMPTS + 1):
        stopping.clear()
        assert bots.play_bots(server, think=given_up, stopping=stopping.is_set) == 0
    assert bots.play_bots(server) == 2


def test_a_bot_whose_process_the_system_has_ended_is_asked_again_at_once(server, table):
    bots_turn(table("sun-bid", 2, bots=("random",)))

    def killed(_turn):
        raise Interrupted("the system needed its memory")

    assert bots.play_bots(server, think=killed) == 0
    assert bots.play_bots(server) == 1


def test_a_bot_whose_process_ends_again_and_again_is_postponed(server, time, table):
    bots_turn(table("sun-bid", 2, bots=("random",)))
    asked = []

    def ends(turn):
        asked.append(turn)
        raise Interrupted("it ended")

    for _ in range(5):
        bots.play_bots(server, think=ends)
    assert len(asked) == 2
    time.passes(timeouts.RETRY_AFTER)
    assert bots.play_bots(server) == 1


def test_a_failing_bot_is_postponed_then_parked(server, time, table, monkeypatch):
    broken, sound = table("sun-bid", 2, bots=("greedy",)), table("sun-bid", 2, bots=("random",))

    def broken_bot(*_):
        raise RuntimeError("this bot is broken")

    monkeypatch.setitem(BOTS, "greedy", broken_bot)
    for game in (broken, sound):
        for seat, decision in game.asked().items():
            if game.players()[seat].person_id is not None:
                game.play(seat, decision.default)
    time.bots_play()
    assert any(row.by == "bot" for row in sound.log())
    for _ in range(due_turns.MOST_ATTEMPTS):
        time.passes(timeouts.RETRY_AFTER)
        time.bots_play()
    with server.store.read() as tx:
        assert [row.game_id for row in due_turns.parked(tx)] == [broken.id]


def test_workers_that_wake_up_together_let_each_bot_decide_once(server, table):
    games = [table("bid", 4, bots=("random",) * 3) for _ in range(4)]
    together = threading.Barrier(3)

    def work():
        together.wait()
        for _ in range(8):
            bots.play_bots(server)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for game in games:
        bodies = [(row.seat, json.loads(row.body)) for row in game.log() if row.by == "bot"]
        decided = Counter((seat, body["turn"]) for seat, body in bodies)
        assert len(decided) >= 3
        assert set(decided.values()) == {1}
        assert game.verifies()


def test_the_bots_of_each_host_have_their_turn_in_a_round(server, time, table, person):
    anns = [table("bid", 4, bots=("random",) * 3) for _ in range(2)]
    time.passes(MINUTE)
    ben = person("Ben")
    bens = server.run(joining.create_table, ben, TableSettings("bid", 3, {}, "1d", bots=("random",) * 2)).game_id
    server.run(joining.join, bens, ben)
    rota = bots.Rota()
    for played in (1, 2):
        for _ in range(2):
            assert bots.play_bots(server, limit=1, rota=rota) == 1
        by = Counter(row.by for game in anns for row in game.log())["bot"]
        assert (by, [row.by for row in RunningGame(server, bens).log()].count("bot")) == (played, played)


def test_a_bot_is_told_nothing_that_its_seat_may_not_know(server, time, table, monkeypatch):
    game = table("bid", 3, bots=("random",))
    bot = next(player.seat for player in game.players().values() if player.bot is not None)
    shown = []

    def watched(rules, view, decision, draw):
        shown.append((view, decision))
        return decision.default

    monkeypatch.setitem(BOTS, "random", watched)
    view = game.view(bot)
    time.bots_play()
    ((shown_view, decision),) = shown
    assert shown_view == view
    assert decision.seat == bot


def played_to_the_end(time, table, *bots):
    """A game of one person, who plays defaults, and these bots."""
    game = table("bid", len(bots) + 1, bots=bots, options=load("bid").short)
    while game.row().status != "over":
        time.bots_play()
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    return game


def file_of(game, path):
    path.write_text(export.write(game.server.read(export.of_game, game.id)), encoding="utf-8")
    return path


def test_bots_choose_the_same_again_with_the_file_of_a_finished_game(time, table, tmp_path):
    game = played_to_the_end(time, table, "greedy", "random")
    report = verify_file(file_of(game, tmp_path / "game.json"), with_bots=True)
    assert report.sound
    assert report.bots_again == sum(row.by == "bot" for row in game.log()) > 5
    assert not report.bots_retired


def test_another_choice_of_a_bot_is_found(time, table, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        # An organiser who would have liked other choices better.
        patch.setitem(BOTS, "greedy", lambda rules, view, decision, draw: decision.default)
        game = played_to_the_end(time, table, "greedy", "greedy")
    file = file_of(game, tmp_path / "game.json")
    assert verify_file(file).sound
    report = verify_file(file, with_bots=True)
    assert {problem.check for problem in report.problems} == {Check.CHOICES}
    assert all(f"is not what the bot {signature('greedy')} chooses" in problem.says for problem in report.problems)


def test_choices_of_a_retired_bot_are_counted_as_not_repeatable(time, table, tmp_path, monkeypatch):
    game = played_to_the_end(time, table, "greedy", "greedy")
    played_by = signature("greedy")
    monkeypatch.setitem(VERSIONS, "greedy", VERSIONS["greedy"] + 1)
    report = verify_file(file_of(game, tmp_path / "game.json"), with_bots=True)
    assert report.sound
    assert report.bots_again == 0
    assert report.bots_retired == {played_by: sum(row.by == "bot" for row in game.log())}


def test_a_bot_draws_the_same_numbers_whatever_the_game_has_drawn(server, time, table, monkeypatch):
    drawn = []

    def watched(rules, view, decision, draw):
        drawn.append([draw.below(2**32) for _ in range(3)])
        return decision.default

    monkeypatch.setitem(BOTS, "random", watched)
    game = table("bid", 3, bots=("random",))
    bot = bots_turn(game)
    bots.play_bots(server)
    turn = next(json.loads(row.body)["turn"] for row in game.log() if row.by == "bot")
    luck = Stream(bot_seed(game.row().seed, turn, bot), 0)
    assert drawn[-1] == [luck.below(2**32) for _ in range(3)]
