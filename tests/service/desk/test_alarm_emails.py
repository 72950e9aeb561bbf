"""Alarms to the organisers by email: everything that needs them, a storm in one email, and no addresses."""

from datetime import timedelta

import pytest

from pbem.domain.bounce import Bounce
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import reachability
from pbem.service.desk import alarm_emails as desk_alarms, calls
from pbem.service.desk.alarm_emails import APART, GATHERED
from pbem.service.outgoing import deliver
from pbem.store import outbox
from pbem.store.outbox import NewEmail
from tests.service.actors import add_organiser
from tests.service.database import facts_of, queued_emails
from tests.service.outgoing.test_deliver import HOUR, post_to

MINUTE = timedelta(minutes=1)


@pytest.fixture
def organiser(server):
    """Two people who may sign in to the desk."""
    for name in ("Olga", "Otto"):
        add_organiser(server, name, "example.net")


def tell(server, clock, by=APART):
    """Let time pass, then run the tick of alarms."""
    clock.advance(by)
    return desk_alarms.send(server)


def alerts(server):
    return queued_emails(server, kind="alert")


@pytest.mark.usefixtures("organiser")
def test_a_call_reaches_every_organiser_by_email(server, clock, sink, person):
    server.run(calls.call, person("Ann"), "I cannot see my cards.")
    assert tell(server, clock) == 1
    deliver.deliver(server, post_to(sink))
    emails = [email for email in sink.emails if "needs your attention" in str(email.message["subject"])]
    assert {email.recipient for email in emails} == {"olga@example.net", "otto@example.net"}
    assert all("Ann: I cannot see my cards." in email.text for email in emails)


@pytest.mark.parametrize("what", [AlarmKind.CALL, AlarmKind.GAME, AlarmKind.RECORD])
def test_an_organiser_hears_nothing_of_what_is_hidden_at_a_table_where_they_play(server, clock, sink, table, what):
    game = table()
    for name in ("Ben", "Olga"):
        add_organiser(server, name)
    if what is AlarmKind.CALL:
        server.run(calls.call, game.person_at(0), "I hold the ace of moons.", game_id=game.id, seat=0)
    else:
        server.run(alarms.raise_alarm, what, "ValueError: ace of moons", game.id)
    tell(server, clock)
    deliver.deliver(server, post_to(sink))
    bens, olgas = (" ".join(sink.to(f"{name}@example.org")[-1].text.split()) for name in ("ben", "olga"))
    assert "another organiser has to read it" in bens
    assert "ace of moons" not in bens
    assert "ace of moons" in olgas


@pytest.mark.parametrize("what", [AlarmKind.PARKED, AlarmKind.REFUSED])
def test_an_organiser_hears_of_no_email_about_a_table_where_they_play(server, clock, sink, table, what):
    game = table(title="Friday")
    for name in ("Ben", "Olga"):
        add_organiser(server, name)
    # A receipt comes back while others are still asked: that there was one tells who has answered.
    server.run(alarms.raise_alarm, what, "Email 7: 554 refused", game.id)
    tell(server, clock)
    deliver.deliver(server, post_to(sink))
    bens, olgas = (" ".join(sink.to(f"{name}@example.org")[-1].text.split()) for name in ("ben", "olga"))
    assert "Friday · Email 7: 554 refused" in olgas
    # The number counts every table, as all totals do.
    assert ": 1" in bens
    assert not any(word in bens for word in ("Friday", "Email 7", "554", "UTC", "more"))


@pytest.mark.usefixtures("organiser")
def test_a_storm_is_one_email_that_says_how_many(server, clock, sink, person):
    for number in range(500):
        server.store.write(
            lambda tx, n=number: alarms.raise_alarm(tx, server, AlarmKind.PARKED, f"Email {n} (turn): not like this")
        )
    server.run(calls.call, person("Ann"), "Nothing comes.")
    assert tell(server, clock) == 501
    assert tell(server, clock) == 0
    assert len(alerts(server)) == 2
    deliver.deliver(server, post_to(sink))
    text = sink.to("olga@example.net")[0].text
    assert "EMAILS WE GAVE UP ON: 500" in text
    assert "https://play.example.org/desk" in text
    assert "/call" not in text, "they are the organisers"
    assert "And 490 more." in text
    assert "Nothing comes." in text
    assert len(sink.to("olga@example.net")[0].content) < 20_000


