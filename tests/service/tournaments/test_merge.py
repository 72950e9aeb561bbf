"""Two people who are merged, and both take part in a tournament: one entry stays, and none is nobody's."""

from functools import partial

import pytest

from pbem.domain.errors import Refusal, Stale
from pbem.service.account import change_address
from pbem.service.desk.acts.people import Merge
from pbem.service.tournaments import sign_up
from pbem.store import games, merge as rows_of_merge, people, tournaments
from tests.service.actors import moderate
from tests.service.races import at_call
from tests.service.tournaments.test_rounds import NINE, facts_of


def entries(cup, person_id):
    return [(each.name, each.status, each.until) for each in cup.page.entrants if each.person_id == person_id]


def merged(cup, keep, other):
    moderate(cup.server, Merge(cup.people[keep], cup.people[other]))
    assert entries(cup, cup.people[other]) == []
    assert all(each.person_id is not None for each in cup.page.entrants)
    return entries(cup, cup.people[keep])


@pytest.mark.parametrize(("keep", "other"), [("Ann", "Ben"), ("Ben", "Ann")])
def test_before_the_start_the_earlier_entry_stays_and_the_next_in_line_comes_in(tournament, keep, other):
    cup = tournament("Ann", "Ben", "Cleo", "Dan", most=3)
    assert cup.entrant("Dan").status == "waiting"
    assert merged(cup, keep, other) == [("Ann", "in", None)]
    assert cup.entrant("Dan").status == "in"
    assert len(facts_of(cup, "Dan", "place")) == 1
    # The number of the entry that went is given to nobody who is there.
    cup.enters(cup.host, "Host")
    assert len({each.number for each in cup.page.entrants}) == len(cup.page.entrants)
    cup.begins()
    assert {each.name for each in cup.page.entrants if each.rank} == {"Ann", "Cleo", "Dan"}


@pytest.mark.parametrize(("keep", "other"), [("Ann", "Dan"), ("Dan", "Ann")])
def test_before_the_start_a_place_is_better_than_a_waiting_one_and_than_one_given_up(tournament, keep, other):
    cup = tournament("Ann", "Ben", "Cleo", "Dan", most=3)
    cup.server.run(sign_up.decline, cup.id, cup.people["Ben"])
    assert cup.entrant("Dan").status == "in"
    assert merged(cup, "Ben", "Cleo") == [("Cleo", "in", None)]
    assert merged(cup, keep, other) == [("Ann", "in", None)]


@pytest.mark.slow
def test_after_the_start_both_seats_stay_and_the_later_entry_leaves_after_the_round(tournament):
    cup = tournament(*NINE, "Kim", most=9)
    cup.begins()
    games = {name: game for game in cup.games() for name in NINE if name in {p.name for p in game.players().values()}}
    later = next(name for name in NINE[1:] if games[name].id != games["Ann"].id)
    assert merged(cup, later, "Ann") == [("Ann", "in", None), (later, "left", 1)]
    me = cup.people[later]
    for name in ("Ann", later):
        assert me in {player.person_id for player in games[name].players().values()}
    cup.is_late()
    # Both results of the round are noted, and someone who waited comes in for the one who leaves.
    assert all(
        len(table.players) == 3 and all(each.place for each in table.players) for table in cup.page.rounds[0].tables
    )
    here = [each.name for table in cup.page.rounds[1].tables for each in table.players]
    assert sorted(here) == sorted({*NINE, "Kim"} - {later})
    assert len(facts_of(cup, later, "late")) == len({games["Ann"].id, games[later].id})
    assert [facts["round"] for facts in facts_of(cup, later, "round")].count(2) == 1
    cup.is_late()
    assert cup.page.summary.status == "over"
    assert len(facts_of(cup, later, "over")) == 1


def test_the_merged_person_leaves_with_the_entry_that_stays(tournament):
    cup = tournament(*NINE)
    cup.begins()
    games = {name: game for game in cup.games() for name in NINE if name in {p.name for p in game.players().values()}}
    later = next(name for name in NINE[1:] if games[name].id != games["Ann"].id)
    merged(cup, later, "Ann")
    assert cup.page.entry_of(cup.people[later]).name == "Ann"
    cup.server.run(sign_up.decline, cup.id, cup.people[later])
    assert {status for _name, status, _until in entries(cup, cup.people[later])} == {"left"}


