"""The rounds of a tournament: they open, end and follow each other by themselves, and every pairing can be made again."""

import json
from datetime import timedelta
from fractions import Fraction

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from pbem.cli import main
from pbem.domain.errors import BadInput
from pbem.domain.states import TableStatus
from pbem.plugins import offers
from pbem.service.account.delete import delete_person
from pbem.service.archive import export
from pbem.service.desk.acts.clocks import Close, Freeze, Unfreeze
from pbem.service.play.endings import _RANKINGS as RANKINGS
from pbem.service.play.log import json_body_of
from pbem.service.tables import leaving
from pbem.service.tournaments import file, rounds, sign_up
from pbem.store import log, tables
from pbem.store.schema import ALARM, TOURNAMENT
from tests.plugins import broken
from tests.service.actors import moderate
from tests.service.clock import DAY
from tests.service.database import all_rows, check_atomic, queued_emails

pytestmark = pytest.mark.slow

NINE = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")


def facts_of(tournament, name, what):
    emails = queued_emails(tournament.server, tournament.people[name], "tournament")
    return [facts for facts in (json.loads(each.facts) for each in emails) if facts["what"] == what]


def test_a_tournament_plays_from_its_first_round_to_its_winner_by_itself(tournament):
    cup = tournament(*NINE)
    cup.begins()
    assert (cup.row.round, len(cup.page.rounds[0].tables)) == (1, 3)
    met = [{player.name for player in table.players} for table in cup.page.rounds[0].tables]
    assert set().union(*met) == set(NINE)
    cup.is_late()
    assert cup.row.round == 2
    for table in cup.page.rounds[1].tables:
        here = {player.name for player in table.players}
        assert all(len(here & earlier) <= 1 for earlier in met), "they meet new opponents"
    cup.is_late()
    page = cup.page
    assert page.summary.status == "over"
    assert page.summary.winners == tuple(each.name for each in page.standings if each.standing.place == 1)
    assert len(page.standings) == len(NINE)
    assert all(table.how == "bots" for round_ in page.rounds for table in round_.tables)
    for name in NINE:
        assert [facts["round"] for facts in facts_of(cup, name, "round")] == [1, 2]
        assert len(facts_of(cup, name, "late")) == 2
        assert len(facts_of(cup, name, "over")) == 1


def test_sign_up_that_ends_with_too_few_calls_it_off(tournament):
    cup = tournament("Ann", "Ben", fewest=4)
    cup.begins()
    assert cup.row.status == "called off"
    assert len(facts_of(cup, "Ann", "called off")) == 1
    cup.moves_on()
    assert len(facts_of(cup, "Ann", "called off")) == 1


def test_players_sit_as_paired_and_the_file_of_a_game_says_why(tournament):
    cup = tournament(*NINE[:3])
    cup.begins()
    (game,) = cup.games()
    table = cup.page.rounds[0].tables[0]
    assert [game.players()[seat].name for seat in range(3)] == [player.name for player in table.players]
    with cup.server.store.read() as tx:
        began = json_body_of(next(iter(log.chain(tx, game.id, game.row().key))))
    assert began["tournament"] == {"key": cup.key, "round": 1, "table": 1}
    cup.is_late()
    assert cup.games(1)[0].row().status == TableStatus.OVER
    assert cup.server.read(export.of_game, game.id).seating == (0, 1, 2)


def test_someone_who_leaves_is_not_in_the_next_round_and_one_who_waits_is(tournament):
    cup = tournament(*NINE[:7], most=6)
    assert cup.entrant("Gus").status == "waiting"
    cup.begins()
    assert "Gus" not in str(cup.page.rounds[0])
    cup.server.run(sign_up.decline, cup.id, cup.people["Ann"])
    cup.is_late()
    second = {player.name for table in cup.page.rounds[1].tables for player in table.players}
    assert second == {*NINE[1:7]}
    assert facts_of(cup, "Gus", "place")


def test_a_player_who_resigns_comes_last(tournament):
    cup = tournament(*NINE[:3], rounds=1)
    cup.begins()
    (game,) = cup.games()
    leaving_seat = 1
    cup.server.run(leaving.resign, game.id, leaving_seat, game.person_at(leaving_seat))
    cup.is_late()
    table = cup.page.rounds[0].tables[0]
    assert table.players[leaving_seat].place == 3