@pytest.mark.usefixtures("organiser")
def test_alarms_are_gathered_for_some_minutes_and_few_emails_go_out_in_an_hour(server, clock, person):
    server.run(calls.call, person("Ann"), "First.")
    assert tell(server, clock, GATHERED - MINUTE) == 0
    assert tell(server, clock, MINUTE) == 1
    for minute in range(60):
        server.store.write(lambda tx, n=minute: alarms.raise_alarm(tx, server, AlarmKind.PARKED, f"Email {n}"))
        tell(server, clock, MINUTE)
    assert len(alerts(server)) <= 2 * (1 + 60 // 15)


@pytest.mark.usefixtures("organiser")
def test_two_workers_tell_each_alarm_once(server, clock, person):
    server.run(calls.call, person("Ann"), "Hello?")
    clock.advance(APART)
    assert [desk_alarms.send(server), desk_alarms.send(server)] == [1, 0]
    assert len(alerts(server)) == 2


@pytest.mark.usefixtures("organiser")
def test_a_parked_email_an_unreachable_address_and_a_refused_sender_raise_alarms(server, clock, sink, table):
    table("sunset-poker", 3)
    clock.advance(HOUR)
    sink.does("550 data", "571 rcpt", "550 rcpt")
    deliver.deliver(server, post_to(sink), limit=100)
    assert tell(server, clock) == 3
    reported = {each["what"] for each in facts_of(server, alerts(server)[0])["alarms"]}
    # A receipt or a reminder would tell an organiser who plays there of an answer.
    assert "(turn)" not in f"{facts_of(server, alerts(server)[0])}"
    assert reported == {AlarmKind.PARKED, AlarmKind.REFUSED, AlarmKind.UNREACHABLE}


@pytest.mark.usefixtures("organiser")
def test_an_alarm_holds_no_address_and_no_token(server, clock, sink, table):
    game = table("sunset-poker", 3)
    clock.advance(HOUR)
    sink.does("550 data", "571 rcpt", "550 rcpt")
    deliver.deliver(server, post_to(sink), limit=100)
    server.run(reachability.note_bounce, game.person_at(0), Bounce.COMPLAINT, "abuse report")
    server.run(reachability.note_refusal, game.person_at(1), "550 5.1.1 <x.y@example.org>: x.y is unknown here")
    server.run(alarms.raise_alarm, AlarmKind.REFUSED, "Email 7 (turn): 550 x@y.example.org may not be written to")
    tell(server, clock)
    text = "".join(f"{facts_of(server, row)}" for row in alerts(server))
    assert "example.org" not in text
    assert "@" not in text
    assert "x.y" not in text


@pytest.mark.usefixtures("organiser")
def test_an_alert_that_is_given_up_raises_no_alarm_of_its_own(server, clock, sink, person):
    server.run(calls.call, person("Ann"), "Hello?")
    tell(server, clock)
    sink.does("550 data", "550 data")
    deliver.deliver(server, post_to(sink))
    assert tell(server, clock) == 0


@pytest.mark.usefixtures("organiser")
def test_a_relay_that_is_down_for_five_minutes_raises_one_alarm(server, clock, sink, person):
    away = deliver.Post(post_to(sink).letterhead, post_to(sink).transport)
    ann, now = person("Ann"), server.now()
    server.store.write(lambda tx: outbox.queue(tx, [NewEmail(ann, "links")], now, now))
    sink.does(*["450 mail"] * 100)
    for _ in range(40):
        deliver.deliver(server, away)
        clock.advance(MINUTE)
    assert tell(server, clock) == 1
    assert "The relay has accepted no email since 2026-11-21 12:00 UTC" in f"{facts_of(server, alerts(server)[0])}"
