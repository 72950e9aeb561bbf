"""One act on many: begun by one press, gone on with by whoever works, each step once."""

from contextlib import suppress
from dataclasses import replace

import pytest

from pbem.domain.errors import BadInput
from pbem.service import bulk, demo
from pbem.service.bulk import What
from pbem.service.moderation.seats import Substitute
from pbem.store import audit, guests, lobby, outbox
from tests.service.acting import ROOT
from tests.service.moderated import OLGA, does
from tests.service.stored import calls_counted, everything, letters
from tests.service.timed import HOUR, Time

WHY = "the house is being moved"


@pytest.fixture
def three(table):
    return [table("sun-bid", 2) for _ in range(3)]


def begins(house, what, text="", key="a key", actor=OLGA, **more):
    return bulk.begin(house, actor, what, bulk.facts_of(house, what, text, **more), WHY, key)


def goes_on(house):
    while bulk.go_on(house):
        pass


def acts(house):
    with house.store.read() as tx:
        return [row.act for row in audit.chain(tx)]


def test_all_tables_are_paused_and_go_on_again_each_with_its_row_and_its_mails(house, three):
    job = begins(house, What.PAUSE)
    assert not any(game.row().paused for game in three)
    goes_on(house)
    assert all(game.row().paused for game in three)
    assert [game.log()[-1].kind for game in three] == ["Paused"] * 3
    assert len(letters(house, kind="notice")) == 6
    done = bulk.read(house, job)
    assert (done.status, done.total, done.done, done.failed) == ("done", 3, 3, 0)
    assert acts(house) == ["pause all", "pause", "pause", "pause"]
    begins(house, What.RESUME, key="another")
    goes_on(house)
    assert not any(game.row().paused for game in three)


def test_more_time_for_all_moves_every_deadline(house, clock, three):
    time = Time(house, clock)
    time.sends()
    before = {game.id: time.due(game, next(iter(game.asked()))) for game in three}
    begins(house, What.EXTEND, "2d")
    goes_on(house)
    for game in three:
        assert (time.due(game, next(iter(game.asked()))) - before[game.id]).days == 2


def test_everybody_who_plays_is_told_once_and_nobody_else(house, three, person):
    person("Zoe")
    begins(house, What.ANNOUNCE, "On Sunday the server moves.")
    goes_on(house)
    told = [mail.person_id for mail in letters(house, kind="announcement")]
    assert sorted(told) == sorted({game.person_at(seat) for game in three for seat in (0, 1)})


def test_what_came_back_from_one_provider_goes_out_again(house, clock, table):
    game = table("sun-bid", 2)
    people_there = [game.person_at(seat) for seat in (0, 1)]
    mails = [mail for mail in game.mails() if mail.kind == "welcome"]
    for mail in mails:
        house.write(lambda tx, mail=mail: outbox.change(tx, mail.id, status="undeliverable"))
    assert bulk.plan(house, OLGA, What.RESEND, bulk.facts_of(house, What.RESEND, "@elsewhere.example")).total == 0
    plan = bulk.plan(house, OLGA, What.RESEND, bulk.facts_of(house, What.RESEND, "example.org"))
    assert (plan.total, {each.game_id for each in plan.listed}) == (2, {game.id})
    begins(house, What.RESEND, "example.org")
    goes_on(house)
    again = [mail for mail in game.mails() if mail.kind == "welcome"]
    assert {mail.status for mail in again} == {"queued"}
    assert {mail.person_id for mail in again} == set(people_there)


@pytest.mark.parametrize("what", [What.PAUSE, What.ANNOUNCE])
def test_a_dry_run_lists_what_would_happen_and_changes_nothing(house, three, what):
    before = everything(house.store)
    plan = bulk.plan(house, OLGA, what, bulk.facts_of(house, what, "News."))
    assert plan.total == len(plan.listed) > 1
    assert everything(house.store) == before


def of_the_demo(house):
    """The guest, their table and the mails to them."""
    with house.store.read() as tx:
        (guest,) = guests.before(tx, house.now() + HOUR, 0, 9)
        (table,) = lobby.hosted_by(tx, guest, ("playing",))
    return guest, table, letters(house, guest)


@pytest.mark.parametrize("what", [What.PAUSE, What.RESUME, What.EXTEND, What.ANNOUNCE])
def test_the_demo_is_neither_counted_nor_touched(house, three, what):
    demo.begin(house)
    for game_id in [game.id for game in three] + [of_the_demo(house)[1].id]:
        house.write(lambda tx, game_id=game_id: lobby.change_game(tx, game_id, paused=what is What.RESUME))
    before = of_the_demo(house)
    plan = bulk.plan(house, OLGA, what, bulk.facts_of(house, what, "1d"))
    players = {game.person_at(seat) for game in three for seat in (0, 1)}
    wanted = players if what is What.ANNOUNCE else {game.id for game in three}
    assert {each.number for each in plan.listed} == wanted
    assert plan.total == len(wanted)
    job = begins(house, what, "1d")
    goes_on(house)
    assert bulk.read(house, job).total == len(wanted)
    assert of_the_demo(house) == before


