"""One act on many tables, people or emails: begun by one press, continued by any worker, each step once."""

from contextlib import suppress
from dataclasses import replace

import pytest
from sqlalchemy.exc import OperationalError

from pbem.domain.bounce import Bounce
from pbem.domain.errors import BadInput
from pbem.service.clocks.reachability import note_bounce
from pbem.service.desk import jobs
from pbem.service.desk.acts.seats import Substitute
from pbem.service.desk.jobs import What
from pbem.service.tables import demo
from pbem.store import audit, guests, jobs as job_rows, outbox, reachability, tables
from tests.service.absence.test_database_away import Away
from tests.service.actors import OLGA, ROOT, moderate
from tests.service.clock import HOUR, Time
from tests.service.database import all_rows, count_calls, queued_emails
from tests.service.outgoing.test_deliver import post_to, work

WHY = "the house is being moved"


@pytest.fixture
def three(table):
    return [table("sun-bid", 2) for _ in range(3)]


def begins(server, what, text="", key="a key", actor=OLGA, **more):
    return server.run(jobs.begin, actor, what, jobs.facts_of(server, what, text, **more), WHY, key)


def goes_on(server):
    while jobs.advance_all(server):
        pass


def acts(server):
    with server.store.read() as tx:
        return [row.act for row in audit.chain(tx)]


def test_all_tables_are_paused_and_resumed_each_with_its_row_and_its_emails(server, three):
    job = begins(server, What.PAUSE)
    assert not any(game.row().paused for game in three)
    goes_on(server)
    assert all(game.row().paused for game in three)
    assert [game.log()[-1].kind for game in three] == ["Paused"] * 3
    assert len(queued_emails(server, kind="notice")) == 6
    done = server.query(job_rows.read, job)
    assert (done.status, done.total, done.done, done.failed) == ("done", 3, 3, 0)
    assert acts(server) == ["pause all", "pause", "pause", "pause"]
    begins(server, What.RESUME, key="another")
    goes_on(server)
    assert not any(game.row().paused for game in three)


def test_more_time_for_all_moves_every_deadline(server, clock, three):
    time = Time(server, clock)
    time.sends()
    before = {game.id: time.due(game, next(iter(game.asked()))) for game in three}
    begins(server, What.EXTEND, "2d")
    goes_on(server)
    for game in three:
        assert (time.due(game, next(iter(game.asked()))) - before[game.id]).days == 2


def test_an_announcement_reaches_every_player_once_and_nobody_else(server, three, person):
    person("Zoe")
    begins(server, What.ANNOUNCE, "On Sunday the server moves.")
    goes_on(server)
    readers = [email.person_id for email in queued_emails(server, kind="announcement")]
    assert sorted(readers) == sorted({game.person_at(seat) for game in three for seat in (0, 1)})


def test_bounced_emails_to_one_provider_are_sent_again(server, clock, table):
    game = table("sun-bid", 2)
    people_there = [game.person_at(seat) for seat in (0, 1)]
    emails = [email for email in game.emails() if email.kind == "welcome"]
    for email in emails:
        server.store.write(lambda tx, email=email: outbox.change(tx, email.id, status="undeliverable"))
    assert (
        server.read(jobs.plan, OLGA, What.RESEND, jobs.facts_of(server, What.RESEND, "@elsewhere.example")).total == 0
    )
    plan = server.read(jobs.plan, OLGA, What.RESEND, jobs.facts_of(server, What.RESEND, "example.org"))
    assert (plan.total, {each.game_id for each in plan.listed}) == (2, {game.id})
    begins(server, What.RESEND, "example.org")
    goes_on(server)
    again = [email for email in game.emails() if email.kind == "welcome"]
    assert {email.status for email in again} == {"queued"}
    assert {email.person_id for email in again} == set(people_there)