def test_a_table_without_result_counts_as_a_tie_of_all(tournament):
    cup = tournament(*NINE[:3], rounds=1)
    cup.begins()
    (game,) = cup.games()
    moderate(cup.server, Close(game.id), "It is broken.")
    cup.moves_on()
    assert [player.place for player in cup.page.rounds[0].tables[0].players] == [1, 1, 1]
    assert len({each.standing.points for each in cup.page.standings}) == 1


def test_a_late_round_waits_if_that_was_agreed(tournament):
    cup = tournament(*NINE[:3], late="wait")
    cup.begins()
    due = cup.row.due_at
    cup.time.passes_until(due)
    cup.moves_on()
    assert cup.row.round == 1
    assert cup.row.due_at == due + DAY
    assert not facts_of(cup, "Ann", "late")


def test_an_outage_makes_the_round_longer(tournament):
    cup = tournament(*NINE[:3])
    cup.begins()
    due = cup.row.due_at
    cup.time.sleeps(2 * DAY)
    assert cup.row.due_at == due + 2 * DAY


@pytest.mark.parametrize("form", ["swiss", "pods", "knockout", "league"])
def test_every_format_ends_with_a_winner_and_its_file_verifies(tournament, form):
    cup = tournament(*NINE, form=form, rounds=1, advance=1)
    cup.begins()
    for _round in range(6):
        if cup.row.status == "playing":
            text = cup.server.read(file.of_tournament, cup.key)
            assert file.check(text) == []
            cup.is_late()
            assert points_add_up(cup)
    assert cup.page.summary.status == "over"
    assert cup.page.summary.winners
    document = json.loads(cup.server.read(file.of_tournament, cup.key))
    assert file.check(json.dumps(document)) == []
    document["tables"][0]["seats"].reverse()
    assert file.check(json.dumps(document))
    assert file.check(json.dumps(document | {"chance": document["chance"] | {"seed": "00" * 32}}))


def test_a_league_opens_its_next_season_and_moves_people_between_divisions(tournament, server):
    league = tournament(*NINE, form="league", rounds=1, size=3)
    league.begins()
    league.is_late()
    assert league.row.status == "over"
    with server.store.read() as tx:
        season = tx.execute(select(TOURNAMENT).where(TOURNAMENT.c.season == 2)).one()
    assert season.previous_id == league.id
    assert len(queued_emails(server, league.people["Ann"], "sign_up")) == 1


@pytest.mark.parametrize("moment", ["begin", "next", "late", "end"])
def test_moving_on_is_one_transaction_and_doing_it_again_changes_nothing(tournament, moment):
    cup = tournament(*NINE[:3], rounds=1 if moment == "end" else 2)
    if moment == "begin":
        cup.time.passes_until(cup.row.closes_at)
    else:
        cup.begins()
        cup.time.passes_until(cup.row.due_at)
        if moment != "late":
            cup.moves_on()
            cup.time.bots_play()
    check_atomic(cup.server.store, lambda: cup.server.run(rounds.advance, cup.id))
    after = all_rows(cup.server.store)
    cup.server.run(rounds.advance, cup.id)
    assert all_rows(cup.server.store) == after


def test_pbem_verify_makes_the_tables_of_a_tournament_again(tournament, tmp_path):
    cup = tournament(*NINE[:6])
    cup.begins()
    found = tmp_path / "cup.json"
    document = json.loads(cup.server.read(file.of_tournament, cup.key))
    found.write_text(json.dumps(document))
    done = CliRunner().invoke(main, ["verify", str(found)])
    assert (done.exit_code, done.output) == (0, "1 tournament: no faults.\n")
    document["tables"][0]["seats"].reverse()
    found.write_text(json.dumps(document))
    done = CliRunner().invoke(main, ["verify", str(found)])
    assert done.exit_code == 1
    assert "the tables of round 1 aren't those" in done.output


def test_those_who_are_out_hear_it_once(tournament):
    cup = tournament(*NINE, "Jon", "Kim", "Leo", form="knockout", rounds=1, advance=2)
    for name in ("Jon", "Kim", "Leo"):
        cup.people[name] = cup.entrant(name).person_id
    cup.begins()
    rounds_played = 0
    while cup.row.status == "playing":
        rounds_played += 1
        cup.is_late()
    assert rounds_played > 2
    for each in cup.page.entrants:
        last = max(r.number for r in cup.page.rounds for t in r.tables if each.number in [p.number for p in t.players])
        emailed = [facts["round"] for facts in facts_of(cup, each.name, "round")]
        assert emailed == [*range(1, min(last + 1, rounds_played) + 1)]