def test_an_accepted_invitation_stays_accepted(tournament, server):
    cup = tournament("Ann")
    server.run(sign_up.invite, cup.id, cup.host, ("ben@example.org", "cleo@example.org"))
    ben, cleo = (
        next(row.person_id for row in server.query(_sign_ups, cup.id) if row.typed == f"{who}@example.org")
        for who in ("ben", "cleo")
    )
    cup.enters(ben, "Ben")
    cup.enters(cleo, "Cleo")
    server.run(sign_up.decline, cup.id, cleo)
    moderate(server, Merge(cleo, ben))
    assert [row.status for row in server.query(_sign_ups, cup.id) if row.person_id == cleo] == ["accepted"]


def _sign_ups(tx, tournament_id):
    return tournaments.sign_ups(tx, tournament_id)


@pytest.mark.parametrize("call", [5, 6, 7, 8])
def test_a_merge_changes_no_tournament_that_it_has_not_locked(tournament, person, monkeypatch, call):
    cup, zoe = tournament("Ann", "Ben"), person("Zoe")
    locked, moved = [], []
    merge = partial(moderate, cup.server, Merge(zoe, person("Kim")))
    enter = partial(cup.server.run, sign_up.sign_up, cup.id, person("Kim"))
    lock, move = tournaments.lock, rows_of_merge.move_rows
    monkeypatch.setattr(tournaments, "lock", lambda tx, number: locked.append((tx, number)) or lock(tx, number))
    monkeypatch.setattr(rows_of_merge, "move_rows", lambda tx, *both: moved.append(tx) or move(tx, *both))
    outcome, entered = at_call(cup.server.store, call, merge, enter)
    assert not isinstance(entered, Refusal)
    if isinstance(outcome, Stale):
        outcome = merge()
    assert not isinstance(outcome, Exception)
    # Either both knew of the entry, or they were merged before there was one.
    assert (moved[-1], cup.id) in locked or entries(cup, zoe) == []


@pytest.fixture
def moved_away(server):
    """moved_away(person) -> who has the old address now, and what puts it back, as “This wasn't me” does."""

    def changed(person_id):
        old = server.query(people.read, person_id).address
        before, _again = server.run(change_address.change_address, person_id, "stranger@example.net")
        return before, partial(server.run, change_address.change_address, person_id, old, undoes=1)

    return changed


def test_an_address_that_comes_back_leaves_one_entry_and_gives_the_other_place_to_the_next_in_line(
    tournament, moved_away
):
    cup = tournament("Ann", "Ben", "Cleo", "Dan", most=4)
    stranger, back = moved_away(cup.people["Ann"])
    cup.server.run(sign_up.decline, cup.id, cup.people["Dan"])
    cup.enters(stranger, "Stranger")
    cup.enters(cup.people["Dan"], "Dan")
    assert cup.entrant("Dan").status == "waiting"
    back()
    assert entries(cup, stranger) == []
    assert entries(cup, cup.people["Ann"]) == [("Ann", "in", None)]
    assert cup.entrant("Dan").status == "in"
    assert len(facts_of(cup, "Dan", "place")) == 1


@pytest.mark.parametrize("way", ["organiser", "back"])
def test_tournaments_are_locked_before_games_and_those_before_people(tournament, moved_away, monkeypatch, way):
    cup = tournament("Ann", "Ben")
    ann, ben = cup.people["Ann"], cup.people["Ben"]
    other, back = moved_away(ann) if way == "back" else (ben, partial(moderate, cup.server, Merge(ann, ben)))
    if way == "back":
        cup.enters(other, "Stranger")
    taken = []
    for rows in (tournaments, games, people):
        monkeypatch.setattr(rows, "lock", partial(_noted, taken, rows.__name__.rpartition(".")[2], rows.lock))
    back()
    first = [each for number, each in enumerate(taken) if each not in taken[:number]]
    locked = [name for name, _of in first]
    assert locked == sorted(locked, key=["tournaments", "games", "people"].index)
    assert {("tournaments", cup.id), ("people", ann), ("people", other)} <= {*first}
    people_locked = [of for name, of in first if name == "people" and of in (ann, other)]
    assert people_locked == sorted(people_locked)


def _noted(taken, name, lock, tx, number, *given):
    taken.append((name, number))
    return lock(tx, number, *given)


@pytest.mark.parametrize("call", [3, 6, 12])
def test_an_address_that_comes_back_as_someone_signs_up_with_it_leaves_no_double_entry(tournament, moved_away, call):
    cup = tournament("Ann", "Ben")
    stranger, back = moved_away(cup.people["Ann"])
    enter = partial(cup.server.run, sign_up.sign_up, cup.id, stranger, "Stranger")
    outcome, _entered = at_call(cup.server.store, call, back, enter)
    assert not isinstance(outcome, Exception)
    assert entries(cup, stranger) == []
    assert [status for _name, status, _until in entries(cup, cup.people["Ann"])] == ["in"]
    assert all(each.person_id is not None for each in cup.page.entrants)
