"""Requests about a person's own data, carried out by an organiser: it is sent to them alone, and can be deleted."""

import json

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone
from pbem.service.desk.acts.clocks import Close, Freeze, Unfreeze
from pbem.service.desk.acts.people import Delete, SendExport
from pbem.service.desk.acts.perform import perform
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from tests.service.actors import OLGA, moderate
from tests.service.database import all_rows, queued_emails


def test_personal_data_is_offered_to_their_own_address_only(server, table, person):
    table("sun-bid", 2)
    moderate(server, SendExport(person("Ann")), "She has asked for it.")
    assert [email.kind for email in queued_emails(server, person("Ann"))][-1] == "links"
    email = queued_emails(server, kind="links")[-1]
    assert email.person_id == person("Ann")
    assert json.loads(email.facts) == {"reason": "She has asked for it."}


def test_a_deleted_person_leaves_no_address_and_the_game_goes_on(server, table, person):
    game, ann = table("sun-bid", 2), person("Ann")
    moderate(server, Delete(ann), "She has asked for it.")
    assert "ann@" not in server.read(addresses.read, ann).address
    assert not any("ann@example.org" in repr(row) for rows in all_rows(server.store).values() for row in rows)
    assert game.row().status in ("playing", "void")
    assert game.verifies()


@pytest.mark.parametrize("reason", ["Ann has asked for it.", "So said ANN", "of ann."])
def test_a_reason_for_a_deletion_may_not_contain_the_name(server, table, person, reason):
    table("sun-bid", 2)
    before = all_rows(server.store)
    with pytest.raises(BadInput, match="their name"):
        moderate(server, Delete(person("Ann")), reason)
    assert all_rows(server.store) == before
    moderate(server, Delete(person("Ann")), "It was asked for in a mail to Annika.")


def test_the_preview_names_players_at_the_tables_of_a_deleted_person_and_they_read_why(server, table, person):
    game = table("sun-bid", 3)
    shown = server.dry_run(perform, OLGA, Delete(person("Ann")), "It was asked for.")
    assert f"Tables they leave: “{game.row().title}” (table {game.id})." in shown.says
    assert {(notice.name, notice.kind) for notice in shown.emails} >= {("Ben", "resigned"), ("Cleo", "resigned")}
    moderate(server, Delete(person("Ann")), "It was asked for.")
    (row,) = [row for row in game.log() if row.kind == "Resigned"]
    assert (row.by, json.loads(row.body)) == ("organiser", {"reason": "It was asked for."})


def test_a_table_that_closes_because_its_host_is_deleted_says_why(server, person):
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3)).game_id
    server.run(joining.join, waiting, person("Ben"))
    moderate(server, Delete(person("Ann")), "It was asked for.")
    (closed,) = queued_emails(server, person("Ben"), "closed")
    assert json.loads(closed.facts)["reason"] == "It was asked for."


def test_a_player_at_stopped_tables_is_deleted_once_they_go_on_and_the_preview_names_them(server, table, person):
    stopped = [table("sun-bid", 3), table("bid", 3)]
    for game in stopped:
        moderate(server, Freeze(game.id))
    with pytest.raises(Forbidden) as refused:
        server.dry_run(perform, OLGA, Delete(person("Ann")), "It was asked for.")
    for game in stopped:
        assert f"“{game.row().title}” (table {game.id})" in refused.value.what
    assert "Resume or close the table first" in refused.value.remedy
    moderate(server, Unfreeze(stopped[0].id))
    moderate(server, Close(stopped[1].id))
    moderate(server, Delete(person("Ann")), "It was asked for.")


def test_a_deleted_person_cannot_be_deleted_again(server, table, person):
    table("sun-bid", 2)
    ann = person("Ann")
    moderate(server, Delete(ann))
    for act in (Delete(ann), SendExport(ann)):
        with pytest.raises(Gone, match="account was deleted"):
            moderate(server, act)
