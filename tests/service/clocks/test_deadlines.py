"""Clocks: what an email promises, what starts a clock, what stops it."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from pbem.domain.errors import BadInput, Gone, NotFound, Refusal, TooMany
from pbem.service.clocks import deadlines, outages as clocks_outages, reachability, vacations
from pbem.service.desk.acts.clocks import DeclareOutage, Extend, Pause, Resume
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses
from pbem.store import alarms, outages, reachability as reachability_rows, vacations as vacation_rows
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR, MINUTE, Time
from tests.service.database import all_rows, check_atomic, queued_emails


@pytest.fixture
def asked(table):
    """A game of two at a day a turn, and the seat whose turn it is."""
    game = table("sun-bid", 2, pace="1d")
    (seat,) = game.asked()
    return game, seat


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# The deadline in an email, and the start of the clock


def test_a_clock_does_not_run_before_its_email_is_accepted(time, asked):
    game, seat = asked
    time.passes(30 * DAY)
    assert time.deadline(game, seat).due_at is None
    assert time.runs_out().decided == 0


def test_an_email_promises_the_pace_from_its_rendering_rounded_up(time, clock, asked):
    game, seat = asked
    clock.advance(timedelta(minutes=7))
    (email,) = [email for email in queued_emails(time.server, kind="turn") if email.seat == seat]
    assert time.renders(email).at == utc("2026-11-22 13:00")
    assert time.deadline(game, seat).promised_at == utc("2026-11-22 13:00")


def test_the_promised_deadline_holds_when_the_email_is_accepted_soon(time, clock, asked):
    game, seat = asked
    (email,) = queued_emails(time.server, kind="turn")
    promised = time.renders(email)
    clock.advance(timedelta(seconds=20))
    time.accepts(email)
    assert promised.at == utc("2026-11-22 12:00")
    # Twenty seconds later is another full hour, and nobody is notified of that.
    assert time.due(game, seat) == utc("2026-11-22 13:00")
    assert queued_emails(time.server, kind="notice") == []


def test_a_delayed_email_gives_the_whole_pace_and_says_so(time, asked):
    game, seat = asked
    (email,) = queued_emails(time.server, kind="turn")
    time.renders(email)
    time.passes(3 * HOUR)
    time.accepts(email)
    assert time.due(game, seat) == utc("2026-11-22 15:00")
    (notice,) = queued_emails(time.server, kind="notice")
    assert (notice.person_id, notice.seat) == (game.person_at(seat), seat)
    assert '"due_at": "2026-11-22T15:00:00+00:00"' in notice.facts
    assert time.deadline(game, seat).promised_at == utc("2026-11-22 15:00")


def test_all_turns_of_a_player_draw_on_one_bank_and_an_outage_found_out_later_gives_time_back(time, table):
    game = table("sun-bid", 2, pace="1d+2h")
    (seat,) = game.asked()

    def send():
        email = [each for each in queued_emails(time.server, kind="turn") if each.seat == seat][-1]
        time.renders(email)
        time.accepts(email)

    send()
    assert time.due(game, seat) == utc("2026-11-22 12:00")
    time.passes(20 * HOUR + timedelta(seconds=30))
    game.play(seat, game.asked()[seat].default)
    while (other := next(iter(game.asked()))) != seat:
        game.play(other, game.asked()[other].default)
    send()
    # Four hours of the bank are left, less half a minute, and two are added; deadlines are rounded up to the minute.
    assert time.due(game, seat) == utc("2026-11-22 14:00")
    moderate(time.server, DeclareOutage(utc("2026-11-21 20:00"), utc("2026-11-21 23:00")), "The power was off.")
    clocks_outages.apply_outages(time.server)
    time.passes_until(utc("2026-11-22 14:01"))
    assert time.runs_out().decided == 0
    assert time.due(game, seat) == utc("2026-11-22 17:00")
    assert "given back to your bank" in queued_emails(time.server, game.person_at(seat), "notice")[-1].facts


def test_an_email_sent_again_does_not_restart_the_clock(time, asked):
    game, seat = asked
    (email,) = queued_emails(time.server, kind="turn")
    time.renders(email)
    time.accepts(email)
    due = time.due(game, seat)
    time.passes(5 * HOUR)
    again = time.renders(email)
    time.accepts(email)
    assert again.at == due == time.due(game, seat)


def test_an_email_to_a_replaced_player_does_not_start_the_clock_of_the_next(time, server, asked, person):
    game, seat = asked
    (email,) = queued_emails(time.server, kind="turn")
    moderate(server, Substitute(game.id, seat, "zoe@example.org"), "ill")
    time.accepts(email)
    assert time.due(game, seat) is None


def test_an_email_for_a_decided_turn_promises_no_deadline(time, server, asked):
    game, seat = asked
    (email,) = queued_emails(server, kind="turn")
    game.play(seat, game.asked()[seat].default)
    assert time.renders(email).at is None


def test_a_rendered_email_is_known_to_be_out_of_date_after_more_than_an_hour(time, server, asked):
    game, seat = asked
    (email,) = queued_emails(server, kind="turn")
    time.renders(email)

    def holds():
        with server.store.read() as tx:
            return not deadlines.broken_promises(tx, server, {game.id: game.row()}, {(game.id, game.row().turn, seat)})

    assert holds()
    time.passes(1 * HOUR)
    assert holds()
    time.passes(1 * HOUR)
    assert not holds()
    time.renders(email)
    assert holds()


def test_a_turn_without_its_own_email_starts_when_an_email_would_have_left(time, server, asked):
    game, seat = asked
    time.passes(DAY / 2)
    server.store.write(
        lambda tx: deadlines.start_without_mail(tx, server, game.row(), game.row().turn, seat, game.person_at(seat))
    )
    assert time.due(game, seat) == utc("2026-11-22 13:00")


# The calendar, time zones and daylight saving time


@pytest.mark.parametrize(
    "pace, zone, quiet, asked_at, due_at",
    [
        # A day is 24 hours, even when the clocks go back or forward in it.
        ("1d", "Europe/Berlin", None, "2026-10-24 18:00", "2026-10-25 18:00"),
        ("1d", "Europe/Berlin", None, "2026-03-28 18:00", "2026-03-29 18:00"),
        ("12h", "America/New_York", None, "2026-11-01 03:30", "2026-11-01 15:30"),
        # Half hours of a zone are full hours there.
        ("1d", "Asia/Kathmandu", None, "2026-11-21 12:00", "2026-11-22 12:15"),
        # A calendar moment is the same local time before and after the change.
        ("Sun 20:00 Europe/Berlin", "UTC", None, "2026-10-19 00:00", "2026-10-25 19:00"),
        ("Sun 20:00 Europe/Berlin", "UTC", None, "2026-10-12 00:00", "2026-10-18 18:00"),
        # A time that the clocks skip means the end of the gap; one that they show twice means the first.
        ("Sun 02:30 Europe/Berlin", "UTC", None, "2026-03-25 12:00", "2026-03-29 01:00"),
        ("Sun 02:30 Europe/Berlin", "UTC", None, "2026-10-22 12:00", "2026-10-25 00:30"),
        # Less than half a day before a moment, the next one is meant.
        ("Tue,Fri 20:00 Europe/Berlin", "UTC", None, "2026-11-24 08:00", "2026-11-27 19:00"),
        # Quiet hours across a change of clocks end at their local time.
        ("12h", "Europe/Berlin", "22:00-07:00", "2026-10-24 13:00", "2026-10-25 06:00"),
        ("12h", "Europe/Berlin", "22:00-07:00", "2026-03-28 13:00", "2026-03-29 05:00"),
        ("12h", "Europe/Berlin", "02:00-03:00", "2026-03-28 13:30", "2026-03-29 01:30"),
    ],
)
def test_deadlines_follow_the_local_time_of_their_players_across_clock_changes(
    server, clock, table, pace, zone, quiet, asked_at, due_at
):
    clock.set(utc(asked_at))
    game = table("sun-bid", 2, pace=pace)
    (seat,) = game.asked()
    server.run(addresses.change_settings, game.person_at(seat), zone=zone)
    if quiet:
        server.run(addresses.change_settings, game.person_at(seat), quiet=quiet)
    time = Time(server, clock)
    time.sends()
    assert time.due(game, seat) == utc(due_at)
    time.passes_until(utc(due_at) - MINUTE)
    assert time.runs_out().decided == 0
    time.passes(MINUTE)
    assert time.runs_out().decided == 1


# Outages


def test_an_outage_in_the_middle_of_a_turn_moves_its_deadline(time, asked):
    game, seat = asked
    time.sends()
    time.passes(2 * HOUR)
    time.sleeps(6 * HOUR)
    assert time.due(game, seat) == utc("2026-11-22 18:00")
    (notice,) = queued_emails(time.server, kind="notice")
    assert "server outage" in notice.facts


def delays(game):
    """The rows of delays by outages: who wrote each, and its body."""
    return [(row.by, json.loads(row.body)) for row in game.log() if row.kind == "Delayed"]


def test_an_outage_is_a_row_of_the_log_only_where_it_moves_a_deadline(time, server, asked, table):
    game, _ = asked
    time.sends()
    unmoved = table("sun-bid", 2, pace="1d")
    time.passes(2 * HOUR)
    start = server.now()
    time.sleeps(6 * HOUR)
    assert delays(game) == [("table", {"start": start.isoformat(), "end": server.now().isoformat()})]
    assert delays(unmoved) == []
    assert game.verifies()


@pytest.mark.parametrize("mended", [True, False])
def test_an_outage_is_tried_again_at_a_table_where_it_could_not_be_applied(time, server, asked, monkeypatch, mended):
    game, _ = asked
    time.sends()
    time.passes(2 * HOUR)
    delay = clocks_outages.delay_clocks

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr(clocks_outages, "delay_clocks", fails)
    time.sleeps(6 * HOUR)
    assert (delays(game), len(server.query(outages.unapplied))) == ([], 1)
    assert time.held_back() == "an outage was found: what ran in it has to be moved first"
    time.passes(11 * MINUTE)
    if mended:
        monkeypatch.setattr(clocks_outages, "delay_clocks", delay)
    clocks_outages.apply_outages(server)
    assert server.query(outages.unapplied) == [], "the other tables do not wait for ever"
    assert len(delays(game)) == mended
    alarms_raised = [row.says for row in server.store.write(lambda tx: alarms.take(tx, server.now()))]
    assert any("couldn't be noted in the log" in says for says in alarms_raised) != mended


def test_quiet_hours_count_at_once_for_a_turn_that_runs(time, server, asked):
    game, seat = asked
    time.sends()
    person, before = game.person_at(seat), time.due(game, seat)
    server.run(addresses.change_settings, person, zone="UTC", quiet="11:00-14:00")
    assert before == utc("2026-11-22 12:00")
    assert time.due(game, seat) == utc("2026-11-22 14:00")
    server.run(addresses.change_settings, person, quiet="none")
    assert time.due(game, seat) == utc("2026-11-22 14:00"), "a promised deadline never moves earlier"


def test_an_outage_moves_a_deadline_together_with_its_row_and_its_emails_or_not_at_all(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes(6 * HOUR)
    before = time.due(game, seat)
    moderate(server, DeclareOutage(server.now() - 3 * HOUR, server.now()), "The relay lost our mails.")
    with server.store.read() as tx:
        (outage,) = outages.unapplied(tx)
    assert check_atomic(server.store, lambda: server.run(clocks_outages.delay_clocks, game.id, outage)) > 10
    assert time.due(game, seat) > before
    assert len(delays(game)) == 1
    assert len(queued_emails(server, kind="notice")) == 2


def test_a_declared_outage_gives_all_players_the_reason_and_those_asked_their_deadline(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes(6 * HOUR)
    start, end = server.now() - 10 * MINUTE, server.now()
    moderate(server, DeclareOutage(start, end), "The relay lost our mails.")
    clocks_outages.apply_outages(server)
    ((by, body),) = delays(game)
    assert (by, body["reason"]) == ("organiser", "The relay lost our mails.")
    facts_to = {email.person_id: json.loads(email.facts) for email in queued_emails(server, kind="notice")}
    mine, others = (facts_to[game.person_at(each)] for each in (seat, 1 - seat))
    assert (mine["what"], mine["due_at"]) == ("deadline", time.due(game, seat).isoformat())
    assert (others["what"], others["start"], others["end"]) == ("delayed", start.isoformat(), end.isoformat())
    assert {facts["reason"] for facts in facts_to.values()} == {"The relay lost our mails."}


def test_a_deadline_moved_by_another_act_before_the_worker_has_its_row_and_its_emails_too(time, server, asked, person):
    game, seat = asked
    time.sends()
    time.passes(6 * HOUR)
    before = time.due(game, seat)
    moderate(server, DeclareOutage(server.now() - 3 * HOUR, server.now()), "The relay lost our mails.")
    moderate(server, Merge(person("Bennie"), game.person_at(1 - seat)), "They wrote from both.")
    assert time.due(game, seat) > before
    for _ in range(2):
        clocks_outages.apply_outages(server)
        assert [by for by, _body in delays(game)] == ["organiser"]
        notices = [json.loads(email.facts) for email in queued_emails(server, game.person_at(seat), "notice")]
        assert [facts["due_at"] for facts in notices if facts["what"] == "deadline"] == [
            time.due(game, seat).isoformat()
        ]
        # As if the worker had died before it marked the outage as applied.
        server.store.write(lambda tx: tx.execute(text("UPDATE outage SET applied_at = NULL")))


def test_an_outage_is_recorded_once_however_many_workers_find_it(time, server, clock, asked):
    game, seat = asked
    time.sends()
    clock.advance(6 * HOUR)
    found = []
    for name in ("first", "second", "third"):
        found.append(server.run(clocks_outages.beat, clocks_outages.Worker(name, clock.now())))
        clocks_outages.apply_outages(server)
    assert [each is not None for each in found] == [True, False, False]
    with server.store.read() as tx:
        assert len(outages.newest(tx)) == 1
    assert time.due(game, seat) == utc("2026-11-22 18:00")


def test_after_a_long_outage_all_players_have_half_a_day_again(time, asked):
    game, seat = asked
    time.sends()
    time.passes(DAY - HOUR)
    time.sleeps(3 * HOUR)
    woke = utc("2026-11-22 14:00")
    assert time.due(game, seat) == woke + 12 * HOUR


def test_a_short_gap_between_heartbeats_is_no_outage(time, asked):
    game, seat = asked
    time.sends()
    time.sleeps(5 * MINUTE)
    assert time.due(game, seat) == utc("2026-11-22 12:00")


def test_the_next_worker_finishes_moving_clocks_for_one_that_died(time, server, clock, asked):
    game, seat = asked
    time.sends()
    clock.advance(6 * HOUR)
    server.run(clocks_outages.beat, clocks_outages.Worker("second", clock.now()))
    assert time.due(game, seat) == utc("2026-11-22 12:00")
    clocks_outages.apply_outages(server)
    assert time.due(game, seat) == utc("2026-11-22 18:00")
    assert clocks_outages.apply_outages(server) == 0


def test_a_clock_that_is_wrong_by_months_is_not_believed(time, server, clock, asked):
    game, seat = asked
    time.sends()
    right = clock.now()
    clock.advance(90 * DAY)
    worker = clocks_outages.Worker("wrong", clock.now())
    assert server.run(clocks_outages.beat, worker) is None
    clock.advance(HOUR)
    assert "no heartbeat" in server.read(clocks_outages.reason_not_to_fire, worker, clock.now())
    assert time.runs_out().decided == 0
    clock.set(right + MINUTE)
    time.passes(MINUTE)
    assert time.due(game, seat) == utc("2026-11-22 12:00")
    assert server.read(clocks_outages.reason_not_to_fire, time.worker, clock.now()) is None


def test_an_organiser_can_declare_an_outage_that_the_server_did_not_believe(time, server, clock, asked):
    game, seat = asked
    time.sends()
    asleep = clock.now()
    clock.advance(90 * DAY)
    moderate(server, DeclareOutage(asleep, clock.now()), "switched off for the winter")
    time.wakes()
    time.passes(HOUR)
    assert server.read(clocks_outages.reason_not_to_fire, time.worker, clock.now()) is None
    assert time.due(game, seat) == utc("2026-11-22 12:00") + 90 * DAY


@pytest.mark.parametrize("end", [timedelta(0), -HOUR, HOUR])
def test_an_impossible_outage_is_refused(server, clock, end):
    before = all_rows(server.store)
    start = clock.now() - (HOUR if end > timedelta(0) else timedelta(0))
    with pytest.raises(BadInput, match="outage"):
        moderate(server, DeclareOutage(start, clock.now() + end), "switched off")
    assert all_rows(server.store) == before


# Pauses and extensions


def test_a_pause_stops_the_clock_and_resuming_gives_back_what_was_left(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes(6 * HOUR)
    moderate(server, Pause(game.id), "the host is ill")
    assert time.due(game, seat) is None
    time.passes(10 * DAY)
    assert time.runs_out().decided == 0
    moderate(server, Resume(game.id))
    assert time.due(game, seat) == utc("2026-12-02 12:00")
    assert [row.kind for row in game.log()][-2:] == ["Paused", "Resumed"]
    assert game.verifies()


def test_all_players_are_told_of_a_pause_and_of_its_end(time, server, asked):
    game, _ = asked
    time.sends()
    moderate(server, Pause(game.id), "the host is ill")
    moderate(server, Resume(game.id), "and well again")
    notices = [(email.person_id, email.facts) for email in queued_emails(server, kind="notice")]
    players = sorted(game.person_at(seat) for seat in (0, 1))
    assert sorted(person for person, _ in notices[:2]) == sorted(person for person, _ in notices[2:]) == players
    assert all("the host is ill" in facts for _, facts in notices[:2])
    assert all("and well again" in facts for _, facts in notices[2:])


def test_pausing_or_resuming_twice_changes_nothing_more(time, server, asked):
    game, _ = asked
    moderate(server, Pause(game.id), "once")
    before = all_rows(server.store)
    with pytest.raises(Gone):
        moderate(server, Pause(game.id), "twice")
    assert all_rows(server.store) == before
    moderate(server, Resume(game.id))
    before = all_rows(server.store)
    with pytest.raises(Gone):
        moderate(server, Resume(game.id))
    assert all_rows(server.store) == before


def test_an_email_rendered_during_a_pause_promises_no_deadline(time, server, asked):
    game, seat = asked
    moderate(server, Pause(game.id), "a pause")
    assert time.sends()[seat].at is None
    time.passes(3 * DAY)
    moderate(server, Resume(game.id))
    assert time.due(game, seat) == utc("2026-11-25 12:00")


def test_more_time_is_given_to_one_seat_or_to_all_who_are_asked(time, server, table):
    game = table("bid", 3, pace="1d")
    time.sends()
    seats = sorted(game.asked())
    assert len(seats) == 3
    moderate(server, Extend(game.id, "2d", seats[0]), "a birthday")
    assert [time.due(game, seat) for seat in seats] == [utc("2026-11-24 12:00")] + [utc("2026-11-22 12:00")] * 2
    moderate(server, Extend(game.id, "2026-11-26 08:00"), "a feast")
    assert {time.due(game, seat) for seat in seats} == {utc("2026-11-26 08:00")}
    assert [row.kind for row in game.log()].count("Extended") == 2
    notices = [json.loads(email.facts)["what"] for email in queued_emails(server, kind="notice")]
    assert sorted(notices) == ["extended"] * 4 + ["others_extended"] * 2


def test_more_time_also_counts_before_the_turn_email_is_accepted(time, server, asked):
    game, seat = asked
    moderate(server, Extend(game.id, "2d"), "a birthday")
    assert time.due(game, seat) is None
    assert time.sends()[seat].at == utc("2026-11-24 12:00") == time.due(game, seat)


def test_more_time_that_cannot_be_given_changes_nothing(time, server, asked):
    game, _ = asked
    before = all_rows(server.store)
    for more in ("0d", "soon", "400d", "2020-01-01 20:00"):
        with pytest.raises(BadInput):
            moderate(server, Extend(game.id, more), "no reason")
    with pytest.raises(Gone):
        moderate(server, Extend(game.id, "1d", 7), "no reason")
    with pytest.raises(NotFound):
        moderate(server, Extend(999, "1d"), "no reason")
    assert all_rows(server.store) == before


# Vacations


def test_a_vacation_stops_the_clocks_of_its_person_at_all_tables(time, server, table):
    first, second = table("bid", 3, pace="1d"), table("bid", 3, pace="2d")
    time.sends()
    away = first.person_at(0)
    server.run(vacations.book_text, away, "2026-11-22 to 2026-11-24")
    for game, length in ((first, DAY), (second, 2 * DAY)):
        for seat in range(3):
            moved = 3 * DAY if game.person_at(seat) == away else timedelta(0)
            assert time.due(game, seat) == utc("2026-11-21 12:00") + length + moved
    assert {email.person_id for email in queued_emails(server, kind="notice")} == {away}


def test_the_days_of_a_vacation_are_days_in_its_persons_time_zone(time, server, asked):
    game, seat = asked
    person = game.person_at(seat)
    server.run(addresses.change_settings, person, zone="Pacific/Auckland")
    server.run(vacations.book_text, person, "2026-11-23")
    with server.store.read() as tx:
        (row,) = vacation_rows.of_person(tx, person)
    midnight = datetime(2026, 11, 23, tzinfo=ZoneInfo("Pacific/Auckland"))
    assert row.start_at == midnight.astimezone(UTC)
    assert row.end_at - row.start_at == DAY


def test_a_vacation_over_the_budget_or_on_top_of_another_is_refused(server, person):
    ann = person("Ann")
    server.run(vacations.book_text, ann, "2026-12-01 to 2026-12-20")
    before = all_rows(server.store)
    with pytest.raises(TooMany):
        server.run(vacations.book_text, ann, "2026-12-21 to 2026-12-31")
    with pytest.raises(Refusal):
        server.run(vacations.book_text, ann, "2026-12-20 to 2026-12-21")
    with pytest.raises(BadInput):
        server.run(vacations.book_text, ann, "2026-11-20")
    assert all_rows(server.store) == before
    booked, left = server.read(vacations.vacations, ann)
    assert (len(booked), left) == (1, 10)


def test_a_cancelled_vacation_frees_its_days_and_leaves_deadlines_alone(time, server, asked):
    game, seat = asked
    time.sends()
    person = game.person_at(seat)
    server.run(vacations.book_text, person, "2026-11-22 to 2026-11-24")
    due = time.due(game, seat)
    (booked,), _ = server.read(vacations.vacations, person)
    server.run(vacations.cancel, person, booked.id)
    assert server.read(vacations.vacations, person) == ([], 30)
    assert time.due(game, seat) == due == utc("2026-11-25 12:00")


def test_a_vacation_that_ends_early_has_used_the_days_up_to_today(time, server, clock, person):
    ann = person("Ann")
    server.run(vacations.book_text, ann, "2026-11-22 to 2026-11-30")
    clock.set(utc("2026-11-24 15:00"))
    (booked,), _ = server.read(vacations.vacations, ann)
    server.run(vacations.cancel, ann, booked.id)
    (after,), left = server.read(vacations.vacations, ann)
    assert (str(after.last), after.end_at, left) == ("2026-11-24", utc("2026-11-24 15:00"), 27)


def test_a_vacation_of_another_person_cannot_be_cancelled(server, person):
    ann, ben = person("Ann"), person("Ben")
    server.run(vacations.book_text, ann, "2026-12-01")
    (booked,), _ = server.read(vacations.vacations, ann)
    with pytest.raises(NotFound):
        server.run(vacations.cancel, ben, booked.id)


# Addresses that cannot be reached


def test_a_clock_stops_while_emails_bounce_and_runs_again_when_one_arrives(time, server, asked):
    game, seat = asked
    time.sends()
    person = game.person_at(seat)
    time.passes(6 * HOUR)
    server.run(reachability.note_refusal, person, "550 no such user")
    time.passes(2 * DAY)
    assert time.runs_out().decided == 0
    server.run(reachability.note_acceptance, person)
    assert time.due(game, seat) == utc("2026-11-24 12:00")


def test_a_failure_is_noted_once_and_its_end_too(server, person):
    ann = person("Ann")
    for _ in range(2):
        server.run(reachability.note_refusal, ann, "550")
    with server.store.read() as tx:
        assert reachability_rows.failing(tx, server.now()) == [ann]
    for _ in range(2):
        server.run(reachability.note_acceptance, ann)
    with server.store.read() as tx:
        assert reachability_rows.failing(tx, server.now()) == []
