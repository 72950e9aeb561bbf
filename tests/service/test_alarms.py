"""What the organisers hear of by mail: everything that needs them, a storm as one mail, and nobody's address."""

import json
from datetime import timedelta

import pytest

from pbem.domain.bounce import Bounce
from pbem.service import alarms, calls, delivery, stops
from pbem.service.alarms import APART, GATHERED, What
from pbem.store import outbox
from pbem.store.outbox import Letter
from tests.service.acting import an_organiser
from tests.service.stored import letters
from tests.service.test_delivery import HOUR, post_to

MINUTE = timedelta(minutes=1)


@pytest.fixture
def organiser(house):
    """Two people who may sign in to the desk."""
    for name in ("Olga", "Otto"):
        an_organiser(house, name, "example.net")


def tell(house, clock, by=APART):
    """Time passes, and the tick comes by."""
    clock.advance(by)
    return alarms.tell(house)


def alerts(house):
    return letters(house, kind="alert")


@pytest.mark.usefixtures("organiser")
def test_a_call_reaches_every_organiser_by_mail(house, clock, sink, person):
    calls.call(house, person("Ann"), "I cannot see my cards.")
    assert tell(house, clock) == 1
    delivery.deliver(house, post_to(sink))
    mails = [mail for mail in sink.kept if "needs the organiser" in str(mail.message["subject"])]
    assert {mail.recipient for mail in mails} == {"olga@example.net", "otto@example.net"}
    assert all("Ann: I cannot see my cards." in mail.text for mail in mails)


def test_an_organiser_hears_nothing_of_a_call_from_a_table_where_they_play(house, clock, sink, table):
    game = table()
    for name in ("Ben", "Olga"):
        an_organiser(house, name)
    calls.call(house, game.person_at(0), "I hold the ace of moons.", game_id=game.id, seat=0)
    tell(house, clock)
    delivery.deliver(house, post_to(sink))
    bens, olgas = (" ".join(sink.to(f"{name}@example.org")[-1].text.split()) for name in ("ben", "olga"))
    assert "another organiser reads it" in bens
    assert "ace of moons" not in bens
    assert "ace of moons" in olgas


@pytest.mark.usefixtures("organiser")
def test_a_storm_is_one_mail_that_says_how_many(house, clock, sink, person):
    for number in range(500):
        house.write(lambda tx, n=number: alarms.raise_in(tx, house, What.PARKED, f"Mail {n} (turn): not like this"))
    calls.call(house, person("Ann"), "Nothing comes.")
    assert tell(house, clock) == 501
    assert tell(house, clock) == 0
    assert len(alerts(house)) == 2
    delivery.deliver(house, post_to(sink))
    text = sink.to("olga@example.net")[0].text
    assert "MAILS THAT WERE GIVEN UP: 500" in text
    assert "https://play.example.org/desk" in text
    assert "/call" not in text, "they are the organisers"
    assert "And 490 more of these." in text
    assert "Nothing comes." in text
    assert len(sink.to("olga@example.net")[0].content) < 20_000


@pytest.mark.usefixtures("organiser")
def test_alarms_are_gathered_for_some_minutes_and_few_mails_go_out_in_an_hour(house, clock, person):
    calls.call(house, person("Ann"), "First.")
    assert tell(house, clock, GATHERED - MINUTE) == 0
    assert tell(house, clock, MINUTE) == 1
    for minute in range(60):
        house.write(lambda tx, n=minute: alarms.raise_in(tx, house, What.PARKED, f"Mail {n}"))
        tell(house, clock, MINUTE)
    assert len(alerts(house)) <= 2 * (1 + 60 // 15)


@pytest.mark.usefixtures("organiser")
def test_two_workers_tell_each_alarm_once(house, clock, person):
    calls.call(house, person("Ann"), "Hello?")
    clock.advance(APART)
    assert [alarms.tell(house), alarms.tell(house)] == [1, 0]
    assert len(alerts(house)) == 2


@pytest.mark.usefixtures("organiser")
def test_a_mail_that_was_given_up_an_address_and_a_refused_sender_are_told(house, clock, sink, table):
    table("sunset-poker", 3)
    clock.advance(HOUR)
    sink.does("550 data", "571 rcpt", "550 rcpt")
    delivery.deliver(house, post_to(sink), limit=100)
    assert tell(house, clock) == 3
    told = {each["what"] for each in json.loads(alerts(house)[0].facts)["alarms"]}
    assert told == {What.PARKED, What.REFUSED, What.UNREACHABLE}


@pytest.mark.usefixtures("organiser")
def test_an_alarm_holds_no_address_and_no_token(house, clock, sink, table):
    game = table("sunset-poker", 3)
    clock.advance(HOUR)
    sink.does("550 data", "571 rcpt", "550 rcpt")
    delivery.deliver(house, post_to(sink), limit=100)
    house.write(lambda tx: stops.bounced(tx, house, game.person_at(0), Bounce.COMPLAINT, "abuse report"))
    tell(house, clock)
    text = "".join(row.facts for row in alerts(house))
    assert "example.org" not in text
    assert "@" not in text


@pytest.mark.usefixtures("organiser")
def test_an_alert_that_is_given_up_raises_no_alarm_of_its_own(house, clock, sink, person):
    calls.call(house, person("Ann"), "Hello?")
    tell(house, clock)
    sink.does("550 data", "550 data")
    delivery.deliver(house, post_to(sink))
    assert tell(house, clock) == 0


@pytest.mark.usefixtures("organiser")
def test_a_relay_that_is_away_for_five_minutes_is_told_once(house, clock, sink, person):
    away = delivery.Post(post_to(sink).letterhead, post_to(sink).transport)
    ann, now = person("Ann"), house.now()
    house.write(lambda tx: outbox.queue(tx, [Letter(ann, "links")], now, now))
    sink.does(*["450 mail"] * 100)
    for _ in range(40):
        delivery.deliver(house, away)
        clock.advance(MINUTE)
    assert tell(house, clock) == 1
    assert "The relay has taken no mail since 2026-11-21 12:00 UTC" in alerts(house)[0].facts