class KilledError(BaseException):
    """The process is gone in this moment."""


def test_a_worker_that_dies_at_any_moment_leaves_nothing_half_done_and_nothing_is_done_twice(house, three):
    job, deaths = begins(house, What.PAUSE), 0
    while bulk.read(house, job).status == "running":
        deaths += 1

        def strike(count, at=deaths):
            if count == at:
                raise KilledError

        with suppress(KilledError), calls_counted(house.store, strike):
            bulk.go_on(house)
        assert bulk.read(house, job).done == sum(game.row().paused for game in three)
    assert deaths > 20
    assert bulk.read(house, job).failed == 0
    assert [[row.kind for row in game.log()].count("Paused") for game in three] == [1, 1, 1]
    assert acts(house) == ["pause all", "pause", "pause", "pause"]


def test_a_second_press_of_the_same_button_is_the_same_job(house, three):
    assert begins(house, What.PAUSE) == begins(house, What.PAUSE)
    assert acts(house) == ["pause all"]


@pytest.fixture
def olga_plays(house, three, person):
    """Olga as she sits at the second of three tables."""
    olga, seat = person("Olga"), next(iter(three[1].asked()))
    does(house, Substitute(three[1].id, seat, "olga@example.org"))
    return replace(OLGA, person_id=olga)


@pytest.mark.parametrize(("what", "text", "kind"), [(What.PAUSE, "", "Paused"), (What.EXTEND, "1d", "Extended")])
def test_a_table_where_the_organiser_plays_is_named_before_and_after_left_alone_and_holds_up_no_other(
    house, three, olga_plays, what, text, kind
):
    facts = bulk.facts_of(house, what, text)
    plan = bulk.plan(house, olga_plays, what, facts)
    assert [each.game_id for each in plan.left_alone] == [three[1].id]
    assert [each.game_id for each in plan.listed] == [three[0].id, three[2].id]
    assert (plan.total, plan.reached) == (3, 2)
    known = three[1].row()
    job = begins(house, what, text, actor=olga_plays)
    goes_on(house)
    assert three[1].row() == known
    assert [kind in {row.kind for row in game.log()} for game in three] == [True, False, True]
    found = bulk.read(house, job)
    assert (found.done, found.failed) == (2, 1)
    ((number, why),) = found.said
    assert number == three[1].id
    assert "You play at this table" in why


def test_a_mail_about_a_table_where_the_organiser_plays_is_not_sent_again(house, three, olga_plays):
    for game in three:
        for mail in game.mails():
            house.write(lambda tx, mail=mail: outbox.change(tx, mail.id, status="undeliverable"))
    facts = bulk.facts_of(house, What.RESEND, "example.org")
    apart = {each.game_id for each in bulk.plan(house, olga_plays, What.RESEND, facts).left_alone}
    assert apart == {three[1].id}
    begins(house, What.RESEND, "example.org", actor=olga_plays)
    goes_on(house)
    assert {mail.status for mail in three[1].mails()} == {"undeliverable"}
    assert "queued" in {mail.status for mail in three[0].mails()}


def test_whoever_plays_nowhere_and_whoever_is_at_the_machine_leaves_nothing_alone(house, three, olga_plays):
    for actor in (OLGA, ROOT):
        assert bulk.plan(house, actor, What.PAUSE, {}).left_alone == ()


def test_a_job_that_is_stopped_goes_no_further_and_says_so_in_the_audit(house, three):
    job = begins(house, What.PAUSE)
    bulk.stop(house, OLGA, job, "the wrong button")
    goes_on(house)
    assert not any(game.row().paused for game in three)
    assert bulk.read(house, job).status == "stopped"
    assert acts(house) == ["pause all", "pause all"]


@pytest.mark.parametrize(
    ("what", "text", "days"),
    [
        (What.EXTEND, "", 7),
        (What.EXTEND, "soon", 7),
        (What.ANNOUNCE, " ", 7),
        (What.RESEND, "", 7),
        (What.RESEND, "a b", 7),
        (What.RESEND, "example.org", 0),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_begins(house, what, text, days):
    with pytest.raises(BadInput):
        bulk.facts_of(house, what, text, days)


def test_a_job_without_a_reason_does_not_begin(house, three):
    with pytest.raises(BadInput, match="say why"):
        bulk.begin(house, OLGA, What.PAUSE, {}, " ", "a key")
    assert acts(house) == []
