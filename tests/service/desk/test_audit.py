"""The audit: acts of the desk are recorded in order, and any later change to a record is found."""

import json

import pytest
from sqlalchemy import delete, insert, select, update

from pbem.domain.acts import ABOUT_ONE_PERSON, PERMISSIONS, Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden
from pbem.service.desk import audit
from pbem.service.tables import leaving
from pbem.store import audit as audit_rows
from pbem.store.audit import AuditFilter
from pbem.store.schema import AUDIT
from tests.service import table_copies
from tests.service.actors import ANN, ROOT
from tests.service.database import all_rows
from tests.service.desk.test_overview import scans, statements_of
from tests.service.races import meetings


def record(server, *given, actor=ANN, act=Act.BAN, reason="It was asked for.", **named):
    return server.run(audit.record, actor, act, reason, *given, **named)


def test_an_act_is_recorded_with_its_actor_its_reason_and_the_person_affected(server, table, person):
    game = table()
    record(server, act=Act.PAUSE, game_id=game.id, hours=3)
    record(server, actor=ROOT, act=Act.BAN, person_id=person("Ann"), reason="  Insults,\n again. ")
    banned, paused = server.read(audit.newest, AuditFilter())
    assert (paused.actor, paused.act, paused.game_id, paused.reason) == (
        "organiser Ann",
        "pause",
        game.id,
        "It was asked for.",
    )
    assert json.loads(paused.body) == {"hours": 3}
    assert (banned.actor, banned.person_id, banned.reason) == ("command line root", person("Ann"), "Insults, again.")
    assert paused.at == server.now()


@pytest.mark.parametrize("reason", ["", "  ", "ok", "x" * 501, "write to ann@example.org"])
def test_nothing_is_done_without_a_reason_that_can_be_kept(server, reason):
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        record(server, reason=reason)
    assert all_rows(server.store) == before


def test_no_address_is_stored_in_the_body_of_an_act(server):
    with pytest.raises(BadInput):
        record(server, to="ann@example.org")
    assert server.read(audit.newest, AuditFilter()) == []


def test_the_shortest_and_the_longest_reason_will_do(server):
    record(server, reason="Yes")
    record(server, reason="x" * 500)


def test_the_chain_verifies_and_its_head_is_found_again_later(server):
    assert server.read(audit.head) == ""
    assert server.read(audit.verify).sound
    record(server)
    noted = server.read(audit.head)
    record(server)
    found = server.read(audit.verify, [noted])
    assert (found.sound, found.rows) == (True, 2)
    assert server.read(audit.verify, ["00000000000000000000"]).missing == ("00000000000000000000",)


ALTERED = {
    "actor": "organiser Ben",
    "act": "delete",
    "game_id": None,
    "person_id": None,
    "reason": "There was another reason.",
    "form": "another",
    "body": '{"hours":4}',
}


def test_any_change_to_a_row_is_found(server, table, clock):
    game = table()
    for form in ("a", "b", "c"):
        record(server, game_id=game.id, person_id=game.person_at(0), form=form, hours=3)

    def write(column, value):
        server.store.write(lambda tx: tx.execute(update(AUDIT).where(AUDIT.c.seq == 2).values({column: value})))

    with server.store.read() as tx:
        before = tx.execute(select(AUDIT).where(AUDIT.c.seq == 2)).one()._mapping
    for column, value in (ALTERED | {"at": clock.now().replace(year=2025)}).items():
        write(column, value)
        assert {flaw.seq for flaw in server.read(audit.verify).flaws} == {2}, column
        write(column, before[column])
    assert server.read(audit.verify).sound


def test_a_missing_row_is_found(server):
    for _ in range(3):
        record(server)
    for seq in (1, 2, 3):
        with server.store.read() as tx:
            row = dict(tx.execute(select(AUDIT).where(AUDIT.c.seq == seq)).one()._mapping)
        server.store.write(lambda tx, seq=seq: tx.execute(delete(AUDIT).where(AUDIT.c.seq == seq)))
        assert not server.read(audit.verify).sound
        server.store.write(lambda tx, row=row: tx.execute(insert(AUDIT), row))
    assert server.read(audit.verify).sound


def test_two_acts_at_once_stand_in_order_and_none_is_tried_twice(server):
    tried = []

    def act(name):
        def work(tx):
            tried.append(name)
            audit.record(tx, server, Actor(Role.ORGANISER, name), Act.BAN, "It was asked for.")

        server.store.write(work)

    for meeting in meetings(server.store):
        meeting(lambda: act("Ann"), lambda: act("Ben"))
        assert sorted(tried) == ["Ann", "Ben"]
        tried.clear()
        assert server.read(audit.verify).sound


def test_a_form_works_once(server):
    record(server, form="the key of a form")
    with server.store.read() as tx:
        assert audit_rows.by_form(tx, "the key of a form").seq == 1
        assert audit_rows.by_form(tx, "another") is None


def test_the_exported_chain_holds_every_field_that_is_hashed(server, person):
    for number in range(3):
        record(server, person_id=person("Ann"), number=number)
    lines = [json.loads(line) for line in audit.export(server)]
    with server.store.read() as tx:
        stored = tx.execute(select(AUDIT.c.hash).order_by(AUDIT.c.seq)).scalars().all()
    assert [line["hash"] for line in lines] == [each.hex() for each in stored]
    assert [json.loads(json.loads(line["text"])["body"]) for line in lines] == [{"number": n} for n in range(3)]


