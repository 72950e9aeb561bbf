"""The audit: what is done at the desk is written down, in order, and shows if it was altered."""

import json

import pytest
from sqlalchemy import delete, insert, select, update

from pbem.domain.acts import ABOUT_ONE_PERSON, MAY, Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden
from pbem.service import audit, leaving
from pbem.store.audit import Wanted
from pbem.store.schema import Audit, table_of
from tests.service import many
from tests.service.acting import ANN, ROOT
from tests.service.races import meetings
from tests.service.stored import everything
from tests.service.test_overview import scans, statements_of

AUDIT = table_of(Audit)


def record(house, *given, actor=ANN, act=Act.BAN, reason="It was asked for.", **named):
    return house.write(lambda tx: audit.record(tx, house, actor, act, reason, *given, **named))


def test_an_act_is_written_down_with_who_why_and_whom_it_concerned(house, table, person):
    game = table()
    record(house, act=Act.PAUSE, game_id=game.id, hours=3)
    record(house, actor=ROOT, act=Act.BAN, person_id=person("Ann"), reason="  Insults,\n again. ")
    banned, paused = audit.listed(house, Wanted())
    assert (paused.actor, paused.act, paused.game_id, paused.reason) == (
        "organiser Ann",
        "pause",
        game.id,
        "It was asked for.",
    )
    assert json.loads(paused.body) == {"hours": 3}
    assert (banned.actor, banned.person_id, banned.reason) == ("command line root", person("Ann"), "Insults, again.")
    assert paused.at == house.now()


@pytest.mark.parametrize("reason", ["", "  ", "ok", "x" * 501, "write to ann@example.org"])
def test_nothing_is_done_without_a_reason_that_can_be_kept(house, reason):
    before = everything(house.store)
    with pytest.raises(BadInput):
        record(house, reason=reason)
    assert everything(house.store) == before


def test_no_address_is_kept_in_what_an_act_says_of_itself(house):
    with pytest.raises(BadInput):
        record(house, to="ann@example.org")
    assert audit.listed(house, Wanted()) == []


def test_the_shortest_and_the_longest_reason_will_do(house):
    record(house, reason="Yes")
    record(house, reason="x" * 500)


def test_the_chain_verifies_and_its_head_is_found_again_later(house):
    assert audit.head(house) == ""
    assert audit.verify(house).sound
    record(house)
    noted = audit.head(house)
    record(house)
    found = audit.verify(house, [noted])
    assert (found.sound, found.rows) == (True, 2)
    assert audit.verify(house, ["00000000000000000000"]).unseen == ("00000000000000000000",)


ALTERED = {
    "actor": "organiser Ben",
    "act": "delete",
    "game_id": None,
    "person_id": None,
    "reason": "There was another reason.",
    "form": "another",
    "body": '{"hours":4}',
}


def test_whatever_is_altered_in_a_row_is_found(house, table, clock):
    game = table()
    for form in ("a", "b", "c"):
        record(house, game_id=game.id, person_id=game.person_at(0), form=form, hours=3)

    def write(column, value):
        house.write(lambda tx: tx.execute(update(AUDIT).where(AUDIT.c.seq == 2).values({column: value})))

    with house.store.read() as tx:
        before = tx.execute(select(AUDIT).where(AUDIT.c.seq == 2)).one()._mapping
    for column, value in (ALTERED | {"at": clock.now().replace(year=2025)}).items():
        write(column, value)
        assert {flaw.seq for flaw in audit.verify(house).flaws} == {2}, column
        write(column, before[column])
    assert audit.verify(house).sound


def test_a_row_that_was_taken_away_is_missed(house):
    for _ in range(3):
        record(house)
    for seq in (1, 2, 3):
        with house.store.read() as tx:
            row = dict(tx.execute(select(AUDIT).where(AUDIT.c.seq == seq)).one()._mapping)
        house.write(lambda tx, seq=seq: tx.execute(delete(AUDIT).where(AUDIT.c.seq == seq)))
        assert not audit.verify(house).sound
        house.write(lambda tx, row=row: tx.execute(insert(AUDIT), row))
    assert audit.verify(house).sound


def test_two_acts_at_once_stand_in_order_and_none_is_tried_twice(house):
    tried = []

    def act(name):
        def work(tx):
            tried.append(name)
            audit.record(tx, house, Actor(Role.ORGANISER, name), Act.BAN, "It was asked for.")

        house.write(work)

    for meeting in meetings(house.store):
        meeting(lambda: act("Ann"), lambda: act("Ben"))
        assert sorted(tried) == ["Ann", "Ben"]
        tried.clear()
        assert audit.verify(house).sound


def test_a_form_works_once(house):
    record(house, form="the key of a form")

    def again(tx):
        return audit.done_with(tx, "the key of a form")

    assert house.write(again).seq == 1
    assert house.write(lambda tx: audit.done_with(tx, "another")) is None


def test_the_exported_chain_has_everything_that_its_hashes_are_made_of(house, person):
    for number in range(3):
        record(house, person_id=person("Ann"), number=number)
    lines = [json.loads(line) for line in audit.export(house)]
    with house.store.read() as tx:
        stored = tx.execute(select(AUDIT.c.hash).order_by(AUDIT.c.seq)).scalars().all()
    assert [line["hash"] for line in lines] == [each.hex() for each in stored]
    assert [json.loads(json.loads(line["text"])["body"]) for line in lines] == [{"number": n} for n in range(3)]


