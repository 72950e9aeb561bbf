"""A running game is played by the rules that it began with, whatever newer ones the server has."""

import pytest

from engine import registry
from engine.games.bid import Bid
from pbem.domain.errors import Refusal
from pbem.ops.verify import verify_games
from pbem.service.clocks import stopped_tables
from pbem.service.play.rules import rules_of
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from tests.service.running_game import RunningGame


@pytest.fixture
def by_first_rules(table, monkeypatch):
    """A running table of Bid! that began before its rules changed."""
    with monkeypatch.context() as then:
        then.setattr(Bid, "RULES", 1)
        then.setattr(Bid, "version", 1)
        begun = table("bid", 3)
    assert begun.row().rules == 1
    return begun


def problems(begun):
    (report,) = verify_games(begun.server.store, [begun.id])
    return [(each.seq, each.says) for each in report.problems]


def test_a_game_goes_on_by_the_rules_that_it_began_with(by_first_rules):
    assert rules_of(by_first_rules.row()).version == 1
    for number, _ in enumerate(by_first_rules.play_defaults()):
        if number == 20:
            break
    assert {row.rules for row in by_first_rules.log()} == {1}
    assert problems(by_first_rules) == []


def test_a_new_table_begins_by_the_newest_rules(table):
    assert rules_of(table("bid", 3).row()).version == registry.load("bid").RULES


def test_a_table_that_waited_through_a_change_begins_by_the_newest_rules(server, person, monkeypatch):
    with monkeypatch.context() as then:
        then.setattr(Bid, "RULES", 1)
        then.setattr(Bid, "version", 1)
        game_id = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3)).game_id
    # Even where the rules that it was opened with cannot be played any more.
    monkeypatch.setattr(Bid, "OLDEST", 2)
    for name in ("Ann", "Ben", "Cleo"):
        server.run(joining.join, game_id, person(name))
    begun = RunningGame(server, game_id)
    assert {row.rules for row in begun.log()} == {2}
    assert problems(begun) == []


def test_a_choice_made_by_other_rules_is_found(by_first_rules, monkeypatch):
    """A bonus paid before the bids, in a game whose rules pay it afterwards, is another story."""
    monkeypatch.setattr(Bid, "_dice_are_final", lambda _self, _state: True)
    bid_until_an_ace_of_arms(by_first_rules)
    monkeypatch.undo()
    assert any("lead to other facts" in says for _, says in problems(by_first_rules))


def test_a_row_that_names_another_version_is_found(by_first_rules):
    monkeyed = by_first_rules.log()[-1]
    by_first_rules.server.store.write(
        lambda tx: tx.exec_driver_sql(
            f"UPDATE log SET rules = 2 WHERE game_id = {by_first_rules.id} AND seq = {monkeyed.seq}"
        )
    )
    says = [each for seq, each in problems(by_first_rules) if seq == monkeyed.seq]
    assert "row 2 names rules 2, but the game began with rules 1" in says


def test_a_game_whose_rules_cannot_be_played_any_more_waits_until_they_are_back(by_first_rules, monkeypatch):
    monkeypatch.setattr(Bid, "OLDEST", 2)
    assert stopped_tables.check_rules(by_first_rules.server) == (1, 0)
    assert by_first_rules.row().status == "frozen"
    with pytest.raises(Refusal):
        by_first_rules.play(0, "bid 0")
    monkeypatch.undo()
    assert stopped_tables.check_rules(by_first_rules.server) == (0, 1)
    seat, decision = next(iter(by_first_rules.asked().items()))
    by_first_rules.play(seat, decision.default)
    assert problems(by_first_rules) == []


def bid_until_an_ace_of_arms(begun):
    for _ in begun.play_defaults():
        if begun.row().status != "playing" or '"ArmsPaid"' in str(begun.log()[-1].body):
            return
    pytest.fail("no Ace of Arms was rolled")