def test_an_exported_chain_can_be_verified_anywhere(server):
    for number in range(3):
        record(server, number=number)
    lines = list(audit.export(server))
    assert audit.verify_lines(lines, [server.read(audit.head)]).sound
    assert not audit.verify_lines([*lines[:1], *lines[2:]]).sound
    assert not audit.verify_lines([lines[0], lines[1].replace("Ann", "Ben"), lines[2]]).sound
    assert audit.verify_lines(lines[:2], [server.read(audit.head)]).missing
    with pytest.raises(BadInput):
        audit.verify_lines(["Dear diary"])


def test_acts_can_be_searched(server, table, person):
    game = table()
    record(server, act=Act.PAUSE, game_id=game.id)
    record(server, actor=ROOT, act=Act.RESUME, game_id=game.id)
    record(server, person_id=person("Ann"))

    def found(**filters):
        return [row.seq for row in server.read(audit.newest, AuditFilter(**filters))]

    assert found() == [3, 2, 1]
    assert found(game_id=game.id) == [2, 1]
    assert found(act="pause") == [1]
    assert found(person_id=person("Ann")) == [3]
    assert found(actor="command line root") == [2]
    assert found(actor="command line") == []
    assert found(act="pause", actor="organiser Ann", game_id=game.id) == [1]
    assert [row.seq for row in server.read(audit.newest, AuditFilter(), before=3, limit=1)] == [2]


@pytest.mark.parametrize(
    ("audit_filter", "index"),
    [
        (AuditFilter(act="rewind"), "ix_audit_act_seq"),
        (AuditFilter(actor="organiser Zoe"), "ix_audit_actor_seq"),
        (AuditFilter(game_id=table_copies.FIRST), "ix_audit_game_id_seq"),
        (AuditFilter(person_id=table_copies.FIRST), "ix_audit_person_id_seq"),
        (AuditFilter(act="rewind", actor="organiser Zoe"), "ix_audit_act"),
    ],
)
def test_acts_among_very_many_are_found_by_an_index(server, table, audit_filter, index):
    game = table("sun-bid", 2)
    table_copies.copy(server, game.id, 8, rows=1)
    record(server, actor=ROOT, act=Act.PAUSE, game_id=game.id)
    table_copies.acts(server, 20_000)
    table_copies.analyse(server)
    for before in (None, 15_000):
        ((statement, values),) = statements_of(
            server, lambda before=before: server.read(audit.newest, audit_filter, before=before, limit=50)
        )
        assert scans(server, statement, values, as_planned=True) == []
        assert index in plan_of(server, statement, values)


def plan_of(server, statement, values):
    """The plan of the database, as text."""
    explain = "EXPLAIN QUERY PLAN" if server.store.on_sqlite else "EXPLAIN"
    with server.store.engine.connect() as connection:
        return "\n".join(str(row) for row in connection.exec_driver_sql(f"{explain} {statement}", values))


def test_a_host_may_act_at_their_own_table_only(server, table):
    game, other = table(), table(doubles=True)
    host = Actor(Role.HOST, "Ann", person_id=game.row().host_id)
    record(server, actor=host, act=Act.PAUSE, game_id=game.id)
    stranger = Actor(Role.HOST, "Zoe", person_id=game.person_at(1) + game.person_at(0) + game.person_at(2))
    for actor, act, game_id in (
        (stranger, Act.PAUSE, other.id),
        (host, Act.PAUSE, None),
        (host, Act.REWIND, game.id),
        (host, Act.SEE_AS, game.id),
    ):
        with pytest.raises(Forbidden):
            record(server, actor=actor, act=act, game_id=game_id)
    assert server.read(audit.verify).rows == 1


def test_an_organiser_who_plays_at_a_table_may_do_nothing_there(server, table):
    game = table()
    playing = Actor(Role.ORGANISER, "Ann", organiser_id=1, person_id=game.person_at(0))
    for act in PERMISSIONS[Role.ORGANISER]:
        with pytest.raises(Forbidden) as refused:
            record(server, actor=playing, act=act, game_id=game.id)
        assert refused.value.what == "You play at this table."
    assert server.read(audit.newest, AuditFilter()) == []


def test_an_organiser_may_do_nothing_about_those_they_play_with(server, table, person):
    game = table()
    playing = Actor(Role.ORGANISER, "Ann", organiser_id=1, person_id=game.person_at(0))
    for act in ABOUT_ONE_PERSON:
        with pytest.raises(Forbidden) as refused:
            record(server, actor=playing, act=act, person_id=game.person_at(1))
        assert refused.value.what == "You play with this person."
        for other in (person("Zoe"), game.person_at(0)):
            record(server, actor=playing, act=act, person_id=other)
    for seat in range(3):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    record(server, actor=playing, act=Act.BAN, person_id=game.person_at(1))


def test_organisers_are_added_on_the_command_line_only(server):
    for act in (Act.ORGANISER_ADDED, Act.ORGANISER_REMOVED):
        with pytest.raises(Forbidden):
            record(server, act=act)
        record(server, actor=ROOT, act=act)
