"""A host who plays in their own tournament, or sits at its tables, is no more than a player there: nothing hidden, nothing in secret."""

import json
from dataclasses import replace

import pytest

from pbem.domain.acts import Actor, Role
from pbem.domain.errors import Forbidden, TooMany
from pbem.service.desk import table as desk_table, tournament_hosts
from pbem.service.desk.acts.clocks import Close, Extend, Freeze, Pause, Resume
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.perform import perform
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.tournaments import hosting, sign_up
from pbem.store import audit
from pbem.store.audit import AuditFilter
from tests.service.clock import DAY
from tests.service.database import all_rows, queued_emails

WHY = "I would like to win."


@pytest.fixture
def cup(tournament):
    """A tournament in its first round, whose host plays at one of three tables."""
    cup = tournament("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal")
    cup.enters(cup.host, "Host")
    cup.people["Host"] = cup.host
    cup.begins()
    return cup


@pytest.fixture
def host(cup):
    """The host at the desk of their tables."""
    return Actor(Role.HOST, "Host", person_id=cup.host)


def people_at(game):
    return {player.person_id for player in game.players().values() if player.person_id is not None}


def acts_of(server):
    return [(row.act, row.actor) for row in server.query(audit.newest, AuditFilter(), None, 50)]


def test_the_host_learns_nothing_of_who_has_answered_at_any_table(cup, host, server):
    for game in cup.games():
        before = server.run(desk_table.table, host, game.id)
        others = [seat for seat in game.asked() if game.person_at(seat) != cup.host]
        for seat in others[:-1]:
            game.play(seat, game.asked()[seat].default)
        assert others
        now = server.run(desk_table.table, host, game.id)
        # The row of the game has the number of its last row; the twins check that no page says it.
        assert replace(now, game=before.game) == before


def test_the_host_may_do_nothing_at_a_table_that_shows_or_changes_the_game(cup, host, server):
    for game in cup.games():
        forbidden = (
            Close(game.id),
            Freeze(game.id),
            Rewind(game.id, 1),
            Correct(game.id, "missed_limit", "2"),
            Substitute(game.id, 0, "friend@example.org"),
            Offer(game.id, 0),
        )
        before = all_rows(server.store)
        for act in forbidden:
            with pytest.raises(Forbidden):
                server.run(perform, host, act, WHY)
        assert all_rows(server.store) == before


@pytest.mark.parametrize("own", [True, False], ids=["own table", "another table"])
def test_clocks_changed_by_the_host_are_audited_and_announced_to_everyone_at_the_table(cup, host, server, own):
    game = next(each for each in cup.games() if (cup.host in people_at(each)) == own)
    for act in (Pause(game.id), Resume(game.id), Extend(game.id, "1d")):
        before = {person: len(queued_emails(server, person, "notice")) for person in people_at(game)}
        rows, log = len(acts_of(server)), len(game.log())
        server.run(perform, host, act, WHY)
        assert acts_of(server)[0] == (act.kind, f"host {cup.host}")
        assert len(acts_of(server)) == rows + 1
        assert len(game.log()) > log
        for person in people_at(game):
            assert len(queued_emails(server, person, "notice")) > before[person], act.kind


CHANGES = {"pause": (), "extend": (3,), "remove": (1, WHY), "call off": (WHY,)}


@pytest.mark.parametrize("what", CHANGES)
def test_changes_to_the_tournament_by_its_host_are_audited(cup, server, what):
    server.run(tournament_hosts.change, what, cup.id, cup.host, *CHANGES[what])
    (row,) = server.query(audit.newest, AuditFilter(), None, 50)
    assert (row.act, row.actor) == ("tournament", f"host {cup.host}")
    assert json.loads(row.body)["what"] == what
    assert row.reason == (WHY if WHY in CHANGES[what] else what)
    with pytest.raises(Forbidden):
        server.run(tournament_hosts.change, what, cup.id, cup.people["Ann"], *CHANGES[what])


@pytest.mark.slow
def test_a_corrected_place_is_in_the_audit_and_told_to_everyone_at_the_table(cup, server):
    cup.is_late()
    table = next(each for each in cup.page.rounds[0].tables if "Host" in {player.name for player in each.players})
    number = cup.page.rounds[0].tables.index(table) + 1
    mine = [1 if player.name == "Host" else 2 for player in table.players]
    server.run(tournament_hosts.change, "correct", cup.id, cup.host, 1, number, tuple(mine), WHY)
    assert acts_of(server)[0] == ("tournament", f"host {cup.host}")
    for player in table.players:
        notices = [json.loads(each.facts) for each in queued_emails(server, cup.people[player.name], "tournament")]
        assert [each["reason"] for each in notices if each["what"] == "corrected"] == [WHY]


def test_a_player_who_has_left_is_told_of_what_moves_the_round_they_still_play_in(cup, server):
    server.run(sign_up.decline, cup.id, cup.people["Ann"])
    server.run(hosting.extend, cup.id, cup.host, 2)
    notices = [json.loads(each.facts)["what"] for each in queued_emails(server, cup.people["Ann"], "tournament")]
    assert notices[-1] == "extended"


def test_a_host_can_change_tournaments_so_often_in_a_day(cup, server, time):
    for turn in range(tournament_hosts.MOST_A_DAY):
        server.run(tournament_hosts.change, "resume" if turn % 2 else "pause", cup.id, cup.host)
    with pytest.raises(TooMany):
        server.run(tournament_hosts.change, "pause", cup.id, cup.host)
    time.passes(DAY)
    server.run(tournament_hosts.change, "pause", cup.id, cup.host)


def test_a_table_can_be_corrected_so_often(cup, server):
    cup.is_late()
    size = len(cup.page.rounds[0].tables[0].players)
    for _ in range(hosting.MOST_CORRECTIONS):
        server.run(hosting.correct, cup.id, cup.host, 1, 1, (1,) * size, WHY)
    with pytest.raises(TooMany):
        server.run(hosting.correct, cup.id, cup.host, 1, 1, (1,) * size, WHY)