def test_a_provider_that_knew_none_of_its_addresses_for_an_hour_gets_its_emails_when_they_are_sent_again(
    server, clock, table, sink
):
    game, post = table("sun-bid", 2), post_to(sink)
    sink.does("550 rcpt", "550 rcpt")
    clock.advance(HOUR)
    work(server, post)
    assert not sink.emails
    assert server.query(reachability.failing_among, {game.person_at(seat) for seat in (0, 1)})
    begins(server, What.RESEND, "example.org")
    goes_on(server)
    work(server, post)
    assert {email.recipient for email in sink.emails} == {"ann@example.org", "ben@example.org"}
    assert not server.query(reachability.failing_among, {game.person_at(seat) for seat in (0, 1)})
    assert {email.status for email in game.emails() if email.kind == "turn"} <= {"sent"}


def test_an_email_sent_again_leaves_alone_who_has_complained(server, clock, table, sink):
    game, post = table("sun-bid", 2), post_to(sink)
    server.run(note_bounce, game.person_at(0), Bounce.COMPLAINT, "spam")
    clock.advance(HOUR)
    work(server, post)
    sent = len(sink.emails)
    begins(server, What.RESEND, "example.org")
    goes_on(server)
    work(server, post)
    assert len(sink.emails) == sent


@pytest.mark.parametrize("what", [What.PAUSE, What.ANNOUNCE])
def test_a_dry_run_lists_what_would_happen_and_changes_nothing(server, three, what):
    before = all_rows(server.store)
    plan = server.read(jobs.plan, OLGA, what, jobs.facts_of(server, what, "News."))
    assert plan.total == len(plan.listed) > 1
    assert all_rows(server.store) == before


def of_the_demo(server):
    """The guest, their table and the emails to them."""
    with server.store.read() as tx:
        (guest,) = guests.ids_before(tx, server.now() + HOUR, 0, 9)
        (table,) = tables.hosted_by(tx, guest, ("playing",))
    return guest, table, queued_emails(server, guest)


@pytest.mark.parametrize("what", [What.PAUSE, What.RESUME, What.EXTEND, What.ANNOUNCE])
def test_the_demo_is_neither_counted_nor_touched(server, three, what):
    demo.begin(server, "sunset-poker")
    for game_id in [game.id for game in three] + [of_the_demo(server)[1].id]:
        server.store.write(lambda tx, game_id=game_id: tables.change_game(tx, game_id, paused=what is What.RESUME))
    before = of_the_demo(server)
    plan = server.read(jobs.plan, OLGA, what, jobs.facts_of(server, what, "1d"))
    players = {game.person_at(seat) for game in three for seat in (0, 1)}
    expected = players if what is What.ANNOUNCE else {game.id for game in three}
    assert {each.number for each in plan.listed} == expected
    assert plan.total == len(expected)
    job = begins(server, what, "1d")
    goes_on(server)
    assert server.query(job_rows.read, job).total == len(expected)
    assert of_the_demo(server) == before


class KilledError(BaseException):
    """The process is killed at this moment."""


def test_a_worker_that_dies_at_any_moment_leaves_nothing_half_done_and_nothing_is_done_twice(server, three):
    job, deaths = begins(server, What.PAUSE), 0
    while server.query(job_rows.read, job).status == "running":
        deaths += 1

        def strike(count, at=deaths):
            if count == at:
                raise KilledError

        with suppress(KilledError), count_calls(server.store, strike):
            jobs.advance_all(server)
        assert server.query(job_rows.read, job).done == sum(game.row().paused for game in three)
    assert deaths > 20
    assert server.query(job_rows.read, job).failed == 0
    assert [[row.kind for row in game.log()].count("Paused") for game in three] == [1, 1, 1]
    assert acts(server) == ["pause all", "pause", "pause", "pause"]


def test_a_table_that_a_job_meets_while_the_database_fails_is_done_once_it_is_back(server, three, monkeypatch):
    job, away = begins(server, What.PAUSE), Away(monkeypatch, jobs, "_step")
    away.gone = True
    with pytest.raises(OperationalError):
        jobs.advance_all(server)
    away.gone = False
    goes_on(server)
    assert all(game.row().paused for game in three)
    assert server.query(job_rows.read, job).failed == 0


def test_a_second_press_of_the_same_button_is_the_same_job(server, three):
    assert begins(server, What.PAUSE) == begins(server, What.PAUSE)
    assert acts(server) == ["pause all"]