def test_a_chain_that_was_taken_away_verifies_anywhere(house):
    for number in range(3):
        record(house, number=number)
    lines = list(audit.export(house))
    assert audit.verify_lines(lines, [audit.head(house)]).sound
    assert not audit.verify_lines([*lines[:1], *lines[2:]]).sound
    assert not audit.verify_lines([lines[0], lines[1].replace("Ann", "Ben"), lines[2]]).sound
    assert audit.verify_lines(lines[:2], [audit.head(house)]).unseen
    with pytest.raises(BadInput):
        audit.verify_lines(["Dear diary"])


def test_acts_can_be_looked_for(house, table, person):
    game = table()
    record(house, act=Act.PAUSE, game_id=game.id)
    record(house, actor=ROOT, act=Act.RESUME, game_id=game.id)
    record(house, person_id=person("Ann"))

    def found(**wanted):
        return [row.seq for row in audit.listed(house, Wanted(**wanted))]

    assert found() == [3, 2, 1]
    assert found(game_id=game.id) == [2, 1]
    assert found(act="pause") == [1]
    assert found(person_id=person("Ann")) == [3]
    assert found(actor="command line root") == [2]
    assert found(actor="command line") == []
    assert found(act="pause", actor="organiser Ann", game_id=game.id) == [1]
    assert [row.seq for row in audit.listed(house, Wanted(), before=3, limit=1)] == [2]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (Wanted(act="rewind"), "ix_audit_act_seq"),
        (Wanted(actor="organiser Zoe"), "ix_audit_actor_seq"),
        (Wanted(game_id=many.FIRST), "ix_audit_game_id_seq"),
        (Wanted(person_id=many.FIRST), "ix_audit_person_id_seq"),
        (Wanted(act="rewind", actor="organiser Zoe"), "ix_audit_act"),
    ],
)
def test_acts_are_found_among_very_many_at_the_end_of_an_index(house, table, wanted, index):
    game = table("sun-bid", 2)
    many.copy(house, game.id, 8, rows=1)
    record(house, actor=ROOT, act=Act.PAUSE, game_id=game.id)
    many.acts(house, 20_000)
    many.settle(house)
    for before in (None, 15_000):
        ((statement, values),) = statements_of(
            house, lambda before=before: audit.listed(house, wanted, before=before, limit=50)
        )
        assert scans(house, statement, values, as_planned=True) == []
        assert index in plan_of(house, statement, values)


def plan_of(house, statement, values):
    """The plan of the database, as text."""
    explain = "EXPLAIN QUERY PLAN" if house.store.on_sqlite else "EXPLAIN"
    with house.store.engine.connect() as connection:
        return "\n".join(str(row) for row in connection.exec_driver_sql(f"{explain} {statement}", values))


def test_a_host_helps_at_their_own_table_and_nowhere_else(house, table):
    game, other = table(), table(doubles=True)
    host = Actor(Role.HOST, "Ann", person_id=game.row().host_id)
    record(house, actor=host, act=Act.PAUSE, game_id=game.id)
    stranger = Actor(Role.HOST, "Zoe", person_id=game.person_at(1) + game.person_at(0) + game.person_at(2))
    for actor, act, game_id in (
        (stranger, Act.PAUSE, other.id),
        (host, Act.PAUSE, None),
        (host, Act.REWIND, game.id),
        (host, Act.SEE_AS, game.id),
    ):
        with pytest.raises(Forbidden):
            record(house, actor=actor, act=act, game_id=game_id)
    assert audit.verify(house).rows == 1


def test_an_organiser_who_plays_at_a_table_may_do_nothing_there(house, table):
    game = table()
    playing = Actor(Role.ORGANISER, "Ann", organiser_id=1, person_id=game.person_at(0))
    for act in MAY[Role.ORGANISER]:
        with pytest.raises(Forbidden) as refused:
            record(house, actor=playing, act=act, game_id=game.id)
        assert refused.value.what == "You play at this table."
    assert audit.listed(house, Wanted()) == []


def test_an_organiser_may_do_nothing_about_those_they_play_with(house, table, person):
    game = table()
    playing = Actor(Role.ORGANISER, "Ann", organiser_id=1, person_id=game.person_at(0))
    for act in ABOUT_ONE_PERSON:
        with pytest.raises(Forbidden) as refused:
            record(house, actor=playing, act=act, person_id=game.person_at(1))
        assert refused.value.what == "You play with this person."
        for other in (person("Zoe"), game.person_at(0)):
            record(house, actor=playing, act=act, person_id=other)
    for seat in range(3):
        leaving.agree_to_end(house, game.id, game.person_at(seat))
    record(house, actor=playing, act=Act.BAN, person_id=game.person_at(1))


def test_organisers_are_made_at_the_machine_only(house):
    for act in (Act.ORGANISER_ADDED, Act.ORGANISER_REMOVED):
        with pytest.raises(Forbidden):
            record(house, act=act)
        record(house, actor=ROOT, act=act)