def test_a_late_table_that_is_stopped_is_finished_once_it_goes_on(tournament):
    cup = tournament(*NINE[:3], rounds=1)
    cup.begins()
    (game,) = cup.games()
    moderate(cup.server, Freeze(game.id), "A player thinks a turn was logged wrongly.")
    cup.is_late()
    assert cup.row.status == "playing"
    moderate(cup.server, Unfreeze(game.id), "Its log is sound.")
    cup.is_late()
    assert cup.row.status == "over"


def test_the_file_still_verifies_when_someone_has_deleted_their_account(tournament):
    cup = tournament(*NINE[:2])
    cup.people["Cleo"] = cup.enters(cup.host, "Cleo", "lighthouse").person_id
    cup.begins()
    cup.server.run(delete_person, cup.host)
    assert file.check(cup.server.read(file.of_tournament, cup.key)) == []


def test_the_tables_of_a_tournament_leave_its_host_room_for_others(tournament):
    cup = tournament(*NINE)
    cup.begins()
    assert cup.server.query(tables.count_current, cup.host) == 0
    assert cup.server.query(tables.count_current, cup.people["Ann"]) == 1


def test_someone_who_still_plays_has_no_points_for_that_round(tournament):
    cup = tournament(*NINE[:7])
    cup.begins()
    first, second = cup.games()
    list(first.play_defaults())
    cup.moves_on()
    playing = {each.name for each in second.players().values()}
    assert [each.standing.points for each in cup.page.standings if each.name in playing] == [0, 0, 0]
    list(second.play_defaults())
    cup.moves_on()
    assert points_add_up(cup)
    assert sum(each.standing.points for each in cup.page.standings) == Fraction(7, 2)


def points_add_up(cup):
    for each in cup.page.standings:
        gained = [course.points for course in each.course if course.points is not None]
        assert sum(gained, Fraction()) == each.standing.points
    return True


def test_a_file_that_no_tournament_has_is_refused(tournament):
    cup = tournament(*NINE, form="league")
    cup.begins()
    document = json.loads(cup.server.read(file.of_tournament, cup.key))
    no_division = [document["entrants"][0] | {"division": 0}, *document["entrants"][1:]]
    for change in ({"version": True}, {"seeding": "as it pleases"}, {"entrants": no_division}):
        with pytest.raises(BadInput):
            file.check(json.dumps(document | change))


@pytest.fixture
def lanterns(tournament, offered):
    """A tournament of another package's game, whose first round is over while the package is away."""
    offered(broken.LANTERNS)
    cup = tournament(*NINE[:4], kind="lanterns", options={}, size=2, least=2, fewest=4, advance=1, rounds=1)
    cup.begins()
    for game in cup.games():
        assert [receipt.over for receipt in game.play_defaults()][-1]
    RANKINGS.clear()
    offers.close()
    cup.moves_on()
    return cup


def game_alarms(cup):
    with cup.server.store.read() as tx:
        return [each.says for each in tx.execute(select(ALARM)) if each.what == "game"]


def places(cup):
    return [player.place for table in cup.page.rounds[0].tables for player in table.players]


def test_a_result_waits_for_a_package_that_is_away(lanterns, offered):
    assert places(lanterns) == [None] * 4
    offered(broken.LANTERNS)
    lanterns.moves_on()
    assert None not in places(lanterns)
    assert lanterns.row.status == "over"


def test_a_result_that_can_not_be_read_when_the_round_is_late_counts_as_a_tie(lanterns):
    lanterns.time.passes_until(lanterns.row.due_at)
    lanterns.moves_on()
    assert places(lanterns) == [1] * 4
    assert {table.how for table in lanterns.page.rounds[0].tables} == {"void"}
    assert ["counts as a tie" in says for says in game_alarms(lanterns)] == [True, True]
    lanterns.moves_on()
    assert lanterns.row.status == "over"


def test_organisers_hear_once_a_day_of_a_round_that_can_not_be_opened(tournament, offered):
    offered(broken.LANTERNS)
    cup = tournament(*NINE[:4], kind="lanterns", options={}, size=2, least=2, fewest=4, advance=1, rounds=1)
    offers.close()
    cup.time.passes_until(cup.row.closes_at)
    for _ in range(2):
        cup.moves_on()
    (alarm,) = game_alarms(cup)
    assert (cup.row.status, alarm.partition(":")[0]) == ("open", "The tournament “Spring cup” can't go on")
    cup.time.passes(timedelta(days=1))
    cup.moves_on()
    assert len(game_alarms(cup)) == 2
    offered(broken.LANTERNS)
    cup.moves_on()
    assert cup.row.status == "playing"
    assert len(game_alarms(cup)) == 2