@pytest.fixture
def olga_plays(server, three, person):
    """Olga, who plays at the second of three tables."""
    olga, seat = person("Olga"), next(iter(three[1].asked()))
    moderate(server, Substitute(three[1].id, seat, "olga@example.org"))
    return replace(OLGA, person_id=olga)


@pytest.mark.parametrize(("what", "text", "kind"), [(What.PAUSE, "", "Paused"), (What.EXTEND, "1d", "Extended")])
def test_a_table_where_the_organiser_plays_is_named_and_left_out_and_the_others_go_on(
    server, three, olga_plays, what, text, kind
):
    facts = jobs.facts_of(server, what, text)
    plan = server.read(jobs.plan, olga_plays, what, facts)
    assert [each.game_id for each in plan.left_alone] == [three[1].id]
    assert [each.game_id for each in plan.listed] == [three[0].id, three[2].id]
    assert (plan.total, plan.reached) == (3, 2)
    known = three[1].row()
    job = begins(server, what, text, actor=olga_plays)
    goes_on(server)
    assert three[1].row() == known
    assert [kind in {row.kind for row in game.log()} for game in three] == [True, False, True]
    found = server.query(job_rows.read, job)
    assert (found.done, found.failed) == (2, 1)
    ((number, why),) = found.failures
    assert number == three[1].id
    assert "You play at this table" in why


def comes_back(server, game):
    for email in game.emails():
        server.store.write(lambda tx, email=email: outbox.change(tx, email.id, status="undeliverable"))


def test_an_email_about_a_table_where_the_organiser_plays_is_not_sent_again(server, three, olga_plays):
    for game in three:
        comes_back(server, game)
    begins(server, What.RESEND, "example.org", actor=olga_plays)
    goes_on(server)
    assert {email.status for email in three[1].emails()} == {"undeliverable"}
    assert "queued" in {email.status for email in three[0].emails()}


def test_no_organiser_learns_which_emails_came_back_at_a_table_where_they_play(server, three, olga_plays):
    comes_back(server, three[0])
    facts = jobs.facts_of(server, What.RESEND, "example.org")
    before = server.read(jobs.plan, olga_plays, What.RESEND, facts)
    # One may be the receipt of someone's move.
    comes_back(server, three[1])
    assert server.read(jobs.plan, olga_plays, What.RESEND, facts) == before
    job = server.query(job_rows.read, begins(server, What.RESEND, "example.org", actor=olga_plays))
    goes_on(server)
    assert server.read(jobs.read, olga_plays, job.id).dealt_with == job.total == before.total


def test_no_organiser_reads_in_a_job_of_another_who_has_answered_at_a_table_where_they_play(server, three, olga_plays):
    for game in three[:2]:
        # Their turns are out of date, which tells that they have answered.
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
        comes_back(server, game)
    job = begins(server, What.RESEND, "example.org")
    goes_on(server)
    own, others = ({email.id for email in game.emails()} for game in (three[1], three[0]))
    listed, shown = ({number for number, _ in server.read(jobs.read, who, job).failures} for who in (OLGA, olga_plays))
    assert listed & own
    assert shown == listed - own == listed & others != set()


def test_an_organiser_who_plays_nowhere_and_the_command_line_leave_nothing_out(server, three, olga_plays):
    for actor in (OLGA, ROOT):
        assert server.read(jobs.plan, actor, What.PAUSE, {}).left_alone == ()


def test_a_stopped_job_does_no_more_and_the_stop_is_in_the_audit(server, three):
    job = begins(server, What.PAUSE)
    server.run(jobs.stop, OLGA, job, "the wrong button")
    goes_on(server)
    assert not any(game.row().paused for game in three)
    assert server.query(job_rows.read, job).status == "stopped"
    assert acts(server) == ["pause all", "pause all"]


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
def test_invalid_facts_are_refused_before_a_job_begins(server, what, text, days):
    with pytest.raises(BadInput):
        jobs.facts_of(server, what, text, days)


def test_a_job_without_a_reason_does_not_begin(server, three):
    with pytest.raises(BadInput, match="give a reason"):
        server.run(jobs.begin, OLGA, What.PAUSE, {}, " ", "a key")
    assert acts(server) == []
